//! A policy that is a table, so that the loop is tested without a model: the logits of the next token
//! depend on the token before it alone.

use rand::rngs::StdRng;
use rand::{RngExt as _, SeedableRng as _};

use super::grpo::TrainingSetup;
use super::rewards::{PendingRewards, RewardReply, RewardSource, Rollout, RolloutReward, Task};
use crate::config::TrainConfig;
use crate::losses;
use crate::policy::{
    FinishReason, Generated, GenerationConfig, Gradients, Parameters, PolicyError, PolicyModel,
    Sequences, TensorId, TextTokenizer, TokenGradients, TokenScores,
};
use crate::ragged::Ragged;
use assay_verifiers::TrainingState;

/// Tokens are the digits 0 to 8; 9 ends a completion.
pub(super) const STOP: u32 = 9;
const TOKENS: usize = 10;

pub(super) struct Bigrams {
    parameters: Parameters,
    table: TensorId,
}

impl Bigrams {
    pub(super) fn new() -> Self {
        let mut parameters = Parameters::default();
        let values = [0.0; TOKENS * TOKENS];
        let table = parameters.push("table", &[TOKENS, TOKENS], &values, true);
        Self { parameters, table }
    }

    fn log_probs(&self, before: u32, temperature: f64) -> Vec<f64> {
        let at = before as usize * TOKENS;
        let row = &self.parameters.tensor(self.table)[at..at + TOKENS];
        let logits: Vec<f64> = row.iter().map(|logit| f64::from(*logit) / temperature).collect();
        let most = logits.iter().copied().fold(f64::MIN, f64::max);
        let sum: f64 = logits.iter().map(|logit| (logit - most).exp()).sum();
        logits.iter().map(|logit| logit - most - sum.ln()).collect()
    }

    fn pairs(sequences: &Sequences) -> Vec<Vec<(u32, u32)>> {
        (0..sequences.rows())
            .map(|row| {
                let last = sequences.prompts.row(row).last().copied();
                let completion = sequences.completions.row(row);
                let before = last.into_iter().chain(completion.iter().copied());
                before.zip(completion.iter().copied()).collect()
            })
            .collect()
    }
}

impl PolicyModel for Bigrams {
    type Activations = (Sequences, f64);

    fn vocabulary_size(&self) -> usize {
        TOKENS
    }

    fn positions_max(&self) -> usize {
        64
    }

    fn parameters(&self) -> &Parameters {
        &self.parameters
    }

    fn parameters_mut(&mut self) -> &mut Parameters {
        &mut self.parameters
    }

    fn generate(
        &self,
        prompts: &Ragged<u32>,
        config: &GenerationConfig,
        seeds: &[u64],
    ) -> Result<Vec<Generated>, PolicyError> {
        let each = seeds.len() / prompts.rows().max(1);
        let one = |(at, number): (usize, &u64)| {
            let mut chance = StdRng::seed_from_u64(*number);
            let mut last = *prompts.row(at / each).last().unwrap();
            let mut found =
                Generated { tokens: vec![], log_probs: vec![], finish: FinishReason::Length };
            while found.tokens.len() < config.max_new_tokens {
                let takes_best = config.temperature == 0.0;
                let temperature = if takes_best { 1.0 } else { config.temperature };
                let log_probs = self.log_probs(last, temperature);
                let mut left: f64 = chance.random();
                let drawn = log_probs.iter().position(|log_prob| {
                    left -= log_prob.exp();
                    left < 0.0
                });
                let best = (0..TOKENS).rev().max_by(|a, b| log_probs[*a].total_cmp(&log_probs[*b]));
                let next = if takes_best { best.unwrap() } else { drawn.unwrap_or(TOKENS - 1) };
                last = u32::try_from(next).unwrap();
                found.tokens.push(last);
                #[expect(clippy::cast_possible_truncation, reason = "as a policy gives them")]
                found.log_probs.push(log_probs[next] as f32);
                if config.stop_tokens.contains(&last) {
                    found.finish = FinishReason::Stop;
                    break;
                }
            }
            found
        };
        Ok(seeds.iter().enumerate().map(one).collect())
    }

    fn score(&self, sequences: &Sequences, temperature: f64) -> Result<TokenScores, PolicyError> {
        let mut scores = TokenScores::default();
        for row in Self::pairs(sequences) {
            let each: Vec<Vec<f64>> =
                row.iter().map(|(before, _)| self.log_probs(*before, temperature)).collect();
            let own = row.iter().zip(&each).map(|((_, next), all)| all[*next as usize]);
            scores.log_probs.push(own.collect::<Vec<_>>());
            let entropy = |all: &Vec<f64>| -all.iter().map(|one| one * one.exp()).sum::<f64>();
            scores.entropies.push(each.iter().map(entropy).collect::<Vec<_>>());
        }
        Ok(scores)
    }

    fn forward(
        &self,
        sequences: &Sequences,
        temperature: f64,
    ) -> Result<(TokenScores, Self::Activations), PolicyError> {
        Ok((self.score(sequences, temperature)?, (sequences.clone(), temperature)))
    }

    fn backward(
        &self,
        (sequences, temperature): Self::Activations,
        gradients: &TokenGradients,
        into: &mut Gradients,
    ) -> Result<(), PolicyError> {
        let tensor = self.parameters.info(self.table).unwrap();
        let into = into.tensor_mut(tensor).unwrap();
        for (row, slopes) in Self::pairs(&sequences).iter().zip(gradients.log_probs.iter()) {
            for ((before, next), slope) in row.iter().zip(slopes) {
                for (token, log_prob) in self.log_probs(*before, temperature).iter().enumerate() {
                    let is_next = f64::from(u8::from(token == *next as usize));
                    let change = slope * (is_next - log_prob.exp()) / temperature;
                    #[expect(clippy::cast_possible_truncation, reason = "weights are f32")]
                    let change = change as f32;
                    into[*before as usize * TOKENS + token] += change;
                }
            }
        }
        Ok(())
    }
}

/// Text of digits.
pub(super) struct Digits;

impl TextTokenizer for Digits {
    fn encode(&self, text: &str) -> Result<Vec<u32>, PolicyError> {
        let digit = |one: char| {
            one.to_digit(9)
                .ok_or_else(|| PolicyError::invalid("text", format!("{one:?} is no digit")))
        };
        text.chars().map(digit).collect()
    }

    fn decode(&self, tokens: &[u32]) -> String {
        let digits = tokens.iter().filter(|token| **token != STOP);
        digits.map(|token| char::from_digit(*token, 10).unwrap()).collect()
    }

    fn ends(&self, tokens: &[u32]) -> Vec<usize> {
        tokens
            .iter()
            .scan(0, |end, token| {
                *end += usize::from(*token != STOP);
                Some(*end)
            })
            .collect()
    }

    fn stop_tokens(&self) -> &[u32] {
        &[STOP]
    }
}

/// Pays 1 where a completion begins with the digit after that of its prompt. A completion that begins
/// with `faulty` fails.
pub(super) struct NextDigit {
    pub(super) prompts: Vec<String>,
    pub(super) faulty: Option<String>,
}

impl RewardSource for NextDigit {
    fn names(&self) -> Vec<(String, f64)> {
        vec![("next".to_owned(), 1.0)]
    }

    fn ask(&self, rollouts: Vec<Rollout>, state: &TrainingState) -> PendingRewards {
        let pay = |one: &Rollout| {
            if self.faulty.as_ref().is_some_and(|start| one.completion.starts_with(start)) {
                return RolloutReward { fault: Some("broken".into()), ..RolloutReward::default() };
            }
            let digit: u32 = self.prompts[one.task].parse().unwrap();
            let earned =
                f64::from(u8::from(one.completion.starts_with(&((digit + 1) % 9).to_string())));
            let (reward, steps) = (Some(earned), vec![((0, 1), earned)]);
            RolloutReward { reward, parts: vec![reward], correct: reward, steps, fault: None }
        };
        #[expect(clippy::cast_precision_loss, reason = "a small number")]
        let observed = vec![("next".to_owned(), state.step as f64)];
        let rewards = rollouts.iter().map(pay).collect();
        PendingRewards::ready(RewardReply { rewards, observed })
    }
}

/// A training of the table on all nine digits, with settings over those of the tests.
pub(super) fn setup(settings: &str) -> TrainingSetup {
    let table = format!("model = {{}}\ntasks = []\nsteps = 60\ngroups = 9\n{settings}");
    let config: TrainConfig = toml::from_str(&table).unwrap();
    setup_of(config, "preset = 'trl-1.16'\n", "preset = 'trl-1.16'\n")
}

/// The same with an estimator and a loss of choice.
pub(super) fn setup_of(config: TrainConfig, advantage: &str, loss: &str) -> TrainingSetup {
    let prompts: Vec<String> = (0..9).map(|digit: u32| digit.to_string()).collect();
    let task = |prompt: &String| Task { id: format!("digit-{prompt}"), prompt: prompt.clone() };
    let tasks: Vec<Task> = prompts.iter().map(task).collect();
    TrainingSetup {
        config,
        estimator: crate::advantages::build(toml::from_str(advantage).unwrap()).unwrap(),
        loss: losses::build(toml::from_str(loss).unwrap()).unwrap(),
        selector: None,
        held_out: tasks.clone(),
        tasks,
        tokenizer: Box::new(Digits),
        rewards: Box::new(NextDigit { prompts, faulty: None }),
        clock: Box::new(|| 0.0),
    }
}
