//! `process_model`: a process reward model (PRM) scores every step of the completion.

use assay_verifiers::stats::{Aggregate, mean};
use assay_verifiers::{BuildError, Fault, FaultKind, Reward, Sample, Step, Verdict};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::model_verifier::{ModelVerifier, critique, finite, unread, view};
use crate::clip_delta::clip_delta;
use crate::manifest::ModelKind;
use crate::model::{Judgement, Model};
use crate::models::RunSettings;
use crate::template::View;

/// The scores that a process reward model gives the steps of a completion, as one reward.
///
/// The model is a folder with a manifest (docs/model-folder.md), which says where steps end and
/// how they are read: off the graph, or from what a model writes of them, by the majority of several
/// critiques; a step on which they are equally divided has no score. The reward is the aggregate of their scores: `min`, `mean`, `product`,
/// `geometric_mean`, `last`, `sum` or `max`. The verdict has each step with its place and its own
/// reward, to train on: its score, or what `step_rewards` makes of it. Evidence holds the share of
/// steps that are right (`right_steps`) and the first step below `threshold` (`first_error`, -1 where
/// none is: the protocol of `ProcessBench`).
#[derive(Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ProcessModel {
    /// The folder of the model.
    model: String,
    /// How the scores of steps become the reward; by default as the manifest says.
    #[serde(default)]
    aggregate: Option<Aggregate>,
    /// A step with a score below this is wrong.
    #[serde(default = "right")]
    threshold: f64,
    /// The reward is 1 where no step is wrong, else 0.
    #[serde(default)]
    binary: bool,
    /// What a step earns. Where that is not its score, evidence keeps the scores as `scores`.
    #[serde(default)]
    step_rewards: StepRewards,
    /// How the model is run.
    #[serde(default)]
    run: RunSettings,
}

/// Rewards for single steps.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum StepRewards {
    /// The scores themselves.
    #[default]
    Scores,
    /// What each step adds: its score less the one before; the first keeps its own.
    Progress,
    /// Clip and Delta ("On Designing Effective RL Reward at Training Time for LLM Reasoning"),
    /// clipped at `threshold`: repeating good steps gains nothing.
    ClipDelta,
}

fn right() -> f64 {
    Reward::RIGHT
}

impl ModelVerifier for ProcessModel {
    const ID: &'static str = "process_model";
    const VERSION: u32 = 3;
    const KINDS: &'static [ModelKind] = &[ModelKind::Process, ModelKind::Implicit];

    fn model(&self) -> (&str, &RunSettings) {
        (&self.model, &self.run)
    }

    fn fits(&self, _: &Model) -> Result<(), BuildError> {
        finite(Some(self.threshold))
    }

    fn views(&self, model: &Model, sample: &Sample) -> Result<Vec<View>, Verdict> {
        let steps = model.step_texts(sample.completion());
        if steps.is_empty() {
            return Err(Verdict::abstained("the completion has no steps"));
        }
        Ok(vec![View { steps, ..view(sample)? }])
    }

    fn verdict(
        &self,
        model: &Model,
        sample: &Sample,
        judgements: &[Judgement],
    ) -> Result<Verdict, Fault> {
        let bad = |why: String| Fault::new(FaultKind::BadModel, why);
        let [judgement] = judgements else { return Err(Fault::internal("one text was judged")) };
        let places = if sample.is_rendered() && sample.rendered_prompt().is_none() {
            model.rendered_steps(sample.completion())
        } else {
            model.steps(sample.completion())
        };
        let Some(scores) = model.step_scores(judgement, places.len()) else {
            return unread(&model.manifest.generate, judgement, None);
        };
        if scores.len() != places.len() {
            let (found, wanted) = (scores.len(), places.len());
            return Err(bad(format!(
                "the template marks {found} places; there are {wanted} steps"
            )));
        }
        let first = scores.iter().position(|score| *score < self.threshold);
        let steps = scores.len();
        let (places, scores): (Vec<_>, Vec<f64>) =
            places.into_iter().zip(scores).filter(|(_, score)| !score.is_nan()).unzip();
        if scores.is_empty() || (self.binary && first.is_none() && scores.len() < steps) {
            let undecided = steps - scores.len();
            let why = format!("the critiques are divided on {undecided} of {steps} steps");
            return Ok(Verdict::abstained(why).with("critique", critique(judgement)));
        }
        let aggregate = self.aggregate.unwrap_or(model.manifest.score.aggregate);
        let reward = aggregate.of(&scores).and_then(Reward::new);
        let reward =
            reward.ok_or_else(|| bad("the scores of the steps add up to nothing".into()))?;
        let right: Vec<f64> =
            scores.iter().map(|score| f64::from(*score >= self.threshold)).collect();
        let reward = if self.binary { Reward::graded(first.is_none()) } else { reward };
        let step = |((_, span), earned): ((&str, (usize, usize)), f64)| {
            let odd = || bad(format!("a step earns {earned}, not a finite number"));
            Ok(Step::new(span, Reward::new(earned).ok_or_else(odd)?))
        };
        let steps = places.into_iter().zip(self.rewards(&scores)).map(step);
        let steps = steps.collect::<Result<Vec<Step>, Fault>>()?;
        let verdict = Verdict { steps, ..Verdict::scored(reward) }
            .with("first_error", first.map_or(Value::from(-1), Value::from))
            .with("right_steps", mean(&right));
        let verdict = if judgement.texts.is_empty() {
            verdict
        } else {
            verdict.with("critique", critique(judgement))
        };
        Ok(match self.step_rewards {
            StepRewards::Scores => verdict,
            StepRewards::Progress | StepRewards::ClipDelta => verdict.with("scores", scores),
        })
    }
}

impl ProcessModel {
    /// What each step earns.
    fn rewards(&self, scores: &[f64]) -> Vec<f64> {
        match self.step_rewards {
            StepRewards::Scores => scores.to_vec(),
            StepRewards::Progress => {
                let before = std::iter::once(&0.0).chain(scores);
                scores.iter().zip(before).map(|(score, before)| score - before).collect()
            }
            StepRewards::ClipDelta => clip_delta(scores, self.threshold),
        }
    }
}
