//! The sampling of a step: completions of tasks, and their rewards, which are computed while the next
//! completions are sampled.

use super::error::TrainingError;
use super::rewards::{PendingRewards, RewardReply, RewardSource, Rollout, RolloutReward, TaskSet};
use super::seeds::{Purpose, seed};
use super::tool::{Answered, Observation, ToolUse, Turns};
use crate::policy::{FinishReason, GenerationConfig, PolicyModel, TextTokenizer};
use crate::prelude::*;
use assay_verifiers::{Message, TrainingState};

/// A completion that was sampled, and what it earned.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct SampledRollout {
    /// Its name: the step, the generation batch of the step and the row, such as `3:0:17`.
    pub(super) name: String,
    /// Which task of its set.
    pub(super) task: usize,
    /// Which group of the step.
    pub(super) group: u64,
    /// Its tokens, with the stop token.
    pub(super) tokens: Vec<u32>,
    /// The log-probability of each when it was sampled.
    pub(super) log_probs: Vec<f64>,
    /// Which of them a tool wrote.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) observations: Vec<Observation>,
    /// The completion as text.
    pub(super) completion: String,
    /// Whether it was cut at the length limit.
    pub(super) truncated: bool,
    /// Whether it was asked for in addition to those of a first pass.
    pub(super) extra: bool,
    /// The step that sampled it.
    pub(super) step: u64,
    /// What it earned.
    pub(super) reward: RolloutReward,
}

impl SampledRollout {
    /// For each token, whether the policy wrote it.
    pub(super) fn own(&self) -> Vec<bool> {
        let mut own = vec![true; self.tokens.len()];
        for seen in &self.observations {
            own.iter_mut().take(seen.end).skip(seen.start).for_each(|own| *own = false);
        }
        own
    }

    /// Of one value for each token, those of the tokens that the policy wrote.
    pub(super) fn of_own<'a, T: Copy>(
        &self,
        values: &'a [T],
    ) -> impl Iterator<Item = T> + use<'a, T> {
        values.iter().zip(self.own()).filter(|(_, own)| *own).map(|(value, _)| *value)
    }

    /// How many tokens the policy wrote.
    pub(super) fn length(&self) -> usize {
        let seen = self.observations.iter().map(|seen| seen.end - seen.start);
        self.tokens.len() - seen.sum::<usize>()
    }
}

/// Completions of one task that are wanted.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct GroupRequest {
    pub(super) task: usize,
    pub(super) group: u64,
    pub(super) rollouts: usize,
    /// In place of that of the configuration.
    pub(super) temperature: Option<f64>,
}

/// What completions are sampled by, and of.
pub(super) struct Sampler<'a, P> {
    pub(super) policy: &'a P,
    pub(super) tokenizer: &'a dyn TextTokenizer,
    pub(super) rewards: &'a dyn RewardSource,
    pub(super) set: TaskSet,
    pub(super) prompts: &'a [Vec<u32>],
    pub(super) generation: &'a GenerationConfig,
    pub(super) tool: Option<&'a ToolUse>,
    pub(super) training: &'a TrainingState,
    pub(super) seed: u64,
    pub(super) step: u64,
}

/// Completions whose rewards were asked for.
pub(super) struct Asked {
    rollouts: Vec<SampledRollout>,
    pending: PendingRewards,
}

impl<P: PolicyModel> Sampler<'_, P> {
    /// Samples the completions of these groups and asks for their rewards. `batch` is the number of
    /// the generation batch within the step.
    pub(super) fn ask(
        &self,
        requests: &[GroupRequest],
        batch: u64,
        first_row: usize,
    ) -> Result<Asked, TrainingError> {
        let mut rollouts: Vec<SampledRollout> = Vec::new();
        for alike in
            requests.chunk_by(|a, b| a.rollouts == b.rollouts && a.temperature == b.temperature)
        {
            let Some(first) = alike.first() else { continue };
            let mut generation = self.generation.clone();
            generation.temperature = first.temperature.unwrap_or(generation.temperature);
            let prompts = self.prompts_of(alike);
            let row = first_row + rollouts.len();
            let seeds: Vec<u64> = (0..alike.len() * first.rollouts)
                .map(|at| {
                    seed(self.seed, self.purpose(), self.step, batch << 32 | (row + at) as u64)
                })
                .collect();
            let generated = self.generate(&prompts, &generation, &seeds)?;
            let owners = alike.iter().flat_map(|one| std::iter::repeat_n(one, one.rollouts));
            for (request, generated) in owners.zip(generated) {
                let row = first_row + rollouts.len();
                let name = format!("{}:{batch}:{row}", self.step);
                rollouts.push(self.rollout(name, request, generated));
            }
        }
        let asked = rollouts.iter().map(|rollout| self.asked(rollout)).collect();
        let pending = self.rewards.ask(asked, self.training);
        Ok(Asked { rollouts, pending })
    }

    fn generate(
        &self,
        prompts: &Ragged<u32>,
        generation: &GenerationConfig,
        seeds: &[u64],
    ) -> Result<Vec<Answered>, TrainingError> {
        let (policy, tokenizer) = (self.policy, self.tokenizer);
        if let Some(tool) = self.tool {
            return Turns { policy, tokenizer, generation, tool }.generate(prompts, seeds);
        }
        let generated = policy.generate(prompts, generation, seeds)?;
        Ok(generated.into_iter().map(Answered::from).collect())
    }

    fn purpose(&self) -> Purpose {
        match self.set {
            TaskSet::Train => Purpose::Completion,
            TaskSet::HeldOut => Purpose::Evaluation,
        }
    }

    #[expect(clippy::indexing_slicing, reason = "each task has a prompt")]
    fn prompts_of(&self, requests: &[GroupRequest]) -> Ragged<u32> {
        let mut prompts = Ragged::new();
        for request in requests {
            prompts.push(self.prompts[request.task].iter().copied());
        }
        prompts
    }

    fn rollout(
        &self,
        name: String,
        request: &GroupRequest,
        Answered { generated, observations }: Answered,
    ) -> SampledRollout {
        SampledRollout {
            name,
            task: request.task,
            group: request.group,
            completion: self.tokenizer.decode(&generated.tokens),
            tokens: generated.tokens,
            log_probs: generated.log_probs.into_iter().map(f64::from).collect(),
            observations,
            truncated: generated.finish == FinishReason::Length,
            extra: request.temperature.is_some(),
            step: self.step,
            reward: RolloutReward::default(),
        }
    }

    fn asked(&self, rollout: &SampledRollout) -> Rollout {
        Rollout {
            set: self.set,
            task: rollout.task,
            group: rollout.group,
            completion: rollout.completion.clone(),
            messages: messages(self.tool, self.tokenizer, rollout),
            tokens: rollout.of_own(&rollout.tokens).collect(),
            truncated: rollout.truncated,
        }
    }
}

/// The messages of a completion, where there is a tool.
pub(super) fn messages(
    tool: Option<&ToolUse>,
    tokenizer: &dyn TextTokenizer,
    rollout: &SampledRollout,
) -> Vec<(usize, Message)> {
    let SampledRollout { tokens, observations, .. } = rollout;
    tool.map_or_else(Vec::new, |tool| tool.messages(tokenizer, tokens, observations))
}

impl Asked {
    /// Waits for the rewards.
    pub(super) fn wait(
        self,
        step: u64,
        observed: &mut Vec<(String, f64)>,
    ) -> Result<Vec<SampledRollout>, TrainingError> {
        let fault = |message| TrainingError::Rewards { step, message };
        let RewardReply { rewards, observed: seen } = self.pending.wait().map_err(fault)?;
        if rewards.len() != self.rollouts.len() {
            let message = format!("{} for {} completions", rewards.len(), self.rollouts.len());
            return Err(fault(message));
        }
        observed.extend(seen);
        let rollouts = self.rollouts.into_iter().zip(rewards);
        Ok(rollouts.map(|(rollout, reward)| SampledRollout { reward, ..rollout }).collect())
    }
}
