//! The GRPO loop ("`DeepSeekMath`: Pushing the Limits of Mathematical Reasoning in Open Language
//! Models", section 4.1): sample groups, ask for rewards while the next are sampled, select, compute
//! advantages, update.

use assay_verifiers::stats::mean;

use super::batch::{self, Credit, TrainBatch, TrainedRollout, groups_of, per_rollout, with_stored};
use super::collect::{self, GENERATION_BATCHES_MAX};
use super::error::TrainingError;
use super::optimizer::AdamW;
use super::rewards::{RewardSource, Task, TaskSet};
use super::sampling::{Asked, GroupRequest, SampledRollout, Sampler, messages};
use super::seeds::{self, Purpose, seed};
use super::state::TrainerState;
use super::step_metrics::{self, Metrics};
use super::tool::{Tool, ToolUse};
use super::update::{UpdateSettings, Updated, Updater, minibatches, score};
use crate::advantages::{AdvantageValues, Estimator};
use crate::config::TrainConfig;
use crate::error::TrainerError;
use crate::losses::kl::KlPlace;
use crate::losses::{LossBatch, PolicyLoss};
use crate::monitor::HackMonitor;
use crate::policy::{Gradients, Parameters, PolicyModel, TextTokenizer};
use crate::ragged::Ragged;
use crate::reports::{RolloutReport, StepReport};
use crate::selection::Selector;

/// What a policy is trained with.
pub struct TrainingSetup {
    /// How.
    pub config: TrainConfig,
    /// How rewards become advantages.
    pub estimator: Box<dyn Estimator>,
    /// The loss.
    pub loss: PolicyLoss,
    /// Which rollouts are trained on; all of them where there is none.
    pub selector: Option<Box<dyn Selector>>,
    /// The tasks that are trained on.
    pub tasks: Vec<Task>,
    /// The tasks that are held out.
    pub held_out: Vec<Task>,
    /// The tokenizer of the policy.
    pub tokenizer: Box<dyn TextTokenizer>,
    /// Whoever pays the rewards.
    pub rewards: Box<dyn RewardSource>,
    /// Seconds since some moment: for the times that are reported, and nothing else.
    pub clock: Box<dyn Fn() -> f64 + Send + Sync>,
}

/// Trains a policy by GRPO. What it does depends on its setup and its seed alone, not on the number of
/// threads.
pub struct GrpoTrainer<P> {
    pub(super) policy: P,
    pub(super) setup: TrainingSetup,
    pub(super) state: TrainerState,
    pub(super) optimizer: AdamW,
    /// The weights of the reference policy, where the loss has a divergence from one.
    pub(super) reference: Option<Parameters>,
    pub(super) prompts: Prompts,
    /// Watches for a reward that is hacked.
    pub(super) monitor: HackMonitor,
    tool: Option<ToolUse>,
    gradients: Gradients,
    parts: Vec<(String, f64)>,
}

/// The prompts of tasks as tokens.
pub(super) struct Prompts {
    pub(super) train: Vec<Vec<u32>>,
    pub(super) held_out: Vec<Vec<u32>>,
}

/// Times of a step, in seconds.
#[derive(Clone, Copy, Debug, Default)]
struct Times {
    waiting: f64,
    sampling: f64,
}

/// The rollouts of a step.
struct StepRollouts {
    /// All that were sampled.
    sampled: Vec<SampledRollout>,
    /// Those that are trained on.
    trained: Vec<TrainedRollout>,
    metrics: Metrics,
    times: Times,
}

impl<P: PolicyModel> GrpoTrainer<P> {
    /// A trainer before its first step. The reference policy is the policy as it is now.
    ///
    /// # Errors
    /// A setting out of range, no task, a prompt that is not of the tokens of the policy or leaves no
    /// room for a completion.
    pub fn new(policy: P, mut setup: TrainingSetup) -> Result<Self, TrainingError> {
        check(&setup)?;
        if setup.config.generation.stop_tokens.is_empty() {
            setup.config.generation.stop_tokens = setup.tokenizer.stop_tokens().to_vec();
        }
        let prompts = Prompts {
            train: encoded(&setup, &setup.tasks, policy.positions_max())?,
            held_out: encoded(&setup, &setup.held_out, policy.positions_max())?,
        };
        let config = &setup.config;
        let updates = config.steps * (config.epochs * config.minibatches) as u64;
        let optimizer = AdamW::new(&config.optimizer, policy.parameters(), updates)?;
        let gradients = policy.parameters().gradients();
        let mut state = TrainerState::default();
        state.selection.seed = config.seed;
        let parts = setup.rewards.names();
        let monitor = HackMonitor::new(config.monitor.clone())?;
        let (reference, tool) = (None, None);
        let mut trainer = Self {
            policy,
            setup,
            state,
            optimizer,
            reference,
            prompts,
            monitor,
            tool,
            gradients,
            parts,
        };
        trainer.fix_reference();
        Ok(trainer)
    }

    /// The same with a tool, which is called as `train.tool` says.
    ///
    /// # Errors
    /// What marks calls and results is not of the tokens of the policy.
    pub fn with_tool(mut self, tool: Box<dyn Tool>) -> Result<Self, TrainingError> {
        let config = self.setup.config.tool.clone().unwrap_or_default();
        self.tool = Some(ToolUse::new(config, tool, &*self.setup.tokenizer)?);
        Ok(self)
    }

    /// The tool, where the configuration has one.
    pub(super) fn tool(&self) -> Result<Option<&ToolUse>, TrainerError> {
        let is_missing = self.setup.config.tool.is_some() && self.tool.is_none();
        let missing = || TrainerError::setting("tool", "`tool`: the trainer was given none");
        if is_missing { Err(missing()) } else { Ok(self.tool.as_ref()) }
    }

    /// Makes the policy as it is now the reference policy, where the loss asks for one.
    pub fn fix_reference(&mut self) {
        let needed = self.setup.loss.config().kl.coefficient != 0.0;
        self.reference = needed.then(|| self.policy.parameters().clone());
    }

    /// The policy.
    pub fn policy(&self) -> &P {
        &self.policy
    }

    /// What it is trained with.
    pub fn setup(&self) -> &TrainingSetup {
        &self.setup
    }

    /// What is kept from step to step.
    pub fn state(&self) -> &TrainerState {
        &self.state
    }

    /// One step.
    ///
    /// # Errors
    /// No rewards, or numbers that advantages, loss or selection refuse. The policy is then as it was
    /// before the update at fault.
    pub fn step(&mut self) -> Result<StepReport, TrainingError> {
        let began = (self.setup.clock)();
        self.state.step += 1;
        self.state.training.step = self.state.step - 1;
        let StepRollouts { sampled, trained, mut metrics, times } = self.collect()?;
        let sampled_at = (self.setup.clock)();
        let (advantages, updated) = self.learn(&trained)?;
        metrics.extend(step_metrics::of_rollouts(&sampled, &self.parts));
        metrics.extend(updated.metrics);
        if self.tool.is_some() {
            metrics.extend(step_metrics::of_calls(&sampled));
        }
        let tokens: usize = sampled.iter().map(SampledRollout::length).sum();
        let prompt_tokens: usize =
            sampled.iter().filter_map(|one| self.prompts.train.get(one.task)).map(Vec::len).sum();
        self.state.tokens += (tokens + prompt_tokens) as u64;
        let now = (self.setup.clock)();
        #[expect(clippy::cast_precision_loss, reason = "no training sees 2^53 tokens")]
        metrics.insert("num_tokens".into(), self.state.tokens as f64);
        metrics.insert("step_time".into(), now - began);
        metrics.insert("time/rewards".into(), times.waiting);
        metrics.insert("time/sampling".into(), times.sampling);
        metrics.insert("time/training".into(), now - sampled_at);
        let rollouts = self.report(sampled, &trained, &advantages, &updated.entropies);
        let parts = self.parts.iter().map(|(name, _)| name.clone()).collect();
        let mut report =
            StepReport { step: self.state.step, metrics, parts, rollouts, warnings: Vec::new() };
        report.warnings = self.monitor.on_step(&report);
        Ok(report)
    }

    /// Samples and selects until there is enough to train on.
    fn collect(&mut self) -> Result<StepRollouts, TrainingError> {
        let mut step = StepRollouts {
            sampled: Vec::new(),
            trained: Vec::new(),
            metrics: Metrics::new(),
            times: Times::default(),
        };
        let size = self.setup.config.group_size;
        let mut requests: Vec<GroupRequest> = (0..self.setup.config.groups as u64)
            .map(|group| GroupRequest {
                task: self.next_task(),
                group,
                rollouts: size,
                temperature: None,
            })
            .collect();
        for batch in 0..GENERATION_BATCHES_MAX {
            let rollouts = self.sample(&requests, batch, &mut step.times)?;
            step.sampled.extend(rollouts.iter().cloned());
            let Some(selector) = &self.setup.selector else {
                step.trained = collect::all(rollouts);
                return Ok(step);
            };
            let estimator_state = self.state.estimator.clone();
            let credit = credit(&self.setup, &self.parts, &estimator_state);
            let collected = collect::select(
                &**selector,
                &rollouts,
                (&credit, &self.setup.tasks),
                &mut self.state,
            )?;
            step.metrics.extend(
                collected
                    .metrics
                    .into_iter()
                    .map(|(name, value)| (format!("select/{name}"), value)),
            );
            step.trained.extend(collected.trained);
            let first = batch::group_count(&step.sampled) as u64;
            requests =
                collect::requested(&collected.requests, &collected.tasks, (size, first), || {
                    self.next_task()
                });
            if collected.ready || requests.is_empty() {
                return Ok(step);
            }
        }
        let have = format!("not full after {GENERATION_BATCHES_MAX} generation batches");
        let expected = "a selection that some rollouts pass";
        Err(TrainerError::input("training batch", have, expected).into())
    }

    /// Samples groups in parts, and waits for their rewards after the last part.
    fn sample(
        &mut self,
        requests: &[GroupRequest],
        batch: u64,
        times: &mut Times,
    ) -> Result<Vec<SampledRollout>, TrainingError> {
        let config = &self.setup.config;
        let sampler = Sampler {
            policy: &self.policy,
            tokenizer: &*self.setup.tokenizer,
            rewards: &*self.setup.rewards,
            set: TaskSet::Train,
            prompts: &self.prompts.train,
            generation: &config.generation,
            tool: self.tool()?,
            training: &self.state.training,
            seed: self.origin(),
            step: self.state.step,
        };
        let began = (self.setup.clock)();
        let mut asked: Vec<Asked> = Vec::new();
        let mut row = 0;
        for part in requests.chunks(requests.len().div_ceil(config.sampling_parts).max(1)) {
            asked.push(sampler.ask(part, batch, row)?);
            row += part.iter().map(|request| request.rollouts).sum::<usize>();
        }
        let sampled_at = (self.setup.clock)();
        let mut observed = Vec::new();
        let mut rollouts = Vec::with_capacity(row);
        for part in asked {
            rollouts.extend(part.wait(self.state.step, &mut observed)?);
        }
        times.sampling += sampled_at - began;
        times.waiting += (self.setup.clock)() - sampled_at;
        let observed = observed.iter().map(|(name, reward)| (&**name, *reward));
        self.state.training = self.state.training.observed(observed);
        Ok(rollouts)
    }

    /// Advantages and updates.
    fn learn(
        &mut self,
        trained: &[TrainedRollout],
    ) -> Result<(AdvantageValues, Updated), TrainingError> {
        if trained.is_empty() {
            return Ok((AdvantageValues::Rollouts(Vec::new()), Updated::default()));
        }
        let config = &self.setup.config;
        let settings = UpdateSettings {
            temperature: config.generation.temperature,
            tokens_per_pass: config.tokens_per_pass,
            max_grad_norm: config.optimizer.max_grad_norm,
            #[expect(clippy::cast_precision_loss, reason = "no completion has 2^53 tokens")]
            completion_max: config.generation.max_new_tokens as f64,
        };
        let masks = config.mask_truncated_completions;
        let mut batch = TrainBatch::new(trained, &self.prompts.train, self.state.step, masks);
        self.score_others(&mut batch, settings)?;
        let advantages = self.advantages(trained, &batch)?;
        let mut measured: Vec<Metrics> = Vec::new();
        let mut entropies = Ragged::new();
        let config = &self.setup.config;
        let (epochs, shares, origin) = (config.epochs, config.minibatches, self.origin());
        for epoch in 0..epochs as u64 {
            let drawn = seed(origin, Purpose::Minibatches, self.state.step, epoch);
            let order = if shares > 1 {
                seeds::order(trained.len(), drawn)
            } else {
                (0..trained.len()).collect()
            };
            let minibatches = minibatches(&batch, &advantages, &order, shares);
            for (at, (rows, earned)) in minibatches.into_iter().enumerate() {
                let number = epoch << 32 | at as u64;
                let chance = seed(origin, Purpose::Loss, self.state.step, number);
                let mut updater = Updater {
                    policy: &mut self.policy,
                    loss: &self.setup.loss,
                    optimizer: &mut self.optimizer,
                    gradients: &mut self.gradients,
                    settings,
                };
                let made = updater.update(&rows, &earned, &mut self.state.entropy, chance)?;
                measured.push(made.metrics);
                if shares == 1 && epoch == 0 {
                    entropies = made.entropies;
                }
            }
        }
        Ok((advantages, Updated { metrics: step_metrics::of_updates(&measured), entropies }))
    }

    /// Fills in the log-probabilities of the policy at the start of the step, where it will change
    /// within the step or some rollouts are of an older one, and those of the reference.
    fn score_others(
        &mut self,
        batch: &mut TrainBatch,
        settings: UpdateSettings,
    ) -> Result<(), TrainingError> {
        let config = &self.setup.config;
        let kl = &self.setup.loss.config().kl;
        let in_rewards = kl.coefficient != 0.0 && kl.place == KlPlace::Reward;
        let is_stale = batch.staleness.iter().any(|steps| *steps > 0);
        if config.epochs * config.minibatches > 1 || is_stale || in_rewards {
            batch.old = Some(score(&self.policy, &batch.sequences, settings)?.log_probs);
        }
        if let Some(reference) = &mut self.reference {
            std::mem::swap(self.policy.parameters_mut(), reference);
            let scores = score(&self.policy, &batch.sequences, settings);
            std::mem::swap(self.policy.parameters_mut(), reference);
            batch.reference = Some(scores?.log_probs);
        }
        Ok(())
    }

    /// The advantages of what is trained on; the estimator keeps what it learned of them.
    fn advantages(
        &mut self,
        trained: &[TrainedRollout],
        batch: &TrainBatch,
    ) -> Result<AdvantageValues, TrainingError> {
        let rows: Vec<&SampledRollout> = trained.iter().map(|one| &one.sampled).collect();
        let kl = &self.setup.loss.config().kl;
        let in_rewards = kl.coefficient != 0.0 && kl.place == KlPlace::Reward;
        let token_rewards = match &batch.old {
            Some(old) if in_rewards => {
                let none = AdvantageValues::Rollouts(vec![0.0; trained.len()]);
                let given = LossBatch {
                    reference: batch.reference.as_ref(),
                    mask: Some(&batch.mask),
                    ..LossBatch::new(old, &none)
                };
                Some(self.setup.loss.token_rewards(&given)?)
            }
            _ => None,
        };
        let credit = credit(&self.setup, &self.parts, &self.state.estimator);
        let computed = credit.advantages(&rows, &groups_of(&rows), token_rewards.as_ref())?;
        self.state.estimator = computed.state;
        Ok(with_stored(computed.values, trained))
    }

    /// From which the steps draw: the seed of the training, and another one each time that it went back
    /// to a checkpoint, so that it does not go the same way again.
    fn origin(&self) -> u64 {
        self.setup.config.seed.wrapping_add(self.state.roll_backs.wrapping_mul(0x9E37_79B9))
    }

    /// The next task: tasks are gone through in a new random order each time, or drawn by the weights
    /// that a selection gave them.
    fn next_task(&mut self) -> usize {
        let tasks = self.setup.tasks.len();
        let drawn = self.state.tasks_drawn;
        self.state.tasks_drawn += 1;
        let of = |first, second| seed(self.origin(), Purpose::TaskOrder, first, second);
        if !self.state.task_weights.is_empty() {
            let weight =
                |task: &Task| self.state.task_weights.get(&task.id).copied().unwrap_or(1.0);
            let weights: Vec<f64> = self.setup.tasks.iter().map(weight).collect();
            if let Some(task) = seeds::weighted(&weights, of(u64::MAX, drawn)) {
                return task;
            }
        }
        let (epoch, at) = (drawn / tasks as u64, drawn % tasks as u64);
        let order = seeds::order(tasks, of(epoch, 0));
        usize::try_from(at).ok().and_then(|at| order.get(at)).copied().unwrap_or_default()
    }

    fn report(
        &self,
        sampled: Vec<SampledRollout>,
        trained: &[TrainedRollout],
        advantages: &AdvantageValues,
        entropies: &Ragged<f64>,
    ) -> Vec<RolloutReport> {
        let advantages = per_rollout(advantages, trained.iter().map(|one| &one.sampled));
        let row_of = |name: &str| trained.iter().position(|one| one.sampled.name == name);
        let is_all = trained.len() == sampled.len();
        let rows = sampled.into_iter().enumerate();
        rows.map(|(at, one)| {
            let row = if is_all { Some(at) } else { row_of(&one.name) };
            let task = self.setup.tasks.get(one.task);
            let messages = messages(self.tool.as_ref(), &*self.setup.tokenizer, &one);
            let entropy = row.and_then(|row| mean(one.of_own(entropies.row(row)))).unwrap_or(0.0);
            RolloutReport {
                task: task.map(|task| task.id.clone()).unwrap_or_default(),
                prompt: task.map(|task| task.prompt.clone()).unwrap_or_default(),
                group: one.group,
                tokens: one.length(),
                truncated: one.truncated,
                completion: one.completion,
                messages: messages.into_iter().map(|(_, message)| message).collect(),
                reward: one.reward.reward,
                parts: one.reward.parts,
                correct: one.reward.correct,
                fault: one.reward.fault,
                advantage: row.and_then(|row| advantages.get(row)).copied().unwrap_or_default(),
                entropy,
            }
        })
        .collect()
    }
}

fn credit<'a>(
    setup: &'a TrainingSetup,
    parts: &'a [(String, f64)],
    state: &'a crate::advantages::EstimatorState,
) -> Credit<'a> {
    Credit { estimator: &*setup.estimator, parts, tokenizer: &*setup.tokenizer, state }
}

fn encoded(
    setup: &TrainingSetup,
    tasks: &[Task],
    positions_max: usize,
) -> Result<Vec<Vec<u32>>, TrainingError> {
    let encode = |task: &Task| {
        let tokens = setup.tokenizer.encode(&task.prompt)?;
        let room = positions_max.saturating_sub(tokens.len());
        if tokens.is_empty() || room == 0 {
            let what = format!("prompt of task \"{}\"", task.id);
            let have = format!("{} tokens", tokens.len());
            let expected = format!("1 to {} tokens", positions_max.saturating_sub(1));
            return Err(TrainerError::input(what, have, expected).into());
        }
        Ok(tokens)
    };
    tasks.iter().map(encode).collect()
}

fn check(setup: &TrainingSetup) -> Result<(), TrainerError> {
    let config = &setup.config;
    let positive = [
        ("groups", config.groups),
        ("group_size", config.group_size),
        ("sampling_parts", config.sampling_parts),
        ("epochs", config.epochs),
        ("minibatches", config.minibatches),
        ("tokens_per_pass", config.tokens_per_pass),
        ("generation.max_new_tokens", config.generation.max_new_tokens),
    ];
    if let Some((setting, _)) = positive.into_iter().find(|(_, value)| *value == 0) {
        return Err(TrainerError::setting(
            setting,
            format!("`{setting}` is 0, expected 1 or more"),
        ));
    }
    if setup.tasks.is_empty() {
        return Err(TrainerError::input("tasks", "none", "one or more"));
    }
    let temperature = config.generation.temperature;
    if !(temperature.is_finite() && temperature > 0.0) {
        let message =
            format!("`generation.temperature` is {temperature}, expected a number above 0");
        return Err(TrainerError::setting("generation.temperature", message));
    }
    Ok(())
}
