//! The columns of rows that are JSON objects, as they are found.

use std::collections::BTreeMap;
use std::fmt;

use serde::Deserialize;
use serde::de::{self, MapAccess};
use serde_json::value::RawValue;

/// What the cells of a column are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CellType {
    /// True and false.
    Bool,
    /// Integers of 64 bits.
    Integer,
    /// Numbers.
    Number,
    /// Texts.
    Text,
    /// Lists, objects, or values of several types: each is its JSON.
    Json,
}

impl CellType {
    /// The type of a value of JSON; `None` for null.
    fn of(json: &str) -> Option<Self> {
        Some(match json.as_bytes().first() {
            None | Some(b'n') => return None,
            Some(b't' | b'f') => Self::Bool,
            Some(b'"') => Self::Text,
            Some(b'{' | b'[') => Self::Json,
            Some(_) if json.parse::<i64>().is_ok() => Self::Integer,
            Some(_) => Self::Number,
        })
    }

    fn with(self, other: Self) -> Self {
        match (self, other) {
            _ if self == other => self,
            (Self::Integer | Self::Number, Self::Integer | Self::Number) => Self::Number,
            _ => Self::Json,
        }
    }
}

/// Names and types of columns, in the order in which they came up.
#[derive(Clone, Debug, Default)]
pub struct FoundColumns {
    columns: Vec<(String, Option<CellType>)>,
    places: BTreeMap<String, usize>,
}

impl FoundColumns {
    /// Takes note of a cell.
    pub fn add(&mut self, name: &str, json: &str) {
        let found = CellType::of(json);
        let place = self.place(name).unwrap_or_else(|| {
            self.places.insert(name.to_owned(), self.columns.len());
            self.columns.push((name.to_owned(), None));
            self.columns.len() - 1
        });
        if let Some((_, kind)) = self.columns.get_mut(place) {
            *kind = match (*kind, found) {
                (Some(kind), Some(found)) => Some(kind.with(found)),
                (kind, found) => kind.or(found),
            };
        }
    }

    /// The place of a column; `None` where there is none of this name.
    pub fn place(&self, name: &str) -> Option<usize> {
        self.places.get(name).copied()
    }

    /// How many columns there are.
    pub fn len(&self) -> usize {
        self.columns.len()
    }

    /// Whether there is no column.
    pub fn is_empty(&self) -> bool {
        self.columns.is_empty()
    }

    /// Names and types. A column of nulls is one of text.
    pub fn iter(&self) -> impl Iterator<Item = (&str, CellType)> {
        self.columns.iter().map(|(name, kind)| (name.as_str(), kind.unwrap_or(CellType::Text)))
    }
}

/// The members of a JSON object in their order, each as its text.
#[derive(Debug, Default)]
pub struct CellMembers(pub Vec<(String, Box<RawValue>)>);

impl<'de> Deserialize<'de> for CellMembers {
    fn deserialize<D: de::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Visitor;

        impl<'de> de::Visitor<'de> for Visitor {
            type Value = CellMembers;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<CellMembers, A::Error> {
                let mut members = Vec::new();
                while let Some(member) = map.next_entry()? {
                    members.push(member);
                }
                Ok(CellMembers(members))
            }
        }

        deserializer.deserialize_map(Visitor)
    }
}

#[cfg(test)]
mod tests {
    use super::CellType::{Bool, Integer, Json, Number, Text};
    use super::*;

    #[test]
    fn types_are_those_that_hold_every_value() {
        let mut columns = FoundColumns::default();
        let rows = [
            r#"{"z":1,"a":"x","b":null,"c":[1],"d":true,"e":null}"#,
            r#"{"z":2.5,"a":7,"b":18446744073709551615,"f":-3}"#,
        ];
        for row in rows {
            for (name, value) in serde_json::from_str::<CellMembers>(row).unwrap().0 {
                columns.add(&name, value.get());
            }
        }
        let found: Vec<(&str, CellType)> = columns.iter().collect();
        let (numbers, rest) = ([("z", Number), ("a", Json), ("b", Number)], ("f", Integer));
        assert_eq!(found[..3], numbers);
        assert_eq!(found[3..], [("c", Json), ("d", Bool), ("e", Text), rest]);
        assert_eq!((columns.place("d"), columns.place("x"), columns.len()), (Some(4), None, 7));
    }
}
