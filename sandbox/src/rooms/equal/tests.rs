//! Values that are equal as Python has it, and values that are not.

use proptest::prelude::*;
use serde_json::json;

use super::*;

fn equal(one: &Plain, other: &Plain) -> bool {
    plain_equal(one, other, Containers::Exact)
}

fn int(value: i64) -> Plain {
    Plain::Int(value.into())
}

fn str(text: &str) -> Plain {
    Plain::Str(text.into())
}

#[test]
fn numbers_are_equal_across_their_types() {
    assert!(equal(&int(2), &Plain::Float(2.0)));
    assert!(equal(&int(1), &Plain::Bool(true)));
    assert!(equal(&Plain::Float(0.0), &Plain::Float(-0.0)));
    assert!(equal(&int(0), &Plain::Complex(-0.0, 0.0)));
    assert!(!equal(&int(2), &Plain::Float(2.5)));
    assert!(!equal(&int(1), &str("1")));
    assert!(!equal(&int((1 << 53) + 1), &Plain::Float(9_007_199_254_740_992.0)));
    assert!(equal(&Plain::Int(BigInt::from(10).pow(22)), &Plain::Float(1e22)));
    assert!(!equal(&Plain::Int(BigInt::from(10).pow(23)), &Plain::Float(1e23)));
}

#[test]
fn what_is_not_a_number_equals_nothing() {
    let nan = Plain::Float(f64::NAN);
    assert!(!equal(&nan, &nan));
    assert!(!equal(&Plain::List(vec![nan.clone()]), &Plain::List(vec![nan.clone()])));
    assert!(!equal(&Plain::Set(vec![nan.clone()]), &Plain::Set(vec![nan])));
}

#[test]
fn a_tuple_equals_a_list_of_json_alone() {
    let tuple = Plain::Tuple(vec![int(1), int(2)]);
    let list = from_json(&json!([1, 2]));
    assert!(!equal(&tuple, &list));
    assert!(plain_equal(&tuple, &list, Containers::Json));
    assert!(!plain_equal(&Plain::Set(vec![int(1), int(2)]), &list, Containers::Json));
}

#[test]
fn order_counts_in_lists_alone() {
    let one = Plain::Dict(vec![(int(1), str("a")), (str("k"), int(2))]);
    let other = Plain::Dict(vec![(str("k"), Plain::Float(2.0)), (Plain::Bool(true), str("a"))]);
    assert!(equal(&one, &other));
    let set = Plain::Set(vec![int(1), int(2)]);
    assert!(equal(&set, &Plain::FrozenSet(vec![int(2), Plain::Float(1.0)])));
    assert!(!equal(&Plain::List(vec![int(1), int(2)]), &Plain::List(vec![int(2), int(1)])));
}

proptest! {
    #[test]
    fn a_float_equals_its_own_integer(value in any::<i64>()) {
        #[expect(clippy::cast_precision_loss, reason = "the loss is what is looked at")]
        let float = value as f64;
        // Every i64 within 2^53 is a float of its own.
        if value.unsigned_abs() <= 1 << 53 {
            prop_assert!(equal(&int(value), &Plain::Float(float)));
        }
    }
}
