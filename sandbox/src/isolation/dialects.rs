//! Queries translated by a library in the guest; they are data there.

use std::sync::{Mutex, PoisonError};

use super::message::{lossy, request};
use crate::runtime::{Guest, Instance, Limits, Setup, Stop, drive};
use crate::value::{PyValue, marshal};

/// What became of a query.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Translated {
    /// The query in the dialect of `SQLite`.
    Sql(String),
    /// It is not a query of its dialect, and why.
    Unparsed(String),
    /// It says what `SQLite` cannot, or the library does not know how to say.
    Untranslated(String),
}

/// A guest with the library, which it loads once: that takes seconds.
pub struct Translator {
    python: Guest,
    limits: Limits,
    loaded: Mutex<Option<Instance>>,
}

impl Translator {
    /// Queries are translated by this guest, on which the library is mounted.
    pub fn new(python: Guest, limits: Limits) -> Self {
        Self { python, limits, loaded: Mutex::default() }
    }

    /// Translates a query to the dialect of `SQLite`. An instance that translated others is taken where there is
    /// one. What stops it says nothing about the query, which a fresh one is then asked: what comes out depends on
    /// the query alone.
    ///
    /// # Errors
    /// What stopped a fresh instance.
    pub fn translated(
        &self,
        dialect: &str,
        query: &str,
        expired: &mut dyn FnMut() -> bool,
    ) -> Result<Translated, Stop> {
        let list = PyValue::List(vec![query.into()]);
        let message = request("translate", [dialect.into(), list]);
        let mut loaded = self.loaded.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(mut instance) = loaded.take() {
            match drive(instance.call(message.clone()), expired) {
                Ok(reply) => {
                    *loaded = Some(instance);
                    return read(&reply);
                }
                Err(Stop::Deadline) => return Err(Stop::Deadline),
                Err(_) => {}
            }
        }
        let work = async {
            let setup = Setup { limits: self.limits.clone(), ..Setup::default() };
            let mut instance = self.python.start(setup).await?;
            let reply = instance.call(message).await?;
            Ok((instance, reply))
        };
        let (instance, reply) = drive(work, expired)?;
        *loaded = Some(instance);
        read(&reply)
    }
}

impl std::fmt::Debug for Translator {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Translator")
    }
}

fn read(reply: &[u8]) -> Result<Translated, Stop> {
    let found = match marshal::decode(reply) {
        Ok((PyValue::Tuple(items), _)) => match items.as_slice() {
            [_, _, PyValue::List(rows)] => rows.first().and_then(row),
            _ => None,
        },
        _ => None,
    };
    found.ok_or_else(|| Stop::Internal("the guest gave no translation".to_owned()))
}

fn row(row: &PyValue) -> Option<Translated> {
    let PyValue::Tuple(row) = row else { return None };
    let [word, text] = row.as_slice() else { return None };
    let text = lossy(text);
    match lossy(word).as_str() {
        "sql" => Some(Translated::Sql(text)),
        "unparsed" => Some(Translated::Unparsed(text)),
        "untranslated" => Some(Translated::Untranslated(text)),
        _ => None,
    }
}
