//! The tables of a configuration that trainers read: they move no reward, and are checked with it.

use assay_trainer::TrainerError;

use crate::engine::config::Config;
use crate::engine::document::{Document, suggestion};
use crate::engine::error::ConfigError;

/// Whether what trainers read can be built.
pub(super) fn check(document: &Document, config: &Config) -> Result<(), ConfigError> {
    let advantage = config.advantage.as_ref().map(|table| table.build().map(drop));
    let select = config.select.as_ref().map(|table| table.build().map(drop));
    for (room, built) in [("advantage", advantage), ("select", select)] {
        if let Some(Err(error)) = built {
            let path = match &error {
                TrainerError::Setting { setting, .. } if !setting.is_empty() => {
                    format!("{room}.{setting}")
                }
                _ => room.to_owned(),
            };
            let message = format!("{path}: {error}");
            return Err(document.error(&path, &message).help(suggestion(&error.to_string())));
        }
    }
    Ok(())
}
