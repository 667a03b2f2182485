//! Queries translated by a library in the guest; they are data there.

use super::RunContext;
use super::message::{lossy, request};
use crate::runtime::{Guest, Setup, Stop, drive};
use crate::value::{PyValue, marshal};

/// What became of a query.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Translated {
    /// The query in the dialect of `SQLite`.
    Sql(String),
    /// It is no query of its dialect, and why.
    Unparsed(String),
    /// It says what `SQLite` cannot, or the library does not know how to say.
    Untranslated(String),
}

/// Translates queries to the dialect of `SQLite`, one after another.
///
/// # Errors
/// What stopped the guest.
pub fn translate(
    python: &Guest,
    dialect: &str,
    queries: &[&str],
    context: RunContext<'_>,
) -> Result<Vec<Translated>, Stop> {
    let RunContext { limits, seed, expired } = context;
    let list = PyValue::List(queries.iter().map(|query| (*query).into()).collect());
    let message = request("translate", [dialect.into(), list]);
    let work = async {
        let setup = Setup { limits, seed, ..Setup::default() };
        python.start(setup).await?.call(message).await
    };
    let reply = drive(work, expired)?;
    let unread = || Stop::Internal("the guest gave no translation".to_owned());
    let Ok((PyValue::Tuple(items), _)) = marshal::decode(&reply) else { return Err(unread()) };
    let [_, _, PyValue::List(rows)] = items.as_slice() else { return Err(unread()) };
    let row = |row: &PyValue| {
        let PyValue::Tuple(row) = row else { return None };
        let [word, text] = row.as_slice() else { return None };
        let text = lossy(text);
        match lossy(word).as_str() {
            "sql" => Some(Translated::Sql(text)),
            "unparsed" => Some(Translated::Unparsed(text)),
            "untranslated" => Some(Translated::Untranslated(text)),
            _ => None,
        }
    };
    rows.iter().map(row).collect::<Option<_>>().ok_or_else(unread)
}
