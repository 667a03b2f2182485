//! Numbers that may not be finite, in JSON, by `#[serde(with = "crate::not_finite")]`.
//!
//! JSON has no NaN, and `serde_json` writes `null`, from which no number is read. Here they are the
//! strings `NaN`, `Infinity` and `-Infinity`, the words of Python's `json`.

use std::collections::{BTreeMap, VecDeque};

use serde::de::DeserializeOwned;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// Numbers, and the form that they have in JSON.
pub(crate) trait Numbers: Sized {
    type Form: Serialize + DeserializeOwned;
    fn form(&self) -> Self::Form;
    fn of(form: Self::Form) -> Self;
}

pub(crate) fn serialize<T: Numbers, S: Serializer>(numbers: &T, to: S) -> Result<S::Ok, S::Error> {
    numbers.form().serialize(to)
}

pub(crate) fn deserialize<'de, T: Numbers, D: Deserializer<'de>>(from: D) -> Result<T, D::Error> {
    T::Form::deserialize(from).map(T::of)
}

/// The form of a number.
#[derive(Serialize, Deserialize)]
#[serde(untagged)]
pub(crate) enum Number {
    Finite(f64),
    NotFinite(Word),
}

/// A number that is not finite.
#[derive(Serialize, Deserialize)]
pub(crate) enum Word {
    NaN,
    Infinity,
    #[serde(rename = "-Infinity")]
    NegativeInfinity,
}

impl Numbers for f64 {
    type Form = Number;

    fn form(&self) -> Number {
        match *self {
            finite if finite.is_finite() => Number::Finite(finite),
            Self::INFINITY => Number::NotFinite(Word::Infinity),
            Self::NEG_INFINITY => Number::NotFinite(Word::NegativeInfinity),
            _ => Number::NotFinite(Word::NaN),
        }
    }

    fn of(form: Number) -> Self {
        match form {
            Number::Finite(finite) => finite,
            Number::NotFinite(Word::NaN) => Self::NAN,
            Number::NotFinite(Word::Infinity) => Self::INFINITY,
            Number::NotFinite(Word::NegativeInfinity) => Self::NEG_INFINITY,
        }
    }
}

macro_rules! lists {
    ($($list:ident),*) => {
        $(impl<T: Numbers> Numbers for $list<T> {
            type Form = Vec<T::Form>;

            fn form(&self) -> Self::Form {
                self.iter().map(T::form).collect()
            }

            fn of(form: Self::Form) -> Self {
                form.into_iter().map(T::of).collect()
            }
        })*
    };
}

lists!(Vec, VecDeque);

impl<T: Numbers> Numbers for BTreeMap<String, T> {
    type Form = BTreeMap<String, T::Form>;

    fn form(&self) -> Self::Form {
        self.iter().map(|(name, numbers)| (name.clone(), numbers.form())).collect()
    }

    fn of(form: Self::Form) -> Self {
        form.into_iter().map(|(name, form)| (name, T::of(form))).collect()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[derive(Debug, Serialize, Deserialize)]
    struct Kept(#[serde(with = "crate::not_finite")] BTreeMap<String, Vec<f64>>);

    #[test]
    fn words_are_the_numbers_that_json_has_not() {
        let numbers = vec![1.0, f64::NEG_INFINITY, f64::INFINITY, f64::NAN];
        let text = serde_json::to_string(&Kept([("NaN".to_owned(), numbers)].into())).unwrap();
        assert_eq!(text, r#"{"NaN":[1.0,"-Infinity","Infinity","NaN"]}"#);
        for refused in [r#"{"a":["nan"]}"#, r#"{"a":[null]}"#, r#"{"a":1}"#] {
            assert!(serde_json::from_str::<Kept>(refused).is_err(), "{refused}");
        }
    }

    proptest! {
        #[test]
        fn every_number_survives(bits in proptest::collection::vec(any::<u64>(), 0..20)) {
            let numbers: Vec<f64> = bits.iter().map(|bits| f64::from_bits(*bits)).collect();
            let kept = Kept([(String::new(), numbers.clone())].into());
            let text = serde_json::to_string(&kept).unwrap();
            let read = serde_json::from_str::<Kept>(&text).unwrap().0.remove("").unwrap();
            prop_assert_eq!(read.len(), numbers.len());
            for (have, expected) in read.iter().zip(&numbers) {
                prop_assert!(
                    have.to_bits() == expected.to_bits() || (have.is_nan() && expected.is_nan())
                );
            }
        }
    }
}
