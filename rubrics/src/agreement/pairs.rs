//! Agreement on pairs that were judged in both orders.

use assay_verifiers::stats::{float, ratio};
use serde::{Deserialize, Serialize};

use crate::reply::pair::Winner;

/// A pair with the verdict of people, and those of a judge in both orders.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct JudgedPair {
    /// Which output people prefer.
    pub label: Winner,
    /// The verdict with the first output shown first. `None`: the judge abstained.
    pub shown: Option<Winner>,
    /// The verdict with the second output shown first, counted as shown: `First` prefers the second
    /// output. `None`: the judge abstained, or was not asked.
    pub swapped: Option<Winner>,
}

/// How far a judge of pairs agrees with people and with itself.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct PairAgreement {
    /// The pairs.
    pub cases: usize,
    /// The share of all pairs whose verdict in the first order is that of people; one without a
    /// verdict is not. 0 to 1.
    pub accuracy: Option<f64>,
    /// The share of all pairs that are right in both orders. 0 to 1.
    pub both_order_accuracy: Option<f64>,
    /// Pairs with a verdict in both orders.
    pub in_both_orders: usize,
    /// The share of these whose verdict changes with the order. 0 to 1.
    pub flip_rate: Option<f64>,
    /// The share of all judgements, two a pair, without a verdict. 0 to 1.
    pub abstention_rate: Option<f64>,
}

/// The agreement over pairs; each with two judgements.
pub fn pair_agreement(pairs: &[JudgedPair]) -> PairAgreement {
    let count =
        |test: &dyn Fn(&JudgedPair) -> bool| float(pairs.iter().filter(|pair| test(pair)).count());
    let all = float(pairs.len());
    let unswapped = |pair: &JudgedPair| pair.swapped.map(Winner::swapped);
    let is_right = |pair: &JudgedPair| pair.shown == Some(pair.label);
    let right = count(&is_right);
    let right_in_both = count(&|pair| is_right(pair) && unswapped(pair) == Some(pair.label));
    let has_both = |pair: &JudgedPair| pair.shown.is_some() && pair.swapped.is_some();
    let in_both_orders = pairs.iter().filter(|pair| has_both(pair)).count();
    let flips = count(&|pair| has_both(pair) && pair.shown != unswapped(pair));
    let abstained = count(&|pair| pair.shown.is_none()) + count(&|pair| pair.swapped.is_none());
    PairAgreement {
        cases: pairs.len(),
        accuracy: ratio(right, all),
        both_order_accuracy: ratio(right_in_both, all),
        in_both_orders,
        flip_rate: ratio(flips, float(in_both_orders)),
        abstention_rate: ratio(abstained, 2.0 * all),
    }
}
