//! The tables of a configuration that trainers read: they move no reward, and are checked with it.

use assay_trainer::TrainerError;
use assay_trainer::training::TrainConfig;
use serde_json::{Value, json};

use crate::engine::advice::suggestion;
use crate::engine::config::Config;
use crate::engine::document::Document;
use crate::engine::error::{ConfigError, did_you_mean};

/// Whether what trainers read can be built.
pub(super) fn check(document: &Document, config: &Config) -> Result<(), ConfigError> {
    let Config { advantage, select, loss, train, .. } = config;
    let checked = [
        ("advantage", advantage.as_ref().map(|table| table.build().map(drop))),
        ("select", select.as_ref().map(|table| table.build().map(drop))),
        ("loss", loss.as_ref().map(|table| table.build().map(drop))),
        ("train", train.as_ref().map(TrainConfig::check)),
    ];
    for (room, built) in checked {
        if let Some(Err(error)) = built {
            let path = match &error {
                TrainerError::Setting { setting, .. } if !setting.is_empty() => {
                    format!("{room}.{setting}")
                }
                _ => room.to_owned(),
            };
            let told = error.to_string();
            // A kind says its name first.
            let unknown = told.find("unknown ").and_then(|at| told.get(at..));
            let help = suggestion(unknown.unwrap_or_default());
            return Err(document.error(&path, format!("{path}: {told}")).help(help));
        }
    }
    train.as_ref().map_or(Ok(()), |train| check_correct(document, config, train))
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
            let help = did_you_mean(name, names());
            let message = format!("train.correct: no reward is called \"{name}\"");
            Err(document
                .error("train.correct", message)
                .help(help.map(|near| format!("did you mean \"{near}\"?"))))
        }
    }
}
