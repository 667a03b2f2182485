//! `pairwise`: a judge compares samples with each other, or with a baseline.

mod baseline;
mod compared;
mod group;
mod listwise;
mod member;
mod report;
mod request;
mod scores;
mod settings;

use std::sync::Arc;

use assay_verifiers::prelude::*;
use assay_verifiers::{AsyncGroupVerifier, AsyncVerifier, Built, Earlier, Lane, Pending, Spec};

use super::prompts;
use super::scope::RubricScope;
use baseline::Baseline;
use group::GroupSession;
use member::PairMember;
use request::PairRequests;
use settings::PairScore;
pub use settings::PairwiseVerifier;

/// The id of the verifier.
pub const ID: &str = "pairwise";
/// Raised whenever the same sample may get another verdict.
pub const VERSION: u32 = 1;

/// What its templates see, beside the texts.
const SEEN: [&str; 3] = ["question", "graded", "shape"];
const SYSTEM_PROMPT: &str = include_str!("../prompts/pair.system.jinja");
const USER_PROMPT: &str = include_str!("../prompts/pair.user.jinja");
const LIST_PROMPT: &str = include_str!("../prompts/list.user.jinja");

/// Compares the samples of a group with each other.
struct OfGroups {
    requests: Arc<PairRequests>,
}

/// Compares each sample with a baseline.
struct OfSamples {
    requests: Arc<PairRequests>,
    baseline: Baseline,
}

impl AsyncGroupVerifier for OfGroups {
    fn verify_group(
        self: Arc<Self>,
        group: &Group<'_>,
        _: &mut Meter<'_>,
    ) -> Pending<Vec<Verdict>> {
        let member = |sample: &Sample| PairMember {
            sample: sample.clone(),
            text: self.requests.completion(sample),
        };
        let members = group.members.iter().map(|one| member(one.sample)).collect();
        let session = GroupSession { requests: Arc::clone(&self.requests), members };
        Box::pin(session.run())
    }
}

impl AsyncVerifier for OfSamples {
    fn in_flight_max(&self) -> Option<usize> {
        self.requests.judge.samples_in_flight(self.requests.calls())
    }

    fn deadlines(&self) -> u32 {
        self.requests.judge.deadlines(self.requests.calls())
    }

    fn verify(
        self: Arc<Self>,
        sample: &Sample,
        _: Earlier<'_>,
        _: &mut Meter<'_>,
    ) -> Pending<Verdict> {
        let baseline = match self.baseline.text(sample) {
            Ok(baseline) => baseline,
            Err(known) => return Box::pin(std::future::ready(*known)),
        };
        let sample = sample.clone();
        Box::pin(async move {
            let requests = Arc::clone(&self.requests);
            self.baseline.verdict(requests, &sample, &baseline).await
        })
    }
}

/// Builds the verifier.
///
/// # Errors
/// A setting that does not fit, and whatever is wrong with the judge or a prompt.
pub fn build(scope: &RubricScope<'_>, given: Value) -> Result<Built, BuildError> {
    let settings: PairwiseVerifier = assay_verifiers::check::settings(given)?;
    let baseline = Baseline::of(settings.check()?);
    let written = serde_json::to_value(&settings)
        .map_err(|error| BuildError::new("", format!("settings cannot be written: {error}")))?;
    let mut spec = Spec::new(ID, VERSION, written);
    if let Some(Baseline::Column(column)) = &baseline {
        spec.columns.push(("against", column.clone()));
    }
    let judge = settings.judge.of(scope.judges)?;
    spec.files.push(("judge".to_owned(), judge.identity));
    let user = if settings.score == PairScore::Listwise { LIST_PROMPT } else { USER_PROMPT };
    let sources = [
        ("system_prompt", settings.system_prompt.as_deref(), SYSTEM_PROMPT),
        ("user_prompt", settings.user_prompt.as_deref(), user),
    ];
    let prompt = prompts::template(scope, sources, &SEEN, &mut spec)?;
    let questions = settings.question.list();
    let hides_reference = matches!(baseline, Some(Baseline::Reference));
    let requests = Arc::new(PairRequests { judge, prompt, settings, questions, hides_reference });
    let lane = match baseline {
        None => Lane::AwaitedGroup(Arc::new(OfGroups { requests })),
        Some(baseline) => Lane::Awaited(Arc::new(OfSamples { requests, baseline })),
    };
    Ok(Built::new(spec, lane))
}
