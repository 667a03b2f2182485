//! `outcome_model`: an outcome reward model (ORM, sequence classifier) scores the whole completion.

use assay_verifiers::{BuildError, Component, Fault, FaultKind, Outcome, Reward, Sample, Verdict};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::model_verifier::{ModelVerifier, finite, last_score, reward, view};
use crate::manifest::ModelKind;
use crate::model::{Judgement, Model};
use crate::models::RunSettings;
use crate::template::View;

/// The score that an outcome reward model gives the completion.
///
/// The model is a folder with a manifest (docs/model-folder.md), which says how a prompt and a
/// completion become its text, at which token the score is read, and how values become one number:
/// a raw logit, a probability, a weighted or gated sum of objectives. The reward is that score, or
/// one of the model's `labels`, each of which is a component of the verdict. A raw logit has no bounds; `calibration` in the manifest gives it
/// some. Where the model tells how sure it is of its values (URM: "Uncertainty-aware Reward Model:
/// Teaching Reward Models to Know What is Unknown"), evidence holds the standard deviation of the
/// score, and `pessimism` takes that many of them off the reward.
#[derive(Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct OutcomeModel {
    /// The folder of the model.
    model: String,
    /// The label that is the reward, where it is not the score; the manifest names them.
    #[serde(default)]
    label: Option<String>,
    /// How many standard deviations are taken off, for models that tell them.
    #[serde(default)]
    pessimism: f64,
    /// The reward is 1 from this score on and 0 below it, instead of the score.
    #[serde(default)]
    threshold: Option<f64>,
    /// How the model is run.
    #[serde(default)]
    run: RunSettings,
}

impl ModelVerifier for OutcomeModel {
    const ID: &'static str = "outcome_model";
    const VERSION: u32 = 2;
    const KINDS: &'static [ModelKind] = &[ModelKind::Outcome];

    fn model(&self) -> (&str, &RunSettings) {
        (&self.model, &self.run)
    }

    fn fits(&self, model: &Model) -> Result<(), BuildError> {
        let labels = &model.manifest.score.labels;
        match &self.label {
            Some(label) if !labels.contains(label) => {
                let why = format!("the model has no label \"{label}\"; has: {}", labels.join(", "));
                Err(BuildError::new("label", why))
            }
            _ if !self.pessimism.is_finite() => {
                Err(BuildError::new("pessimism", "not a finite number"))
            }
            _ => finite(self.threshold),
        }
    }

    fn views(&self, _: &Model, sample: &Sample) -> Result<Vec<View>, Verdict> {
        Ok(vec![view(sample)?])
    }

    fn verdict(
        &self,
        model: &Model,
        _: &Sample,
        judgements: &[Judgement],
    ) -> Result<Verdict, Fault> {
        let [judgement] = judgements else { return Err(Fault::internal("one text was judged")) };
        let score = last_score(judgement)?;
        let values = judgement.rows.iter().last().unwrap_or_default();
        let labels = &model.manifest.score.labels;
        let place =
            self.label.as_ref().and_then(|own| labels.iter().position(|label| label == own));
        let picked = place.and_then(|place| values.get(place)).copied().map(f64::from);
        let uncertainty = model.manifest.score.uncertainty(&judgement.rows, place);
        if self.pessimism != 0.0 && uncertainty.is_none() {
            return Err(Fault::new(FaultKind::BadModel, "the model does not tell how sure it is"));
        }
        let less = self.pessimism * uncertainty.unwrap_or(0.0);
        let reward = reward(picked.unwrap_or(score) - less, self.threshold)?;
        let mut verdict = Verdict::scored(reward).with("score", score);
        if let Some(uncertainty) = uncertainty {
            verdict = verdict.with("uncertainty", uncertainty);
        }
        verdict.components =
            labels.iter().cloned().zip(values.iter().copied().map(component)).collect();
        Ok(verdict)
    }
}

/// What the model says of one of its labels.
fn component(value: f32) -> Component {
    let odd =
        || Fault::new(FaultKind::BadModel, format!("the value is {value}, not a finite number"));
    let reward = Reward::new(f64::from(value));
    reward.map_or_else(|| Outcome::Failed(odd()), Outcome::Scored).into()
}
