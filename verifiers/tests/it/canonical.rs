//! The canonical form: one encoding for equal values, and for equal parts.

use assay_verifiers::canonical::{digest_parts, hex, to_bytes, write_members};
use proptest::prelude::*;
use serde_json::{Value, json};

fn text(value: &Value) -> String {
    String::from_utf8(to_bytes(value)).unwrap()
}

#[test]
fn keys_are_sorted_nulls_dropped_and_whole_floats_are_integers() {
    let value = json!({"b": 1.0, "a": [1, null, {"z": null}], "c": null, "d": -0.0, "e": 0.5});
    assert_eq!(text(&value), r#"{"a":[1,null,{}],"b":1,"d":0,"e":0.5}"#);
    assert_eq!(text(&json!(-10.0)), "-10");
    assert_eq!(text(&json!(-100.0)), "-100");
    assert_eq!(text(&json!(1e300)), "1e+300");
    assert_eq!(text(&json!(u64::MAX)), "18446744073709551615");
}

#[test]
fn keys_are_sorted_in_whatever_order_they_come() {
    let members = [("b", json!(1)), ("a", json!({"z": 1, "y": null})), ("c", json!(null))];
    let members: Vec<(String, Value)> =
        members.into_iter().map(|(key, value)| (key.to_owned(), value)).collect();
    let mut out = Vec::new();
    write_members(&mut out, members.iter().map(|(key, value)| (key, value)));
    assert_eq!(String::from_utf8(out).unwrap(), r#"{"a":{"z":1},"b":1}"#);
}

#[test]
fn hexadecimal() {
    assert_eq!(hex(&[0, 0x1f, 0xab]), "001fab");
}

proptest! {
    #[test]
    fn parts_have_one_encoding(a in proptest::collection::vec("[a-b]{0,3}", 0..4),
                               b in proptest::collection::vec("[a-b]{0,3}", 0..4)) {
        let parts = |list: &[String]| {
            let parts: Vec<&[u8]> = list.iter().map(String::as_bytes).collect();
            digest_parts(&parts)
        };
        prop_assert_eq!(parts(&a) == parts(&b), a == b);
    }
}
