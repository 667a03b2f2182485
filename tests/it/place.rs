//! A folder in which the command is run.

use std::fs::File;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use serde_json::Value;
use tempfile::TempDir;

/// A folder, and the command run in it.
pub(crate) struct Place(TempDir);

impl Place {
    /// A folder with these files: their names and texts.
    pub(crate) fn with(files: &[(&str, &str)]) -> Self {
        let place = Self(tempfile::tempdir().unwrap());
        for (name, text) in files {
            place.write(name, text);
        }
        place
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    pub(crate) fn write(&self, name: &str, text: &str) {
        File::create(self.path(name)).unwrap().write_all(text.as_bytes()).unwrap();
    }

    pub(crate) fn command(&self, words: &str) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_assay"));
        command.args(words.split_whitespace()).current_dir(self.0.path()).env_clear();
        command.env("HOME", self.0.path()).stdin(Stdio::null());
        command
    }

    pub(crate) fn run(&self, words: &str) -> Ran {
        Ran::of(self.command(words).output().unwrap())
    }
}

/// The command in a folder that the test keeps.
pub(crate) fn assay(folder: &Path, words: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_assay"));
    command.args(words).current_dir(folder).env_clear().env("HOME", folder);
    command.stdin(Stdio::null()).output().unwrap()
}

/// The folder of a model among the fixtures.
pub(crate) fn model(name: &str) -> String {
    let root = Path::new(crate::ROOT).canonicalize().unwrap();
    root.join("fixtures/models").join(name).display().to_string()
}

/// What a command printed, and how it ended.
pub(crate) struct Ran {
    pub(crate) code: i32,
    pub(crate) out: String,
    pub(crate) err: String,
}

impl Ran {
    pub(crate) fn of(output: Output) -> Self {
        Self {
            code: output.status.code().unwrap_or(-1),
            out: String::from_utf8(output.stdout).unwrap(),
            err: String::from_utf8(output.stderr).unwrap(),
        }
    }

    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.out)
            .unwrap_or_else(|error| panic!("{error}: {}{}", self.out, self.err))
    }

    /// Everything that was printed, without what changes from run to run.
    pub(crate) fn shown(&self) -> String {
        let stable = |line: &str| {
            let time = line.trim_start().starts_with("time ");
            if time { "  time  [time]".to_owned() } else { line.to_owned() }
        };
        let lines = self.out.lines().map(stable).collect::<Vec<_>>().join("\n");
        format!("exit {}\n--- stdout\n{lines}\n--- stderr\n{}", self.code, self.err)
    }
}
