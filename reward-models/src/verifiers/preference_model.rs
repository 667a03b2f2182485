//! `preference_model`: a pairwise preference model (Bradley-Terry or a comparison) says which of two
//! completions is better.

use assay_verifiers::{BuildError, Fault, Sample, Verdict};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::model_verifier::{ModelVerifier, finite, last_score, reward, view};
use crate::manifest::ModelKind;
use crate::model::{Judgement, Model};
use crate::models::RunSettings;
use crate::preference::{both_orders, symmetric};
use crate::template::View;

/// How much a pair model prefers the completion to the reference.
///
/// A pair model reads both completions of a prompt at once. It is asked in both orders, and the
/// reward is the mean of what it says for the completion, so that the order decides nothing:
/// (P(completion, reference) + 1 - P(reference, completion)) / 2, between 0 and 1
/// ("LLM-Blender: Ensembling Large Language Models with Pairwise Ranking and Generative Fusion",
/// the pairwise ranker).
#[derive(Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PreferenceModel {
    /// The folder of the model.
    model: String,
    /// The reward is 1 from this preference on and 0 below it, instead of the preference.
    #[serde(default)]
    threshold: Option<f64>,
    /// How the model is run.
    #[serde(default)]
    run: RunSettings,
}

impl ModelVerifier for PreferenceModel {
    const ID: &'static str = "preference_model";
    const VERSION: u32 = 2;
    const KINDS: &'static [ModelKind] = &[ModelKind::Pairwise];

    fn model(&self) -> (&str, &RunSettings) {
        (&self.model, &self.run)
    }

    fn fits(&self, _: &Model) -> Result<(), BuildError> {
        finite(self.threshold)
    }

    fn views(&self, _: &Model, sample: &Sample) -> Result<Vec<View>, Verdict> {
        let view = view(sample)?;
        if view.reference.is_empty() {
            return Err(Verdict::no_reference());
        }
        Ok(both_orders(&view, &view.completion, &view.reference).to_vec())
    }

    fn verdict(&self, _: &Model, _: &Sample, judgements: &[Judgement]) -> Result<Verdict, Fault> {
        let [one, two] = judgements else { return Err(Fault::internal("two texts were judged")) };
        let (one, two) = (last_score(one)?, last_score(two)?);
        let preference = symmetric(one, two);
        let reward = reward(preference, self.threshold)?;
        Ok(Verdict::scored(reward).with("score", preference).with("orders", vec![one, 1.0 - two]))
    }
}
