//! Runs of n tokens, counted.

use std::collections::BTreeMap;

/// How often each run of `n` tokens is there.
pub(super) fn counts<T: Ord>(tokens: &[T], n: usize) -> BTreeMap<&[T], usize> {
    let mut counts = BTreeMap::new();
    for run in tokens.windows(n.max(1)) {
        *counts.entry(run).or_insert(0) += 1;
    }
    counts
}

/// How many runs of `n` tokens both have.
pub(super) fn shared<T: Ord>(a: &[T], b: &[T], n: usize) -> usize {
    let others = counts(b, n);
    let both = |(run, count): (&[T], usize)| count.min(others.get(run).copied().unwrap_or(0));
    counts(a, n).into_iter().map(both).sum()
}

/// How many runs of `n` tokens there are.
pub(super) fn runs<T>(tokens: &[T], n: usize) -> usize {
    (tokens.len() + 1).saturating_sub(n)
}
