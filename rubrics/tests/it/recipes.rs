//! Rewards of papers: their tables, and properties.

use std::collections::BTreeSet;

use assay_rubrics::compare::PairResult;
use assay_rubrics::recipes::bridging::{Bridging, BridgingRating, HelpfulStatus};
use assay_rubrics::recipes::capo::{Capo, StepVote, step_errors};
use assay_rubrics::recipes::crpo::{Crpo, CrpoParts};
use assay_rubrics::recipes::debate::{Debate, admitted, debate_winner, payoffs};
use assay_rubrics::recipes::hrm::Hrm;
use assay_rubrics::recipes::medix::{MedixParts, medix_reward};
use assay_rubrics::recipes::micro::HedgeRouter;
use assay_rubrics::recipes::mindora::inconsistency_reward;
use assay_rubrics::recipes::r1_reward::consistency_reward;
use assay_rubrics::recipes::rm_nlhf::{critique_f1, critique_reward};
use assay_rubrics::recipes::self_improving::pivot_win_rate;
use assay_rubrics::recipes::spark::{Spark, step_votes};
use assay_rubrics::recipes::spct::{best, meta_vote, rule_reward, single_rule_reward, vote};
use assay_rubrics::reply::pair::Winner;
use proptest::prelude::*;

fn assert_near(ours: Option<f64>, theirs: f64) {
    let ours = ours.unwrap();
    assert!((ours - theirs).abs() < 1e-9, "{ours} is not {theirs}");
}

#[test]
fn spct_asks_for_the_strictly_best() {
    assert_eq!(rule_reward(&[7.0, 7.0, 3.0], 0), Some(-1.0));
    assert_eq!(rule_reward(&[8.0, 7.0, 3.0], 0), Some(1.0));
    assert_eq!(rule_reward(&[8.0, 7.0], 2), None);
    assert_eq!(rule_reward(&[8.0], 0), None);
    assert_eq!(rule_reward(&[f64::NAN, 1.0], 0), Some(-1.0));
    assert!((single_rule_reward(7.0, 7.0) - 1.0).abs() < 1e-12);
}

#[test]
fn spct_sums_the_critiques_that_the_meta_model_keeps() {
    let critiques = [Some(vec![7.0, 3.0]), None, Some(vec![2.0, 9.0]), Some(vec![6.0, 5.0])];
    assert_eq!(vote(&critiques, 2), Some((vec![15.0, 17.0], 3)));
    let (sums, counted) = meta_vote(&critiques, &[0.9, 1.0, 0.1, 0.8], 2, None).unwrap();
    assert_eq!((sums.as_slice(), counted), ([13.0, 8.0].as_slice(), 2));
    assert_eq!(best(&sums), Some(0));
    assert_eq!(best(&[1.0, 1.0]), None);
    assert_eq!(vote(&[None, Some(vec![1.0])], 2), None);
}

#[test]
fn capo_has_the_table_of_the_paper() {
    let capo = Capo::default();
    assert_near(capo.reward(true, &[0.0, 0.0]), 2.0);
    assert_near(capo.reward(true, &[0.0, 1.0]), 1.0);
    assert_near(capo.reward(false, &[0.0]), 0.0);
    assert_near(capo.reward(false, &[1.0]), -1.0);
    assert_eq!(capo.step_credits(true, &[0.0, 1.0]), Some(vec![2.0, 1.0]));
    assert_eq!(capo.reward(true, &[f64::NAN]), None);
    let list = |steps: &[usize]| Some(steps.iter().copied().collect::<BTreeSet<usize>>());
    let critiques = [list(&[1]), list(&[1, 2]), None, list(&[0, 1])];
    let errors = |how| step_errors(&critiques, 3, how).unwrap();
    assert_eq!(errors(StepVote::Intersection), [0.0, 1.0, 0.0]);
    assert_eq!(errors(StepVote::Majority), [0.0, 1.0, 0.0]);
    assert_near(errors(StepVote::Average).first().copied(), 1.0 / 3.0);
    assert_eq!(step_errors(&[None], 3, StepVote::Majority), None);
}

#[test]
fn spark_joins_steps_and_verdict() {
    let steps = [Some(true), Some(true), Some(true), Some(true), Some(false)];
    assert_near(Spark::default().step_augmented(true, true, &steps), 0.92);
    assert_near(Spark::default().step_augmented(false, true, &steps), 0.0);
    assert_eq!(Spark::default().step_augmented(true, true, &[None]), None);
    assert!((Spark::process_aware(true, false)).abs() < 1e-12);
    assert!((Spark::selective_advantage(-0.5, false) + 0.5).abs() < 1e-12);
    assert!((Spark::selective_advantage(0.5, false)).abs() < 1e-12);
    assert!((Spark::default().mixed_advantage(1.0, 0.0) - 0.8).abs() < 1e-12);
    let voted = step_votes(&[
        vec![Some(true), None],
        vec![Some(true), Some(false), None],
        vec![Some(false), Some(true)],
    ]);
    assert_eq!(voted, [Some(true), None, None]);
}

#[test]
fn hrm_opens_a_gate_at_a_time() {
    let hrm = Hrm::default();
    assert_near(hrm.reward(false, None, None, None), 0.0);
    assert_near(hrm.reward(true, Some(0.5), None, None), 0.3);
    assert_near(hrm.reward(true, Some(1.0), Some(1.0), Some(0.5)), 0.95);
    assert_eq!(hrm.reward(true, Some(1.0), None, Some(1.0)), None);
    assert_eq!(hrm.reward(true, Some(1.5), None, None), None);
}

#[test]
fn a_debate_sums_to_zero() {
    let on_offer: BTreeSet<usize> = (0..5).collect();
    assert_eq!(admitted(&[1, 2, 1, 9, 3], &on_offer), [(0, 1), (1, 2), (4, 3)]);
    for (first, second, winner) in
        [(1.0, 0.5, Winner::First), (0.0, -0.0, Winner::Tie), (0.0, 1.0, Winner::Second)]
    {
        assert_eq!(debate_winner(first, second), Some(winner));
        let (own, other) = payoffs(winner);
        assert!((own + other).abs() < 1e-12);
    }
    assert_eq!(debate_winner(f64::NAN, 0.0), None);
    assert!((Debate::default().reward(1.0, Winner::Second) - 0.5).abs() < 1e-12);
}

#[test]
fn short_formulas_have_their_values() {
    assert_near(critique_f1(2, 4, 3), 4.0 / 7.0);
    assert_eq!(critique_f1(3, 2, 3), None);
    assert_eq!(critique_f1(0, 2, 0), None);
    assert_near(critique_reward(true, 0.5, 1.0), 1.5);
    assert_eq!(critique_reward(true, 1.5, 1.0), None);
    let parts = MedixParts { judged: Some(true), cosine: Some(0.9), modality: true, format: true };
    assert_near(medix_reward("pneumonia", &parts), 1.0);
    let judge_alone =
        MedixParts { judged: Some(true), cosine: Some(0.1), modality: false, format: false };
    assert_near(medix_reward("pneumonia", &judge_alone), 0.5175);
    assert_near(medix_reward("B", &parts), 0.145);
    assert_near(medix_reward("is it?", &MedixParts { judged: None, ..parts }), 0.145);
    assert_eq!(medix_reward("pneumonia", &MedixParts { judged: None, ..parts }), None);
    assert_near(inconsistency_reward(1.0, 0, true), 1.1);
    assert_near(inconsistency_reward(1.0, 1, false), 2.0 / 3.0);
    assert_near(inconsistency_reward(1.0, 9, true), 0.1);
    assert_near(inconsistency_reward(0.0, 0, true), 0.0);
    assert_near(consistency_reward(1.0, true, true), 2.0);
    assert_near(consistency_reward(0.0, true, false), 0.0);
    assert_eq!(consistency_reward(f64::NAN, true, false), None);
}

#[test]
fn crpo_counts_the_rest_where_the_format_is_right() {
    let parts = |format, accuracy, faithfulness| CrpoParts {
        format,
        accuracy,
        faithfulness,
        comprehensiveness: 0.5,
    };
    let crpo = Crpo::default();
    assert_near(crpo.reward(&parts(true, 1.0, 1.0)), 1.75);
    assert_near(crpo.reward(&parts(false, 1.0, 1.0)), 1.0);
    assert_eq!(crpo.reward(&parts(true, 2.0, 1.0)), None);
    let group = [parts(true, 1.0, 0.5), parts(true, 0.0, 0.5), parts(true, f64::NAN, 0.5)];
    // Accuracies 1 and 0: deviations of 0.5 over sqrt(0.5) + 1e-6; the other parts are equal.
    let normalised = crpo.normalised(&group);
    assert_near(normalised[0], 0.5 / (0.5_f64.sqrt() + 1e-6));
    assert_near(normalised[1], -0.5 / (0.5_f64.sqrt() + 1e-6));
    assert_eq!(normalised[2], None);
}

#[test]
fn candidates_are_compared_with_the_pivot() {
    let results =
        [PairResult::new(0, 2, 1.0), PairResult::new(2, 1, 0.0), PairResult::new(0, 1, -3.0)];
    assert_eq!(
        pivot_win_rate(2, &[true, true, true, true], &results),
        [Some(1.0), Some(0.5), None, None]
    );
    assert_eq!(pivot_win_rate(2, &[false, true, true], &results), [Some(0.0), Some(0.5), None]);
}

#[test]
fn a_router_learns_whom_to_follow() {
    let mut router = HedgeRouter::new(&[1.0, 1.0], 1.0).unwrap();
    router.learn(&[2.0, -2.0], &[0.0, 0.0]);
    // exp(log sigmoid(2)) against exp(log sigmoid(-2)).
    let sigmoid = 1.0 / (1.0 + (-2.0_f64).exp());
    assert_near(router.weights().first().copied(), sigmoid);
    assert_near(router.score(&[1.0, 0.0]), sigmoid);
    assert_eq!(router.score(&[1.0]), None);
    let before = router.clone();
    router.learn(&[f64::NAN, 0.0], &[0.0, 0.0]);
    assert_eq!(router, before);
    assert!(
        HedgeRouter::new(&[0.0], 1.0).is_none() && HedgeRouter::new(&[-1.0, 3.0], 1.0).is_none()
    );
}

/// Two camps of four raters. Text 0 is liked by all, 1 by none, 2 and 3 by one camp each, 4 and 5 too.
fn camps() -> Vec<BridgingRating> {
    let liked = |rater: usize, text: usize| match text {
        0 => true,
        1 => false,
        _ => (rater < 4) == text.is_multiple_of(2),
    };
    (0..8)
        .flat_map(|rater| (0..6).map(move |text| (rater, text)))
        .map(|(rater, text)| BridgingRating {
            rater,
            text,
            value: if liked(rater, text) { 1.0 } else { 0.0 },
        })
        .collect()
}

#[test]
fn bridging_prefers_what_both_camps_like() {
    let bridging = Bridging::default();
    let fit = bridging.fit(8, 6, &camps()).unwrap();
    assert!(!fit.one_sided);
    let intercepts: Vec<f64> = fit.texts.iter().map(|text| text.intercept).collect();
    assert!(intercepts[0] > 0.4 && intercepts[1] < -0.4, "{intercepts:?}");
    assert!(intercepts[2..].iter().all(|one| one.abs() < 0.1), "{intercepts:?}");
    assert_eq!(fit.texts[0].status, HelpfulStatus::Helpful);
    assert_eq!(fit.texts[1].status, HelpfulStatus::NotHelpful);
    assert_eq!(fit.texts[2].status, HelpfulStatus::Undecided);
    assert_eq!(fit, bridging.fit(8, 6, &camps()).unwrap());

    let by = |value: &dyn Fn(usize) -> f64| {
        (0..8).map(|rater| (rater, value(rater))).collect::<Vec<_>>()
    };
    let all_like = bridging.cold_start(&fit, &by(&|_| 1.0)).unwrap();
    let one_camp =
        bridging.cold_start(&fit, &by(&|rater| if rater < 4 { 1.0 } else { 0.0 })).unwrap();
    assert_eq!(all_like.status, HelpfulStatus::Helpful);
    assert!(one_camp.intercept.abs() < 0.1 && one_camp.factor.abs() > 0.3);
    assert_eq!(bridging.cold_start(&fit, &[(0, 1.0)]).unwrap().reward(), None);
    assert_eq!(bridging.cold_start(&fit, &[(99, 1.0)]), None);
}

#[test]
fn raters_of_one_view_bridge_nothing() {
    let ratings: Vec<BridgingRating> =
        (0..6).map(|rater| BridgingRating { rater, text: 0, value: 1.0 }).collect();
    let fit = Bridging::default().fit(6, 1, &ratings).unwrap();
    assert!(fit.one_sided && fit.texts[0].factor.abs() < 1e-12 && fit.texts[0].intercept > 0.0);
    assert!(Bridging::default().fit(6, 1, &[]).is_none());
    assert!(Bridging::default().fit(5, 1, &ratings).is_none());
    let out_of_range = [BridgingRating { rater: 0, text: 0, value: 2.0 }];
    assert!(Bridging::default().fit(1, 1, &out_of_range).is_none());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn bridging_does_not_depend_on_the_order_of_ratings(turn in 0..48_usize) {
        let mut ratings = camps();
        ratings.rotate_left(turn);
        let (one, other) = (Bridging::default().fit(8, 6, &camps()), Bridging::default().fit(8, 6, &ratings));
        for (ours, theirs) in one.unwrap().texts.iter().zip(other.unwrap().texts) {
            prop_assert!((ours.intercept - theirs.intercept).abs() < 1e-5);
        }
    }
}

proptest! {
    #[test]
    fn rewards_stay_within_their_ranges(share in 0.0..=1.0_f64, other in 0.0..=1.0_f64, count in 0..9_usize, flag: bool, errors in prop::collection::vec(0.0..=1.0_f64, 0..6)) {
        let hrm = Hrm::default().reward(flag, Some(share), Some(other), Some(other)).unwrap();
        prop_assert!((0.0..=1.0 + 1e-9).contains(&hrm));
        prop_assert!((0.0..=1.1).contains(&inconsistency_reward(share, count, flag).unwrap()));
        prop_assert!((0.0..=2.0).contains(&consistency_reward(share, flag, !flag).unwrap()));
        prop_assert!((-1.0..=2.0).contains(&Capo::default().reward(flag, &errors).unwrap()));
        let credits = Capo::default().step_credits(flag, &errors).unwrap();
        prop_assert!(credits.iter().all(|credit| (-1.0..=2.0).contains(credit)));
        // Consistency never pays a wrong verdict.
        prop_assert_eq!(consistency_reward(0.0, true, flag), consistency_reward(0.0, false, flag));
        let parts = MedixParts { judged: Some(flag), cosine: Some(share), modality: flag, format: !flag };
        prop_assert!((0.0..=1.0).contains(&medix_reward("some answer", &parts).unwrap()));
    }

    #[test]
    fn weights_of_a_router_sum_to_one(pairs in prop::collection::vec(prop::collection::vec(-1e6..1e6_f64, 6), 0..9)) {
        let mut router = HedgeRouter::new(&[0.2, 0.3, 0.5], 1.0).unwrap();
        for pair in &pairs {
            router.learn(&pair[..3], &pair[3..]);
            prop_assert!((router.weights().iter().sum::<f64>() - 1.0).abs() < 1e-9);
            let (one, other) = (router.preference(&pair[..3], &pair[3..]), router.preference(&pair[3..], &pair[..3]));
            prop_assert!((one.unwrap() + other.unwrap() - 1.0).abs() < 1e-9);
        }
    }

    #[test]
    fn votes_of_spct_do_not_depend_on_their_order(critiques in prop::collection::vec(prop::option::of(prop::collection::vec(1_u8..=10, 3)), 1..6)) {
        let mut critiques: Vec<Option<Vec<f64>>> = critiques
            .into_iter()
            .map(|scores| scores.map(|scores| scores.into_iter().map(f64::from).collect()))
            .collect();
        let before = vote(&critiques, 3);
        critiques.reverse();
        prop_assert_eq!(&before, &vote(&critiques, 3));
        if let Some((sums, counted)) = before {
            let counted = f64::from(u32::try_from(counted).unwrap());
            prop_assert!(sums.iter().all(|sum| (counted..=10.0 * counted).contains(sum)));
        }
    }
}
