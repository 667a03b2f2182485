//! What was paid within groups: being right, being long, a part of the reward, a phrase.

use assay_verifiers::stats::float;
use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::moments::PayMoments;
use super::paid_groups::PaidGroup;
use super::phrases::{FollowedPhrase, follow};
use crate::config::MonitorConfig;
use crate::reports::StepReport;

/// What was paid within the groups of the last steps; older steps fade.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct PaidFeatures {
    /// Groups in which some rollouts are more right than others.
    pub(super) right: PayMoments,
    /// The sum of the variances of the advantages, over groups that have any, and how many these are.
    spread: (f64, f64),
    /// Being longer, in groups whose rollouts differ in length and rightness.
    pub(super) longer: PayMoments,
    /// Being longer, in groups of which nothing says what is right.
    pub(super) longer_unjudged: PayMoments,
    /// Having more of a part, by its name.
    pub(super) parts: BTreeMap<String, PayMoments>,
    /// Having a phrase.
    pub(super) phrases: BTreeMap<String, FollowedPhrase>,
}

impl PaidFeatures {
    /// Adds a step.
    pub(super) fn add(&mut self, report: &StepReport, config: &MonitorConfig) {
        self.fade((-std::f64::consts::LN_2 / config.half_life).exp());
        let groups = PaidGroup::of(report);
        for spread in groups.iter().filter_map(PaidGroup::spread) {
            self.spread.0 += spread;
            self.spread.1 += 1.0;
        }
        let mixed: Vec<&PaidGroup> = groups.iter().filter(|group| group.is_mixed()).collect();
        for group in &mixed {
            self.right.add(group.moments_of_right());
            add_range(&mut self.longer, group, report, |own| Some(float(own.tokens)));
            for (at, name) in report.parts.iter().enumerate() {
                let part = self.parts.entry(name.clone()).or_default();
                add_range(part, group, report, |own| own.parts.get(at).copied().flatten());
            }
        }
        for group in groups.iter().filter(|group| !group.is_judged()) {
            add_range(&mut self.longer_unjudged, group, report, |own| Some(float(own.tokens)));
        }
        follow(&mut self.phrases, report, &mixed, config);
    }

    /// The root mean square of the advantages within groups that have different ones; `None` of none.
    pub(super) fn advantage_scale(&self) -> Option<f64> {
        let scale = (self.spread.0 / self.spread.1).sqrt();
        (scale.is_finite() && scale > 0.0).then_some(scale)
    }

    fn fade(&mut self, factor: f64) {
        self.spread = (self.spread.0 * factor, self.spread.1 * factor);
        for moments in [&mut self.right, &mut self.longer, &mut self.longer_unjudged] {
            moments.fade(factor);
        }
        self.parts.values_mut().for_each(|part| part.fade(factor));
        self.phrases.values_mut().for_each(|phrase| phrase.moments.fade(factor));
    }
}

fn add_range(
    moments: &mut PayMoments,
    group: &PaidGroup,
    report: &StepReport,
    number: impl Fn(&crate::reports::RolloutReport) -> Option<f64>,
) {
    if let Some(own) = group.moments_in_range(report, number) {
        moments.add(own);
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{repeated, rollout};
    use super::*;

    #[test]
    fn steps_add_up_and_fade() {
        let config = MonitorConfig { half_life: 1.0, ..MonitorConfig::default() };
        let group = [rollout(0, 1.0, 1.0).tokens(2), rollout(0, -1.0, 0.0).tokens(3)];
        let mut paid = PaidFeatures::default();
        paid.add(&repeated(1, 4, &group), &config);
        assert!((paid.right.right_pays().unwrap().value - 2.0).abs() < 1e-12);
        assert_eq!((paid.right.weight(), paid.advantage_scale()), (4.0, Some(1.0)));
        assert!((paid.longer.feature_pays().unwrap().value + 2.0).abs() < 1e-12);
        assert!((paid.longer.feature_is_right().unwrap().value + 1.0).abs() < 1e-12);
        paid.add(&repeated(2, 0, &group), &config);
        assert!((paid.right.weight() - 2.0).abs() < 1e-12);
    }

    #[test]
    fn groups_without_rightness_are_counted_apart() {
        let group = [
            rollout(0, 1.0, 0.0).correct(None).tokens(9),
            rollout(0, -1.0, 0.0).correct(None).tokens(3),
        ];
        let mut paid = PaidFeatures::default();
        paid.add(&repeated(1, 4, &group), &MonitorConfig::default());
        assert_eq!((paid.right.weight(), paid.longer.weight()), (0.0, 0.0));
        assert!((paid.longer_unjudged.feature_pays().unwrap().value - 2.0).abs() < 1e-12);
    }
}
