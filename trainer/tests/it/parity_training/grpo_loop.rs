//! The whole trainer: the GRPO loop on a policy that gives the completions which TRL sampled.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Mutex;

use assay_trainer::policy::folder::PolicyFolder;
use assay_trainer::policy::{
    Decoder, FinishReason, Generated, GenerationConfig, Gradients, Parameters, PolicyError,
    PolicyModel, Sequences, TokenGradients, TokenScores,
};
use assay_trainer::ragged::Ragged;
use assay_trainer::training::{
    GrpoTrainer, PendingRewards, RewardReply, RewardSource, Rollout, RolloutReward, StepReport,
    Task, TrainingSetup,
};
use assay_verifiers::TrainingState;
use serde_json::json;

use super::differences::Differences;
use super::recorded::{Generation, RecordedTraining, RecordedUpdate, bits, reward};

/// A prompt and a completion.
type Sampled = (Vec<u32>, Vec<u32>);

/// A decoder whose completions are given.
struct ReplayedPolicy {
    decoder: Decoder,
    /// What it answers, in this order.
    sampled: Mutex<VecDeque<Sampled>>,
}

/// Pays the reward of the recorded trainings.
struct ArithmeticReward {
    /// The answer to each task.
    answers: Vec<String>,
}

#[test]
fn the_loop_trains_as_trl_does() {
    assert_trained_alike("dapo");
}

#[test]
fn the_loop_goes_through_a_generation_twice_as_trl_does() {
    assert_trained_alike("grpo_kl");
}

#[test]
fn the_loop_masks_truncated_completions_as_trl_does() {
    assert_trained_alike("dr_grpo");
}

/// Trains as TRL did, and compares what is reported of each step.
fn assert_trained_alike(name: &str) {
    let recorded = RecordedTraining::read(name);
    let order = task_order(&recorded);
    let mut trainer = trainer(&recorded, &order, sampled(&recorded));
    let before = trainer.policy().parameters().clone();
    let mut differences = Differences::default();
    for (number, generation) in recorded.generations.iter().enumerate() {
        let of_it = recorded.updates.iter().filter(|update| update.generation == number);
        compare(&trainer.step().unwrap(), generation, &of_it.collect::<Vec<_>>(), &mut differences);
    }
    assert!(trainer.policy().sampled.lock().unwrap().is_empty());
    differences.add_weights(&recorded, &before, trainer.policy().parameters());
    differences.assert_small(name);
}

fn compare(
    report: &StepReport,
    generation: &Generation,
    updates: &[&RecordedUpdate],
    differences: &mut Differences,
) {
    let rewards: Vec<Option<f64>> = report.rollouts.iter().map(|rollout| rollout.reward).collect();
    assert_eq!(bits(&rewards), bits(&generation.rewards));
    for (rollout, theirs) in report.rollouts.iter().zip(&generation.advantages) {
        differences.add("advantage", rollout.advantage - theirs);
    }
    // A step of the loop is all updates with a generation: it reports their mean.
    let mean = |of: &dyn Fn(&RecordedUpdate) -> f64| {
        updates.iter().map(|update| of(update)).sum::<f64>() / updates.len() as f64
    };
    let ours = |name: &str| report.metrics[name];
    let norm = mean(&|update| update.grad_norm);
    differences.add("loss", ours("loss") - mean(&|update| update.loss));
    differences.add("gradient norm", ours("grad_norm") / norm - 1.0);
    let rate = mean(&|update| update.learning_rate);
    differences.add("learning rate", (ours("learning_rate") - rate) / rate.max(1e-9));
    differences.add("clipped", ours("clip_ratio/region_mean") - mean(&|update| update.clipped));
    if updates[0].kl.is_some() {
        differences.add("kl", ours("kl") - mean(&|update| update.kl.unwrap()));
    }
    // TRL averages the means of the batches that it accumulates.
    if updates[0].batches.len() == 1 {
        differences.add("entropy", ours("entropy") - mean(&|update| update.entropy));
    }
    for (name, theirs) in updates[0].of_generation.iter().filter(|(name, _)| *name != "reward_std")
    {
        assert!((ours(name) - theirs).abs() < 1e-6, "{name}: {} and {theirs}", ours(name));
    }
}

/// What TRL sampled, in the order in which it did.
fn sampled(recorded: &RecordedTraining) -> Vec<Sampled> {
    let size = recorded.settings.num_generations;
    let of = |generation: &Generation| -> Vec<Sampled> {
        let completions = generation.completions.iter().enumerate();
        let prompt = |row: usize| generation.prompt_ids.row(row / size).to_vec();
        completions.map(|(row, completion)| (prompt(row), completion.to_vec())).collect()
    };
    recorded.generations.iter().flat_map(of).collect()
}

/// Which task the loop takes for each group: it goes through them in an order of its own.
fn task_order(recorded: &RecordedTraining) -> Vec<usize> {
    let groups: usize = recorded.generations.iter().map(|one| one.prompts.len()).sum();
    let prompt = recorded.generations[0].prompt_ids.row(0).to_vec();
    let nothing = vec![(prompt, vec![0]); groups * recorded.settings.num_generations];
    let mut trainer = trainer(recorded, &vec![0; groups], nothing);
    let mut order = Vec::new();
    for _ in &recorded.generations {
        let report = trainer.step().unwrap();
        let of_groups = report.rollouts.chunks(recorded.settings.num_generations);
        order.extend(of_groups.map(|group| group[0].task.parse::<usize>().unwrap()));
    }
    order
}

/// A trainer whose group `k` over all steps is the task `order[k]`, where all tasks are the first where
/// no order is known.
fn trainer(
    recorded: &RecordedTraining,
    order: &[usize],
    sampled: Vec<Sampled>,
) -> GrpoTrainer<ReplayedPolicy> {
    let settings = &recorded.settings;
    let prompts = recorded.generations.iter().flat_map(|generation| &generation.prompts);
    let is_known = order.iter().any(|task| *task > 0);
    let by_task: BTreeMap<usize, &String> = order.iter().copied().zip(prompts).collect();
    let prompt =
        |task: usize| if is_known { by_task[&task] } else { &recorded.generations[0].prompts[0] };
    let tasks: Vec<Task> = (0..order.len())
        .map(|task| Task { id: task.to_string(), prompt: prompt(task).clone() })
        .collect();
    let answers = tasks.iter().map(|task| recorded.answer(&task.prompt).to_owned()).collect();
    let config = json!({
        "model": {},
        "tasks": [],
        "steps": recorded.generations.len(),
        "groups": recorded.generations[0].prompts.len(),
        "group_size": settings.num_generations,
        "sampling_parts": 3,
        "epochs": settings.num_iterations,
        "tokens_per_pass": 200,
        "mask_truncated_completions": settings.mask_truncated_completions,
        "generation": {
            "temperature": settings.temperature,
            "max_new_tokens": settings.max_completion_length,
        },
        "optimizer": settings.optimizer(),
    });
    let PolicyFolder { decoder, tokenizer } = recorded.policy();
    let policy = ReplayedPolicy { decoder, sampled: Mutex::new(sampled.into()) };
    let setup = TrainingSetup {
        config: serde_json::from_value(config).unwrap(),
        estimator: settings.estimator(),
        loss: settings.loss(),
        selector: None,
        tasks,
        held_out: Vec::new(),
        tokenizer: Box::new(tokenizer),
        rewards: Box::new(ArithmeticReward { answers }),
        clock: Box::new(|| 0.0),
    };
    GrpoTrainer::new(policy, setup).unwrap()
}

impl PolicyModel for ReplayedPolicy {
    type Activations = <Decoder as PolicyModel>::Activations;

    fn vocabulary_size(&self) -> usize {
        self.decoder.vocabulary_size()
    }

    fn positions_max(&self) -> usize {
        self.decoder.positions_max()
    }

    fn parameters(&self) -> &Parameters {
        self.decoder.parameters()
    }

    fn parameters_mut(&mut self) -> &mut Parameters {
        self.decoder.parameters_mut()
    }

    fn generate(
        &self,
        prompts: &Ragged<u32>,
        config: &GenerationConfig,
        seeds: &[u64],
    ) -> Result<Vec<Generated>, PolicyError> {
        let each = seeds.len() / prompts.rows();
        let one = |row: usize| {
            let (prompt, tokens) = self.sampled.lock().unwrap().pop_front().unwrap();
            assert_eq!(prompts.row(row / each), prompt);
            let is_stop = |token: &u32| config.stop_tokens.contains(token);
            let ended = tokens.last().is_some_and(is_stop);
            let finish = if ended { FinishReason::Stop } else { FinishReason::Length };
            // TRL does not say what the log-probabilities were: no correction for the sampler is made.
            Generated { log_probs: vec![f32::NAN; tokens.len()], tokens, finish }
        };
        Ok((0..seeds.len()).map(one).collect())
    }

    fn score(&self, sequences: &Sequences, temperature: f64) -> Result<TokenScores, PolicyError> {
        self.decoder.score(sequences, temperature)
    }

    fn forward(
        &self,
        sequences: &Sequences,
        temperature: f64,
    ) -> Result<(TokenScores, Self::Activations), PolicyError> {
        self.decoder.forward(sequences, temperature)
    }

    fn backward(
        &self,
        activations: Self::Activations,
        gradients: &TokenGradients,
        into: &mut Gradients,
    ) -> Result<(), PolicyError> {
        self.decoder.backward(activations, gradients, into)
    }
}

impl RewardSource for ArithmeticReward {
    fn names(&self) -> Vec<(String, f64)> {
        vec![("graded".to_owned(), 1.0)]
    }

    fn ask(&self, rollouts: Vec<Rollout>, _state: &TrainingState) -> PendingRewards {
        let paid = |rollout: &Rollout| {
            let reward = reward(&rollout.completion, &self.answers[rollout.task]);
            RolloutReward { reward, parts: vec![reward], ..RolloutReward::default() }
        };
        let rewards = rollouts.iter().map(paid).collect();
        PendingRewards::ready(RewardReply { rewards, observed: Vec::new() })
    }
}
