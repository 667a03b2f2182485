//! Every case of the fixture files of this crate's verifiers is a test of its own, named
//! `<verifier>: <case>`.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use std::sync::Arc;

use assay_rubrics::judge::JudgeSet;
use assay_rubrics::verifiers::{self, Entry, RubricScope};
use assay_verifiers::cases::{self, Case};
use assay_verifiers::checks::VerifierInfo;
use assay_verifiers::registry;
use assay_verifiers::{BuildError, Built, Files, NoFiles};
use libtest_mimic::{Arguments, Failed, Trial};
use serde_json::Value;

/// Builds a verifier from its settings.
type Build = Arc<dyn Fn(Value, &dyn Files) -> Result<Built, BuildError> + Send + Sync>;

fn main() {
    let arguments = Arguments::from_args();
    let mut trials = Vec::new();
    for entry in verifiers::CHECKS {
        trials.extend(of(&entry.about, &(Arc::new(entry.build) as Build)));
    }
    for entry in verifiers::ALL {
        let build: Build = Arc::new(|settings, files| judged(entry, settings, files));
        trials.extend(of(&entry.about, &build));
    }
    libtest_mimic::run(&arguments, trials).exit();
}

fn of(about: &'static VerifierInfo, build: &Build) -> Vec<Trial> {
    let id = about.id;
    let file = cases::parse(about.fixtures).unwrap();
    let shows = file.shows(id);
    let mut trials = vec![
        Trial::test(format!("{id}: is documented"), || Ok(about.documented()?)),
        Trial::test(format!("{id}: has enough cases"), || Ok(shows?)),
    ];
    trials.extend(file.cases.into_iter().map(|case| {
        let build = Arc::clone(build);
        Trial::test(format!("{id}: {}", case.name), move || agrees(&case, &build))
    }));
    trials
}

fn agrees(case: &Case, build: &Build) -> Result<(), Failed> {
    let verdict = case.run(|settings, files| build(settings, files));
    let verdict = verdict.map_err(|error| error.to_string())?;
    case.disagreement(&verdict).map_or(Ok(()), |why| Err(why.into()))
}

/// Builds a verifier that asks judges: those of its settings, for the configuration has none.
fn judged(entry: &Entry, settings: Value, files: &dyn Files) -> Result<Built, BuildError> {
    let scope = RubricScope {
        files,
        judges: &JudgeSet::default(),
        verifiers: &|id, settings| rule_check(id, settings, files),
        row_verifiers: Arc::new(|id, settings| rule_check(id, settings, &NoFiles)),
        earlier: &[],
    };
    (entry.build)(&scope, settings)
}

fn rule_check(id: &str, settings: Value, files: &dyn Files) -> Result<Built, BuildError> {
    let known = registry::ALL.iter().chain(verifiers::CHECKS);
    let found = known.into_iter().find(|entry| entry.about.id == id);
    let entry =
        found.ok_or_else(|| BuildError::new("verifier", format!("no check is \"{id}\"")))?;
    (entry.build)(settings, files)
}
