//! What a row says of its tests, in the way of SWE-bench.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use assay_patch::FileTree;
use assay_verifiers::Fault;
use serde_json::Value;

use super::protect::is_python;
use crate::isolation::WantedTest;

/// Tests of one row.
const TESTS_MAX: usize = 20_000;

/// A task: what its reference holds.
#[derive(Debug, Default)]
pub(super) struct Task {
    /// The repository, where the row has it.
    pub(super) files: Option<Value>,
    /// A diff of the tests.
    pub(super) test_patch: Option<String>,
    /// Files of tests.
    pub(super) tests: Option<Value>,
    /// The gold change.
    pub(super) patch: Option<String>,
    /// Ids of tests that fail before the change.
    pub(super) fail_to_pass: Vec<String>,
    /// Ids of tests that pass before it.
    pub(super) pass_to_pass: Vec<String>,
}

impl Task {
    /// Reads a reference, or a row.
    pub(super) fn read(value: &Value) -> Result<Self, Fault> {
        let value = parsed(value);
        let bad = |why: String| Fault::bad_reference(why);
        let Some(object) = value.as_object() else {
            return Err(bad("expected an object with FAIL_TO_PASS".to_owned()));
        };
        let get = |key: &str| object.get(key).filter(|value| !value.is_null());
        let text = |key: &str| match get(key) {
            None => Ok(None),
            Some(Value::String(text)) => Ok(Some(text.clone())),
            Some(_) => Err(bad(format!("{key}: expected a text"))),
        };
        let ids = |key: &str| {
            let found = get(key).or_else(|| get(&key.to_lowercase())).map(parsed);
            let Some(found) = found else { return Ok(Vec::new()) };
            let ids: Option<Vec<String>> = found
                .as_array()
                .and_then(|ids| ids.iter().map(|id| id.as_str().map(str::to_owned)).collect());
            ids.ok_or_else(|| bad(format!("{key}: expected a list of tests")))
        };
        let task = Self {
            files: get("files").map(|files| parsed(files).into_owned()),
            test_patch: text("test_patch")?,
            tests: get("tests").map(|tests| parsed(tests).into_owned()),
            patch: text("patch")?,
            fail_to_pass: ids("FAIL_TO_PASS")?,
            pass_to_pass: ids("PASS_TO_PASS")?,
        };
        let count = task.fail_to_pass.len() + task.pass_to_pass.len();
        if task.fail_to_pass.is_empty() {
            return Err(bad("FAIL_TO_PASS: no test is named".to_owned()));
        }
        if count > TESTS_MAX {
            return Err(bad(format!("more than {TESTS_MAX} tests")));
        }
        Ok(task)
    }

    /// The tests, each once, as the files of the task have them.
    pub(super) fn wanted(&self, tree: &FileTree) -> Result<Vec<WantedTest>, Fault> {
        let (mut known, mut defined) = (BTreeSet::new(), Defined::new(tree));
        let mut wanted = Vec::new();
        for id in self.fail_to_pass.iter().chain(&self.pass_to_pass) {
            if known.insert(id) {
                let test = located(id, tree, &mut defined);
                let test = test.ok_or_else(|| {
                    Fault::bad_reference(format!("{id}: the tests of the task have no such test"))
                })?;
                wanted.push(test);
            }
        }
        Ok(wanted)
    }
}

/// A value, or what it is the JSON text of.
fn parsed(value: &Value) -> Cow<'_, Value> {
    match value {
        Value::String(text) => match serde_json::from_str::<Value>(text) {
            Ok(inner) if inner.is_object() || inner.is_array() => Cow::Owned(inner),
            _ => Cow::Borrowed(value),
        },
        value => Cow::Borrowed(value),
    }
}

/// The test that an id names; `None` where its file is not there, or says nothing of its name.
fn located(id: &str, tree: &FileTree, defined: &mut Defined<'_>) -> Option<WantedTest> {
    let (plain, param) = match id.split_once('[') {
        Some((plain, rest)) => (plain, Some(rest.strip_suffix(']')?.to_owned())),
        None => (id, None),
    };
    let (path, names) = match plain.split_once("::") {
        Some((path, names)) => (
            path.trim_start_matches("./").to_owned(),
            names.split("::").map(str::to_owned).collect(),
        ),
        None => of_unittest(plain, tree)?,
    };
    let names: Vec<String> = names;
    let name = names.last()?;
    let is_there = defined.has(&path, name);
    is_there.then(|| WantedTest { id: id.to_owned(), path, names, param })
}

/// `test_a (tests.test_b.TestC)`, and what Python 3.11 makes of it, `test_a (tests.test_b.TestC.test_a)`.
fn of_unittest(id: &str, tree: &FileTree) -> Option<(String, Vec<String>)> {
    let (name, rest) = id.split_once(" (")?;
    let dotted = rest.split(')').next()?;
    let dotted = dotted.strip_suffix(&format!(".{name}")).unwrap_or(dotted);
    let (module, class) = dotted.rsplit_once('.')?;
    let path = format!("{}.py", module.replace('.', "/"));
    let path =
        [path.clone(), format!("tests/{path}")].into_iter().find(|p| tree.get(p).is_some())?;
    Some((path, vec![class.to_owned(), name.to_owned()]))
}

/// The names of functions in the files of tests, read once.
struct Defined<'a> {
    tree: &'a FileTree,
    files: BTreeMap<String, BTreeSet<String>>,
    folders: BTreeMap<String, BTreeSet<String>>,
}

impl<'a> Defined<'a> {
    fn new(tree: &'a FileTree) -> Self {
        Self { tree, files: BTreeMap::new(), folders: BTreeMap::new() }
    }

    /// Whether the file of a test, or another one in its folder, defines what may bear its name. A test may
    /// be made of another one, whose name its own begins with.
    fn has(&mut self, path: &str, name: &str) -> bool {
        let Some(text) = self.tree.get(path) else { return false };
        let begins = |names: &BTreeSet<String>| {
            let ends = name.char_indices().map(|(at, c)| at + c.len_utf8());
            ends.map(|end| &name[..end]).any(|start| names.contains(start))
        };
        let own = self.files.entry(path.to_owned()).or_insert_with(|| functions(text).collect());
        if begins(own) {
            return true;
        }
        let (folder, _) = path.rsplit_once('/').unwrap_or(("", path));
        let tree = self.tree;
        let beside = self.folders.entry(folder.to_owned()).or_insert_with(|| {
            let files = tree.iter().filter(|(path, _)| is_python(path) && path.starts_with(folder));
            files.flat_map(|(_, text)| functions(text)).collect()
        });
        begins(beside)
    }
}

/// The names behind `def`, and where names are set as the tests are loaded, what any of them begins with.
fn functions(text: &[u8]) -> impl Iterator<Item = String> {
    let text = String::from_utf8_lossy(text).into_owned();
    let is_name = |c: char| c.is_alphanumeric() || c == '_';
    let names: Vec<String> = text
        .split("def ")
        .skip(1)
        .map(|rest| rest.chars().take_while(|c| is_name(*c)).collect::<String>())
        .filter(|name| !name.is_empty())
        .chain(text.contains("setattr(").then(|| "test".to_owned()))
        .collect();
    names.into_iter()
}
