//! The shapes of a reward, built.

use assay_verifiers::canonical::{self, Digest};
use assay_verifiers::code::Code;
use assay_verifiers::shape::BuiltShape;
use assay_verifiers::{BuildError, Files, shaping};
use serde_json::Value;

use crate::engine::config::{Config, RewardConfig};
use crate::engine::document::Document;
use crate::engine::error::ConfigError;

/// The most shapes of a reward: evidence notes what each did.
const SHAPES_MAX: usize = 64;

/// Builds the shapes of a reward.
pub(super) fn built(
    document: &Document,
    config: &Config,
    at: usize,
    reward: &RewardConfig,
    files: &dyn Files,
) -> Result<Vec<BuiltShape>, ConfigError> {
    if reward.shape.len() > SHAPES_MAX {
        let (name, count) = (&reward.name, reward.shape.len());
        let message =
            format!("reward \"{name}\": {count} shapes; at most {SHAPES_MAX} are allowed");
        return Err(document.error(&format!("reward[{at}].shape"), message).code(Code::Limit));
    }
    let names = || config.rewards.iter().map(|reward| reward.name.as_str());
    let build = |(place, given): (usize, &serde_json::Map<String, Value>)| {
        let path = format!("reward[{at}].shape[{place}]");
        let others: Vec<&str> = names().collect();
        let shape = shaping::build(Value::Object(given.clone()), files, &others)
            .map_err(|error| document.refused(&path, of_shape(reward, error)))?;
        match shape.reads.iter().find(|read| !names().any(|name| name == read.as_str())) {
            None => Ok(shape),
            Some(read) => {
                let error = document.error(&path, format!("no reward is called \"{read}\""));
                Err(error.code(Code::UnknownName).known(read, names()))
            }
        }
    };
    reward.shape.iter().enumerate().map(build).collect()
}

/// The error with the reward whose shape it is.
fn of_shape(reward: &RewardConfig, error: BuildError) -> BuildError {
    let message = format!("reward \"{}\": shape: {}", reward.name, error.message);
    BuildError { message, ..error }
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
            Err(document.error(&format!("reward[{at}].shape"), message).code(Code::NoEffect))
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
