//! JSON as `serde_json` writes it, byte for byte, with texts compared in lanes: `serde_json` looks at one byte
//! after the other, which was most of the time that a line took.

use assay_verifiers::canonical::write_text;
use serde::ser::{self, Error as _, Serialize};
use serde_json::Error;

/// Appends the JSON form of `value`.
///
/// # Errors
/// A key that is not text.
pub(super) fn write<T: Serialize + ?Sized>(out: &mut Vec<u8>, value: &T) -> Result<(), Error> {
    value.serialize(Json(out))
}

/// Writes one value.
struct Json<'a>(&'a mut Vec<u8>);

/// Writes the members of a list or of an object.
struct Members<'a> {
    out: &'a mut Vec<u8>,
    is_first: bool,
    end: &'static [u8],
}

impl<'a> Json<'a> {
    fn members(self, start: u8, end: &'static [u8]) -> Members<'a> {
        self.0.push(start);
        Members { out: self.0, is_first: true, end }
    }

    /// The object of a variant, and what is in it.
    fn variant(self, name: &str) -> Self {
        self.0.push(b'{');
        write_text(self.0, name);
        self.0.push(b':');
        self
    }
}

impl Members<'_> {
    fn value<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Error> {
        self.comma();
        write(self.out, value)
    }

    fn member<T: Serialize + ?Sized>(&mut self, key: &str, value: &T) -> Result<(), Error> {
        self.comma();
        write_text(self.out, key);
        self.out.push(b':');
        write(self.out, value)
    }

    fn comma(&mut self) {
        if !std::mem::take(&mut self.is_first) {
            self.out.push(b',');
        }
    }

    fn close(self) {
        self.out.extend_from_slice(self.end);
    }
}

/// What needs no lanes.
macro_rules! plain {
    ($($method:ident: $type:ty,)*) => {
        $(fn $method(self, value: $type) -> Result<(), Error> {
            serde_json::to_writer(self.0, &value)
        })*
    };
}

impl<'a> ser::Serializer for Json<'a> {
    type Ok = ();
    type Error = Error;
    type SerializeSeq = Members<'a>;
    type SerializeTuple = Members<'a>;
    type SerializeTupleStruct = Members<'a>;
    type SerializeTupleVariant = Members<'a>;
    type SerializeMap = Members<'a>;
    type SerializeStruct = Members<'a>;
    type SerializeStructVariant = Members<'a>;

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
        serialize_f32: f32,
        serialize_f64: f64,
        serialize_char: char,
        serialize_bytes: &[u8],
    }

    fn serialize_str(self, text: &str) -> Result<(), Error> {
        write_text(self.0, text);
        Ok(())
    }

    fn serialize_none(self) -> Result<(), Error> {
        self.serialize_unit()
    }

    fn serialize_some<T: Serialize + ?Sized>(self, value: &T) -> Result<(), Error> {
        value.serialize(self)
    }

    fn serialize_unit(self) -> Result<(), Error> {
        self.0.extend_from_slice(b"null");
        Ok(())
    }

    fn serialize_unit_struct(self, _: &'static str) -> Result<(), Error> {
        self.serialize_unit()
    }

    fn serialize_unit_variant(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
    ) -> Result<(), Error> {
        self.serialize_str(variant)
    }

    fn serialize_newtype_struct<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        value: &T,
    ) -> Result<(), Error> {
        value.serialize(self)
    }

    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        value: &T,
    ) -> Result<(), Error> {
        let inner = self.variant(variant);
        write(inner.0, value)?;
        inner.0.push(b'}');
        Ok(())
    }

    fn serialize_seq(self, _: Option<usize>) -> Result<Members<'a>, Error> {
        Ok(self.members(b'[', b"]"))
    }

    fn serialize_tuple(self, _: usize) -> Result<Members<'a>, Error> {
        Ok(self.members(b'[', b"]"))
    }

    fn serialize_tuple_struct(self, _: &'static str, _: usize) -> Result<Members<'a>, Error> {
        Ok(self.members(b'[', b"]"))
    }

    fn serialize_tuple_variant(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        _: usize,
    ) -> Result<Members<'a>, Error> {
        Ok(self.variant(variant).members(b'[', b"]}"))
    }

    fn serialize_map(self, _: Option<usize>) -> Result<Members<'a>, Error> {
        Ok(self.members(b'{', b"}"))
    }

    fn serialize_struct(self, _: &'static str, _: usize) -> Result<Members<'a>, Error> {
        Ok(self.members(b'{', b"}"))
    }

    fn serialize_struct_variant(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        _: usize,
    ) -> Result<Members<'a>, Error> {
        Ok(self.variant(variant).members(b'{', b"}}"))
    }
}

/// The traits of what holds values without names, and of what holds them by constant names.
macro_rules! members {
    ($($trait:ident $method:ident($($key:ident: $type:ty)?) $via:ident,)*) => {
        $(impl ser::$trait for Members<'_> {
            type Ok = ();
            type Error = Error;

            fn $method<T: Serialize + ?Sized>(&mut self, $($key: $type,)? value: &T) -> Result<(), Error> {
                self.$via($($key,)? value)
            }

            fn end(self) -> Result<(), Error> {
                self.close();
                Ok(())
            }
        })*
    };
}

members! {
    SerializeSeq serialize_element() value,
    SerializeTuple serialize_element() value,
    SerializeTupleStruct serialize_field() value,
    SerializeTupleVariant serialize_field() value,
    SerializeStruct serialize_field(key: &'static str) member,
    SerializeStructVariant serialize_field(key: &'static str) member,
}

impl ser::SerializeMap for Members<'_> {
    type Ok = ();
    type Error = Error;

    fn serialize_key<T: Serialize + ?Sized>(&mut self, key: &T) -> Result<(), Error> {
        self.comma();
        let start = self.out.len();
        write(self.out, key)?;
        if self.out.get(start) != Some(&b'"') {
            return Err(Error::custom("a key must be text"));
        }
        self.out.push(b':');
        Ok(())
    }

    fn serialize_value<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Error> {
        write(self.out, value)
    }

    fn end(self) -> Result<(), Error> {
        self.close();
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::{Value, json};

    use super::*;

    #[derive(serde::Serialize)]
    enum Form {
        Unit,
        New(f32),
        Tuple(i8, Option<char>),
        Struct { a: (), b: [u64; 2] },
    }

    #[derive(serde::Serialize)]
    struct Unit;

    #[derive(serde::Serialize)]
    struct Pair(u8, &'static [u8]);

    fn same<T: Serialize>(value: &T) {
        let mut out = Vec::new();
        write(&mut out, value).unwrap();
        let expected = serde_json::to_string(value).unwrap();
        assert_eq!(String::from_utf8(out).unwrap(), expected);
    }

    fn values() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            any::<i64>().prop_map(Value::from),
            any::<u64>().prop_map(Value::from),
            any::<f64>().prop_map(Value::from),
            any::<String>().prop_map(Value::from),
        ];
        leaf.prop_recursive(4, 40, 6, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..6).prop_map(Value::from),
                prop::collection::vec((any::<String>(), inner), 0..6)
                    .prop_map(|members| Value::Object(members.into_iter().collect())),
            ]
        })
    }

    proptest! {
        #[test]
        fn values_are_written_as_serde_json_writes_them(value in values()) {
            same(&value);
        }
    }

    #[test]
    fn every_form_of_serde_is_written_as_serde_json_writes_it() {
        same(&[Form::Unit, Form::New(0.1), Form::Tuple(-1, Some('"')), Form::Tuple(7, None)]);
        same(&Form::Struct { a: (), b: [0, u64::MAX] });
        same(&(Unit, Pair(1, b"ab"), [f64::NAN, f64::INFINITY, -0.0, 1e-7, 1e300, 2.0]));
        same(&json!({"": [], "a\n": {}, "b": [[1], [{"c": null}]]}));
    }

    #[test]
    fn keys_that_are_no_texts_are_refused() {
        let map = std::collections::BTreeMap::from([(1, 2)]);
        assert!(write(&mut Vec::new(), &map).is_err());
    }
}
