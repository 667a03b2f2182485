//! `embedding_model`: the cosine similarity of the completion and the reference, as text embeddings.

use assay_verifiers::{Aspect, BuildError, Fault, FaultKind, Sample, Verdict};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::model_verifier::{ModelVerifier, finite, reward};
use crate::error::ModelError;
use crate::manifest::ModelKind;
use crate::model::{Judgement, Model};
use crate::models::RunSettings;
use crate::nearness::nearness;
use crate::score::ModelOutput;
use crate::template::View;
use crate::tokens::Tokens;

/// What evidence calls the vector of a text that is compared with none.
pub const VECTOR: &str = "vector";

/// The nearness of the completion to the reference, by an embedding model.
///
/// With one vector a text it is the cosine of the two, between -1 and 1. With one vector a token it
/// is BMAS: the mean, over the tokens of each text, of the cosine to the nearest token of the other,
/// half for each text, between 0 and 1 ("Mixed-R1: Unified Reward Perspective For Reasoning
/// Capability in Multimodal Large Language Models", bidirectional max-average similarity). BMAS does
/// not see the order of words: pair it with a check that does.
#[derive(Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct EmbeddingModel {
    /// The folder of the model.
    model: String,
    /// The reward is 1 from this nearness on and 0 below it, instead of the nearness.
    #[serde(default)]
    threshold: Option<f64>,
    /// How the model is run.
    #[serde(default)]
    run: RunSettings,
}

impl ModelVerifier for EmbeddingModel {
    const ID: &'static str = "embedding_model";
    const VERSION: u32 = 2;
    const ASPECT: Aspect = Aspect::Likeness;
    const KINDS: &'static [ModelKind] = &[ModelKind::Embedding];

    fn model(&self) -> (&str, &RunSettings) {
        (&self.model, &self.run)
    }

    fn fits(&self, _: &Model) -> Result<(), BuildError> {
        finite(self.threshold)
    }

    fn views(&self, _: &Model, sample: &Sample) -> Result<Vec<View>, Verdict> {
        let Some(reference) = sample.reference_text() else { return Err(Verdict::no_reference()) };
        let text = |text: &str| View { completion: text.to_owned(), ..View::default() };
        Ok(vec![text(sample.completion()), text(&reference)])
    }

    fn rendered(
        &self,
        model: &Model,
        sample: &Sample,
    ) -> Result<Result<Tokens, ModelError>, Verdict> {
        let completion = sample.completion().to_owned();
        Ok(model.tokens(&View { completion, ..View::default() }))
    }

    fn verdict(&self, _: &Model, _: &Sample, judgements: &[Judgement]) -> Result<Verdict, Fault> {
        if let [one] = judgements {
            return Ok(lone(&one.rows));
        }
        let [one, two] = judgements else { return Err(Fault::internal("two texts were judged")) };
        let odd = || Fault::new(FaultKind::BadModel, "a vector has no length");
        let nearness = nearness(&one.rows, &two.rows).ok_or_else(odd)?;
        let reward = reward(nearness, self.threshold)?;
        Ok(Verdict::scored(reward).with("score", nearness))
    }
}

/// What there is to say of a text that is compared with none: its vector.
fn lone(rows: &ModelOutput) -> Verdict {
    let mut all = rows.iter();
    match (all.next(), all.next()) {
        (Some(vector), None) => {
            Verdict::abstained("a text alone is compared with none").with(VECTOR, vector.to_vec())
        }
        _ => Verdict::abstained("the model has a vector for each token, and none for a text"),
    }
}
