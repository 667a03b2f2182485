//! `embedding_diversity`: how far a completion lies from the others of its group, as text embeddings.

use std::sync::Arc;

use assay_verifiers::check::settings;
use assay_verifiers::stats::mean_sorted;
use assay_verifiers::{
    AsyncGroupVerifier, BuildError, Built, Fault, FaultKind, Files, Group, Lane, Meter, Pending,
    Sample, Usage, Verdict,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::model_verifier::{finite, load, reward, spec, usage};
use crate::manifest::ModelKind;
use crate::model::{Judgement, Model};
use crate::models::{Models, RunSettings};
use crate::nearness::{dot, unit};
use crate::template::View;

/// The id of the verifier.
pub const ID: &str = "embedding_diversity";
/// Raised whenever the same group may get another verdict.
pub const VERSION: u32 = 1;

/// How far a completion lies from the others of its group, by an embedding model.
///
/// The reward is 1 minus the mean cosine of its embedding with that of each other member, from 0
/// (all say the same) to 2: the cosine novelty reward of "Curiosity-driven Red-teaming for Large
/// Language Models" (section "Curiosity-driven Red Teaming"), with the group in the place of the
/// history. It sees what is said rather than how, where the check `diversity` sees words. Diversity
/// is not quality: combine it with a reward for being right.
///
/// A completion of white space earns 0 and is nobody's peer. A member whose text the model cannot
/// embed fails alone. A member without peers abstains. The model gives one vector a text.
#[derive(Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct EmbeddingDiversity {
    /// The folder of the model.
    model: String,
    /// The reward is 1 from this diversity on and 0 below it, instead of the diversity.
    #[serde(default)]
    threshold: Option<f64>,
    /// How the model is run.
    #[serde(default)]
    run: RunSettings,
}

/// Embeds the members of a group.
struct GroupEmbedder {
    verifier: EmbeddingDiversity,
    model: Arc<Model>,
}

/// The embedding of a member, of length 1, and what it took.
struct Embedded {
    vector: Vec<f64>,
    usage: Usage,
}

pub(super) fn build(
    models: &Arc<Models>,
    given: Value,
    files: &dyn Files,
) -> Result<Built, BuildError> {
    let verifier: EmbeddingDiversity = settings(given)?;
    finite(verifier.threshold)?;
    let asked = (verifier.model.as_str(), &verifier.run);
    let model = load(models, asked, &[ModelKind::Embedding], files)?;
    let spec = spec(ID, VERSION, &verifier, &model)?;
    Ok(Built::new(spec, Lane::AwaitedGroup(Arc::new(GroupEmbedder { verifier, model }))))
}

impl AsyncGroupVerifier for GroupEmbedder {
    fn verify_group(
        self: Arc<Self>,
        group: &Group<'_>,
        _: &mut Meter<'_>,
    ) -> Pending<Vec<Verdict>> {
        let samples: Vec<Sample> = group.members.iter().map(|one| one.sample.clone()).collect();
        let start = |sample: &Sample| {
            let completion = sample.completion().to_owned();
            let is_blank = completion.trim().is_empty();
            (!is_blank).then(|| self.model.start(&View { completion, ..View::default() }))
        };
        let started: Vec<_> = samples.iter().map(start).collect();
        Box::pin(async move {
            let mut embedded = Vec::with_capacity(started.len());
            for one in started {
                embedded.push(match one {
                    Some(pending) => match pending.await {
                        Ok(judgement) => Embedded::of(&judgement).map_err(Verdict::failed),
                        Err(error) => Err(Verdict::failed(error.into())),
                    },
                    None => Err(Verdict::graded(false).because("empty")),
                });
            }
            let named = |(verdict, sample): (Verdict, &Sample)| {
                let verdict = verdict.with_unread(sample.completion_message());
                verdict
                    .with("model", self.model.name())
                    .with("backend", self.model.backend.as_str())
            };
            self.verifier.verdicts(&embedded).into_iter().zip(&samples).map(named).collect()
        })
    }
}

impl Embedded {
    fn of(judgement: &Judgement) -> Result<Self, Fault> {
        let mut rows = judgement.rows.iter();
        let (Some(row), 1) = (rows.next(), judgement.rows.iter().len()) else {
            let why = "the model gives a vector a token; one vector a text is needed";
            return Err(Fault::new(FaultKind::BadModel, why));
        };
        let odd = || Fault::new(FaultKind::BadModel, "a vector has no length");
        Ok(Self { vector: unit(row).ok_or_else(odd)?, usage: usage(judgement) })
    }
}

impl EmbeddingDiversity {
    fn verdicts(&self, embedded: &[Result<Embedded, Verdict>]) -> Vec<Verdict> {
        let judged = |(at, one): (usize, &Result<Embedded, Verdict>)| match one {
            Ok(one) => {
                let others = embedded.iter().enumerate().filter(|(other, _)| *other != at);
                let others = others.filter_map(|(_, other)| other.as_ref().ok());
                let verdict = match diversity(one, others) {
                    Some(diversity) => self.verdict(diversity),
                    None => Verdict::abstained("the group has no other member to compare with"),
                };
                Verdict { usage: one.usage, ..verdict }
            }
            Err(verdict) => verdict.clone(),
        };
        embedded.iter().enumerate().map(judged).collect()
    }

    fn verdict(&self, diversity: f64) -> Verdict {
        let verdict = reward(diversity, self.threshold).map(Verdict::scored);
        Verdict::from(verdict).with("score", diversity)
    }
}

/// One minus the mean cosine; `None` without others.
fn diversity<'a>(one: &Embedded, others: impl Iterator<Item = &'a Embedded>) -> Option<f64> {
    let cosine = |other: &Embedded| dot(&one.vector, &other.vector).clamp(-1.0, 1.0);
    let cosines: Vec<f64> = others.map(cosine).collect();
    (!cosines.is_empty()).then(|| 1.0 - mean_sorted(&cosines))
}

#[cfg(test)]
mod tests {
    use assay_verifiers::Reward;

    use super::*;

    fn embedded(values: &[f32]) -> Embedded {
        Embedded { vector: unit(values).unwrap(), usage: Usage { tokens: 1, calls: 1 } }
    }

    #[test]
    fn the_reward_is_one_minus_the_mean_cosine() {
        let (one, same) = (embedded(&[2.0, 0.0]), embedded(&[1.0, 0.0]));
        let (across, back) = (embedded(&[0.0, 3.0]), embedded(&[-1.0, 0.0]));
        let close = |others: &[&Embedded], wanted: f64| {
            let got = diversity(&one, others.iter().copied()).unwrap();
            assert!((got - wanted).abs() < 1e-12, "{got} {wanted}");
        };
        close(&[&same], 0.0);
        close(&[&across], 1.0);
        close(&[&back], 2.0);
        close(&[&same, &across, &back], 1.0);
        assert_eq!(diversity(&one, [].into_iter()), None);
    }

    #[test]
    fn members_without_an_embedding_are_no_peers() {
        let verifier: EmbeddingDiversity =
            serde_json::from_value(serde_json::json!({"model": "m"})).unwrap();
        let empty = || Err(Verdict::graded(false).because("empty"));
        let known = [Ok(embedded(&[1.0, 0.0])), empty(), Ok(embedded(&[0.0, 1.0]))];
        let verdicts = verifier.verdicts(&known);
        let rewards: Vec<_> =
            verdicts.iter().map(|one| one.outcome.reward().map(Reward::get)).collect();
        assert_eq!(rewards, [Some(1.0), Some(0.0), Some(1.0)]);
        assert_eq!((verdicts[0].usage.calls, verdicts[1].usage.calls), (1, 0));
        let alone = verifier.verdicts(&[Ok(embedded(&[1.0, 0.0])), empty()]);
        assert_eq!(alone[0].outcome.name(), "abstained");
    }
}
