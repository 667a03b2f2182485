//! How far two rewards are apart as objectives: STARC, with EPIC and plain correlation beside it.

use assay_verifiers::stats::{corrected_mean, ratio};

use super::correlation::correlation;
use crate::prelude::*;

/// Two rewards on the same rollouts.
#[derive(Clone, Copy, Debug)]
pub struct RewardPair<'a> {
    /// Which rollouts share a prompt.
    pub groups: &'a Groups,
    /// The first reward of each rollout; NaN where it is missing.
    pub first: &'a [f64],
    /// The second.
    pub second: &'a [f64],
    /// How likely the reference policy gives each rollout, within its prompt: weights of at least 0,
    /// which need not add up to 1. Without them each rollout of a prompt has the same weight, as
    /// rollouts that the reference policy sampled have.
    pub reference: Option<&'a [f64]>,
}

/// How far two rewards are apart.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct RewardDistance {
    /// STARC: 0 where both order the policies alike, 1 where one reverses the order of the other;
    /// `null` of no rows.
    pub starc: Option<f64>,
    /// EPIC on the same canonical rewards, the rows being the coverage; `null` where either reward
    /// has no spread. Without reference weights it equals STARC.
    pub epic: Option<f64>,
    /// `sqrt((1 - Pearson) / 2)` on the rewards as they are: what is left of a distance when the
    /// level of each prompt is not taken out. `null` where either reward has no spread.
    pub uncentred: Option<f64>,
    /// The norms of the canonical rewards over all rows.
    pub norms: (f64, f64),
    /// Rows in which both rewards are present.
    pub rows: usize,
    /// Prompts that have such a row.
    pub prompts: usize,
}

/// The distance of two rewards on the same rollouts. Rows in which either is missing are left out.
///
/// A completion is one step without a successor, so the canonical form takes the mean under the
/// reference policy from each prompt: `c(R)(x, y) = R(x, y) - mean_(y' ~ ref) R(x, y')`. The vectors of
/// all rows are scaled to length 1 (a reward without spread stays 0), and `STARC = |u - v| / 2`. A
/// positive scale and a constant for each prompt change nothing.
///
/// Source: "STARC: A General Framework For Quantifying Differences Between Reward Functions" (Skalse
/// et al. 2024), section 3, value canonicalisation. EPIC: "Quantifying Differences in Reward
/// Functions" (Gleave et al. 2021), definition 4.6.
///
/// # Errors
/// Not one reward or weight for each row; a weight that is negative or not finite; a prompt with
/// rewards whose weights are all 0.
pub fn reward_distance(pair: &RewardPair<'_>) -> Result<RewardDistance, TrainerError> {
    pair.check()?;
    let mut found = RewardDistance::default();
    let (mut first, mut second) = (Canonical::default(), Canonical::default());
    let (mut raw_first, mut raw_second) = (Vec::new(), Vec::new());
    for members in pair.groups.iter() {
        let rows = members.rows().filter_map(|row| pair.row(row));
        let rows: Vec<PairRow> = rows.filter(PairRow::is_complete).collect();
        if rows.is_empty() {
            continue;
        }
        found.prompts += 1;
        found.rows += rows.len();
        let weights: Vec<f64> = rows.iter().map(|row| row.weight).collect();
        if weights.iter().sum::<f64>() <= 0.0 {
            let row = members.row(0).unwrap_or_default();
            let have = format!("all are 0 for the prompt of row {row}");
            return Err(TrainerError::input("reference weights", have, "one above 0"));
        }
        let (one, two): (Vec<f64>, Vec<f64>) =
            rows.iter().map(|row| (row.first, row.second)).unzip();
        first.add(&one, &weights);
        second.add(&two, &weights);
        raw_first.extend(one);
        raw_second.extend(two);
    }
    let (norm_first, norm_second) = (first.norm(), second.norm());
    found.norms = (norm_first, norm_second);
    let (u, v) = (scaled(&first.values, norm_first), scaled(&second.values, norm_second));
    if found.rows > 0 {
        let square: f64 = u.iter().zip(&v).map(|(u, v)| (u - v).powi(2)).sum();
        found.starc = Some((0.5 * square.sqrt()).min(1.0));
    }
    found.epic = pearson_distance(&u, &v);
    found.uncentred = pearson_distance(&raw_first, &raw_second);
    Ok(found)
}

fn pearson_distance(first: &[f64], second: &[f64]) -> Option<f64> {
    let pearson = correlation(first, second).pearson?;
    Some(((1.0 - pearson) / 2.0).max(0.0).sqrt())
}

/// A vector of length 1; zeros where it has no length.
fn scaled(values: &[f64], norm: f64) -> Vec<f64> {
    values.iter().map(|value| ratio(*value, norm).unwrap_or_default()).collect()
}

/// One rollout with both rewards.
struct PairRow {
    first: f64,
    second: f64,
    weight: f64,
}

impl PairRow {
    fn is_complete(&self) -> bool {
        self.first.is_finite() && self.second.is_finite()
    }
}

impl RewardPair<'_> {
    fn check(&self) -> Result<(), TrainerError> {
        self.groups.along("first rewards", self.first.len())?;
        self.groups.along("second rewards", self.second.len())?;
        let Some(weights) = self.reference else { return Ok(()) };
        self.groups.along("reference weights", weights.len())?;
        match weights.iter().find(|weight| !(weight.is_finite() && **weight >= 0.0)) {
            None => Ok(()),
            Some(weight) => Err(TrainerError::input(
                "reference weights",
                weight.to_string(),
                "finite numbers of at least 0",
            )),
        }
    }

    fn row(&self, row: usize) -> Option<PairRow> {
        let weight = match self.reference {
            None => 1.0,
            Some(weights) => *weights.get(row)?,
        };
        Some(PairRow { first: *self.first.get(row)?, second: *self.second.get(row)?, weight })
    }
}

/// The canonical form of a reward, prompt after prompt.
#[derive(Default)]
struct Canonical {
    values: Vec<f64>,
    /// The greatest size of a reward, before and after its prompt's mean was taken.
    greatest: f64,
}

impl Canonical {
    fn add(&mut self, rewards: &[f64], weights: &[f64]) {
        // Relative to their plain mean first, so that a large constant costs no digits.
        let level = corrected_mean(rewards).unwrap_or_default();
        let whole: f64 = weights.iter().sum();
        let weighted =
            rewards.iter().zip(weights).map(|(reward, weight)| (reward - level) * weight);
        let shift = ratio(weighted.sum(), whole).unwrap_or_default();
        self.values.extend(rewards.iter().map(|reward| (reward - level) - shift));
        let sizes = rewards.iter().map(|reward| reward.abs());
        self.greatest = sizes.fold(self.greatest, f64::max);
    }

    /// The length of the vector; 0 where it is but rounding.
    fn norm(&self) -> f64 {
        let most = self.values.iter().fold(0.0, |most: f64, value| most.max(value.abs()));
        if most <= 16.0 * f64::EPSILON * self.greatest {
            return 0.0;
        }
        let squares: f64 = self.values.iter().map(|value| (value / most).powi(2)).sum();
        most * squares.sqrt()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn distance(first: &[f64], second: &[f64], size: usize) -> RewardDistance {
        let groups = Groups::of_size(first.len(), size).unwrap();
        reward_distance(&RewardPair { groups: &groups, first, second, reference: None }).unwrap()
    }

    #[test]
    fn by_hand() {
        // Centred: (-1/2, 1/2) and (-1/2, 1/2, ...): u = (-1, 1, 0, 0) / sqrt 2 and v = (0, 0, -1, 1) /
        // sqrt 2 are orthogonal: |u - v| = sqrt 2.
        let found = distance(&[0.0, 1.0, 3.0, 3.0], &[5.0, 5.0, 0.0, 2.0], 2);
        assert!((found.starc.unwrap() - 0.5_f64.sqrt()).abs() < 1e-12);
        assert!((found.epic.unwrap() - 0.5_f64.sqrt()).abs() < 1e-12);
        assert!((found.norms.0 - 0.5_f64.sqrt()).abs() < 1e-12);
        assert_eq!((found.rows, found.prompts), (4, 2));
    }

    #[test]
    fn a_reward_without_spread_is_the_zero_vector() {
        let constant = distance(&[0.1, 0.1, 0.7, 0.7], &[0.0, 1.0, 0.0, 1.0], 2);
        assert_eq!((constant.starc, constant.epic, constant.norms.0), (Some(0.5), None, 0.0));
        let both = distance(&[0.1; 3], &[0.2; 3], 3);
        assert_eq!(both.starc, Some(0.0));
        assert_eq!(distance(&[], &[], 1).starc, None);
    }

    #[test]
    fn missing_rewards_are_left_out_of_both() {
        let found = distance(&[0.0, 1.0, f64::NAN], &[0.0, 2.0, 9.0], 3);
        assert_eq!(found.rows, 2);
        assert!(found.starc.unwrap() < 1e-12);
    }

    #[test]
    fn the_reference_policy_weighs_the_mean() {
        // The mean is that of the likely rollout: c = (0, 1, 1) and (0, 1, -1).
        let groups = Groups::of_size(3, 3).unwrap();
        let (first, second) = ([0.0, 1.0, 1.0], [0.0, 1.0, -1.0]);
        let weights = [1.0, 0.0, 0.0];
        let pair = RewardPair {
            groups: &groups,
            first: &first,
            second: &second,
            reference: Some(&weights),
        };
        let found = reward_distance(&pair).unwrap();
        assert!((found.starc.unwrap() - 0.5_f64.sqrt()).abs() < 1e-12);
        assert!(found.epic != found.starc);
        for wrong in [[0.0; 3], [1.0, -1.0, 1.0], [1.0, f64::NAN, 1.0]] {
            assert!(reward_distance(&RewardPair { reference: Some(&wrong), ..pair }).is_err());
        }
        assert!(reward_distance(&RewardPair { first: &first[..2], ..pair }).is_err());
    }

    proptest! {
        #[test]
        fn scale_and_shifts_are_0_and_the_negative_is_1(
            rewards in prop::collection::vec(-10.0..10.0, 8),
            scale in 0.01..100.0,
            shifts in prop::collection::vec(-100.0..100.0, 2),
        ) {
            let spread = distance(&rewards, &rewards, 4).norms.0;
            prop_assume!(spread > 1e-3);
            let moved = |sign: f64| -> Vec<f64> {
                let rows = rewards.iter().enumerate();
                rows.map(|(at, reward)| sign * scale * reward + shifts[at / 4]).collect()
            };
            let (same, reversed) = (distance(&rewards, &moved(1.0), 4), distance(&rewards, &moved(-1.0), 4));
            prop_assert!(same.starc.unwrap() < 1e-6 && same.epic.unwrap() < 1e-6);
            prop_assert!(reversed.starc.unwrap() > 1.0 - 1e-9);
        }

        #[test]
        fn it_is_symmetric_and_within_0_and_1(
            rows in prop::collection::vec((-10.0..10.0, -10.0..10.0), 6),
        ) {
            let (first, second): (Vec<f64>, Vec<f64>) = rows.into_iter().unzip();
            let there = distance(&first, &second, 3).starc.unwrap();
            let back = distance(&second, &first, 3).starc.unwrap();
            prop_assert!((there - back).abs() < 1e-12 && (0.0..=1.0).contains(&there));
        }
    }
}
