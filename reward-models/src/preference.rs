//! Pairs that are asked in both orders, so that the order decides nothing.

use crate::template::View;

/// Two texts: each of the completions comes first in one.
pub(crate) fn both_orders(view: &View, one: &str, two: &str) -> [View; 2] {
    let pair = |first: &str, second: &str| View {
        pair: Some((first.to_owned(), second.to_owned())),
        ..view.clone()
    };
    [pair(one, two), pair(two, one)]
}

/// The preference for the first, of what was said in each order.
pub(crate) fn symmetric(one: f64, two: f64) -> f64 {
    f64::midpoint(one, 1.0 - two)
}
