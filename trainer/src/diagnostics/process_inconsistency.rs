//! Judges whose verdict is right and whose critique is not.

use assay_verifiers::stats::share;
use serde::Serialize;

/// Verdicts that are right for a wrong reason.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct ProcessInconsistency {
    /// Verdicts that are right and whose critique was compared.
    pub right: usize,
    /// Those of them whose critique is unlike that of people.
    pub inconsistent: usize,
    /// Their share.
    pub share: Option<f64>,
    /// How often a guess is right: 1 over the number of options.
    pub chance: Option<f64>,
}

/// The share of right verdicts whose critique is wrong: whose similarity to that of people is below
/// `similar_from`. A similarity that is NaN was not measured.
///
/// Source: "RM-NLHF" on the consistency of outcome and process of generative reward models.
pub fn process_inconsistency(
    right: &[bool],
    similarity: &[f64],
    similar_from: f64,
    options: usize,
) -> ProcessInconsistency {
    let rows = right.iter().zip(similarity);
    let compared: Vec<f64> = rows
        .filter(|(right, similarity)| **right && similarity.is_finite())
        .map(|(_, similarity)| *similarity)
        .collect();
    let inconsistent = compared.iter().filter(|similarity| **similarity < similar_from).count();
    ProcessInconsistency {
        right: compared.len(),
        inconsistent,
        share: share(inconsistent, compared.len()),
        chance: share(1, options),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn right_for_a_wrong_reason() {
        let found =
            process_inconsistency(&[true, true, true, false], &[0.9, 0.1, f64::NAN, 0.0], 0.5, 2);
        assert_eq!((found.right, found.inconsistent), (2, 1));
        assert_eq!((found.share, found.chance), (Some(0.5), Some(0.5)));
    }
}
