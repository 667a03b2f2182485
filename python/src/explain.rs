//! One sample, from its text to its reward: what Python draws.

use assay::{Engine, Sample, Scored};
use pyo3::prelude::*;

use crate::error::AssayError;
use crate::results::Held;
use crate::scored::{PyScored, VerifierVersions};

/// The name of a reward, its verifier with the version, and its weight.
type Reward = (String, String, u32, f64);

/// The scored sample, its prompt, the text that was judged, the role and text of each message, the
/// rewards, and how they became one.
pub(crate) type Told =
    (PyScored, String, String, Option<Vec<(String, String)>>, Vec<Reward>, String);

/// Tells how a sample came to its reward at a training step.
pub(crate) fn told(
    engine: &Engine,
    sample: &Sample,
    (scored, step): (Vec<Scored>, u64),
    versions: &VerifierVersions,
) -> PyResult<Told> {
    let plan = engine.plan();
    let Some(scored) = scored.into_iter().next() else {
        return Err(AssayError::new_err("internal: the sample was lost"));
    };
    let messages = sample.completion_content().messages().map(|messages| {
        messages.iter().map(|one| (one.role.clone(), one.text().to_owned())).collect()
    });
    let rewards = plan.rewards.iter().map(|reward| {
        let spec = &reward.built.spec;
        (reward.name.clone(), spec.id.to_string(), spec.version, reward.weight.at(step))
    });
    let combination = plan.combiner.explain(scored.verdicts.as_slice(), step);
    let (prompt, completion) = (sample.prompt().to_owned(), sample.completion().to_owned());
    Ok((
        PyScored::new(Held::from(scored), versions),
        prompt,
        completion,
        messages,
        rewards.collect(),
        combination,
    ))
}
