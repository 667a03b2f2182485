//! `repo_tests`: the change of a repository in the completion passes the tests of its task.

mod protect;
mod report;
mod task;
mod trees;

use std::collections::BTreeMap;
use std::sync::Arc;

use assay_patch::{FileTree, Proposal, Unapplied, diff::Diff, proposal::Proposed};
use assay_verifiers::extract::{Thinking, thinking};
use assay_verifiers::prelude::*;
use assay_verifiers::{BuildError, Digest, Reward, Trivial, canonical};

use super::sandboxed::{Python, Sandboxed};
use crate::Sandbox;
use crate::isolation::{ROOT, RepositoryTask, RunContext, run_repository};
use crate::memo::VerdictMemo;
use crate::runtime::{Limits, MemoryFiles};
use crate::suite_run;
use protect::Protected;
use task::Task;
pub use trees::TreeFile;

/// Context that a hunk may lose at either end, as `patch` has it.
const FUZZ: usize = 2;
/// Lines of context that `fuzz` may name.
const FUZZ_MAX: usize = 10;

/// Right when the repository passes its tests after the change that the completion proposes.
///
/// **The repository** is a tree of files in memory: `tree` for all rows, one of `trees` by the column
/// `tree_column`, or the member `files` of the reference, `{"path": "text"}`. A file of a tree is JSON of that
/// shape, or an uncompressed tar, such as `git archive HEAD -o tree.tar` writes. Links, absolute paths, `..`, and
/// more than 4,000 files or 24 MiB are refused. **The reference** names the tests as SWE-bench does, as an
/// object or as its JSON text: `FAIL_TO_PASS` and `PASS_TO_PASS`, lists (or their JSON text) of ids,
/// `tests/test_a.py::TestB::test_c[1-x]` or `test_c (tests.test_a.TestB)`; `test_patch`, a diff; `tests`, files
/// of tests; `patch`, the gold change, which `assay validate` tries. For the flat rows of SWE-bench, `tests = "."`.
///
/// **The change** is a unified diff, search/replace blocks, whole files in fences that name their path, or
/// JSON of paths and texts. A hunk is looked for nearest to the line that it names, and may lose `fuzz` lines of
/// context at either end; a change that does not apply is wrong. **What judges is the task's**: files of
/// tests, `conftest.py`, `pytest.ini`, `tox.ini`, `setup.cfg`, `sitecustomize.py`, `usercustomize.py`, `*.pth`, all
/// in the folder of the tests and all that `test_patch` changes stay as the task has them. Changes of them are
/// dropped, and named in the evidence.
///
/// **The tests** run under Python in a fresh room without network, processes or other packages than the library,
/// by a `pytest` of ours and `unittest`; see docs/sandbox.md. A test that is skipped, or is not there, has not
/// passed. Program and tests share the room: what is protected there, and what is not, is in the same page.
#[derive(Debug, Deserialize, Serialize, JsonSchema, SmartDefault)]
#[serde(deny_unknown_fields, default)]
pub struct RepoTests {
    /// Where the names of the tests are: `reference`, a column of the row, or `.` for the whole row.
    #[default = "reference"]
    tests: String,
    /// The repository of every row: a file.
    tree: Option<TreeFile>,
    /// Repositories by the name that the row gives: `{ "a__b-1" = "a__b-1.tar" }`.
    trees: BTreeMap<String, TreeFile>,
    /// The column that names the repository of a row.
    #[default = "tree"]
    tree_column: String,
    /// Folders of the repository in which modules are found, the first one first; those that it has not are
    /// passed over.
    #[default(vec!["src".to_owned(), ".".to_owned()])]
    paths: Vec<String>,
    /// Folders and files beside those of the tests that a change may not touch.
    protect: Vec<String>,
    /// Lines of context that a hunk of a diff may lose at either end, up to 10.
    #[default(FUZZ)]
    fuzz: usize,
    /// What is done with the model's thinking.
    thinking: Thinking,
    /// Packages beside the library: wheels in pure Python and modules of one file, as files, which may be pinned
    /// (`"wheels/networkx-3.7-py3-none-any.whl#sha256=..."`), and names of packages that must be there.
    packages: Vec<String>,
    /// What one run may use.
    limits: Limits,
    #[serde(skip)]
    loaded: BTreeMap<String, Arc<FileTree>>,
    #[serde(skip)]
    python: Python,
    #[serde(skip)]
    memo: VerdictMemo,
}

impl Sandboxed for RepoTests {
    fn enter(&mut self, sandbox: &Arc<Sandbox>) -> Result<Vec<(String, Digest)>, BuildError> {
        self.python.enter(sandbox, &self.limits)
    }
}

impl Check for RepoTests {
    const ID: &'static str = "repo_tests";
    const SLOW: bool = true;

    fn load(&mut self, files: &dyn Files) -> Result<(), BuildError> {
        if self.fuzz > FUZZ_MAX {
            let why = format!("expected at most {FUZZ_MAX}, found {}", self.fuzz);
            return Err(BuildError::new("fuzz", why));
        }
        self.python.load::<Self>(&self.packages, files, &self.limits)?;
        self.loaded = trees::load(self.tree.as_ref(), &self.trees, files)?;
        Ok(())
    }

    fn gold(&self, sample: &Sample) -> Option<Vec<String>> {
        let tests = suite_run::tests(sample, &self.tests)?;
        let task = Task::read(&tests).ok()?;
        Some(task.patch.map(|patch| format!("```diff\n{patch}\n```\n")).into_iter().collect())
    }

    fn trivial(&self, sample: &Sample) -> Option<Trivial> {
        let tests = suite_run::tests(sample, &self.tests)?;
        let task = Task::read(&tests).ok()?;
        let tree = self.tree(sample, &task).ok()?;
        let is_source = |(path, _): &(&str, &[u8])| protect::is_python(path);
        let (path, text) = tree.iter().filter(is_source).min_by_key(|(_, text)| text.len())?;
        let files = json!({ "files": { path: std::str::from_utf8(text).ok()? } });
        let unchanged = ("the repository as it is".to_owned(), files.to_string());
        Some(Trivial { tests: canonical::digest(&tests), completions: vec![unchanged] })
    }

    fn check(&self, sample: &Sample, meter: &mut Meter<'_>) -> Result<Verdict, Fault> {
        let Some(tests) = suite_run::tests(sample, &self.tests) else {
            return Ok(suite_run::no_tests(sample, &self.tests));
        };
        meter.spend(sample.completion().len() as u64)?;
        let task = Task::read(&tests)?;
        let base = self.tree(sample, &task)?;
        meter.spend(base.bytes() as u64 / 16)?;
        let tested = tested(&base, &task, meter)?;
        let wanted = task.wanted(&tested)?;
        let protected = Protected::new(&tested, &base, &wanted, &self.protect);
        let completion = sample.completion();
        let proposal = thinking::answer(completion, self.thinking)
            .and_then(|part| Proposal::find(&completion[part]));
        let Some(proposal) = proposal else {
            return Ok(Verdict::scored(Reward::ZERO).because("no-change"));
        };
        let proposed = match self.proposed(&proposal, &base, &tested, &protected, meter) {
            Ok(proposed) => proposed,
            Err(Unapplied::Unpaid(fault)) => return Err(fault),
            Err(Unapplied::Refused(why)) => {
                let verdict = Verdict::scored(Reward::ZERO).because("does-not-apply");
                return Ok(verdict.with("form", proposal.form()).with("error", why.to_string()));
            }
        };
        let key = key(&proposed.tree, &tests);
        let verdict = self.memo.verdict(key, || {
            let Ok(files) = room(&proposed.tree) else {
                let verdict = Verdict::scored(Reward::ZERO).because("too-many-files");
                return Ok(verdict.with("error", "the repository does not fit into the room"));
            };
            let python = self.python.guest::<Self>()?;
            let paths = self.paths(&proposed.tree);
            let modules = protected.modules(&tested);
            let run = RepositoryTask { files, paths, protected: modules, wanted: &wanted };
            let expired = &mut || meter.expired();
            let context = RunContext { limits: self.limits.clone(), seed: 0, expired };
            report::verdict(&run_repository(python, run, context), &task, &wanted)
        });
        let verdict = Verdict::from(verdict).with("form", proposal.form());
        let verdict = verdict.with("changed", report::shown(&proposed.changed));
        Ok(if proposed.dropped.is_empty() {
            verdict
        } else {
            verdict.with("dropped", report::shown(&proposed.dropped))
        })
    }
}

impl RepoTests {
    /// The repository of a row, as it is before any change.
    fn tree(&self, sample: &Sample, task: &Task) -> Result<Arc<FileTree>, Fault> {
        if let Some(files) = &task.files {
            let tree = FileTree::from_json(files);
            let tree = tree.map_err(|why| Fault::bad_reference(format!("files: {why}")))?;
            return Ok(Arc::new(tree));
        }
        let name = match sample.column(&self.tree_column).and_then(Value::as_str) {
            Some(name) if !self.trees.is_empty() => name,
            _ => trees::ONLY,
        };
        let missing = || {
            Fault::bad_reference(format!(
                "no repository: neither `files` in the reference, nor `tree`, nor one of `trees` in the column \"{}\"",
                self.tree_column
            ))
        };
        self.loaded.get(name).cloned().ok_or_else(missing)
    }

    /// The repository after the change, with the tests of the task.
    fn proposed(
        &self,
        proposal: &Proposal,
        base: &FileTree,
        tested: &FileTree,
        protected: &Protected,
        meter: &mut Meter<'_>,
    ) -> Result<Proposed, Unapplied<Fault>> {
        let is_dropped = |path: &str| protected.has(path);
        let pay = &mut |units| meter.spend(units);
        let mut proposed = proposal.apply(base, &is_dropped, self.fuzz, pay)?;
        for path in protected.touched() {
            match tested.get(path) {
                Some(content) => proposed.tree.put(path, content.to_vec())?,
                None => drop(proposed.tree.remove(path)),
            }
        }
        Ok(proposed)
    }

    /// The folders in which modules are found, as the room names them.
    fn paths(&self, tree: &FileTree) -> Vec<String> {
        let mut paths = Vec::new();
        for path in &self.paths {
            match path.trim_matches('/').trim_start_matches("./") {
                "" | "." => paths.push(ROOT.to_owned()),
                path if tree.has_folder(path) => paths.push(format!("{ROOT}/{path}")),
                _ => {}
            }
        }
        paths
    }
}

/// The repository with the tests of the task, and without any change.
fn tested(base: &FileTree, task: &Task, meter: &mut Meter<'_>) -> Result<FileTree, Fault> {
    let bad = |why: &dyn std::fmt::Display| Fault::bad_reference(format!("test_patch: {why}"));
    let mut tree = base.clone();
    if let Some(patch) = task.test_patch.as_deref().filter(|patch| !patch.trim().is_empty()) {
        let diff = Diff::read(patch).map_err(|why| bad(&why))?;
        tree = diff.apply(&tree, 0, &mut |units| meter.spend(units)).map_err(|why| match why {
            Unapplied::Refused(why) => bad(&why),
            Unapplied::Unpaid(fault) => fault,
        })?;
    }
    if let Some(tests) = &task.tests {
        let tests = FileTree::from_json(tests).map_err(|why| bad(&why))?;
        for (path, content) in tests.iter() {
            tree.put(path, content.to_vec()).map_err(|why| bad(&why))?;
        }
    }
    room(&tree)?;
    Ok(tree)
}

/// The files of a room that holds a tree.
fn room(tree: &FileTree) -> Result<MemoryFiles, Fault> {
    let files = MemoryFiles::default();
    for (path, content) in tree.iter() {
        let put = files.put(&format!("{ROOT}/{path}"), content);
        put.map_err(|why| Fault::bad_reference(format!("files: {path} does not fit: {why}")))?;
    }
    Ok(files)
}

/// What a run depends on.
fn key(tree: &FileTree, tests: &Value) -> Digest {
    let mut parts: Vec<&[u8]> = Vec::new();
    for (path, content) in tree.iter() {
        parts.extend([path.as_bytes(), content]);
    }
    let tests = canonical::to_bytes(tests);
    parts.push(&tests);
    canonical::digest_parts(&parts)
}
