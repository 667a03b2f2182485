//! Conditions: `when` decides whether a verifier applies to a sample, given earlier verdicts.

use assay_verifiers::{Cancellation, Fault, Sample, Verdict};

use super::combine::WHEN_IS_FALSE;
use super::plan::{Plan, Planned};
use super::when::{RowConditions, RowView};

/// Whether a reward judges a sample.
#[derive(Clone, Debug, PartialEq)]
pub enum Applicability {
    /// It does.
    Runs,
    /// A gate did not pass: the index of its reward.
    BehindGate(usize),
    /// Its `when` is false.
    NotApplicable,
    /// Its `when` gives neither true nor false.
    Undecided(Fault),
}

impl Plan {
    /// The verdict on a row where reward `at` is not to run: behind a gate that did not pass, or where
    /// its `when` is false. Its `when` has until `limit`.
    #[expect(clippy::indexing_slicing, reason = "a gate is a reward of the plan")]
    pub(super) fn ruled_out(
        &self,
        at: usize,
        reward: &Planned,
        row: RowView<'_>,
        conditions: &mut RowConditions,
        limit: &dyn Cancellation,
    ) -> Option<Verdict> {
        match self.decided(at, reward, row, conditions, Some(limit)) {
            Applicability::Runs => None,
            Applicability::BehindGate(gate) => {
                let name = &self.names[gate];
                Some(Verdict::abstained(format!("gate \"{name}\" did not pass")))
            }
            Applicability::NotApplicable => Some(Verdict::abstained(WHEN_IS_FALSE)),
            Applicability::Undecided(fault) => Some(Verdict::failed(fault)),
        }
    }

    /// Whether reward `at` judges `sample`, given the verdicts of earlier stages along the rewards, as
    /// they were judged.
    pub fn applicability(
        &self,
        at: usize,
        reward: &Planned,
        sample: &Sample,
        verdicts: &[Option<Verdict>],
        step: u64,
    ) -> Applicability {
        let row = RowView { names: &self.names, sample, verdicts, step };
        self.decided(at, reward, row, &mut RowConditions::default(), None)
    }

    fn decided(
        &self,
        at: usize,
        reward: &Planned,
        row: RowView<'_>,
        conditions: &mut RowConditions,
        limit: Option<&dyn Cancellation>,
    ) -> Applicability {
        if !self.gates.is_empty() && !self.gates.contains(&at) {
            for gate in &self.gates {
                let verdict = row.verdicts.get(*gate).and_then(Option::as_ref);
                if verdict.is_some_and(|verdict| !self.combiner.passes(verdict)) {
                    return Applicability::BehindGate(*gate);
                }
            }
        }
        let Some(when) = &reward.when else { return Applicability::Runs };
        match conditions.holds(when, row, limit) {
            Ok(true) => Applicability::Runs,
            Ok(false) => Applicability::NotApplicable,
            Err(fault) => Applicability::Undecided(fault),
        }
    }
}
