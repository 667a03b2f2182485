//! From comparisons to verdicts.

use std::collections::BTreeMap;

use assay_verifiers::stats::mean;
use assay_verifiers::{Component, Components, Evidence, Fault, Outcome, Reward, Usage, Verdict};
use serde_json::{Value, json};

use super::compared::{Compared, Comparison, PairAnswer};
use super::member::PairMember;
use super::request::PairRequests;
use super::scores::GroupScores;
use super::settings::{OnPairFault, PairQuestion, PairScore};
use crate::compare::{OrderedResult, Tournament, order_effects, points, transitivity};

/// All comparisons of a group.
pub(super) struct GroupReport<'a> {
    pub(super) requests: &'a PairRequests,
    pub(super) members: &'a [PairMember],
    pub(super) comparisons: Vec<Comparison>,
    pub(super) tournament: Tournament,
}

/// Which side of a comparison a component tells of, and what its reward is.
#[derive(Clone, Copy)]
pub(super) struct Side {
    pub(super) is_first: bool,
    pub(super) score: PairScore,
}

impl GroupReport<'_> {
    /// One verdict for each member, in their order.
    pub(super) fn verdicts(&self) -> Vec<Verdict> {
        let scores =
            GroupScores::of(self.requests, &self.comparisons, &self.tournament, self.members.len());
        let notes = self.notes();
        let verdict = |at: usize| {
            let verdict = self.outcome(at, &scores);
            let verdict = notes
                .iter()
                .fold(verdict, |verdict, (key, value)| verdict.with(key, value.clone()));
            let (components, usage) = self.parts(at);
            Verdict { components, usage, ..verdict }
        };
        (0..self.members.len()).map(verdict).collect()
    }

    fn own(&self, at: usize) -> impl Iterator<Item = &Comparison> {
        self.comparisons.iter().filter(move |one| one.first == at || one.second == at)
    }

    fn outcome(&self, at: usize, scores: &GroupScores) -> Verdict {
        let fault = self.own(at).find_map(|one| one.compared.answers.as_ref().err());
        if let (Some(fault), OnPairFault::Fail) = (fault, self.requests.settings.on_fault) {
            return Verdict::failed(fault.clone());
        }
        match (scores.reward(at), fault) {
            (Some(reward), _) => match Reward::new(reward) {
                Some(reward) => scores.noted(Verdict::scored(reward), at),
                None => Verdict::failed(Fault::internal("the reward is not finite")),
            },
            (None, Some(fault)) => Verdict::failed(fault.clone()),
            (None, None) => Verdict::abstained("no comparison of the sample has a result"),
        }
    }

    /// What is said of the whole group with each verdict.
    fn notes(&self) -> Vec<(&'static str, Value)> {
        let settings = &self.requests.settings;
        let calls: u64 = self.comparisons.iter().map(|one| one.compared.calls).sum();
        let failed = self.comparisons.iter().filter(|one| one.compared.answers.is_err()).count();
        let results: Vec<_> = self.comparisons.iter().map(Comparison::result).collect();
        let ordered: Vec<OrderedResult> = self
            .comparisons
            .iter()
            .flat_map(|one| {
                let answers = one.compared.answers.iter().flatten();
                answers.map(|answer| answer.ordered(one.first, one.second))
            })
            .collect();
        let mut notes = vec![
            ("judge", json!(self.requests.judge.name)),
            ("schedule", json!(settings.schedule)),
            ("comparisons", json!(self.comparisons.len())),
            ("calls", json!(calls)),
        ];
        if failed > 0 {
            notes.push(("failed_comparisons", json!(failed)));
        }
        let effects = order_effects(&ordered);
        let transitivity = transitivity(self.members.len(), &results).transitivity;
        let rates = [
            ("position_bias", effects.position_bias),
            ("flip_rate", effects.flip_rate),
            ("transitivity", transitivity),
        ];
        notes.extend(rates.iter().filter_map(|(key, rate)| Some((*key, json!((*rate)?)))));
        notes
    }

    /// A component for each opponent, and what its comparisons took of the member's account.
    fn parts(&self, at: usize) -> (Components, Usage) {
        let (mut components, mut usage) = (Components::default(), Usage::default());
        let mut met: BTreeMap<&str, usize> = BTreeMap::new();
        for one in self.own(at) {
            let is_first = one.first == at;
            usage += share_of(one.compared.usage, 2, usize::from(!is_first));
            let opponent = self.members.get(if is_first { one.second } else { one.first });
            let id = opponent.map(|opponent| opponent.sample.id()).unwrap_or_default();
            let times = met.entry(id).or_default();
            *times += 1;
            let name = if *times == 1 { id.to_owned() } else { format!("{id} ({times})") };
            let side = Side { is_first, score: self.requests.settings.score };
            components.push(name, component(&self.requests.questions, &one.compared, side));
        }
        (components, usage)
    }
}

/// What was used in the account of one of `count` samples: equal parts, the odd rest to the first.
pub(super) fn share_of(usage: Usage, count: usize, at: usize) -> Usage {
    let part = |whole: u64| {
        let (count, at) = (count.max(1) as u64, at as u64);
        whole / count + u64::from(at < whole % count)
    };
    Usage { tokens: part(usage.tokens), calls: part(usage.calls) }
}

/// A verdict with what the order did to the judge.
pub(super) fn order_notes(verdict: Verdict, ordered: &[OrderedResult]) -> Verdict {
    let effects = order_effects(ordered);
    let rates = [("position_bias", effects.position_bias), ("flip_rate", effects.flip_rate)];
    rates.iter().fold(verdict, |verdict, (key, rate)| match rate {
        Some(rate) => verdict.with(key, *rate),
        None => verdict,
    })
}

/// A comparison as one of its sides sees it.
pub(super) fn component(questions: &[PairQuestion], compared: &Compared, side: Side) -> Component {
    let answers = match &compared.answers {
        Ok(answers) => answers,
        Err(fault) => return Component::from(Outcome::Failed(fault.clone())),
    };
    let sign = if side.is_first { 1.0 } else { -1.0 };
    let strengths = answers.iter().filter_map(|one| one.strength).map(|one| sign * one + 0.0);
    let values: Vec<f64> = match side.score {
        PairScore::MeanStrength => strengths.collect(),
        _ => strengths.map(points).collect(),
    };
    let outcome = match mean(&values).and_then(Reward::new) {
        Some(reward) => Outcome::Scored(reward),
        None => Outcome::Abstained("the verdict of the judge changes with the order".into()),
    };
    let mut evidence = Evidence::default();
    match answers.as_slice() {
        [answer] => one_answer(&mut evidence, answer, side),
        answers => {
            let told = |(question, answer): (&PairQuestion, &PairAnswer)| {
                let mut evidence = Evidence::default();
                one_answer(&mut evidence, answer, side);
                (question.name.clone(), json!(evidence))
            };
            let told: serde_json::Map<String, Value> =
                questions.iter().zip(answers).map(told).collect();
            evidence.push("questions", Value::Object(told));
        }
    }
    Component { outcome, evidence }
}

/// What one question came to, in both orders, as one side sees it. `first` and `second` say where it
/// was shown.
fn one_answer(evidence: &mut Evidence, answer: &PairAnswer, side: Side) {
    let result = |strength: f64| match strength {
        above if above > 0.0 => "won",
        below if below < 0.0 => "lost",
        _ => "tie",
    };
    let shown = answer.shown.map(|by| if side.is_first { by } else { -by });
    let swapped = answer.swapped.map(|by| if side.is_first { -by } else { by });
    let (first, second) = if side.is_first { (shown, swapped) } else { (swapped, shown) };
    for (key, strength) in [("shown_first", first), ("shown_second", second)] {
        if let Some(strength) = strength {
            evidence.push(key, result(strength));
        }
    }
    if let Some(strength) = answer.strength {
        let strength = if side.is_first { strength } else { -strength };
        evidence.push("strength", strength + 0.0);
    }
    match (answer.shown, answer.swapped) {
        (Some(_), Some(_)) => evidence.push("flipped", answer.is_flipped()),
        (None, None) => evidence.push("reason", "equal-texts"),
        _ => {}
    }
    if !answer.reasons.is_empty() {
        evidence.push("reasons", answer.reasons.as_str());
    }
}
