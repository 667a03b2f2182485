//! `conditional_length`: of the best samples of a prompt the shorter ones earn a bonus.

use crate::shape::group;
use crate::shape::length::CompletionLength;
use crate::shape::prelude::*;
use crate::stats;

/// `r + weight / (1 + exp((L - L_ref) / temperature))` for a sample whose reward reaches the `quantile`
/// of its group; else `r`. `L_ref` is the median length of those that do.
///
/// Only what is good enough is paid for being short, so that short and bad gains nothing. Between `r`
/// and `r + weight` comes out. Source: the conditional length reward of "Baichuan-M2: Scaling Medical
/// Capability with Large Verifier System"; the form of the bonus and its weight are ours.
#[derive(Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ConditionalLength {
    /// The share of the group that a sample must reach, between neighbours by linear interpolation.
    #[serde(default = "quantile")]
    quantile: f64,
    /// The greatest bonus.
    #[serde(default = "tenth")]
    weight: f64,
    /// Over how many units of length the bonus fades.
    temperature: f64,
    #[serde(flatten)]
    length: CompletionLength,
}

impl Shape for ConditionalLength {
    const KIND: &'static str = "conditional_length";

    fn load(&mut self, files: &dyn Files) -> Result<(), BuildError> {
        unit("quantile", self.quantile)?;
        at_least("weight", self.weight, 0.0)?;
        positive("temperature", self.temperature)?;
        self.length.load(files)
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
        let rewards = group::known(&group::rewards(members));
        let least = stats::quantile(&rewards, self.quantile).unwrap_or(f64::INFINITY);
        let mut lengths = Vec::new();
        for member in members {
            let is_eligible = member.reward().is_some_and(|reward| reward >= least);
            let measured = || group::of_member(self.length.of(member.sample, meter));
            lengths.push(is_eligible.then(measured).transpose()?);
        }
        let known: Vec<f64> = lengths.iter().flatten().filter_map(|it| it.clone().ok()).collect();
        let middle = stats::quantile(&known, 0.5).unwrap_or_default();
        Ok(group::each(members, |at, _, reward| match lengths.get(at) {
            Some(Some(Ok(length))) => {
                let bonus = self.weight / (1.0 + ((length - middle) / self.temperature).exp());
                Shaped::new(reward + bonus).with("length", *length).with("bonus", bonus)
            }
            Some(Some(Err(why))) => Shaped::failed(why),
            _ => Shaped::new(reward),
        }))
    }
}

fn quantile() -> f64 {
    0.8
}

fn tenth() -> f64 {
    0.1
}
