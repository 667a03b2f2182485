//! Schedules of comparisons, and the scores that follow from their results.

use std::collections::BTreeSet;

use assay_rubrics::compare::scores::{Davidson, Elo, mean_strength, win_rate};
use assay_rubrics::compare::{
    OnFlip, OrderedResult, PairResult, PairSchedule, Tournament, both_orders, order_effects,
    transitivity,
};
use proptest::prelude::*;
use serde::Deserialize;

use crate::fixtures;

/// Plays a tournament with a judge; the results.
fn play(
    tournament: &mut Tournament,
    judge: impl Fn(usize, usize) -> Option<f64>,
) -> Vec<PairResult> {
    let mut all = Vec::new();
    let mut round = tournament.next_round(&[]);
    while !round.is_empty() {
        let judged = |&(first, second): &(usize, usize)| {
            let strength = judge(first, second);
            PairResult { first, second, strength }
        };
        let results: Vec<PairResult> = round.iter().map(judged).collect();
        round = tournament.next_round(&results);
        all.extend(results);
    }
    all
}

#[expect(clippy::unnecessary_wraps, reason = "a judge may fail")]
fn higher(first: usize, second: usize) -> Option<f64> {
    Some(if first > second { 1.0 } else { -1.0 })
}

fn schedules() -> impl Strategy<Value = PairSchedule> {
    prop_oneof![
        Just(PairSchedule::AllPairs),
        Just(PairSchedule::Knockout),
        (0..12_usize).prop_map(PairSchedule::Pivot),
        (0..5_usize).prop_map(PairSchedule::Swiss),
        (0..12_usize).prop_map(PairSchedule::Sampled),
    ]
}

proptest! {
    #[test]
    fn the_calls_are_known_before(schedule in schedules(), samples in 0..12_usize, seed: u64) {
        let results = play(&mut schedule.start(samples, seed), higher);
        prop_assert_eq!(results.len(), schedule.calls(samples, false));
        prop_assert_eq!(2 * results.len(), schedule.calls(samples, true));
        prop_assert!(results.iter().all(|one| one.first != one.second));
        prop_assert!(results.iter().all(|one| one.first < samples && one.second < samples));
        prop_assert_eq!(&results, &play(&mut schedule.start(samples, seed), higher));
        let failed = play(&mut schedule.start(samples, seed), |_, _| None);
        prop_assert_eq!(failed.len(), results.len());
    }

    #[test]
    fn each_sample_meets_as_many_as_asked(samples in 2..20_usize, opponents in 1..20_usize, seed: u64) {
        let results = play(&mut PairSchedule::Sampled(opponents).start(samples, seed), higher);
        let pairs: BTreeSet<(usize, usize)> = results
            .iter()
            .map(|one| (one.first.min(one.second), one.first.max(one.second)))
            .collect();
        prop_assert_eq!(pairs.len(), results.len());
        for sample in 0..samples {
            let met = pairs.iter().filter(|(a, b)| *a == sample || *b == sample).count();
            prop_assert!(met >= opponents.min(samples - 1) && met <= opponents + 1);
        }
    }

    #[test]
    fn the_best_wins_a_knockout(samples in 1..20_usize, seed: u64) {
        let mut tournament = PairSchedule::Knockout.start(samples, seed);
        play(&mut tournament, higher);
        let Tournament::Knockout(knockout) = tournament else { panic!() };
        let mut places: Vec<usize> = knockout.placement(samples).into_iter().map(Option::unwrap).collect();
        prop_assert_eq!(places[samples - 1], 1);
        places.sort_unstable();
        prop_assert!(places.iter().enumerate().all(|(at, place)| *place <= at + 1));
    }

    #[test]
    fn the_best_leads_a_swiss_tournament(samples in 2..20_usize, seed: u64) {
        let rounds = 5;
        let mut tournament = PairSchedule::Swiss(rounds).start(samples, seed);
        play(&mut tournament, higher);
        let Tournament::Swiss(swiss) = tournament else { panic!() };
        let standings = swiss.standings();
        prop_assert_eq!(standings.len(), samples);
        let best = standings.iter().find(|one| one.sample == samples - 1).unwrap();
        prop_assert!((best.points - 5.0).abs() < 1e-12);
        prop_assert!(standings.windows(2).all(|two| two[0].points >= two[1].points));
        let total: f64 = standings.iter().map(|one| one.points).sum();
        prop_assert!((total - 5.0 * f64::from(u32::try_from(samples.div_ceil(2)).unwrap())).abs() < 1e-9);
    }

    #[test]
    fn scores_follow_the_samples(results in results(6), turn in 0..6_usize) {
        // Renaming the samples renames the scores; turning pairs changes nothing.
        let renamed: Vec<PairResult> = results
            .iter()
            .map(|one| PairResult {
                first: (one.second + turn) % 6,
                second: (one.first + turn) % 6,
                strength: one.strength.map(|strength| -strength),
            })
            .collect();
        let near = |a: Option<f64>, b: Option<f64>| match (a, b) {
            (Some(a), Some(b)) => (a - b).abs() < 1e-7,
            (a, b) => a == b,
        };
        // Samples that are far apart take many steps.
        let davidson = Davidson { steps_max: 1_000_000, ..Davidson::default() };
        let fit = |results: &[PairResult]| davidson.fit(6, results).unwrap();
        let (ours, theirs) = (fit(&results), fit(&renamed));
        prop_assert!(ours.converged, "{:?}", ours);
        for at in 0..6 {
            let to = (at + turn) % 6;
            prop_assert!(near(mean_strength(6, &results)[at], mean_strength(6, &renamed)[to]));
            prop_assert!(near(win_rate(6, &results)[at], win_rate(6, &renamed)[to]));
            prop_assert!(ours.log_worths[at].is_finite());
            prop_assert!(near(Some(ours.log_worths[at]), Some(theirs.log_worths[to])));
        }
        let ratings = Elo::default().ratings(6, &results);
        prop_assert!((ratings.iter().sum::<f64>() - 6000.0).abs() < 1e-6);
        prop_assert!(mean_strength(6, &results).iter().flatten().all(|one| (-3.0..=3.0).contains(one)));
        prop_assert!(win_rate(6, &results).iter().flatten().all(|one| (0.0..=1.0).contains(one)));
        let found = transitivity(6, &results);
        prop_assert!(found.cycles <= found.triples && found.triples <= 20);
    }

    #[test]
    fn hostile_results_are_skipped(first: usize, second: usize, strength: f64) {
        let results = [PairResult { first, second, strength: Some(strength) }, PairResult::new(0, 1, 1.0)];
        let fit = Davidson::default().fit(2, &results).unwrap();
        prop_assert!(fit.log_worths.iter().all(|log| log.is_finite()));
        prop_assert!(Elo::default().ratings(2, &results).iter().all(|rating| rating.is_finite()));
    }
}

fn results(samples: usize) -> impl Strategy<Value = Vec<PairResult>> {
    let one = (0..samples, 0..samples, prop::option::of(-3_i8..=3))
        .prop_map(|(first, second, by)| PairResult { first, second, strength: by.map(f64::from) });
    prop::collection::vec(one, 0..25)
}

#[test]
fn both_orders_agree_or_they_do_not() {
    // Both strengths are for what is shown first.
    for (shown, swapped, tie, abstain, average) in [
        (Some(1.0), Some(-3.0), Some(2.0), Some(2.0), Some(2.0)),
        (Some(1.0), Some(1.0), Some(0.0), None, Some(0.0)),
        (Some(3.0), Some(0.0), Some(0.0), None, Some(1.5)),
        (Some(0.0), Some(0.0), Some(0.0), Some(0.0), Some(0.0)),
        (Some(1.0), None, None, None, None),
        (Some(f64::NAN), Some(1.0), None, None, None),
    ] {
        assert_eq!(both_orders(shown, swapped, OnFlip::Tie), tie);
        assert_eq!(both_orders(shown, swapped, OnFlip::Abstain), abstain);
        assert_eq!(both_orders(shown, swapped, OnFlip::Average), average);
    }
}

#[test]
fn failed_comparisons_are_not_zeros() {
    let results =
        [PairResult::new(0, 1, 2.0), PairResult::missing(0, 2), PairResult::new(1, 2, -1.0)];
    assert_eq!(mean_strength(4, &results), [Some(2.0), Some(-1.5), Some(1.0), None]);
    assert_eq!(win_rate(4, &results), [Some(1.0), Some(0.0), Some(1.0), None]);
}

#[test]
fn elo_follows_its_formula() {
    let results = [PairResult::new(0, 1, 1.0), PairResult::new(1, 0, 1.0)];
    let ratings = Elo::default().ratings(2, &results);
    let expected = 1.0 / (1.0 + 10.0_f64.powf((1016.0 - 984.0) / 400.0));
    assert!((ratings[1] - (984.0 + 32.0 * (1.0 - expected))).abs() < 1e-9);
}

#[test]
fn diagnostics_count_orders_and_cycles() {
    let pair = |shown, swapped| OrderedResult { first: 0, second: 1, shown, swapped };
    let effects = order_effects(&[
        pair(Some(1.0), Some(-1.0)),
        pair(Some(1.0), Some(2.0)),
        pair(Some(0.0), Some(-1.0)),
        pair(None, Some(1.0)),
    ]);
    assert_eq!((effects.decided, effects.first_shown_wins), (6, 4));
    assert_eq!((effects.pairs, effects.flips), (3, 2));
    let cycle =
        [PairResult::new(0, 1, 1.0), PairResult::new(1, 2, 1.0), PairResult::new(2, 0, 1.0)];
    let found = transitivity(4, &cycle);
    assert_eq!((found.triples, found.cycles, found.transitivity), (1, 1, Some(0.0)));
    let straight =
        [PairResult::new(0, 1, 1.0), PairResult::new(1, 2, 1.0), PairResult::new(0, 2, 1.0)];
    assert_eq!(transitivity(3, &straight).transitivity, Some(1.0));
    assert_eq!(transitivity(2, &straight).transitivity, None);
}

#[derive(Deserialize)]
struct Reference {
    davidson: Vec<Fitted>,
}

#[derive(Deserialize)]
struct Fitted {
    samples: usize,
    results: Vec<(usize, usize, f64)>,
    prior: f64,
    log_worths: Vec<f64>,
    tie: f64,
}

#[test]
fn worths_are_those_of_scipy() {
    let reference: Reference = serde_json::from_str(&fixtures::text("agreement.json")).unwrap();
    for case in reference.davidson {
        let results: Vec<PairResult> = case
            .results
            .iter()
            .map(|&(first, second, by)| PairResult::new(first, second, by))
            .collect();
        let settings = Davidson { prior: case.prior, ..Davidson::default() };
        let fit = settings.fit(case.samples, &results).unwrap();
        assert!(fit.converged, "{fit:?}");
        assert!((fit.tie - case.tie).abs() < 1e-5, "{} is not {}", fit.tie, case.tie);
        for (ours, theirs) in fit.log_worths.iter().zip(&case.log_worths) {
            assert!((ours - theirs).abs() < 1e-5, "{ours} is not {theirs}");
        }
    }
}

#[test]
fn ties_alone_and_wins_alone_stay_finite() {
    let ties = [PairResult::new(0, 1, 0.0), PairResult::new(1, 2, 0.0)];
    let fit = Davidson::default().fit(3, &ties).unwrap();
    assert!(
        fit.tie.is_finite() && fit.tie > 10.0 && fit.log_worths.iter().all(|log| log.abs() < 1e-6)
    );
    let wins = [PairResult::new(0, 1, 1.0); 50];
    let fit = Davidson::default().fit(3, &wins).unwrap();
    assert!(fit.converged && fit.tie == 0.0 && fit.log_worths[0] > fit.log_worths[1]);
    assert!(Davidson { prior: 0.0, ..Davidson::default() }.fit(2, &wins).is_none());
}
