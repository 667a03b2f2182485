//! Every case of the fixture files of this crate's verifiers is a test of its own, named
//! `<verifier>: <case>`, on each backend.

use std::sync::Arc;

use assay_reward_models::Models;
use assay_reward_models::verifiers::{self, Entry};
use assay_verifiers::cases::{self, Case};
use libtest_mimic::{Failed, Trial};
use serde_json::{Value, json};

use crate::support::Fixtures;

pub(crate) fn trials(models: &Arc<Models>) -> Vec<Trial> {
    let mut trials = Vec::new();
    for entry in verifiers::ALL {
        let about = &entry.about;
        let id = about.id;
        trials.push(Trial::test(format!("{id}: is documented"), || Ok(about.documented()?)));
        let file = cases::parse(about.fixtures).unwrap();
        let shows = file.shows(about.id);
        trials.push(Trial::test(format!("{id}: has enough cases"), || Ok(shows?)));
        for case in file.cases {
            for backend in ["ort", "rten"] {
                let (models, case) = (Arc::clone(models), case.clone());
                let name = format!("{id}: {} ({backend})", case.name);
                trials.push(Trial::test(name, move || judged(entry, &models, &case, backend)));
            }
        }
    }
    trials
}

fn judged(entry: &Entry, models: &Arc<Models>, case: &Case, backend: &str) -> Result<(), Failed> {
    let build = |mut settings: Value, _: &dyn assay_verifiers::Files| {
        if let Some(settings) = settings.as_object_mut() {
            settings.insert("run".to_owned(), json!({"backend": backend}));
        }
        (entry.build)(models, settings, &Fixtures)
    };
    let verdict = case.run(build).map_err(|error| error.to_string())?;
    case.disagreement(&verdict).map_or(Ok(()), |why| Err(why.into()))
}
