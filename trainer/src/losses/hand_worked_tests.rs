//! Losses and corrections against numbers worked by hand, where no library gives any.

use std::sync::LazyLock;

use serde_json::{Value, json};

use super::gradient_tests::table;
use super::{BatchScale, EntropyState, Loss, LossBatch, PolicyLoss, build};
use crate::advantages::AdvantageValues;
use crate::ragged::Ragged;

fn ragged<const N: usize>(rows: [&[f64]; N]) -> Ragged<f64> {
    rows.into_iter().map(<[f64]>::to_vec).collect()
}

fn loss(settings: Value) -> PolicyLoss {
    build(table(settings)).unwrap()
}

fn close(found: &[f64], expected: &[f64]) {
    assert_eq!(found.len(), expected.len());
    for (a, b) in found.iter().zip(expected) {
        assert!((a - b).abs() < 1e-12, "{found:?}, expected {expected:?}");
    }
}

/// Two rows: two tokens of advantage 2, one of advantage -1. The ratios are 2, a half and 4.
struct Rows {
    logp: Ragged<f64>,
    old: Ragged<f64>,
    advantages: AdvantageValues,
}

static ROWS: LazyLock<Rows> = LazyLock::new(|| {
    let ln = f64::ln;
    Rows {
        logp: ragged([&[ln(0.5), ln(0.25)], &[ln(0.8)]]),
        old: ragged([&[ln(0.25), ln(0.5)], &[ln(0.2)]]),
        advantages: AdvantageValues::Rollouts(vec![2.0, -1.0]),
    }
});

/// The loss of these rows; `more` adds to the batch.
fn of<'a>(settings: Value, more: impl FnOnce(&mut LossBatch<'a>)) -> Loss {
    let Rows { logp, old, advantages } = &*ROWS;
    let mut batch =
        LossBatch { old: Some(old), rollout: Some(old), ..LossBatch::new(logp, advantages) };
    more(&mut batch);
    loss(settings).loss(&batch).unwrap()
}

#[test]
fn aipo_bounds_the_ratio_to_the_generator_above_alone() {
    // The engine that generated gave 0.1, 0.5 and 0.8: ratios of 5, a half and 1. Those to the policy
    // at the start of the step are 2, a half and 4.
    let generated = ragged([&[0.1_f64.ln(), 0.5_f64.ln()], &[0.8_f64.ln()]]);
    let settings = json!({"kind": "aipo", "ratio_max": 3.0, "aggregation": "token_sum"});
    let found = of(settings.clone(), |batch| batch.rollout = Some(&generated));
    close(found.gradient.values(), &[-6.0, -1.0, 1.0]);
    let value = -6.0 * 0.5_f64.ln() - 0.25_f64.ln() + 0.8_f64.ln();
    close(&[found.value, found.metrics["clip_fraction"]], &[value, 1.0 / 3.0]);
    let mut other = settings.clone();
    other["ratio"] = json!({"clamp": {"max": 9.0}});
    let clamped = of(other.clone(), |batch| batch.rollout = Some(&generated));
    close(clamped.gradient.values(), found.gradient.values());
    other["ratio"] = json!({"policy": "old"});
    let old = of(other, |batch| batch.rollout = Some(&generated));
    close(old.gradient.values(), &[-4.0, -1.0, 3.0]);
    let Rows { logp, advantages, .. } = &*ROWS;
    let missing = loss(settings).loss(&LossBatch::new(logp, advantages)).unwrap_err().to_string();
    assert!(missing.starts_with("rollout log-probabilities"), "{missing}");
}

#[test]
fn stable_reinforce_clamps_the_logarithm_of_the_ratio() {
    let settings = json!({"kind": "stable_reinforce", "eps_high": 5.0, "aggregation": "token_sum"});
    // Ratios of 2 and a half are within a third and 3; 4 becomes 3, without a gradient.
    let found = of(settings, |_| {});
    close(found.gradient.values(), &[-4.0, -1.0, 0.0]);
    close(&[found.value], &[-4.0 - 2.0 * 0.8 + 3.0 + 0.6]);
}

#[test]
fn opmd_penalises_the_log_ratio_of_the_sequence() {
    let found = of(json!({"kind": "opmd", "tau": 0.5}), |_| {});
    // The first row's log ratios cancel; the second has log 4.
    let far = 4_f64.ln();
    close(found.gradient.values(), &[-1.0, -1.0, 0.5 + 0.25 * far]);
    let value = -2.0 * 0.125_f64.ln() + 0.8_f64.ln() + 0.25 * far * far;
    close(&[found.value], &[value / 2.0]);
}

#[test]
fn the_likelihood_is_weighted_by_the_advantage() {
    for kind in ["reinforce", "gpg", "asymre"] {
        let found = of(json!({"kind": kind, "aggregation": "token_sum"}), |_| {});
        close(found.gradient.values(), &[-2.0, -2.0, 1.0]);
    }
    let found = of(json!({"kind": "importance_sampling"}), |_| {});
    close(found.gradient.values(), &[-4.0, -1.0, 4.0]);
    close(&[found.value], &[-1.0]);
}

#[test]
fn srft_weighs_by_entropy() {
    let entropy = ragged([&[1.0, 3.0], &[0.5]]);
    let settings = || json!({"kind": "srft", "aggregation": "token_sum"});
    let own = of(settings(), |batch| batch.entropy = Some(&entropy));
    let weight = -2.0 * 0.1 * 2_f64.exp();
    close(own.gradient.values(), &[weight, weight, 1.0]);
    let shown = of(settings(), |batch| {
        batch.entropy = Some(&entropy);
        batch.demonstrations = Some(&[false, true]);
    });
    close(&[shown.gradient.values()[2]], &[-0.5 * (-0.5_f64).exp() + 0.8]);
}

#[test]
fn skyrls_dppo_has_the_gradient_of_the_ratio() {
    let found =
        of(json!({"kind": "dppo", "preset": "skyrl-0.3", "aggregation": "token_sum"}), |_| {});
    // The first token has moved up by 0.25, more than 0.2: no term. The last has moved up, not down.
    close(found.gradient.values(), &[0.0, -1.0, 4.0]);
    close(&[found.value, found.metrics["clip_fraction"]], &[3.0, 1.0 / 3.0]);
}

#[test]
fn m2po_leaves_out_what_moved_most() {
    let proximal = ragged([&[0.5_f64.ln(), 0.5_f64.ln()], &[0.2_f64.ln()]]);
    // The squared log ratios to the engine are log(2)^2, 0 and 0.
    let with = |threshold: f64| {
        let settings = json!({
            "kind": "reinforce",
            "correction": {"m2po": {"threshold": threshold}},
        });
        of(settings, |batch| batch.proximal = Some(&proximal))
    };
    close(with(0.1).gradient.values(), &[0.0, -1.0, 0.5]);
    close(with(0.2).gradient.values(), &[-2.0 / 3.0, -2.0 / 3.0, 1.0 / 3.0]);
}

#[test]
fn rejected_tokens_leave_what_their_setting_says() {
    for (rejected, expected) in [
        ("zero", [-2.0 / 3.0, -2.0 / 3.0, 0.0]),
        ("drop", [-1.0, -1.0, 0.0]),
        ("drop_counted", [-2.0 / 3.0, -2.0 / 3.0, 0.0]),
    ] {
        let correction = json!({"staleness": {"max": 3, "rejected": rejected}});
        let settings = json!({"kind": "reinforce", "correction": correction});
        let found = of(settings, |batch| batch.staleness = Some(&[3, 4]));
        close(found.gradient.values(), &expected);
        close(&[found.metrics["stale_fraction"]], &[1.0 / 3.0]);
    }
    // What the objective sees differs: the mean of the sequence's log ratios is 0 with both tokens.
    for (rejected, slope) in [("zero", -1.0), ("drop_counted", -4.0)] {
        let reject = json!([{"min": 0.9, "rejected": rejected, "numerator": "current"}]);
        let settings = json!({
            "kind": "gspo",
            "eps_low": 0.9,
            "eps_high": 9.0,
            "aggregation": "token_sum",
            "correction": {"reject": reject},
        });
        close(&[of(settings, |_| {}).gradient.values()[0]], &[slope]);
    }
}

#[test]
fn long_actions_count_for_more() {
    let durations = ragged([&[1.0, 1.0], &[4.0]]);
    let settings = json!({
        "kind": "reinforce",
        "aggregation": "token_sum",
        "correction": {"duration": {"max": 1.5}},
    });
    let found = of(settings, |batch| batch.durations = Some(&durations));
    close(found.gradient.values(), &[-1.0, -1.0, 1.5]);
}

#[test]
fn a_decoupled_objective_clips_against_the_proximal_policy() {
    // AReaL: exp(logp - proximal) is clipped, and exp(proximal - rollout) is a weight.
    let proximal = ragged([&[0.25_f64.ln(), 0.25_f64.ln()], &[0.4_f64.ln()]]);
    let importance = json!({"mode": "mask", "max": 1.5, "numerator": "proximal"});
    let settings = json!({
        "kind": "ppo",
        "preset": "areal-1.0",
        "aggregation": "token_sum",
        "ratio": {"policy": "proximal"},
        "correction": {"importance": importance},
    });
    let found = of(settings, |batch| batch.proximal = Some(&proximal));
    // Ratios 2, 1, 2 and weights 1, a half, 2 (left out): the first is clipped.
    close(found.gradient.values(), &[0.0, -1.0, 0.0]);
    close(&[found.value], &[-2.4 - 1.0]);
}

#[test]
fn an_adaptive_coefficient_follows_the_entropy() {
    let entropy = ragged([&[0.1, 0.3], &[0.05]]);
    let adaptive = json!({"target": 0.2, "delta": 0.25});
    let settings = json!({
        "kind": "reinforce",
        "entropy": {"coefficient": 0.5, "adaptive": adaptive},
    });
    let step = |state: Option<EntropyState>, ends_step: bool| {
        let found = of(settings.clone(), |batch| {
            batch.entropy = Some(&entropy);
            batch.entropy_state = state;
            batch.scale = BatchScale { ends_step, ..BatchScale::default() };
        });
        (found.entropy_gradient.unwrap().values()[0], found.entropy_state.unwrap())
    };
    // No step has been made before the first, so there is no bonus yet.
    let (slope, first) = step(None, true);
    close(&[slope, first.coefficient, first.last_entropy.unwrap()], &[0.0, 0.75, 0.15]);
    let (slope, second) = step(Some(first), false);
    close(
        &[slope, second.coefficient, second.window_sum, second.window_tokens],
        &[-0.25, 0.75, 0.45, 3.0],
    );
    let (_, third) = step(Some(second), true);
    close(&[third.coefficient, third.window_tokens], &[1.0, 0.0]);
    let high = EntropyState { last_entropy: Some(0.3), ..third };
    close(&[step(Some(high), true).0], &[0.0]);
}

#[test]
fn a_divergence_may_be_a_reward() {
    let settings = json!({
        "kind": "ppo",
        "kl": {"coefficient": 0.5, "estimator": "k1", "place": "reward"},
    });
    let logp = ragged([&[-1.0, -2.0]]);
    let reference = ragged([&[-1.5, -1.0]]);
    let advantages = AdvantageValues::Rollouts(vec![1.0]);
    let batch = LossBatch { reference: Some(&reference), ..LossBatch::new(&logp, &advantages) };
    let loss = loss(settings);
    close(loss.token_rewards(&batch).unwrap().values(), &[-0.25, 0.5]);
    assert!(!loss.loss(&batch).unwrap().metrics.contains_key("kl_loss"));
}

#[test]
fn dcpo_adds_up_responses() {
    // Old probabilities of 0.25, 0.5 and 0.2 allow ratios up to 1.525, 1.306 and 1.618.
    let found = of(json!({"kind": "dcpo"}), |_| {});
    let high = 0.5 + 0.5 * (1.0 + 0.8 / 0.25_f64).sqrt();
    close(found.gradient.values(), &[0.0, -0.5, 4.0]);
    close(&[found.value], &[0.5 * (-2.0 * high - 1.0) + 4.0]);
}
