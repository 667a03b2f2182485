//! Conditions: `when` decides whether a verifier applies to a sample, given earlier verdicts.

use assay_verifiers::script::{Script, push_sample, push_verdicts, reads_verdicts, shared_engine};
use assay_verifiers::{Earlier, Fault, FaultKind, Meter, Sample, Verdict};
use rhai::Scope;

use super::combine::{WHEN_IS_FALSE, push_step};
use super::plan::{Plan, Planned};

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
        if !self.gates.is_empty() && !self.gates.contains(&at) {
            for gate in &self.gates {
                let verdict = verdicts.get(*gate).and_then(Option::as_ref);
                if verdict.is_some_and(|verdict| !self.combiner.passes(verdict)) {
                    let name = self.names.get(*gate).map_or("", String::as_str);
                    return Some(Verdict::abstained(format!("gate \"{name}\" did not pass")));
                }
            }
        }
        match self.holds(reward.when.as_ref()?, sample, verdicts, step) {
            Ok(true) => None,
            Ok(false) => Some(Verdict::abstained(WHEN_IS_FALSE)),
            Err(fault) => Some(Verdict::failed(fault)),
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
