//! Answers whose items may come in any order.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::PyValue;
use super::equal::{Normal, joined};

/// How the items of a list that is returned may be ordered.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum AnswerOrder {
    /// As they are expected.
    #[default]
    Exact,
    /// In any order, each as often as expected.
    AnyOrder,
    /// In any order, and so are those of the lists within.
    AnyOrderDeep,
}

impl AnswerOrder {
    /// The order that a row names.
    pub(crate) fn named(name: &str) -> Option<Self> {
        [
            ("exact", Self::Exact),
            ("any_order", Self::AnyOrder),
            ("any_order_deep", Self::AnyOrderDeep),
        ]
        .into_iter()
        .find_map(|(known, order)| (known == name).then_some(order))
    }

    /// The value with its items in the order of their values, where any order is right: values that
    /// hold the same items become equal.
    #[must_use]
    pub fn settled(self, value: &PyValue) -> PyValue {
        match self {
            Self::Exact => value.clone(),
            Self::AnyOrder => sorted(value, true, false).1,
            Self::AnyOrderDeep => sorted(value, true, true).1,
        }
    }
}

/// By what values are sorted: numbers by their size, whatever their type; tuples are lists.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
enum Key {
    Number(u64, Normal),
    List(Vec<Key>),
    Other(Normal),
}

fn sorted(value: &PyValue, here: bool, below: bool) -> (Key, PyValue) {
    match value {
        PyValue::List(items) | PyValue::Tuple(items) => {
            let mut items: Vec<_> = items.iter().map(|item| sorted(item, below, below)).collect();
            if here {
                items.sort_by(|(one, _), (other, _)| one.cmp(other));
            }
            let (keys, items) = items.into_iter().unzip();
            (Key::List(keys), PyValue::List(items))
        }
        PyValue::Bool(is_one) => (number(f64::from(u8::from(*is_one)), value), value.clone()),
        _ => {
            let key = value.to_float().map(|size| number(size, value));
            (key.unwrap_or_else(|| Key::Other(joined(value))), value.clone())
        }
    }
}

/// The key of a number: bits that are ordered as floats are.
fn number(size: f64, value: &PyValue) -> Key {
    let bits = (size + 0.0).to_bits();
    let flipped = if size.is_sign_negative() && size != 0.0 { !bits } else { bits | 1 << 63 };
    Key::Number(flipped, joined(value))
}

#[cfg(test)]
mod tests {
    use super::super::{equal_json, from_json};
    use super::*;
    use serde_json::json;

    #[test]
    fn items_in_any_order_are_equal() {
        use AnswerOrder::{AnyOrder, AnyOrderDeep, Exact};
        let cases = [
            (json!([1, 2]), json!([2, 1]), [false, true, true]),
            (json!([1, 1, 2]), json!([1, 2, 2]), [false, false, false]),
            (json!([[1, 2], [3]]), json!([[3], [1, 2]]), [false, true, true]),
            (json!([[1, 2], [3]]), json!([[3], [2, 1]]), [false, false, true]),
            (json!([-1.5, 2, -3]), json!([2.0, -3, -1.5]), [false, true, true]),
            (json!([0.1, 2]), json!([2.000_001, 0.1]), [false, true, true]),
            (json!([true, "a", null]), json!([null, 1, "a"]), [false, true, true]),
            (json!([]), json!([[]]), [false, false, false]),
            (json!("ab"), json!("ba"), [false, false, false]),
        ];
        for (one, other, wanted) in cases {
            for (order, wanted) in [Exact, AnyOrder, AnyOrderDeep].into_iter().zip(wanted) {
                let [one, other] = [&one, &other].map(|value| order.settled(&from_json(value)));
                assert_eq!(equal_json(&one, &other, Some(1e-5)), wanted, "{one} {other} {order:?}");
            }
        }
    }
}
