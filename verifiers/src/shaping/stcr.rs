//! `stcr`: wrong samples that are longer than the right ones of their prompt lose more.

use crate::shape::group;
use crate::shape::length::CompletionLength;
use crate::shape::prelude::*;
use crate::shape::settings::right;

/// `w r` for a wrong sample with a negative reward, where `w = 2 - base^(m - L)` if its length `L`
/// exceeds `m`, the mean length of the right samples of the group; else `r`.
///
/// Without a right sample nothing changes. Between `2 r` and `r` comes out. The paper multiplies
/// advantages, which are negative for wrong samples; a reward of 0 for wrong is not changed, so a
/// shift below 0 (`affine`) comes first. With `half_life` H instead of the base,
/// `w = 2 - 2^(-(L - m) / H)`: the published base hardly shows (1.01 at 1,000 tokens). Source: the
/// suboptimal trajectory complexity regularization of APO (View-R1), its code.
#[derive(Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Stcr {
    /// The base of the power.
    #[serde(default = "base")]
    base: f64,
    /// The excess at which half of the most is added, instead of the base.
    #[serde(default)]
    half_life: Option<f64>,
    /// The least reward of a right sample.
    #[serde(default = "right")]
    correct_at: f64,
    #[serde(flatten)]
    length: CompletionLength,
}

impl Shape for Stcr {
    const KIND: &'static str = "stcr";

    fn load(&mut self, files: &dyn Files) -> Result<(), BuildError> {
        at_least("base", self.base, 1.0)?;
        self.half_life.map_or(Ok(()), |life| positive("half_life", life))?;
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
        let mut lengths = Vec::new();
        for member in members {
            let mut measured = || group::of_member(self.length.of(member.sample, meter));
            lengths.push(member.reward().map(|_| measured()).transpose()?);
        }
        let is_right = |reward: f64| reward >= self.correct_at;
        let right = members.iter().zip(&lengths).filter_map(|(member, length)| {
            let length = length.as_ref()?.as_ref().ok()?;
            member.reward().filter(|reward| is_right(*reward)).map(|_| *length)
        });
        let mean = group::mean(&right.collect::<Vec<f64>>());
        Ok(group::each(members, |at, _, reward| match (lengths.get(at), mean) {
            (Some(Some(Err(why))), _) => Shaped::failed(why),
            (Some(Some(Ok(length))), Some(mean)) if !is_right(reward) && reward < 0.0 => {
                let weight = self.weight(length - mean);
                Shaped::new(weight * reward).with("length", *length).with("weight", weight)
            }
            _ => Shaped::new(reward),
        }))
    }
}

impl Stcr {
    fn weight(&self, excess: f64) -> f64 {
        let left = match self.half_life {
            _ if excess <= 0.0 => 1.0,
            Some(life) => (-excess / life).exp2(),
            None => self.base.powf(-excess),
        };
        2.0 - left
    }
}

fn base() -> f64 {
    1.000_01
}
