//! Pairs that do not depend on results.

use assay_verifiers::stats::SplitMix64;

/// Each with each, the lower place first.
pub(super) fn all_pairs(samples: usize) -> Vec<(usize, usize)> {
    (0..samples).flat_map(|first| (first + 1..samples).map(move |second| (first, second))).collect()
}

/// Each with the one at `place`, which is second; none where there is no such place.
pub(super) fn pivot(samples: usize, place: usize) -> Vec<(usize, usize)> {
    let others = (0..samples).filter(|&other| other != place && place < samples);
    others.map(|other| (other, place)).collect()
}

/// Each with at least `opponents` others: neighbours on a circle in a random order, and for an odd
/// number the one across. Where `samples * opponents` is odd, one sample meets one more.
pub(super) fn sampled(samples: usize, opponents: usize, seed: u64) -> Vec<(usize, usize)> {
    if opponents >= samples.saturating_sub(1) {
        return all_pairs(samples);
    }
    let order = SplitMix64::new(seed).order(samples, SplitMix64::below);
    let near = (1..=opponents / 2).flat_map(|step| (0..samples).map(move |at| (at, step)));
    let across = if opponents % 2 == 1 { samples.div_ceil(2) } else { 0 };
    let circle = near.chain((0..across).map(|at| (at, samples / 2)));
    circle
        .filter_map(|(at, step)| Some((*order.get(at)?, *order.get((at + step) % samples)?)))
        .collect()
}
