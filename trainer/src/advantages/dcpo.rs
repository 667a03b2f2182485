//! `dcpo`: advantages of a step, smoothed with all rewards that the prompt has had so far.

use crate::advantages::prelude::*;

/// Smooth advantage standardization: at the `i`-th step of a prompt, `N` is the deviation of a reward
/// by the standard deviation of this step and `T` that by all rewards of the prompt so far;
/// `SN = (i - 1) / i N + T / i`, `ST = N / i + (i - 1) / i T`, and `A` is that of the two with the
/// smaller absolute value. It needs `prompts`; the state holds for each prompt its steps, and the
/// count, mean and sum of squared deviations of its rewards.
///
/// Source: "DCPO: Dynamic Clipping Policy Optimization".
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema, SmartDefault)]
#[serde(deny_unknown_fields, default)]
pub struct Dcpo {
    /// Which standard deviation.
    pub std: Std,
    /// Keeps the divisors above 0.
    #[default(EPS)]
    pub eps: f64,
    /// Where it enters them.
    pub eps_at: EpsAt,
}

impl EstimatorSettings for Dcpo {
    fn check(&self) -> Result<(), TrainerError> {
        within("eps", self.eps, 0.0..)
    }
}

impl Estimator for Dcpo {
    fn estimate(&self, batch: &RewardBatch<'_>) -> Result<Advantages, TrainerError> {
        let report = report(batch)?;
        let prompts = batch.needed("dcpo", "prompts", batch.prompts)?;
        let mut state = batch.state.cloned().unwrap_or_default();
        let mut values = batch.rewards.to_vec();
        for group in batch.groups.iter() {
            let scored = |row: &usize| batch.rewards.get(*row).is_some_and(|r| !r.is_nan());
            let members: Vec<usize> = group.rows().filter(scored).collect();
            let Some(prompt) = members.first().and_then(|row| prompts.get(*row)) else { continue };
            if let Some(row) = members.iter().find(|row| prompts.get(**row) != Some(prompt)) {
                let other = prompts.get(*row).map_or("", String::as_str);
                let have = format!("\"{other}\" in row {row}");
                let expected = format!("\"{prompt}\", as in the rest of its group");
                return Err(TrainerError::input("prompts", have, expected));
            }
            let rewards: Vec<f64> =
                members.iter().filter_map(|row| batch.rewards.get(*row).copied()).collect();
            let now = Moments::of(&rewards);
            let kept = state.0.entry(prompt.clone()).or_default();
            let so_far = Kept::read(prompt, kept)?.and(&now);
            *kept = so_far.written();
            for row in members {
                if let Some(value) = values.get_mut(row) {
                    *value = self.smoothed(*value, &now, &so_far);
                }
            }
        }
        rewrite(batch, &mut values, |advantage| advantage)?;
        Ok(Advantages { values: AdvantageValues::Rollouts(values), report, state })
    }
}

impl Dcpo {
    fn smoothed(&self, reward: f64, now: &Moments, so_far: &Kept) -> f64 {
        let standardized = |mean: f64, std: f64| match reward - mean {
            0.0 => 0.0,
            deviation => divided(deviation, self.eps_at.divisor(std, self.eps)),
        };
        let step = standardized(now.mean, now.std(self.std));
        let total = standardized(so_far.mean, so_far.std(self.std));
        let (share, rest) = (1.0 / so_far.steps, (so_far.steps - 1.0) / so_far.steps);
        let (by_step, by_total) = (rest * step + share * total, share * step + rest * total);
        if by_step.abs() < by_total.abs() { by_step } else { by_total }
    }
}

/// What is kept of a prompt.
struct Kept {
    steps: f64,
    count: f64,
    mean: f64,
    squares: f64,
}

impl Kept {
    fn read(prompt: &str, kept: &[f64]) -> Result<Self, TrainerError> {
        match *kept {
            [] => Ok(Self { steps: 0.0, count: 0.0, mean: 0.0, squares: 0.0 }),
            [steps, count, mean, squares] => Ok(Self { steps, count, mean, squares }),
            _ => {
                let have = format!("{} numbers of \"{prompt}\"", kept.len());
                let expected = "4: steps, count, mean and squared deviations";
                Err(TrainerError::input("state", have, expected))
            }
        }
    }

    fn written(&self) -> Vec<f64> {
        vec![self.steps, self.count, self.mean, self.squares]
    }

    /// With the rewards of one more step ("Updating Formulae and a Pairwise Algorithm for Computing
    /// Sample Variances", Chan, Golub and `LeVeque`).
    fn and(&self, now: &Moments) -> Self {
        let more = float(now.count);
        let count = self.count + more;
        let apart = now.mean - self.mean;
        let std = now.std_biased();
        // The first step is its own mean, without a rounding.
        let mean = if self.count > 0.0 { self.mean + apart * (more / count) } else { now.mean };
        let between =
            if self.count > 0.0 { apart * apart * (self.count * more / count) } else { 0.0 };
        Self {
            steps: self.steps + 1.0,
            count,
            mean,
            squares: self.squares + std * std * more + between,
        }
    }

    fn std(&self, std: Std) -> f64 {
        match std {
            Std::Biased => (self.squares / self.count).sqrt(),
            Std::Unbiased if self.count > 1.0 => (self.squares / (self.count - 1.0)).sqrt(),
            Std::Unbiased => f64::NAN,
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::advantages::batch::{Advantages, EstimatorState};
    use crate::advantages::testing::{assert_close, estimated_with, of_rollouts};

    fn step(rewards: &'static [f64], state: EstimatorState) -> Advantages {
        let prompts = Box::leak(Box::new(vec!["p".to_owned(); rewards.len()]));
        let state = Box::leak(Box::new(state));
        let config = "kind = \"dcpo\"\nstd = \"biased\"\neps = 0";
        estimated_with(config, rewards, rewards.len(), |mut batch| {
            batch.prompts = Some(prompts);
            batch.state = Some(state);
            batch
        })
    }

    #[test]
    fn steps_are_smoothed_with_what_came_before() {
        let first = step(&[1.0, 0.0], EstimatorState::default());
        assert_close(&of_rollouts(first.clone()), &[1.0, -1.0]);
        assert_close(&first.state.0["p"], &[1.0, 2.0, 0.5, 0.5]);
        // All right: N is 0. So far 1, 0, 1, 1: mean 0.75, variance 0.1875, T = 0.57735. Both halves.
        let second = step(&[1.0, 1.0], first.state);
        let half = 0.5 * 0.25 / 0.1875_f64.sqrt();
        assert_close(&of_rollouts(second.clone()), &[half, half]);
        assert_close(&second.state.0["p"], &[2.0, 4.0, 0.75, 0.75]);
        // Third step: mean of five 0.6, squares 1.2, T = -0.6 / sqrt(0.24); N is 0: SN = T / 3.
        let third = step(&[0.0, f64::NAN], second.state);
        assert_close(&of_rollouts(third), &[-0.6 / 0.24_f64.sqrt() / 3.0, 0.0]);
    }

    #[test]
    fn equal_rewards_have_none() {
        let first = step(&[0.1, 0.1, 0.1], EstimatorState::default());
        let second = step(&[0.1, 0.1, 0.1], first.state.clone());
        assert_close(&of_rollouts(first), &[0.0; 3]);
        assert_close(&of_rollouts(second), &[0.0; 3]);
    }
}
