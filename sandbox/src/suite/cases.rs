//! Cases: inputs and what is expected of them.

use super::error::SuiteError;
use super::json;
use super::kind::{CallCase, Calls, Kind, StdioCase};
use super::limits::CASES_MAX;
use super::node::{Node, SOLUTION};
use crate::value::{Arguments, PyValue};

/// Rows keep no nulls, so that of `"expected": null` in an object nothing is left: a case of a call that
/// lacks it gives null.
pub(super) fn with_nulls(mut data: PyValue) -> PyValue {
    let PyValue::Dict(members) = &mut data else { return data };
    let cases = members.iter_mut().find(|(key, _)| key.as_str() == Some("cases"));
    if let Some((_, PyValue::List(cases))) = cases {
        for case in cases {
            let has = |key: &str| case.get(key).is_some();
            let is_call = (has("args") || has("kwargs")) && !has("expected");
            if let (true, PyValue::Dict(members)) = (is_call, case) {
                members.push((PyValue::from("expected"), PyValue::None));
            }
        }
    }
    data
}

/// The native `cases`.
pub(super) fn native(node: &Node<'_>) -> Result<Kind, SuiteError> {
    node.only(&["entry_point", "class", "prompt", "setup", "float_tolerance", "cases"])?;
    let cases = node.need("cases")?;
    let items = some(&cases)?;
    let named = node.get("entry_point");
    let entry_point = named.as_ref().map(Node::function).transpose()?;
    let calls = |case: &Node<'_>| {
        ["args", "kwargs", "expected"].iter().any(|key| case.field(key).is_some())
    };
    if !items.iter().any(calls) {
        if let Some(name) = node.get("entry_point") {
            return Err(name.refused(
                "cases with stdin and stdout run a whole program; a function \
                that is called has cases with args and expected",
            ));
        }
        return Ok(Kind::Stdio { cases: items.iter().map(run).collect::<Result<_, _>>()? });
    }
    let entry_point = entry_point.ok_or_else(|| node.missing("entry_point"))?;
    let class = node.get("class").map(|name| name.name()).transpose()?;
    let class = class.or_else(|| named.as_ref().and_then(class_of));
    let float_tolerance = tolerance(node, "float_tolerance")?;
    let cases = items.iter().map(call).collect::<Result<_, _>>()?;
    Ok(Kind::Calls(Calls { entry_point, class, float_tolerance, cases }))
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

fn call(case: &Node<'_>) -> Result<CallCase, SuiteError> {
    case.only(&["args", "kwargs", "expected"])?;
    let args = match case.get("args") {
        None => Vec::new(),
        Some(node) => match node.data {
            PyValue::List(args) => args.clone(),
            _ => return Err(node.wrong("a list of arguments")),
        },
    };
    let kwargs = match case.get("kwargs") {
        None => Vec::new(),
        Some(node) => match node.data {
            PyValue::Dict(kwargs) => kwargs.iter().filter_map(named).collect(),
            _ => return Err(node.wrong("an object of arguments by name")),
        },
    };
    let expected = case.need("expected")?.data.clone();
    Ok(CallCase { arguments: Arguments { args, kwargs }, expected, or_expected: None })
}

fn named((name, value): &(PyValue, PyValue)) -> Option<(String, PyValue)> {
    Some((name.to_text()?, value.clone()))
}

pub(super) fn tolerance(node: &Node<'_>, key: &str) -> Result<Option<f64>, SuiteError> {
    let Some(node) = node.get(key) else { return Ok(None) };
    let fine = node.data.to_float().filter(|number: &f64| number.is_finite() && *number >= 0.0);
    fine.map(Some).ok_or_else(|| node.wrong("a number that is 0 or more"))
}

/// The items of a list, which has at least one and at most [`CASES_MAX`].
pub(super) fn some<'a>(node: &Node<'a>) -> Result<Vec<Node<'a>>, SuiteError> {
    let items = node.list()?;
    if items.is_empty() {
        return Err(node.refused("is empty; a suite has at least one test"));
    }
    if items.len() > CASES_MAX {
        let (key, found) = (node.key.clone(), items.len());
        return Err(SuiteError::TooMuch { key, what: "tests", found, limit: CASES_MAX });
    }
    Ok(items)
}

/// Inputs and outputs, paired.
pub(super) struct Pairs<'a> {
    pub(super) inputs: Vec<Node<'a>>,
    pub(super) outputs: Vec<Node<'a>>,
}

impl<'a> Pairs<'a> {
    /// `inputs` and `outputs` of one length.
    pub(super) fn of(node: &Node<'a>) -> Result<Self, SuiteError> {
        let outputs = node.need("outputs")?;
        let (inputs, found) = (some(&node.need("inputs")?)?, outputs.list()?.len());
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
    pub(super) fn calls(&self, entry_point: String) -> Result<Kind, SuiteError> {
        let wrapped = self.inputs.iter().zip(&self.outputs).all(|(input, output)| {
            !input.is_text() && matches!(output.data, PyValue::List(items) if items.len() == 1)
        });
        let cases = self.cases(|output| match output {
            PyValue::List(items) if wrapped => (items.first().cloned(), Some(output.clone())),
            _ => (None, None),
        })?;
        let class = Some(SOLUTION.to_owned());
        Ok(Kind::Calls(Calls { entry_point, class, float_tolerance: None, cases }))
    }

    /// Calls whose outputs are what is returned.
    pub(super) fn plain_calls(
        &self,
        name: &Node<'_>,
        float_tolerance: Option<f64>,
    ) -> Result<Kind, SuiteError> {
        let (entry_point, class) = (name.function()?, class_of(name));
        let cases = self.cases(|_| (None, None))?;
        Ok(Kind::Calls(Calls { entry_point, class, float_tolerance, cases }))
    }

    fn cases(
        &self,
        unwrap: impl Fn(&PyValue) -> (Option<PyValue>, Option<PyValue>),
    ) -> Result<Vec<CallCase>, SuiteError> {
        let case = |(input, output): (&Node<'_>, &Node<'_>)| {
            let (args, returned) = if input.is_text() {
                (json_lines(input)?, json_text(output)?)
            } else {
                (arguments(input)?, output.data.clone())
            };
            let (expected, or_expected) = unwrap(&returned);
            let expected = expected.unwrap_or(returned);
            let arguments = Arguments { args, kwargs: Vec::new() };
            Ok(CallCase { arguments, expected, or_expected })
        };
        self.inputs.iter().zip(&self.outputs).map(case).collect()
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

/// One argument a line.
fn json_lines(node: &Node<'_>) -> Result<Vec<PyValue>, SuiteError> {
    let lines = node.text()?.lines().enumerate().filter(|(_, line)| !line.trim().is_empty());
    lines
        .map(|(index, line)| json::read(line, &format!("{}, line {}", node.key, index + 1)))
        .collect()
}

fn json_text(node: &Node<'_>) -> Result<PyValue, SuiteError> {
    if node.is_text() { json::read(node.text()?, &node.key) } else { Ok(node.data.clone()) }
}
