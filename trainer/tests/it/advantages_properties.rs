//! What holds for every kind of advantage, whatever the numbers are: order, missing rewards, range.

use std::collections::BTreeMap;

use assay_trainer::advantages::{
    self, AdvantageConfig, AdvantageValues, Advantages, EstimatorState, PolicyTokens, RewardBatch,
    RewardPart, StepReward,
};
use assay_trainer::{Groups, Ragged, TrainerError};
use proptest::prelude::*;

/// Settings without which a kind depends on the order of the rollouts, as its source does.
const SETTINGS: [(&str, &str); 1] = [("spiral", "update = \"batch\"")];

/// Kinds in which the n-th rollout of a role plays the n-th of the other: rollouts of a group cannot
/// change places, and none can be added alone.
const PAIRED: &str = "advantage_alignment";

#[derive(Clone, Debug)]
struct Rollout {
    group: usize,
    reward: f64,
    mask: Vec<bool>,
    tokens: Vec<f64>,
    steps: Vec<StepReward>,
    role: String,
    start: usize,
    value: f64,
}

fn rollout() -> impl Strategy<Value = Rollout> {
    let reward = prop_oneof![
        4 => prop_oneof![Just(0.0), Just(1.0)],
        4 => -10.0..10.0_f64,
        1 => Just(f64::NAN),
    ];
    let tokens = prop::collection::vec((prop::bool::weighted(0.8), -3.0..0.0_f64), 1..6);
    (reward, tokens, 0.0..1.0_f64, prop::bool::weighted(0.1)).prop_map(
        |(reward, tokens, value, is_unjudged)| {
            let (mask, tokens): (Vec<bool>, Vec<f64>) = tokens.into_iter().unzip();
            let half = tokens.len() / 2;
            let judged = if is_unjudged { f64::NAN } else { value };
            let steps =
                vec![StepReward::new(half, judged), StepReward::new(tokens.len(), 1.0 - value)];
            let role = String::new();
            Rollout { group: 0, reward, mask, tokens, steps, role, start: 0, value }
        },
    )
}

/// Groups of two, four or six rollouts, with two roles in turn.
fn batch() -> impl Strategy<Value = Vec<Rollout>> {
    let group = (1..4_usize).prop_flat_map(|pairs| prop::collection::vec(rollout(), 2 * pairs));
    prop::collection::vec(group, 1..6).prop_map(|groups| {
        let mut all = Vec::new();
        for (at, group) in groups.into_iter().enumerate() {
            for (nth, mut rollout) in group.into_iter().enumerate() {
                rollout.group = at;
                ["white", "black"][nth % 2].clone_into(&mut rollout.role);
                rollout.start = usize::from(nth == 0);
                all.push(rollout);
            }
        }
        all
    })
}

fn estimate(kind: &str, rollouts: &[Rollout]) -> Result<Advantages, TrainerError> {
    let given = SETTINGS.iter().find(|(of, _)| *of == kind).map_or("", |(_, settings)| settings);
    let config: AdvantageConfig = toml::from_str(&format!("kind = \"{kind}\"\n{given}")).unwrap();
    let groups = Groups::by_key(rollouts.iter().map(|rollout| rollout.group));
    let rewards: Vec<f64> = rollouts.iter().map(|rollout| rollout.reward).collect();
    let values: Vec<f64> = rollouts.iter().map(|rollout| rollout.value).collect();
    let starts: Vec<usize> = rollouts.iter().map(|rollout| rollout.start).collect();
    let roles: Vec<String> = rollouts.iter().map(|rollout| rollout.role.clone()).collect();
    let prompts: Vec<String> = rollouts.iter().map(|rollout| rollout.group.to_string()).collect();
    let mask: Ragged<bool> = rollouts.iter().map(|rollout| rollout.mask.clone()).collect();
    let tokens: Ragged<f64> = rollouts.iter().map(|rollout| rollout.tokens.clone()).collect();
    let steps: Ragged<StepReward> = rollouts.iter().map(|rollout| rollout.steps.clone()).collect();
    let tags = steps.map(|step| if step.end % 2 == 0 { "plan" } else { "act" }.to_owned());
    let squared = tokens.map(|_| 0.5);
    let parts = [
        RewardPart { name: "reward", weight: 1.0, rewards: &rewards },
        RewardPart { name: "value", weight: 0.5, rewards: &values },
    ];
    let kept = BTreeMap::from([("0".to_owned(), vec![1.0, 4.0, 0.5, 1.0])]);
    let state = EstimatorState(if kind == "dcpo" { kept } else { BTreeMap::new() });
    let policy = PolicyTokens { log_probs: &tokens, sum_pi_squared: &squared, weights: None };
    let batch = RewardBatch {
        parts: &parts,
        mask: Some(&mask),
        token_rewards: Some(&tokens),
        token_values: Some(&tokens),
        policy: Some(policy),
        steps: Some(&steps),
        step_tags: Some(&tags),
        starts: Some(&starts),
        roles: Some(&roles),
        prompts: Some(&prompts),
        values: Some(&values),
        state: Some(&state),
        ..RewardBatch::new(&groups, &rewards)?
    };
    config.build()?.estimate(&batch)
}

/// The advantages of each rollout: one number, or one for each token.
fn by_rollout(advantages: Advantages) -> Vec<Vec<f64>> {
    match advantages.values {
        AdvantageValues::Rollouts(values) => values.into_iter().map(|value| vec![value]).collect(),
        AdvantageValues::Tokens(tokens) => tokens.iter().map(<[f64]>::to_vec).collect(),
    }
}

fn bits(values: &[f64]) -> Vec<u64> {
    values.iter().map(|value| value.to_bits()).collect()
}

fn kinds() -> impl Iterator<Item = &'static str> {
    advantages::ALL.iter().map(|info| info.kind).chain(FORMULAS)
}

/// Kinds that are recipes.
const FORMULAS: [&str; 15] = assay_verifiers::words::list(
    "asymre cm2 dr_grpo fspo gpg grpo_mr maxrl opmd opo r3l rloo scope spark stable_reinforce v0.5",
);

proptest! {
    #[test]
    fn the_order_of_groups_changes_no_bit(rollouts in batch(), turn in 0..8_usize) {
        let last = rollouts.last().unwrap().group;
        let mut order: Vec<usize> = (0..rollouts.len()).collect();
        order.sort_by_key(|at| (rollouts[*at].group + turn) % (last + 1));
        let moved: Vec<Rollout> = order.iter().map(|at| rollouts[*at].clone()).collect();
        for kind in kinds() {
            let (here, there) = (estimate(kind, &rollouts).unwrap(), estimate(kind, &moved).unwrap());
            prop_assert_eq!(here.report, there.report);
            prop_assert_eq!(&here.state, &there.state);
            let (here, there) = (by_rollout(here), by_rollout(there));
            for (to, from) in order.iter().enumerate() {
                prop_assert_eq!(bits(&here[*from]), bits(&there[to]), "{}", kind);
            }
        }
    }

    #[test]
    fn the_order_within_groups_changes_a_rounding(rollouts in batch(), seed in 0..1000_usize) {
        let mut order: Vec<usize> = (0..rollouts.len()).collect();
        order.sort_by_key(|at| (rollouts[*at].group, (at + 1) * (seed + 7) % 11));
        let moved: Vec<Rollout> = order.iter().map(|at| rollouts[*at].clone()).collect();
        for kind in kinds().filter(|kind| *kind != PAIRED) {
            let (here, there) = (estimate(kind, &rollouts).unwrap(), estimate(kind, &moved).unwrap());
            prop_assert_eq!(here.report, there.report);
            let (here, there) = (by_rollout(here), by_rollout(there));
            for (to, from) in order.iter().enumerate() {
                for (one, other) in here[*from].iter().zip(&there[to]) {
                    let apart = (one - other).abs() / one.abs().max(1.0);
                    prop_assert!(apart <= 1e-12, "{}: {} and {}", kind, one, other);
                }
            }
        }
    }

    #[test]
    fn a_missing_reward_is_in_no_statistic(rollouts in batch(), extra in rollout()) {
        let missing = Rollout { reward: f64::NAN, role: "white".to_owned(), ..extra };
        let more: Vec<Rollout> = rollouts.iter().cloned().chain([missing]).collect();
        for kind in kinds().filter(|kind| *kind != PAIRED) {
            let (here, there) = (estimate(kind, &rollouts).unwrap(), estimate(kind, &more).unwrap());
            prop_assert_eq!(here.report.missing + 1, there.report.missing);
            let (here, mut there) = (by_rollout(here), by_rollout(there));
            prop_assert!(there.pop().unwrap().iter().all(|value| *value == 0.0), "{}", kind);
            for (one, other) in here.iter().zip(&there) {
                prop_assert_eq!(bits(one), bits(other), "{}", kind);
            }
        }
    }

    #[test]
    fn numbers_of_any_size_give_numbers(mut rollouts in batch(), exponent in -320..308_i32) {
        let scale = 10.0_f64.powi(exponent);
        for rollout in &mut rollouts {
            rollout.reward *= scale;
        }
        for kind in kinds() {
            // Beyond the range, an error says so.
            if let Ok(advantages) = estimate(kind, &rollouts) {
                let values = by_rollout(advantages).concat();
                prop_assert!(values.iter().all(|value| value.is_finite()), "{}: {:?}", kind, values);
            } else {
                prop_assert!(exponent > 100, "{}", kind);
            }
        }
    }

    #[test]
    fn a_constant_on_all_rewards_changes_nothing(rollouts in batch(), shift in -5.0..5.0_f64) {
        let shifted = |rollout: &Rollout| Rollout { reward: rollout.reward + shift, ..rollout.clone() };
        let moved: Vec<Rollout> = rollouts.iter().map(shifted).collect();
        for kind in ["grpo", "dr_grpo", "rloo", "opo", "pass_at_k", "gdpo", "stable_reinforce"] {
            let (here, there) = (estimate(kind, &rollouts).unwrap(), estimate(kind, &moved).unwrap());
            let (here, there) = (by_rollout(here).concat(), by_rollout(there).concat());
            for (one, other) in here.iter().zip(&there) {
                // Rewards that are nearly equal lose digits to the shift.
                prop_assert!((one - other).abs() < 1e-6, "{}: {} and {}", kind, one, other);
            }
        }
    }

    #[test]
    fn equal_rewards_have_exactly_no_advantage(mut rollouts in batch(), reward in -10.0..10.0_f64) {
        for rollout in &mut rollouts {
            rollout.reward = reward;
            rollout.value = 0.1;
            rollout.tokens.fill(0.0);
            for step in &mut rollout.steps {
                step.reward = reward;
            }
        }
        let alike = [
            "cm2", "dcpo", "dr_grpo", "fspo", "gdpo", "gpg", "grpo", "grpo_mr", "maxrl", "opmd", "opo",
            "pass_at_k", "process", "reinforce_plus_plus", "reinforce_plus_plus_baseline", "rloo",
            "scope", "spark", "stable_reinforce", "stcr",
        ];
        for kind in alike {
            let first = if kind == "dcpo" { rollouts.iter().position(|r| r.group == 1) } else { Some(0) };
            // The state of "dcpo" has other rewards of the first prompt.
            let Some(first) = first else { continue };
            let values = by_rollout(estimate(kind, &rollouts).unwrap()).split_off(first).concat();
            prop_assert!(values.iter().all(|value| *value == 0.0), "{}: {:?}", kind, values);
        }
    }
}

#[test]
fn an_infinite_reward_is_an_error() {
    let mut rollouts = vec![example(0, 1.0), example(0, 0.0), example(1, 1.0), example(1, 0.0)];
    for kind in kinds() {
        for reward in [f64::INFINITY, f64::NEG_INFINITY] {
            rollouts[2].reward = reward;
            match estimate(kind, &rollouts) {
                Err(error) => assert!(error.to_string().contains("row 2"), "{kind}: {error}"),
                Ok(advantages) => panic!("{kind}: {advantages:?}"),
            }
        }
    }
}

#[test]
fn threads_change_no_bit() {
    let rewards: Vec<f64> =
        (0..200_000_u32).map(|at| f64::from(at.wrapping_mul(2_654_435_761) >> 8) / 1e5).collect();
    let groups = Groups::of_size(rewards.len(), 16).unwrap();
    let batch = RewardBatch::new(&groups, &rewards).unwrap();
    for text in ["kind = \"grpo\"", "kind = \"rloo\"\nnormalize = \"batch\"", "kind = \"gpg\""] {
        let config: AdvantageConfig = toml::from_str(text).unwrap();
        let estimator = config.build().unwrap();
        let values = |threads: usize| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            let advantages = pool.install(|| estimator.estimate(&batch)).unwrap();
            bits(&by_rollout(advantages).concat())
        };
        assert_eq!(values(1), values(3), "{text}");
        let mut out = vec![f64::NAN; rewards.len()];
        let report = estimator.estimate_into(&batch, &mut out).unwrap();
        assert_eq!((bits(&out), report.groups), (values(1), rewards.len() / 16));
    }
}

fn example(group: usize, reward: f64) -> Rollout {
    let steps = vec![StepReward::new(1, 0.5), StepReward::new(2, 1.0)];
    Rollout {
        group,
        reward,
        mask: vec![true, true],
        tokens: vec![-0.5, -0.25],
        steps,
        role: if reward == 0.0 { "black" } else { "white" }.to_owned(),
        start: 0,
        value: 0.5,
    }
}
