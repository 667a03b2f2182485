//! `AdamW`, clipping and learning rates against `PyTorch`'s and transformers', on the cases of
//! `fixtures/parity/optimizer.json`. How the numbers were made is in `benches/parity/README.md`.

use std::fs;
use std::path::Path;

use assay_trainer::config::OptimizerConfig;
use assay_trainer::policy::Parameters;
use assay_trainer::training::AdamW;
use assay_trainer::training::optimizer::clip;
use serde::Deserialize;

#[derive(Deserialize)]
struct Fixture {
    cases: Vec<Case>,
}

#[derive(Deserialize)]
struct Case {
    settings: OptimizerConfig,
    total_updates: u64,
    start: Vec<f32>,
    updates: Vec<Update>,
    first: Vec<f32>,
    second: Vec<f32>,
}

#[derive(Deserialize)]
struct Update {
    gradient: Vec<f32>,
    norm: f64,
    learning_rate: f64,
    weights: Vec<f32>,
}

#[test]
fn updates_are_those_of_pytorch() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../fixtures/parity/optimizer.json");
    let fixture: Fixture = serde_json::from_str(&fs::read_to_string(file).unwrap()).unwrap();
    assert_eq!(fixture.cases.len(), 6);
    for case in fixture.cases {
        assert_same_updates(&case);
    }
}

fn assert_same_updates(case: &Case) {
    let (matrix, bias) = case.start.split_at(15);
    let mut parameters = Parameters::default();
    parameters.push("matrix", &[3, 5], matrix, true);
    parameters.push("bias", &[5], bias, true);
    let mut gradients = parameters.gradients();
    let mut adamw = AdamW::new(&case.settings, &parameters, case.total_updates).unwrap();
    for update in &case.updates {
        gradients.values_mut().copy_from_slice(&update.gradient);
        let norm = clip(&mut gradients, case.settings.max_grad_norm);
        assert!((norm - update.norm).abs() <= 1e-6 * norm, "{norm} is not {}", update.norm);
        let report = adamw.update(&mut parameters, &gradients).unwrap();
        assert_eq!(report.learning_rate.to_bits(), update.learning_rate.to_bits());
        assert_close(parameters.values(), &update.weights, 1e-7);
    }
    assert_close(&adamw.state().first, &case.first, 1e-8);
    assert_close(&adamw.state().second, &case.second, 1e-8);
}

fn assert_close(have: &[f32], expected: &[f32], tolerance: f32) {
    assert_eq!(have.len(), expected.len());
    for (have, expected) in have.iter().zip(expected) {
        assert!((have - expected).abs() <= tolerance, "{have} is not {expected}");
    }
}
