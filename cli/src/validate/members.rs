//! Which members the values of rows have.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use super::paths::Step;

/// How deep values are looked into.
const DEPTH_MAX: usize = 8;
/// The most members of one object that are told apart: beyond that any name may be one.
const MEMBERS_MAX: usize = 10_000;

/// The members of some values, put together.
#[derive(Clone, Debug, Default)]
pub(super) struct Members {
    /// Whether any of the values is an object.
    is_object: bool,
    /// Whether there are too many members to know them all.
    is_open: bool,
    known: BTreeMap<String, Self>,
}

impl Members {
    /// An object with these members, of which nothing is known.
    pub(super) fn of<'a>(names: impl IntoIterator<Item = &'a str>) -> Self {
        let members = names.into_iter().map(|name| (name.to_owned(), Self::default())).collect();
        Self { is_object: true, is_open: false, known: members }
    }

    /// The same with one more member.
    pub(super) fn with(mut self, name: &str, member: Self) -> Self {
        self.is_object = true;
        self.known.insert(name.to_owned(), member);
        self
    }

    /// The same with the members of another.
    pub(super) fn and(mut self, other: &Self) -> Self {
        self.is_open |= other.is_open;
        self.known.extend(other.known.clone());
        self
    }

    pub(super) fn add(&mut self, value: &Value) {
        if let Value::Object(object) = value {
            self.add_object(object, 0);
        }
    }

    pub(super) fn add_object(&mut self, object: &Map<String, Value>, depth: usize) {
        self.is_object = true;
        self.is_open |= depth == DEPTH_MAX;
        if self.is_open {
            return;
        }
        for (name, value) in object {
            if self.known.len() == MEMBERS_MAX {
                self.is_open = true;
                return;
            }
            let member = self.known.entry(name.clone()).or_default();
            if let Value::Object(object) = value {
                member.add_object(object, depth + 1);
            }
        }
    }

    pub(super) fn names(&self) -> impl Iterator<Item = &str> {
        self.known.keys().map(String::as_str)
    }

    pub(super) fn has(&self, name: &str) -> bool {
        self.known.contains_key(name)
    }

    /// The first step of a path that no value has, with what there is in its place.
    pub(super) fn missing<'a>(&'a self, path: &'a [Step]) -> Option<(&'a Step, &'a Self)> {
        let mut known = self;
        for step in path {
            if !known.is_object || known.is_open {
                return None;
            }
            let Some(member) = known.known.get(&step.name) else { return Some((step, known)) };
            known = member;
        }
        None
    }
}
