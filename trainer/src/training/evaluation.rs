//! Evaluation on the tasks that are held out: greedy accuracy, pass@k, support shrinkage.

use assay_verifiers::Reward;
use assay_verifiers::stats::{float, mean};

use super::error::TrainingError;
use super::grpo::GrpoTrainer;
use super::rewards::TaskSet;
use super::sampling::{GroupRequest, SampledRollout, Sampler};
use crate::diagnostics::{CorrectCounts, SupportDynamics, pass_at_k, support_dynamics};
use crate::policy::{GenerationConfig, PolicyModel};
use crate::reports::{EvaluationReport, TaskEvaluation};

/// Completions that are sampled at once, about.
const ROWS: usize = 256;

impl<P: PolicyModel> GrpoTrainer<P> {
    /// Evaluates the policy on the tasks that are held out: one greedy completion of each, and, where
    /// `samples` is above 0, so many at the temperature of the training for pass@k and the support.
    /// The first evaluation with samples is what the support of later ones is compared with.
    ///
    /// # Errors
    /// No rewards.
    pub fn evaluate(&mut self, samples: usize) -> Result<EvaluationReport, TrainingError> {
        let config = &self.setup.config;
        let count = match config.evaluation.tasks_max {
            0 => self.setup.held_out.len(),
            most => most.min(self.setup.held_out.len()),
        };
        let greedy = GenerationConfig { temperature: 0.0, ..config.generation.clone() };
        let first = self.held_out(count, 1, &greedy)?;
        let drawn = self.held_out(count, samples, &config.generation.clone())?;
        let tasks = self.tasks(&first, &drawn, samples);
        let mut report = EvaluationReport {
            step: self.state.step,
            accuracy: mean(tasks.iter().map(|task| task.correct.unwrap_or(0.0))).unwrap_or(0.0),
            reward: mean(tasks.iter().filter_map(|task| task.reward)),
            mean_length: mean(first.iter().map(|one| float(one.length()))).unwrap_or(0.0),
            pass_at_k: self.pass_at_k(&tasks, samples),
            support: (samples > 0).then(|| support(&self.state.baseline, &tasks)),
            tasks,
            warnings: Vec::new(),
        };
        report.warnings = self.monitor.on_evaluation(&report);
        if samples > 0 && self.state.baseline.is_empty() {
            self.state.baseline.clone_from(&report.tasks);
        }
        Ok(report)
    }

    /// Completions of the first `count` tasks that are held out, task after task.
    fn held_out(
        &self,
        count: usize,
        samples: usize,
        generation: &GenerationConfig,
    ) -> Result<Vec<SampledRollout>, TrainingError> {
        if samples == 0 {
            return Ok(Vec::new());
        }
        let by = Sampler {
            policy: &self.policy,
            tokenizer: &*self.setup.tokenizer,
            rewards: &*self.setup.rewards,
            set: TaskSet::HeldOut,
            prompts: &self.prompts.held_out,
            generation,
            tool: self.tool()?,
            training: &self.state.training,
            seed: self.setup.config.seed,
            step: self.state.step,
        };
        let requests: Vec<GroupRequest> = (0..count)
            .map(|task| GroupRequest {
                task,
                group: task as u64,
                rollouts: samples,
                temperature: None,
            })
            .collect();
        let mut asked = Vec::new();
        for (part, requests) in requests.chunks((ROWS / samples).max(1)).enumerate() {
            asked.push(by.ask(requests, part as u64, 0)?);
        }
        let mut rollouts = Vec::new();
        for part in asked {
            rollouts.extend(part.wait(self.state.step, &mut Vec::new())?);
        }
        Ok(rollouts)
    }

    fn tasks(
        &self,
        greedy: &[SampledRollout],
        drawn: &[SampledRollout],
        each: usize,
    ) -> Vec<TaskEvaluation> {
        let is_right =
            |one: &&SampledRollout| one.reward.correct.is_some_and(|one| one >= Reward::RIGHT);
        let mut rest = drawn.chunks(each.max(1));
        let evaluated = greedy.iter().map(|one| {
            let own = rest.next().unwrap_or_default();
            TaskEvaluation {
                #[expect(clippy::indexing_slicing, reason = "rollouts are of the held-out tasks")]
                id: self.setup.held_out[one.task].id.clone(),
                completion: one.completion.clone(),
                reward: one.reward.reward,
                correct: one.reward.correct,
                samples: own.len(),
                samples_correct: own.iter().filter(is_right).count(),
            }
        });
        evaluated.collect()
    }

    fn pass_at_k(&self, tasks: &[TaskEvaluation], samples: usize) -> Vec<(usize, f64)> {
        let of = |k: usize| {
            let each =
                tasks.iter().filter_map(|task| pass_at_k(task.samples, task.samples_correct, k));
            Some((k, mean(each)?))
        };
        let ks = self.setup.config.evaluation.k.iter().copied();
        ks.filter(|k| *k <= samples).filter_map(of).collect()
    }
}

/// What became of the tasks that were solved before.
fn support(before: &[TaskEvaluation], now: &[TaskEvaluation]) -> SupportDynamics {
    let before = if before.is_empty() { now } else { before };
    let cases: Vec<CorrectCounts> = before
        .iter()
        .zip(now)
        .map(|(base, trained)| CorrectCounts {
            base: base.samples_correct,
            base_samples: base.samples,
            trained: trained.samples_correct,
            trained_samples: trained.samples,
        })
        .collect();
    support_dynamics(&cases, 0.0)
}
