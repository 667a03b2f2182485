//! Votes of one criterion.

use assay_rubrics::votes::{Vote, VoteBy, combine, critique_similarity, critique_weights};
use proptest::prelude::*;

const ALL: [VoteBy; 4] = [VoteBy::Majority, VoteBy::Median, VoteBy::Mean, VoteBy::CritiqueWeighted];

fn votes(values: &[f64]) -> Vec<Vote> {
    values.iter().copied().map(Vote::new).collect()
}

fn near(ours: f64, theirs: f64) -> bool {
    (ours - theirs).abs() < 1e-4
}

#[test]
fn each_way_has_its_answer() {
    let yes_no = votes(&[1.0, 0.0, 1.0]);
    assert_eq!(combine(VoteBy::Majority, &yes_no, 1), Some(1.0));
    assert_eq!(combine(VoteBy::Median, &yes_no, 1), Some(1.0));
    assert!(near(combine(VoteBy::Mean, &yes_no, 1).unwrap(), 2.0 / 3.0));
    assert_eq!(combine(VoteBy::Majority, &votes(&[1.0, 0.0]), 1), Some(0.0));
    assert_eq!(combine(VoteBy::Majority, &votes(&[3.0, 4.0, 5.0]), 1), Some(4.0));
    assert_eq!(combine(VoteBy::Median, &votes(&[1.0, 2.0, 4.0, 5.0]), 1), Some(3.0));
}

#[test]
fn abstentions_are_not_zeros() {
    for how in ALL {
        assert_eq!(combine(how, &[Vote::abstained(), Vote::new(1.0)], 1), Some(1.0));
        assert_eq!(combine(how, &[Vote::abstained(), Vote::new(1.0)], 2), None);
        assert_eq!(combine(how, &[Vote::abstained()], 0), None);
        assert_eq!(combine(how, &votes(&[f64::NAN, f64::INFINITY]), 1), None);
    }
}

#[test]
fn a_vote_whose_critique_others_share_weighs_more() {
    let vote = |value, critique: &str| Vote { critique: critique.into(), ..Vote::new(value) };
    let voted = [
        vote(1.0, "The sum is right and the units are right"),
        vote(1.0, "The units are right, and the sum."),
        vote(0.0, "Bananas"),
    ];
    let answer = combine(VoteBy::CritiqueWeighted, &voted, 1).unwrap();
    assert!(answer > 2.0 / 3.0 && answer < 1.0, "{answer}");
    assert!(near(critique_similarity("a b", "B c"), 0.5));
    assert!(near(critique_similarity("", "b"), 0.0));
    assert!(critique_weights(&[]).is_empty());
    assert_eq!(critique_weights(&["alone"]), [1.0]);
}

proptest! {
    #[test]
    fn answers_stay_among_the_votes(values in prop::collection::vec(0.0..=1.0_f64, 1..9), turn in 0..9_usize) {
        let low = values.iter().copied().fold(1.0, f64::min);
        let high = values.iter().copied().fold(0.0, f64::max);
        let mut turned = values.clone();
        turned.rotate_left(turn % values.len());
        for how in ALL {
            let answer = combine(how, &votes(&values), 1).unwrap();
            let other = combine(how, &votes(&turned), 1).unwrap();
            prop_assert!((answer - other).abs() < 1e-9, "{:?} depends on the order", how);
            prop_assert!(answer >= low - 1e-5 && answer <= high + 1e-5, "{:?}: {}", how, answer);
        }
    }

    #[test]
    fn equal_votes_are_the_answer(value in 0.0..=1.0_f64, count in 1..6_usize) {
        for how in ALL {
            let answer = combine(how, &votes(&vec![value; count]), count).unwrap();
            prop_assert!((answer - value).abs() < 1e-12);
        }
    }
}
