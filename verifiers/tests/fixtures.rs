//! Every case of `fixtures/checks` is a test of its own, named `<check>: <case>`. To run one:
//! `cargo test -p assay-verifiers --test fixtures -- "exact: takes the last line"`.

use std::collections::BTreeSet;
use std::path::Path;

use assay_verifiers::cases::{self, Case, CaseFile};
use assay_verifiers::checks::{self, Entry};
use libtest_mimic::{Arguments, Failed, Trial};
use serde_json::Value;

fn main() {
    let arguments = Arguments::from_args();
    let mut trials = vec![Trial::test("every fixture file belongs to a check", no_stray_files)];
    for entry in checks::ALL {
        trials.push(Trial::test(format!("{}: is documented", entry.id), || documented(entry)));
        match cases::parse(entry.fixtures) {
            Ok(file) => trials.extend(trials_of(entry, file)),
            Err(why) => trials.push(Trial::test(entry.id, move || Err(why.into()))),
        }
    }
    libtest_mimic::run(&arguments, trials).exit();
}

fn trials_of(entry: &'static Entry, file: CaseFile) -> Vec<Trial> {
    let counted = counts(entry, &file);
    let mut trials = vec![Trial::test(format!("{}: has enough cases", entry.id), || counted)];
    trials.extend(file.cases.into_iter().map(|case| {
        Trial::test(format!("{}: {}", entry.id, case.name), move || judged(entry, &case))
    }));
    trials
}

fn judged(entry: &Entry, case: &Case) -> Result<(), Failed> {
    let verdict = case.run(entry).map_err(|error| error.to_string())?;
    case.disagreement(&verdict).map_or(Ok(()), |why| Err(why.into()))
}

fn counts(entry: &Entry, file: &CaseFile) -> Result<(), Failed> {
    let count = |is: fn(&Case) -> bool| file.cases.iter().filter(|case| is(case)).count();
    let counted = [
        ("accepted", 5, count(Case::is_accepted)),
        ("rejected", 5, count(Case::is_rejected)),
        ("abstained", 1, count(Case::is_abstained)),
        ("hack", 3, count(|case| case.hack.is_some())),
    ];
    if file.check != entry.id {
        return Err(format!("check = \"{}\" in the fixtures of {}", file.check, entry.id).into());
    }
    match counted.iter().find(|(_, wanted, found)| found < wanted) {
        Some((kind, wanted, found)) => {
            Err(format!("{found} cases are {kind}, of at least {wanted}").into())
        }
        None => Ok(()),
    }
}

fn documented(entry: &Entry) -> Result<(), Failed> {
    let schema = (entry.schema)();
    let described = |value: &Value| value.get("description").is_some();
    if !described(schema.as_value()) {
        return Err("the check has no doc comment".into());
    }
    let settings = schema.as_value().get("properties").and_then(Value::as_object);
    match settings.into_iter().flatten().find(|(_, setting)| !described(setting)) {
        Some((name, _)) => Err(format!("setting \"{name}\" has no doc comment").into()),
        None => Ok(()),
    }
}

fn no_stray_files() -> Result<(), Failed> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../fixtures/checks");
    let known: BTreeSet<String> =
        checks::ALL.iter().map(|entry| format!("{}.toml", entry.id)).collect();
    for file in std::fs::read_dir(folder)? {
        let name = file?.file_name().to_string_lossy().into_owned();
        if !known.contains(&name) {
            return Err(format!("{name}: no check has that name; has: {known:?}").into());
        }
    }
    Ok(())
}
