//! Which members values of rows have.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

/// How deep values are looked into, and the most members that are told apart: beyond that any name may be one.
const DEPTH_MAX: usize = 8;
const MEMBERS_MAX: usize = 10_000;

/// The members of some values, put together.
#[derive(Clone, Debug, Default)]
pub(crate) struct Members {
    /// Whether any of the values is an object, and whether it has more members than are known.
    is_object: bool,
    is_open: bool,
    known: BTreeMap<String, Self>,
}

impl Members {
    /// An object with these members, of which nothing is known.
    pub(crate) fn of<'a>(names: impl IntoIterator<Item = &'a str>) -> Self {
        let known = names.into_iter().map(|name| (name.to_owned(), Self::default())).collect();
        Self { is_object: true, is_open: false, known }
    }

    /// The same with one more member.
    pub(crate) fn with(mut self, name: &str, member: Self) -> Self {
        self.is_object = true;
        self.known.insert(name.to_owned(), member);
        self
    }

    /// Adds the members of an object.
    pub(crate) fn add(&mut self, object: &Map<String, Value>, depth: usize) {
        self.is_object = true;
        self.is_open |= depth == DEPTH_MAX || self.known.len() + object.len() > MEMBERS_MAX;
        for (name, value) in object.iter().filter(|_| !self.is_open) {
            let member = self.known.entry(name.clone()).or_default();
            if let Value::Object(object) = value {
                member.add(object, depth + 1);
            }
        }
    }

    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        self.known.keys().map(String::as_str)
    }

    pub(crate) fn has(&self, name: &str) -> bool {
        self.known.contains_key(name)
    }

    /// How many steps of a path there are before the first that no value has, and what there is in its place.
    pub(crate) fn missing(&self, path: &[String]) -> Option<(usize, &Self)> {
        let mut known = self;
        for (at, name) in path.iter().enumerate() {
            if !known.is_object || known.is_open {
                return None;
            }
            let Some(member) = known.known.get(name) else { return Some((at, known)) };
            known = member;
        }
        None
    }
}
