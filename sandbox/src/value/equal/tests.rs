//! Values that are equal as Python has it, and values that are not.

use proptest::prelude::*;
use serde_json::json;

use super::super::from_json;
use super::*;

fn equal(one: &PyValue, other: &PyValue) -> bool {
    Equality::Python.holds(one, other)
}

fn int(value: i64) -> PyValue {
    PyValue::Int(value.into())
}

fn str(text: &str) -> PyValue {
    PyValue::Str(text.into())
}

#[test]
fn numbers_are_equal_across_their_types() {
    assert!(equal(&int(2), &PyValue::Float(2.0)));
    assert!(equal(&int(1), &PyValue::Bool(true)));
    assert!(equal(&PyValue::Float(0.0), &PyValue::Float(-0.0)));
    assert!(equal(&int(0), &PyValue::Complex(-0.0, 0.0)));
    assert!(!equal(&int(2), &PyValue::Float(2.5)));
    assert!(!equal(&int(1), &str("1")));
    assert!(!equal(&int((1 << 53) + 1), &PyValue::Float(9_007_199_254_740_992.0)));
    assert!(equal(&PyValue::Int(BigInt::from(10).pow(22)), &PyValue::Float(1e22)));
    assert!(!equal(&PyValue::Int(BigInt::from(10).pow(23)), &PyValue::Float(1e23)));
}

#[test]
fn what_is_not_a_number_equals_nothing_in_json() {
    let nan = PyValue::Float(f64::NAN);
    for value in [
        nan.clone(),
        PyValue::List(vec![nan.clone()]),
        PyValue::Set(vec![nan.clone()]),
        PyValue::Set(vec![PyValue::Tuple(vec![nan])]),
    ] {
        assert!(!equal_json(&value, &value, None), "{value}");
        assert!(!equal_json(&value, &value, Some(1.0)), "{value}");
        assert!(equal(&value, &value), "{value}");
    }
}

#[test]
fn a_tuple_equals_a_list_of_json_alone() {
    let tuple = PyValue::Tuple(vec![int(1), int(2)]);
    let list = from_json(&json!([1, 2]));
    assert!(!equal(&tuple, &list));
    assert!(equal_json(&tuple, &list, None));
    assert!(!equal_json(&PyValue::Set(vec![int(1), int(2)]), &list, None));
}

#[test]
fn order_counts_in_lists_alone() {
    let one = PyValue::Dict(vec![(int(1), str("a")), (str("k"), int(2))]);
    let other =
        PyValue::Dict(vec![(str("k"), PyValue::Float(2.0)), (PyValue::Bool(true), str("a"))]);
    assert!(equal(&one, &other));
    let set = PyValue::Set(vec![int(1), int(2)]);
    assert!(equal(&set, &PyValue::FrozenSet(vec![int(2), PyValue::Float(1.0)])));
    assert!(!equal(&PyValue::List(vec![int(1), int(2)]), &PyValue::List(vec![int(2), int(1)])));
}

proptest! {
    #[test]
    fn a_float_equals_its_own_integer(value in any::<i64>()) {
        #[expect(clippy::cast_precision_loss, reason = "the loss is what is looked at")]
        let float = value as f64;
        // Every i64 within 2^53 is a float of its own.
        if value.unsigned_abs() <= 1 << 53 {
            prop_assert!(equal(&int(value), &PyValue::Float(float)));
        }
    }
}
