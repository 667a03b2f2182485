//! The scores of a group: the means over the questions.

use assay_verifiers::Verdict;
use assay_verifiers::stats::{float, mean, ratio, sigmoid};

use super::compared::Comparison;
use super::request::PairRequests;
use super::settings::PairScore;
use crate::compare::scores::{Davidson, Elo, mean_strength, win_rate};
use crate::compare::{PairResult, Tournament};

/// One score a member, and what it was made of.
pub(super) struct GroupScores {
    rewards: Vec<Option<f64>>,
    /// What is noted beside the reward: the logarithm of a worth, a rating, a place.
    noted: Option<(&'static str, Vec<f64>)>,
}

impl GroupScores {
    /// The scores of `count` members.
    pub(super) fn of(
        requests: &PairRequests,
        comparisons: &[Comparison],
        tournament: &Tournament,
        count: usize,
    ) -> Self {
        let score = requests.settings.score;
        if score == PairScore::Placement {
            return placed(tournament, count);
        }
        let by_question: Vec<Self> = (0..requests.questions.len())
            .map(|question| of_results(score, count, &results(comparisons, question)))
            .collect();
        let rewards = (0..count).map(|at| {
            let own: Vec<f64> = by_question.iter().filter_map(|one| one.reward(at)).collect();
            mean(&own)
        });
        let rewards = rewards.collect();
        let noted = match by_question.as_slice() {
            [one] => one.noted.clone(),
            _ => None,
        };
        Self { rewards, noted }
    }

    /// The reward of the member at a place; `None` where it has no result.
    pub(super) fn reward(&self, at: usize) -> Option<f64> {
        self.rewards.get(at).copied().flatten()
    }

    /// A verdict on that member, with what its reward was made of.
    pub(super) fn noted(&self, verdict: Verdict, at: usize) -> Verdict {
        let noted = self.noted.as_ref().and_then(|(key, values)| Some((*key, *values.get(at)?)));
        match noted {
            Some((key, value)) => verdict.with(key, value),
            None => verdict,
        }
    }
}

/// The results of one question.
fn results(comparisons: &[Comparison], question: usize) -> Vec<PairResult> {
    let result = |one: &Comparison| {
        let answers = one.compared.answers.as_ref().ok();
        let strength = answers.and_then(|answers| answers.get(question)?.strength);
        PairResult { first: one.first, second: one.second, strength }
    };
    comparisons.iter().map(result).collect()
}

fn of_results(score: PairScore, count: usize, results: &[PairResult]) -> GroupScores {
    let rates = win_rate(count, results);
    // Who has no result has a rating all the same, which says nothing.
    let known = |rewards: Vec<f64>| -> Vec<Option<f64>> {
        rewards.into_iter().zip(&rates).map(|(reward, rate)| rate.map(|_| reward)).collect()
    };
    match score {
        PairScore::MeanStrength => {
            GroupScores { rewards: mean_strength(count, results), noted: None }
        }
        PairScore::BradleyTerry => {
            let fit = Davidson::default().fit(count, results);
            let worths = fit.map(|fit| fit.log_worths).unwrap_or_default();
            let chances = worths.iter().copied().map(sigmoid).collect();
            GroupScores { rewards: known(chances), noted: Some(("log_worth", worths)) }
        }
        PairScore::Elo => {
            let elo = Elo::default();
            let ratings = elo.ratings(count, results);
            let expected = ratings
                .iter()
                .map(|rating| 1.0 / (1.0 + 10_f64.powf((elo.start - rating) / elo.scale)))
                .collect();
            GroupScores { rewards: known(expected), noted: Some(("rating", ratings)) }
        }
        PairScore::WinRate | PairScore::Placement | PairScore::Listwise => {
            GroupScores { rewards: rates, noted: None }
        }
    }
}

/// `(n - place) / (n - 1)`; equal standings share a place.
fn placed(tournament: &Tournament, count: usize) -> GroupScores {
    let places: Vec<Option<usize>> = match tournament {
        Tournament::Fixed(_) => vec![None; count],
        Tournament::Knockout(knockout) => knockout.placement(count),
        Tournament::Swiss(swiss) => {
            let standings = swiss.standings();
            let place = |at: usize| {
                let own = standings.iter().find(|one| one.sample == at)?;
                let key = |one: &crate::compare::Placing| (one.points, one.buchholz);
                Some(1 + standings.iter().filter(|one| key(one) > key(own)).count())
            };
            (0..count).map(place).collect()
        }
    };
    let last = float(count.saturating_sub(1));
    let reward = |place: &Option<usize>| {
        place.and_then(|place| ratio(float(count.saturating_sub(place)), last))
    };
    let rewards = places.iter().map(reward).collect();
    let noted = places.iter().map(|place| float(place.unwrap_or_default())).collect();
    GroupScores { rewards, noted: Some(("place", noted)) }
}
