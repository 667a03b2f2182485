//! `pass_at_k`: what a member is worth where the best of k members counts.

mod subsets;

use super::members::{among_known, rewards, scored};
use crate::prelude::*;
use crate::stats::float;
use subsets::Subsets;

/// The credit of a member where not every completion counts, but the best of k.
///
/// r are the rewards called `of`, of the n members that have one; "right" is a reward of `threshold`
/// or more. `form` says what a member earns:
///
/// - `group`: the estimate of max@k of the whole group, the same for every member: the mean, over
///   all sets of k members, of the best reward in the set. Of rewards 0 and 1 it is pass@k without
///   bias, 1 - C(n-c, k)/C(n, k) where c are right ("Evaluating Large Language Models Trained on
///   Code", section "Evaluation Framework"). Within the range of `of`.
/// - `credit`: the transformed reward of PKPO ("Pass@K Policy Optimization: Solving Harder
///   Reinforcement Learning Problems", sections on binary and on continuous rewards): the sum, over
///   the sets of k members that the member is in, of the best reward in the set, divided by
///   C(n, k). Of rewards 0 and 1: k/n for a right member, k/n pass@(k-1) of the others for a wrong
///   one. Within k/n times the range of `of`.
/// - `credit_loo`: `credit` minus its leave-one-out baseline, k/(n - 1) max@k of the others (the same
///   paper, on variance reduction). Needs n > k.
/// - `credit_loo_minus_one`: each set of k counts what the member adds to it: the best reward in the
///   set minus the best without the member (the same paper, "leave one out minus one"). Never below 0
///   for rewards from 0 on. Needs k of 2 or more.
/// - `marginal`: max@k of the group minus max@k of the group without the member. Above 0 for
///   members that raise the estimate. Needs n > k.
/// - `advantage`: the analytic advantage of pass@k training ("Pass@k Training for Adaptively
///   Balancing Exploration and Exploitation of Large Reasoning Models", section "Analytical
///   Derivation"): with p = pass@k of the group and s = sqrt(p (1 - p)), a right member earns
///   (1 - p)/s and a wrong one (1 - p - C(w-1, k-1)/C(n-1, k-1))/s, where w are wrong. 0 where s
///   is 0.
///
/// A group of fewer than k members (or of k, where the form needs more) abstains.
#[derive(Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PassAtKCredit {
    /// The name of the reward that says how good a member is.
    #[serde(default = "correct")]
    of: String,
    /// Of how many members the best counts.
    k: u32,
    /// What a member earns: `group`, `credit`, `credit_loo`, `credit_loo_minus_one`, `marginal` or
    /// `advantage`.
    #[serde(default)]
    form: CreditForm,
    /// A member with this reward or more is right (1), and any other wrong (0). Without it the
    /// rewards count as they are; `advantage` then takes 1.
    #[serde(default)]
    threshold: Option<f64>,
}

/// What a member earns.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum CreditForm {
    /// max@k of the group.
    Group,
    /// The transformed reward of PKPO.
    #[default]
    Credit,
    /// The same minus its leave-one-out baseline.
    CreditLoo,
    /// What the member adds to the sets it is in.
    CreditLooMinusOne,
    /// What the member adds to the estimate.
    Marginal,
    /// The analytic advantage of pass@k training.
    Advantage,
}

fn correct() -> String {
    "correct".to_owned()
}

impl GroupCheck for PassAtKCredit {
    const ID: &'static str = "pass_at_k";

    fn load(&mut self, _: &dyn Files) -> Result<(), BuildError> {
        let least = if self.form == CreditForm::CreditLooMinusOne { 2 } else { 1 };
        if self.k < least {
            return Err(BuildError::new("k", format!("k is {}; it is at least {least}", self.k)));
        }
        match self.threshold {
            Some(threshold) if !threshold.is_finite() => {
                Err(BuildError::new("threshold", "threshold is a finite number"))
            }
            _ => Ok(()),
        }
    }

    fn rewards(&self) -> Vec<(&'static str, String)> {
        vec![("of", self.of.clone())]
    }

    fn check_group(&self, group: &Group<'_>, meter: &mut Meter<'_>) -> Result<Vec<Verdict>, Fault> {
        among_known(rewards(group, &self.of)?, |values| self.judge(&values, meter))
    }
}

impl PassAtKCredit {
    fn judge(&self, values: &[f64], meter: &mut Meter<'_>) -> Result<Vec<Verdict>, Fault> {
        let (k, count) = (usize::try_from(self.k).unwrap_or(usize::MAX), values.len());
        let needed = match self.form {
            CreditForm::CreditLoo | CreditForm::Marginal => k.saturating_add(1),
            _ => k,
        };
        if count < needed {
            let why = format!("{count} members have a reward, of at least {needed}");
            return Ok(values.iter().map(|_| Verdict::abstained(why.clone())).collect());
        }
        let threshold = match self.form {
            CreditForm::Advantage => Some(self.threshold.unwrap_or(1.0)),
            _ => self.threshold,
        };
        let is_right = |value: f64, from: f64| f64::from(u8::from(value >= from));
        let taken: Vec<f64> = values
            .iter()
            .map(|value| threshold.map_or(*value, |from| is_right(*value, from)))
            .collect();
        let subsets = Subsets::new(&taken);
        let max_at_k = subsets.mean_of_best(k, None, meter)?;
        let mut known: Vec<(f64, f64)> = Vec::new();
        let mut verdicts = Vec::with_capacity(count);
        for (value, taken) in values.iter().zip(&taken) {
            // Equal rewards have equal credit, to the bit.
            let same = known.iter().find(|(have, _)| have.total_cmp(taken).is_eq());
            let same = same.map(|(_, credit)| *credit);
            let credit = match same {
                Some(credit) => credit,
                None => self.credit(&subsets, *taken, max_at_k, meter)?,
            };
            if same.is_none() {
                known.push((*taken, credit));
            }
            meter.spend(known.len() as u64)?;
            verdicts.push(scored(credit).with("of", *value).with("max_at_k", max_at_k));
        }
        Ok(verdicts)
    }

    /// The credit of a member with this reward.
    fn credit(
        &self,
        subsets: &Subsets,
        value: f64,
        max_at_k: f64,
        meter: &mut Meter<'_>,
    ) -> Result<f64, Fault> {
        let k = usize::try_from(self.k).unwrap_or(usize::MAX);
        let (n, of_k) = (float(subsets.count()), float(k));
        let mut others = |k: usize| subsets.mean_of_best(k, Some(value), meter);
        Ok(match self.form {
            CreditForm::Group => max_at_k,
            CreditForm::Credit => of_k / n * subsets.mean_with(value, k, meter)?,
            CreditForm::CreditLoo => {
                let baseline = of_k / (n - 1.0) * others(k)?;
                of_k / n * subsets.mean_with(value, k, meter)? - baseline
            }
            CreditForm::CreditLooMinusOne => {
                let without = others(k - 1)?;
                of_k / n * (subsets.mean_with(value, k, meter)? - without)
            }
            CreditForm::Marginal => max_at_k - others(k)?,
            CreditForm::Advantage => {
                let spread = (max_at_k * (1.0 - max_at_k)).sqrt();
                if spread <= 0.0 {
                    return Ok(0.0);
                }
                // C(w-1, k-1)/C(n-1, k-1) is how often the k - 1 others of a wrong member are wrong.
                let best_of_set = subsets.mean_with(value, k, meter)?;
                (best_of_set - max_at_k) / spread
            }
        })
    }
}
