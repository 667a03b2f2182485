//! `assay init --task`: the configuration of a public data set, with its columns as on the hub.

use serde::Deserialize;

/// The files of tasks, by their names.
const FILES: &[(&str, &str)] = &[
    ("bfcl", include_str!("../../../fixtures/init/tasks/bfcl.toml")),
    ("citations", include_str!("../../../fixtures/init/tasks/citations.toml")),
    ("countdown", include_str!("../../../fixtures/init/tasks/countdown.toml")),
    ("gsm8k", include_str!("../../../fixtures/init/tasks/gsm8k.toml")),
    ("ifbench", include_str!("../../../fixtures/init/tasks/ifbench.toml")),
    ("ifeval", include_str!("../../../fixtures/init/tasks/ifeval.toml")),
    ("math", include_str!("../../../fixtures/init/tasks/math.toml")),
    ("mmlu-pro", include_str!("../../../fixtures/init/tasks/mmlu-pro.toml")),
    ("ocr", include_str!("../../../fixtures/init/tasks/ocr.toml")),
    ("reasoning-gym", include_str!("../../../fixtures/init/tasks/reasoning-gym.toml")),
    ("simpleqa", include_str!("../../../fixtures/init/tasks/simpleqa.toml")),
    ("squad", include_str!("../../../fixtures/init/tasks/squad.toml")),
    ("structured", include_str!("../../../fixtures/init/tasks/structured.toml")),
    ("tulu-3-rlvr", include_str!("../../../fixtures/init/tasks/tulu-3-rlvr.toml")),
    ("tulu-3-rlvr-if", include_str!("../../../fixtures/init/tasks/tulu-3-rlvr-if.toml")),
];

/// A task.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct TaskFile {
    /// What it is, and the data set.
    about: String,
    /// The configuration.
    config: String,
    row: Vec<TaskRow>,
}

/// A row as the data set has it, with a completion.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct TaskRow {
    json: String,
    /// What the completion earns; a test holds it.
    #[serde(rename = "reward")]
    _reward: f64,
}

/// The names of the tasks, in order.
pub(super) fn names() -> impl Iterator<Item = &'static str> {
    FILES.iter().map(|(name, _)| *name)
}

/// The configuration and the rows of a task.
pub(super) fn files(name: &str) -> Option<(String, String)> {
    let (_, text) = FILES.iter().find(|(own, _)| *own == name)?;
    let TaskFile { about, config, row } = toml::from_str(text).ok()?;
    let rows = row.into_iter().map(|row| row.json + "\n").collect();
    Some((format!("# {about}\n{}", config.trim_start()), rows))
}
