//! `contrast`: how far another reward stands apart from those of the other members.

use super::members::{Known, alone, among_known, rewards, scored};
use crate::prelude::*;
use crate::stats::{bounds, float, mean_sorted, sum_sorted};

/// How far a member's reward stands apart from those of the others of its group.
///
/// `form` says how:
///
/// - `others_mean`: the reward minus the mean of the others, the leave-one-out baseline of RLOO
///   ("Back to Basics: Revisiting REINFORCE Style Optimization for Learning from Human Feedback in
///   LLMs", section "REINFORCE Leave-One-Out").
/// - `margin`: the margin to the hardest member of the other side, as in the triplet loss with hard
///   mining ("In Defense of the Triplet Loss for Person Re-Identification", section "Batch Hard"):
///   the reward of a right member minus that of the best wrong one, and the reward of a wrong member
///   minus that of the worst right one. `right` names the reward that tells them apart. In a group
///   of one side every member abstains.
/// - `stretch`: the contrast stretch of a reward that has collapsed, as in "Breaking Reward
///   Collapse: Adaptive Reinforcement for Open-ended Medical Reasoning with Enhanced Semantic
///   Discrimination" (ARMed): where the rewards of the group are within `range` of each other or
///   deviate by less than `deviation`, `scale` (r - min)/(max - min + 1e-6) stands in for r. Rewards
///   within 1e-3 of each other, and equal completions, are not stretched: that would pay noise.
///
/// The first two have the range of differences of the other reward; `stretch` gives 0 to `scale`,
/// or the other reward itself. A member alone abstains.
#[derive(Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct IntraGroupContrast {
    /// The name of the reward that is compared.
    of: String,
    /// What is measured: `others_mean`, `margin` or `stretch`.
    #[serde(default)]
    form: ContrastForm,
    /// With `margin`: the name of the reward that says who is right.
    #[serde(default)]
    right: Option<String>,
    /// With `margin`: who has this reward or more is right.
    #[serde(default = "one")]
    threshold: f64,
    /// With `stretch`: rewards whose range is less have collapsed.
    #[serde(default = "tenth")]
    range: f64,
    /// With `stretch`: rewards whose standard deviation (over the members) is less have collapsed.
    #[serde(default = "three_hundredths")]
    deviation: f64,
    /// With `stretch`: the highest reward after stretching.
    #[serde(default = "one")]
    scale: f64,
}

/// What is measured.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum ContrastForm {
    /// The reward minus the mean of the others.
    #[default]
    OthersMean,
    /// The margin to the hardest member of the other side.
    Margin,
    /// The contrast stretch of a collapsed reward.
    Stretch,
}

/// Rewards nearer to each other than this are equal but for noise.
const NOISE: f64 = 1e-3;
/// Keeps the stretch finite.
const EPSILON: f64 = 1e-6;

fn one() -> f64 {
    1.0
}

fn tenth() -> f64 {
    0.1
}

fn three_hundredths() -> f64 {
    0.03
}

impl GroupCheck for IntraGroupContrast {
    const ID: &'static str = "contrast";

    fn load(&mut self, _: &dyn Files) -> Result<(), BuildError> {
        if (self.form == ContrastForm::Margin) != self.right.is_some() {
            return Err(BuildError::new(
                "right",
                "it is named where form = \"margin\", and there alone",
            ));
        }
        let finite = [("threshold", self.threshold), ("range", self.range)];
        let finite =
            finite.into_iter().chain([("deviation", self.deviation), ("scale", self.scale)]);
        for (setting, value) in finite {
            if !value.is_finite() || (setting != "threshold" && value < 0.0) {
                return Err(BuildError::new(
                    setting,
                    format!("{setting} is {value}; it is at least 0"),
                ));
            }
        }
        Ok(())
    }

    fn rewards(&self) -> Vec<(&'static str, String)> {
        let right = self.right.iter().map(|right| ("right", right.clone()));
        right.chain([("of", self.of.clone())]).collect()
    }

    fn check_group(&self, group: &Group<'_>, meter: &mut Meter<'_>) -> Result<Vec<Verdict>, Fault> {
        let known = rewards(group, &self.of)?;
        meter.spend(50 * known.len() as u64)?;
        match (self.form, &self.right) {
            (ContrastForm::OthersMean, _) => among_known(known, |values| Ok(others_mean(&values))),
            (ContrastForm::Margin, Some(right)) => {
                let sides = rewards(group, right)?;
                let both = known.into_iter().zip(sides).map(|(value, right)| {
                    Ok(Sided { value: value?, is_right: right? >= self.threshold })
                });
                among_known(both.collect(), |members| Ok(margins(&members)))
            }
            (ContrastForm::Margin, None) => Err(Fault::internal("contrast was not loaded")),
            (ContrastForm::Stretch, _) => {
                let texts = texts(group, known, meter)?;
                among_known(texts, |members| Ok(self.stretched(&members)))
            }
        }
    }
}

/// A member on its side.
struct Sided {
    value: f64,
    is_right: bool,
}

/// A member with its completion.
struct Worded<'a> {
    value: f64,
    text: &'a str,
}

fn texts<'a>(
    group: &Group<'a>,
    known: Vec<Known<f64>>,
    meter: &mut Meter<'_>,
) -> Result<Vec<Known<Worded<'a>>>, Fault> {
    let texts = group.members.iter().map(|member| member.sample.completion());
    meter.spend(texts.clone().map(|text| text.len() as u64 / 8).sum())?;
    Ok(known
        .into_iter()
        .zip(texts)
        .map(|(value, text)| Ok(Worded { value: value?, text }))
        .collect())
}

fn others_mean(values: &[f64]) -> Vec<Verdict> {
    if values.len() < 2 {
        return values.iter().map(|_| alone()).collect();
    }
    // r - mean of the others = n/(n - 1) (r - mean of all), whose error is zero for equal rewards.
    let (mean, count) = (mean_sorted(values), float(values.len()));
    let is_equal = values.iter().all(|value| Some(value) == values.first());
    let judged = |value: &f64| {
        let apart = if is_equal { 0.0 } else { count / (count - 1.0) * (value - mean) };
        let others = value - apart;
        scored(apart).with("of", *value).with("others_mean", others)
    };
    values.iter().map(judged).collect()
}

fn margins(members: &[Sided]) -> Vec<Verdict> {
    let side = |is_right: bool| {
        members.iter().filter(move |one| one.is_right == is_right).map(|one| one.value)
    };
    let (best_wrong, worst_right) = (side(false).reduce(f64::max), side(true).reduce(f64::min));
    let judged = |one: &Sided| {
        let (hardest, what) =
            if one.is_right { (best_wrong, "wrong") } else { (worst_right, "right") };
        match hardest {
            Some(hardest) => {
                scored(one.value - hardest).with("of", one.value).with("hardest", hardest)
            }
            None => Verdict::abstained(format!("no other member is {what}")),
        }
    };
    members.iter().map(judged).collect()
}

impl IntraGroupContrast {
    fn stretched(&self, members: &[Worded<'_>]) -> Vec<Verdict> {
        let values: Vec<f64> = members.iter().map(|one| one.value).collect();
        if values.len() < 2 {
            return values.iter().map(|_| alone()).collect();
        }
        let (low, high) = bounds(&values).unwrap_or_default();
        let (range, mean, count) = (high - low, mean_sorted(&values), float(values.len()));
        let squares: Vec<f64> = values.iter().map(|value| (value - mean).powi(2)).collect();
        let has_collapsed = range < self.range || (sum_sorted(&squares) / count).sqrt() < self.deviation;
        let differ =
            members.iter().any(|one| Some(one.text) != members.first().map(|one| one.text));
        let stretch = has_collapsed && differ && range >= NOISE;
        let reason = match (has_collapsed, stretch) {
            (false, _) => "spread",
            (true, true) => "stretched",
            (true, false) => "equal",
        };
        let judged = |value: &f64| {
            let stretched = self.scale * (value - low) / (range + EPSILON);
            let verdict = scored(if stretch { stretched } else { *value });
            verdict.with("of", *value).with("range", range).because(reason)
        };
        values.iter().map(judged).collect()
    }
}
