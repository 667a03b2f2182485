//! `likelihood_model`: log-likelihood and perplexity of a text under a language model.

use assay_verifiers::stats::{self, sigmoid};
use assay_verifiers::{BuildError, Fault, FaultKind, Message, Sample, Verdict};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::model_verifier::{ModelVerifier, finite, reward, view};
use crate::likelihood::Likelihood;
use crate::manifest::ModelKind;
use crate::model::{Judgement, Model};
use crate::models::RunSettings;
use crate::template::View;

/// A reward from the log-probabilities of a text.
///
/// The template of the model marks the beginning and the end of what is measured
/// (docs/model-folder.md, kind `implicit`): the completion after its prompt, or the reference behind
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
    run: RunSettings,
}

/// What becomes of the probabilities.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Measure {
    /// The mean log-probability of a token.
    MeanLogProb,
    /// The sum of the log-probabilities.
    SumLogProb,
    /// The mean probability of the reference's tokens after the reasoning, less the same without
    /// it, at least 0 ("RLPR: Extrapolating RLVR to General Domains without Verifiers").
    Rlpr,
    /// How much of the perplexity of the answer the question takes away, -1 to 1
    /// ("Self-Aligned Reward: Towards Effective and Efficient Reasoners").
    Sar,
    /// How faithfully the completion goes the way of the reference: how much each beginning of it
    /// helps the rest of the reference's steps, later beginnings weighing more, and how likely the
    /// last step is after the whole ("P2S: Probabilistic Process Supervision").
    P2s,
    /// The mean of the logit of a token less the value of the place after it
    /// ("Generalist Reward Models: Found Inside Large Language Models", endogenous reward).
    Endogenous,
}

impl ModelVerifier for LikelihoodModel {
    const ID: &'static str = "likelihood_model";
    const VERSION: u32 = 2;
    const KINDS: &'static [ModelKind] = &[ModelKind::Implicit];

    fn model(&self) -> (&str, &RunSettings) {
        (&self.model, &self.run)
    }

    fn fits(&self, _: &Model) -> Result<(), BuildError> {
        match &self.reasoning_ends {
            Some(_) if self.score != Measure::Rlpr => {
                Err(BuildError::new("reasoning_ends", "is for the score \"rlpr\" alone"))
            }
            Some(text) if text.is_empty() => Err(BuildError::new("reasoning_ends", "empty")),
            _ => finite(self.threshold),
        }
    }

    fn views(&self, model: &Model, sample: &Sample) -> Result<Vec<View>, Verdict> {
        let mut view = view(sample)?;
        view.steps = model.step_texts(sample.completion());
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
                let nothing = Message::new("user", "");
                let without = View { messages: vec![nothing], ..view.clone() };
                Ok(vec![view, without])
            }
            Measure::P2s if view.reference.is_empty() => Err(Verdict::no_reference()),
            Measure::P2s => Ok(Path::of(model, &view).views(&view)),
            Measure::MeanLogProb | Measure::SumLogProb | Measure::Endogenous => Ok(vec![view]),
        }
    }

    fn verdict(
        &self,
        model: &Model,
        sample: &Sample,
        judgements: &[Judgement],
    ) -> Result<Verdict, Fault> {
        let empty = || Fault::new(FaultKind::BadModel, "the template marks no text to measure");
        let of = |at: usize| {
            let found = judgements.get(at).map_or(&[][..], |one| &one.rows.likelihoods);
            if found.len() < 2 { Err(empty()) } else { Ok(found) }
        };
        let first = of(0)?;
        let score = match self.score {
            Measure::MeanLogProb => mean(log_probs(first)),
            Measure::SumLogProb => log_probs(first).sum(),
            Measure::Rlpr => rlpr(first, of(1)?),
            Measure::Sar => sar(first, of(1)?),
            Measure::Endogenous => mean(endogenous(first)),
            Measure::P2s => {
                let all = (0..judgements.len()).map(|at| Ok(mean(log_probs(of(at)?))));
                let all = all.collect::<Result<Vec<f64>, Fault>>()?;
                let view = view(sample).map_err(|_| empty())?;
                Path::of(model, &view).faithfulness(&all)
            }
        };
        Ok(Verdict::scored(reward(score, self.threshold)?)
            .with("score", score)
            .with("measured_tokens", first.len() - 1))
    }
}

/// The beginnings of a completion and the ends of its reference, for P2S.
struct Path {
    /// The completion up to the end of each piece but the last.
    beginnings: Vec<String>,
    /// The reference from each of its steps on.
    ends: Vec<String>,
    /// The last step of the reference.
    answer: String,
}

/// The most pieces of a completion, and the most steps of a reference: each is measured with each.
const PIECES_MAX: usize = 6;

impl Path {
    fn of(model: &Model, view: &View) -> Self {
        let steps = model.steps(&view.completion);
        let pieces = steps.chunks(steps.len().div_ceil(PIECES_MAX).max(1));
        let ends = pieces.filter_map(|piece| Some(piece.last()?.1.1));
        let mut beginnings: Vec<String> =
            ends.filter_map(|end| view.completion.get(..end)).map(str::to_owned).collect();
        beginnings.pop();
        let gold = model.steps(&view.reference);
        let from = |(_, (start, _)): &(&str, (usize, usize))| view.reference.get(*start..);
        Self {
            beginnings,
            ends: gold.iter().take(PIECES_MAX).filter_map(from).map(str::to_owned).collect(),
            answer: gold
                .last()
                .map_or_else(|| view.reference.clone(), |(step, _)| (*step).to_owned()),
        }
    }

    /// The answer after the whole; each end of the reference behind nothing, then after each
    /// beginning.
    fn views(&self, whole: &View) -> Vec<View> {
        let behind = |completion: &str, reference: &str| View {
            completion: completion.to_owned(),
            reference: reference.to_owned(),
            steps: Vec::new(),
            ..whole.clone()
        };
        let mut views = vec![behind(&whole.completion, &self.answer)];
        for beginning in std::iter::once("").chain(self.beginnings.iter().map(String::as_str)) {
            views.extend(self.ends.iter().map(|end| behind(beginning, end)));
        }
        views
    }

    /// The reward, from the mean log-probability of each of [`views`](Self::views).
    fn faithfulness(&self, all: &[f64]) -> f64 {
        let [answer, ends @ ..] = all else { return 0.0 };
        let mut rows = ends.chunks(self.ends.len().max(1));
        let bare = rows.next().unwrap_or_default();
        let gain = |row: &[f64]| {
            let gains = row.iter().zip(bare).map(|(with, without)| with - without);
            gains.fold(f64::NEG_INFINITY, f64::max)
        };
        let mut parts: Vec<f64> = rows.map(gain).collect();
        parts.push(*answer);
        let count: f64 = parts.iter().map(|_| 1.0).sum();
        let (mut sum, mut weights, mut place) = (0.0, 0.0, 0.0);
        for part in parts {
            place += 1.0;
            // From 0.12 to 0.88, steepest in the middle.
            let weight = sigmoid(4.0 * place / count - 2.0);
            sum += weight * part;
            weights += weight;
        }
        sum / weights
    }
}

/// Of every token that is measured: the last place has none after it.
fn log_probs(all: &[Likelihood]) -> impl Iterator<Item = f64> {
    all.iter().take(all.len().saturating_sub(1)).map(|one| one.log_prob)
}

/// The mean probability of the reference's tokens, less that without the reasoning, at least 0.
fn rlpr(with: &[Likelihood], without: &[Likelihood]) -> f64 {
    let probability = |all| mean(log_probs(all).map(f64::exp));
    (probability(with) - probability(without)).max(0.0)
}

/// `(ppl(a) - ppl(a | q)) / ppl(a)`, within -1 to 1.
fn sar(with: &[Likelihood], without: &[Likelihood]) -> f64 {
    let nll = |all| -mean(log_probs(all));
    (1.0 - (nll(with) - nll(without)).exp()).clamp(-1.0, 1.0)
}

/// The logit of each token, less the log-sum-exp at the place after it.
fn endogenous(all: &[Likelihood]) -> impl Iterator<Item = f64> {
    all.iter().zip(all.iter().skip(1)).map(|(own, next)| {
        let logit = own.log_prob + own.log_sum_exp;
        logit - next.log_sum_exp
    })
}

/// The mean; 0 of nothing.
fn mean(values: impl Iterator<Item = f64>) -> f64 {
    stats::mean(values).unwrap_or(0.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Tokens of these probabilities, and the place after the last.
    fn tokens(probabilities: &[f64]) -> Vec<Likelihood> {
        let one = |p: &f64| Likelihood { log_prob: p.ln(), log_sum_exp: 0.0 };
        probabilities.iter().chain([&1.0]).map(one).collect()
    }

    #[track_caller]
    fn near(found: f64, expected: f64) {
        assert!((found - expected).abs() < 1e-12, "{found}, expected {expected}");
    }

    #[test]
    fn rlpr_is_a_difference_of_mean_probabilities() {
        // Means of 0.5 and 0.25: probabilities are averaged, not logarithms (0.4 and 0.2).
        near(rlpr(&tokens(&[0.8, 0.2]), &tokens(&[0.4, 0.1])), 0.25);
        near(rlpr(&tokens(&[0.4, 0.1]), &tokens(&[0.8, 0.2])), 0.0);
        near(rlpr(&tokens(&[1.0]), &tokens(&[0.125])), 0.875);
    }

    #[test]
    fn sar_is_the_share_of_the_perplexity_that_the_question_takes_away() {
        // Perplexities of 2 = 1 / sqrt(1/2 1/2) with the question, and of 8 = 1 / sqrt(1/4 1/16) without.
        near(sar(&tokens(&[0.5, 0.5]), &tokens(&[0.25, 0.0625])), (8.0 - 2.0) / 8.0);
        // 4 without and 6 with it; then 4 and 16, which is beyond -1.
        near(sar(&tokens(&[1.0 / 6.0]), &tokens(&[0.25])), -0.5);
        near(sar(&tokens(&[0.0625]), &tokens(&[0.25])), -1.0);
        near(sar(&tokens(&[0.3, 0.7]), &tokens(&[0.3, 0.7])), 0.0);
    }

    #[test]
    fn endogenous_is_the_logit_less_the_value_behind_it() {
        // Logits ln 3 and 0, token 0: V = ln 4. Then ln 2 and ln 6, token 1: V = ln 8. Behind: V = ln 2.
        let (ln, of) = (|x: f32| x.ln(), Likelihood::of);
        let all = [
            of(&[ln(3.0), 0.0], Some(0)),
            of(&[ln(2.0), ln(6.0)], Some(1)),
            of(&[0.0, 0.0], None),
        ];
        let rewards: Vec<f64> = endogenous(&all).collect();
        let near = |found: f64, expected: f64| assert!((found - expected).abs() < 1e-6, "{found}");
        near(rewards[0], (3.0_f64 / 8.0).ln());
        near(rewards[1], 3.0_f64.ln());
        // sum r - sum log p = V(s1) - V(sT+1), here ln 4 - ln 2.
        near(rewards.iter().sum::<f64>() - log_probs(&all).sum::<f64>(), 2.0_f64.ln());
    }

    #[test]
    fn the_endogenous_sum_telescopes() {
        for seed in 1..50_u16 {
            let logit = |at: u16| f32::from(seed.wrapping_mul(7919).wrapping_add(at * 331) % 97) / 9.0 - 5.0;
            let place = |at: u16| {
                let logits: Vec<f32> = (0..5).map(|token| logit(at * 5 + token)).collect();
                Likelihood::of(&logits, (at < 6).then(|| u32::from(at % 5)))
            };
            let all: Vec<Likelihood> = (0..=6).map(place).collect();
            let apart = endogenous(&all).sum::<f64>() - log_probs(&all).sum::<f64>();
            near(apart, all[0].log_sum_exp - all[6].log_sum_exp);
        }
    }

    #[test]
    fn a_path_is_faithful_where_its_beginnings_help_the_reference() {
        let texts = |all: &[&str]| all.iter().map(|&text| text.to_owned()).collect::<Vec<String>>();
        let path = Path {
            beginnings: texts(&["2 + 3 is 5."]),
            ends: texts(&["It is 5.\n\nSo 5.", "So 5."]),
            answer: "So 5.".to_owned(),
        };
        let views = path.views(&View { completion: "2 + 3 is 5. Done.".into(), ..View::default() });
        let read: Vec<(&str, &str)> =
            views.iter().map(|view| (view.completion.as_str(), view.reference.as_str())).collect();
        let expected = [
            ("2 + 3 is 5. Done.", "So 5."),
            ("", "It is 5.\n\nSo 5."),
            ("", "So 5."),
            ("2 + 3 is 5.", "It is 5.\n\nSo 5."),
            ("2 + 3 is 5.", "So 5."),
        ];
        assert_eq!(read, expected);
        // The beginning gains 0.5 at best, the answer is at -1; weights are 1/2 and 1/(1 + e^-2).
        let late = 1.0 / (1.0 + (-2.0_f64).exp());
        let expected = (0.5 * 0.5 - late) / (0.5 + late);
        let found = path.faithfulness(&[-1.0, -2.0, -3.0, -1.5, -3.5]);
        assert!((found - expected).abs() < 1e-12, "{found}");
    }
}
