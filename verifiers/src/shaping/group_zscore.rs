//! `group_zscore`: a reward in standard deviations of its group, alone or mixed with others.

use crate::deviation::{EPS, Std};
use crate::shape::group::{self, Numbers};
use crate::shape::member::other;
use crate::shape::prelude::*;

/// `(r - mean) / (std + eps)` over the samples of the prompt that have the reward; 0 where all have the
/// same. With `with`, the mean of this and of those rewards, each normalised so on its own.
///
/// A reward that a sample lacks takes no part in its mean. Source: the mixing of metrics of "BLEUBERI: BLEU is a surprisingly
/// effective reward for instruction following", its data set code.
#[derive(Debug, Deserialize, Serialize, JsonSchema, SmartDefault)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct GroupZscore {
    /// The other rewards of the mixture.
    with: Vec<String>,
    /// Which standard deviation.
    std: Std,
    /// What is added to the standard deviation.
    #[default(EPS)]
    eps: f64,
}

impl Shape for GroupZscore {
    const KIND: &'static str = "group_zscore";

    fn load(&mut self, _: &dyn Files) -> Result<(), BuildError> {
        at_least("eps", self.eps, 0.0)
    }

    fn reads(&self) -> Vec<&str> {
        self.with.iter().map(String::as_str).collect()
    }

    fn is_group(&self) -> bool {
        true
    }

    fn shape(
        &self,
        members: &[ShapeMember<'_>],
        _: &TrainingState,
        _: &mut Meter<'_>,
    ) -> Result<Vec<Shaped>, Fault> {
        let mut parts = vec![self.normalised(&group::rewards(members))];
        let mut failed: Vec<Option<String>> = vec![None; members.len()];
        for name in &self.with {
            let mut part = Numbers::new();
            for (member, failed) in members.iter().zip(&mut failed) {
                let found = member.reward().map(|_| other(member, name)).transpose();
                part.push(match found {
                    Ok(found) => found.and_then(Result::ok).map(|(_, reward)| reward),
                    Err(fault) => {
                        *failed = Some(fault.to_string());
                        None
                    }
                });
            }
            parts.push(self.normalised(&part));
        }
        Ok(group::each(members, |at, _, reward| {
            if let Some(Some(why)) = failed.get(at) {
                return Shaped::failed(why);
            }
            let own: Vec<f64> = parts.iter().filter_map(|part| *part.get(at)?).collect();
            Shaped::new(group::mean(&own).unwrap_or(reward))
        }))
    }
}

impl GroupZscore {
    fn normalised(&self, numbers: &[Option<f64>]) -> Numbers {
        let moments = group::moments(numbers);
        // Numbers that are equal may have a deviation by rounding.
        let same = group::range(numbers).is_none_or(|(low, high)| low >= high);
        let unit = if same { f64::INFINITY } else { moments.std(self.std) + self.eps };
        numbers.iter().map(|number| number.map(|number| (number - moments.mean) / unit)).collect()
    }
}
