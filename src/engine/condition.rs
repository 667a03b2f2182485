//! `when`: whether a verifier applies to a sample, seen what earlier ones found.

use assay_verifiers::script::{Program, push_sample, shared_engine, to_dynamic};
use assay_verifiers::{Fault, FaultKind, Meter, Outcome, Sample, Verdict};
use rhai::{Dynamic, Map, Scope};

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
        match self.holds(reward.when.as_ref()?, sample, verdicts) {
            Ok(true) => None,
            Ok(false) => Some(Verdict::abstained("`when` is false")),
            Err(fault) => Some(Verdict::failed(fault)),
        }
    }

    fn holds(
        &self,
        when: &Program,
        sample: &Sample,
        verdicts: &[Option<Verdict>],
    ) -> Result<bool, Fault> {
        let mut scope = Scope::new();
        push_sample(&mut scope, when, sample);
        if when.mentions("rewards") || when.mentions("verdicts") {
            let (rewards, all) = self.views(verdicts);
            scope.push_constant("rewards", rewards);
            scope.push_constant("verdicts", all);
        }
        let value = when.run(&shared_engine(), &mut scope, &mut Meter::default())?;
        value.as_bool().map_err(|found| {
            Fault::new(FaultKind::Trap, format!("`when` gave {found}, expected true or false"))
        })
    }

    /// What scripts see of verdicts: `rewards.NAME` (a number or `()`), and `verdicts.NAME` with
    /// `outcome`, `reward` and `evidence`.
    fn views(&self, verdicts: &[Option<Verdict>]) -> (Map, Map) {
        let mut rewards = Map::new();
        let mut all = Map::new();
        for (name, verdict) in self.names.iter().zip(verdicts) {
            let Some(verdict) = verdict else { continue };
            let reward = match &verdict.outcome {
                Outcome::Scored(reward) => Dynamic::from(reward.get()),
                _ => Dynamic::UNIT,
            };
            let evidence: Map = verdict
                .evidence
                .iter()
                .map(|(key, value)| (key.into(), to_dynamic(value)))
                .collect();
            let mut view = Map::new();
            view.insert("outcome".into(), Dynamic::from(verdict.outcome.name()));
            view.insert("reward".into(), reward.clone());
            view.insert("evidence".into(), Dynamic::from(evidence));
            rewards.insert(name.as_str().into(), reward);
            all.insert(name.as_str().into(), Dynamic::from(view));
        }
        (rewards, all)
    }
}
