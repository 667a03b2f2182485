//! Settings from JSON values: one deserializer for every type, and the path of what is wrong.
//!
//! Every type of settings is read by [`from_value`] alone, so that its code is compiled once. The texts
//! of errors are those of `serde_json`. The path is put together when there is an error, not before.

mod key;
mod place;
mod reader;

use std::fmt;

use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use place::Track;
use reader::Reader;

/// A value that is not of the type that was asked for.
#[derive(Debug)]
pub struct ValueError {
    /// Where, such as `reward[0].weight`. Empty where it is the whole value.
    pub path: String,
    /// What is wrong, as `serde_json` says it.
    pub message: String,
}

impl fmt::Display for ValueError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for ValueError {}

/// Reads settings.
///
/// # Errors
/// The first part of the value that is unknown or of another type.
pub fn from_value<T: DeserializeOwned>(value: &Value) -> Result<T, ValueError> {
    let track = Track::default();
    T::deserialize(Reader::new(value, &track)).map_err(|error| error_at(track, &error))
}

/// Whether a value is of a type that may borrow from its text, which is not at hand.
///
/// # Errors
/// The first part of the value that is unknown or of another type.
pub fn check_value<'de, T: Deserialize<'de>>(value: &Value) -> Result<(), ValueError> {
    let track = Track::without_raw();
    let read = T::deserialize(Reader::new(value, &track));
    read.map(|_| ()).map_err(|error| error_at(track, &error))
}

fn error_at(track: Track, error: &serde_json::Error) -> ValueError {
    ValueError { path: track.into_path(), message: error.to_string() }
}

#[cfg(test)]
mod tests;
