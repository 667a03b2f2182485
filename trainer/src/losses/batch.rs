//! The numbers that a loss is computed from.

use crate::advantages::AdvantageValues;
use crate::losses::prelude::*;

/// The log-probabilities of a batch, and what losses need beside them. Only `logp` and `advantages`
/// must be given; a loss that needs more says so in its error.
///
/// A row is a rollout, a number of a row belongs to a token of its completion. Whatever stands where
/// the mask is false is not read. A rollout or a token whose advantage is NaN is masked.
#[derive(Clone, Copy, Debug)]
pub struct LossBatch<'a> {
    /// The log-probability of each token under the policy that is trained.
    pub logp: &'a Ragged<f64>,
    /// Under the policy at the start of the step; `logp` itself, detached, where it is not given.
    pub old: Option<&'a Ragged<f64>>,
    /// Under the reference policy.
    pub reference: Option<&'a Ragged<f64>>,
    /// Under the engine that generated the rollouts; NaN where it is not known.
    pub rollout: Option<&'a Ragged<f64>>,
    /// Under the proximal policy of a decoupled objective.
    pub proximal: Option<&'a Ragged<f64>>,
    /// The entropy of the policy at each token.
    pub entropy: Option<&'a Ragged<f64>>,
    /// Which tokens are trained on; all of them where it is not given.
    pub mask: Option<&'a Ragged<bool>>,
    /// The advantages.
    pub advantages: &'a AdvantageValues,
    /// How long each action took, for weights by duration.
    pub durations: Option<&'a Ragged<f64>>,
    /// Which rollouts are demonstrations of somebody else.
    pub demonstrations: Option<&'a [bool]>,
    /// How many versions each rollout is behind the policy.
    pub staleness: Option<&'a [u64]>,
    /// A factor of the divergence penalty for each rollout.
    pub kl_weights: Option<&'a [f64]>,
    /// The greatest length of a completion, where an aggregation divides by it.
    pub completion_max: Option<f64>,
    /// What the batch is a part of.
    pub scale: BatchScale,
    /// What an adaptive entropy coefficient kept from the batches before; none at first.
    pub entropy_state: Option<EntropyState>,
    /// For losses that choose tokens by chance: another one for each batch.
    pub seed: u64,
}

/// What a batch is a part of, where a loss is averaged over more than it.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, SmartDefault)]
#[serde(deny_unknown_fields, default)]
pub struct BatchScale {
    /// Trained tokens of the whole batch (`num_items_in_batch`, `batch_num_tokens`).
    pub tokens: Option<f64>,
    /// Sequences of the whole batch (`global_batch_size`).
    pub sequences: Option<f64>,
    /// Processes whose gradients are averaged (`num_processes`, `dp_size`).
    #[default(1.0)]
    pub processes: f64,
    /// Batches whose gradients are added before a step.
    #[default(1.0)]
    pub accumulation_steps: f64,
    /// Batches that `tokens` counts, where these are not those of one step (TRL).
    pub steps_per_generation: Option<f64>,
    /// Whether the optimiser makes a step after this batch.
    #[default(true)]
    pub ends_step: bool,
}

/// What an adaptive entropy coefficient keeps from batch to batch.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EntropyState {
    /// The coefficient for the next step.
    pub coefficient: f64,
    /// The mean entropy of a token in the last step; none before the first.
    pub last_entropy: Option<f64>,
    /// The sum of the entropies since the last step.
    pub window_sum: f64,
    /// How many tokens `window_sum` is over.
    pub window_tokens: f64,
}

impl<'a> LossBatch<'a> {
    /// Log-probabilities, advantages, and nothing else.
    pub fn new(logp: &'a Ragged<f64>, advantages: &'a AdvantageValues) -> Self {
        Self {
            logp,
            old: None,
            reference: None,
            rollout: None,
            proximal: None,
            entropy: None,
            mask: None,
            advantages,
            durations: None,
            demonstrations: None,
            staleness: None,
            kl_weights: None,
            completion_max: None,
            scale: BatchScale::default(),
            entropy_state: None,
            seed: 0,
        }
    }

    /// Fails where the numbers do not fit together.
    ///
    /// # Errors
    /// Rows of other lengths than those of `logp`, not one number a rollout, a number of trained
    /// tokens that is not finite, or a scale that is not positive.
    pub fn check(&self) -> Result<(), TrainerError> {
        let along = [
            ("old log-probabilities", self.old),
            ("reference log-probabilities", self.reference),
            ("rollout log-probabilities", self.rollout),
            ("proximal log-probabilities", self.proximal),
            ("entropies", self.entropy),
            ("durations", self.durations),
        ];
        for (what, values) in along {
            values.map_or(Ok(()), |values| self.along(what, values))?;
        }
        self.mask.map_or(Ok(()), |mask| self.along("mask", mask))?;
        match self.advantages {
            AdvantageValues::Rollouts(values) => self.per_row("advantages", values.len())?,
            AdvantageValues::Tokens(values) => self.along("advantages", values)?,
        }
        let rows = [
            ("demonstrations", self.demonstrations.map(<[bool]>::len)),
            ("staleness", self.staleness.map(<[u64]>::len)),
            ("weights of the divergence", self.kl_weights.map(<[f64]>::len)),
        ];
        for (what, values) in rows {
            values.map_or(Ok(()), |values| self.per_row(what, values))?;
        }
        self.scale.check()
    }

    fn along<T>(&self, what: &str, values: &Ragged<T>) -> Result<(), TrainerError> {
        if values.is_along(self.logp) {
            return Ok(());
        }
        let lengths = |lengths: Vec<usize>| format!("rows of {lengths:?} tokens");
        let have = lengths(values.lengths().collect());
        Err(TrainerError::input(what, have, lengths(self.logp.lengths().collect())))
    }

    fn per_row(&self, what: &str, values: usize) -> Result<(), TrainerError> {
        if values == self.logp.rows() {
            return Ok(());
        }
        let expected = format!("{}: one for each rollout", self.logp.rows());
        Err(TrainerError::input(what, format!("{values} values"), expected))
    }
}

impl BatchScale {
    fn check(&self) -> Result<(), TrainerError> {
        let numbers = [
            ("tokens of the whole batch", self.tokens.map(|tokens| tokens.max(1.0))),
            ("sequences of the whole batch", self.sequences.map(|rows| rows.max(1.0))),
            ("processes", Some(self.processes)),
            ("accumulation steps", Some(self.accumulation_steps)),
            ("steps per generation", self.steps_per_generation),
        ];
        for (what, number) in numbers {
            if number.is_some_and(|number| !(number.is_finite() && number > 0.0)) {
                let have = number.unwrap_or_default().to_string();
                return Err(TrainerError::input(what, have, "a positive number"));
            }
        }
        Ok(())
    }
}
