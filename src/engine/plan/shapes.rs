//! The shapes of a reward, built.

use assay_verifiers::canonical::{self, Digest};
use assay_verifiers::shape::BuiltShape;
use assay_verifiers::{Files, shaping};
use serde_json::Value;

use crate::engine::advice::suggestion;
use crate::engine::config::{Config, RewardConfig};
use crate::engine::document::Document;
use crate::engine::error::{ConfigError, did_you_mean};

/// The most shapes of a reward: evidence notes what each did.
const SHAPES_MAX: usize = 64;

/// Builds the shapes of a reward.
pub(super) fn built(
    document: &Document,
    config: &Config,
    (at, reward): (usize, &RewardConfig),
    files: &dyn Files,
) -> Result<Vec<BuiltShape>, ConfigError> {
    if reward.shape.len() > SHAPES_MAX {
        let (name, count) = (&reward.name, reward.shape.len());
        let message =
            format!("reward \"{name}\": {count} shapes; at most {SHAPES_MAX} are allowed");
        return Err(document.error(&format!("reward[{at}].shape"), message));
    }
    let names = || config.rewards.iter().map(|reward| reward.name.as_str());
    let build = |(place, given): (usize, &serde_json::Map<String, Value>)| {
        let fail = |setting: &str, message: &str, help: Option<String>| {
            let dot = if setting.is_empty() { "" } else { "." };
            let path = format!("reward[{at}].shape[{place}]{dot}{setting}");
            let message = format!("reward \"{}\": shape: {message}", reward.name);
            Err(document.error(&path, message).help(help))
        };
        let shape = match shaping::build(Value::Object(given.clone()), files) {
            Ok(shape) => shape,
            Err(error) => {
                let help = kind(given, &error.message).or_else(|| suggestion(&error.message));
                return fail(&error.setting, &error.message, help);
            }
        };
        for read in &shape.reads {
            if !names().any(|name| name == read) {
                let help = did_you_mean(read, names());
                let help = help.map(|near| format!("did you mean \"{near}\"?"));
                return fail("", &format!("no reward is called \"{read}\""), help);
            }
        }
        Ok(shape)
    };
    reward.shape.iter().enumerate().map(build).collect()
}

/// How the kind of a shape is written that stands under another key.
fn kind(given: &serde_json::Map<String, Value>, message: &str) -> Option<String> {
    if !message.starts_with("missing field `kind`") {
        return None;
    }
    let (key, word) = ["name", "type", "shape", "id", "method"]
        .into_iter()
        .find_map(|key| Some((key, given.get(key)?.as_str()?)))?;
    let known = message.split('`').skip(3).step_by(2);
    let word = did_you_mean(word, known).unwrap_or(word);
    Some(format!("write kind = \"{word}\" in the place of {key}"))
}

/// A gate decides before anything is shaped: shaping its reward would do nothing.
pub(super) fn refuse_gates(
    document: &Document,
    config: &Config,
    gates: &[usize],
) -> Result<(), ConfigError> {
    let rewards = config.rewards.iter().enumerate();
    match rewards.into_iter().find(|(at, one)| gates.contains(at) && !one.shape.is_empty()) {
        None => Ok(()),
        Some((at, one)) => {
            let message =
                format!("the gate \"{}\" is not shaped: shape what it lets pass", one.name);
            Err(document.error(&format!("reward[{at}].shape"), message))
        }
    }
}

/// The settings of a shape with every default, and the digests of its files.
pub(super) fn resolved(shape: &BuiltShape) -> Value {
    let mut settings = shape.settings.clone();
    if !shape.files.is_empty()
        && let Some(members) = settings.as_object_mut()
    {
        members.insert("files".to_owned(), digests(&shape.files));
    }
    settings
}

/// The digests of files by their names.
pub(super) fn digests(files: &[(String, Digest)]) -> Value {
    let digest = |(name, digest): &(String, Digest)| (name.clone(), canonical::hex(digest).into());
    Value::Object(files.iter().map(digest).collect())
}
