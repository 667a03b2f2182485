//! Every red-team case of this crate's verifiers is a test of its own, named `<id> (<family>)`.

use std::path::Path;
use std::sync::Arc;

use assay_sandbox::Sandbox;
use assay_sandbox::verifiers::{self, Entry};
use assay_verifiers::Files;
use assay_verifiers::cases::redteam::{self, RedTeamCase};
use libtest_mimic::{Failed, Trial};

pub(crate) fn trials(sandbox: &Arc<Sandbox>) -> Vec<Trial> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../fixtures/redteam");
    let kept = redteam::kept(&std::fs::read_to_string(folder.join("kept.toml")).unwrap()).unwrap();
    let mut trials = Vec::new();
    for entry in verifiers::ALL {
        let path = folder.join(format!("{}.jsonl", entry.about.id));
        let Ok(text) = std::fs::read_to_string(path) else { continue };
        for case in redteam::parse(&text).unwrap() {
            let is_kept = kept.contains_key(&case.id);
            let sandbox = Arc::clone(sandbox);
            let name = format!("{} ({})", case.id, case.family);
            trials.push(Trial::test(name, move || judged(entry, &sandbox, &case, is_kept)));
        }
    }
    trials
}

fn judged(
    entry: &Entry,
    sandbox: &Arc<Sandbox>,
    case: &RedTeamCase,
    is_kept: bool,
) -> Result<(), Failed> {
    let build = |settings, files: &dyn Files| (entry.build)(sandbox, settings, files);
    match (case.disagreement(build).map_err(|error| error.to_string())?, is_kept) {
        (None, true) => Err("as expected now: it need not stand in kept.toml any more".into()),
        (Some(why), false) => Err(why.into()),
        _ => Ok(()),
    }
}
