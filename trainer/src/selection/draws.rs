//! Random draws that depend on a seed and on names alone: the order in which rollouts stand in a batch
//! does not change what is drawn, and the same draw comes out on every machine and in every version.
//!
//! A name is hashed with FNV-1a, and mixed with the finaliser of `SplitMix64` (Fast Splittable
//! Pseudorandom Number Generators, section 5).

use assay_verifiers::stats::{GOLDEN_GAMMA, fnv1a, mix64};

use crate::selection::state::SelectionState;
use crate::selection::stats::float;

/// The draws of one policy for one batch.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Draws {
    state: u64,
}

impl Draws {
    /// The draws for the batch that `state` counts, for one purpose.
    pub(crate) fn new(state: &SelectionState, purpose: &str) -> Self {
        let seeded = mix64(state.seed ^ GOLDEN_GAMMA);
        Self { state: mix64(fnv1a(mix64(seeded.wrapping_add(state.batches)), purpose)) }
    }

    /// A number above 0 and below 1 that belongs to a name.
    pub(crate) fn of(self, name: &str) -> f64 {
        unit(mix64(fnv1a(self.state, name)))
    }

    /// A number above 0 and below 1 that belongs to a count.
    pub(crate) fn nth(self, count: usize) -> f64 {
        unit(mix64(self.state.wrapping_add(count as u64)))
    }

    /// How often each of the named weights is drawn in `draws` draws with replacement, each time with
    /// a probability proportional to its weight. Nothing is drawn where no weight is positive.
    pub(crate) fn with_replacement(self, items: &[(&str, f64)], draws: usize) -> Vec<usize> {
        let mut counts = vec![0; items.len()];
        let mut order: Vec<usize> = (0..items.len()).collect();
        let name = |at: &usize| items.get(*at).map(|(name, _)| *name);
        order.sort_by(|left, right| name(left).cmp(&name(right)));
        let mut total = 0.0;
        let ends = order.iter().map(|at| {
            #[expect(clippy::indexing_slicing, reason = "the order is of the items")]
            let (_, weight) = items[*at];
            total += weight.max(0.0);
            total
        });
        let ends: Vec<f64> = ends.collect();
        let total = ends.last().copied().unwrap_or_default();
        for draw in (0..draws).filter(|_| total > 0.0) {
            let point = self.nth(draw) * total;
            let place = ends.partition_point(|end| *end <= point);
            if let Some(count) = order.get(place).and_then(|at| counts.get_mut(*at)) {
                *count += 1;
            }
        }
        counts
    }

    /// At most `draws` places among the named weights, drawn without replacement, each time with a
    /// probability proportional to the weight among those that are left. Weights that are not positive
    /// are never drawn (Weighted random sampling with a reservoir, algorithm A: the greatest keys
    /// `u^(1/w)`).
    pub(crate) fn without_replacement(self, items: &[(&str, f64)], draws: usize) -> Vec<usize> {
        let waiting = items.iter().enumerate().filter(|(_, (_, weight))| *weight > 0.0);
        let mut keys: Vec<(f64, &str, usize)> =
            waiting.map(|(at, (name, weight))| (-self.of(name).ln() / weight, *name, at)).collect();
        keys.sort_by(|left, right| left.0.total_cmp(&right.0).then(left.1.cmp(right.1)));
        keys.into_iter().take(draws).map(|(_, _, at)| at).collect()
    }
}

/// The upper 53 bits as a number above 0 and below 1.
fn unit(bits: u64) -> f64 {
    let upper = usize::try_from(bits >> 12).unwrap_or_default();
    (float(upper) + 0.5) / 2.0_f64.powi(52)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn draws_are_as_likely_as_their_weights() {
        let draws = Draws::new(&SelectionState::seeded(3), "test");
        let items = [("a", 1.0), ("b", 3.0), ("c", 0.0), ("d", -1.0)];
        let counts = draws.with_replacement(&items, 40_000);
        assert_eq!((counts[0] + counts[1], counts[2], counts[3]), (40_000, 0, 0));
        assert!((float(counts[1]) / 40_000.0 - 0.75).abs() < 0.01, "{counts:?}");
        let first = (0..8_000).filter(|seed| {
            let draws = Draws::new(&SelectionState::seeded(*seed), "test");
            draws.without_replacement(&items, 1) == [1]
        });
        let share = float(first.count()) / 8_000.0;
        assert!((share - 0.75).abs() < 0.02, "{share}");
        assert_eq!(draws.with_replacement(&[("a", 0.0)], 5), [0]);
        assert_eq!(draws.without_replacement(&items, 9).len(), 2);
    }

    #[test]
    fn the_order_of_names_does_not_matter() {
        let draws = Draws::new(&SelectionState::seeded(11), "test");
        let items = [("a", 1.0), ("b", 2.0), ("c", 3.0)];
        let turned = [("c", 3.0), ("a", 1.0), ("b", 2.0)];
        let counts = draws.with_replacement(&items, 50);
        let others = draws.with_replacement(&turned, 50);
        assert_eq!([counts[0], counts[1], counts[2]], [others[1], others[2], others[0]]);
        let names = |items: &[(&'static str, f64)], at: Vec<usize>| {
            at.into_iter().map(|at| items[at].0).collect::<Vec<_>>()
        };
        assert_eq!(
            names(&items, draws.without_replacement(&items, 2)),
            names(&turned, draws.without_replacement(&turned, 2))
        );
    }

    #[test]
    #[expect(clippy::float_cmp, reason = "a draw comes out the same to the last bit")]
    fn another_seed_batch_or_purpose_draws_anew() {
        let state = SelectionState::seeded(5);
        let of = |state: &SelectionState, purpose| Draws::new(state, purpose).of("a");
        let drawn = of(&state, "x");
        assert!(0.0 < drawn && drawn < 1.0);
        assert_eq!(drawn, of(&state, "x"));
        for other in [of(&state, "y"), of(&state.next(), "x"), of(&SelectionState::seeded(6), "x")]
        {
            assert_ne!(drawn, other);
        }
        assert!(unit(0) > 0.0 && unit(u64::MAX) < 1.0);
    }
}
