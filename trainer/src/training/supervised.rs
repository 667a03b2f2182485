//! Supervised training on demonstrations: the mean negative log-likelihood of the tokens of their
//! completions.

use super::batch::{passes, rows_of};
use super::error::TrainingError;
use super::optimizer::{AdamW, clip};
use super::seeds::{Purpose, order, seed};
use crate::config::{ToolConfig, WarmupConfig};
use crate::error::TrainerError;
use crate::policy::{PolicyModel, Sequences, TextTokenizer, TokenGradients};
use crate::ragged::Ragged;

/// A prompt and the completion that it should have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Demonstration {
    /// The prompt, ready for the tokenizer.
    pub prompt: String,
    /// The completion, without the token that ends it.
    pub completion: String,
}

/// An update of the supervised training.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct WarmupReport {
    /// The update, counted from 1.
    pub update: u64,
    /// The mean negative log-likelihood of a token, in nats, before the update.
    pub loss: f64,
    /// The norm of the gradient before clipping.
    pub grad_norm: f64,
}

/// What demonstrations are learned with.
pub struct Warmup<'a> {
    /// How.
    pub config: &'a WarmupConfig,
    /// The most tokens of a forward pass.
    pub tokens_per_pass: usize,
    /// From which the order of demonstrations is drawn.
    pub seed: u64,
    /// The tokenizer of the policy. Its first stop token ends each completion.
    pub tokenizer: &'a dyn TextTokenizer,
    /// The tool whose results demonstrations hold: these are not trained on.
    pub tool: Option<&'a ToolConfig>,
}

impl Warmup<'_> {
    /// Trains a policy on demonstrations, gone through in a new random order each time. `watch` is told
    /// of each update and ends the training early by `false`.
    ///
    /// # Errors
    /// No demonstrations, or one that is not of the tokens of the policy or too long.
    pub fn run<P: PolicyModel>(
        &self,
        policy: &mut P,
        demonstrations: &[Demonstration],
        mut watch: impl FnMut(WarmupReport) -> bool,
    ) -> Result<(), TrainingError> {
        let (all, mask) = self.sequences(policy, demonstrations)?;
        let mut optimizer =
            AdamW::new(&self.config.optimizer, policy.parameters(), self.config.steps)?;
        let mut gradients = policy.parameters().gradients();
        let mut waiting: Vec<usize> = Vec::new();
        let mut epoch = 0;
        for update in 1..=self.config.steps {
            while waiting.len() < self.config.batch_size {
                waiting
                    .extend(order(all.rows(), seed(self.seed, Purpose::Demonstrations, epoch, 0)));
                epoch += 1;
            }
            let rows: Vec<usize> = waiting.drain(..self.config.batch_size).collect();
            let batch = all.select(&rows);
            gradients.clear();
            let loss = self.pass(policy, (&batch, &rows_of(&mask, &rows)), &mut gradients)?;
            let grad_norm = clip(&mut gradients, self.config.optimizer.max_grad_norm);
            optimizer.update(policy.parameters_mut(), &gradients)?;
            if !watch(WarmupReport { update, loss, grad_norm }) {
                break;
            }
        }
        Ok(())
    }

    fn sequences<P: PolicyModel>(
        &self,
        policy: &P,
        demonstrations: &[Demonstration],
    ) -> Result<(Sequences, Ragged<bool>), TrainingError> {
        if demonstrations.is_empty() || self.config.batch_size == 0 {
            let have =
                format!("{}, in batches of {}", demonstrations.len(), self.config.batch_size);
            return Err(TrainerError::input("demonstrations", have, "one or more").into());
        }
        let (mut sequences, mut mask) = (Sequences::default(), Ragged::new());
        for (at, demonstration) in demonstrations.iter().enumerate() {
            let prompt = self.tokenizer.encode(&demonstration.prompt)?;
            let text = demonstration.completion.as_str();
            let parts = self.tool.map_or_else(|| vec![(text, false)], |tool| tool.parts(text));
            let (mut completion, mut trained) = (Vec::new(), Vec::new());
            for (part, is_result) in parts {
                completion.extend(self.tokenizer.encode(part)?);
                trained.resize(completion.len(), !is_result);
            }
            completion.extend(self.tokenizer.stop_tokens().first());
            trained.resize(completion.len(), true);
            let tokens = prompt.len() + completion.len();
            if prompt.is_empty() || tokens > policy.positions_max() {
                let have = format!("{tokens} tokens, {} of them the prompt", prompt.len());
                let expected = format!("a prompt, and at most {} tokens", policy.positions_max());
                return Err(
                    TrainerError::input(format!("demonstration {at}"), have, expected).into()
                );
            }
            sequences.push(&prompt, &completion);
            mask.push(trained);
        }
        Ok((sequences, mask))
    }

    #[expect(clippy::cast_precision_loss, reason = "no batch has 2^53 tokens")]
    fn pass<P: PolicyModel>(
        &self,
        policy: &P,
        (batch, mask): (&Sequences, &Ragged<bool>),
        gradients: &mut crate::policy::Gradients,
    ) -> Result<f64, TrainingError> {
        let trained = mask.values().iter().filter(|trained| **trained).count();
        let share = 1.0 / trained.max(1) as f64;
        let mut loss = 0.0;
        for rows in passes(batch, self.tokens_per_pass) {
            let (scores, kept) = policy.forward(&batch.select(&rows), 1.0)?;
            let weights = rows_of(mask, &rows).map(|trained| f64::from(u8::from(*trained)));
            let terms = scores.log_probs.values().iter().zip(weights.values());
            loss -= terms.map(|(log_prob, weight)| log_prob * weight).sum::<f64>() * share;
            let log_probs = weights.map(|weight| -share * weight);
            policy.backward(kept, &TokenGradients { log_probs, entropies: None }, gradients)?;
        }
        Ok(loss)
    }
}
