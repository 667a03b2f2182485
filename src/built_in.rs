//! Tables that are compiled in.

use serde::de::DeserializeOwned;

/// A table of our own, in TOML.
///
/// # Panics
/// Where the file does not have this form. A default would lose in silence what it says.
#[expect(clippy::panic, reason = "a file of ours is broken, which every test that reads it shows")]
pub fn table<T: DeserializeOwned>(text: &str) -> T {
    toml::from_str(text).unwrap_or_else(|error| panic!("a table that is compiled in: {error}"))
}
