//! Fixes of public projects: the change is paid, and neither the repository as it was nor a cheat.

use std::path::Path;
use std::sync::Arc;

use assay_sandbox::runtime::Options;
use assay_sandbox::{Sandbox, SandboxConfig, verifiers};
use assay_verifiers::{Earlier, Files, Lane, Meter, Outcome, Sample};
use serde_json::{Value, json};

struct NoFiles;

impl Files for NoFiles {
    fn read(&self, name: &str) -> Result<Vec<u8>, String> {
        Err(format!("file \"{name}\": not there"))
    }
}

#[test]
fn fixes_of_public_projects_are_paid_and_cheats_are_not() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let assets = root.join("target/assets");
    let options = Options { compiled: Some(assets.join("compiled")), ..Options::default() };
    let sandbox = Arc::new(Sandbox::new(SandboxConfig { assets: vec![assets], options }));
    let entry = verifiers::ALL.iter().find(|entry| entry.about.id == "repo_tests").unwrap();
    let settings = json!({"limits": {"fuel": 40_000_000_000_u64}});
    let Lane::Compute(verifier) = (entry.build)(&sandbox, settings, &NoFiles).unwrap().lane else {
        panic!("another lane")
    };
    let rows = std::fs::read_to_string(root.join("fixtures/repositories/examples.jsonl")).unwrap();
    for row in rows.lines() {
        let row: Value = serde_json::from_str(row).unwrap();
        let sample = |completion: &str| {
            Sample::builder(completion).reference(row["reference"].clone()).build()
        };
        let cheat = sample(row["completion"].as_str().unwrap());
        let fix = sample(&verifier.gold(&cheat).unwrap().concat());
        let (_, unchanged) = verifier.trivial(&cheat).unwrap().completions.remove(0);
        for (sample, wanted) in [(&fix, 1.0), (&sample(&unchanged), 0.0), (&cheat, 0.0)] {
            let verdict = verifier.verify(sample, Earlier::default(), &mut Meter::default());
            let Outcome::Scored(reward) = verdict.outcome else { panic!("{verdict:?}") };
            assert!((reward.get() - wanted).abs() < 1e-9, "{}: {:?}", row["id"], verdict.evidence);
        }
    }
}
