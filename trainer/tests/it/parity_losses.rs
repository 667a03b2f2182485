//! Losses against the libraries themselves: their values and gradients on the cases of
//! `fixtures/parity`, with the presets that have their names. How the numbers were made is in
//! `benches/parity/README.md`.

#![allow(clippy::print_stdout, reason = "a test stops at what it does not expect")]

use std::collections::BTreeSet;
use std::fs::File;
use std::io::Read as _;
use std::path::Path;

use assay_trainer::advantages::AdvantageValues;
use assay_trainer::losses::config::LossConfig;
use assay_trainer::losses::ratio::RatioSettings;
use assay_trainer::losses::tokens::TrainedTokens;
use assay_trainer::losses::{BatchScale, LossBatch, PolicyLoss, build};
use assay_trainer::ragged::Ragged;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};

mod parity_words;

use parity_words::{Words, correction, settings};

/// What one library says.
#[derive(Deserialize)]
struct Library {
    library: String,
    records: Vec<Record>,
}

/// What one function of it says of every case.
#[derive(Deserialize)]
struct Record {
    name: String,
    room: String,
    ours: Map<String, Value>,
    outputs: Vec<Option<Value>>,
    cases: Option<Vec<usize>>,
}

#[derive(Deserialize)]
struct Cases {
    losses: Vec<Case>,
}

#[derive(Deserialize)]
struct Case {
    logp: Ragged<f64>,
    old: Ragged<f64>,
    reference: Ragged<f64>,
    rollout: Ragged<f64>,
    proximal: Ragged<f64>,
    entropy: Ragged<f64>,
    mask: Ragged<u8>,
    advantages: Vec<f64>,
    token_advantages: Ragged<f64>,
}

/// What belongs to a case, made of it.
struct Made {
    mask: Ragged<bool>,
    advantages: AdvantageValues,
}

#[derive(Deserialize)]
struct LossOutput {
    loss: f64,
    grad: Ragged<f64>,
    #[serde(default)]
    metrics: Map<String, Value>,
}

#[derive(Deserialize)]
struct KlOutput {
    kl: Ragged<Option<f64>>,
    grad: Ragged<Option<f64>>,
}

#[derive(Deserialize)]
struct CorrectionOutput {
    weights: Option<Ragged<f64>>,
    mask: Option<Ragged<f64>>,
}

/// Relative to the greatest number of a case.
const TOLERANCE: f64 = 1e-6;

fn read<T: DeserializeOwned>(name: &str) -> T {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../fixtures/parity");
    let mut text = String::new();
    let file = File::open(folder.join(name)).unwrap();
    flate2::read::GzDecoder::new(file).read_to_string(&mut text).unwrap();
    serde_json::from_str(&text).unwrap()
}

impl Case {
    fn made(&self, ours: &Map<String, Value>) -> Made {
        let mask = self.mask.map(|set| *set == 1);
        let advantages = match ours.get("advantages").and_then(Value::as_str) {
            Some("token_advantages") => AdvantageValues::Tokens(self.token_advantages.clone()),
            _ => AdvantageValues::Rollouts(self.advantages.clone()),
        };
        Made { mask, advantages }
    }

    fn batch<'a>(&'a self, made: &'a Made, ours: &Map<String, Value>) -> LossBatch<'a> {
        let number = |key: &str| ours.get(key).and_then(Value::as_f64);
        LossBatch {
            old: Some(&self.old),
            reference: Some(&self.reference),
            rollout: Some(&self.rollout),
            proximal: Some(&self.proximal),
            entropy: Some(&self.entropy),
            mask: Some(&made.mask),
            completion_max: number("length"),
            scale: BatchScale {
                tokens: number("batch_num_tokens"),
                sequences: number("global_batch_size"),
                processes: number("dp_size").unwrap_or(1.0),
                accumulation_steps: number("accumulation").unwrap_or(1.0),
                ..BatchScale::default()
            },
            ..LossBatch::new(&self.logp, &made.advantages)
        }
    }
}

/// The greatest difference of two lists, relative to the greatest number of the second.
fn difference(ours: &[f64], theirs: &[f64]) -> f64 {
    assert_eq!(ours.len(), theirs.len());
    let scale = theirs.iter().fold(0.0, |most: f64, number| most.max(number.abs()));
    let pairs = ours.iter().zip(theirs);
    let most = pairs.fold(0.0, |most: f64, (a, b)| most.max((a - b).abs()));
    assert!(!most.is_nan() && ours.iter().all(|number| number.is_finite()));
    // Equal numbers whose difference is left are as good as zero.
    if most < 1e-9 { 0.0 } else { most / scale }
}

/// The records of a room, with their cases; each has to have 150 cases with an output.
fn each(room: &str, mut compare: impl FnMut(&str, &Record, &Case, &Value) -> f64) -> usize {
    let cases: Cases = read("cases.json.gz");
    let mut records = 0;
    let mut wrong = Vec::new();
    for name in ["verl", "trl", "openrlhf"] {
        let library: Library = read(&format!("{name}.json.gz"));
        for record in library.records.iter().filter(|record| record.room == room) {
            let places = record.cases.clone().unwrap_or((0..cases.losses.len()).collect());
            assert_eq!(places.len(), record.outputs.len(), "{}", record.name);
            let (mut compared, mut most) = (0, 0.0_f64);
            for (place, output) in places.iter().zip(&record.outputs) {
                let Some(output) = output else { continue };
                let differs = compare(&library.library, record, &cases.losses[*place], output);
                if differs > TOLERANCE {
                    wrong.push(format!("{}: case {place} differs by {differs:e}", record.name));
                }
                most = most.max(differs);
                compared += 1;
            }
            println!("{}: {compared} cases, {most:.1e}", record.name);
            assert!(compared >= 150, "{} has {compared} cases", record.name);
            records += 1;
        }
    }
    assert!(wrong.is_empty(), "{}: {}", wrong.len(), wrong[..wrong.len().min(40)].join("\n"));
    records
}

fn built(given: &Value) -> PolicyLoss {
    let table = serde_json::from_value(given.clone()).unwrap();
    build(table).unwrap_or_else(|error| panic!("{given}: {error}"))
}

/// Their names of metrics, and ours.
const METRICS: [(&str, &str); 8] = [
    ("clip_ratio/low_mean", "clip_fraction_low"),
    ("clip_ratio/high_mean", "clip_fraction_high"),
    ("clip_ratio/region_mean", "clip_fraction"),
    ("cispo_clip_ratio", "clip_fraction_high"),
    ("kl", "kl"),
    ("clip_ratio", "clip_fraction"),
    ("actor/pg_clipfrac_lower", "clip_fraction_dual"),
    ("actor/pg_clipfrac", "clip_fraction"),
];

#[test]
fn losses_are_those_of_the_libraries() {
    let mut metrics = BTreeSet::new();
    let records = each("losses", |library, record, case, output| {
        let words = Words { library, name: &record.name, ours: &record.ours };
        let loss = built(&settings(&words));
        let made = case.made(&record.ours);
        let theirs: LossOutput = serde_json::from_value(output.clone()).unwrap();
        // Where tokens are drawn by chance, one draw of ours has to be theirs.
        let draws = if loss.kind() == "clip_cov" { 32 } else { 1 };
        let all = (0..draws).map(|seed| {
            let batch = LossBatch { seed, ..case.batch(&made, &record.ours) };
            let found = loss.loss(&batch).unwrap();
            let differs = difference(found.gradient.values(), theirs.grad.values())
                .max(difference(&[found.value], &[theirs.loss]));
            (differs, found)
        });
        let (differs, found) = all.min_by(|a, b| a.0.total_cmp(&b.0)).unwrap();
        for (name, own) in METRICS {
            let pair = (theirs.metrics.get(name).and_then(Value::as_f64), found.metrics.get(own));
            // What verl's GMPO and Clip-Cov call clipped is another thing, and OpenRLHF's GSPO counts
            // tokens where TRL and we count sequences.
            let others = ["verl geo_mean", "verl clip_cov", "openrlhf gspo"];
            let is_other = others.iter().any(|other| record.name.starts_with(other))
                || (name == "actor/pg_clipfrac_lower" && loss.kind() != "ppo");
            if let (Some(their), Some(our), false) = (pair.0, pair.1, is_other) {
                assert!(
                    (their - our).abs() < 1e-6 * their.abs().max(1.0),
                    "{}: {name} {their} {our}",
                    record.name
                );
                metrics.insert(name);
            }
        }
        differs
    });
    assert!(records >= 70, "{records} records");
    assert!(metrics.len() >= 7, "only {metrics:?} were compared");
}

#[test]
fn aggregations_are_those_of_the_libraries() {
    let records = each("aggregate", |library, record, case, output| {
        let words = Words { library, name: &record.name, ours: &record.ours };
        let loss = built(&settings(&words));
        // The terms are the log-probabilities themselves.
        let advantages = AdvantageValues::Rollouts(vec![-1.0; case.logp.rows()]);
        let made = Made { advantages, ..case.made(&record.ours) };
        let found = loss.loss(&case.batch(&made, &record.ours)).unwrap();
        let theirs: LossOutput = serde_json::from_value(output.clone()).unwrap();
        difference(found.gradient.values(), theirs.grad.values())
            .max(difference(&[found.value], &[theirs.loss]))
    });
    assert!(records >= 12, "{records} records");
}

#[test]
fn divergences_are_those_of_the_libraries() {
    let records = each("kl", |library, record, case, output| {
        let words = Words { library, name: &record.name, ours: &record.ours };
        let settings = settings(&words);
        let kl = serde_json::from_value::<LossConfig>(json!({
            "aggregation": {"kind": "token_sum"},
            "kl": settings["kl"],
        }));
        let made = Made { mask: case.logp.map(|_| true), ..case.made(&record.ours) };
        let mut batch = case.batch(&made, &record.ours);
        if record.name.ends_with("on-policy") {
            batch.old = None;
        }
        let tokens = TrainedTokens::new(&batch, &case.logp).unwrap();
        let ratios = RatioSettings::default().of(&tokens).unwrap();
        let found = kl.unwrap().kl.terms(&tokens, &ratios).unwrap();
        let theirs: KlOutput = serde_json::from_value(output.clone()).unwrap();
        let given =
            |values: &Ragged<Option<f64>>| values.map(|value| value.unwrap()).values().to_vec();
        difference(&found.slopes, &given(&theirs.grad))
            .max(difference(&found.values, &given(&theirs.kl)))
    });
    assert!(records >= 16, "{records} records");
}

#[test]
fn corrections_are_those_of_the_libraries() {
    let records = each("correction", |library, record, case, output| {
        let words = Words { library, name: &record.name, ours: &record.ours };
        let config =
            json!({"aggregation": {"kind": "token_sum"}, "correction": correction(&words)});
        let config: LossConfig = serde_json::from_value(config).unwrap();
        let made = case.made(&record.ours);
        let batch = case.batch(&made, &record.ours);
        let mut tokens = TrainedTokens::new(&batch, &case.logp).unwrap();
        config.correction.apply(&mut tokens).unwrap();
        let theirs: CorrectionOutput = serde_json::from_value(output.clone()).unwrap();
        let trained = made.mask.values().iter().map(|set| f64::from(*set));
        let weights: Vec<f64> =
            tokens.importance.iter().zip(trained).map(|(weight, set)| weight * set).collect();
        let mask: Vec<f64> = tokens.mask.values().iter().map(|set| f64::from(*set)).collect();
        match (theirs.weights, theirs.mask) {
            (Some(theirs), _) => difference(&weights, theirs.values()),
            (None, Some(theirs)) => difference(&mask, theirs.values()),
            (None, None) => panic!("{} has neither weights nor a mask", record.name),
        }
    });
    assert!(records >= 26, "{records} records");
}
