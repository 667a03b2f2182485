//! The cases of the `math` check.

use assay_verifiers::{Lane, Meter, NoFiles, Outcome, Sample, checks};
use serde_json::{Value, json};

#[test]
fn every_case_gets_its_reward() {
    let entry = checks::find("math").unwrap();
    let file: Value = toml::from_str(entry.fixtures).unwrap();
    let mut wrong = Vec::new();
    for case in file["case"].as_array().unwrap() {
        let config = case.get("config").cloned().unwrap_or(json!({}));
        let Lane::Compute(check) = (entry.build)(config, &NoFiles).unwrap().lane else { panic!() };
        let mut sample = Sample::builder(case["completion"].as_str().unwrap());
        if let Some(reference) = case.get("reference") {
            sample = sample.reference(reference.clone());
        }
        let verdict = check.verify(&sample.build(), &mut Meter::default());
        let expected = match &verdict.outcome {
            Outcome::Scored(reward) => case["reward"].as_f64() == Some(reward.get()),
            Outcome::Abstained(_) => case["outcome"] == "abstained",
            Outcome::Failed(fault) => case["fault"] == fault.kind.to_string(),
        };
        let evidence = case.get("evidence").and_then(Value::as_object);
        let noted = evidence
            .into_iter()
            .flatten()
            .all(|(key, want)| verdict.evidence.get(key) == Some(want));
        if !(expected && noted) {
            wrong.push(format!("{}: {verdict:?}", case["name"]));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
