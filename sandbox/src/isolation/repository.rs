//! A repository and its tests in one instance, with its files in memory.

use super::RunContext;
use super::message::{lossy, request};
use crate::runtime::{Guest, MemoryFiles, RunRecord, Setup, Stop, drive};
use crate::value::{PyValue, marshal};

/// The folder of the repository among the files of the instance.
pub const ROOT: &str = "/repo";

/// A test that is asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WantedTest {
    /// Its id, as the task names it.
    pub id: String,
    /// Its file, from the root of the repository.
    pub path: String,
    /// Its classes and its own name.
    pub names: Vec<String>,
    /// What is in brackets: the parameters of one run.
    pub param: Option<String>,
}

/// A repository and what is asked of it.
pub struct RepositoryTask<'a> {
    /// Its files, below [`ROOT`].
    pub files: MemoryFiles,
    /// The folders in which modules are found, the first one first.
    pub paths: Vec<String>,
    /// Files of Python that tests are made of, read before any other code runs.
    pub protected: Vec<&'a str>,
    /// The tests.
    pub wanted: &'a [WantedTest],
}

/// What became of a test: a word (`passed`, `failed`, `error`, `skipped`, `missing`), and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TestWord {
    /// The word.
    pub word: String,
    /// Why it did not pass.
    pub why: Option<String>,
}

/// What became of all of them.
#[derive(Clone, Debug, Default)]
pub struct RepositoryRun {
    /// One for each test that was asked for, in their order; none where the instance was stopped.
    pub tests: Vec<TestWord>,
    /// Why the tests cannot be read.
    pub broken: Option<String>,
    /// The rule that the program broke.
    pub poisoned: Option<String>,
    /// What stopped the instance.
    pub stop: Option<Stop>,
    /// What it used and wrote.
    pub used: RunRecord,
}

/// Runs tests of a repository.
pub fn run_repository(
    python: &Guest,
    task: RepositoryTask<'_>,
    context: RunContext<'_>,
) -> RepositoryRun {
    let RunContext { limits, seed, expired } = context;
    let message = request("repo", arguments(&task));
    let count = task.wanted.len();
    let mut run = RepositoryRun::default();
    let work = async {
        let setup = Setup { limits, seed, files: Some(task.files), ..Setup::default() };
        let mut instance = python.start(setup).await?;
        let reply = instance.call(message).await;
        run.used = instance.record();
        reply
    };
    match drive(work, expired) {
        Ok(reply) => {
            let read = marshal::decode(&reply).ok().and_then(|(reply, _)| run.take(reply));
            // The program can write what it likes into the reply.
            if read.is_none() || run.broken.is_none() && run.tests.len() != count {
                run.tests.clear();
                run.poisoned.get_or_insert_with(|| "the room gave no result".to_owned());
            }
        }
        Err(stop) => run.stop = Some(stop),
    }
    run
}

fn arguments(task: &RepositoryTask<'_>) -> [PyValue; 4] {
    let texts =
        |texts: &mut dyn Iterator<Item = &str>| PyValue::List(texts.map(Into::into).collect());
    let test = |test: &WantedTest| {
        PyValue::Tuple(vec![
            test.id.as_str().into(),
            test.path.as_str().into(),
            texts(&mut test.names.iter().map(String::as_str)),
            test.param.as_deref().into(),
        ])
    };
    [
        ROOT.into(),
        texts(&mut task.paths.iter().map(String::as_str)),
        texts(&mut task.protected.iter().copied()),
        PyValue::List(task.wanted.iter().map(test).collect()),
    ]
}

impl RepositoryRun {
    fn take(&mut self, reply: PyValue) -> Option<()> {
        let PyValue::Tuple(items) = reply else { return None };
        let [_, PyValue::List(tests), broken, poisoned] = items.as_slice() else { return None };
        let said = |value: &PyValue| (*value != PyValue::None).then(|| lossy(value));
        let word = |row: &PyValue| {
            let PyValue::Tuple(row) = row else { return None };
            let [_, word, why] = row.as_slice() else { return None };
            Some(TestWord { word: lossy(word), why: said(why) })
        };
        self.tests = tests.iter().map(word).collect::<Option<_>>()?;
        self.broken = said(broken);
        self.poisoned = said(poisoned);
        Some(())
    }
}
