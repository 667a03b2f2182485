//! Every case of the fixture files of this crate's verifiers is a test of its own, named
//! `<verifier>: <case>`.

use std::sync::Arc;

use assay_sandbox::Sandbox;
use assay_sandbox::verifiers::{self, Entry};
use assay_verifiers::Files;
use assay_verifiers::cases::{self, Case};
use libtest_mimic::{Failed, Trial};

pub(crate) fn trials(sandbox: &Arc<Sandbox>) -> Vec<Trial> {
    let mut trials = Vec::new();
    for entry in verifiers::ALL {
        let about = &entry.about;
        let id = about.id;
        trials.push(Trial::test(format!("{id}: is documented"), || Ok(about.documented()?)));
        let file = cases::parse(about.fixtures).unwrap();
        let shows = file.shows(about.id);
        trials.push(Trial::test(format!("{id}: has enough cases"), || Ok(shows?)));
        trials.extend(file.cases.into_iter().map(|case| {
            let sandbox = Arc::clone(sandbox);
            let name = format!("{id}: {}", case.name);
            Trial::test(name, move || judged(entry, &sandbox, &case))
        }));
    }
    trials
}

fn judged(entry: &Entry, sandbox: &Arc<Sandbox>, case: &Case) -> Result<(), Failed> {
    let build = |settings, files: &dyn Files| (entry.build)(sandbox, settings, files);
    let gold = case.gold(build).map_err(|error| error.to_string())?;
    for case in std::iter::once(case).chain(&gold) {
        let verdict = case.run(build).map_err(|error| error.to_string())?;
        case.disagreement(&verdict).map_or(Ok(()), Err)?;
    }
    Ok(())
}
