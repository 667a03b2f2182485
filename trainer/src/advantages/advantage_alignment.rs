//! `advantage_alignment`: what an agent earned so far, times what the other one earns now.

use crate::advantages::prelude::*;
use crate::statistics::sum_sorted;

/// Advantage alignment for games of two agents:
/// `A*_t = A_t + beta gamma (sum over k < t of gamma^(t-k-1) A_k) B_t`, where `A` are the advantages of
/// the agent at its turns and `B` those of the other one. The advantage of a turn is its discounted
/// return less the mean return at the same turn of the same role in the group, which are parallel games
/// of one prompt. The product is clipped.
///
/// It needs `roles` (two in each group: the n-th rollout of one role played against the n-th of the
/// other), `steps` for turns, and `mask` or `lengths`. A turn without a reward adds nothing to returns,
/// and a game of which one rollout has no reward is left out.
///
/// Source: "Advantage Alignment Algorithms"; "Learning Robust Social Strategies with Large
/// Language Models" for the group-relative baseline.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema, SmartDefault)]
#[serde(deny_unknown_fields, default)]
pub struct AdvantageAlignment {
    /// The weight of the product.
    #[default(1.0)]
    pub beta: f64,
    /// The discount of a turn, 0 to 1.
    #[default(1.0)]
    pub gamma: f64,
    /// The product is set to this where it is beyond, on both sides.
    pub clip: Option<f64>,
}

impl EstimatorSettings for AdvantageAlignment {
    fn check(&self) -> Result<(), TrainerError> {
        within("beta", self.beta, ..)?;
        within("gamma", self.gamma, 0.0..=1.0)?;
        self.clip.map_or(Ok(()), |clip| above("clip", clip, 0.0))
    }
}

impl Estimator for AdvantageAlignment {
    fn estimate(&self, batch: &RewardBatch<'_>) -> Result<Advantages, TrainerError> {
        let kind = "advantage_alignment";
        let report = report(batch)?;
        let roles = batch.needed(kind, "roles", batch.roles)?;
        let turns = batch.needed_rows(kind, "steps", batch.steps)?;
        let mask = tokens::trained(batch, kind)?;
        tokens::ordered_steps(&mask, turns)?;
        let mut values = turns.map(|_| 0.0);
        for (at, group) in batch.groups.iter().enumerate() {
            let rows: Vec<usize> = group.rows().collect();
            let games = games(batch, roles, &rows, at)?;
            let one: Vec<usize> = games.iter().map(|game| game.0).collect();
            let other: Vec<usize> = games.iter().map(|game| game.1).collect();
            for side in [&one, &other] {
                self.unaligned(side, turns, &mut values);
            }
            for (one, other) in games {
                let own = (values.row(one).to_vec(), values.row(other).to_vec());
                let aligned = (self.align(&own.0, &own.1), self.align(&own.1, &own.0));
                values.row_mut(one).copy_from_slice(&aligned.0);
                values.row_mut(other).copy_from_slice(&aligned.1);
            }
        }
        let values = tokens::spread_steps(&mask, turns, &values, &vec![0.0; mask.rows()]);
        tokens::checked(batch, &values)?;
        Ok(Advantages::of_tokens(values, report))
    }
}

impl AdvantageAlignment {
    /// The aligned advantages of an agent, given its own and those of the other one at each turn. A
    /// turn that the other one has not had is not aligned.
    pub fn align(&self, own: &[f64], other: &[f64]) -> Vec<f64> {
        let mut earned = 0.0;
        let mut aligned = Vec::with_capacity(own.len());
        for (at, advantage) in own.iter().enumerate() {
            let other = other.get(at).copied().unwrap_or(0.0);
            let product = self.beta * self.gamma * earned * other;
            let product = self.clip.map_or(product, |clip| product.clamp(-clip, clip));
            aligned.push(advantage + product);
            earned = self.gamma * earned + advantage;
        }
        aligned
    }

    /// Writes the returns of the turns of these rollouts, less their means at the same turn.
    fn unaligned(&self, rows: &[usize], turns: &Ragged<StepReward>, values: &mut Ragged<f64>) {
        for row in rows {
            let mut rest = 0.0;
            let both = values.row_mut(*row).iter_mut().zip(turns.row(*row));
            for (value, turn) in both.rev() {
                let reward = if turn.reward.is_nan() { 0.0 } else { turn.reward };
                rest = reward + self.gamma * rest;
                *value = rest;
            }
        }
        let longest = rows.iter().map(|row| turns.row(*row).len()).max().unwrap_or(0);
        for turn in 0..longest {
            let reached = rows.iter().filter_map(|row| values.row(*row).get(turn).copied());
            let reached: Vec<f64> = reached.collect();
            let count = float(reached.len());
            let mean = match reached.first() {
                Some(first) if crate::statistics::is_constant(&reached) => *first,
                _ => sum_sorted(reached) / count,
            };
            for row in rows {
                if let Some(value) = values.row_mut(*row).get_mut(turn) {
                    *value -= mean;
                }
            }
        }
    }
}

/// The games of a group: the rows of both sides, where both have a reward.
fn games(
    batch: &RewardBatch<'_>,
    roles: &[String],
    rows: &[usize],
    group: usize,
) -> Result<Vec<(usize, usize)>, TrainerError> {
    let role = |row: &usize| roles.get(*row).map(String::as_str).unwrap_or_default();
    let first = rows.first().map(role).unwrap_or_default();
    let (one, other): (Vec<usize>, Vec<usize>) = rows.iter().partition(|row| role(row) == first);
    let is_pair = other.iter().all(|row| Some(role(row)) == other.first().map(role));
    if one.len() != other.len() || !is_pair {
        let have =
            format!("{} rollouts of \"{first}\" of {} in group {group}", one.len(), rows.len());
        return Err(TrainerError::input("roles", have, "two roles, with as many rollouts each"));
    }
    let scored = |row: &usize| batch.rewards.get(*row).is_some_and(|reward| !reward.is_nan());
    let games = one.into_iter().zip(other);
    Ok(games.filter(|(one, other)| scored(one) && scored(other)).collect())
}

#[cfg(test)]
mod tests {
    use super::AdvantageAlignment;
    use crate::Groups;
    use crate::advantages::batch::{Estimator as _, RewardBatch, StepReward};
    use crate::advantages::testing::{assert_close, estimated_with, of_tokens};

    #[test]
    fn what_was_earned_weighs_what_the_other_earns() {
        let settings = AdvantageAlignment { beta: 2.0, gamma: 0.5, clip: None };
        // Earned before: 0, 1, 0.5 * 1 + 2 = 2.5; products 0, 2 * 0.5 * 1 * 4, 2 * 0.5 * 2.5 * -1.
        assert_close(&settings.align(&[1.0, 2.0, 3.0], &[9.0, 4.0, -1.0]), &[1.0, 6.0, 0.5]);
        assert_close(&settings.align(&[1.0, 2.0, 3.0], &[9.0, 4.0]), &[1.0, 6.0, 3.0]);
        let clipped = AdvantageAlignment { clip: Some(1.5), ..settings };
        assert_close(&clipped.align(&[1.0, 2.0, 3.0], &[9.0, 4.0, -1.0]), &[1.0, 3.5, 1.5]);
    }

    #[test]
    fn games_of_a_prompt_are_a_baseline() {
        // Returns of "a": (3, 2) and (1, 0), less their means: (1, 1) and (-1, -1). Of "b": (0, 0) and
        // (2, 2): (-1, -1) and (1, 1). Second turn of the first: 1 + 1 * -1 = 0.
        let turns = [[1.0, 2.0], [0.0, 0.0], [1.0, 0.0], [0.0, 2.0]];
        let turn = |(at, reward): (usize, f64)| StepReward::new(at + 1, reward);
        let turns = turns.map(|game| game.into_iter().enumerate().map(turn).collect::<Vec<_>>());
        let turns = Box::leak(Box::new(turns.into_iter().collect()));
        let roles = Box::leak(Box::new(["a", "b", "a", "b"].map(str::to_owned)));
        let config = r#"kind = "advantage_alignment""#;
        let values = of_tokens(estimated_with(config, &[3.0, 0.0, 1.0, 2.0], 4, |mut batch| {
            batch.lengths = Some(&[2, 2, 2, 2]);
            batch.steps = Some(turns);
            batch.roles = Some(roles);
            batch
        }));
        assert_close(values.values(), &[1.0, 0.0, -1.0, -2.0, -1.0, -2.0, 1.0, 0.0]);
    }

    #[test]
    fn a_game_has_two_sides() {
        let groups = Groups::of_size(3, 3).unwrap();
        let roles = ["a", "b", "b"].map(str::to_owned);
        let steps = (0..3).map(|_| Vec::new()).collect();
        let mut batch = RewardBatch::new(&groups, &[0.0; 3]).unwrap();
        batch.roles = Some(&roles);
        batch.steps = Some(&steps);
        batch.lengths = Some(&[1, 1, 1]);
        let error = AdvantageAlignment::default().estimate(&batch).unwrap_err().to_string();
        assert!(error.contains("1 rollouts of \"a\" of 3 in group 0"), "{error}");
    }
}
