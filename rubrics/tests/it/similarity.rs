//! The verifiers that graders of others need: their cases, and numbers of the libraries that they
//! stand for.

use assay_rubrics::verifiers::string_check::StringCheck;
use assay_rubrics::verifiers::text_similarity::TextSimilarity;
use assay_verifiers::cases::{CaseFile, parse};
use assay_verifiers::check::{Check, build};
use assay_verifiers::checks::VerifierInfo;
use assay_verifiers::verifier::{Earlier, Lane};
use assay_verifiers::{Meter, NoFiles, Sample};
use proptest::prelude::*;
use serde_json::json;

use crate::support::{bytes, rows};

fn cases_hold<C: Check>() {
    let text = String::from_utf8(bytes(&format!("checks/{}.toml", C::ID))).unwrap();
    let file: CaseFile = parse(&text).unwrap();
    file.shows(C::ID).unwrap();
    VerifierInfo::of::<C>("").documented().unwrap();
    for case in &file.cases {
        let verdict = case.run(build::<C>).unwrap();
        assert_eq!(case.disagreement(&verdict), None, "{}: {}", C::ID, case.name);
    }
}

#[test]
fn cases_of_string_check() {
    cases_hold::<StringCheck>();
}

#[test]
fn cases_of_text_similarity() {
    cases_hold::<TextSimilarity>();
}

const METRICS: [&str; 9] = [
    "fuzzy_match",
    "bleu",
    "gleu",
    "rouge_1",
    "rouge_2",
    "rouge_3",
    "rouge_4",
    "rouge_5",
    "rouge_l",
];

fn similarity(metric: &str, completion: &str, reference: &str) -> Option<f64> {
    let settings = json!({
        "metric": metric,
        "input": "{{ item.input }}",
        "reference": "{{ item.reference }}",
    });
    let built = build::<TextSimilarity>(settings, &NoFiles).unwrap();
    let Lane::Compute(verifier) = built.lane else { panic!("another lane") };
    let meta = json!({"input": completion}).as_object().unwrap().clone();
    let sample = Sample::builder("").reference(reference).meta(meta).build();
    let verdict = verifier.verify(&sample, Earlier::default(), &mut Meter::default());
    verdict.outcome.reward().map(assay_verifiers::Reward::get)
}

#[test]
fn the_numbers_are_those_of_the_libraries() {
    let rows = rows("rubrics/text_metrics/expected.jsonl");
    assert!(rows.len() > 50);
    for row in rows {
        let text = |key: &str| row[key].as_str().unwrap();
        for metric in METRICS {
            let found = similarity(metric, text("response"), text("reference")).unwrap();
            let wanted = row[metric].as_f64().unwrap();
            assert!(
                (found - wanted).abs() < 1e-9,
                "{metric}: found {found}, expected {wanted} for {:?} and {:?}",
                text("response"),
                text("reference")
            );
        }
    }
}

#[test]
fn settings_that_are_none_are_refused() {
    let refused = |settings| build::<TextSimilarity>(settings, &NoFiles).err().unwrap().setting;
    assert_eq!(refused(json!({"metric": "meteor"})), "metric");
    assert_eq!(refused(json!({"input": "{{ item.a"})), "input");
    assert_eq!(refused(json!({"threshold": 1.5})), "threshold");
    let wrong = build::<StringCheck>(json!({"operation": "equals"}), &NoFiles).err().unwrap();
    assert_eq!(wrong.setting, "operation");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn similarity_lies_within_its_bounds(a in "\\PC{0,60}", b in "[a-z0-9 .,-]{0,40}[a-z]") {
        for metric in METRICS {
            let share = similarity(metric, &a, &b).unwrap();
            prop_assert!((0.0..=1.0 + 1e-12).contains(&share), "{}: {}", metric, share);
        }
        for metric in ["fuzzy_match", "bleu", "gleu", "rouge_1", "rouge_l"] {
            prop_assert!((similarity(metric, &b, &b).unwrap() - 1.0).abs() < 1e-12, "{}", metric);
        }
    }
}
