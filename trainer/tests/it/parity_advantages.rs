//! Our advantages beside those of TRL, verl and `OpenRLHF`: what the libraries' own functions gave is in
//! `fixtures/parity/`, and `advantages.toml` there says which configuration of ours is compared.

use std::collections::BTreeMap;
use std::io::Read as _;
use std::path::PathBuf;

use assay_trainer::advantages::{
    AdvantageConfig, AdvantageValues, PolicyTokens, RewardBatch, RewardPart,
};
use assay_trainer::{Groups, Ragged};
use serde::Deserialize;
use serde::de::DeserializeOwned;

/// Relative to the number of the library.
const TOLERANCE: f64 = 1e-6;
/// Numbers below are differences of equal numbers.
const NOTHING: f64 = 1e-9;
/// Cases of each record that must be compared.
const CASES_MIN: usize = 200;

#[derive(Deserialize)]
struct Cases {
    advantages: Vec<Case>,
}

/// What no library reads of a case is left out of it.
#[derive(Default, Deserialize)]
#[serde(default)]
struct Case {
    group: Vec<u64>,
    rewards: Vec<Option<f64>>,
    parts: BTreeMap<String, Vec<Option<f64>>>,
    weights: BTreeMap<String, f64>,
    mask: Ragged<u8>,
    token_rewards: Ragged<f64>,
    values: Ragged<f64>,
    baselines: Vec<f64>,
    old: Ragged<f64>,
    reference: Ragged<f64>,
    sum_pi_squared: Ragged<f64>,
}

#[derive(Deserialize)]
struct Library {
    records: Vec<Record>,
}

#[derive(Deserialize)]
struct Record {
    name: String,
    room: String,
    outputs: Vec<serde_json::Value>,
    cases: Option<Vec<usize>>,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Output {
    Rollouts(Vec<Option<f64>>),
    Tokens(Vec<Vec<Option<f64>>>),
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Comparisons {
    record: Vec<Comparison>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Comparison {
    name: String,
    advantage: AdvantageConfig,
    #[serde(default)]
    given: Given,
}

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Given {
    rewards: Rewards,
    parts: Option<Parts>,
    bounds: Option<[f64; 2]>,
    penalty: Option<Penalty>,
}

#[derive(Clone, Copy, Default, Deserialize, PartialEq)]
#[serde(rename_all = "snake_case")]
enum Rewards {
    #[default]
    Outcome,
    Tokens,
    Parts,
    PlainParts,
}

#[derive(Clone, Copy, Deserialize, PartialEq)]
#[serde(rename_all = "snake_case")]
enum Parts {
    Weighted,
    Plain,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Penalty {
    kind: Estimate,
    coefficient: f64,
    over: Over,
}

#[derive(Clone, Copy, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Estimate {
    K1,
    K2,
    K3,
}

#[derive(Clone, Copy, Deserialize, PartialEq)]
#[serde(rename_all = "snake_case")]
enum Over {
    Token,
    Rollout,
}

/// What a case is for an estimator.
struct Inputs {
    groups: Groups,
    rewards: Vec<f64>,
    parts: Vec<(String, f64, Vec<f64>)>,
    mask: Ragged<bool>,
    token_rewards: Option<Ragged<f64>>,
}

impl Inputs {
    fn of(case: &Case, given: &Given) -> Self {
        let mut parts = Vec::new();
        if given.parts.is_some() || matches!(given.rewards, Rewards::Parts | Rewards::PlainParts) {
            let is_plain =
                given.parts == Some(Parts::Plain) || given.rewards == Rewards::PlainParts;
            let weight = |name: &String| if is_plain { 1.0 } else { case.weights[name] };
            let part = |(name, values): (&String, &Vec<Option<f64>>)| {
                (name.clone(), weight(name), values.iter().map(|v| v.unwrap_or(f64::NAN)).collect())
            };
            parts = case.parts.iter().map(part).collect();
        }
        let mut rewards = match given.rewards {
            Rewards::Outcome => case.rewards.iter().map(|v| v.unwrap_or(f64::NAN)).collect(),
            Rewards::Tokens => vec![0.0; case.rewards.len()],
            Rewards::Parts | Rewards::PlainParts => sums(&parts, case.rewards.len()),
        };
        if let Some([low, high]) = given.bounds {
            for reward in &mut rewards {
                *reward = reward.clamp(low, high);
            }
        }
        let mut token_rewards =
            (given.rewards == Rewards::Tokens).then(|| case.token_rewards.clone());
        if let Some(penalty) = &given.penalty {
            let divergence = divergence(case, penalty.kind);
            match penalty.over {
                Over::Token => {
                    token_rewards = Some(divergence.map(|value| -penalty.coefficient * value));
                }
                Over::Rollout => {
                    for (reward, row) in rewards.iter_mut().zip(divergence.iter()) {
                        *reward -= penalty.coefficient * row.iter().sum::<f64>();
                    }
                }
            }
        }
        let groups = Groups::by_key(case.group.iter().copied());
        let mask = case.mask.map(|token| *token != 0);
        Self { groups, rewards, parts, mask, token_rewards }
    }
}

/// The weighted sum of the parts that are there, NaN where none is.
fn sums(parts: &[(String, f64, Vec<f64>)], rows: usize) -> Vec<f64> {
    let sum = |row: usize| {
        let there = parts.iter().map(|(_, weight, values)| weight * values[row]);
        there.filter(|value| !value.is_nan()).reduce(|sum, value| sum + value).unwrap_or(f64::NAN)
    };
    (0..rows).map(sum).collect()
}

fn divergence(case: &Case, kind: Estimate) -> Ragged<f64> {
    let mut values = case.old.clone();
    for (value, reference) in values.values_mut().iter_mut().zip(case.reference.values()) {
        let log_ratio = *value - reference;
        *value = match kind {
            Estimate::K1 => log_ratio,
            Estimate::K2 => log_ratio * log_ratio / 2.0,
            Estimate::K3 => (-log_ratio).exp() - 1.0 + log_ratio,
        }
        .clamp(-10.0, 10.0);
    }
    values
}

fn read<T: DeserializeOwned>(name: &str) -> T {
    let bytes = std::fs::read(folder().join(name)).unwrap();
    let mut text = String::new();
    flate2::read::GzDecoder::new(bytes.as_slice()).read_to_string(&mut text).unwrap();
    serde_json::from_str(&text).unwrap()
}

fn folder() -> PathBuf {
    [env!("CARGO_MANIFEST_DIR"), "..", "fixtures", "parity"].iter().collect()
}

fn estimated(case: &Case, comparison: &Comparison) -> AdvantageValues {
    let inputs = Inputs::of(case, &comparison.given);
    let part = |(name, weight, rewards)| RewardPart { name, weight, rewards };
    let parts: Vec<RewardPart<'_>> = inputs
        .parts
        .iter()
        .map(|(name, weight, rewards)| part((name.as_str(), *weight, rewards.as_slice())))
        .collect();
    let policy =
        PolicyTokens { log_probs: &case.old, sum_pi_squared: &case.sum_pi_squared, weights: None };
    let batch = RewardBatch {
        parts: &parts,
        mask: Some(&inputs.mask),
        token_rewards: inputs.token_rewards.as_ref(),
        token_values: Some(&case.values),
        policy: Some(policy),
        values: Some(&case.baselines),
        ..RewardBatch::new(&inputs.groups, &inputs.rewards).unwrap()
    };
    let estimated = comparison.advantage.build().unwrap().estimate(&batch);
    estimated.unwrap_or_else(|error| panic!("{}: {error}", comparison.name)).values
}

/// The largest difference by the number, over the tokens that are trained on.
fn difference(ours: &AdvantageValues, theirs: &Output, mask: &Ragged<u8>) -> f64 {
    let mut largest: f64 = 0.0;
    for row in 0..mask.rows() {
        let trained = mask.row(row).iter().enumerate().filter(|(_, token)| **token != 0);
        for token in trained.map(|(at, _)| at) {
            let ours = match ours {
                AdvantageValues::Rollouts(values) => values[row],
                AdvantageValues::Tokens(values) => values.row(row)[token],
            };
            let theirs = match theirs {
                Output::Rollouts(values) => values[row],
                Output::Tokens(values) => values[row][token],
            };
            let theirs = theirs.unwrap_or(f64::NAN);
            let is_nothing = ours.abs() <= NOTHING && theirs.abs() <= NOTHING;
            if !is_nothing {
                let relative = (ours - theirs).abs() / theirs.abs();
                largest = if relative.is_nan() { f64::INFINITY } else { largest.max(relative) };
            }
        }
    }
    largest
}

#[test]
fn every_estimator_of_the_libraries_is_matched() {
    let cases: Cases = read("cases.json.gz");
    let text = std::fs::read_to_string(folder().join("advantages.toml")).unwrap();
    let comparisons: Comparisons = toml::from_str(&text).unwrap();
    let mut compared = 0;
    let mut wrong = Vec::new();
    for library in ["verl", "trl", "openrlhf"] {
        let library: Library = read(&format!("{library}.json.gz"));
        for record in library.records.iter().filter(|record| record.room == "advantages") {
            let found = comparisons.record.iter().find(|of| of.name == record.name);
            let Some(comparison) = found else {
                panic!("{} is not compared: advantages.toml does not name it", record.name)
            };
            let places =
                record.cases.clone().unwrap_or_else(|| (0..cases.advantages.len()).collect());
            assert_eq!(places.len(), record.outputs.len(), "{}", record.name);
            let (mut count, mut largest, mut off) = (0, 0.0_f64, Vec::new());
            for (place, output) in places.iter().zip(&record.outputs).filter(|(_, o)| !o.is_null())
            {
                let case = &cases.advantages[*place];
                let output: Output = serde_json::from_value(output.clone()).unwrap();
                let apart = difference(&estimated(case, comparison), &output, &case.mask);
                (count, largest) = (count + 1, largest.max(apart));
                off.extend((apart > TOLERANCE).then_some(*place));
            }
            println!("{:<45} {count} cases, {largest:.1e}", record.name);
            if count < CASES_MIN || !off.is_empty() {
                wrong.push(format!("{}: {count} cases, {largest:.1e}, {off:?}", record.name));
            }
            compared += 1;
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert_eq!(compared, comparisons.record.len());
}
