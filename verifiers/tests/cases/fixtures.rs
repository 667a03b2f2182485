//! Every case of `fixtures/checks` is a test of its own, named
//! `<check>: <case>`.

use assay_verifiers::cases::{self, Case, CaseFile};
use assay_verifiers::checks::Entry;
use assay_verifiers::registry;
use libtest_mimic::{Failed, Trial};

pub(crate) fn trials() -> Vec<Trial> {
    let mut trials = Vec::new();
    for entry in registry::ALL {
        let about = &entry.about;
        let documented = || Ok(about.documented()?);
        trials.push(Trial::test(format!("{}: is documented", about.id), documented));
        match cases::parse(about.fixtures) {
            Ok(file) => trials.extend(trials_of(entry, file)),
            Err(why) => trials.push(Trial::test(about.id, move || Err(why.into()))),
        }
    }
    trials
}

fn trials_of(entry: &'static Entry, file: CaseFile) -> Vec<Trial> {
    let id = entry.about.id;
    let shows = file.shows(entry.about.id);
    let mut trials = vec![Trial::test(format!("{id}: has enough cases"), || Ok(shows?))];
    let hacks: Vec<String> = file
        .cases
        .iter()
        .filter(|case| case.hack.is_some())
        .map(|case| case.name.clone())
        .collect();
    trials.push(Trial::test(format!("{id}: is read in parts"), move || {
        let names = |file: CaseFile| file.cases.into_iter().map(|case| case.name);
        assert_eq!(names(cases::hacks(entry.about.fixtures)?).collect::<Vec<_>>(), hacks);
        assert_eq!(names(cases::head(entry.about.fixtures)?).count(), 0);
        Ok(())
    }));
    trials.extend(
        file.cases
            .into_iter()
            .map(|case| Trial::test(format!("{id}: {}", case.name), move || judged(entry, &case))),
    );
    trials
}

fn judged(entry: &Entry, case: &Case) -> Result<(), Failed> {
    let gold = case.gold(entry.build).map_err(|error| error.to_string())?;
    for case in std::iter::once(case).chain(&gold) {
        let verdict = case.run(entry.build).map_err(|error| error.to_string())?;
        case.disagreement(&verdict).map_or(Ok(()), Err)?;
    }
    Ok(())
}
