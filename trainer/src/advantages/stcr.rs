//! `stcr`: wrong rollouts that are longer than the right ones are pushed down harder.

use assay_verifiers::Reward;

use super::grpo::Grpo;
use super::per_group::{ScoredGroup, per_group};
use crate::advantages::prelude::*;
use crate::statistics::mean;

/// Suboptimal trajectory complexity regularization: `A` times `w = 2 - b ^ -(L - m)` for a wrong
/// rollout of `L` tokens, where `m` is the mean length of the right ones of its group and `L > m`;
/// `w = 1` otherwise, and where no rollout of the group is right. `w` is in 1 to 2. It needs `mask` or
/// `lengths`.
///
/// With the base of the source, 1.00001, 1000 tokens too many weigh 1.01; with `half_life = 2000`, the
/// weight is 1.5 after 2000 tokens.
///
/// Source: "APO: Enhancing Reasoning Ability of MLLMs via Asymmetric Policy Optimization", as in the
/// repository of View-R1, `experience_maker.py`; the half-life is ours.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema, SmartDefault)]
#[serde(deny_unknown_fields, default)]
pub struct Stcr {
    /// The base of the power, above 1.
    #[default(1.000_01)]
    pub base: f64,
    /// In tokens: takes the place of the base, `w = 2 - 2 ^ -((L - m) / half_life)`.
    pub half_life: Option<f64>,
    /// A rollout with this reward or more is right.
    #[default(Reward::RIGHT)]
    pub threshold: f64,
    /// How rewards relate to their group: settings of `grpo`.
    pub group: Grpo,
}

impl EstimatorSettings for Stcr {
    fn check(&self) -> Result<(), TrainerError> {
        within("base", self.base, 1.0..)?;
        within("threshold", self.threshold, ..)?;
        self.half_life.map_or(Ok(()), |half_life| above("half_life", half_life, 0.0))?;
        self.group.check()
    }
}

impl Estimator for Stcr {
    fn estimate(&self, batch: &RewardBatch<'_>) -> Result<Advantages, TrainerError> {
        let lengths = tokens::lengths(batch, "stcr")?;
        let mut values = vec![0.0; batch.rewards.len()];
        let report = self.group.estimate_into(batch, &mut values)?;
        let mut weights = vec![1.0; batch.rewards.len()];
        per_group(batch, &lengths, &mut weights, &|group: ScoredGroup<'_>, out: &mut [f64]| {
            let each = || group.rewards.iter().zip(group.beside);
            let right = each().filter(|(reward, _)| **reward >= self.threshold);
            let right: Vec<f64> = right.map(|(_, length)| *length).collect();
            out.fill(1.0);
            if right.is_empty() {
                return;
            }
            let usual = mean(&right);
            for (weight, (reward, length)) in out.iter_mut().zip(each()) {
                if *reward < self.threshold && *length > usual {
                    *weight = 2.0 - self.kept(length - usual);
                }
            }
        })?;
        for (value, weight) in values.iter_mut().zip(&weights) {
            *value *= weight;
        }
        Ok(Advantages::of_rollouts(values, report))
    }
}

impl Stcr {
    fn kept(&self, excess: f64) -> f64 {
        match self.half_life {
            Some(half_life) => (-excess / half_life).exp2(),
            None => self.base.powf(-excess),
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::advantages::testing::{assert_close, estimated_with, of_rollouts};

    #[test]
    fn long_wrong_rollouts_weigh_more() {
        // The right ones have 100 and 300 tokens: 200 on average. Deviations of 0.5.
        let rewards = &[1.0, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0];
        let values = |settings: &str| {
            let config = format!("kind = \"stcr\"\ngroup = {{ scale = \"none\" }}\n{settings}");
            of_rollouts(estimated_with(&config, rewards, 4, |mut batch| {
                batch.lengths = Some(&[100, 300, 150, 1200, 9, 9, 9, 900]);
                batch
            }))
        };
        let none = [0.0; 4];
        let halves = values("half_life = 1000");
        assert_close(&halves, &[&[0.5, 0.5, -0.5, -0.75], &none[..]].concat());
        let weight = 2.0 - 1.000_01_f64.powf(-1000.0);
        assert_close(&values(""), &[&[0.5, 0.5, -0.5, -0.5 * weight], &none[..]].concat());
        assert!((weight - 1.01).abs() < 1e-4);
    }
}
