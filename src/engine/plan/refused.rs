//! What a configuration cannot have although its types are right: where, and what to type.

use assay_verifiers::BuildError;
use assay_verifiers::code::Code;
use assay_verifiers::script::{SAMPLE_NAMES, Script, ScriptError};

use crate::data::Columns;
use crate::engine::config::{CombineBy, Config, RewardConfig, ServeConfig};
use crate::engine::document::Document;
use crate::engine::error::{ConfigError, did_you_mean};

fn refused(
    document: &Document,
    path: &str,
    code: Code,
    message: String,
    help: &str,
) -> ConfigError {
    document.error(path, message).code(code).help(Some(help.to_owned()))
}

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
        let help = "write the whole path, or leave it out and set ASSAY_CACHE_DIR";
        return Err(refused(document, "cache.dir", Code::BadValue, message, help));
    }
    let (columns, default) = (&config.data, Columns::default().reference);
    if columns.completion != columns.reference {
        return Ok(());
    }
    let is_default = columns.reference == default;
    let key = if is_default { "data.completion" } else { "data.reference" };
    let message = format!(
        "data.completion and data.reference name one column, \"{}\": it would be compared with itself",
        columns.reference
    );
    let help = "completion is what the policy answered, reference what is right";
    Err(refused(document, key, Code::Conflict, message, help))
}

/// Gates that are always open, and gates with nothing after them that counts.
pub(super) fn check_gates(
    document: &Document,
    config: &Config,
    gates: &[usize],
    is_from_zero: impl Fn(&usize) -> bool,
) -> Result<(), ConfigError> {
    let (how, pass) = (config.combine.how, config.combine.pass);
    let gate = |at: &usize| config.rewards.get(*at);
    if how == CombineBy::Gate
        && pass <= 0.0
        && let Some(RewardConfig { name, verifier, .. }) = gates.iter().find_map(gate)
        && gates.iter().all(is_from_zero)
    {
        let message = format!(
            "`pass` is {pass}, and the gate \"{name}\" ({verifier}) never earns less than 0: it is always open"
        );
        let help = "write pass = 1.0, the default, or another number above 0";
        return Err(refused(document, "combine.pass", Code::NoEffect, message, help));
    }
    let behind = || config.rewards.iter().enumerate().filter(|(at, _)| !gates.contains(at));
    let is_silent = |(_, reward): (usize, &RewardConfig)| reward.weight.constant() == Some(0.0);
    let first = behind().next().filter(|_| !gates.is_empty() && behind().all(is_silent));
    let Some((at, RewardConfig { name, .. })) = first else { return Ok(()) };
    let message = format!(
        "how = \"gate\" pays the weighted sum of what comes after the gates, and every weight there is 0: reward \"{name}\" has \
         weight 0"
    );
    let help = "write weight = 1.0 for what counts; how = \"min\" pays for the gates alone";
    Err(refused(document, &format!("reward[{at}].weight"), Code::NoEffect, message, help))
}

/// Weights that `how` does not read. With 0 a reward is reported and has no say, whatever `how` is.
pub(super) fn check_weights(document: &Document, config: &Config) -> Result<(), ConfigError> {
    let how = config.combine.how;
    let is_switch = |end: f64| [0.0, 1.0].contains(&end);
    let is_idle = |reward: &RewardConfig| {
        let (low, high) = reward.weight.bounds();
        !is_switch(low) || !is_switch(high)
    };
    let is_read = matches!(how, CombineBy::WeightedSum | CombineBy::Gate);
    let Some(at) = config.rewards.iter().position(is_idle).filter(|_| !is_read) else {
        return Ok(());
    };
    let (how, key) = (format!("{how:?}").to_lowercase(), format!("reward[{at}].weight"));
    let message = format!("`weight` is no 0 or 1, and how = \"{how}\" reads no weights");
    let help = "leave weight out, or write weight = 0.0 to report the reward alone; how = \"weighted_sum\" reads weights, and an \
                expression or a formula has factors";
    Err(refused(document, &key, Code::NoEffect, message, help))
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

/// The place of the reward that `path` names.
pub(super) fn reward<'a>(
    document: &Document,
    path: &str,
    name: &str,
    mut names: impl Iterator<Item = &'a str> + Clone,
) -> Result<usize, ConfigError> {
    let known = names.clone();
    names.position(|own| own == name).ok_or_else(|| {
        let key = path.split_once('.').map_or(path, |(_, key)| key);
        let message = format!("`{key}` names the reward \"{name}\", and none is called so");
        document.error(path, message).code(Code::UnknownName).known(name, known)
    })
}

/// Refuses a `when` that names a variable which is not there. `rewards` are all of the configuration.
pub(super) fn check_when(
    document: &Document,
    path: &str,
    source: &str,
    rewards: &[String],
) -> Result<(), ConfigError> {
    let known = [SAMPLE_NAMES.as_slice(), &["rewards", "verdicts", "step"]].concat();
    let Some((name, error)) = unknown_variable(document, path, source, &known) else {
        return Ok(());
    };
    let is_reward = rewards.contains(&name);
    if !is_reward && did_you_mean(&name, known.iter().copied()).is_some() {
        return Err(error);
    }
    let owner = if is_reward { "rewards" } else { "meta" };
    let help = format!(
        "write `{owner}.{name}`: a column of a row is a member of `meta`, and a reward above this one \
         of `rewards`; there are: {}",
        known.join(", ")
    );
    Err(error.help(Some(help)))
}

/// Refuses a `combine.expression` that names a variable or a reward which is not there.
pub(super) fn check_expression(
    document: &Document,
    source: &str,
    rewards: &[String],
) -> Result<(), ConfigError> {
    let path = "combine.expression";
    let names = rewards.iter().map(String::as_str);
    let known: Vec<&str> = names.clone().chain(["rewards", "step"]).collect();
    match unknown_variable(document, path, source, &known) {
        None => check_names(document, path, source, &names),
        Some((name, error)) if SAMPLE_NAMES.contains(&name.as_str()) => {
            let help = format!(
                "an expression sees the rewards alone: put what reads `{name}` into a reward, \
                 verifier = \"rhai\", and name that reward here"
            );
            Err(error.help(Some(help)))
        }
        Some((_, error)) => Err(error),
    }
}

/// The first variable that is none of `known`, and what is said of it.
fn unknown_variable(
    document: &Document,
    path: &str,
    source: &str,
    known: &[&str],
) -> Option<(String, ConfigError)> {
    let (name, part) = Script::unknown_variables(source, known).next()?;
    let key = path.rsplit('.').next().unwrap_or(path);
    let message = format!("`{key}` names the variable `{name}`, which is not there");
    let error = match part {
        Some(part) => document.error_in(path, part, message),
        None => document.error(path, message),
    };
    let error = error.code(Code::UnknownName).known(&name, known.iter().copied());
    Some((name, error))
}

/// Refuses an expression that names a reward which is not there.
pub(super) fn check_names<'a>(
    document: &Document,
    path: &str,
    source: &str,
    names: &(impl Iterator<Item = &'a str> + Clone),
) -> Result<(), ConfigError> {
    let mut read = ["rewards.", "verdicts."].into_iter().flat_map(|lead| members(source, lead));
    read.try_for_each(|name| reward(document, path, name, names.clone()).map(|_| ()))
}

/// The members that an expression reads of a map: the words behind `lead`. Calls are none.
fn members<'a>(source: &'a str, lead: &'a str) -> impl Iterator<Item = &'a str> {
    let is_word = |char: char| char.is_alphanumeric() || char == '_';
    source.match_indices(lead).filter_map(move |(at, _)| {
        let (before, rest) = (source.get(..at)?, source.get(at + lead.len()..)?);
        let end = rest.find(|char| !is_word(char)).unwrap_or(rest.len());
        let (word, behind) = rest.split_at_checked(end)?;
        let is_whole = !before.ends_with(|char| is_word(char) || char == '.');
        (is_whole && !word.is_empty() && !behind.trim_start().starts_with('(')).then_some(word)
    })
}
