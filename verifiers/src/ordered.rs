//! A small map in insertion order.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;
use std::marker::PhantomData;

use serde::de::{MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// Names and values in insertion order. Look-up is a linear search.
#[derive(Clone, Debug, PartialEq)]
pub struct OrderedMap<T>(Vec<(Cow<'static, str>, T)>);

impl<T> OrderedMap<T> {
    /// Adds a member at the end.
    pub fn push(&mut self, name: impl Into<Cow<'static, str>>, value: T) {
        self.0.push((name.into(), value));
    }

    /// The first value under `name`.
    pub fn get(&self, name: &str) -> Option<&T> {
        self.0.iter().find(|(have, _)| have == name).map(|(_, value)| value)
    }

    /// Every member, in order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (&str, &T)> {
        self.0.iter().map(|(name, value)| (name.as_ref(), value))
    }

    /// Whether a name is there twice, with two values.
    pub fn is_ambiguous(&self) -> bool
    where
        T: PartialEq,
    {
        let mut seen = BTreeMap::new();
        self.iter().any(|(name, value)| seen.insert(name, value).is_some_and(|own| own != value))
    }

    /// How many members there are.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there are no members.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl<T> IntoIterator for OrderedMap<T> {
    type Item = (Cow<'static, str>, T);
    type IntoIter = std::vec::IntoIter<Self::Item>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.into_iter()
    }
}

impl<T> Default for OrderedMap<T> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<N: Into<Cow<'static, str>>, T> FromIterator<(N, T)> for OrderedMap<T> {
    fn from_iter<I: IntoIterator<Item = (N, T)>>(members: I) -> Self {
        Self(members.into_iter().map(|(name, value)| (name.into(), value)).collect())
    }
}

impl<T: Serialize> Serialize for OrderedMap<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.iter())
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for OrderedMap<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Members<T>(PhantomData<T>);
        impl<'de, T: Deserialize<'de>> Visitor<'de> for Members<T> {
            type Value = OrderedMap<T>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut members = OrderedMap::default();
                while let Some((name, value)) = map.next_entry::<String, T>()? {
                    members.push(name, value);
                }
                Ok(members)
            }
        }
        deserializer.deserialize_map(Members(PhantomData))
    }
}
