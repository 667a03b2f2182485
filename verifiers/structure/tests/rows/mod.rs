//! The texts of tests.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test stops at what it does not expect")]

use std::sync::LazyLock;

static TEXTS: LazyLock<toml::Table> =
    LazyLock::new(|| include_str!("../data/texts.toml").parse().unwrap());

/// The rows of a test.
pub(crate) fn rows<const N: usize>(test: &str) -> impl Iterator<Item = [&'static str; N]> {
    let rows = TEXTS.get(test).and_then(toml::Value::as_array).unwrap_or_else(|| panic!("{test}"));
    rows.iter().map(|row| {
        let texts: Vec<&str> =
            row.as_array().unwrap().iter().filter_map(toml::Value::as_str).collect();
        texts.try_into().unwrap()
    })
}
