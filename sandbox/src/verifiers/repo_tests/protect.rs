//! Which files of a repository are the task's own.

use std::collections::BTreeSet;

use assay_patch::FileTree;

use crate::isolation::WantedTest;

/// Files that test runners and interpreters read by their names.
const BY_NAME: [&str; 8] = assay_verifiers::words::list(
    "conftest.py pytest.ini .pytest.ini tox.ini setup.cfg sitecustomize.py usercustomize.py \
     noxfile.py",
);
/// Names of folders that hold tests.
const FOLDERS: [&str; 3] = ["tests", "test", "testing"];
/// Files of Python beside the tests that are read ahead.
const MODULES_MAX: usize = 2_000;

/// The files that no change may touch.
pub(super) struct Protected {
    /// Files of tests, and those that the tests of the task change.
    touched: BTreeSet<String>,
    /// The files of the tests that are asked for.
    wanted: BTreeSet<String>,
    /// Folders that hold them, with a slash at their end, and others that settings name.
    folders: Vec<String>,
}

impl Protected {
    pub(super) fn new(
        tested: &FileTree,
        base: &FileTree,
        wanted: &[WantedTest],
        more: &[String],
    ) -> Self {
        let wanted: BTreeSet<String> = wanted.iter().map(|test| test.path.clone()).collect();
        let mut touched = wanted.clone();
        let changed = tested.iter().filter(|(path, text)| base.get(path) != Some(*text));
        touched.extend(changed.map(|(path, _)| path.to_owned()));
        let gone = base.iter().filter(|(path, _)| tested.get(path).is_none());
        touched.extend(gone.map(|(path, _)| path.to_owned()));
        let own = more.iter().map(|path| path.trim_matches('/').to_owned() + "/");
        let folders = wanted.iter().filter_map(|path| folder_of(path)).chain(own);
        let folders: BTreeSet<String> = folders.collect();
        Self { touched, wanted, folders: folders.into_iter().collect() }
    }

    /// Whether a file is the task's own.
    pub(super) fn has(&self, path: &str) -> bool {
        let name = path.rsplit('/').next().unwrap_or(path);
        let is_test = name.strip_suffix(".py").is_some_and(|name| {
            name.starts_with("test_") || name.ends_with("_test") || name == "tests"
        });
        let within = |folder: &String| {
            path.starts_with(folder.as_str()) || folder.strip_suffix('/') == Some(path)
        };
        is_test
            || BY_NAME.contains(&name)
            || name.to_ascii_lowercase().ends_with(".pth")
            || self.touched.contains(path)
            || self.folders.iter().any(within)
    }

    /// The files that are put back as the task has them.
    pub(super) fn touched(&self) -> impl Iterator<Item = &str> {
        self.touched.iter().map(String::as_str)
    }

    /// The files of Python that the tests are made of: those that are asked for, what they may share, and
    /// `conftest.py` in any folder.
    pub(super) fn modules<'a>(&self, tested: &'a FileTree) -> Vec<&'a str> {
        let is_module = |path: &&str| {
            let name = path.rsplit('/').next().unwrap_or(path);
            let is_shared = || {
                !name.starts_with("test_")
                    && self.folders.iter().any(|folder| path.starts_with(folder.as_str()))
            };
            let is_own = || name == "conftest.py" || self.wanted.contains(*path) || is_shared();
            is_python(name) && is_own()
        };
        tested.iter().map(|(path, _)| path).filter(is_module).take(MODULES_MAX).collect()
    }
}

/// Whether a file holds code of Python.
pub(super) fn is_python(path: &str) -> bool {
    path.rsplit_once('.').is_some_and(|(_, ending)| ending == "py")
}

/// The outermost folder of tests that a file is in.
fn folder_of(path: &str) -> Option<String> {
    let mut folder = String::new();
    let (above, _) = path.rsplit_once('/')?;
    for name in above.split('/') {
        folder.push_str(name);
        folder.push('/');
        if FOLDERS.contains(&name) {
            return Some(folder);
        }
    }
    None
}
