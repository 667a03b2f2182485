//! Each policy in a toy of what it is for: what it selects has the effect that it is selected for.

use serde_json::{Value, json};

use crate::groups::Groups;
use crate::selection::draws::Draws;
use crate::selection::prelude::*;
use crate::selection::rollouts::Attempt;
use crate::selection::testing::{Columns, built, kept_rows};

/// Chances that come out the same every time.
fn chance(seed: u64, name: &str) -> f64 {
    Draws::new(&SelectionState::seeded(seed), "simulation").of(name)
}

/// Rollouts of prompts that are answered right with the given probabilities.
fn sampled(seed: u64, rates: &[f64], size: usize) -> Vec<f64> {
    let one = |group: usize, member: usize| {
        f64::from(u8::from(chance(seed, &format!("{group} {member}")) < rates[group]))
    };
    (0..rates.len()).flat_map(|group| (0..size).map(move |member| one(group, member))).collect()
}

fn fresh(kind: &str, settings: Value) -> (Box<dyn Selector>, SelectionState) {
    (built(kind, settings), SelectionState::seeded(1))
}

fn share(count: usize, of: usize) -> f64 {
    stats::float(count) / stats::float(of)
}

#[test]
fn a_band_of_pass_rates_spends_rollouts_where_rewards_differ() {
    let rates: Vec<f64> = (0..64).map(|prompt| chance(1, &prompt.to_string())).collect();
    let rewards = sampled(2, &rates, 4);
    let groups = Groups::of_size(256, 4).unwrap();
    let batch =
        RolloutBatch { pass_rates: Some(&rates), ..RolloutBatch::new(&groups, &rewards).unwrap() };
    let (band, state) = fresh("band", json!({"of": "pass_rate", "min": 0.2, "max": 0.8}));
    let kept = kept_rows(&band.select(&batch, &state).unwrap());
    let differs = |group: &usize| stats::std(&rewards[group * 4..][..4], Std::Unbiased) > 0.0;
    let of_all = share((0..64).filter(differs).count(), 64);
    let kept_groups: Vec<usize> = kept.iter().step_by(4).map(|row| row / 4).collect();
    let of_kept =
        share(kept_groups.iter().filter(|group| differs(group)).count(), kept_groups.len());
    assert!(of_kept > of_all + 0.1, "{of_kept} and {of_all}");
    assert!((20..60).contains(&kept_groups.len()), "{}", kept_groups.len());
}

#[test]
fn selective_replay_keeps_batches_full_while_advantages_vanish() {
    // The policy gets better, until nearly every group is always right.
    let (selector, mut state) = fresh("ssr", json!({"capacity": 64}));
    let (mut plain, mut replayed) = (0.0, 0.0);
    for step in 0..40_u32 {
        let rate = 0.5 + f64::from(step) / 80.0;
        let mut columns = Columns::new(8, &sampled(u64::from(step), &[rate; 8], 8));
        columns.ids = columns.ids.iter().map(|id| format!("{step} {id}")).collect();
        let chosen = columns.select(&*selector, &state);
        assert!(chosen.size() <= 64.0);
        plain += share(chosen.kept.len(), 64);
        replayed += chosen.size() / 64.0;
        state = chosen.state;
    }
    assert!(plain < 36.0 && replayed > 38.0, "{plain} and {replayed} of 40 batches");
}

#[test]
fn cut_rollouts_that_were_lucky_are_not_learned_from() {
    // One in four is cut; a cut one that counts as right is so by luck.
    let rewards = sampled(3, &[0.5; 16], 8);
    let mut columns = Columns::new(8, &rewards);
    columns.truncated = (0..128).map(|row| chance(4, &row.to_string()) < 0.25).collect();
    let (selector, state) = fresh("length_cap", json!({}));
    let chosen = columns.select(&*selector, &state);
    let lucky = |row: &usize| columns.truncated[*row] && columns.advantages[*row] > 0.0;
    assert!((0..128).filter(lucky).count() > 8);
    assert_eq!(kept_rows(&chosen).iter().filter(|row| lucky(row)).count(), 0);
    assert!(kept_rows(&chosen).iter().any(|row| columns.truncated[*row]), "wrong ones stay");
}

#[test]
fn agents_that_are_undecided_are_updated_more_often() {
    // Rewards of agents spread by 0.1, 0.3, 0.6 and 1.
    let spreads = [0.1, 0.3, 0.6, 1.0];
    let (selector, mut state) = fresh("joyagents", json!({"k": 1, "memory": 16}));
    let mut updates = [0; 4];
    for step in 0..100 {
        let reward = |agent: usize, member: usize| {
            0.5 + spreads[agent] * (chance(step, &format!("{agent} {member}")) - 0.5)
        };
        let rewards: Vec<f64> = (0..32).map(|row| reward(row / 8, row % 8)).collect();
        let chosen = Columns::new(8, &rewards).select(&*selector, &state);
        updates[kept_rows(&chosen)[0] / 8] += 1;
        assert!(chosen.state.buffer.len() <= 16);
        state = chosen.state;
    }
    assert!(updates[3] > 90 && updates.is_sorted(), "{updates:?}");
}

#[test]
fn right_answers_of_flawed_reasoning_are_filtered() {
    // Three in ten right answers are flawed; their steps are rated near 0.35, those of others near 0.7.
    let rewards = sampled(5, &[0.6; 64], 8);
    let is_flawed = |row: usize| rewards[row] > 0.0 && chance(6, &row.to_string()) < 0.3;
    let mut columns = Columns::new(8, &rewards);
    let rated = |row: usize| {
        let centre = if is_flawed(row) || rewards[row] < 0.5 { 0.35 } else { 0.7 };
        centre + 0.4 * (chance(7, &row.to_string()) - 0.5)
    };
    columns.step_means = (0..512).map(rated).collect();
    let (selector, state) = fresh("prof", json!({}));
    let kept = kept_rows(&columns.select(&*selector, &state));
    let flawed = |rows: &[usize]| {
        let right: Vec<usize> = rows.iter().copied().filter(|row| rewards[*row] > 0.0).collect();
        share(right.iter().filter(|row| is_flawed(**row)).count(), right.len())
    };
    let (before, after) = (flawed(&(0..512).collect::<Vec<_>>()), flawed(&kept));
    assert!(after * 3.0 < before, "{after} and {before}");
    let right = kept.iter().filter(|row| rewards[**row] > 0.0).count();
    assert!((share(right, kept.len()) - 0.5).abs() < 0.05, "as many right as wrong ones");
}

#[test]
fn prompts_that_are_learned_like_the_others_are_kept() {
    // Twenty prompts are learned over the epochs, ten are solved from the start, ten never are.
    let learned = |prompt: usize, epoch: usize| {
        let noise = 0.1 * (chance(8, &format!("{prompt} {epoch}")) - 0.5);
        (stats::float(epoch) / 20.0 + noise).clamp(0.0, 1.0)
    };
    let curve = |prompt: usize| -> Vec<f64> {
        let at = |epoch| match prompt {
            0..20 => learned(prompt, epoch),
            20..30 => 1.0,
            _ => 0.0,
        };
        (1..=20).map(at).collect()
    };
    let curves: Ragged<f64> = (0..40).map(curve).collect();
    let groups = Groups::of_size(40, 1).unwrap();
    let rewards = [0.0; 40];
    let batch =
        RolloutBatch { curves: Some(&curves), ..RolloutBatch::new(&groups, &rewards).unwrap() };
    let (selector, state) = fresh("limr", json!({}));
    let kept = kept_rows(&selector.select(&batch, &state).unwrap());
    assert_eq!(kept, (0..20).collect::<Vec<_>>());
}

#[test]
fn retries_train_their_own_part_alone() {
    // Tries of 100 tokens are right in three of ten; a retry leaves at a token of its own and is right in
    // seven of ten.
    let groups = Groups::of_size(400, 2).unwrap();
    let right =
        |row: usize| chance(9, &row.to_string()) < if row.is_multiple_of(2) { 0.3 } else { 0.7 };
    let rewards: Vec<f64> = (0..400).map(|row| f64::from(u8::from(right(row)))).collect();
    let attempt = |row: usize| {
        if row.is_multiple_of(2) {
            return Attempt::default();
        }
        let pivot = stats::floored(100.0 * chance(10, &row.to_string()));
        Attempt { retry_of: Some(row - 1), pivot, pivot_of_first: pivot, ..Attempt::default() }
    };
    let attempts: Vec<Attempt> = (0..400).map(attempt).collect();
    let steps = [5; 400];
    let batch = RolloutBatch {
        attempts: Some(&attempts),
        step_counts: Some(&steps),
        ..RolloutBatch::new(&groups, &rewards).unwrap()
    };
    let (selector, state) = fresh("r3l", json!({}));
    let chosen = selector.select(&batch, &state).unwrap();
    let trained: usize = chosen.kept.iter().map(|kept| 100 - kept.from_token).sum();
    assert!(trained < 400 * 100 * 6 / 10, "{trained} of 40000 tokens");
    for (first, second) in chosen.kept.iter().zip(&chosen.kept[1..]).step_by(2) {
        assert_eq!(first.from_token, second.from_token);
    }
    let rescued = (0..400).step_by(2).filter(|first| !right(*first) && right(first + 1)).count();
    assert!(rescued > 50);
    assert_eq!(chosen.stored.len(), 2 * rescued, "a reflection and a retry each");
}

#[test]
fn contrasts_prefer_short_right_answers() {
    let rewards = sampled(11, &[0.5; 64], 8);
    let mut columns = Columns::new(8, &rewards);
    columns.lengths =
        (0..512).map(|row| stats::floored(100.0 + 400.0 * chance(12, &row.to_string()))).collect();
    let (selector, state) = fresh("dcpo", json!({}));
    let chosen = columns.select(&*selector, &state);
    let mean = |rows: Vec<usize>| {
        stats::mean(&rows.iter().map(|row| stats::float(columns.lengths[*row])).collect::<Vec<_>>())
    };
    let kept = kept_rows(&chosen).into_iter().filter(|row| rewards[*row] > 0.0).collect();
    let all = (0..512).filter(|row| rewards[*row] > 0.0).collect();
    let (kept, all) = (mean(kept), mean(all));
    assert!(kept * 10.0 < all * 8.0, "{kept} and {all} tokens");
    let ordered =
        |pair: &&crate::selection::RolloutPair| rewards[pair.chosen] >= rewards[pair.rejected];
    assert_eq!(chosen.pairs.iter().filter(ordered).count(), chosen.pairs.len());
}

#[test]
fn prompts_that_are_noise_are_dropped_once_the_usual_spread_is_known() {
    // Every fourth prompt has rewards that differ by noise alone.
    let (selector, mut state) = fresh("std_filter", json!({}));
    for number in 1..=20_u64 {
        let reward = |row: usize| {
            let draw = chance(number, &row.to_string());
            if (row / 8).is_multiple_of(4) { 0.5 + 0.02 * draw } else { draw }
        };
        let rewards: Vec<f64> = (0..128).map(reward).collect();
        let chosen = Columns::new(8, &rewards).select(&*selector, &state);
        let noise = kept_rows(&chosen).iter().filter(|row| (*row / 8).is_multiple_of(4)).count();
        let others = chosen.kept.len() - noise;
        assert_eq!((noise, others), (if number < 11 { 32 } else { 0 }, 96), "batch {number}");
        state = chosen.state;
    }
}

/// Visits eight of 64 prompts a step until each is answered right in four of five times. A visit makes a prompt
/// easier only where some of its answers were wrong and some right. Returns the steps it took.
fn steps_to_learn(is_mined: bool) -> usize {
    let names: Vec<String> = (0..64).map(|prompt| format!("prompt {prompt}")).collect();
    let mut rates: Vec<f64> = (0..64).map(|prompt| if prompt < 48 { 1.0 } else { 0.3 }).collect();
    let (selector, mut state) = fresh("hard_mining", json!({}));
    let mut weights = vec![1.0; 64];
    for step in 0..4000_u64 {
        if rates.iter().all(|rate| *rate > 0.8) {
            return usize::try_from(step).unwrap();
        }
        let items: Vec<(&str, f64)> =
            names.iter().map(|name| &**name).zip(weights.clone()).collect();
        let draws = Draws::new(&SelectionState::seeded(step), "visits");
        let visited = draws.without_replacement(&items, 8);
        let now: Vec<f64> = visited.iter().map(|prompt| rates[*prompt]).collect();
        let rewards = sampled(step, &now, 8);
        let prompts: Vec<String> = visited.iter().map(|prompt| names[*prompt].clone()).collect();
        let groups = Groups::of_size(rewards.len(), 8).unwrap();
        let batch = RolloutBatch {
            prompts: Some(&prompts),
            ..RolloutBatch::new(&groups, &rewards).unwrap()
        };
        let chosen = selector.select(&batch, &state).unwrap();
        for (at, prompt) in visited.iter().enumerate() {
            if stats::range(&rewards[at * 8..][..8]) > 0.0 {
                rates[*prompt] += 0.05;
            }
            if is_mined {
                weights[*prompt] = chosen.prompt_weights[&names[*prompt]];
            }
        }
        state = chosen.state;
    }
    panic!("nothing is learned");
}

#[test]
fn hard_prompts_are_learned_sooner_where_they_are_sampled_more_often() {
    let (mined, uniform) = (steps_to_learn(true), steps_to_learn(false));
    assert!(mined * 2 < uniform, "{mined} and {uniform} steps");
}

#[test]
fn pairs_are_as_far_apart_as_is_asked() {
    let rewards: Vec<f64> = (0..512).map(|row| chance(13, &row.to_string())).collect();
    let columns = Columns::new(8, &rewards);
    let (selector, state) = fresh("pairs", json!({"gap_above": 0.8}));
    let chosen = columns.select(&*selector, &state);
    assert!((5..64).contains(&chosen.pairs.len()), "{}", chosen.pairs.len());
    for pair in &chosen.pairs {
        assert_eq!(pair.chosen / 8, pair.rejected / 8);
        let group = &rewards[pair.chosen / 8 * 8..][..8];
        assert!(group.iter().all(|r| rewards[pair.rejected] <= *r && *r <= rewards[pair.chosen]));
        assert!(rewards[pair.chosen] - rewards[pair.rejected] > 0.8);
    }
}
