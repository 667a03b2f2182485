//! `rubric`: criteria, answered by code and by a judge, become a reward.

mod prepared;
mod request;
mod session;
mod settings;
mod verdict;

use std::sync::Arc;

use assay_verifiers::prelude::*;
use assay_verifiers::{AsyncVerifier, Built, Earlier, Lane, Pending, Spec, canonical};

use super::prompts;
use super::scope::RubricScope;
use prepared::{PreparedRubric, Source};
use request::Requests;
use session::Session;
use settings::RubricSource;
pub use settings::RubricVerifier;

/// The id of the verifier.
pub const ID: &str = "rubric";
/// Raised whenever the same sample may get another verdict.
pub const VERSION: u32 = 2;

/// What its templates see, beside the texts.
const SEEN: [&str; 5] = ["answer", "criteria", "instructions", "shape", "abstain"];
const SYSTEM_PROMPT: &str = include_str!("../prompts/judge.system.jinja");
const USER_PROMPT: &str = include_str!("../prompts/judge.user.jinja");

/// A rubric that is ready to be asked.
struct Ready {
    source: Source,
    requests: Arc<Requests>,
}

impl Ready {
    /// The calls that a sample may take; of rubrics in rows, one.
    fn calls(&self) -> usize {
        let settings = &self.requests.verifier;
        let criteria = self.source.criteria().div_ceil(settings.criteria_per_call);
        (criteria * settings.votes as usize).max(1)
    }
}

impl AsyncVerifier for Ready {
    fn in_flight_max(&self) -> Option<usize> {
        self.requests.judge.as_ref()?.samples_in_flight(self.calls())
    }

    fn deadlines(&self) -> u32 {
        self.requests.judge.as_ref().map_or(2, |judge| judge.deadlines(self.calls()))
    }

    fn verify(
        self: Arc<Self>,
        sample: &Sample,
        earlier: Earlier<'_>,
        meter: &mut Meter<'_>,
    ) -> Pending<Verdict> {
        let prepared = match self.source.of(sample) {
            Ok(prepared) => prepared,
            Err(known) => return Box::pin(std::future::ready(*known)),
        };
        let session = Session::start(&prepared, Arc::clone(&self.requests), sample, earlier, meter);
        match session {
            Ok(session) => Box::pin(session.run()),
            Err(unfilled) => Box::pin(std::future::ready(unfilled.verdict())),
        }
    }
}

/// Builds the verifier.
///
/// # Errors
/// A setting that does not fit, and whatever is wrong with the rubric or the judge, with its place.
pub fn build(scope: &RubricScope<'_>, given: Value) -> Result<Built, BuildError> {
    let verifier: RubricVerifier = assay_verifiers::check::settings(given)?;
    verifier.check()?;
    let written = serde_json::to_value(&verifier)
        .map_err(|error| BuildError::new("", format!("settings cannot be written: {error}")))?;
    let mut spec = Spec::new(ID, VERSION, written);
    let judge = verifier.judge.as_ref().map(|judge| judge.of(scope.judges)).transpose()?;
    if let Some(judge) = &judge {
        spec.files.push(("judge".to_owned(), judge.identity));
    }
    let prompts = [
        ("system_prompt", verifier.system_prompt.as_deref(), SYSTEM_PROMPT),
        ("user_prompt", verifier.user_prompt.as_deref(), USER_PROMPT),
    ];
    let prompt = prompts::template(scope, prompts, &SEEN, &mut spec)?;
    let source = source(&verifier, scope, judge.is_some(), &mut spec)?;
    let requests = Arc::new(Requests { judge, prompt, verifier });
    Ok(Built::new(spec, Lane::Awaited(Arc::new(Ready { source, requests }))))
}

/// The rubric of the settings, or where each row has its own.
fn source(
    verifier: &RubricVerifier,
    scope: &RubricScope<'_>,
    has_judge: bool,
    spec: &mut Spec,
) -> Result<Source, BuildError> {
    let refuse = |why: String| BuildError::new("rubric", why);
    let rubric = match &verifier.rubric {
        RubricSource::Named(named) => {
            if let Some(column) = named.strip_prefix("column:") {
                let build = Arc::clone(&scope.row_verifiers);
                spec.columns.push(("rubric", column.to_owned()));
                return Ok(Source::column(column.to_owned(), build, has_judge));
            }
            let unreadable = |why| BuildError::unreadable("rubric", why);
            let bytes = scope.files.read(named).map_err(unreadable)?;
            spec.files.push((named.clone(), canonical::digest_parts(&[&bytes])));
            crate::formats::read_text(named, &bytes)
                .map_err(|error| refuse(format!("{named}: {error}")))?
        }
        RubricSource::Inline(value) => {
            crate::formats::read(value.clone()).map_err(|error| refuse(error.to_string()))?
        }
    };
    let prepared = PreparedRubric::new(rubric, has_judge, scope.verifiers)
        .map_err(|error| refuse(error.to_string()))?;
    for (name, built) in prepared.built() {
        spec.files.push((format!("criterion {name}"), built.spec.digest()));
        spec.reads_verdicts |= built.spec.reads_verdicts;
    }
    for reward in prepared.rewards() {
        if !scope.earlier.iter().any(|name| name == reward) {
            return Err(refuse(format!("no reward before this one is called \"{reward}\"")));
        }
        spec.reads_verdicts = true;
    }
    Ok(Source::Fixed(Arc::new(prepared)))
}
