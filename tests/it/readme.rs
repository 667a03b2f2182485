//! The README's commands do what it says.

use std::path::Path;
use std::process::{Command, Output};

const README: &str = include_str!("../../README.md");

/// Runs a line of the README through a shell that finds the `assay` of this build.
fn shell(line: &str, dir: &Path) -> Output {
    let binary = Path::new(env!("CARGO_BIN_EXE_assay")).parent().unwrap().display().to_string();
    let path = format!("{binary}:/usr/bin:/bin");
    let command = format!("set -e\n{line}");
    Command::new("bash")
        .args(["-c", &command])
        .current_dir(dir)
        .env_clear()
        .env("PATH", path)
        .env("HOME", dir)
        .output()
        .unwrap()
}

/// The contents of every fenced block of a language.
fn blocks(language: &str) -> Vec<&'static str> {
    let opening = format!("```{language}\n");
    README.split(opening.as_str()).skip(1).filter_map(|rest| rest.split("\n```").next()).collect()
}

#[test]
fn a_console_block_shows_what_the_command_prints() {
    let temp = tempfile::tempdir().unwrap();
    for block in blocks("console") {
        let (command, expected) = block.strip_prefix("$ ").unwrap().split_once('\n').unwrap();
        let output = shell(command, temp.path());
        assert!(output.status.success());
        assert_eq!(String::from_utf8(output.stdout).unwrap().trim_end(), expected);
    }
}

#[test]
fn the_commands_run_in_their_order() {
    let temp = tempfile::tempdir().unwrap();
    let commands = blocks("sh").into_iter().find(|block| block.contains("assay init")).unwrap();
    let output = shell(commands, temp.path());
    let told = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{told}");
}

#[test]
fn the_configuration_is_accepted() {
    let temp = tempfile::tempdir().unwrap();
    let config = blocks("toml").concat();
    assay::engine::runs::write_atomic(&temp.path().join("assay.toml"), config.as_bytes()).unwrap();
    let output = shell("assay validate assay.toml", temp.path());
    let told = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{told}");
}
