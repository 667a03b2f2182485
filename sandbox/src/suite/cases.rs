//! Cases: inputs and what is expected of them.

use super::error::SuiteError;
use super::inputs::{self, json_text};
use super::kind::{CallCase, CallTarget, Calls, Kind, StdioCase};
use super::limits::at_most;
use super::node::{Node, SOLUTION};
use super::operations;
use crate::value::{AnswerOrder, Arguments, PyValue};

/// The keys of a case that calls.
const CALL_KEYS: [&str; 9] = assay_verifiers::words::list(
    "args kwargs input operations arguments expected expected_any output compare",
);

/// Rows keep no nulls, so that of `"expected": null` in an object nothing is left: a case of a call that
/// lacks it gives null.
pub(super) fn with_nulls(mut data: PyValue) -> PyValue {
    let PyValue::Dict(members) = &mut data else { return data };
    let cases = members.iter_mut().find(|(key, _)| key.as_str() == Some("cases"));
    if let Some((_, PyValue::List(cases))) = cases {
        for case in cases {
            let has = |key: &str| case.get(key).is_some();
            let is_call = ["args", "kwargs", "input"].into_iter().any(has)
                && !["expected", "expected_any", "output"].into_iter().any(has);
            if let (true, PyValue::Dict(members)) = (is_call, case) {
                members.push((PyValue::from("expected"), PyValue::None));
            }
        }
    }
    data
}

/// The native `cases`.
pub(super) fn native(node: &Node<'_>) -> Result<Kind, SuiteError> {
    node.only(&["entry_point", "class", "prompt", "setup", "float_tolerance", "compare", "cases"])?;
    let cases = node.need("cases")?;
    let items = some(&cases)?;
    let named = node.get("entry_point");
    let entry_point = named.as_ref().map(Node::function).transpose()?;
    let calls = |case: &Node<'_>| CALL_KEYS.iter().any(|key| case.field(key).is_some());
    if !items.iter().any(calls) {
        if let Some(name) = node.get("entry_point") {
            return Err(name.refused(
                "cases with stdin and stdout run a whole program; a function \
                that is called has cases with args and expected",
            ));
        }
        return Ok(Kind::Stdio { cases: items.iter().map(run).collect::<Result<_, _>>()? });
    }
    let entry_point = entry_point.or_else(|| operations::class(&items));
    let entry_point = entry_point.ok_or_else(|| node.missing("entry_point"))?;
    let class = node.get("class").map(|name| name.name()).transpose()?;
    let class = class.or_else(|| named.as_ref().and_then(class_of));
    let float_tolerance = tolerance(node, "float_tolerance")?;
    let order = order(node)?;
    let cases = items.iter().enumerate().map(|(index, case)| call(case, &entry_point, index + 1));
    let cases = flat(cases)?;
    Ok(Kind::Calls(Calls { entry_point, class, float_tolerance, order, cases }))
}

/// All calls of all cases.
fn flat(
    cases: impl Iterator<Item = Result<Vec<CallCase>, SuiteError>>,
) -> Result<Vec<CallCase>, SuiteError> {
    Ok(cases.collect::<Result<Vec<_>, _>>()?.concat())
}

/// The class that the name of a function says it is a method of.
fn class_of(name: &Node<'_>) -> Option<String> {
    name.is_method_of_solution().then(|| SOLUTION.to_owned())
}

fn run(case: &Node<'_>) -> Result<StdioCase, SuiteError> {
    case.only(&["stdin", "stdout"])?;
    let stdin = case.get("stdin").map_or(Ok(""), |text| text.text())?.to_owned();
    Ok(StdioCase { stdin, stdout: case.need("stdout")?.text()?.to_owned() })
}

/// The calls of a case: one, or the operations on an object of the class `entry_point`.
fn call(case: &Node<'_>, entry_point: &str, number: usize) -> Result<Vec<CallCase>, SuiteError> {
    case.only(&CALL_KEYS)?;
    let order = order(case)?;
    if case.field("operations").is_some() {
        return operated(case, entry_point, number, order);
    }
    let given = match case.get("input") {
        Some(text) => inputs::read(&text)?,
        None => Arguments { args: positional(case)?, kwargs: by_name(case)? },
    };
    let mut expected = match (case.get("expected_any"), case.get("output")) {
        (Some(any), _) => some(&any)?.into_iter().map(|one| one.data.clone()).collect(),
        (None, Some(text)) => vec![json_text(&text)?],
        (None, None) => vec![case.need("expected")?.data.clone()],
    };
    if operations::are(&given.args, entry_point)
        && let Some(expected) = expected.first()
    {
        return operations::read(&given.args, expected, entry_point, &case.key, number, order);
    }
    let or_expected = expected.split_off(1);
    let expected = expected.pop().unwrap_or(PyValue::None);
    let target = CallTarget::Function;
    Ok(vec![CallCase { target, arguments: given, expected, or_expected, order }])
}

/// The calls of a case with `operations`.
fn operated(
    case: &Node<'_>,
    class: &str,
    number: usize,
    order: Option<AnswerOrder>,
) -> Result<Vec<CallCase>, SuiteError> {
    let expected = case.need("expected")?.data;
    let steps = [case.need("operations")?.data.clone(), case.need("arguments")?.data.clone()];
    operations::read(&steps, expected, class, &case.key, number, order)
}

/// `operations` in the place of `cases`.
pub(super) fn one_of_operations(node: &Node<'_>) -> Result<Kind, SuiteError> {
    let named = node.get("entry_point").map(|name| name.name()).transpose()?;
    let entry_point = named.or_else(|| operations::class(std::slice::from_ref(node)));
    let entry_point = entry_point.ok_or_else(|| node.missing("entry_point"))?;
    let cases = operated(node, &entry_point, 1, None)?;
    let (float_tolerance, order) = (tolerance(node, "float_tolerance")?, order(node)?);
    Ok(Kind::Calls(Calls { entry_point, class: None, float_tolerance, order, cases }))
}

fn positional(case: &Node<'_>) -> Result<Vec<PyValue>, SuiteError> {
    let Some(node) = case.get("args") else { return Ok(Vec::new()) };
    match node.data {
        PyValue::List(args) => Ok(args.clone()),
        _ => Err(node.wrong("a list of arguments")),
    }
}

fn by_name(case: &Node<'_>) -> Result<Vec<(String, PyValue)>, SuiteError> {
    let Some(node) = case.get("kwargs") else { return Ok(Vec::new()) };
    match node.data {
        PyValue::Dict(kwargs) => Ok(kwargs.iter().filter_map(named).collect()),
        _ => Err(node.wrong("an object of arguments by name")),
    }
}

/// How what is returned may be ordered.
pub(super) fn order(node: &Node<'_>) -> Result<Option<AnswerOrder>, SuiteError> {
    let Some(node) = node.get("compare") else { return Ok(None) };
    let order = node.data.as_str().and_then(AnswerOrder::named);
    order.map(Some).ok_or_else(|| node.wrong("exact, any_order or any_order_deep"))
}

fn named((name, value): &(PyValue, PyValue)) -> Option<(String, PyValue)> {
    Some((name.to_text()?, value.clone()))
}

pub(super) fn tolerance(node: &Node<'_>, key: &str) -> Result<Option<f64>, SuiteError> {
    let Some(node) = node.get(key) else { return Ok(None) };
    let fine = node.data.to_float().filter(|number: &f64| number.is_finite() && *number >= 0.0);
    fine.map(Some).ok_or_else(|| node.wrong("a number that is 0 or more"))
}

/// The items of a list, which has at least one and no more than a suite may have.
pub(super) fn some<'a>(node: &Node<'a>) -> Result<Vec<Node<'a>>, SuiteError> {
    let items = node.list()?;
    if items.is_empty() {
        return Err(node.refused("is empty; a suite has at least one test"));
    }
    at_most(&node.key, "tests", items.len())?;
    Ok(items)
}

/// Inputs and outputs, paired.
pub(super) struct Pairs<'a> {
    pub(super) inputs: Vec<Node<'a>>,
    pub(super) outputs: Vec<Node<'a>>,
}

impl<'a> Pairs<'a> {
    /// Inputs and outputs of one length, under these keys.
    pub(super) fn of(
        node: &Node<'a>,
        [input, output]: [&'static str; 2],
    ) -> Result<Self, SuiteError> {
        let outputs = node.need(output)?;
        let (inputs, found) = (node.need(input)?.list()?, outputs.list()?.len());
        if inputs.len() != found {
            let why = format!("has {found} outputs for {} inputs", inputs.len());
            return Err(outputs.refused(why));
        }
        Ok(Self { inputs, outputs: outputs.list()? })
    }

    pub(super) fn runs(&self) -> Result<Kind, SuiteError> {
        let pairs = self.inputs.iter().zip(&self.outputs);
        let run = |(input, output): (&Node<'_>, &Node<'_>)| {
            Ok(StdioCase { stdin: lines(input)?, stdout: lines(output)? })
        };
        Ok(Kind::Stdio { cases: pairs.map(run).collect::<Result<_, _>>()? })
    }

    /// Calls as APPS, TACO and `LiveCodeBench` have them: what is returned may be in a list of
    /// one, and the function may be a method.
    pub(super) fn calls(
        &self,
        entry_point: String,
        order: Option<AnswerOrder>,
    ) -> Result<Kind, SuiteError> {
        let wrapped = self.inputs.iter().zip(&self.outputs).all(|(input, output)| {
            !input.is_text() && matches!(output.data, PyValue::List(items) if items.len() == 1)
        });
        let cases = self.cases(&entry_point, |output| match output {
            PyValue::List(items) if wrapped => (items.first().cloned(), Some(output.clone())),
            _ => (None, None),
        })?;
        let class = Some(SOLUTION.to_owned());
        Ok(Kind::Calls(Calls { entry_point, class, float_tolerance: None, order, cases }))
    }

    /// Calls whose outputs are what is returned.
    pub(super) fn plain_calls(
        &self,
        name: &Node<'_>,
        float_tolerance: Option<f64>,
        order: Option<AnswerOrder>,
    ) -> Result<Kind, SuiteError> {
        let (entry_point, class) = (name.function()?, class_of(name));
        let cases = self.cases(&entry_point, |_| (None, None))?;
        Ok(Kind::Calls(Calls { entry_point, class, float_tolerance, order, cases }))
    }

    fn cases(
        &self,
        entry_point: &str,
        unwrap: impl Fn(&PyValue) -> (Option<PyValue>, Option<PyValue>),
    ) -> Result<Vec<CallCase>, SuiteError> {
        let case = |(index, (input, output)): (usize, (&Node<'_>, &Node<'_>))| {
            let (arguments, returned) = if input.is_text() {
                (inputs::read(input)?, json_text(output)?)
            } else {
                let args = arguments(input)?;
                (Arguments { args, kwargs: Vec::new() }, output.data.clone())
            };
            if operations::are(&arguments.args, entry_point) {
                let (steps, key) = (&arguments.args, &input.key);
                return operations::read(steps, &returned, entry_point, key, index + 1, None);
            }
            let (expected, or_expected) = unwrap(&returned);
            let expected = expected.unwrap_or(returned);
            let or_expected = or_expected.into_iter().collect();
            let target = CallTarget::Function;
            Ok(vec![CallCase { target, arguments, expected, or_expected, order: None }])
        };
        flat(self.inputs.iter().zip(&self.outputs).enumerate().map(case))
    }
}

/// What a program reads or prints: text, or a list of its lines.
fn lines(node: &Node<'_>) -> Result<String, SuiteError> {
    if node.is_list() {
        let line = |line: &Node<'_>| written(line).ok_or_else(|| line.wrong("a line of text"));
        let lines: Vec<String> = node.list()?.iter().map(line).collect::<Result<_, _>>()?;
        return Ok(lines.join("\n"));
    }
    written(node).ok_or_else(|| node.wrong("text, or a list of lines"))
}

/// Text, or a whole number as text.
fn written(node: &Node<'_>) -> Option<String> {
    match node.data {
        PyValue::Int(number) => Some(number.to_string()),
        other => other.to_text(),
    }
}

fn arguments(node: &Node<'_>) -> Result<Vec<PyValue>, SuiteError> {
    match node.data {
        PyValue::List(args) => Ok(args.clone()),
        _ => Err(node.wrong("a list of arguments, or text with one argument a line, as JSON")),
    }
}
