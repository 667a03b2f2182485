//! Update by update: our forward and backward passes, losses and optimizer, on the very batches that TRL
//! divided its completions into.

use assay_trainer::advantages::{AdvantageValues, RewardBatch};
use assay_trainer::groups::Groups;
use assay_trainer::losses::{BatchScale, Loss, LossBatch, PolicyLoss};
use assay_trainer::policy::folder::PolicyFolder;
use assay_trainer::policy::tokenizer::PolicyTokenizer;
use assay_trainer::policy::{
    Decoder, Gradients, PolicyModel as _, Sequences, TokenGradients, TokenScores,
};
use assay_trainer::ragged::Ragged;
use assay_trainer::training::optimizer::{AdamW, clip};

use super::differences::{Differences, TOLERANCES};
use super::recorded::{
    Generation, RecordedTraining, RecordedUpdate, TrlSettings, bits, reward, rows_of,
};

/// Makes a setting another.
type Change = fn(&mut TrlSettings);

/// Our training, on the completions of another.
struct Training {
    recorded: RecordedTraining,
    tokenizer: PolicyTokenizer,
    policy: Decoder,
    /// The policy before the first update.
    reference: Decoder,
    loss: PolicyLoss,
    optimizer: AdamW,
}

/// The completions of one generation, as what losses are computed from.
struct Rollouts {
    sequences: Sequences,
    mask: Ragged<bool>,
    advantages: Vec<f64>,
    old: Option<Ragged<f64>>,
    reference: Option<Ragged<f64>>,
}

#[test]
fn the_defaults_of_trl() {
    assert_trained_alike("dapo");
}

#[test]
fn a_reference_and_two_iterations() {
    assert_trained_alike("grpo_kl");
}

#[test]
fn accumulation_and_truncated_completions() {
    assert_trained_alike("dr_grpo");
}

#[test]
fn an_entropy_bonus_and_two_updates_a_generation() {
    assert_trained_alike("bnpo_entropy");
}

#[test]
fn another_setting_is_seen() {
    let changes: [(&str, &str, Change); 10] = [
        ("dapo", "weights", |settings| settings.weight_decay = 0.09),
        ("dapo", "weights", |settings| settings.adam_epsilon = 1e-6),
        ("dapo", "learning rate", |settings| settings.warmup_steps = 4),
        ("dapo", "gradient norm", |settings| settings.max_grad_norm = 0.0),
        ("grpo_kl", "loss", |settings| settings.beta = 0.039),
        ("grpo_kl", "entropy", |settings| settings.temperature = 0.91),
        ("grpo_kl", "loss", |settings| settings.epsilon_high = 0.21),
        ("dr_grpo", "weights", |settings| settings.mask_truncated_completions = false),
        ("bnpo_entropy", "advantage", |settings| settings.scale_rewards = "group".to_owned()),
        ("bnpo_entropy", "loss", |settings| settings.entropy_coef = 0.011),
    ];
    for (name, what, change) in changes {
        let mut recorded = RecordedTraining::read(name);
        change(&mut recorded.settings);
        let differences = Training::new(recorded).differences();
        let (_, tolerance) = TOLERANCES.into_iter().find(|(of, _)| *of == what).unwrap();
        assert!(
            differences.most(what) > 2.0 * tolerance,
            "{name}: {what} of {:e}",
            differences.most(what)
        );
    }
}

/// Trains as TRL did, and compares number by number.
fn assert_trained_alike(name: &str) {
    Training::new(RecordedTraining::read(name)).differences().assert_small(name);
}

impl Training {
    fn new(recorded: RecordedTraining) -> Self {
        let PolicyFolder { decoder: policy, tokenizer } = recorded.policy();
        let updates = recorded.updates.len() as u64;
        assert_eq!(updates, 50);
        let config = recorded.settings.optimizer();
        Self {
            tokenizer,
            reference: policy.clone(),
            loss: recorded.settings.loss(),
            optimizer: AdamW::new(&config, policy.parameters(), updates).unwrap(),
            policy,
            recorded,
        }
    }

    /// The greatest differences of a whole training.
    fn differences(mut self) -> Differences {
        let mut differences = Differences::default();
        let mut rollouts: Option<(usize, Rollouts)> = None;
        for update in self.recorded.updates.clone() {
            let made = match rollouts.take() {
                Some((generation, made)) if generation == update.generation => made,
                _ => self.rollouts(&self.recorded.generations[update.generation], &mut differences),
            };
            self.update(&made, &update, &mut differences);
            rollouts = Some((update.generation, made));
        }
        assert_eq!(rollouts.unwrap().0 + 1, self.recorded.generations.len());
        let (before, after) = (self.reference.parameters(), self.policy.parameters());
        differences.add_weights(&self.recorded, before, after);
        differences
    }

    /// Rewards, advantages and what the policy and the reference say of a generation.
    fn rollouts(&self, generation: &Generation, differences: &mut Differences) -> Rollouts {
        let settings = &self.recorded.settings;
        let rewards = self.rewards(generation);
        assert_eq!(bits(&rewards), bits(&generation.rewards));
        let advantages = self.advantages(&rewards);
        for (own, theirs) in advantages.iter().zip(&generation.advantages) {
            differences.add("advantage", own - theirs);
        }
        let mut sequences = Sequences::default();
        for (row, completion) in generation.completions.iter().enumerate() {
            sequences.push(generation.prompt_ids.row(row / settings.num_generations), completion);
        }
        let stop = self.tokenizer.stop_tokens();
        let is_trained = |row: &[u32]| {
            !settings.mask_truncated_completions
                || row.last().is_some_and(|last| stop.contains(last))
        };
        let mask =
            sequences.completions.iter().map(|row| vec![is_trained(row); row.len()]).collect();
        let log_probs =
            |policy: &Decoder| policy.score(&sequences, settings.temperature).unwrap().log_probs;
        let is_reused = settings.updates_per_generation() > 1;
        let old = is_reused.then(|| log_probs(&self.policy));
        let reference = (settings.beta != 0.0).then(|| log_probs(&self.reference));
        Rollouts { sequences, mask, advantages, old, reference }
    }

    fn rewards(&self, generation: &Generation) -> Vec<Option<f64>> {
        let size = self.recorded.settings.num_generations;
        let rows = generation.completions.iter().enumerate();
        let rewards = rows.map(|(row, completion)| {
            let prompt = &generation.prompts[row / size];
            assert_eq!(
                self.tokenizer.encode(prompt).unwrap(),
                generation.prompt_ids.row(row / size)
            );
            reward(&self.tokenizer.decode(completion), self.recorded.answer(prompt))
        });
        rewards.collect()
    }

    fn advantages(&self, rewards: &[Option<f64>]) -> Vec<f64> {
        let rewards: Vec<f64> = rewards.iter().map(|reward| reward.unwrap_or(f64::NAN)).collect();
        let groups =
            Groups::of_size(rewards.len(), self.recorded.settings.num_generations).unwrap();
        let estimator = self.recorded.settings.estimator();
        let batch = RewardBatch::new(&groups, &rewards).unwrap();
        match estimator.estimate(&batch).unwrap().values {
            AdvantageValues::Rollouts(values) => values,
            AdvantageValues::Tokens(_) => panic!("an advantage for each token"),
        }
    }

    /// One update, on the batches that TRL made it on.
    fn update(
        &mut self,
        rollouts: &Rollouts,
        update: &RecordedUpdate,
        differences: &mut Differences,
    ) {
        let mut gradients = self.policy.parameters().gradients();
        let (mut losses, mut entropies, mut divergences, mut clipped) = (0.0, 0.0, 0.0, 0.0);
        for batch in &update.batches {
            let batch_rollouts = rollouts.select(&batch.rows);
            let (scores, loss) = self.accumulate(&batch_rollouts, rollouts, &mut gradients);
            differences.add("loss", loss.value - batch.loss);
            losses += loss.value;
            let share = 1.0 / update.batches.len() as f64;
            entropies += share * masked_mean(&scores.entropies, &batch_rollouts.mask);
            divergences += share * loss.metrics.get("kl").copied().unwrap_or_default();
            clipped += share * loss.metrics["clip_fraction"];
        }
        differences.add("loss", losses - update.loss);
        differences.add("entropy", entropies - update.entropy);
        differences.add("kl", divergences - update.kl.unwrap_or_default());
        differences.add("clipped", clipped - update.clipped);
        let norm = clip(&mut gradients, self.recorded.settings.max_grad_norm);
        differences.add("gradient norm", norm / update.grad_norm - 1.0);
        let report = self.optimizer.update(self.policy.parameters_mut(), &gradients).unwrap();
        let rate = self.recorded.settings.learning_rate;
        differences.add("learning rate", (report.learning_rate - update.learning_rate) / rate);
    }

    /// The loss of a batch; its gradient is added to the others of the update.
    fn accumulate(
        &self,
        batch: &Rollouts,
        generation: &Rollouts,
        gradients: &mut Gradients,
    ) -> (TokenScores, Loss) {
        let settings = &self.recorded.settings;
        let (scores, kept) = self.policy.forward(&batch.sequences, settings.temperature).unwrap();
        let advantages = AdvantageValues::Rollouts(batch.advantages.clone());
        let trained = generation.mask.values().iter().filter(|is_trained| **is_trained).count();
        let loss = self.loss.loss(&LossBatch {
            old: batch.old.as_ref(),
            reference: batch.reference.as_ref(),
            entropy: Some(&scores.entropies),
            mask: Some(&batch.mask),
            completion_max: Some(settings.max_completion_length as f64),
            scale: BatchScale {
                tokens: Some(trained as f64),
                accumulation_steps: settings.gradient_accumulation_steps as f64,
                steps_per_generation: Some(settings.batches() as f64),
                ..BatchScale::default()
            },
            ..LossBatch::new(&scores.log_probs, &advantages)
        });
        let loss = loss.unwrap();
        let of_tokens = TokenGradients {
            log_probs: loss.gradient.clone(),
            entropies: loss.entropy_gradient.clone(),
        };
        self.policy.backward(kept, &of_tokens, gradients).unwrap();
        (scores, loss)
    }
}

impl Rollouts {
    fn select(&self, rows: &[usize]) -> Self {
        Self {
            sequences: self.sequences.select(rows),
            mask: rows_of(&self.mask, rows),
            advantages: rows.iter().map(|row| self.advantages[*row]).collect(),
            old: self.old.as_ref().map(|old| rows_of(old, rows)),
            reference: self.reference.as_ref().map(|reference| rows_of(reference, rows)),
        }
    }
}

fn masked_mean(values: &Ragged<f64>, mask: &Ragged<bool>) -> f64 {
    let kept = values.values().iter().zip(mask.values()).filter(|(_, is_kept)| **is_kept);
    let (sum, count) =
        kept.fold((0.0, 0.0_f64), |(sum, count), (value, _)| (sum + value, count + 1.0));
    sum / count.max(1.0)
}
