//! `relative_length`: how long a completion is next to the others of its group.

use super::members::{Known, among_known, read_each, rewards, scored};
use crate::prelude::*;
use crate::stats::{bounds, float, interpolated, mean_sorted, sigmoid, sorted, sum_sorted};
use crate::measure::{Measure, Unit};

/// How short a completion is next to the others of its group.
///
/// L is the length of a member, `of` the reward that says who is right (`threshold` or more).
/// `form` says what a member earns:
///
/// - `kimi`: "Kimi k1.5: Scaling Reinforcement Learning with LLMs", section "Length Penalty": with
///   l = 0.5 - (L - min)/(max - min) over all members, a right one earns l and a wrong one min(0,
///   l); 0 for every member where all are as long. From -0.5 to 0.5.
/// - `efficient`: "Training Language Models to Reason Efficiently", section "Length-Penalised
///   Objective": a right member earns 1 - `alpha` sigmoid((L - mean)/deviation), with the mean and
///   the standard deviation (over the members) of the lengths of the right ones; a wrong one 0.
///   Where all right ones are as long, the sigmoid is 0.5. From 0 to 1.
/// - `shortest`: a right member earns 1 - (L - min)/(max - min) over the right ones, 1 where all are
///   as long; a wrong one 0. From 0 to 1.
/// - `conditional`: length counts only for members that are good, as in "Baichuan-M2: Scaling
///   Medical Capability with Large Verifier System" (its condition; the curve is a choice of this
///   check): those whose reward is at or above the `quantile` of the group earn 1/(1 + exp((L -
///   median)/`temperature`)), with the median length of those; the others 0. From 0 to 1.
///
/// Members without a verdict of `of` are passed over. A group of one has no other length, and is as
/// long as its shortest and its mean.
#[derive(Debug, Deserialize, Serialize, JsonSchema, SmartDefault)]
#[serde(deny_unknown_fields, default)]
pub struct RelativeLength {
    /// The name of the reward that says who is right.
    #[default = "correct"]
    of: String,
    /// Who has this reward or more is right. Not used by `conditional`.
    #[default(1.0)]
    threshold: f64,
    /// What a member earns: `kimi`, `efficient`, `shortest` or `conditional`.
    form: LengthForm,
    /// What is counted: `characters`, `words`, `sentences`, `bytes` or `tokens`.
    unit: Unit,
    /// The `tokenizer.json` that counts tokens.
    tokenizer: Option<String>,
    /// With `efficient`: how much length costs, from 0 up to but without 1.
    #[default(0.1)]
    alpha: f64,
    /// With `conditional`: the quantile of the rewards of the group that a member must reach, from
    /// 0 to 1, interpolated between two rewards.
    #[default(0.8)]
    quantile: f64,
    /// With `conditional`: how many units more than the median take the reward from 1/2 to 1/(1 +
    /// e). A quarter of the median, and at least 1, where it is not given.
    temperature: Option<f64>,
    #[serde(skip)]
    measure: Measure,
}

/// What a member earns.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum LengthForm {
    /// The length reward of Kimi k1.5.
    #[default]
    Kimi,
    /// A sigmoid of the standardised length of right members.
    Efficient,
    /// From the shortest to the longest of the right members.
    Shortest,
    /// Only for the best members.
    Conditional,
}

/// What is known of a member.
struct Measured {
    reward: f64,
    length: f64,
}

impl GroupCheck for RelativeLength {
    const ID: &'static str = "relative_length";
    const VERSION: u32 = 2;

    fn load(&mut self, files: &dyn Files) -> Result<(), BuildError> {
        if !self.threshold.is_finite() {
            return Err(BuildError::new("threshold", "threshold is a finite number"));
        }
        if !(0.0..1.0).contains(&self.alpha) {
            let message = format!("alpha is {}; it is at least 0 and below 1", self.alpha);
            return Err(BuildError::new("alpha", message));
        }
        if !(0.0..=1.0).contains(&self.quantile) {
            let message = format!("quantile is {}; it goes from 0 to 1", self.quantile);
            return Err(BuildError::new("quantile", message));
        }
        if self.temperature.is_some_and(|given| !(given > 0.0 && given.is_finite())) {
            return Err(BuildError::new("temperature", "temperature is above 0"));
        }
        self.measure = Measure::new(self.unit, self.tokenizer.as_deref(), files)?;
        Ok(())
    }

    fn rewards(&self) -> Vec<(&'static str, String)> {
        vec![("of", self.of.clone())]
    }

    fn check_group(&self, group: &Group<'_>, meter: &mut Meter<'_>) -> Result<Vec<Verdict>, Fault> {
        let rewards = rewards(group, &self.of)?;
        let lengths = read_each(group, meter, |member, own| {
            self.measure.length(member.sample.completion(), own)
        })?;
        let measured: Vec<Known<Measured>> = rewards
            .into_iter()
            .zip(lengths)
            .map(|(reward, length)| Ok(Measured { reward: reward?, length: f64::from(length?) }))
            .collect();
        meter.spend(50 * measured.len() as u64)?;
        among_known(measured, |members| {
            Ok(match self.form {
                LengthForm::Kimi => self.kimi(&members),
                LengthForm::Efficient => self.efficient(&members),
                LengthForm::Shortest => self.shortest(&members),
                LengthForm::Conditional => self.conditional(&members),
            })
        })
    }
}

impl RelativeLength {
    fn is_right(&self, member: &Measured) -> bool {
        member.reward >= self.threshold
    }

    fn right_lengths(&self, members: &[Measured]) -> Vec<f64> {
        members.iter().filter(|one| self.is_right(one)).map(|one| one.length).collect()
    }

    fn kimi(&self, members: &[Measured]) -> Vec<Verdict> {
        let lengths: Vec<f64> = members.iter().map(|one| one.length).collect();
        let (low, high) = bounds(&lengths).unwrap_or_default();
        let judged = |one: &Measured| {
            let lambda = if high > low { 0.5 - (one.length - low) / (high - low) } else { 0.0 };
            let reward = if self.is_right(one) { lambda } else { lambda.min(0.0) };
            noted(scored(reward), one).with("shortest", low).with("longest", high)
        };
        members.iter().map(judged).collect()
    }

    fn efficient(&self, members: &[Measured]) -> Vec<Verdict> {
        let right = self.right_lengths(members);
        let mean = mean_sorted(&right);
        let squares: Vec<f64> = right.iter().map(|length| (length - mean).powi(2)).collect();
        let deviation = (sum_sorted(&squares) / float(right.len()).max(1.0)).sqrt();
        let judged = |one: &Measured| {
            if !self.is_right(one) {
                return noted(Verdict::graded(false), one).because("wrong");
            }
            let apart = if deviation > 0.0 { (one.length - mean) / deviation } else { 0.0 };
            let reward = 1.0 - self.alpha * sigmoid(apart);
            noted(scored(reward), one).with("mean", mean).with("deviation", deviation)
        };
        members.iter().map(judged).collect()
    }

    fn shortest(&self, members: &[Measured]) -> Vec<Verdict> {
        let (low, high) = bounds(self.right_lengths(members)).unwrap_or_default();
        let judged = |one: &Measured| {
            if !self.is_right(one) {
                return noted(Verdict::graded(false), one).because("wrong");
            }
            let reward = if high > low { 1.0 - (one.length - low) / (high - low) } else { 1.0 };
            noted(scored(reward), one).with("shortest", low).with("longest", high)
        };
        members.iter().map(judged).collect()
    }

    fn conditional(&self, members: &[Measured]) -> Vec<Verdict> {
        let rewards: Vec<f64> = members.iter().map(|one| one.reward).collect();
        let needed = quantile(&rewards, self.quantile);
        let good = members.iter().filter(|one| one.reward >= needed);
        let median = quantile(&good.map(|one| one.length).collect::<Vec<_>>(), 0.5);
        let temperature = self.temperature.unwrap_or_else(|| (median / 4.0).max(1.0));
        let judged = |one: &Measured| {
            if one.reward < needed {
                let verdict = noted(Verdict::graded(false), one);
                return verdict.with("needed", needed).because("not-among-the-best");
            }
            let reward = sigmoid((median - one.length) / temperature);
            noted(scored(reward), one).with("needed", needed).with("median", median)
        };
        members.iter().map(judged).collect()
    }
}

fn noted(verdict: Verdict, member: &Measured) -> Verdict {
    verdict.with("length", member.length).with("of", member.reward)
}

/// The quantile; 0 of nothing.
fn quantile(values: &[f64], share: f64) -> f64 {
    let place = share * float(values.len().saturating_sub(1));
    // A share that was rounded must not miss the value that it stands for.
    let place = if (place - place.round()).abs() < 1e-9 { place.round() } else { place };
    interpolated(&sorted(values), place).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_interpolated() {
        let values = [4.0, 1.0, 3.0, 2.0];
        for (share, wanted) in [(0.0, 1.0), (0.5, 2.5), (0.8, 3.4), (1.0, 4.0)] {
            assert!((quantile(&values, share) - wanted).abs() < 1e-12, "{share}");
        }
        assert!((quantile(&[7.0], 0.8) - 7.0).abs() < 1e-12);
        assert!(quantile(&[], 0.8).abs() < 1e-12);
    }
}
