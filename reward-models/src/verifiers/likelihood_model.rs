//! `likelihood_model`: how likely a language model finds a text.

use assay_verifiers::{BuildError, Fault, FaultKind, Message, Sample, Verdict};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Modelled;
use crate::ask::Likelihood;
use crate::manifest::Kind;
use crate::model::{Judgement, Model};
use crate::models::Run;
use crate::template::View;

/// A reward from the log-probabilities of a text.
///
/// The template of the model marks the beginning and the end of what is measured
/// (docs/model-folder.md, kind `implicit`): the completion behind its prompt, or the reference behind
/// the prompt and the completion's reasoning. `score` says what becomes of the probabilities.
#[derive(Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LikelihoodModel {
    /// The folder of the model.
    model: String,
    /// What becomes of the probabilities.
    score: Measure,
    /// The reasoning ends before the last of this text in the completion, as in `<answer>`; for
    /// `rlpr`. Without it, the whole completion is reasoning.
    #[serde(default)]
    reasoning_ends: Option<String>,
    /// The reward is 1 from this on and 0 below it, instead of the measure.
    #[serde(default)]
    threshold: Option<f64>,
    /// How the model is run.
    #[serde(default)]
    run: Run,
}

/// What becomes of the probabilities.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Measure {
    /// The mean log-probability of a token.
    MeanLogProb,
    /// The sum of the log-probabilities.
    SumLogProb,
    /// The mean probability of the reference's tokens behind the reasoning, less the same without
    /// it, at least 0 ("RLPR: Extrapolating RLVR to General Domains without Verifiers").
    Rlpr,
    /// How much of the perplexity of the answer the question takes away, -1 to 1
    /// ("Self-Aligned Reward: Towards Effective and Efficient Reasoners").
    Sar,
    /// The mean of the logit of a token less the value of the place behind it
    /// ("Generalist Reward Models: Found Inside Large Language Models", endogenous reward).
    Endogenous,
}

impl Modelled for LikelihoodModel {
    const ID: &'static str = "likelihood_model";
    const KINDS: &'static [Kind] = &[Kind::Implicit];

    fn model(&self) -> (&str, &Run) {
        (&self.model, &self.run)
    }

    fn fits(&self, _: &Model) -> Result<(), BuildError> {
        match &self.reasoning_ends {
            Some(_) if self.score != Measure::Rlpr => {
                Err(BuildError::new("reasoning_ends", "is for the score \"rlpr\" alone"))
            }
            Some(text) if text.is_empty() => Err(BuildError::new("reasoning_ends", "empty")),
            _ => super::finite(self.threshold),
        }
    }

    fn views(&self, model: &Model, sample: &Sample) -> Result<Vec<View>, Verdict> {
        let mut view = super::view(sample)?;
        let steps = model.steps(sample.completion()).into_iter();
        view.steps = steps.map(|(step, _)| step.to_owned()).collect();
        if view.steps.is_empty() {
            return Err(Verdict::abstained("the completion is empty"));
        }
        match self.score {
            Measure::Rlpr => {
                if view.reference.is_empty() {
                    return Err(Verdict::no_reference());
                }
                if let Some(end) = &self.reasoning_ends {
                    let at = view.completion.rfind(end.as_str()).unwrap_or(view.completion.len());
                    view.completion.truncate(at);
                }
                let without = View { completion: String::new(), steps: Vec::new(), ..view.clone() };
                Ok(vec![view, without])
            }
            Measure::Sar => {
                let nothing = Message { role: "user".to_owned(), content: String::new() };
                let without = View { messages: vec![nothing], ..view.clone() };
                Ok(vec![view, without])
            }
            Measure::MeanLogProb | Measure::SumLogProb | Measure::Endogenous => Ok(vec![view]),
        }
    }

    fn verdict(&self, _: &Model, _: &Sample, judgements: &[Judgement]) -> Result<Verdict, Fault> {
        let of = |at: usize| {
            let found = judgements.get(at).map_or(&[][..], |one| &one.rows.likelihoods);
            let empty = || Fault::new(FaultKind::BadModel, "the template marks no text to measure");
            if found.len() < 2 { Err(empty()) } else { Ok(found) }
        };
        let first = of(0)?;
        let score = match self.score {
            Measure::MeanLogProb => mean(log_probs(first)),
            Measure::SumLogProb => log_probs(first).sum(),
            Measure::Rlpr => {
                let probability = |all| mean(log_probs(all).map(f64::exp));
                (probability(first) - probability(of(1)?)).max(0.0)
            }
            Measure::Sar => {
                let nll = |all| -mean(log_probs(all));
                (1.0 - (nll(first) - nll(of(1)?)).exp()).clamp(-1.0, 1.0)
            }
            Measure::Endogenous => mean(endogenous(first)),
        };
        Ok(Verdict::scored(super::reward(score, self.threshold)?)
            .with("score", score)
            .with("measured_tokens", first.len() - 1))
    }
}

/// Of every token that is measured: the last place has none behind it.
fn log_probs(all: &[Likelihood]) -> impl Iterator<Item = f64> {
    all.iter().take(all.len().saturating_sub(1)).map(|one| one.log_prob)
}

/// The logit of each token, less the log-sum-exp at the place behind it.
fn endogenous(all: &[Likelihood]) -> impl Iterator<Item = f64> {
    all.iter().zip(all.iter().skip(1)).map(|(own, next)| {
        let logit = own.log_prob + own.log_sum_exp;
        logit - next.log_sum_exp
    })
}

fn mean(values: impl Iterator<Item = f64>) -> f64 {
    let (sum, count) = values.fold((0.0, 0.0), |(sum, count), value| (sum + value, count + 1.0));
    if count > 0.0 { sum / count } else { 0.0 }
}
