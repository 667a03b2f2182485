//! The places of a schema that `$ref` names.

use std::collections::HashMap;

use crate::prelude::*;

/// The places of a schema that `$ref` names.
pub(super) struct Places<'a> {
    root: &'a Value,
    /// Schemas by `$id`, `$anchor` and `$dynamicAnchor`.
    named: HashMap<&'a str, &'a Value>,
}

impl<'a> Places<'a> {
    pub(super) fn of(root: &'a Value) -> Self {
        let mut own = Self { root, named: HashMap::new() };
        own.name(root);
        own
    }

    fn name(&mut self, schema: &'a Value) {
        match schema {
            Value::Object(members) => {
                for key in ["$id", "id", "$anchor", "$dynamicAnchor"] {
                    if let Some(name) = members.get(key).and_then(Value::as_str) {
                        self.named.insert(last(name), schema);
                    }
                }
                members.values().for_each(|member| self.name(member));
            }
            Value::Array(members) => members.iter().for_each(|member| self.name(member)),
            _ => {}
        }
    }

    /// The schema of a name.
    pub(super) fn find(&self, name: &str) -> Option<&'a Value> {
        let (base, place) = name.split_once('#').unwrap_or((name, ""));
        let from = if base.is_empty() { self.root } else { *self.named.get(last(base))? };
        if place.is_empty() {
            return Some(from);
        }
        if !place.starts_with('/') {
            return self.named.get(place).copied();
        }
        from.pointer(&decoded(place)?)
    }
}

/// A place in which `%XX` stands for a byte.
fn decoded(place: &str) -> Option<String> {
    let mut parts = place.split('%');
    let mut bytes = parts.next().unwrap_or_default().as_bytes().to_vec();
    for part in parts {
        bytes.push(u8::from_str_radix(part.get(..2)?, 16).ok()?);
        bytes.extend_from_slice(part.get(2..)?.as_bytes());
    }
    String::from_utf8(bytes).ok()
}

/// The last part of a name, without the base that it is relative to.
fn last(name: &str) -> &str {
    let name = name.trim_end_matches('#');
    name.rsplit(['/', '#']).next().unwrap_or(name)
}
