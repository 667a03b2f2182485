//! Which shape a row has.

use super::cases::{Pairs, native, one_of_operations, order, some, tolerance};
use super::error::SuiteError;
use super::json;
use super::kind::{Assertions, Kind, Suite};
use super::limits::at_most;
use super::node::Node;
use crate::value::PyValue;

/// Keys under which rows hold JSON as text.
const JSON_KEYS: [&str; 14] = assay_verifiers::words::list(
    "input_output inputs outputs unit_tests verification_info ground_truth verifier_metadata \
     public_test_cases private_test_cases test_cases test_list challenge_test_list cases \
     assert_case",
);
/// Keys under which rows hold their suite.
const WRAPPERS: [&str; 6] = assay_verifiers::words::list(
    "input_output unit_tests verification_info ground_truth verifier_metadata test_cases",
);

/// How to convert the hidden tests of `LiveCodeBench`, which are not JSON.
const HOW_TO_CONVERT: &str = "holds base64 of zlib of a pickle, as LiveCodeBench \
    ships its hidden tests; a pickle can run code, so it is never read here; convert the column \
    once, in Python, to json.loads(pickle.loads(zlib.decompress(base64.b64decode(text))))";

/// The row, with the JSON in its strings decoded.
pub(super) fn opened(data: PyValue) -> Result<PyValue, SuiteError> {
    let PyValue::Dict(members) = data else { return Ok(data) };
    let open = |(key, value): (PyValue, PyValue)| {
        let value = opened_member(key.as_str().unwrap_or_default(), value)?;
        Ok((key, value))
    };
    Ok(PyValue::Dict(members.into_iter().map(open).collect::<Result<_, _>>()?))
}

fn opened_member(key: &str, value: PyValue) -> Result<PyValue, SuiteError> {
    match value.as_str() {
        Some(text) if key == "private_test_cases" && is_pickled(text) => {
            Err(SuiteError::Refused { key: key.to_owned(), why: HOW_TO_CONVERT.to_owned() })
        }
        Some(text) if text.trim().is_empty() => Ok(value),
        Some(text) if JSON_KEYS.contains(&key) => opened(json::nested(text, key)?),
        // A column of this name may hold anything; only that of LiveCodeBench matters.
        Some(text) if key == "metadata" => Ok(json::nested(text, key).unwrap_or(value)),
        None if WRAPPERS.contains(&key) => opened(value),
        _ => Ok(value),
    }
}

/// Whether `text` is base64 of zlib: 64 characters are enough to tell.
fn is_pickled(text: &str) -> bool {
    let base64 = |b: u8| b.is_ascii_alphanumeric() || b"+/=-_\r\n".contains(&b);
    let text = text.trim();
    // 0x78 begins every zlib stream of the usual window; base64 makes "eJ", "eN", "eA" or "eF" of
    // it and the level.
    let zlib = ["eJ", "eN", "eA", "eF", "eP", "eI", "eH"].iter().any(|head| text.starts_with(head));
    zlib && text.len() >= 16 && text.bytes().take(64).all(base64)
}

/// The suite in a row; `named` is the function that an outer row names.
pub(super) fn suite(node: &Node<'_>, named: Option<&str>) -> Result<Suite, SuiteError> {
    let setup = node.get("setup").map(|code| code.text()).transpose()?;
    let setup = setup.filter(|code| !code.trim().is_empty()).map(str::to_owned);
    let mut suite = match node.data {
        PyValue::List(_) => listed(node, node, named)?.into(),
        PyValue::Dict(_) => member(node, named)?,
        _ => return Err(node.wrong("an object, a list, or JSON text of one")),
    };
    let language = node.get("language").and_then(|own| own.text().ok().map(str::to_owned));
    suite.language = language.or(suite.language);
    suite.setup = match (setup, suite.setup) {
        (Some(outer), Some(inner)) => Some(format!("{outer}\n{inner}")),
        (outer, inner) => outer.or(inner),
    };
    Ok(suite)
}

impl From<Kind> for Suite {
    fn from(kind: Kind) -> Self {
        Self { setup: None, language: None, kind }
    }
}

fn member(node: &Node<'_>, named: Option<&str>) -> Result<Suite, SuiteError> {
    if node.field("cases").is_some() {
        return native(node).map(Suite::from);
    }
    if node.field("operations").is_some() {
        return one_of_operations(node).map(Suite::from);
    }
    if node.get("test").is_some() {
        return asserted(node).map(Suite::from);
    }
    if let Some(code) = node.get("functional").or(node.get("pytest")) {
        let test = code.words()?.to_owned();
        return Ok(Kind::Assertions(Assertions { entry_point: None, prompt: None, test }).into());
    }
    if let Some(kind) = grader(node)? {
        return Ok(kind.into());
    }
    if node.get("test_list").is_some() {
        return mbpp(node);
    }
    if let Some(list) = node.get("assert_case") {
        return assertions(&some(&list)?, &[]).map(Suite::from);
    }
    if node.get("inputs").is_some() || node.get("outputs").is_some() {
        return pairs(node, named).map(Suite::from);
    }
    if node.get("public_test_cases").or(node.get("private_test_cases")).is_some() {
        return live_code_bench(node).map(Suite::from);
    }
    if node.get("public_tests").or(node.get("private_tests")).is_some() {
        return code_contests(node).map(Suite::from);
    }
    wrapped(node, named)
}

fn wrapped(node: &Node<'_>, named: Option<&str>) -> Result<Suite, SuiteError> {
    let name = function(node)?;
    let named = name.as_deref().or(named);
    match WRAPPERS.iter().find_map(|key| node.get(key)) {
        Some(inner) if inner.is_list() => listed(&inner, node, named).map(Suite::from),
        Some(inner) => suite(&inner, named),
        None => Err(node.wrong(
            "one of the keys test, cases, test_list, inputs and outputs, input_output, \
             public_test_cases, assert_case, or type and source",
        )),
    }
}

/// `test`, with `entry_point` or without.
fn asserted(node: &Node<'_>) -> Result<Kind, SuiteError> {
    no_misspelt(node)?;
    let entry_point = node.get("entry_point").map(|name| name.function()).transpose()?;
    let prompt = node.get("prompt").filter(|_| entry_point.is_some()).filter(Node::is_text);
    let prompt = prompt.map(|code| code.text()).transpose()?.map(str::to_owned);
    let test = node.need("test")?.words()?.to_owned();
    Ok(Kind::Assertions(Assertions { entry_point, prompt, test }))
}

/// Rows of this shape have many columns, so only what looks like one of ours is refused.
fn no_misspelt(node: &Node<'_>) -> Result<(), SuiteError> {
    let plain = |key: &str| key.to_lowercase().replace(['_', '-', ' '], "");
    let ours = ["entry_point", "setup"];
    let misspelt = |key: &&str| ours.iter().any(|our| key != our && plain(key) == plain(our));
    match node.names().into_iter().flatten().find(misspelt) {
        None => Ok(()),
        Some(unknown) => Err(node.unknown(unknown, &ours)),
    }
}

/// `{"type": "python", "source": ...}`, as the graders of `OpenAI` are.
fn grader(node: &Node<'_>) -> Result<Option<Kind>, SuiteError> {
    let Some(source) = node.get("source") else { return Ok(None) };
    match node.get("type").map(|kind| kind.text()).transpose()? {
        Some("python") => Ok(Some(Kind::Grader { source: source.words()?.to_owned() })),
        _ => Ok(None),
    }
}

/// The asserts of MBPP, with the challenge tests: they reject programs that pass the first three.
fn mbpp(node: &Node<'_>) -> Result<Suite, SuiteError> {
    let mut asserts = some(&node.need("test_list")?)?;
    if let Some(hard) = node.get("challenge_test_list") {
        asserts.extend(hard.list()?);
    }
    let imports = node.get("test_imports").map_or(Ok(Vec::new()), |list| list.list())?;
    let kind = assertions(&asserts, &imports)?;
    let setup = node.get("test_setup_code").map(|code| code.text()).transpose()?;
    let setup = setup.filter(|code| !code.trim().is_empty()).map(str::to_owned);
    Ok(Suite { setup, ..Suite::from(kind) })
}

fn assertions(asserts: &[Node<'_>], imports: &[Node<'_>]) -> Result<Kind, SuiteError> {
    let mut test = String::new();
    for import in imports {
        test.push_str(import.text()?.trim_end());
        test.push('\n');
    }
    for assert in asserts {
        test.push_str(assert.words()?.trim_end());
        test.push('\n');
    }
    Ok(Kind::Assertions(Assertions { entry_point: None, prompt: None, test }))
}

/// `inputs` and `outputs`.
fn pairs(node: &Node<'_>, named: Option<&str>) -> Result<Kind, SuiteError> {
    some(&node.need("inputs")?)?;
    let pairs = Pairs::of(node, ["inputs", "outputs"])?;
    if let Some(name) = node.get("entry_point") {
        return pairs.plain_calls(&name, tolerance(node, "atol")?, order(node)?);
    }
    match function(node)?.or(named.map(str::to_owned)) {
        Some(name) => pairs.calls(name, order(node)?),
        None => pairs.runs(),
    }
}

/// The function that a row names, in any of the ways in which rows do.
fn function(node: &Node<'_>) -> Result<Option<String>, SuiteError> {
    let metadata = node.get("metadata");
    let within = |key| metadata.as_ref().and_then(|metadata| metadata.get(key));
    let name = ["fn_name", "func_name", "entry_point"].iter().find_map(|key| node.get(key));
    let name = name.or(within("func_name")).or(within("fn_name"));
    let name = name.filter(|name| name.data.as_str() != Some(""));
    name.map(|name| name.function()).transpose()
}

fn live_code_bench(node: &Node<'_>) -> Result<Kind, SuiteError> {
    let mut cases = Vec::new();
    for list in ["public_test_cases", "private_test_cases"].iter().filter_map(|key| node.get(key)) {
        let blank = list.is_text() && list.text()?.trim().is_empty();
        cases.extend(if blank { Vec::new() } else { list.list()? });
    }
    let name = function(node)?;
    case_list(&cases, node, name.as_deref())
}

/// Three kinds of tests, each with the columns `input` and `output`.
fn code_contests(node: &Node<'_>) -> Result<Kind, SuiteError> {
    let mut pairs = Pairs { inputs: Vec::new(), outputs: Vec::new() };
    let kinds = ["public_tests", "private_tests", "generated_tests"];
    for tests in kinds.iter().filter_map(|key| node.get(key)) {
        let own = Pairs::of(&tests, ["input", "output"])?;
        pairs.inputs.extend(own.inputs);
        pairs.outputs.extend(own.outputs);
    }
    if pairs.inputs.is_empty() {
        return Err(node.refused("holds no tests; a suite has at least one"));
    }
    at_most(&node.key, "tests", pairs.inputs.len())?;
    pairs.runs()
}

/// A list of assertions, or of objects with `input` and `output`.
fn listed(list: &Node<'_>, row: &Node<'_>, named: Option<&str>) -> Result<Kind, SuiteError> {
    let items = some(list)?;
    if items.iter().all(Node::is_text) {
        return assertions(&items, &[]);
    }
    case_list(&items, row, named)
}

fn case_list(items: &[Node<'_>], row: &Node<'_>, named: Option<&str>) -> Result<Kind, SuiteError> {
    let Some(first) = items.first() else {
        return Err(row.refused("holds no tests; a suite has at least one"));
    };
    at_most(&row.key, "tests", items.len())?;
    let calls = is_call(first)?;
    for item in items {
        if is_call(item)? != calls {
            return Err(item.refused(
                "is of another type than the first test; all must be calls, \
                or all runs of a program",
            ));
        }
    }
    let member =
        |key: &'static str| items.iter().map(|item| item.need(key)).collect::<Result<Vec<_>, _>>();
    let pairs = Pairs { inputs: member("input")?, outputs: member("output")? };
    if !calls && named.is_none() {
        return pairs.runs();
    }
    if first.field("testtype").or(first.field("type")).is_some() && !calls {
        return pairs.runs();
    }
    let name = function(first)?.or(named.map(str::to_owned));
    pairs.calls(name.ok_or_else(|| first.missing("fn_name"))?, order(row)?)
}

/// Whether a case calls a function, as its type says.
fn is_call(case: &Node<'_>) -> Result<bool, SuiteError> {
    let kind = case.get("testtype").or(case.get("type"));
    let Some(kind) = kind else { return Ok(function(case)?.is_some()) };
    match kind.text()? {
        "functional" | "function_call" | "function" | "call" => Ok(true),
        "stdin" | "stdin_stdout" | "stdio" | "standard_input" => Ok(false),
        _ => Err(kind.wrong("stdin, stdin_stdout, functional or function_call")),
    }
}
