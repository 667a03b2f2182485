//! Advantages of tokens: which tokens are trained on, returns, and whitening over all of them.

use std::borrow::Cow;

use super::batch::{AdvantageValues, RewardBatch, StepReward};
use super::conventions::{EpsAt, Std, VARIANCE_EPS, Whiten, divided};
use super::per_group::out_of_range;
use crate::prelude::*;
use crate::statistics::{Moments, float};

/// What a token that is not trained on, such as one of an observation, does to returns.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum MaskedTokens {
    /// It is passed over: it has no reward, and does not discount.
    #[default]
    Skip,
    /// It has no reward, and discounts.
    Discount,
}

/// Which tokens are trained on: the mask, else all of as many as the lengths say, else all that have a
/// reward of their own.
///
/// # Errors
/// None of the three is given, or not for each rollout.
pub fn trained<'a>(
    batch: &RewardBatch<'a>,
    kind: &str,
) -> Result<Cow<'a, Ragged<bool>>, TrainerError> {
    if let Some(mask) = batch.mask {
        batch.groups.along("mask", mask.rows())?;
        return Ok(Cow::Borrowed(mask));
    }
    if let Some(lengths) = batch.lengths {
        batch.groups.along("lengths", lengths.len())?;
        return Ok(Cow::Owned(lengths.iter().map(|length| vec![true; *length]).collect()));
    }
    let rewards = batch.needed_rows(kind, "mask or lengths", batch.token_rewards)?;
    Ok(Cow::Owned(rewards.map(|_| true)))
}

/// How many tokens of each rollout are trained on.
///
/// # Errors
/// Those of [`trained`].
pub fn lengths(batch: &RewardBatch<'_>, kind: &str) -> Result<Vec<f64>, TrainerError> {
    if let (None, Some(lengths)) = (batch.mask, batch.lengths) {
        batch.groups.along("lengths", lengths.len())?;
        return Ok(lengths.iter().map(|length| float(*length)).collect());
    }
    let mask = trained(batch, kind)?;
    Ok(mask.iter().map(|row| float(row.iter().filter(|trained| **trained).count())).collect())
}

/// The number of each rollout at each of its tokens that is trained on, 0 at the others.
pub fn spread(values: &[f64], mask: &Ragged<bool>) -> Ragged<f64> {
    let row = |(value, row): (&f64, &[bool])| {
        row.iter().map(|trained| if *trained { *value } else { 0.0 }).collect::<Vec<_>>()
    };
    values.iter().zip(mask.iter()).map(row).collect()
}

/// The number of each rollout; where `starts` are given, at each token that is trained on and not
/// before the start.
///
/// # Errors
/// Not one start for each rollout, or starts without a mask or lengths.
pub fn credited(
    batch: &RewardBatch<'_>,
    kind: &str,
    values: Vec<f64>,
) -> Result<AdvantageValues, TrainerError> {
    let Some(starts) = batch.starts else { return Ok(AdvantageValues::Rollouts(values)) };
    batch.groups.along("starts", starts.len())?;
    let mut tokens = spread(&values, &*trained(batch, kind)?);
    for (row, start) in starts.iter().enumerate() {
        let row = tokens.row_mut(row);
        let before = (*start).min(row.len());
        row.iter_mut().take(before).for_each(|token| *token = 0.0);
    }
    Ok(AdvantageValues::Tokens(tokens))
}

/// Fails where the rows of `other` have not the lengths of those of the mask.
///
/// # Errors
/// The first row that differs.
pub fn along<T>(mask: &Ragged<bool>, what: &str, other: &Ragged<T>) -> Result<(), TrainerError> {
    if mask.is_along(other) {
        return Ok(());
    }
    let differs = |row: &usize| mask.row(*row).len() != other.row(*row).len();
    let row = (0..mask.rows()).find(differs).unwrap_or(mask.rows());
    let have = format!("{} tokens in row {row}", other.row(row).len());
    let expected = format!("{}, as many as the mask or the length has", mask.row(row).len());
    Err(TrainerError::input(what, have, expected))
}

/// The reward of each token: what it has of its own, and that of the rollout at its last token that
/// is trained on. All are 0 for a rollout without a reward.
///
/// # Errors
/// Token rewards that are not along the mask, or not finite.
pub fn rewards(
    batch: &RewardBatch<'_>,
    outcome: &[f64],
    mask: &Ragged<bool>,
) -> Result<Ragged<f64>, TrainerError> {
    let mut tokens = match batch.token_rewards {
        Some(given) => {
            along(mask, "token rewards", given)?;
            finite("token rewards", mask, given)?;
            given.clone()
        }
        None => mask.map(|_| 0.0),
    };
    for (row, (outcome, reward)) in outcome.iter().zip(batch.rewards).enumerate() {
        let last = mask.row(row).iter().rposition(|trained| *trained);
        let tokens = tokens.row_mut(row);
        if reward.is_nan() {
            tokens.fill(0.0);
        } else if let Some(token) = last.and_then(|last| tokens.get_mut(last)) {
            *token += outcome;
        }
    }
    Ok(tokens)
}

/// The discounted return of each token that is trained on, `G_t = r_t + gamma G_(t+1)`; 0 at others.
pub fn returns(
    mut rewards: Ragged<f64>,
    mask: &Ragged<bool>,
    gamma: f64,
    masked: MaskedTokens,
) -> Ragged<f64> {
    for row in 0..mask.rows() {
        let mut rest = 0.0;
        for (token, trained) in rewards.row_mut(row).iter_mut().zip(mask.row(row)).rev() {
            match (*trained, masked) {
                (true, _) => rest = *token + gamma * rest,
                (false, MaskedTokens::Discount) => rest *= gamma,
                (false, MaskedTokens::Skip) => {}
            }
            *token = if *trained { rest } else { 0.0 };
        }
    }
    rewards
}

/// Fails where a number of a token that is trained on is not finite.
///
/// # Errors
/// The first such row.
pub fn finite(what: &str, mask: &Ragged<bool>, values: &Ragged<f64>) -> Result<(), TrainerError> {
    let is_wrong = |(trained, value): (&bool, &f64)| *trained && !value.is_finite();
    let wrong = |row: &usize| mask.row(*row).iter().zip(values.row(*row)).any(is_wrong);
    match (0..mask.rows()).find(wrong) {
        None => Ok(()),
        Some(row) => {
            let have = format!("a number in row {row} that is not finite");
            Err(TrainerError::input(what, have, "finite numbers where the mask is set"))
        }
    }
}

/// Whitening over all tokens of the batch that are trained on, but those of rollouts without a reward.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema, SmartDefault)]
#[serde(default)]
pub struct Whitening {
    /// Whether the numbers of tokens are whitened over the batch.
    pub whiten: Whiten,
    /// Which standard deviation they are whitened with.
    pub whiten_std: Std,
    /// Keeps the divisor above 0.
    #[default(VARIANCE_EPS)]
    pub whiten_eps: f64,
    /// Where it enters the divisor.
    #[default(EpsAt::Variance)]
    pub whiten_eps_at: EpsAt,
    /// Added to the count of tokens in their mean and variance, as verl has it: above 0, returns that
    /// are all equal have small advantages in place of none.
    pub whiten_count_eps: f64,
}

impl Whitening {
    /// Refuses settings that are out of range.
    ///
    /// # Errors
    /// The setting at fault.
    pub fn check(&self) -> Result<(), TrainerError> {
        within("whiten_count_eps", self.whiten_count_eps, 0.0..)?;
        within("whiten_eps", self.whiten_eps, 0.0..)
    }

    /// Whitens `tokens` in place; those that are not trained on become 0. The order of the groups
    /// changes no bit.
    ///
    /// # Errors
    /// A number beyond the range.
    pub fn apply(
        &self,
        batch: &RewardBatch<'_>,
        mask: &Ragged<bool>,
        tokens: &mut Ragged<f64>,
    ) -> Result<(), TrainerError> {
        let (shift, divisor) = match self.whiten {
            Whiten::None => (Shift::default(), 1.0),
            Whiten::Center => (self.shift(&Moments::of_rows(&by_group(batch, mask, tokens))), 1.0),
            Whiten::Tokens => {
                let moments = Moments::of_rows(&by_group(batch, mask, tokens));
                let shift = self.shift(&moments);
                (
                    shift,
                    self.whiten_eps_at.divisor(self.deviation(&moments, &shift), self.whiten_eps),
                )
            }
        };
        for (row, reward) in batch.rewards.iter().enumerate() {
            for (token, trained) in tokens.row_mut(row).iter_mut().zip(mask.row(row)) {
                let is_used = *trained && !reward.is_nan();
                *token =
                    if is_used { divided(*token - shift.mean + shift.back, divisor) } else { 0.0 };
            }
        }
        checked(batch, tokens)
    }
}

/// What is taken off each token: the mean, less what a greater count takes off it. Both are kept
/// apart, so that nothing else is left of tokens that are all equal.
#[derive(Clone, Copy, Default)]
struct Shift {
    mean: f64,
    back: f64,
}

impl Whitening {
    fn shift(&self, moments: &Moments) -> Shift {
        let count = float(moments.count) + self.whiten_count_eps;
        let back = if count > 0.0 { moments.mean * (self.whiten_count_eps / count) } else { 0.0 };
        Shift { mean: moments.mean, back }
    }

    /// The standard deviation from the shifted mean, with the greater count.
    fn deviation(&self, moments: &Moments, shift: &Shift) -> f64 {
        if self.whiten_count_eps == 0.0 {
            return moments.std(self.whiten_std);
        }
        let count = float(moments.count);
        let biased = moments.std_biased().hypot(shift.back)
            * (count / (count + self.whiten_count_eps)).sqrt();
        match self.whiten_std {
            Std::Biased => biased,
            Std::Unbiased if moments.count > 1 => biased * (count / (count - 1.0)).sqrt(),
            Std::Unbiased => f64::NAN,
        }
    }
}

/// Fails where a token has an advantage that is not finite.
///
/// # Errors
/// What is wrong with the rewards.
pub fn checked(batch: &RewardBatch<'_>, tokens: &Ragged<f64>) -> Result<(), TrainerError> {
    if tokens.values().iter().all(|token| token.is_finite()) {
        Ok(())
    } else {
        Err(out_of_range(batch.rewards))
    }
}

/// The token behind the last one of each step must be in order and within the response.
///
/// # Errors
/// The first row whose steps are not.
pub fn ordered_steps(mask: &Ragged<bool>, steps: &Ragged<StepReward>) -> Result<(), TrainerError> {
    for (row, steps) in steps.iter().enumerate() {
        let tokens = mask.row(row).len();
        let is_forward = steps.iter().all(|step| step.start.is_none_or(|start| start <= step.end));
        let is_ordered = is_forward && steps.is_sorted_by(|one, other| one.end <= other.end);
        let last = steps.last().map_or(0, |step| step.end);
        if !is_ordered || last > tokens {
            let ends: Vec<usize> = steps.iter().map(|step| step.end).collect();
            let have = format!("ends {ends:?} in row {row}");
            let expected = format!(
                "ascending ends, none above its {tokens} tokens or before the start of its step"
            );
            return Err(TrainerError::input("steps", have, expected));
        }
        if steps.iter().any(|step| step.reward.is_infinite()) {
            let have = format!("an infinite reward in row {row}");
            return Err(TrainerError::input("steps", have, "finite rewards, or NaN"));
        }
    }
    Ok(())
}

/// The number of each step at each of its tokens that is trained on; `rest` at tokens of no step.
pub fn spread_steps(
    mask: &Ragged<bool>,
    steps: &Ragged<StepReward>,
    values: &Ragged<f64>,
    rest: &[f64],
) -> Ragged<f64> {
    let mut tokens = spread(rest, mask);
    for row in 0..mask.rows() {
        for (span, value) in StepReward::spans(steps.row(row)).zip(values.row(row)) {
            #[expect(clippy::indexing_slicing, reason = "steps are within their row")]
            let (trained, room) = (&mask.row(row)[span.clone()], &mut tokens.row_mut(row)[span]);
            for (token, trained) in room.iter_mut().zip(trained) {
                *token = if *trained { *value } else { 0.0 };
            }
        }
    }
    tokens
}

/// The tokens that are trained on, of rollouts that have a reward: a row for each group.
fn by_group(batch: &RewardBatch<'_>, mask: &Ragged<bool>, tokens: &Ragged<f64>) -> Ragged<f64> {
    let mut rows = Ragged::new();
    for group in batch.groups.iter() {
        let mut values = Vec::new();
        for row in group.rows() {
            if batch.rewards.get(row).is_some_and(|reward| !reward.is_nan()) {
                let trained = mask.row(row).iter().zip(tokens.row(row));
                values.extend(trained.filter_map(|(trained, token)| trained.then_some(*token)));
            }
        }
        rows.push(values);
    }
    rows
}
