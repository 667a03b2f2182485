//! `rank`: the rank of another reward within the group.

use super::members::{Known, alone, among_known, rewards, scored};
use crate::prelude::*;
use crate::stats::float;

/// The rank of a member's reward among those of its group, as a number.
///
/// The lowest of n rewards earns 0, the highest 1, and the one with b others below it b/(n - 1).
/// Equal rewards earn the mean of their places, so that a group of equal rewards earns one half
/// throughout. Only the order counts: the scale of the other reward, and its outliers, do not.
/// `scale = "centered"` gives the centered ranks from -0.5 to 0.5 of "Evolution Strategies as a
/// Scalable Alternative to Reinforcement Learning" (section "The Algorithm", fitness shaping by
/// rank). Members without the other reward are not ranked; a member alone abstains.
#[derive(Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct GroupRank {
    /// The name of the reward that is ranked.
    of: String,
    /// Which reward is best: `highest` or `lowest`.
    #[serde(default)]
    best: Best,
    /// Where the ranks lie: `unit`, from 0 to 1, or `centered`, from -0.5 to 0.5.
    #[serde(default)]
    scale: RankScale,
}

/// Which reward is best.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Best {
    /// The greatest one.
    #[default]
    Highest,
    /// The least one, for costs.
    Lowest,
}

/// Where the ranks lie.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum RankScale {
    /// From 0 to 1.
    #[default]
    Unit,
    /// From -0.5 to 0.5.
    Centered,
}

impl GroupCheck for GroupRank {
    const ID: &'static str = "rank";

    fn rewards(&self) -> Vec<(&'static str, String)> {
        vec![("of", self.of.clone())]
    }

    fn check_group(&self, group: &Group<'_>, meter: &mut Meter<'_>) -> Result<Vec<Verdict>, Fault> {
        let known: Vec<Known<f64>> = rewards(group, &self.of)?;
        among_known(known, |values| {
            meter.spend(20 * values.len() as u64)?;
            Ok(self.judge(&values))
        })
    }
}

impl GroupRank {
    fn judge(&self, values: &[f64]) -> Vec<Verdict> {
        if values.len() < 2 {
            return values.iter().map(|_| alone()).collect();
        }
        let mut sorted = values.to_vec();
        sorted.sort_by(f64::total_cmp);
        let judged = |value: &f64| {
            let below = sorted.partition_point(|other| other < value);
            let above = sorted.len() - sorted.partition_point(|other| other <= value);
            let unit = match self.best {
                Best::Highest => unit_rank(below, above, values.len()),
                Best::Lowest => unit_rank(above, below, values.len()),
            };
            let rank = match self.scale {
                RankScale::Unit => unit,
                RankScale::Centered => unit - 0.5,
            };
            scored(rank).with("of", *value).with("below", below).with("above", above)
        };
        values.iter().map(judged).collect()
    }
}

/// The mean place, from 0 to 1, of equal values with `below` worse and `above` better ones.
fn unit_rank(below: usize, above: usize, count: usize) -> f64 {
    // The equal ones are at the places from `below` to `count - 1 - above`.
    let twice = below + (count - 1).saturating_sub(above);
    float(twice) / (2.0 * float(count - 1))
}
