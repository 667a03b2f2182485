//! A loss that is ready to be taken.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use crate::losses::aggregation::LossAggregation;
use crate::losses::batch::{EntropyState, LossBatch};
use crate::losses::config::{self, LossConfig};
use crate::losses::prelude::*;
use crate::losses::tokens::count;

/// A loss with its settings.
pub struct PolicyLoss {
    kind: &'static str,
    objective: Box<dyn Objective>,
    config: LossConfig,
}

/// The loss of a batch.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Loss {
    /// The loss, to be minimised.
    pub value: f64,
    /// Its derivative with respect to the log-probability of each token; 0 where it is masked.
    pub gradient: Ragged<f64>,
    /// Its derivative with respect to the entropy of each token, where there is a bonus for it.
    pub entropy_gradient: Option<Ragged<f64>>,
    /// What is to be said of the batch.
    pub metrics: BTreeMap<&'static str, f64>,
    /// What an adaptive entropy coefficient keeps for the next batch.
    pub entropy_state: Option<EntropyState>,
}

/// A loss while it is added up.
struct Sum {
    value: f64,
    gradient: Vec<f64>,
    metrics: BTreeMap<&'static str, f64>,
}

/// The loss of a table `[loss]`: `kind`, `preset`, the tables that every loss has (`aggregation`, `kl`,
/// `correction`, `entropy`), and the settings of the kind.
///
/// # Errors
/// An unknown kind, preset or setting, or a setting of another type or out of range.
pub fn build(given: Map<String, Value>) -> Result<PolicyLoss, TrainerError> {
    let read = config::read(given)?;
    let objective =
        (read.entry.build)(read.own).map_err(|error| config::own_error(read.entry, error))?;
    let loss = PolicyLoss { kind: read.entry.kind, objective, config: read.config };
    loss.corrects_once()?;
    Ok(loss)
}

impl PolicyLoss {
    /// The kind of its objective.
    pub fn kind(&self) -> &'static str {
        self.kind
    }

    /// The settings that losses of every kind have.
    pub fn config(&self) -> &LossConfig {
        &self.config
    }

    /// The loss of a batch. Where no token is trained on it is 0, its gradient too, and `empty` is 1
    /// among the metrics.
    ///
    /// # Errors
    /// Numbers that the loss needs and that are missing or do not fit together, or a loss or a
    /// gradient that is not finite.
    pub fn loss(&self, batch: &LossBatch<'_>) -> Result<Loss, TrainerError> {
        self.at(batch, batch.logp)
    }

    /// The penalty of each token for its divergence from the reference, `-coefficient * kl`, which is
    /// added to the rewards of the tokens where `kl.place` is `reward`. The policy is the one at the
    /// start of the step.
    ///
    /// # Errors
    /// There are no log-probabilities of the reference.
    pub fn token_rewards(&self, batch: &LossBatch<'_>) -> Result<Ragged<f64>, TrainerError> {
        let tokens = TrainedTokens::new(batch, batch.logp)?;
        let what = "reference log-probabilities";
        let reference = tokens.given(what, batch.reference)?;
        tokens.finite(what, reference)?;
        let old = tokens.logp(LogpSource::Old)?;
        let kl = &self.config.kl;
        let rewards = tokens.list(0.0, |token| {
            -kl.coefficient * kl.estimate(at(old, token.at) - at(reference, token.at)).0
        });
        Ok(Ragged::from_parts(rewards, batch.logp.lengths()).unwrap_or_default())
    }

    /// The loss where what is detached has the log-probabilities `fixed`. The gradient is that of the
    /// value as a function of `batch.logp` alone.
    ///
    /// # Errors
    /// As for [`Self::loss`].
    pub(crate) fn at(
        &self,
        batch: &LossBatch<'_>,
        fixed: &Ragged<f64>,
    ) -> Result<Loss, TrainerError> {
        let mut tokens = TrainedTokens::new(batch, fixed)?;
        let mut sum = Sum::new(&tokens);
        sum.metrics.extend(self.config.correction.apply(&mut tokens)?);
        tokens.top = self.config.entropy.top_mask(&tokens)?;
        let aggregated = self.config.aggregation.coefficients(&tokens);
        sum.policy(self.objective.as_ref(), &tokens, &aggregated)?;
        sum.value += self.config.aggregation.constant(&tokens);
        self.add_divergence(&mut sum, &tokens, &aggregated)?;
        let bonus = self.config.entropy.bonus(&tokens, &aggregated)?;
        let mut entropy_gradient = None;
        if let Some(bonus) = &bonus {
            sum.value -= bonus.value;
            sum.metrics.insert("entropy", bonus.aggregated);
            sum.metrics.insert("entropy_loss", bonus.value);
            let gradient = bonus.gradient.clone();
            entropy_gradient = Ragged::from_parts(gradient, batch.logp.lengths());
        }
        Ok(Loss { entropy_gradient, ..sum.finish(batch, bonus.and_then(|bonus| bonus.state))? })
    }

    fn add_divergence(
        &self,
        sum: &mut Sum,
        tokens: &TrainedTokens<'_>,
        aggregated: &[f64],
    ) -> Result<(), TrainerError> {
        let kl = &self.config.kl;
        if !kl.is_in_loss() {
            return Ok(());
        }
        let own = kl.aggregation.as_ref().map(|own: &LossAggregation| own.coefficients(tokens));
        let terms = kl.terms(tokens, &self.objective.ratio().of(tokens)?)?;
        let coefficients = own.as_deref().unwrap_or(aggregated);
        let weighted: Vec<f64> = coefficients.iter().map(|c| c * kl.coefficient).collect();
        let value = sum.add(&terms, &weighted, tokens);
        sum.metrics.insert("kl_loss", value);
        Ok(())
    }

    /// Where the ratio of the objective is to the policy that generated, it corrects for that policy
    /// already, and importance weights would do so twice.
    fn corrects_once(&self) -> Result<(), TrainerError> {
        let weighs = self.config.correction.importance.is_some();
        if self.objective.ratio().policy == LogpSource::Rollout && weighs {
            let message = "`ratio.policy` is \"rollout\", so the ratio corrects for the policy that \
                           generated; `correction.importance` would do so twice";
            return Err(TrainerError::setting("correction.importance", message));
        }
        Ok(())
    }
}

impl Sum {
    fn new(tokens: &TrainedTokens<'_>) -> Self {
        let trained = tokens.trained();
        let mut metrics = BTreeMap::from([("tokens", trained)]);
        let rows = tokens.row_counts().iter().map(|count| f64::from(*count > 0.0)).sum();
        metrics.insert("sequences", rows);
        if trained == 0.0 {
            metrics.insert("empty", 1.0);
        }
        Self { value: 0.0, gradient: vec![0.0; tokens.len()], metrics }
    }

    fn policy(
        &mut self,
        objective: &dyn Objective,
        tokens: &TrainedTokens<'_>,
        aggregated: &[f64],
    ) -> Result<(), TrainerError> {
        let mut weights: Vec<f64> =
            aggregated.iter().zip(&tokens.kept).map(|(c, kept)| c * kept).collect();
        if !objective.weighs_importance() {
            for (weight, importance) in weights.iter_mut().zip(&tokens.importance) {
                *weight *= importance;
            }
        }
        if let Some(top) = tokens.top.as_ref().filter(|_| !objective.selects_top()) {
            let others = weights.iter_mut().zip(top).filter(|(_, is_top)| !**is_top);
            for (weight, _) in others {
                *weight = 0.0;
            }
            let share = count(top) / tokens.trained().max(1.0);
            self.metrics.insert("top_entropy_fraction", share);
        }
        let mut terms = objective.terms(tokens)?;
        self.metrics.extend(std::mem::take(&mut terms.metrics));
        let value = self.add(&terms, &weights, tokens);
        self.metrics.insert("policy_loss", value);
        Ok(())
    }

    fn add(&mut self, terms: &Terms, coefficients: &[f64], tokens: &TrainedTokens<'_>) -> f64 {
        let value = terms.sum(coefficients);
        self.value += value;
        terms.add_gradient(coefficients, tokens, &mut self.gradient);
        self.metrics.extend(terms.metrics.iter().copied());
        value
    }

    fn finish(
        mut self,
        batch: &LossBatch<'_>,
        entropy_state: Option<EntropyState>,
    ) -> Result<Loss, TrainerError> {
        let is_finite =
            self.value.is_finite() && self.gradient.iter().all(|slope| slope.is_finite());
        if !is_finite {
            let have = format!("a loss of {}", self.value);
            let expected = "log ratios small enough for a finite loss and gradient, or a clamp";
            return Err(TrainerError::input("log-probabilities", have, expected));
        }
        self.metrics.insert("loss", self.value);
        let gradient = Ragged::from_parts(self.gradient, batch.logp.lengths()).unwrap_or_default();
        Ok(Loss {
            value: self.value,
            gradient,
            entropy_gradient: None,
            metrics: self.metrics,
            entropy_state,
        })
    }
}
