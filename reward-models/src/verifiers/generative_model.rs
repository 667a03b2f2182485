//! `generative_model`: a generative reward model. A language model judges, by the probability of its
//! first token (yes or no) or by a critique that it writes.

use assay_verifiers::stats::mean;
use assay_verifiers::{BuildError, Fault, Sample, Verdict};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::model_verifier::{ModelVerifier, critique, finite, last_score, reward, unread, view};
use crate::consensus::votes;
use crate::manifest::{Mode, ModelKind};
use crate::model::{Judgement, Model};
use crate::models::RunSettings;
use crate::template::View;

/// The score that a generative reward model gives the completion.
///
/// The manifest says how (docs/model-folder.md). In the mode `verdict` one pass gives the share of
/// the tokens that say yes among those that say yes or no, at the place where the answer would begin
/// ("Generative Verifiers: Reward Modeling as Next-Token Prediction"). In the mode `critique`
/// the model writes `votes` critiques, the score is read from each, and the reward is their mean
/// ("Inference-Time Scaling for Generalist Reward Modeling", voting). With `normalize` a score that
/// was written is mapped from its range to 0 to 1.
#[derive(Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct GenerativeModel {
    /// The folder of the model.
    model: String,
    /// Map a written score from the range that the manifest names to 0 to 1.
    #[serde(default)]
    normalize: bool,
    /// The reward is 1 from this score on and 0 below it, instead of the score.
    #[serde(default)]
    threshold: Option<f64>,
    /// How the model is run.
    #[serde(default)]
    run: RunSettings,
}

impl ModelVerifier for GenerativeModel {
    const ID: &'static str = "generative_model";
    const VERSION: u32 = 2;
    const KINDS: &'static [ModelKind] = &[ModelKind::Generative];

    fn model(&self) -> (&str, &RunSettings) {
        (&self.model, &self.run)
    }

    fn fits(&self, model: &Model) -> Result<(), BuildError> {
        if self.normalize && model.manifest.generate.parse_range.is_none() {
            let why = "the manifest names no generate.parse_range";
            return Err(BuildError::new("normalize", why));
        }
        finite(self.threshold)
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
        let generate = &model.manifest.generate;
        if generate.mode == Mode::Verdict {
            let score = last_score(judgement)?;
            return Ok(Verdict::scored(reward(score, self.threshold)?).with("score", score));
        }
        let votes = votes(generate, &judgement.texts);
        let Some(score) = mean(&votes) else {
            return unread(generate, judgement, self.threshold);
        };
        let mapped = match generate.parse_range {
            Some([low, high]) if self.normalize && high > low => (score - low) / (high - low),
            _ => score,
        };
        let reward = reward(mapped, self.threshold)?;
        Ok(Verdict::scored(reward)
            .with("score", score)
            .with("votes", votes)
            .with("critique", critique(judgement)))
    }
}
