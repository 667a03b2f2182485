//! Against the deserializer of `serde_json`.

use std::collections::BTreeMap;
use std::fmt;

use proptest::prelude::*;
use serde::Serialize;
use serde::de::Error as _;
use serde_json::json;
use serde_json::value::RawValue;

use super::*;

/// A type with all that settings are made of.
#[derive(Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct Shapes {
    a: Option<f64>,
    b: Vec<Kind>,
    c: BTreeMap<String, u8>,
    d: Option<Box<Shapes>>,
    e: Tagged,
    f: Either,
    g: (i64, String),
    h: BTreeMap<i16, bool>,
    i: Even,
    j: Value,
    k: [char; 2],
    l: Option<Flat>,
    m: (),
    n: Newtype,
    o: BTreeMap<Word, f32>,
}

#[derive(Debug, PartialEq, Serialize, Deserialize)]
enum Kind {
    #[serde(rename = "a")]
    Unit,
    #[serde(rename = "b")]
    Newtype(u32),
    #[serde(rename = "c")]
    Tuple(bool, String),
    #[serde(rename = "d")]
    Struct { a: i8 },
}

#[derive(Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Word {
    #[default]
    A,
    B,
}

#[derive(Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(tag = "a", rename_all = "snake_case")]
enum Tagged {
    A {
        b: u64,
    },
    B(BTreeMap<String, f64>),
    #[default]
    C,
}

#[derive(Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
enum Either {
    Number(f64),
    Text(String),
    List(Vec<u8>),
}

impl Default for Either {
    fn default() -> Self {
        Self::Number(0.0)
    }
}

#[derive(Debug, PartialEq, Serialize, Deserialize)]
struct Flat {
    a: u8,
    #[serde(flatten)]
    rest: BTreeMap<String, i32>,
}

#[derive(Debug, Default, PartialEq, Serialize, Deserialize)]
struct Newtype(u16);

#[derive(Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "u64")]
struct Even(u64);

impl TryFrom<u64> for Even {
    type Error = String;

    fn try_from(number: u64) -> Result<Self, String> {
        if number.is_multiple_of(2) { Ok(Self(number)) } else { Err(format!("{number} is odd")) }
    }
}

fn values() -> impl Strategy<Value = Value> {
    let text = prop_oneof![
        Just(String::new()),
        "[a-d]",
        "-?[0-9]{1,3}",
        Just("99999".to_owned()),
        Just("1.5 ".to_owned()),
        Just("true".to_owned())
    ];
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        (-3_i64..300).prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        text.clone().prop_map(Value::from),
    ];
    leaf.prop_recursive(5, 40, 4, move |inner| {
        let key = prop_oneof![8 => "[a-p]", 1 => text.clone()];
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::btree_map(key, inner, 0..4)
                .prop_map(|members| Value::Object(members.into_iter().collect())),
        ]
    })
}

/// The same results as those of `serde_json`.
fn agrees<T: DeserializeOwned + fmt::Debug + PartialEq>(value: &Value) {
    let theirs = serde_json::from_value::<T>(value.clone());
    let ours = from_value::<T>(value);
    match (theirs, ours) {
        (Ok(theirs), Ok(ours)) => assert_eq!(ours, theirs),
        (Err(_), Err(_)) => {}
        // A table is not read from a list of its values.
        (Ok(_), Err(ours)) if ours.expected == ["a table"] => {}
        (theirs, ours) => panic!("{value}: {ours:?}, not {theirs:?}"),
    }
}

proptest! {
    #[test]
    fn results_are_those_of_serde_json(value in values()) {
        agrees::<Shapes>(&value);
        agrees::<Kind>(&value);
        agrees::<Tagged>(&value);
        agrees::<Either>(&value);
        agrees::<Flat>(&value);
        agrees::<Even>(&value);
        agrees::<BTreeMap<i16, bool>>(&value);
        agrees::<BTreeMap<Word, f32>>(&value);
        agrees::<Value>(&value);
        prop_assert_eq!(check_value::<Shapes>(&value).is_ok(), from_value::<Shapes>(&value).is_ok());
    }

    #[test]
    fn members_are_read_as_by_serde_json(name in "[a-p]", value in values()) {
        agrees::<Shapes>(&json!({ name: value }));
    }
}

#[test]
fn a_path_leads_to_what_is_wrong() {
    let cases = [
        (json!(1), Code::WrongType, "", "expected a table, found the integer 1"),
        (json!({"a": "x"}), Code::WrongType, "a", "expected a number, found the string \"x\""),
        (json!({"z": 1}), Code::UnknownKey, "z", "unknown key `z`"),
        (json!({"d": {"d": {"z": 1}}}), Code::UnknownKey, "d.d.z", "unknown key `z`"),
        (
            json!({"b": ["a", "e"]}),
            Code::UnknownWord,
            "b[1]",
            "\"e\" is not known; expected \"a\", \"b\", \"c\" or \"d\"",
        ),
        (
            json!({"b": ["b"]}),
            Code::WrongType,
            "b[0].b",
            "expected a word with a value, { WORD = VALUE }, found a word alone",
        ),
        (
            json!({"b": [{"c": [true, 1]}]}),
            Code::WrongType,
            "b[0].c[1]",
            "expected a string, found the integer 1",
        ),
        (
            json!({"b": [{"d": {"a": 200}}]}),
            Code::WrongType,
            "b[0].d.a",
            "expected an integer from -128 to 127, found the integer 200",
        ),
        (json!({"b": [{"d": {}}]}), Code::MissingKey, "b[0].d.a", "missing key `a`"),
        (
            json!({"c": {"x": 1, "y": -1}}),
            Code::WrongType,
            "c.y",
            "expected an integer from 0 to 255, found the integer -1",
        ),
        (json!({"f": {}}), Code::BadValue, "f", "data did not match"),
        (json!({"g": [1]}), Code::WrongType, "g", "expected a tuple of size 2, found 1 values"),
        (json!({"h": {"x": true}}), Code::BadValue, "h.x", "expected a key that is a number"),
        (json!({"i": 3}), Code::BadValue, "i", "3 is odd"),
    ];
    for (value, code, path, message) in cases {
        let error = from_value::<Shapes>(&value).unwrap_err();
        assert_eq!((error.code, &*error.setting), (code, path), "{value}");
        assert!(error.to_string().starts_with(message), "{value}: {error}");
    }
}

/// A type of which some members are those of another, which leaves no path.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Outer {
    #[expect(dead_code, reason = "only its type matters")]
    own: bool,
    #[expect(dead_code, reason = "only its type matters")]
    word: Option<Words>,
    #[serde(flatten)]
    #[expect(dead_code, reason = "only its type matters")]
    inner: Inner,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Words {
    One,
    Two,
}

#[derive(Debug, Deserialize, JsonSchema)]
struct Inner {
    #[schemars(range(min = 1))]
    #[expect(dead_code, reason = "only its type matters")]
    count: Option<u64>,
}

#[test]
fn the_schema_says_what_is_taken() {
    for (value, code, path, expected) in [
        (json!({"own": 1}), Code::WrongType, "own", vec!["a boolean"]),
        (
            json!({"own": true, "count": "x"}),
            Code::WrongType,
            "count",
            vec!["an integer of 1 or more"],
        ),
        (json!({"own": true, "coun": 3}), Code::UnknownKey, "coun", vec!["count", "own", "word"]),
        (json!({"own": true, "word": 3}), Code::WrongType, "word", vec!["\"one\"", "\"two\""]),
        (json!({"own": true, "word": "tow"}), Code::UnknownWord, "word", vec!["one", "two"]),
        (json!({"count": 2}), Code::MissingKey, "own", vec![]),
    ] {
        let error = read::<Outer>(&value).unwrap_err();
        let mut found = error.expected.clone();
        found.sort();
        assert_eq!(
            (error.code, &*error.setting, found),
            (code, path, expected.iter().map(|e| (*e).to_owned()).collect()),
            "{value}: {error}"
        );
    }
}

#[test]
fn raw_values_have_their_text() {
    #[derive(Deserialize)]
    struct Owned {
        a: Box<RawValue>,
    }
    #[derive(Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Borrowed<'a> {
        #[serde(borrow)]
        #[expect(dead_code, reason = "only its type matters")]
        a: Vec<&'a RawValue>,
        #[expect(dead_code, reason = "only its type matters")]
        b: Option<u8>,
    }
    let value = json!({"a": [1, {"b": null}]});
    assert_eq!(from_value::<Owned>(&value).unwrap().a.get(), "[1,{\"b\":null}]");
    assert!(check_value::<Borrowed<'_>>(&value).is_ok());
    let error = check_value::<Borrowed<'_>>(&json!({"a": [1], "b": "x"})).unwrap_err();
    assert_eq!((error.code, &*error.setting), (Code::WrongType, "b"));
}

#[test]
fn errors_that_are_caught_are_forgotten() {
    /// A number, or else its text.
    #[derive(Debug)]
    struct Lenient;

    impl<'de> Deserialize<'de> for Lenient {
        fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
            let value = Value::deserialize(deserializer)?;
            let read = from_value::<Vec<u8>>(&value).map(|_| Self);
            read.map_err(|error| D::Error::custom(format!("{}: {error}", error.setting)))
        }
    }
    let error = from_value::<Vec<Lenient>>(&json!([[1], [2, "x"]])).unwrap_err();
    assert_eq!(error.setting, "[1]");
    assert!(error.message.starts_with("[1]: expected an integer from 0 to 255"), "{error}");
}
