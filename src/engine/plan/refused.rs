//! What a configuration cannot have although its types are right: where, and what to type.

use assay_verifiers::BuildError;

use crate::data::Columns;
use crate::engine::advice::{suggestion, typed};
use crate::engine::config::{Config, RewardConfig};
use crate::engine::document::Document;
use crate::engine::error::ConfigError;
use crate::engine::translate;

/// What no type says: limits of 0, and columns that cannot be one.
pub(super) fn check_values(document: &Document, config: &Config) -> Result<(), ConfigError> {
    let limits = &config.limits;
    let zero = [
        ("fuel", limits.fuel),
        ("deadline_ms", limits.deadline_ms),
        ("row_bytes_max", limits.row_bytes_max),
    ];
    if let Some((key, _)) = zero.iter().find(|(_, value)| *value == 0) {
        let help = "leave it out for the default".to_owned();
        let message =
            format!("`limits.{key}`: expected an integer of 1 or more, found the integer 0");
        return Err(document.error(&format!("limits.{key}"), message).help(Some(help)));
    }
    let columns = &config.data;
    if columns.completion == columns.reference {
        let key = if columns.reference == Columns::default().reference {
            "completion"
        } else {
            "reference"
        };
        let message = format!(
            "data.completion and data.reference name one column, \"{}\": it would be compared with itself",
            columns.reference
        );
        let help = "completion is what the policy answered, reference what is right".to_owned();
        return Err(document.error(&format!("data.{key}"), message).help(Some(help)));
    }
    Ok(())
}

/// What a verifier refuses of its settings.
pub(super) fn settings(
    document: &Document,
    at: usize,
    reward: &RewardConfig,
    error: &BuildError,
) -> ConfigError {
    let path = match error.setting.as_str() {
        "" => format!("reward[{at}].config"),
        setting => format!("reward[{at}].config.{setting}"),
    };
    let message = format!("reward \"{}\": {}: {}", reward.name, reward.verifier, error.message);
    let id = &reward.verifier;
    let page = format!("`assay show {id}` names its settings, with an example");
    let missing = error.message.strip_prefix("missing field `").and_then(|m| m.split('`').next());
    let written = || {
        let (key, value) = (error.setting.as_str(), reward.config.get(&error.setting)?);
        typed(key, value, &error.message)
    };
    let told = match missing {
        Some(key) => Some(format!("write config = {{ {key} = ... }};")),
        None => suggestion(&error.message).or_else(|| written().map(|help| format!("{help};"))),
    };
    let help = told.map_or_else(|| page.clone(), |told| format!("{told} {page}"));
    document.error(&path, message).help(Some(help))
}

/// What is wrong with an expression that does not parse: the place in it, and what to type.
pub(super) fn expression(
    document: &Document,
    path: &str,
    source: &str,
    error: &str,
    names: &[String],
) -> ConfigError {
    let key = path.rsplit('.').next().unwrap_or(path);
    let message = format!("`{key}`: {error}");
    let wrong = match translate::place(source, error) {
        Some(part) => document.error_in(path, part, message),
        None => document.error(path, message),
    };
    let help = match translate::in_rhai(source, names, key == "expression") {
        Some(meant) => format!("write {key} = {}", toml::Value::from(meant)),
        None => "it is an expression of rhai: `&&`, `||`, `!`, `==`, \"a text\", \
                 `if A { B } else { C }`, and rewards[\"a name\"]"
            .to_owned(),
    };
    wrong.help(Some(help))
}
