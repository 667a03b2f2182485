//! Real predictions of models: the verdict must be the label.

#![allow(clippy::print_stdout, reason = "a test stops at what it does not expect")]

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use assay_sandbox::runtime::Options;
use assay_sandbox::{Sandbox, SandboxConfig, verifiers};
use assay_verifiers::{Earlier, Lane, Meter, NoFiles, Sample, Verifier};
use flate2::read::GzDecoder;
use serde_json::{Value, json};

fn verifier(settings: Value) -> Box<dyn Verifier> {
    let assets = Path::new(env!("CARGO_MANIFEST_DIR")).join("../target/assets");
    let options = Options { compiled: Some(assets.join("compiled")), ..Options::default() };
    let sandbox = Arc::new(Sandbox::new(SandboxConfig { assets: vec![assets], options }));
    let entry = verifiers::ALL.iter().find(|entry| entry.about.id == "program_output").unwrap();
    match (entry.build)(&sandbox, settings, &NoFiles).unwrap().lane {
        Lane::Compute(verifier) => verifier,
        _ => panic!("another lane"),
    }
}

fn rows(path: &Path) -> Vec<Value> {
    let mut text = String::new();
    GzDecoder::new(File::open(path).expect("the file")).read_to_string(&mut text).expect("gzip");
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// The rows whose verdict is not their label.
fn differing(path: &Path) -> (usize, Vec<String>) {
    let verifier = verifier(json!({}));
    let rows = rows(path);
    let differs = |row: &Value| {
        let sample = Sample::builder(row["response"].as_str().unwrap())
            .prompt(row["prompt"].as_str().unwrap_or_default())
            .reference(row["reference"].clone())
            .build();
        let verdict = verifier.verify(&sample, Earlier::default(), &mut Meter::default());
        let is_right = verdict.outcome.reward().map(|reward| reward.get() >= 1.0);
        let evidence = serde_json::to_string(&verdict.evidence).unwrap();
        (is_right != row["label"].as_bool()).then(|| {
            format!("{} label {} {:?} {evidence}", row["id"], row["label"], verdict.outcome)
        })
    };
    (rows.len(), rows.iter().filter_map(differs).collect())
}

/// The model wrote its tuple without quotes, and the label took the whole object for the answer.
const LABEL_IS_WRONG: [&str; 1] = ["crux-zeroeval/crux-test-#62/Qwen2.5-7B-Instruct"];

#[test]
fn predictions_for_cruxeval_get_their_label() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let (count, wrong) = differing(&root.join("fixtures/datasets/crux-output.jsonl.gz"));
    let known = |line: &&String| LABEL_IS_WRONG.iter().any(|id| line.contains(id));
    let unknown: Vec<&String> = wrong.iter().filter(|line| !known(line)).collect();
    assert!(count > 200 && unknown.is_empty(), "{unknown:#?}");
}

#[test]
#[ignore = "takes a file of one's own: ASSAY_ROWS=FILE"]
fn predictions_of_a_file_get_their_label() {
    #[expect(clippy::disallowed_methods, reason = "run by hand")]
    let path = PathBuf::from(std::env::var("ASSAY_ROWS").expect("ASSAY_ROWS names a file"));
    let (count, wrong) = differing(&path);
    println!("{} of {count} differ\n{}", wrong.len(), wrong.join("\n"));
    assert!(wrong.len() * 200 <= count, "{}", wrong.join("\n"));
}
