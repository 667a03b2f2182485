//! Settings from JSON values: one deserializer for every type, and the path of what is wrong.
//!
//! Every type of settings is read by [`from_value`] alone, so that its code is compiled once. What is wrong
//! is kept as a code and fields; the path is put together when there is an error, not before. A type that
//! has a JSON Schema is asked what it takes at that path: see [`read`].

mod key;
mod place;
mod reader;
mod schema;
mod wrong;

use schemars::JsonSchema;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::build_error::BuildError;
use crate::code::Code;
use place::Track;
use reader::{Reader, unexpected};
pub use schema::properties;
use wrong::{Wrong, either};

/// Reads settings.
///
/// # Errors
/// The first part of the value that is unknown or of another type.
pub fn from_value<T: DeserializeOwned>(value: &Value) -> Result<T, BuildError> {
    let track = Track::default();
    T::deserialize(Reader::new(value, &track)).map_err(|error| error_at(track, error))
}

/// Reads settings of a type that has a schema: an error says what the schema takes in that place.
///
/// # Errors
/// See [`from_value`].
pub fn read<T: DeserializeOwned + JsonSchema>(value: &Value) -> Result<T, BuildError> {
    from_value(value).map_err(|error| {
        let again = |value: &Value| from_value::<T>(value).err();
        let error = if error.setting.is_empty() { cured(value, error, &again) } else { error };
        error.by_schema(schemars::schema_for!(T).as_value(), value)
    })
}

/// Whether a value is of a type that may borrow from its text, which is not at hand.
///
/// # Errors
/// The first part of the value that is unknown or of another type.
pub fn check_value<'de, T: Deserialize<'de>>(value: &Value) -> Result<(), BuildError> {
    let track = Track::without_raw();
    let read = T::deserialize(Reader::new(value, &track));
    read.map(|_| ()).map_err(|error| error_at(track, error))
}

fn error_at(track: Track, error: Wrong) -> BuildError {
    let mut path = track.into_path();
    if let (Code::UnknownKey | Code::MissingKey, Some(key)) = (error.code, &error.name) {
        let is_named =
            path.rsplit(['.', ']']).next() == Some(key) && error.code == Code::UnknownKey;
        if !is_named {
            path = if path.is_empty() { key.clone() } else { format!("{path}.{key}") };
        }
    }
    let message = error.to_string();
    let Wrong { code, found, expected, .. } = error;
    BuildError { code, setting: path, found, expected, message, place: None }
}

/// The error with the member without which it is gone. Members that one type takes from another
/// (`#[serde(flatten)]`) leave no path.
fn cured(
    value: &Value,
    error: BuildError,
    again: &dyn Fn(&Value) -> Option<BuildError>,
) -> BuildError {
    let Value::Object(members) = value else { return error };
    let is_cured = |name: &&String| {
        let mut rest = members.clone();
        rest.remove(name.as_str());
        let other = again(&Value::Object(rest));
        other.is_none_or(|other| other != error && other.code != Code::MissingKey)
    };
    let name = members.keys().find(is_cured).cloned();
    BuildError { setting: name.unwrap_or_default(), ..error }
}

impl BuildError {
    /// The error with what a schema takes at its path.
    #[must_use]
    pub fn by_schema(mut self, schema: &Value, value: &Value) -> Self {
        let steps = steps(&self.setting);
        let (key, above) = steps.split_last().map_or(("", &[][..]), |(key, above)| (*key, above));
        let known = schema::properties(schema, value, above);
        // Only the schema knows the keys where some are taken from another type.
        if let Some(known) = &known
            && self.code == Code::BadValue
            && !steps.is_empty()
            && !known.iter().any(|own| own == key)
            && !key.bytes().all(|byte| byte.is_ascii_digit())
        {
            self.code = Code::UnknownKey;
            self.message = format!("unknown key `{key}`");
        }
        match self.code {
            Code::UnknownKey => self.expected = known.unwrap_or(self.expected),
            Code::WrongType | Code::BadValue => {
                let taken = schema::taken(schema, value, &steps);
                if schema::is_pattern(schema, value, &steps) && self.found.is_none() {
                    self.code = Code::BadPattern;
                }
                if let (Some(found), false) = (&self.found, taken.is_empty()) {
                    self.message = format!("expected {}, found {found}", either(&taken));
                    self.expected = taken;
                }
            }
            _ => {}
        }
        self
    }
}

impl BuildError {
    /// The sentence in the words of JSON: an object, a list.
    pub fn in_json(&self) -> String {
        let word = |word: &str| {
            let own = [("a table", "an object"), ("an array", "a list"), ("nothing", "null")];
            let known = own.iter().find(|(toml, _)| word == *toml);
            known.map_or_else(|| word.to_owned(), |(_, json)| (*json).to_owned())
        };
        match (&self.found, self.code) {
            (Some(found), Code::WrongType | Code::BadValue) => {
                let expected: Vec<String> = self.expected.iter().map(|own| word(own)).collect();
                format!("expected {}, found {}", either(&expected), word(found))
            }
            _ => self.message.clone(),
        }
    }
}

/// The steps of a dotted path.
pub fn steps(path: &str) -> Vec<&str> {
    path.split(['.', '[', ']']).filter(|step| !step.is_empty()).collect()
}

/// A value as messages name it: its type, and itself where it is short.
pub fn shown(value: &Value) -> String {
    wrong::shown(unexpected(value))
}

#[cfg(test)]
mod tests;
