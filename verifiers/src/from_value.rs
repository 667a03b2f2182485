//! Settings from JSON values: one deserializer for every type, and the path of what is wrong.
//!
//! Every type of settings is read by [`from_value`] alone, so that its code is compiled once. The texts
//! of errors are those of `serde_json`. The path is put together when there is an error, not before.

mod key;
mod reader;

use std::cell::RefCell;
use std::fmt;

use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

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
    T::deserialize(Reader::new(value, &track)).map_err(|error| track.at(&error))
}

/// Whether a value is of a type that may borrow from its text, which is not at hand.
///
/// # Errors
/// The first part of the value that is unknown or of another type.
pub fn check_value<'de, T: Deserialize<'de>>(value: &Value) -> Result<(), ValueError> {
    let track = Track { drops_raw: true, ..Track::default() };
    let read = T::deserialize(Reader::new(value, &track));
    read.map(|_| ()).map_err(|error| track.at(&error))
}

/// What is known of an error on its way out.
#[derive(Default)]
struct Track {
    /// The path of the first one.
    path: RefCell<Option<String>>,
    /// Whether the texts of raw values are left out.
    drops_raw: bool,
}

/// A part of a value, and the parts around it.
#[derive(Clone, Copy)]
struct Place<'a> {
    around: Option<&'a Place<'a>>,
    step: Step<'a>,
}

#[derive(Clone, Copy)]
enum Step<'a> {
    /// The value of a key, or of a variant.
    Member(&'a str),
    Element(usize),
}

impl Track {
    /// Notes where an error comes from, unless an inner place is noted already.
    #[cold]
    fn fail(&self, place: &Place<'_>, error: serde_json::Error) -> serde_json::Error {
        self.path.borrow_mut().get_or_insert_with(|| place.path());
        error
    }

    #[cold]
    fn at(self, error: &serde_json::Error) -> ValueError {
        let path = self.path.into_inner().unwrap_or_default();
        ValueError { path, message: error.to_string() }
    }
}

impl Place<'_> {
    fn path(&self) -> String {
        let mut path = self.around.map(Place::path).unwrap_or_default();
        match self.step {
            Step::Element(index) => path.push_str(&format!("[{index}]")),
            Step::Member(name) => {
                if !path.is_empty() {
                    path.push('.');
                }
                path.push_str(name);
            }
        }
        path
    }
}

#[cfg(test)]
mod tests;
