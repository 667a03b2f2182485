//! How far our numbers are from those of TRL.

use std::collections::BTreeMap;

use assay_trainer::policy::Parameters;

use super::recorded::RecordedTraining;

/// What may differ, and by how much: relatively for norms, rates and weights, absolutely for the rest.
/// Between single and double precision TRL differs from itself by less than a fifth of it.
pub(crate) const TOLERANCES: [(&str, f64); 8] = [
    ("advantage", 1e-5),
    ("loss", 2e-6),
    ("gradient norm", 5e-5),
    ("learning rate", 1e-8),
    ("entropy", 1e-5),
    ("kl", 1e-5),
    ("clipped", 1e-6),
    ("weights", 2e-4),
];

/// The greatest differences from TRL so far.
#[derive(Default)]
pub(crate) struct Differences(BTreeMap<&'static str, f64>);

impl Differences {
    /// One more.
    pub(crate) fn add(&mut self, what: &'static str, difference: f64) {
        assert!(difference.is_finite(), "{what}");
        let most = self.0.entry(what).or_default();
        *most = most.max(difference.abs());
    }

    /// The greatest of a kind; 0 where there is none.
    pub(crate) fn most(&self, what: &str) -> f64 {
        self.0.get(what).copied().unwrap_or_default()
    }

    /// Those of the weights after the last update, tensor by tensor.
    pub(crate) fn add_weights(
        &mut self,
        recorded: &RecordedTraining,
        before: &Parameters,
        after: &Parameters,
    ) {
        assert_eq!(after.tensors().len(), recorded.weights.len());
        for tensor in after.tensors() {
            let theirs = &recorded.weights[&tensor.name];
            assert_eq!(tensor.decays, theirs.decays, "{}", tensor.name);
            let of = |parameters: &Parameters| -> Vec<f64> {
                parameters.values()[tensor.range.clone()].iter().copied().map(f64::from).collect()
            };
            let weights = of(after);
            let moved: Vec<f64> = weights.iter().zip(of(before)).map(|(a, b)| a - b).collect();
            let cosines = (0_u32..).map(|at| f64::from(at).cos());
            let against: f64 =
                moved.iter().zip(cosines).map(|(moved, cosine)| moved * cosine).sum();
            self.add("weights", (norm(&weights) - theirs.norm) / theirs.moved);
            self.add("weights", (norm(&moved) - theirs.moved) / theirs.moved);
            self.add("weights", (against - theirs.against_cosines) / theirs.moved);
        }
    }

    /// Stops where something differs by more than it may.
    pub(crate) fn assert_small(&self, name: &str) {
        for (what, most) in &self.0 {
            println!("{name}: {what} differs by {most:.1e}");
        }
        assert!(self.0.contains_key("loss") && self.0.contains_key("weights"));
        for (what, tolerance) in TOLERANCES {
            assert!(self.most(what) < tolerance, "{name}: {what} differs by {:e}", self.most(what));
        }
    }
}

fn norm(values: &[f64]) -> f64 {
    values.iter().map(|value| value * value).sum::<f64>().sqrt()
}
