//! The deserializer of values. It differs from that of `serde_json` in knowing where it is, and in
//! borrowing nothing for what is read.

use std::slice;

use serde::de::{
    DeserializeSeed, Deserializer, EnumAccess, Error as _, IntoDeserializer as _, MapAccess,
    SeqAccess, Unexpected, VariantAccess, Visitor,
};
use serde_json::{Map, Number, Value, map};

use super::key::{Key, RAW, RawText};
use super::place::{Place, Step, Track};
use super::wrong::{Wrong as Error, shown};

/// A value to be read.
#[derive(Clone, Copy)]
pub(super) struct Reader<'a> {
    value: &'a Value,
    place: Option<&'a Place<'a>>,
    track: &'a Track,
}

impl<'a> Reader<'a> {
    pub(super) fn new(value: &'a Value, track: &'a Track) -> Self {
        Self { value, place: None, track }
    }

    #[cold]
    fn mismatch(&self, expected: &str) -> Error {
        Error::mismatch(shown(unexpected(self.value)), expected)
    }

    fn elements(&self, values: &'a [Value]) -> Elements<'a> {
        Elements { values: values.iter(), next: 0, place: self.place, track: self.track }
    }

    fn members(&self, table: &'a Map<String, Value>) -> Members<'a> {
        Members { left: table.iter(), value: None, place: self.place, track: self.track }
    }

    fn list<'de, V: Visitor<'de>>(
        &self,
        values: &'a [Value],
        visitor: V,
    ) -> Result<V::Value, Error> {
        let mut elements = self.elements(values);
        let read = visitor.visit_seq(&mut elements)?;
        elements.end(values.len()).map(|()| read)
    }

    fn table<'de, V: Visitor<'de>>(
        &self,
        table: &'a Map<String, Value>,
        visitor: V,
    ) -> Result<V::Value, Error> {
        let mut members = self.members(table);
        let read = visitor.visit_map(&mut members)?;
        members.end(table.len()).map(|()| read)
    }

    fn number<'de, V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        match self.value {
            Value::Number(number) => visit_number(number, visitor),
            _ => Err(self.mismatch("a number")),
        }
    }

    /// An integer of a type whose values are `bounds`.
    fn integer<'de, V: Visitor<'de>>(self, visitor: V, bounds: &str) -> Result<V::Value, Error> {
        match self.value {
            Value::Number(number) if !number.is_f64() => {
                let is_zero = number.as_u64() == Some(0);
                let bounds = if is_zero { "an integer of 1 or more" } else { bounds };
                let read = visit_number(number, visitor);
                read.map_err(|error| error.or_mismatch(|| self.mismatch(bounds)))
            }
            _ => Err(self.mismatch(bounds)),
        }
    }
}

/// Methods that all read by another.
macro_rules! as_well {
    ($($method:ident)* => $by:ident) => {
        $(fn $method<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
            self.$by(visitor)
        })*
    };
}

/// Methods that read integers, with the values that each takes.
macro_rules! integers {
    ($($method:ident $bounds:literal,)*) => {
        $(fn $method<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
            self.integer(visitor, $bounds)
        })*
    };
}

impl<'de> Deserializer<'de> for Reader<'_> {
    type Error = Error;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        match self.value {
            Value::Null => visitor.visit_unit(),
            Value::Bool(value) => visitor.visit_bool(*value),
            Value::Number(number) => visit_number(number, visitor),
            Value::String(text) => visitor.visit_str(text),
            Value::Array(values) => self.list(values, visitor),
            Value::Object(table) => self.table(table, visitor),
        }
    }

    as_well! { deserialize_f32 deserialize_f64 => number }

    integers! {
        deserialize_i8 "an integer from -128 to 127",
        deserialize_i16 "an integer from -32768 to 32767",
        deserialize_i32 "an integer of 32 bits",
        deserialize_i64 "an integer",
        deserialize_i128 "an integer",
        deserialize_u8 "an integer from 0 to 255",
        deserialize_u16 "an integer from 0 to 65535",
        deserialize_u32 "an integer of 0 or more, below 2^32",
        deserialize_u64 "an integer of 0 or more",
        deserialize_u128 "an integer of 0 or more",
    }

    as_well! { deserialize_char deserialize_string deserialize_identifier => deserialize_str }

    as_well! { deserialize_byte_buf => deserialize_bytes }

    fn deserialize_bool<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        match self.value {
            Value::Bool(value) => visitor.visit_bool(*value),
            _ => Err(self.mismatch("a boolean")),
        }
    }

    fn deserialize_str<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        match self.value {
            Value::String(text) => visitor.visit_str(text),
            _ => Err(self.mismatch("a string")),
        }
    }

    fn deserialize_bytes<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        match self.value {
            Value::String(text) => visitor.visit_str(text),
            Value::Array(values) => self.list(values, visitor),
            _ => Err(self.mismatch("a string")),
        }
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        match self.value {
            Value::Null => visitor.visit_none(),
            _ => visitor.visit_some(self),
        }
    }

    fn deserialize_unit<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        match self.value {
            Value::Null => visitor.visit_unit(),
            _ => Err(self.mismatch("nothing")),
        }
    }

    fn deserialize_unit_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        visitor: V,
    ) -> Result<V::Value, Error> {
        self.deserialize_unit(visitor)
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        name: &'static str,
        visitor: V,
    ) -> Result<V::Value, Error> {
        if name == RAW {
            let text = (!self.track.drops_raw).then(|| self.value.to_string());
            return visitor.visit_map(RawText::new(text));
        }
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_seq<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        match self.value {
            Value::Array(values) => self.list(values, visitor),
            _ => Err(self.mismatch("an array")),
        }
    }

    fn deserialize_tuple<V: Visitor<'de>>(self, _: usize, visitor: V) -> Result<V::Value, Error> {
        self.deserialize_seq(visitor)
    }

    fn deserialize_tuple_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: usize,
        visitor: V,
    ) -> Result<V::Value, Error> {
        self.deserialize_seq(visitor)
    }

    fn deserialize_map<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        match self.value {
            Value::Object(table) => self.table(table, visitor),
            _ => Err(self.mismatch("a table")),
        }
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Error> {
        match self.value {
            Value::Object(table) => self.table(table, visitor),
            _ => Err(self.mismatch("a table")),
        }
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Error> {
        let (name, value) = match self.value {
            Value::String(name) => (name, None),
            Value::Object(table) => {
                let mut members = table.iter();
                let (Some((name, value)), None) = (members.next(), members.next()) else {
                    return Err(self.mismatch("a table of one key"));
                };
                (name, Some(value))
            }
            _ => return Err(self.mismatch("a string")),
        };
        let place = Place { around: self.place, step: Step::Member(name) };
        visitor.visit_enum(Variant { name, value, place, track: self.track })
    }

    fn deserialize_ignored_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        visitor.visit_unit()
    }
}

/// What is expected of a variant that has a value.
const WITH_VALUE: &str = "a word with a value, { WORD = VALUE }";

/// A value as an error calls it.
pub(super) fn unexpected(value: &Value) -> Unexpected<'_> {
    match value {
        Value::Null => Unexpected::Unit,
        Value::Bool(value) => Unexpected::Bool(*value),
        Value::Number(number) => match (number.as_u64(), number.as_i64(), number.as_f64()) {
            (Some(number), ..) => Unexpected::Unsigned(number),
            (_, Some(number), _) => Unexpected::Signed(number),
            (.., number) => Unexpected::Float(number.unwrap_or(f64::NAN)),
        },
        Value::String(text) => Unexpected::Str(text),
        Value::Array(_) => Unexpected::Seq,
        Value::Object(_) => Unexpected::Map,
    }
}

fn visit_number<'de, V: Visitor<'de>>(number: &Number, visitor: V) -> Result<V::Value, Error> {
    match (number.as_u64(), number.as_i64(), number.as_f64()) {
        (Some(number), ..) => visitor.visit_u64(number),
        (_, Some(number), _) => visitor.visit_i64(number),
        (.., Some(number)) => visitor.visit_f64(number),
        (.., None) => Err(Error::custom("the number is not finite")),
    }
}

/// The elements of a list.
struct Elements<'a> {
    values: slice::Iter<'a, Value>,
    next: usize,
    place: Option<&'a Place<'a>>,
    track: &'a Track,
}

impl Elements<'_> {
    fn end(&self, length: usize) -> Result<(), Error> {
        let is_read = self.values.len() == 0;
        is_read.then_some(()).ok_or_else(|| Error::invalid_length(length, &"fewer values"))
    }
}

impl<'de> SeqAccess<'de> for Elements<'_> {
    type Error = Error;

    fn next_element_seed<T: DeserializeSeed<'de>>(
        &mut self,
        seed: T,
    ) -> Result<Option<T::Value>, Error> {
        let Some(value) = self.values.next() else { return Ok(None) };
        let place = Place { around: self.place, step: Step::Element(self.next) };
        self.next += 1;
        let read = seed.deserialize(Reader { value, place: Some(&place), track: self.track });
        read.map(Some).map_err(|error| self.track.fail(&place, error))
    }

    fn size_hint(&self) -> Option<usize> {
        Some(self.values.len())
    }
}

/// The members of a table.
struct Members<'a> {
    left: map::Iter<'a>,
    /// The key that was read, and its value, which was not.
    value: Option<(&'a str, &'a Value)>,
    place: Option<&'a Place<'a>>,
    track: &'a Track,
}

impl Members<'_> {
    fn end(&self, length: usize) -> Result<(), Error> {
        let is_read = self.left.len() == 0;
        is_read.then_some(()).ok_or_else(|| Error::invalid_length(length, &"fewer keys"))
    }
}

impl<'de> MapAccess<'de> for Members<'_> {
    type Error = Error;

    fn next_key_seed<T: DeserializeSeed<'de>>(
        &mut self,
        seed: T,
    ) -> Result<Option<T::Value>, Error> {
        let Some((key, value)) = self.left.next() else { return Ok(None) };
        self.value = Some((key, value));
        let place = Place { around: self.place, step: Step::Member(key) };
        seed.deserialize(Key(key)).map(Some).map_err(|error| self.track.fail(&place, error))
    }

    fn next_value_seed<T: DeserializeSeed<'de>>(&mut self, seed: T) -> Result<T::Value, Error> {
        let Some((key, value)) = self.value.take() else {
            return Err(Error::custom("value is missing"));
        };
        let place = Place { around: self.place, step: Step::Member(key) };
        let read = seed.deserialize(Reader { value, place: Some(&place), track: self.track });
        read.map_err(|error| self.track.fail(&place, error))
    }

    fn size_hint(&self) -> Option<usize> {
        Some(self.left.len())
    }
}

/// A variant, by its name or as the only member of a table.
struct Variant<'a> {
    name: &'a str,
    value: Option<&'a Value>,
    place: Place<'a>,
    track: &'a Track,
}

impl Variant<'_> {
    /// What was found in the place of the content of a variant.
    fn mismatch(&self, expected: &str) -> Error {
        let found = self.value.map_or(Unexpected::UnitVariant, unexpected);
        self.track.fail(&self.place, Error::mismatch(shown(found), expected))
    }

    fn reader(&self) -> Option<Reader<'_>> {
        let (place, track) = (Some(&self.place), self.track);
        self.value.map(|value| Reader { value, place, track })
    }
}

impl<'de> EnumAccess<'de> for Variant<'_> {
    type Error = Error;
    type Variant = Self;

    fn variant_seed<T: DeserializeSeed<'de>>(self, seed: T) -> Result<(T::Value, Self), Error> {
        seed.deserialize(self.name.into_deserializer()).map(|name| (name, self))
    }
}

impl<'de> VariantAccess<'de> for Variant<'_> {
    type Error = Error;

    fn unit_variant(self) -> Result<(), Error> {
        match self.value {
            None | Some(Value::Null) => Ok(()),
            Some(_) => Err(self.mismatch("a word alone")),
        }
    }

    fn newtype_variant_seed<T: DeserializeSeed<'de>>(self, seed: T) -> Result<T::Value, Error> {
        match self.reader() {
            Some(reader) => {
                seed.deserialize(reader).map_err(|error| self.track.fail(&self.place, error))
            }
            None => Err(self.mismatch(WITH_VALUE)),
        }
    }

    fn tuple_variant<V: Visitor<'de>>(self, _: usize, visitor: V) -> Result<V::Value, Error> {
        let read = match (self.reader(), self.value) {
            (Some(_), Some(Value::Array(values))) if values.is_empty() => visitor.visit_unit(),
            (Some(reader), Some(Value::Array(values))) => reader.list(values, visitor),
            _ => return Err(self.mismatch(WITH_VALUE)),
        };
        read.map_err(|error| self.track.fail(&self.place, error))
    }

    fn struct_variant<V: Visitor<'de>>(
        self,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Error> {
        let read = match (self.reader(), self.value) {
            (Some(reader), Some(Value::Object(table))) => reader.table(table, visitor),
            _ => return Err(self.mismatch(WITH_VALUE)),
        };
        read.map_err(|error| self.track.fail(&self.place, error))
    }
}
