//! `EFRame`: its rules by hand, and a simulation of exploration and replay.

use std::collections::BTreeSet;

use serde_json::json;

use crate::groups::Groups;
use crate::selection::testing::{Columns, built, check_fates, kept_rows, refused, replayed_ids};
use crate::selection::{DropReason, RolloutBatch, RolloutRequest, SelectionState};

#[test]
fn hard_prompts_get_more_rollouts() {
    let mut columns =
        Columns::new(4, &[0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0, 1.0, 1.0, 1.0]);
    columns.truncated = vec![false; 12];
    let selector = built("eframe", json!({}));
    let chosen = columns.select(&*selector, &SelectionState::default());
    // Advantages of the second group: 0.75 / 0.5 = 1.5 and -0.25 / 0.5 = -0.5.
    assert_eq!(kept_rows(&chosen), [4, 5, 6, 7]);
    assert_eq!(chosen.reasons()[&DropReason::SmallAdvantage], 8);
    let prompt = "1:0".to_owned();
    let more = RolloutRequest::MoreRollouts { group: 0, prompt, rollouts: 20, temperature: 1.2 };
    assert_eq!(chosen.requests, [more]);
    let stored: Vec<usize> = chosen.stored.iter().map(|stored| stored.row).collect();
    assert_eq!(stored, [4], "only its advantage is above 1");
}

#[test]
fn what_has_no_reward_says_nothing_of_a_prompt() {
    let mut columns = Columns::new(2, &[0.0, f64::NAN, f64::NAN, f64::NAN]);
    columns.truncated = vec![false; 4];
    let chosen = columns.select(&*built("eframe", json!({})), &SelectionState::default());
    assert_eq!((kept_rows(&chosen), chosen.requests.len()), (vec![], 1));
    assert_eq!(chosen.reasons()[&DropReason::MissingReward], 3);
}

#[test]
fn extra_rollouts_need_a_great_advantage() {
    let groups = Groups::of_size(5, 5).unwrap();
    let rewards = [1.0, 0.0, 0.0, 0.0, 0.0];
    let advantages = [1.78, -0.44, -0.44, -1.0, 1.2];
    let truncated = [false, false, false, false, true];
    let mut batch = RolloutBatch::new(&groups, &rewards).unwrap();
    batch.advantages = Some(&advantages);
    batch.truncated = Some(&truncated);
    batch.extra = Some(&[true; 5]);
    let state = SelectionState { steps: 5, ..SelectionState::default() };
    let chosen = built("eframe", json!({"capacity": 8})).select(&batch, &state).unwrap();
    check_fates(&batch, &chosen);
    assert_eq!(kept_rows(&chosen), [0]);
    assert_eq!(chosen.reasons()[&DropReason::TruncatedPositive], 1);
    assert_eq!((chosen.state.steps, chosen.state.buffer.len()), (5, 1), "no step of its own");
    let keep = built("eframe", json!({"capacity": 8, "cut_positives": "keep"}));
    assert_eq!(kept_rows(&keep.select(&batch, &state).unwrap()), [0, 4]);
}

/// Steps of two groups of four, each with one right answer: two rollouts are stored a step.
fn replays(settings: serde_json::Value, steps: usize) -> Vec<(usize, usize, usize)> {
    let selector = built("eframe", settings);
    let mut state = SelectionState::default();
    let mut owned: BTreeSet<String> = BTreeSet::new();
    let mut seen = Vec::new();
    for step in 1..=steps {
        let mut columns = Columns::new(4, &[1.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0]);
        columns.truncated = vec![false; 8];
        columns.ids = columns.ids.iter().map(|id| format!("{step}/{id}")).collect();
        let chosen = columns.select(&*selector, &state);
        for id in replayed_ids(&chosen) {
            assert!(owned.contains(id), "{id} was not stored, or released before");
            assert!(!id.starts_with(&format!("{step}/")), "{id} is of this very step");
        }
        owned.extend(chosen.stored.iter().map(|stored| columns.ids[stored.row].clone()));
        for id in &chosen.released {
            assert!(owned.remove(id), "{id} was released and not stored");
        }
        assert_eq!(owned.len(), chosen.state.buffer.len(), "the caller keeps what is buffered");
        seen.push((chosen.replayed.len(), chosen.released.len(), owned.len()));
        state = chosen.state;
    }
    seen
}

#[test]
fn the_buffer_is_replayed_every_fifth_step() {
    // Two batches of eight are the capacity: the ninth step is the first to release two rollouts.
    let seen = replays(json!({}), 15);
    let replayed: Vec<usize> = seen.iter().map(|(replayed, _, _)| *replayed).collect();
    assert_eq!(replayed, [0, 0, 0, 0, 8, 0, 0, 0, 0, 16, 0, 0, 0, 0, 16]);
    assert_eq!((seen[7], seen[8]), ((0, 0, 16), (0, 2, 16)));

    let cleared = replays(json!({"after_replay": "clear"}), 10);
    assert_eq!((cleared[4], cleared[9]), ((8, 8, 2), (10, 10, 2)));

    // What is older than two steps has left: those of steps 3 and 4 are there in step 5.
    let young = replays(json!({"age_max": 2}), 5);
    assert_eq!(young[4].0, 4);
}

#[test]
fn exploration_finds_what_the_first_pass_missed() {
    // One prompt of twenty is right once in a hundred at first, once in ten at a higher temperature.
    let selector = built("eframe", json!({}));
    let mut state = SelectionState::default();
    let mut first = Columns::new(8, &[0.0; 160]);
    first.truncated = vec![false; 160];
    let chosen = first.select(&*selector, &state);
    assert_eq!((chosen.kept.len(), chosen.requests.len()), (0, 20));
    state = chosen.state;
    let RolloutRequest::MoreRollouts { rollouts, .. } = chosen.requests[3] else { panic!() };
    let rewards: Vec<f64> = (0..rollouts).map(|row| f64::from(u8::from(row % 10 == 0))).collect();
    let columns = Columns::new(rollouts, &rewards);
    let groups = Groups::of_size(rollouts, rollouts).unwrap();
    let batch = RolloutBatch {
        advantages: Some(&columns.advantages),
        extra: Some(&vec![true; rollouts]),
        ..RolloutBatch::new(&groups, &rewards).unwrap()
    };
    let explored = selector.select(&batch, &state).unwrap();
    assert_eq!(kept_rows(&explored), [0, 10], "the two right ones, and none of the wrong ones");
}

#[test]
fn wrong_settings_are_refused() {
    assert!(refused("eframe", json!({"replay_every": 0})).contains("1 or more"));
    assert!(refused("eframe", json!({"keep_above": -0.1})).contains("-0.1"));
    let groups = Groups::of_size(1, 1).unwrap();
    let batch = RolloutBatch::new(&groups, &[1.0]).unwrap();
    let error = built("eframe", json!({})).select(&batch, &SelectionState::default());
    assert!(error.unwrap_err().to_string().starts_with("advantages: not given"));
}
