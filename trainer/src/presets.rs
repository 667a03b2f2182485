//! Presets: the settings that a library of a version has by default, as data.
//!
//! `presets/NAME.toml` holds a table for each room (`advantage`, `loss`, `select`), with `kind`, the
//! kind that the library uses by default, and a table of settings for each kind that it has:
//!
//! ```toml
//! [advantage]
//! kind = "grpo"
//! [advantage.grpo]
//! eps = 1e-4
//! ```

use serde_json::{Map, Value};

use crate::error::TrainerError;

/// Declares the presets: the name of each is that of its file.
macro_rules! presets {
    ($($name:literal),* $(,)?) => {
        /// The names and the texts of the presets.
        pub static ALL: &[(&str, &str)] =
            &[$(($name, include_str!(concat!("presets/", $name, ".toml")))),*];
    };
}

presets![
    "trl-1.16",
    "verl-0.9",
    "openrlhf-0.11",
    "slime-2026-08",
    "areal-1.0",
    "nemo-rl-0.6",
    "skyrl-0.3",
    "dapo-2503",
];

/// A table of a configuration, of its parts: what [`filled`] takes.
pub(crate) fn table_of(
    kind: Option<&String>,
    preset: Option<&String>,
    settings: &Map<String, Value>,
) -> Map<String, Value> {
    let mut table = settings.clone();
    for (key, name) in [("kind", kind), ("preset", preset)] {
        table.extend(name.map(|name| (key.to_owned(), Value::from(name.as_str()))));
    }
    table
}

/// The settings of one table of a configuration with those of its `preset` filled in. What is given
/// wins over the preset, key by key within tables too. The keys `preset` and `kind` are taken out; the
/// kind is the first part of what comes back.
///
/// # Errors
/// An unknown preset, a kind that the library does not have, or no kind at all.
pub fn filled(
    room: &str,
    mut given: Map<String, Value>,
) -> Result<(String, Map<String, Value>), TrainerError> {
    let text_of = |value: Option<Value>, key: &str| match value {
        None => Ok(None),
        Some(Value::String(text)) => Ok(Some(text)),
        Some(other) => {
            let message = format!("`{key}` is {other}, expected a name in quotes");
            Err(TrainerError::setting(key, message))
        }
    };
    let preset = text_of(given.remove("preset"), "preset")?;
    let kind = text_of(given.remove("kind"), "kind")?;
    let Some(preset) = preset else {
        let kind = kind
            .ok_or_else(|| TrainerError::setting("kind", "neither `kind` nor `preset` is given"))?;
        return Ok((kind, given));
    };
    let table = self::table(&preset, room)?;
    let named = || table.get("kind").and_then(Value::as_str).map(str::to_owned);
    let Some(kind) = kind.or_else(named) else {
        let message = format!("preset \"{preset}\" has no default for [{room}]; `kind` says which");
        return Err(TrainerError::setting("preset", message));
    };
    let Some(Value::Object(settings)) = table.get(&kind) else {
        let kinds: Vec<&str> =
            table.iter().filter(|(_, v)| v.is_object()).map(|(key, _)| key.as_str()).collect();
        let message =
            format!("preset \"{preset}\" has no \"{kind}\"; it has: {}", kinds.join(", "));
        return Err(TrainerError::setting("preset", message));
    };
    fill(&mut given, settings);
    Ok((kind, given))
}

/// Fills in what is not given. Tables within are filled in key by key.
pub fn fill(given: &mut Map<String, Value>, defaults: &Map<String, Value>) {
    for (key, value) in defaults {
        match (given.get_mut(key), value) {
            (Some(Value::Object(given)), Value::Object(value)) => fill(given, value),
            (Some(_), _) => {}
            (None, _) => {
                given.insert(key.clone(), value.clone());
            }
        }
    }
}

/// The table of one room in a preset; empty where the preset does not have the room.
fn table(preset: &str, room: &str) -> Result<Map<String, Value>, TrainerError> {
    let Some((_, text)) = ALL.iter().find(|(name, _)| *name == preset) else {
        let names: Vec<&str> = ALL.iter().map(|(name, _)| *name).collect();
        let message = format!("no preset is called \"{preset}\"; there are: {}", names.join(", "));
        return Err(TrainerError::setting("preset", message));
    };
    let broken = |why: String| TrainerError::setting("preset", format!("\"{preset}\": {why}"));
    let tables: Map<String, Value> = toml::from_str(text).map_err(|why| broken(why.to_string()))?;
    match tables.get(room) {
        None => Ok(Map::new()),
        Some(Value::Object(table)) => Ok(table.clone()),
        Some(_) => Err(broken(format!("[{room}] is not a table"))),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn given(value: Value) -> Map<String, Value> {
        serde_json::from_value(value).unwrap()
    }

    #[test]
    fn what_is_given_wins_over_the_preset() {
        let (kind, settings) =
            filled("advantage", given(json!({"preset": "trl-1.16", "eps": 0.5}))).unwrap();
        assert_eq!((kind.as_str(), settings.get("eps")), ("grpo", Some(&json!(0.5))));
        let (kind, settings) = filled("advantage", given(json!({"kind": "any", "a": 1}))).unwrap();
        assert_eq!((kind.as_str(), settings), ("any", given(json!({"a": 1}))));
        let mut nested = given(json!({"a": {"b": 1, "c": {"d": 2}}, "e": "f"}));
        fill(&mut nested, &given(json!({"a": {"b": 3, "c": {"d": 4, "g": 5}}, "e": {}, "h": 6})));
        let filled = json!({"a": {"b": 1, "c": {"d": 2, "g": 5}}, "e": "f", "h": 6});
        assert_eq!(nested, given(filled));
    }

    #[test]
    fn what_is_wrong_is_named() {
        for (wrong, named) in [
            (json!({}), "neither `kind` nor `preset`"),
            (json!({"preset": "trl-0"}), "there are: trl-1.16"),
            (json!({"preset": "trl-1.16", "kind": "none_such"}), "it has: dr_grpo"),
            (json!({"preset": 3}), "`preset` is 3"),
        ] {
            let error = filled("advantage", given(wrong)).unwrap_err().to_string();
            assert!(error.contains(named), "{error}");
        }
    }

    #[test]
    fn every_preset_is_a_table_of_rooms() {
        for (name, text) in ALL {
            let rooms: Map<String, Value> = toml::from_str(text).unwrap();
            assert!(!rooms.is_empty(), "{name}");
            for room in rooms.keys() {
                assert!(["advantage", "loss", "select"].contains(&room.as_str()), "{name}: {room}");
            }
        }
    }
}
