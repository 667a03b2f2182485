//! JSON that keeps numbers which are not finite.
//!
//! JSON has no NaN, and `serde_json` writes `null`, which no field for a number can be read from. Here
//! they are the strings that Python's `json` writes as words, and a string is read as a number only
//! where a number is asked for.

use serde::de::value::{MapDeserializer, SeqDeserializer};
use serde::de::{DeserializeOwned, Deserializer, IntoDeserializer, Visitor};
use serde::ser::{
    Error as _, Impossible, Serialize, SerializeMap, SerializeSeq, SerializeStruct, SerializeTuple,
    SerializeTupleStruct, Serializer,
};
use serde_json::value::Serializer as Plain;
use serde_json::{Error, Map, Value};

const NAN: &str = "NaN";
const INFINITY: &str = "Infinity";
const NEGATIVE_INFINITY: &str = "-Infinity";

/// A value as JSON. Numbers that are not finite are the strings `NaN`, `Infinity` and `-Infinity`.
///
/// # Errors
/// A value that JSON has no form for here: keys that are not strings, variants with several values.
pub fn to_json<T: Serialize + ?Sized>(value: &T) -> Result<Value, Error> {
    value.serialize(Writer)
}

/// Reads what [`to_json`] gave: the same value, but for the sign and the payload of NaN.
///
/// # Errors
/// A field that is unknown, missing or of another type.
pub fn from_json<T: DeserializeOwned>(value: Value) -> Result<T, Error> {
    T::deserialize(Reader(value))
}

struct Writer;

/// A list that is written.
struct List(Vec<Value>);

/// An object that is written, and the key whose value comes next.
struct Object(Map<String, Value>, String);

/// What is written as `serde_json` does.
macro_rules! plain {
    ($($method:ident: $kind:ty),* $(,)?) => {
        $(fn $method(self, value: $kind) -> Result<Value, Error> {
            Plain.$method(value)
        })*
    };
}

impl Serializer for Writer {
    type Ok = Value;
    type Error = Error;
    type SerializeSeq = List;
    type SerializeTuple = List;
    type SerializeTupleStruct = List;
    type SerializeTupleVariant = Impossible<Value, Error>;
    type SerializeMap = Object;
    type SerializeStruct = Object;
    type SerializeStructVariant = Impossible<Value, Error>;

    plain! {
        serialize_bool: bool,
        serialize_i8: i8,
        serialize_i16: i16,
        serialize_i32: i32,
        serialize_i64: i64,
        serialize_u8: u8,
        serialize_u16: u16,
        serialize_u32: u32,
        serialize_u64: u64,
        serialize_char: char,
        serialize_str: &str,
        serialize_bytes: &[u8],
        serialize_unit_struct: &'static str,
    }

    fn serialize_f32(self, value: f32) -> Result<Value, Error> {
        self.serialize_f64(value.into())
    }

    fn serialize_f64(self, value: f64) -> Result<Value, Error> {
        let word = match value {
            _ if value.is_finite() => return Plain.serialize_f64(value),
            _ if value.is_nan() => NAN,
            _ if value > 0.0 => INFINITY,
            _ => NEGATIVE_INFINITY,
        };
        Ok(word.into())
    }

    fn serialize_none(self) -> Result<Value, Error> {
        Ok(Value::Null)
    }

    fn serialize_some<T: Serialize + ?Sized>(self, value: &T) -> Result<Value, Error> {
        to_json(value)
    }

    fn serialize_unit(self) -> Result<Value, Error> {
        Ok(Value::Null)
    }

    fn serialize_unit_variant(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
    ) -> Result<Value, Error> {
        Ok(variant.into())
    }

    fn serialize_newtype_struct<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        value: &T,
    ) -> Result<Value, Error> {
        to_json(value)
    }

    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        value: &T,
    ) -> Result<Value, Error> {
        Ok(Map::from_iter([(variant.to_owned(), to_json(value)?)]).into())
    }

    fn serialize_seq(self, _: Option<usize>) -> Result<List, Error> {
        Ok(List(Vec::new()))
    }

    fn serialize_tuple(self, _: usize) -> Result<List, Error> {
        Ok(List(Vec::new()))
    }

    fn serialize_tuple_struct(self, _: &'static str, _: usize) -> Result<List, Error> {
        Ok(List(Vec::new()))
    }

    fn serialize_tuple_variant(
        self,
        name: &'static str,
        _: u32,
        _: &'static str,
        _: usize,
    ) -> Result<Self::SerializeTupleVariant, Error> {
        Err(Error::custom(format!("`{name}` has a variant with several values")))
    }

    fn serialize_map(self, _: Option<usize>) -> Result<Object, Error> {
        Ok(Object(Map::new(), String::new()))
    }

    fn serialize_struct(self, _: &'static str, _: usize) -> Result<Object, Error> {
        Ok(Object(Map::new(), String::new()))
    }

    fn serialize_struct_variant(
        self,
        name: &'static str,
        _: u32,
        _: &'static str,
        _: usize,
    ) -> Result<Self::SerializeStructVariant, Error> {
        Err(Error::custom(format!("`{name}` has a variant with several values")))
    }
}

/// The three traits of lists have the same methods by other names.
macro_rules! list {
    ($($kind:ident: $method:ident),*) => {
        $(impl $kind for List {
            type Ok = Value;
            type Error = Error;

            fn $method<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Error> {
                self.0.push(to_json(value)?);
                Ok(())
            }

            fn end(self) -> Result<Value, Error> {
                Ok(self.0.into())
            }
        })*
    };
}

list!(SerializeSeq: serialize_element, SerializeTuple: serialize_element, SerializeTupleStruct: serialize_field);

impl SerializeMap for Object {
    type Ok = Value;
    type Error = Error;

    fn serialize_key<T: Serialize + ?Sized>(&mut self, key: &T) -> Result<(), Error> {
        let Value::String(key) = to_json(key)? else {
            return Err(Error::custom("a key is not a string"));
        };
        self.1 = key;
        Ok(())
    }

    fn serialize_value<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Error> {
        self.0.insert(std::mem::take(&mut self.1), to_json(value)?);
        Ok(())
    }

    fn end(self) -> Result<Value, Error> {
        Ok(self.0.into())
    }
}

impl SerializeStruct for Object {
    type Ok = Value;
    type Error = Error;

    fn serialize_field<T: Serialize + ?Sized>(
        &mut self,
        key: &'static str,
        value: &T,
    ) -> Result<(), Error> {
        self.0.insert(key.to_owned(), to_json(value)?);
        Ok(())
    }

    fn end(self) -> Result<Value, Error> {
        Ok(self.0.into())
    }
}

struct Reader(Value);

impl<'de> Deserializer<'de> for Reader {
    type Error = Error;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        match self.0 {
            Value::Array(values) => {
                let mut values = SeqDeserializer::new(values.into_iter().map(Reader));
                let read = visitor.visit_seq(&mut values)?;
                values.end().map(|()| read)
            }
            Value::Object(fields) => {
                let fields = fields.into_iter().map(|(key, value)| (key, Reader(value)));
                let mut fields = MapDeserializer::new(fields);
                let read = visitor.visit_map(&mut fields)?;
                fields.end().map(|()| read)
            }
            plain => plain.deserialize_any(visitor),
        }
    }

    fn deserialize_f64<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        match self.0.as_str() {
            Some(NAN) => visitor.visit_f64(f64::NAN),
            Some(INFINITY) => visitor.visit_f64(f64::INFINITY),
            Some(NEGATIVE_INFINITY) => visitor.visit_f64(f64::NEG_INFINITY),
            _ => self.deserialize_any(visitor),
        }
    }

    fn deserialize_f32<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        self.deserialize_f64(visitor)
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        if self.0.is_null() { visitor.visit_none() } else { visitor.visit_some(self) }
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
        self.0.deserialize_enum(name, variants, visitor)
    }

    serde::forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 char str string bytes byte_buf unit unit_struct
        seq tuple tuple_struct map struct identifier ignored_any
    }
}

impl IntoDeserializer<'_, Error> for Reader {
    type Deserializer = Self;

    fn into_deserializer(self) -> Self {
        self
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;
    use serde::{Deserialize, Serialize};

    use super::*;

    #[derive(Debug, PartialEq, Serialize, Deserialize)]
    #[serde(rename_all = "snake_case")]
    enum Kind {
        First,
        Second(u64),
    }

    #[derive(Debug, PartialEq, Serialize, Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Everything {
        numbers: BTreeMap<String, Vec<f64>>,
        name: String,
        some: Option<f64>,
        none: Option<f64>,
        pair: (u64, f32),
        kinds: Vec<Kind>,
        unit: (),
        flag: bool,
    }

    fn everything(numbers: &[f64]) -> Everything {
        Everything {
            numbers: [("NaN".to_owned(), numbers.to_vec())].into(),
            name: "NaN".to_owned(),
            some: Some(f64::INFINITY),
            none: None,
            pair: (u64::MAX, f32::NEG_INFINITY),
            kinds: vec![Kind::First, Kind::Second(7)],
            unit: (),
            flag: true,
        }
    }

    #[test]
    fn words_are_numbers_only_where_numbers_are_asked_for() {
        let value = to_json(&everything(&[1.0, f64::NEG_INFINITY])).unwrap();
        let text = value.to_string();
        assert!(text.contains(r#""numbers":{"NaN":[1.0,"-Infinity"]}"#), "{text}");
        let read: Everything = from_json(serde_json::from_str(&text).unwrap()).unwrap();
        assert_eq!(read, everything(&[1.0, f64::NEG_INFINITY]));
        let error = from_json::<f64>("hello".into()).unwrap_err().to_string();
        assert!(error.contains("expected f64"), "{error}");
        assert!(from_json::<u64>(NAN.into()).is_err() && from_json::<f64>(Value::Null).is_err());
        let error = from_json::<Everything>(serde_json::json!({"other": 1})).unwrap_err();
        assert!(error.to_string().contains("unknown field `other`"), "{error}");
        assert!(from_json::<(u8, u8)>(serde_json::json!([1, 2, 3])).is_err());
    }

    proptest! {
        #[test]
        fn every_number_survives(bits in proptest::collection::vec(any::<u64>(), 0..20)) {
            let numbers: Vec<f64> = bits.iter().map(|bits| f64::from_bits(*bits)).collect();
            let text = to_json(&everything(&numbers)).unwrap().to_string();
            let read: Everything = from_json(serde_json::from_str(&text).unwrap()).unwrap();
            for (have, expected) in read.numbers["NaN"].iter().zip(&numbers) {
                prop_assert!(
                    have.to_bits() == expected.to_bits() || (have.is_nan() && expected.is_nan())
                );
            }
            prop_assert_eq!(read.numbers["NaN"].len(), numbers.len());
        }
    }
}
