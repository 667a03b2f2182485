//! Operations on an object, as tasks that ask for a class have them: names, arguments and what is
//! expected of each.

use super::error::SuiteError;
use super::kind::{CallCase, CallTarget};
use super::limits::at_most;
use super::node::Node;
use crate::value::{AnswerOrder, Arguments, PyValue};

/// The class that the first case with operations names.
pub(super) fn class(cases: &[Node<'_>]) -> Option<String> {
    let first = cases.iter().find_map(|case| case.get("operations"))?;
    first.list().ok()?.first()?.data.to_text()
}

/// Whether these arguments are operations on an object of the class, and their arguments.
pub(super) fn are(args: &[PyValue], class: &str) -> bool {
    let [PyValue::List(names), PyValue::List(given)] = args else { return false };
    let is_class = |name: &PyValue| name.as_str() == Some(class);
    names.len() == given.len() && names.first().is_some_and(is_class)
}

/// The calls of the operations; `steps` are their names and their arguments, `number` is that of the
/// object.
pub(super) fn read(
    steps: &[PyValue],
    expected: &PyValue,
    class: &str,
    key: &str,
    number: usize,
    order: Option<AnswerOrder>,
) -> Result<Vec<CallCase>, SuiteError> {
    let refused = |why: String| SuiteError::Refused { key: key.to_owned(), why };
    let ([PyValue::List(names), PyValue::List(given)], PyValue::List(expected)) = (steps, expected)
    else {
        let why = "operations, their arguments and what is expected of them are lists";
        return Err(refused(why.to_owned()));
    };
    if names.len() != given.len() || names.len() != expected.len() {
        let (names, given, expected) = (names.len(), given.len(), expected.len());
        return Err(refused(format!(
            "has {names} operations, {given} lists of arguments and {expected} results"
        )));
    }
    at_most(key, "operations", names.len())?;
    let step = |(index, ((name, args), expected)): (usize, ((&PyValue, &PyValue), &PyValue))| {
        let place = Node { key: format!("{key}, operation {}", index + 1), data: name };
        let name = place.name()?;
        let target = match index {
            0 if name == class => CallTarget::Class,
            0 => return Err(place.wrong(format!("the class {class}"))),
            _ => CallTarget::Operation { name, case: number, step: index + 1 },
        };
        let PyValue::List(args) = args else {
            return Err(Node { data: args, ..place }.wrong("a list of arguments"));
        };
        let arguments = Arguments { args: args.clone(), kwargs: Vec::new() };
        let expected = expected.clone();
        Ok(CallCase { target, arguments, expected, or_expected: Vec::new(), order })
    };
    if names.is_empty() {
        return Err(refused("has no operations; the first one names the class".to_owned()));
    }
    names.iter().zip(given).zip(expected).enumerate().map(step).collect()
}
