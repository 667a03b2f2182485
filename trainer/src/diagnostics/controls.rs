//! Spurious rewards: controls that carry no signal, or the wrong one. A run that gains as much from one
//! of these as from the reward learns nothing from the reward.

use assay_verifiers::stats::{SplitMix64, fnv1a};
use serde::Serialize;

/// A reward that says nothing of, or against, correctness.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(rename_all = "snake_case", tag = "control")]
pub enum ControlReward {
    /// The same for every rollout.
    Constant {
        /// Which.
        reward: f64,
    },
    /// 1 with a probability, else 0, whatever the rollout says.
    Bernoulli {
        /// The probability of 1, from 0 to 1.
        probability: f64,
        /// The seed of the draws.
        seed: u64,
    },
    /// 1 where the rollout has the format, else 0.
    FormatOnly,
    /// 1 where the answer is the most frequent one of its prompt, else 0.
    Majority,
    /// 1 minus whether the rollout is correct.
    Inverted,
}

/// What a control may look at.
#[derive(Clone, Copy, Debug, Default)]
pub struct ControlRow<'a> {
    /// The prompt, or what stands for it.
    pub prompt: &'a str,
    /// The response.
    pub response: &'a str,
    /// The number of the rollout among those of its prompt: two rollouts with equal texts are still
    /// two draws.
    pub rollout: u64,
    /// Whether it has the format.
    pub has_format: Option<bool>,
    /// The answer that was found in it.
    pub answer: Option<&'a str>,
    /// The most frequent answer of its prompt.
    pub majority: Option<&'a str>,
    /// Whether it is correct.
    pub correct: Option<bool>,
}

impl ControlReward {
    /// The reward of a rollout; NaN (missing) where the control needs what the row does not have.
    ///
    /// Source: "Spurious Rewards: Rethinking Training Signals in RLVR" (Shao et al. 2025), section 2:
    /// random, format, majority and incorrect rewards. The draws depend on the seed, the prompt, the
    /// response and the number of the rollout alone, so that they are the same on every machine and in
    /// every order.
    pub fn reward(&self, row: &ControlRow<'_>) -> f64 {
        let label = |label: Option<bool>| label.map_or(f64::NAN, f64::from);
        match self {
            Self::Constant { reward } => *reward,
            Self::Bernoulli { probability, seed } => {
                let seeds = [*seed, fnv1a(0, row.prompt), fnv1a(0, row.response), row.rollout];
                f64::from(SplitMix64::of(&seeds).unit() < *probability)
            }
            Self::FormatOnly => label(row.has_format),
            Self::Majority => match row.majority {
                None => f64::NAN,
                // A rollout without an answer has not voted.
                Some(majority) => f64::from(row.answer == Some(majority)),
            },
            Self::Inverted => 1.0 - label(row.correct),
        }
    }
}

/// The most frequent of the answers of a prompt; of several, the one that was given first.
pub fn majority_answer<'a>(answers: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let mut counts: Vec<(&str, usize)> = Vec::new();
    for answer in answers {
        match counts.iter_mut().find(|(known, _)| *known == answer) {
            Some((_, count)) => *count += 1,
            None => counts.push((answer, 1)),
        }
    }
    let most = counts.iter().map(|(_, count)| *count).max()?;
    counts.into_iter().find(|(_, count)| *count == most).map(|(answer, _)| answer)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rewards(control: ControlReward, row: ControlRow<'_>) -> Vec<f64> {
        (0..2000).map(|rollout| control.reward(&ControlRow { rollout, ..row })).collect()
    }

    #[test]
    fn random_rewards_repeat_and_know_nothing() {
        let control = ControlReward::Bernoulli { probability: 0.3, seed: 7 };
        let (right, wrong) = (
            ControlRow { prompt: "p", response: "a", correct: Some(true), ..ControlRow::default() },
            ControlRow {
                prompt: "p",
                response: "a",
                correct: Some(false),
                ..ControlRow::default()
            },
        );
        let drawn = rewards(control, right);
        assert_eq!(drawn, rewards(control, wrong));
        let sum: f64 = drawn.iter().sum();
        assert!((540.0..660.0).contains(&sum), "{sum}");
        for other in [ControlRow { prompt: "q", ..right }, ControlRow { response: "b", ..right }] {
            assert_ne!(drawn, rewards(control, other));
        }
        let reseeded = ControlReward::Bernoulli { probability: 0.3, seed: 8 };
        assert_ne!(drawn, rewards(reseeded, right));
        let never = ControlReward::Bernoulli { probability: 0.0, seed: 7 };
        let always = ControlReward::Bernoulli { probability: 1.0, seed: 7 };
        assert!(rewards(never, right).iter().all(|reward| *reward < 0.5));
        assert!(rewards(always, right).iter().all(|reward| *reward > 0.5));
    }

    #[test]
    fn the_others_look_at_one_thing() {
        let row = ControlRow {
            has_format: Some(true),
            answer: Some("4"),
            majority: majority_answer(["5", "4", "5", "4"]),
            correct: Some(true),
            ..ControlRow::default()
        };
        let of = |control: ControlReward| control.reward(&row).to_string();
        assert_eq!(of(ControlReward::Constant { reward: 0.5 }), "0.5");
        assert_eq!(of(ControlReward::FormatOnly), "1");
        assert_eq!(of(ControlReward::Majority), "0");
        assert_eq!(of(ControlReward::Inverted), "0");
        let none = ControlRow::default();
        for control in [ControlReward::FormatOnly, ControlReward::Majority, ControlReward::Inverted]
        {
            assert!(control.reward(&none).is_nan());
        }
        assert_eq!(majority_answer([]), None);
    }
}
