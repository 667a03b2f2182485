//! What the GRPO loop asks of whoever pays the rewards.

use std::sync::mpsc::{Receiver, Sender, channel};

use assay_verifiers::{Message, TrainingState};
use serde::{Deserialize, Serialize};

/// What a policy is asked, as text that is ready for its tokenizer (a chat template is applied).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Task {
    /// Its id, unique in its set.
    pub id: String,
    /// The prompt.
    pub prompt: String,
}

/// The set that a task is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TaskSet {
    /// Tasks that are trained on.
    Train,
    /// Tasks that are held out, for evaluation.
    HeldOut,
}

/// A completion whose reward is wanted.
#[derive(Clone, Debug, PartialEq)]
pub struct Rollout {
    /// The set of its task.
    pub set: TaskSet,
    /// Which task of the set.
    pub task: usize,
    /// Which group of the step: the completions of one group share it.
    pub group: u64,
    /// The completion as text, without the stop token.
    pub completion: String,
    /// The same as messages, where there is a tool, each with the byte of the text at which it begins.
    pub messages: Vec<(usize, Message)>,
    /// Its tokens, with the stop token and without those of results of a tool.
    pub tokens: Vec<u32>,
    /// Whether it was cut at a limit.
    pub truncated: bool,
}

/// What a completion earned.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct RolloutReward {
    /// The reward that is trained on; `None` where there is none (a fault, or everything abstained).
    pub reward: Option<f64>,
    /// The rewards that it was combined from, one for each of [`RewardSource::names`].
    pub parts: Vec<Option<f64>>,
    /// The steps of the completion, where a reward has them: the bytes of each, and its reward.
    pub steps: Vec<((usize, usize), f64)>,
    /// The reward that says whether the answer is right, from 0 to 1, where one was named.
    pub correct: Option<f64>,
    /// What failed, where something did.
    pub fault: Option<String>,
}

/// The rewards of rollouts, in their order.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RewardReply {
    /// One for each rollout.
    pub rewards: Vec<RolloutReward>,
    /// What [`TrainingState::observed`] is to be told of, for running normalisation.
    pub observed: Vec<(String, f64)>,
}

/// Rewards that were asked for.
#[derive(Debug)]
pub struct PendingRewards(Receiver<Result<RewardReply, String>>);

impl PendingRewards {
    /// Rewards, and where they are to be sent once they are known.
    pub fn channel() -> (Sender<Result<RewardReply, String>>, Self) {
        let (sender, receiver) = channel();
        (sender, Self(receiver))
    }

    /// Rewards that are known.
    pub fn ready(reply: RewardReply) -> Self {
        let (sender, pending) = Self::channel();
        drop(sender.send(Ok(reply)));
        pending
    }

    /// Waits for the rewards.
    ///
    /// # Errors
    /// Why there are none.
    pub fn wait(self) -> Result<RewardReply, String> {
        self.0.recv().unwrap_or_else(|_| Err("whoever pays the rewards is gone".to_owned()))
    }
}

/// Whoever pays the rewards.
pub trait RewardSource: Send + Sync {
    /// The names of the rewards that make up the one that is trained on, and their weights.
    fn names(&self) -> Vec<(String, f64)>;

    /// Asks for the rewards of rollouts, of whole groups, and does not wait for them.
    fn ask(&self, rollouts: Vec<Rollout>, state: &TrainingState) -> PendingRewards;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rewards_are_waited_for() {
        let reply = RewardReply { rewards: vec![RolloutReward::default()], observed: Vec::new() };
        assert_eq!(PendingRewards::ready(reply.clone()).wait(), Ok(reply));
        let (sender, pending) = PendingRewards::channel();
        drop(sender);
        assert!(pending.wait().is_err_and(|why| why.contains("is gone")));
    }
}
