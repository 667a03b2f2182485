//! Every gradient against finite differences of its own value, what is detached held fixed.

use proptest::prelude::*;
use rand::SeedableRng as _;
use rand::rngs::StdRng;
use serde_json::{Map, Value, json};

use super::{BatchScale, LossBatch, PolicyLoss, build, kinds};
use crate::advantages::AdvantageValues;
use crate::ragged::Ragged;

/// Numbers of a batch of up to six rows, of which one may have no trained token.
pub(super) struct Numbers {
    pub(super) logp: Ragged<f64>,
    old: Ragged<f64>,
    reference: Ragged<f64>,
    rollout: Ragged<f64>,
    proximal: Ragged<f64>,
    entropy: Ragged<f64>,
    durations: Ragged<f64>,
    pub(super) mask: Ragged<bool>,
    pub(super) advantages: AdvantageValues,
    demonstrations: Vec<bool>,
    staleness: Vec<u64>,
}

impl Numbers {
    pub(super) fn draw(seed: u64) -> Self {
        let mut rng = StdRng::seed_from_u64(seed);
        let rows = rng.random_range(1..6);
        let lengths: Vec<usize> = (0..rows).map(|_| rng.random_range(1..7)).collect();
        let mut ragged = |low: f64, high: f64| -> Ragged<f64> {
            let row = |length: &usize| {
                (0..*length).map(|_| rng.random_range(low..high)).collect::<Vec<_>>()
            };
            lengths.iter().map(row).collect()
        };
        let logp = ragged(-4.0, -0.05);
        let noises: Vec<Ragged<f64>> = (0..4).map(|_| ragged(-0.6, 0.6)).collect();
        let near = |noise: &Ragged<f64>| {
            let mut moved = logp.clone();
            let values = moved.values_mut().iter_mut().zip(noise.values());
            for (value, noise) in values {
                *value = (*value + noise).min(-0.01);
            }
            moved
        };
        let [old, reference, rollout, proximal] = [0, 1, 2, 3].map(|which| near(&noises[which]));
        let (entropy, durations, by_token) =
            (ragged(0.0, 2.0), ragged(0.5, 3.0), ragged(-2.0, 2.0));
        let mask = logp.map(|_| rng.random_range(0.0..1.0) < 0.8);
        let advantages = match rng.random_range(0..3) {
            0 => AdvantageValues::Tokens(by_token),
            _ => {
                AdvantageValues::Rollouts((0..rows).map(|_| rng.random_range(-2.0..2.0)).collect())
            }
        };
        let demonstrations = (0..rows).map(|_| rng.random_range(0..3) == 0).collect();
        let staleness = (0..rows).map(|_| rng.random_range(0..4)).collect();
        Self {
            logp,
            old,
            reference,
            rollout,
            proximal,
            entropy,
            durations,
            mask,
            advantages,
            demonstrations,
            staleness,
        }
    }

    /// The same numbers, the last row first.
    pub(super) fn turned(&self) -> Self {
        fn rows<T: Clone>(of: &Ragged<T>) -> Ragged<T> {
            let rows: Vec<Vec<T>> = of.iter().map(<[T]>::to_vec).collect();
            rows.into_iter().rev().collect()
        }
        let advantages = match &self.advantages {
            AdvantageValues::Tokens(values) => AdvantageValues::Tokens(rows(values)),
            AdvantageValues::Rollouts(values) => {
                AdvantageValues::Rollouts(values.iter().rev().copied().collect())
            }
        };
        Self {
            logp: rows(&self.logp),
            old: rows(&self.old),
            reference: rows(&self.reference),
            rollout: rows(&self.rollout),
            proximal: rows(&self.proximal),
            entropy: rows(&self.entropy),
            durations: rows(&self.durations),
            mask: rows(&self.mask),
            advantages,
            demonstrations: self.demonstrations.iter().rev().copied().collect(),
            staleness: self.staleness.iter().rev().copied().collect(),
        }
    }

    /// Makes what is masked no number.
    pub(super) fn spoil_masked(&mut self) {
        let mask = &self.mask;
        let all = [
            &mut self.logp,
            &mut self.old,
            &mut self.reference,
            &mut self.rollout,
            &mut self.proximal,
            &mut self.entropy,
            &mut self.durations,
        ];
        for values in all {
            let places = values.values_mut().iter_mut().zip(mask.values());
            for (value, _) in places.filter(|(_, trained)| !**trained) {
                *value = f64::NAN;
            }
        }
    }

    pub(super) fn batch<'a>(&'a self, logp: &'a Ragged<f64>) -> LossBatch<'a> {
        LossBatch {
            old: Some(&self.old),
            reference: Some(&self.reference),
            rollout: Some(&self.rollout),
            proximal: Some(&self.proximal),
            entropy: Some(&self.entropy),
            mask: Some(&self.mask),
            durations: Some(&self.durations),
            demonstrations: Some(&self.demonstrations),
            staleness: Some(&self.staleness),
            completion_max: Some(16.0),
            scale: BatchScale { accumulation_steps: 2.0, ..BatchScale::default() },
            ..LossBatch::new(logp, &self.advantages)
        }
    }
}

pub(super) fn table(value: Value) -> Map<String, Value> {
    serde_json::from_value(value).unwrap()
}

fn aggregations() -> Vec<Value> {
    let kinds = [
        "token_mean",
        "token_sum",
        "seq_mean_token_mean",
        "seq_mean_token_sum",
        "seq_mean_token_sum_norm",
    ];
    let mut all: Vec<Value> = kinds.map(|kind| json!({ "kind": kind })).to_vec();
    all.push(json!({"kind": "seq_mean_token_mean", "masked_sequences": "keep", "eps": 1e-8}));
    all.push(json!({"kind": "seq_mean_token_mean", "sequences": 1.0, "scope": "local"}));
    all
}

fn divergences() -> Vec<Value> {
    vec![
        json!({}),
        json!({"coefficient": 0.3, "estimator": "k1"}),
        json!({"coefficient": 0.3, "estimator": "k2", "aggregation": {"kind": "token_mean"}}),
        json!({"coefficient": 0.3, "estimator": "k3", "input": {"min": -0.2, "max": 0.2}}),
        json!({"coefficient": 0.3, "estimator": "abs"}),
        json!({"coefficient": 0.3, "estimator": "k3", "output": {"max": 0.05}}),
        json!({"coefficient": 0.3, "estimator": "k3", "ratio_correction": true}),
        json!({"coefficient": 0.3, "estimator": "k1", "gradient": "straight_through"}),
        json!({"coefficient": 0.3, "estimator": "k3", "gradient": "unbiased", "weight_max": 1.2}),
    ]
}

fn corrections() -> Vec<Value> {
    let sequence = json!({"level": "sequence", "statistic": "k3", "max": 0.1, "rejected": "drop"});
    let token = json!({"min": 0.7, "max": 1.4, "rejected": "drop_counted"});
    vec![
        json!({}),
        json!({"importance": {"max": 1.1}}),
        json!({"importance": {"level": "sequence", "mode": "mask", "max": 3.0, "normalize": true}}),
        json!({"importance": {"level": "geometric", "min": 0.9, "numerator": "proximal"}}),
        json!({"reject": [sequence]}),
        json!({"reject": [token, {"level": "sequence", "reduce": "any", "max": 1.7}]}),
        json!({"reject": [{"level": "sequence", "statistic": "binary_kl", "max": 0.05}]}),
        json!({"opsm": {"threshold": 0.05}, "duration": {}}),
        json!({"m2po": {"threshold": 0.04}, "staleness": {"max": 2}}),
    ]
}

/// Settings of a kind beside its defaults.
fn variants(kind: &str) -> Vec<Value> {
    let ratio = |level: &str| json!({"ratio": {"level": level}});
    let levels = ["token", "sequence", "sequence_token"].map(ratio).to_vec();
    let own: Vec<Value> = match kind {
        "ppo" => vec![
            json!({"dual_clip": 1.5, "eps_high": 0.1}),
            json!({"ratio_max": 1.1, "ratio": {"policy": "proximal"}}),
            json!({"ratio": {"clamp": {"min": -0.3, "max": 0.3}}, "eps_low": 0.5, "eps_high": 0.5}),
            json!({"advantage": "sequence_mean", "ratio": {"level": "sequence"}}),
        ],
        "cispo" => vec![
            json!({"bounds": "absolute", "eps_high": 1.2}),
            json!({"eps_low": 0.2, "outside": "zero"}),
        ],
        _ => return variants_of_others(kind),
    };
    levels.into_iter().chain(own).collect()
}

fn variants_of_others(kind: &str) -> Vec<Value> {
    let sequence = json!({"ratio": {"level": "sequence"}});
    match kind {
        "gspo" => vec![json!({}), json!({"eps_low": 0.2, "eps_high": 0.3, "dual_clip": 1.3})],
        "stable_reinforce" => vec![json!({}), json!({"ratio": {"clamp": {"min": -0.1}}})],
        "aipo" => vec![json!({"ratio_max": 1.1}), sequence],
        "sapo" => vec![json!({}), json!({"tau_neg": 4.0}), sequence],
        "gmpo" => vec![json!({}), json!({"eps_low": 0.2, "eps_high": 0.1})],
        "dro" => vec![json!({"beta": 0.7}), json!({"beta": 0.7, "ratio": {"level": "sequence"}})],
        "clip_cov" => vec![
            json!({"share": 0.3, "cov_low": 0.1, "cov_high": 9.0}),
            json!({"share": 0.5, "cov_low": 0.0, "ratio": {"level": "sequence_product"}}),
        ],
        "kl_cov" => vec![json!({"share": 0.4, "coefficient": 0.5}), json!({})],
        "dppo" => vec![
            json!({"delta_low": 0.1, "delta_high": 0.1, "ratio_max": 1.2}),
            json!({"divergence": "kl", "delta_low": 0.01, "delta_high": 0.01}),
            json!({"surrogate": "ratio", "ratio_max": 1.3}),
        ],
        "dcpo" => vec![json!({}), json!({"dual_clip": 1.2, "eps_low": 0.02, "eps_high": 0.02})],
        "opmd" => vec![json!({"tau": 0.3})],
        _ => vec![json!({})],
    }
}

/// The derivative of the value with respect to one log-probability, by five points; none where a
/// kink lies between them.
fn difference(loss: &PolicyLoss, numbers: &Numbers, at: usize, scale: f64) -> Option<f64> {
    const STEP: f64 = 1e-4;
    let value = |steps: f64| {
        let mut moved = numbers.logp.clone();
        moved.values_mut()[at] += steps * STEP;
        loss.at(&numbers.batch(&moved), &numbers.logp).unwrap().value
    };
    let [two_back, back, here, ahead, two_ahead] = [-2.0, -1.0, 0.0, 1.0, 2.0].map(value);
    // Of a smooth function, steps of one and of two say the same of the slope and of the curvature.
    let slopes = [(ahead - back) / (2.0 * STEP), (two_ahead - two_back) / (4.0 * STEP)];
    let bends =
        [(ahead - 2.0 * here + back) / STEP, (two_ahead - 2.0 * here + two_back) / (2.0 * STEP)];
    let differ = [slopes[1] - slopes[0], bends[1] - 2.0 * bends[0]];
    let is_smooth = differ.into_iter().all(|by| by.abs() <= 1e-6 * scale);
    is_smooth.then_some((4.0 * slopes[0] - slopes[1]) / 3.0)
}

/// How many derivatives were compared, and how many lay on a kink.
fn compare(settings: &Value, seed: u64) -> Result<(usize, usize), TestCaseError> {
    let loss = build(table(settings.clone()))
        .map_err(|error| TestCaseError::fail(format!("{settings}: {error}")))?;
    let numbers = Numbers::draw(seed);
    let found = loss.loss(&numbers.batch(&numbers.logp)).unwrap();
    let scale = found.gradient.values().iter().fold(1e-4, |most: f64, slope| most.max(slope.abs()));
    let (mut compared, mut kinks) = (0, 0);
    for (at, slope) in found.gradient.values().iter().enumerate() {
        let Some(expected) = difference(&loss, &numbers, at, scale) else {
            kinks += 1;
            continue;
        };
        compared += 1;
        prop_assert!(
            (slope - expected).abs() <= 1e-6 * scale,
            "{}: token {} of seed {}: {} is {} by differences",
            settings,
            at,
            seed,
            slope,
            expected
        );
    }
    Ok((compared, kinks))
}

fn settings(kind: &str, part: [Option<&Value>; 4]) -> Value {
    let [variant, aggregation, kl, correction] =
        part.map(|part| part.cloned().unwrap_or(json!({})));
    let mut settings = table(variant);
    settings.insert("kind".to_owned(), kind.into());
    if kind == "aipo" && correction.get("importance").is_some() {
        // Its ratio to the policy that generated corrects already.
        settings.insert("ratio".to_owned(), json!({"policy": "old"}));
    }
    for (name, part) in [("aggregation", aggregation), ("kl", kl), ("correction", correction)] {
        settings.insert(name.to_owned(), part);
    }
    Value::Object(settings)
}

/// Every kind with all of its variants, each beside every other part: not their product.
pub(super) fn all_settings() -> Vec<Value> {
    let mut all = Vec::new();
    for entry in kinds::ALL {
        let variants = variants(entry.kind);
        for (turn, variant) in variants.iter().enumerate() {
            let first = |parts: &[Value]| parts[turn % parts.len()].clone();
            all.extend(aggregations().iter().map(|part| {
                let [kl, correction] = [first(&divergences()), first(&corrections())];
                settings(entry.kind, [Some(variant), Some(part), Some(&kl), Some(&correction)])
            }));
            let parts = divergences();
            all.extend(
                parts.iter().map(|kl| settings(entry.kind, [Some(variant), None, Some(kl), None])),
            );
            let parts = corrections();
            all.extend(parts.iter().map(|correction| {
                settings(entry.kind, [Some(variant), None, None, Some(correction)])
            }));
        }
    }
    all
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn gradients_are_those_of_the_values(seed in any::<u64>()) {
        let (mut compared, mut kinks) = (0, 0);
        for (place, settings) in all_settings().iter().enumerate() {
            let of_one = compare(settings, seed.wrapping_add(place as u64))?;
            compared += of_one.0;
            kinks += of_one.1;
        }
        prop_assert!(compared > 1000 && kinks * 50 < compared, "{} and {} kinks", compared, kinks);
    }
}
