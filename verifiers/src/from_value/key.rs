//! What is read as text: keys of tables, and values that are kept as they are written.

use serde::de::value::{BorrowedStrDeserializer, StringDeserializer};
use serde::de::{
    DeserializeSeed, Deserializer, Error as _, IntoDeserializer as _, MapAccess, Unexpected,
    Visitor,
};
use serde::forward_to_deserialize_any;

use super::wrong::Wrong as Error;

/// The name by which `serde_json` asks for the text of a value.
pub(super) const RAW: &str = "$serde_json::private::RawValue";

/// A key. It may be asked for as a number or as a truth value.
pub(super) struct Key<'a>(pub(super) &'a str);

macro_rules! numbers {
    ($($method:ident)*) => {
        $(fn $method<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
            let not_a_number =
                || Error::custom("expected a key that is a number in quotes");
            // Read as a stream, as nothing may be borrowed; without what follows, which it would count.
            let is_of_number = |byte: u8| byte.is_ascii_digit() || b"+-.eE".contains(&byte);
            let length = self.0.bytes().take_while(|byte| is_of_number(*byte)).count();
            let (digits, rest) = self.0.split_at(length);
            if !digits.starts_with(|first: char| first == '-' || first.is_ascii_digit()) {
                return Err(not_a_number());
            }
            let mut number = serde_json::Deserializer::from_reader(digits.as_bytes());
            let read = (&mut number).$method(visitor).map_err(|_| not_a_number())?;
            let is_whole = number.end().is_ok() && rest.is_empty();
            if is_whole { Ok(read) } else { Err(not_a_number()) }
        })*
    };
}

impl<'de> Deserializer<'de> for Key<'_> {
    type Error = Error;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        visitor.visit_str(self.0)
    }

    numbers! {
        deserialize_i8 deserialize_i16 deserialize_i32 deserialize_i64 deserialize_i128
        deserialize_u8 deserialize_u16 deserialize_u32 deserialize_u64 deserialize_u128
        deserialize_f32 deserialize_f64
    }

    fn deserialize_bool<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        match self.0 {
            "true" => visitor.visit_bool(true),
            "false" => visitor.visit_bool(false),
            other => Err(Error::invalid_type(Unexpected::Str(other), &visitor)),
        }
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        visitor.visit_some(self)
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        visitor: V,
    ) -> Result<V::Value, Error> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        name: &'static str,
        variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Error> {
        self.0.into_deserializer().deserialize_enum(name, variants, visitor)
    }

    forward_to_deserialize_any! {
        char str string bytes byte_buf unit unit_struct seq tuple tuple_struct
        map struct identifier ignored_any
    }
}

/// The text of a value, as `serde_json` hands it to those of its types that keep it.
pub(super) struct RawText {
    is_asked: bool,
    text: Option<String>,
}

impl RawText {
    /// `None` where the text is dropped, whatever it is.
    pub(super) fn new(text: Option<String>) -> Self {
        Self { is_asked: false, text }
    }
}

impl<'de> MapAccess<'de> for RawText {
    type Error = Error;

    fn next_key_seed<T: DeserializeSeed<'de>>(
        &mut self,
        seed: T,
    ) -> Result<Option<T::Value>, Error> {
        if std::mem::replace(&mut self.is_asked, true) {
            return Ok(None);
        }
        seed.deserialize(BorrowedStrDeserializer::new(RAW)).map(Some)
    }

    fn next_value_seed<T: DeserializeSeed<'de>>(&mut self, seed: T) -> Result<T::Value, Error> {
        match self.text.take() {
            Some(text) => seed.deserialize(StringDeserializer::new(text)),
            None => seed.deserialize(BorrowedStrDeserializer::new("null")),
        }
    }
}
