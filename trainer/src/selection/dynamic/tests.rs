//! Dynamic sampling: its conventions, and a simulation of the training loop.

use std::collections::BTreeSet;

use proptest::prelude::*;
use serde_json::{Value, json};

use crate::groups::Groups;
use crate::selection::testing::{
    Columns, built, check_fates, dropped_rows, kept_rows, refused, replayed_ids,
};
use crate::selection::{DropReason, RolloutBatch, RolloutRequest, Selection, SelectionState};

const NAN: f64 = f64::NAN;

fn once(settings: Value, size: usize, rewards: &[f64]) -> Selection {
    Columns::new(size, rewards).select(&*built("dynamic", settings), &SelectionState::default())
}

fn asked(selection: &Selection) -> Vec<usize> {
    let prompts = selection.requests.iter().map(|request| match request {
        RolloutRequest::NewPrompts { prompts } => *prompts,
        RolloutRequest::MoreRollouts { .. } => panic!("{request:?}"),
    });
    prompts.collect()
}

#[test]
fn groups_whose_rewards_are_equal_are_dropped() {
    let rewards = [1.0, 0.0, 1.0, 1.0, 0.0, 0.0, 0.1, 0.1, NAN, 1.0, NAN, NAN];
    let chosen = once(json!({}), 2, &rewards);
    assert_eq!(kept_rows(&chosen), [0, 1]);
    let reasons: Vec<_> = chosen.reasons().into_iter().collect();
    let expected =
        [(DropReason::MissingReward, 3), (DropReason::Single, 1), (DropReason::LowVariance, 6)];
    assert_eq!(reasons, expected);
    assert!(chosen.ready && chosen.requests.is_empty() && chosen.state.steps == 1);
}

#[test]
fn each_library_has_its_own_test() {
    // The rewards of groups: all right, all half right, half of them right, nearly equal, one scored.
    let rewards = [1.0, 1.0, 0.5, 0.5, 1.0, 0.0, 0.5, 0.500_001, 0.5, NAN];
    for (settings, kept) in [
        (json!({"preset": "verl-0.9"}), vec![4, 5, 6, 7, 8]),
        (json!({"preset": "slime-2026-08"}), vec![4, 5]),
        (json!({"preset": "openrlhf-0.11"}), vec![2, 3, 4, 5, 6, 7, 8]),
        (json!({"by": "pass_rate", "pass_at": 1.0}), vec![4, 5]),
        (json!({"by": "mean", "between": [0.2, 0.5]}), vec![]),
    ] {
        let chosen = once(settings.clone(), 2, &rewards);
        let mut rows = kept_rows(&chosen);
        rows.extend(&chosen.held);
        assert_eq!(rows, kept, "{settings}");
    }
}

#[test]
fn groups_are_held_until_a_batch_is_full() {
    let hold = built("dynamic", json!({"batch_groups": 3, "surplus": "hold", "refill": "missing"}));
    let first = Columns::new(2, &[1.0, 0.0, 1.0, 1.0, 0.0, NAN]);
    let one = first.select(&*hold, &SelectionState::default());
    assert_eq!((one.ready, one.held.clone(), asked(&one)), (false, vec![0, 1], vec![2]));
    assert_eq!((kept_rows(&one), one.state.held[0].prompt.as_str()), (vec![], "1:0"));

    let mut second = Columns::new(2, &[0.0, 1.0, 1.0, 0.0, 0.0, 2.0]);
    second.ids = second.ids.iter().map(|id| format!("second {id}")).collect();
    let two = second.select(&*hold, &one.state);
    assert_eq!((two.ready, replayed_ids(&two)), (true, vec!["0-0", "0-1"]));
    assert_eq!((kept_rows(&two), two.held.clone()), (vec![0, 1, 2, 3], vec![4, 5]));
    assert_eq!(two.state.held[0].ids, ["second 2-0", "second 2-1"]);

    let drop = built("dynamic", json!({"batch_groups": 3, "surplus": "drop"}));
    let two = second.select(&*drop, &one.state);
    assert_eq!(dropped_rows(&two), [4, 5]);
    assert_eq!((two.reasons()[&DropReason::Surplus], two.state.held.len()), (2, 0));
}

#[test]
fn refills_are_those_of_the_libraries() {
    // Five groups, of which three say nothing; eight are wanted.
    let rewards = [1.0, 0.0, 1.0, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0];
    for (refill, prompts) in [("missing", 6), ("batch", 8), ("twice_dropped", 6)] {
        let chosen = once(json!({"batch_groups": 8, "refill": refill}), 2, &rewards);
        assert_eq!(asked(&chosen), [prompts], "{refill}");
    }
    // Twice the four dropped is more than a batch of three: the rest is asked for later.
    let twice = built("dynamic", json!({"batch_groups": 3, "refill": "twice_dropped"}));
    let dull = Columns::new(2, &[0.0; 8]);
    let one = dull.select(&*twice, &SelectionState::default());
    assert_eq!((asked(&one), one.state.number("refill_credit")), (vec![3], 5.0));
    let two = Columns::new(2, &[0.0, 0.0, 1.0, 0.0]).select(&*twice, &one.state);
    assert_eq!((asked(&two), two.state.number("refill_credit")), (vec![3], 4.0));
}

#[test]
fn a_limit_of_generation_batches_is_kept() {
    let settings =
        |on_limit| json!({"batch_groups": 2, "gen_batches_max": 2, "on_limit": on_limit});
    let columns = Columns::new(2, &[1.0, 0.0]);
    let dull = Columns::new(2, &[0.0, 0.0]);
    let train = built("dynamic", settings("train"));
    let one = columns.select(&*train, &SelectionState::default());
    let two = dull.select(&*train, &one.state);
    assert_eq!((two.ready, two.size(), two.state.number("gen_batches")), (true, 2.0, 0.0));

    let groups = Groups::of_size(2, 2).unwrap();
    let batch = RolloutBatch::new(&groups, &dull.rewards).unwrap();
    let error = built("dynamic", settings("fail")).select(&batch, &one.state).unwrap_err();
    assert_eq!(
        error.to_string(),
        "dynamic sampling: 1 groups after 2 generation batches, expected 2 groups"
    );
}

#[test]
fn wrong_settings_are_refused() {
    assert!(refused("dynamic", json!({"between": [1.0, 0.0]})).contains("lower one first"));
    assert!(refused("dynamic", json!({"batch_groups": 0})).contains("1 or more"));
    assert!(refused("dynamic", json!({"std_above": -1.0})).contains("-1"));
    assert!(refused("dynamic", json!({"stdabove": 1.0})).contains("stdabove"));
}

/// About a third of the prompts is always answered right (0), a third never (1).
fn difficulty(prompt: usize) -> usize {
    (prompt.wrapping_mul(2_654_435_761) >> 9) % 3
}

/// Samples groups of four from prompts of which each has its own difficulty, until `steps` batches
/// were trained. Returns the groups of each batch and how many prompts were sampled.
fn simulate(settings: Value, steps: usize) -> (Vec<Vec<String>>, usize) {
    let selector = built("dynamic", settings);
    let mut state = SelectionState::default();
    let (mut trained, mut prompts, mut wanted) = (Vec::new(), 0, 8);
    while trained.len() < steps {
        let rows = (prompts * 4..(prompts + wanted) * 4).collect::<Vec<usize>>();
        let reward = |row: &usize| match difficulty(row / 4) {
            0 => 1.0,
            1 => 0.0,
            _ => f64::from(u8::from(row.is_multiple_of(4))),
        };
        let rewards: Vec<f64> = rows.iter().map(reward).collect();
        let ids: Vec<String> = rows.iter().map(ToString::to_string).collect();
        let groups = Groups::of_size(rows.len(), 4).unwrap();
        let batch =
            RolloutBatch { ids: Some(&ids), ..RolloutBatch::new(&groups, &rewards).unwrap() };
        let chosen = selector.select(&batch, &state).unwrap();
        check_fates(&batch, &chosen);
        prompts += wanted;
        wanted = asked(&chosen).first().copied().unwrap_or(8);
        if chosen.ready {
            let old = chosen.replayed.iter().map(|replayed| replayed.id.clone());
            trained.push(old.chain(chosen.kept.iter().map(|kept| ids[kept.row].clone())).collect());
        }
        state = chosen.state;
    }
    (trained, prompts)
}

#[test]
fn every_training_batch_is_full_of_groups_that_teach() {
    let mut sampled = Vec::new();
    for surplus in ["drop", "hold"] {
        for refill in ["missing", "batch", "twice_dropped"] {
            let settings = json!({"batch_groups": 8, "surplus": surplus, "refill": refill});
            let (batches, prompts) = simulate(settings, 20);
            let mut seen = BTreeSet::new();
            for batch in &batches {
                assert_eq!(batch.len(), 32, "{surplus}, {refill}");
                for id in batch {
                    assert_eq!(difficulty(id.parse::<usize>().unwrap() / 4), 2);
                    assert!(seen.insert(id.clone()), "{id} was trained on twice");
                }
            }
            sampled.push((refill, surplus, prompts));
        }
    }
    // To hold what is too many never needs more prompts than to drop it.
    let prompts = |refill: &str, surplus: &str| {
        sampled.iter().find(|(r, s, _)| (*r, *s) == (refill, surplus)).unwrap().2
    };
    for refill in ["missing", "batch", "twice_dropped"] {
        assert!(prompts(refill, "hold") <= prompts(refill, "drop"), "{sampled:?}");
    }
    assert!(prompts("batch", "hold") < prompts("batch", "drop"), "{sampled:?}");
}

proptest! {
    #[test]
    fn the_order_of_groups_does_not_matter(
        rewards in prop::collection::vec(prop_oneof![Just(0.0), Just(1.0), Just(NAN)], 24),
        order in Just((0..6).collect::<Vec<usize>>()).prop_shuffle(),
    ) {
        let columns = Columns::new(4, &rewards);
        let selector = built("dynamic", json!({}));
        let turned = columns.in_order(&order);
        let chosen = columns.select(&*selector, &SelectionState::default());
        let other = turned.select(&*selector, &SelectionState::default());
        prop_assert_eq!(columns.kept_ids(&chosen), turned.kept_ids(&other));
    }
}
