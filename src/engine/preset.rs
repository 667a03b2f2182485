//! `data.preset`: a configuration takes what it does not say from that of a public data set.

use std::borrow::Cow;

use serde_json::{Map, Value};

use super::config::Config;
use crate::built_in;
use crate::data::Preset;

/// The preset that a configuration names.
pub(super) fn name(tree: &Value) -> Option<&str> {
    tree.pointer("/data/preset")?.as_str()
}

/// The configuration with what its preset says. Tables that are written are kept whole, but `[data]` key by
/// key: no reward of the file joins those of the preset.
///
/// # Errors
/// The name, where no preset is called so.
pub(super) fn filled(tree: &Value) -> Result<Cow<'_, Value>, &str> {
    let (Some(name), Some(own)) = (name(tree), tree.as_object()) else {
        return Ok(Cow::Borrowed(tree));
    };
    let preset = Preset::find(name).ok_or(name)?;
    let mut filled: Map<String, Value> = built_in::table(&preset.config);
    filled.remove("version");
    let columns = filled.remove("data");
    filled.extend(own.clone());
    if let Some(Value::Object(data)) = filled.get_mut("data") {
        data.remove("preset");
        for (key, column) in columns.as_ref().and_then(Value::as_object).into_iter().flatten() {
            data.entry(key).or_insert_with(|| column.clone());
        }
    }
    Ok(Cow::Owned(Value::Object(filled)))
}

/// Leaves out of a configuration that a program made what is as it is by default: the preset says it.
pub(super) fn leave_defaults(tree: &mut Value) {
    let default = serde_json::to_value(Config::default()).unwrap_or_default();
    for table in ["", "/data"] {
        let default = default.pointer(table);
        let is_default =
            |key: &str, value: &Value| default.and_then(|own| own.get(key)) == Some(value);
        if let Some(own) = tree.pointer_mut(table).and_then(Value::as_object_mut) {
            own.retain(|key, value| key == "version" || !is_default(key, value));
        }
    }
}
