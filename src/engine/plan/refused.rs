//! What a configuration cannot have although its types are right: where, and what to type.

use assay_verifiers::BuildError;
use serde_json::Value;

use super::dialects::RefusedSettings;
use crate::data::Columns;
use crate::engine::advice::{suggestion, typed};
use crate::engine::config::{CombineBy, Config, RewardConfig, ServeConfig};
use crate::engine::document::Document;
use crate::engine::error::ConfigError;
use crate::engine::{python_call, translate};

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
        let help = "leave it out for the default".to_owned();
        let message = format!("`{key}`: expected an integer of 1 or more, found the integer 0");
        return Err(document.error(key, message).help(Some(help)));
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
        return Err(document.error(&format!("data.{key}"), message).help(Some(help)));
    }
    Ok(())
}

/// Verifiers that never give less than 0.
const FROM_ZERO: [&str; 13] = [
    "math",
    "exact",
    "number",
    "choice",
    "regex",
    "contains",
    "tags",
    "json",
    "unit_tests",
    "stdin_stdout",
    "program_output",
    "sql",
    "string_check",
];

/// Gates that are always open, and gates with nothing behind them that counts.
pub(super) fn check_gates(
    document: &Document,
    config: &Config,
    gates: &[usize],
) -> Result<(), ConfigError> {
    let combine = &config.combine;
    let gate = |at: &usize| config.rewards.get(*at);
    let from_zero = |reward: &RewardConfig| FROM_ZERO.contains(&reward.verifier.as_str());
    if combine.how == CombineBy::Gate
        && combine.pass <= 0.0
        && let Some(first) = gates.iter().find_map(gate)
        && gates.iter().filter_map(gate).all(from_zero)
    {
        let message = format!(
            "`pass` is {}, and the gate \"{}\" ({}) never earns less than 0: it is always open",
            combine.pass, first.name, first.verifier
        );
        let help = "write pass = 1.0, the default, or another number above 0".to_owned();
        return Err(document.error("combine.pass", message).help(Some(help)));
    }
    let behind = || config.rewards.iter().enumerate().filter(|(at, _)| !gates.contains(at));
    let is_silent = |(_, reward): (usize, &RewardConfig)| reward.weight.constant() == Some(0.0);
    match behind().next().filter(|_| !gates.is_empty() && behind().all(is_silent)) {
        None => Ok(()),
        Some((at, reward)) => {
            let message = format!(
                "how = \"gate\" pays the weighted sum of what is behind the gates, and every weight there \
                 is 0: reward \"{}\" has weight 0",
                reward.name
            );
            let help = "write weight = 1.0 for what counts; how = \"min\" pays for the gates alone";
            let error = document.error(&format!("reward[{at}].weight"), message);
            Err(error.help(Some(help.to_owned())))
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
            _ => "how = \"weighted_sum\" reads weights",
        };
        let help =
            format!("leave weight out, or write weight = 0.0 to report the reward alone; {other}");
        return Err(document.error(&format!("reward[{at}].weight"), message).help(Some(help)));
    }
    Ok(())
}

/// What a verifier refuses of its settings.
///
/// `script` is what the reward runs, where it runs one; `retry` says what is refused of other settings.
pub(super) fn settings(
    document: &Document,
    (at, reward): (usize, &RewardConfig),
    error: &BuildError,
    script: Option<&str>,
    retry: &dyn Fn(Value) -> Option<BuildError>,
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
        let ends = [": expected", ": invalid"].map(|words| error.message.find(words));
        let end = ends.into_iter().flatten().min().unwrap_or_default();
        let place = error.message.get(..end).unwrap_or_default();
        let (key, value) = innermost(&error.setting, reward.config.get(&error.setting)?, place)?;
        // A text may be one of few words: then any other text is refused, with the words.
        let words = || {
            // A number that is out of its bounds is no word.
            let is_type = ["expected", "invalid"].iter().any(|word| error.message.contains(word));
            let is_own = key == error.setting && !value.is_string() && is_type;
            let mut other = reward.config.clone();
            other.insert(key.to_owned(), Value::from(NO_WORD)).filter(|_| is_own)?;
            words(key, &retry(Value::Object(other))?.message)
        };
        let other = typed(key, value, &error.message);
        let is_quoted = other.as_ref().is_none_or(|other| other.ends_with(&format!("\"{value}\"")));
        if is_quoted { words().or(other) } else { other }
    };
    let dialect = RefusedSettings { verifier: id, config: &reward.config, error, retry }.help();
    let known = ADVICE.iter().find(|(of, words, _)| of == id && error.message.contains(words));
    let alone =
        error.setting.rsplit_once('.').filter(|_| error.message.contains("newtype variant"));
    let told = match (missing, alone) {
        (Some(key), _) => Some(format!("write config = {{ {key} = ... }};")),
        (_, Some((key, word))) => Some(format!("write {key} = {{ {word} = ... }};")),
        (None, None) => {
            suggestion(&error.message).or_else(|| written().map(|help| format!("{help};")))
        }
    };
    let of_function =
        (id == "python_check").then(|| python_call::advice(&error.message, script)).flatten();
    let known = dialect.or_else(|| known.map(|(.., help)| (*help).to_owned()));
    let help = match known.or(of_function) {
        Some(help) => help,
        None => told.map_or_else(|| page.clone(), |told| format!("{told} {page}")),
    };
    document.error(&path, message).help(Some(help))
}

/// A text that is none of the words of any setting.
const NO_WORD: &str = "no such word";

/// The words that a setting takes, by what is said of a text that is none of them.
pub(super) fn words(key: &str, message: &str) -> Option<String> {
    let (_, expected) = message.split_once("unknown variant `")?.1.split_once("expected ")?;
    let words: Vec<&str> = expected.split('`').skip(1).step_by(2).collect();
    let typed: Vec<String> = words.iter().map(|word| format!("{key} = \"{word}\"")).collect();
    (!typed.is_empty()).then(|| format!("write {}", typed.join(", or ")))
}

const OF_PYTHON: &str = "it is rhai, and no Python: if completion.contains(reference) { 1.0 } else { 0.0 }; `python_check` takes \
     Python";

/// What verifiers refuse, by words of their message, and what to type.
const ADVICE: [(&str, &str, &str); 6] = [
    ("math", "relative is ", "a share is below 1: decimals = { relative = 0.01 } for one percent"),
    (
        "choice",
        "invalid type: sequence",
        "letters = 4 says how many letters count, from A; the options stand in a column: options = \
         \"choices\"",
    ),
    ("rhai", "terminate this statement", OF_PYTHON),
    ("rhai", "to start a statement block", OF_PYTHON),
    (
        "length",
        "No such file",
        "tokenizer = \"PATH/tokenizer.json\" is a file of this machine: nothing is fetched by a name of the \
         Hugging Face Hub",
    ),
    ("json", "a JSON Schema is a table", "write schema_file = \"schema.json\" for a file"),
];

/// The value at a place such as `criterion[0].points` within a setting, and the last key on the way.
fn innermost<'a>(
    setting: &'a str,
    value: &'a Value,
    place: &'a str,
) -> Option<(&'a str, &'a Value)> {
    let is_path = |char: char| char.is_alphanumeric() || "._[]".contains(char);
    if place.is_empty() || !place.chars().all(is_path) {
        return Some((setting, value));
    }
    place.split(['.', '[']).try_fold((setting, value), |(_, value), step| {
        match step.strip_suffix(']') {
            Some(at) => Some((step, value.get(at.parse::<usize>().ok()?)?)),
            None => Some((step, value.get(step)?)),
        }
    })
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
