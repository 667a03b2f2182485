//! Every red-team case of the rule checks is a test of its own, named
//! `<id> (<family>)`.

use std::collections::BTreeMap;
use std::path::Path;

use assay_verifiers::cases::redteam::{self, RedTeamCase};
use assay_verifiers::checks::Entry;
use assay_verifiers::registry;
use libtest_mimic::{Failed, Trial};

pub(crate) fn trials() -> Vec<Trial> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../fixtures/redteam");
    let kept = redteam::kept(&std::fs::read_to_string(folder.join("kept.toml")).unwrap()).unwrap();
    let mut trials = Vec::new();
    for entry in registry::ALL {
        let path = folder.join(format!("{}.jsonl", entry.about.id));
        let Ok(text) = std::fs::read_to_string(path) else { continue };
        for case in redteam::parse(&text).unwrap() {
            trials.push(trial(entry, case, &kept));
        }
    }
    trials
}

fn trial(entry: &'static Entry, case: RedTeamCase, kept: &BTreeMap<String, String>) -> Trial {
    let is_kept = kept.contains_key(&case.id);
    Trial::test(format!("{} ({})", case.id, case.family), move || judged(entry, &case, is_kept))
}

fn judged(entry: &Entry, case: &RedTeamCase, is_kept: bool) -> Result<(), Failed> {
    match (case.disagreement(entry.build).map_err(|error| error.to_string())?, is_kept) {
        (None, true) => Err("as expected now: it need not stand in kept.toml any more".into()),
        (Some(why), false) => Err(why.into()),
        _ => Ok(()),
    }
}
