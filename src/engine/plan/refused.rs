//! What a configuration cannot have although its types are right: where, and what to type.

use assay_verifiers::BuildError;
use assay_verifiers::code::Code;
use assay_verifiers::script::ScriptError;

use crate::data::Columns;
use crate::engine::config::{CombineBy, Config, RewardConfig, ServeConfig};
use crate::engine::document::Document;
use crate::engine::error::ConfigError;

/// What no type says: limits of 0, and columns that cannot be one.
pub(super) fn check_values(document: &Document, config: &Config) -> Result<(), ConfigError> {
    let limits = &config.limits;
    let limits = [
        ("limits.fuel", limits.fuel),
        ("limits.deadline_ms", limits.deadline_ms),
        ("limits.row_bytes_max", limits.row_bytes_max),
    ];
    let serve = config.serve.as_ref().map(ServeConfig::limits);
    let mut all = limits.into_iter().chain(serve.into_iter().flatten());
    if let Some((key, _)) = all.find(|(_, value)| *value == 0) {
        let message = format!("`{key}`: expected an integer of 1 or more, found the integer 0");
        return Err(document.error(key, message));
    }
    if let Some(dir) = config.cache.dir.as_ref().filter(|dir| dir.starts_with(['~', '$'])) {
        let message = format!("`cache.dir` is \"{dir}\", and no shell expands it here");
        let help = "write the whole path, or leave it out and set ASSAY_CACHE_DIR".to_owned();
        return Err(document.error("cache.dir", message).help(Some(help)));
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
        let error = document.error(&format!("data.{key}"), message);
        return Err(error.code(Code::Conflict).help(Some(help)));
    }
    Ok(())
}

/// Gates that are always open, and gates with nothing after them that counts.
pub(super) fn check_gates(
    document: &Document,
    config: &Config,
    gates: &[usize],
    is_from_zero: impl Fn(&usize) -> bool,
) -> Result<(), ConfigError> {
    let combine = &config.combine;
    let gate = |at: &usize| config.rewards.get(*at);
    if combine.how == CombineBy::Gate
        && combine.pass <= 0.0
        && let Some(first) = gates.iter().find_map(gate)
        && gates.iter().all(is_from_zero)
    {
        let message = format!(
            "`pass` is {}, and the gate \"{}\" ({}) never earns less than 0: it is always open",
            combine.pass, first.name, first.verifier
        );
        let help = "write pass = 1.0, the default, or another number above 0".to_owned();
        let error = document.error("combine.pass", message);
        return Err(error.code(Code::NoEffect).help(Some(help)));
    }
    let behind = || config.rewards.iter().enumerate().filter(|(at, _)| !gates.contains(at));
    let is_silent = |(_, reward): (usize, &RewardConfig)| reward.weight.constant() == Some(0.0);
    match behind().next().filter(|_| !gates.is_empty() && behind().all(is_silent)) {
        None => Ok(()),
        Some((at, reward)) => {
            let message = format!(
                "how = \"gate\" pays the weighted sum of what comes after the gates, and every weight there \
                 is 0: reward \"{}\" has weight 0",
                reward.name
            );
            let help = "write weight = 1.0 for what counts; how = \"min\" pays for the gates alone";
            let error = document.error(&format!("reward[{at}].weight"), message);
            Err(error.code(Code::NoEffect).help(Some(help.to_owned())))
        }
    }
}

/// Weights that `how` does not read. With 0 a reward is reported and has no say, whatever `how` is.
pub(super) fn check_weights(document: &Document, config: &Config) -> Result<(), ConfigError> {
    let how = match config.combine.how {
        CombineBy::WeightedSum | CombineBy::Gate => return Ok(()),
        CombineBy::Product => "product",
        CombineBy::Min => "min",
        CombineBy::Expression => "expression",
        CombineBy::Formula => "formula",
    };
    let is_switch = |end: f64| [0.0, 1.0].contains(&end);
    for (at, reward) in config.rewards.iter().enumerate() {
        let (low, high) = reward.weight.bounds();
        if is_switch(low) && is_switch(high) {
            continue;
        }
        let found = reward
            .weight
            .constant()
            .map_or_else(|| "a schedule".to_owned(), |weight| weight.to_string());
        let message = format!(
            "`weight` of reward \"{}\" is {found}, and how = \"{how}\" reads none",
            reward.name
        );
        let other = match config.combine.how {
            CombineBy::Expression => "write the factor in the expression",
            CombineBy::Formula => "write the factor in the formula",
            _ => "how = \"weighted_sum\" reads weights",
        };
        let help =
            format!("leave weight out, or write weight = 0.0 to report the reward alone; {other}");
        let error = document.error(&format!("reward[{at}].weight"), message);
        return Err(error.code(Code::NoEffect).help(Some(help)));
    }
    Ok(())
}

/// What a verifier refuses of its settings.
pub(super) fn settings(
    document: &Document,
    at: usize,
    reward: &RewardConfig,
    error: BuildError,
) -> ConfigError {
    let message = format!("reward \"{}\": {}: {}", reward.name, reward.verifier, error.message);
    let wrong = document.refused(&format!("reward[{at}].config"), BuildError { message, ..error });
    let help = wrong.help.clone();
    let page = format!("`assay show {}` describes its settings", reward.verifier);
    wrong.help(Some(help.map_or(page.clone(), |help| format!("{help} {page}"))))
}

/// What is wrong with an expression that does not parse, and the place in it.
pub(super) fn expression(document: &Document, path: &str, error: ScriptError) -> ConfigError {
    let key = path.rsplit('.').next().unwrap_or(path);
    let message = format!("`{key}`: {error}");
    let wrong = match error.place {
        Some(part) => document.error_in(path, part, message),
        None => document.error(path, message),
    };
    let help = "it is an expression of rhai: `&&`, `||`, `!`, `==`, \"a text\", `if A { B } else { C }`, and \
                rewards[\"a name\"]";
    wrong.code(Code::BadExpression).help(Some(help.to_owned()))
}
