//! `contrast_stretch`: scores that are nearly alike within a group are drawn apart.

use crate::deviation::{EPS, Std};
use crate::shape::group;
use crate::shape::member::other;
use crate::shape::prelude::*;

/// `c' = tau (c - min) / (max - min + eps)` where the rewards `c` of the group have collapsed, their
/// range below `collapse_range` or their standard deviation below `collapse_std`; else `c' = c`.
///
/// Nothing is stretched where all completions are the same text, or the range is below `least_range`:
/// that would be noise. With `text`, another reward `q`, the result is `share q + (1 - share) c'`. For
/// rewards in 0 to 1 between 0 and 1 comes out. Source: the adaptive semantic reward of
/// "Breaking Reward Collapse: Adaptive Reinforcement for Open-ended Medical Reasoning with Enhanced
/// Semantic Discrimination" (`ARMed`), reconstructed from its abstract.
#[derive(Debug, Deserialize, Serialize, JsonSchema, SmartDefault)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct ContrastStretch {
    /// The range below which the rewards have collapsed.
    #[default(0.1)]
    collapse_range: f64,
    /// The standard deviation below which they have.
    #[default(0.03)]
    collapse_std: f64,
    /// The range below which they are the same.
    #[default(1e-3)]
    least_range: f64,
    /// What the best of a stretched group earns.
    #[default(1.0)]
    tau: f64,
    /// What is added to the range that divides.
    #[default(EPS)]
    eps: f64,
    /// The reward of the text, such as its overlap with the reference.
    text: Option<String>,
    /// The weight of that reward.
    #[default(0.5)]
    share: f64,
}

impl Shape for ContrastStretch {
    const KIND: &'static str = "contrast_stretch";

    fn load(&mut self, _: &dyn Files) -> Result<(), BuildError> {
        unit("tau", self.tau)?;
        unit("share", self.share)?;
        at_least("eps", self.eps, 0.0)?;
        positive("least_range", self.least_range)
    }

    fn reads(&self) -> Vec<&str> {
        self.text.as_deref().into_iter().collect()
    }

    fn is_group(&self) -> bool {
        true
    }

    fn shape(
        &self,
        members: &[ShapeMember<'_>],
        _: &TrainingState,
        meter: &mut Meter<'_>,
    ) -> Result<Vec<Shaped>, Fault> {
        for member in members {
            meter.spend(1 + member.sample.completion().len() as u64 / 8)?;
        }
        let stretch = self.stretch(members);
        Ok(group::each(members, |_, member, reward| {
            let own = stretch.map_or(reward, |(low, width)| self.tau * (reward - low) / width);
            let text = self.text.as_deref().map(|name| other(member, name));
            let shaped = match text {
                None => Shaped::new(own),
                Some(Ok(Ok((_, text)))) => {
                    Shaped::new(self.share * text + (1.0 - self.share) * own)
                }
                Some(Ok(Err(why))) => Shaped::skipped(own, why),
                Some(Err(fault)) => Shaped::failed(fault.to_string()),
            };
            shaped.with("stretched", stretch.is_some())
        }))
    }
}

impl ContrastStretch {
    /// The least reward and the width of a group that is stretched.
    fn stretch(&self, members: &[ShapeMember<'_>]) -> Option<(f64, f64)> {
        let rewards = group::rewards(members);
        let (low, high) = group::range(&rewards)?;
        let scored = || members.iter().filter(|member| member.reward().is_some());
        let first = scored().next()?.sample.completion();
        let differ = scored().any(|member| member.sample.completion() != first);
        let spread = high - low;
        let collapsed =
            spread < self.collapse_range || group::moments(&rewards).std(Std::default()) < self.collapse_std;
        (collapsed && differ && spread >= self.least_range).then_some((low, spread + self.eps))
    }
}
