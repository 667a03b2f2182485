//! The tables of a configuration that trainers read: they move no reward, and are checked with it.

use assay_trainer::TrainerError;
use assay_trainer::config::TrainConfig;
use assay_verifiers::code::Code;
use serde_json::{Value, json};

use crate::engine::config::Config;
use crate::engine::document::Document;
use crate::engine::error::ConfigError;

/// Whether what trainers read can be built.
pub(super) fn check(document: &Document, config: &Config) -> Result<(), ConfigError> {
    let train = config.train.as_ref();
    let trained = [("train", train.map(TrainConfig::check))];
    for (room, built) in built(config).into_iter().chain(trained) {
        match built {
            Some(Err(TrainerError::Setting(error))) => return Err(document.refused(room, error)),
            Some(Err(error)) => return Err(document.error(room, error.to_string())),
            Some(Ok(())) | None => {}
        }
    }
    train.map_or(Ok(()), |train| check_correct(document, config, train))
}

/// A table, and whether it can be built where it is given.
type Built = (&'static str, Option<Result<(), TrainerError>>);

/// The tables of groups, each built on trial.
#[cfg(feature = "groups")]
fn built(config: &Config) -> [Built; 3] {
    let Config { advantage, select, loss, .. } = config;
    [
        ("advantage", advantage.as_ref().map(|table| table.build().map(drop))),
        ("select", select.as_ref().map(|table| table.build().map(drop))),
        ("loss", loss.as_ref().map(|table| table.build().map(drop))),
    ]
}

/// The tables of groups, of which this build makes nothing.
#[cfg(not(feature = "groups"))]
fn built(config: &Config) -> [Built; 3] {
    let Config { advantage, select, loss, .. } = config;
    let given = [
        ("advantage", advantage.is_some()),
        ("select", select.is_some()),
        ("loss", loss.is_some()),
    ];
    given.map(|(room, is_given)| {
        let why =
            format!("this build makes no use of [{room}]: built without the feature `groups`");
        (room, is_given.then(|| Err(TrainerError::setting("", why))))
    })
}

/// The tables that are given, by their names.
pub(super) fn resolved(config: &Config) -> impl Iterator<Item = (String, Value)> {
    let Config { advantage, select, loss, train, .. } = config;
    let tables = [
        ("advantage", advantage.as_ref().map(|table| json!(table))),
        ("select", select.as_ref().map(|table| json!(table))),
        ("loss", loss.as_ref().map(|table| json!(table))),
        ("train", train.as_ref().map(|table| json!(table))),
    ];
    tables.into_iter().filter_map(|(name, table)| Some((name.to_owned(), table?)))
}

/// Whether the rewards that say what is right are there.
fn check_correct(
    document: &Document,
    config: &Config,
    train: &TrainConfig,
) -> Result<(), ConfigError> {
    let names = || config.rewards.iter().map(|reward| reward.name.as_str());
    match train.correct.iter().find(|name| !names().any(|known| known == name.as_str())) {
        None => Ok(()),
        Some(name) => {
            let message = format!("train.correct: no reward is called \"{name}\"");
            let error = document.error("train.correct", message);
            Err(error.code(Code::UnknownName).known(name, names()))
        }
    }
}

#[cfg(all(test, not(feature = "groups")))]
mod tests {
    use super::*;

    #[test]
    fn the_feature_is_named() {
        for table in ["advantage", "select", "loss"] {
            let document = Document::parse("c", &format!("version = 1\n[{table}]\n")).unwrap();
            let why = check(&document, &document.config().unwrap()).unwrap_err().to_string();
            assert!(why.contains("built without the feature `groups`"), "{why}");
        }
    }
}
