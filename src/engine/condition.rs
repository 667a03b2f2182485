//! Conditions: `when` decides whether a verifier applies to a sample, given earlier verdicts.

use assay_verifiers::script::{Script, push_sample, push_verdicts, reads_verdicts, shared_engine};
use assay_verifiers::{Earlier, Fault, FaultKind, Meter, Sample, Verdict};
use rhai::Scope;

use super::combine::{WHEN_IS_FALSE, push_step};
use super::plan::{Plan, Planned};

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
    /// The verdict on `sample` where reward `at` is not to run: behind a gate that did not pass, or
    /// where its `when` is false. `verdicts` holds those of earlier stages.
    pub(super) fn ruled_out(
        &self,
        at: usize,
        reward: &Planned,
        sample: &Sample,
        verdicts: &[Option<Verdict>],
        step: u64,
    ) -> Option<Verdict> {
        match self.applicability(at, reward, sample, verdicts, step) {
            Applicability::Runs => None,
            Applicability::BehindGate(gate) => {
                let name = self.names.get(gate).map_or("", String::as_str);
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
        if !self.gates.is_empty() && !self.gates.contains(&at) {
            for gate in &self.gates {
                let verdict = verdicts.get(*gate).and_then(Option::as_ref);
                if verdict.is_some_and(|verdict| !self.combiner.passes(verdict)) {
                    return Applicability::BehindGate(*gate);
                }
            }
        }
        let Some(when) = &reward.when else { return Applicability::Runs };
        match self.holds(when, sample, verdicts, step) {
            Ok(true) => Applicability::Runs,
            Ok(false) => Applicability::NotApplicable,
            Err(fault) => Applicability::Undecided(fault),
        }
    }

    fn holds(
        &self,
        when: &Script,
        sample: &Sample,
        verdicts: &[Option<Verdict>],
        step: u64,
    ) -> Result<bool, Fault> {
        let mut scope = Scope::new();
        push_sample(&mut scope, when, sample);
        if reads_verdicts(when) {
            push_verdicts(&mut scope, Earlier::new(&self.names, verdicts).iter());
        }
        push_step(&mut scope, step);
        let value = when.run(&shared_engine(), &mut scope, &mut Meter::default())?;
        value.as_bool().map_err(|found| {
            Fault::new(FaultKind::Trap, format!("`when` gave {found}, expected true or false"))
        })
    }
}
