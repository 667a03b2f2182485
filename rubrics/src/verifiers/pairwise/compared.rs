//! One comparison: all questions about a pair, in both orders, with all votes.

use assay_verifiers::stats::{GOLDEN_GAMMA, SplitMix64, mean};
use assay_verifiers::{Fault, Sample, Usage};
use futures_util::future::join_all;

use super::request::{Asking, PairRequests, Question, Said};
use crate::compare::{OrderedResult, PairResult, both_orders};
use crate::votes::{Vote, combine};

/// Two texts that are compared, for one sample.
#[derive(Clone, Copy)]
pub(super) struct Pair<'a> {
    /// The sample whose prompt, reference and row count.
    pub(super) sample: &'a Sample,
    /// The texts.
    pub(super) texts: [&'a str; 2],
    /// Draws the order, where one is enough.
    pub(super) draw: u64,
}

/// What came of a comparison.
pub(super) struct Compared {
    /// Along the questions; the first fault stands for all of them.
    pub(super) answers: Result<Vec<PairAnswer>, Fault>,
    pub(super) usage: Usage,
    pub(super) calls: u64,
}

/// What came of one question about a pair.
#[derive(Clone, Debug, Default)]
pub(super) struct PairAnswer {
    /// With the first text shown first, above 0 for it.
    pub(super) shown: Option<f64>,
    /// With the second text shown first, above 0 for that.
    pub(super) swapped: Option<f64>,
    /// Both together, above 0 for the first text. `None`: the orders do not agree, and that is no
    /// result.
    pub(super) strength: Option<f64>,
    /// Why, in the order that was asked first.
    pub(super) reasons: String,
}

impl PairAnswer {
    /// The result in both orders, for the samples at these places.
    pub(super) fn ordered(&self, first: usize, second: usize) -> OrderedResult {
        OrderedResult { first, second, shown: self.shown, swapped: self.swapped }
    }

    /// Whether the two orders prefer different texts.
    pub(super) fn is_flipped(&self) -> bool {
        let sign = |strength: f64| i8::from(strength > 0.0) - i8::from(strength < 0.0);
        self.shown.zip(self.swapped).is_some_and(|(one, other)| sign(one) != -sign(other))
    }
}

impl Compared {
    /// The strength for the first text over all questions; `None` where none has a result.
    pub(super) fn strength(&self) -> Option<f64> {
        let answers = self.answers.as_ref().ok()?;
        let strengths: Vec<f64> = answers.iter().filter_map(|answer| answer.strength).collect();
        mean(&strengths)
    }
}

/// A comparison of two members, by their places.
pub(super) struct Comparison {
    pub(super) first: usize,
    pub(super) second: usize,
    pub(super) compared: Compared,
}

impl Comparison {
    /// Its result over all questions.
    pub(super) fn result(&self) -> PairResult {
        let strength = self.compared.strength();
        PairResult { first: self.first, second: self.second, strength }
    }
}

impl PairRequests {
    /// Compares two texts. Equal texts tie, and nobody is asked.
    pub(super) async fn compare(&self, pair: Pair<'_>) -> Compared {
        if pair.texts[0] == pair.texts[1] {
            let tie = PairAnswer { strength: Some(0.0), ..PairAnswer::default() };
            let answers = Ok(vec![tie; self.questions.len()]);
            return Compared { answers, usage: Usage::default(), calls: 0 };
        }
        let orders = self.orders(pair.draw);
        let back = [pair.texts[1], pair.texts[0]];
        let questions = self.questions.iter().flat_map(|asked| {
            orders.iter().flat_map(move |&swapped| {
                (0..self.settings.votes).map(move |vote| (asked, swapped, vote))
            })
        });
        let asked = questions.map(|(asked, swapped, vote)| {
            let texts = if swapped { &back } else { &pair.texts };
            self.pair(Question { sample: pair.sample, texts, asked, swapped, vote })
        });
        let said = join_all(asked.collect::<Vec<_>>()).await;
        let mut usage = Usage::default();
        for one in &said {
            usage += one.usage;
        }
        let calls = said.iter().map(|one| one.calls).sum();
        let votes = self.settings.votes as usize;
        let by_question = said.chunks(votes * orders.len());
        let answers = by_question.map(|said| self.answer(&orders, said)).collect();
        Compared { answers, usage, calls }
    }

    /// The orders in which a pair is shown; whether they are swapped.
    fn orders(&self, draw: u64) -> Vec<bool> {
        if self.settings.both_orders {
            return vec![false, true];
        }
        let seed = self.settings.seed ^ draw.wrapping_mul(GOLDEN_GAMMA);
        vec![SplitMix64::new(seed).below(2) == 1]
    }

    /// What all that was said on one question comes to.
    fn answer(&self, orders: &[bool], said: &[Asking<Said<f64>>]) -> Result<PairAnswer, Fault> {
        let mut answer = PairAnswer::default();
        for (votes, &swapped) in said.chunks(self.settings.votes as usize).zip(orders) {
            let cast = votes.iter().map(|vote| match &vote.read {
                Ok(said) => Ok(Vote { critique: said.reasons.clone(), ..Vote::new(said.value) }),
                Err(fault) => Err(fault.clone()),
            });
            let cast: Vec<Vote> = cast.collect::<Result<_, Fault>>()?;
            let strength = combine(self.settings.vote_by, &cast, 1);
            if answer.reasons.is_empty() {
                let agreeing = cast.iter().find(|vote| vote.value == strength).or(cast.first());
                answer.reasons = agreeing.map(|vote| vote.critique.clone()).unwrap_or_default();
            }
            let order = if swapped { &mut answer.swapped } else { &mut answer.shown };
            *order = strength;
        }
        answer.strength = match (answer.shown, answer.swapped) {
            (shown, swapped) if self.settings.both_orders => {
                both_orders(shown, swapped, self.settings.on_flip)
            }
            (Some(shown), _) => Some(shown),
            (None, swapped) => swapped.map(|strength| -strength),
        };
        Ok(answer)
    }
}
