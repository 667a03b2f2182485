//! The updates of a policy: forward passes, the loss, backward passes, the optimiser.

use std::collections::BTreeMap;

use super::batch::{TrainBatch, advantages_of, passes, rows_of};
use super::error::TrainingError;
use super::optimizer::{AdamW, clip};
use crate::advantages::AdvantageValues;
use crate::losses::batch::EntropyState;
use crate::losses::{Loss, LossBatch, PolicyLoss};
use crate::policy::{Gradients, PolicyModel, Sequences, TokenGradients, TokenScores};
use crate::ragged::Ragged;

/// What an update is made with.
pub(super) struct Updater<'a, P> {
    pub(super) policy: &'a mut P,
    pub(super) loss: &'a PolicyLoss,
    pub(super) optimizer: &'a mut AdamW,
    pub(super) gradients: &'a mut Gradients,
    pub(super) settings: UpdateSettings,
}

/// How updates are made.
#[derive(Clone, Copy, Debug)]
pub(super) struct UpdateSettings {
    pub(super) temperature: f64,
    /// The most tokens of a forward pass.
    pub(super) tokens_per_pass: usize,
    /// The greatest norm of a gradient; 0 is not a bound.
    pub(super) max_grad_norm: f64,
    /// The greatest length of a completion.
    pub(super) completion_max: f64,
}

/// What an update came to.
#[derive(Clone, Debug, Default)]
pub(super) struct Updated {
    /// The measurements of the loss by its names, and `grad_norm`, `learning_rate`, `entropy`, `kl`.
    pub(super) metrics: BTreeMap<String, f64>,
    /// The entropy at each token.
    pub(super) entropies: Ragged<f64>,
}

impl<P: PolicyModel> Updater<'_, P> {
    /// One update.
    pub(super) fn update(
        &mut self,
        batch: &TrainBatch,
        advantages: &AdvantageValues,
        entropy: &mut Option<EntropyState>,
        seed: u64,
    ) -> Result<Updated, TrainingError> {
        self.gradients.clear();
        let passes = passes(&batch.sequences, self.settings.tokens_per_pass);
        let (scores, loss) = if passes.len() == 1 {
            let (scores, kept) =
                self.policy.forward(&batch.sequences, self.settings.temperature)?;
            let loss = self.loss_of(batch, (advantages, &scores), *entropy, seed)?;
            self.policy.backward(kept, &gradients_of(&loss, None), self.gradients)?;
            (scores, loss)
        } else {
            self.in_passes(batch, advantages, &passes, (*entropy, seed))?
        };
        *entropy = loss.entropy_state;
        let mut metrics: BTreeMap<String, f64> =
            loss.metrics.iter().map(|(name, value)| ((*name).to_owned(), *value)).collect();
        metrics.insert("grad_norm".into(), clip(self.gradients, self.settings.max_grad_norm));
        let report = self.optimizer.update(self.policy.parameters_mut(), self.gradients)?;
        metrics.insert("learning_rate".into(), report.learning_rate);
        metrics.insert("entropy".into(), masked_mean(&scores.entropies, &batch.mask));
        if let Some(reference) = &batch.reference {
            // A penalty in the loss has measured it, by its own estimate.
            let estimate = || divergence(&scores.log_probs, reference, &batch.mask);
            metrics.entry("kl".into()).or_insert_with(estimate);
        }
        Ok(Updated { metrics, entropies: scores.entropies })
    }

    /// Every token is scored before the loss is known, so passes are gone through twice.
    fn in_passes(
        &mut self,
        batch: &TrainBatch,
        advantages: &AdvantageValues,
        passes: &[Vec<usize>],
        (entropy, seed): (Option<EntropyState>, u64),
    ) -> Result<(TokenScores, Loss), TrainingError> {
        let scores = score(self.policy, &batch.sequences, self.settings)?;
        let loss = self.loss_of(batch, (advantages, &scores), entropy, seed)?;
        for rows in passes {
            let sequences = batch.sequences.select(rows);
            let (_, kept) = self.policy.forward(&sequences, self.settings.temperature)?;
            self.policy.backward(kept, &gradients_of(&loss, Some(rows)), self.gradients)?;
        }
        Ok((scores, loss))
    }

    fn loss_of(
        &self,
        batch: &TrainBatch,
        (advantages, scores): (&AdvantageValues, &TokenScores),
        entropy_state: Option<EntropyState>,
        seed: u64,
    ) -> Result<Loss, TrainingError> {
        Ok(self.loss.loss(&LossBatch {
            old: batch.old.as_ref(),
            reference: batch.reference.as_ref(),
            rollout: Some(&batch.rollout),
            entropy: Some(&scores.entropies),
            mask: Some(&batch.mask),
            staleness: Some(&batch.staleness),
            completion_max: Some(self.settings.completion_max),
            entropy_state,
            seed,
            ..LossBatch::new(&scores.log_probs, advantages)
        })?)
    }
}

/// The log-probabilities and entropies of all sequences, pass by pass.
pub(super) fn score<P: PolicyModel>(
    policy: &P,
    sequences: &Sequences,
    settings: UpdateSettings,
) -> Result<TokenScores, TrainingError> {
    let mut all = TokenScores::default();
    for rows in passes(sequences, settings.tokens_per_pass) {
        let scores = policy.score(&sequences.select(&rows), settings.temperature)?;
        scores.log_probs.iter().for_each(|row| all.log_probs.push(row.iter().copied()));
        scores.entropies.iter().for_each(|row| all.entropies.push(row.iter().copied()));
    }
    Ok(all)
}

/// The rows of a batch in random order, in `parts` shares that differ by one at most; in their order
/// where there is one.
pub(super) fn minibatches(
    batch: &TrainBatch,
    advantages: &AdvantageValues,
    order: &[usize],
    parts: usize,
) -> Vec<(TrainBatch, AdvantageValues)> {
    let parts = parts.clamp(1, order.len().max(1));
    (0..parts)
        .map(|part| {
            let of = |part: usize| part * order.len() / parts;
            let rows = order.split_at(of(part + 1)).0.split_at(of(part)).1;
            (batch.select(rows), advantages_of(advantages, rows))
        })
        .collect()
}

fn gradients_of(loss: &Loss, rows: Option<&[usize]>) -> TokenGradients {
    let of = |gradient: &Ragged<f64>| {
        rows.map_or_else(|| gradient.clone(), |rows| rows_of(gradient, rows))
    };
    TokenGradients {
        log_probs: of(&loss.gradient),
        entropies: loss.entropy_gradient.as_ref().map(of),
    }
}

/// The mean over what is trained on; 0 of nothing.
fn masked_mean(values: &Ragged<f64>, mask: &Ragged<bool>) -> f64 {
    let kept = values.values().iter().zip(mask.values()).filter(|(_, kept)| **kept);
    let (sum, count) = kept.fold((0.0, 0.0), |(sum, count), (value, _)| (sum + value, count + 1.0));
    if count > 0.0 { sum / count } else { 0.0 }
}

/// The mean of the estimate `k3` of the divergence from the reference, as trainers report it.
fn divergence(log_probs: &Ragged<f64>, reference: &Ragged<f64>, mask: &Ragged<bool>) -> f64 {
    let tokens = log_probs.values().iter().zip(reference.values());
    let k3: Vec<f64> = tokens.map(|(own, other)| (other - own).exp_m1() - (other - own)).collect();
    Ragged::from_parts(k3, log_probs.lengths()).map_or(0.0, |k3| masked_mean(&k3, mask))
}
