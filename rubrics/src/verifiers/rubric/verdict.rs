//! What is known of each criterion, and the verdict that it comes to.

use std::collections::BTreeMap;

use assay_verifiers::{Component, Components, Evidence, Fault, Meter, Outcome, Reward, Verdict};
use serde_json::json;

use super::settings::RubricVerifier;
use crate::aggregate::{Aggregated, OnMissing};
use crate::reply::CriterionVerdict;
use crate::rubric::{Answer, Answers, Criterion, Rubric};
use crate::votes::{Vote, combine};

/// What is known of a criterion.
#[derive(Clone, Debug)]
pub(super) enum CriterionState {
    /// It was answered.
    Answered { answer: Answer, evidence: Evidence },
    /// A prerequisite is not met, so it is not.
    Unmet { why: String },
    /// Nobody could tell.
    Missing { why: String },
    /// The judge answered no verdict.
    Unreadable { fault: Fault },
    /// Whoever answers failed.
    Failed { fault: Fault },
}

const NOT_MET: Answer = Answer { share: 0.0, value: 0.0 };

impl CriterionState {
    /// The answer, where there is one.
    pub(super) fn answer(&self) -> Option<&Answer> {
        match self {
            Self::Answered { answer, .. } => Some(answer),
            Self::Unmet { .. } => Some(&NOT_MET),
            _ => None,
        }
    }

    /// What the votes of the judge come to. `completion` is what it saw.
    pub(super) fn of_votes(
        criterion: &Criterion,
        verdicts: &[&CriterionVerdict],
        settings: &RubricVerifier,
        completion: &str,
    ) -> Self {
        let mut evidence = Evidence::default();
        let mut unproved = false;
        let mut share = |verdict: &CriterionVerdict| {
            let answer = verdict.answer.as_ref()?;
            if criterion.evidence && answer.share > 0.0 && !is_quoted(verdict, completion) {
                unproved = true;
                return Some(0.0);
            }
            Some(verdict.expected.filter(|_| settings.logprobs).unwrap_or(answer.share))
        };
        let shares: Vec<Option<f64>> = verdicts.iter().map(|one| share(one)).collect();
        let vote = |(share, verdict): (&Option<f64>, &&CriterionVerdict)| Vote {
            value: *share,
            critique: verdict.reasons.clone(),
        };
        let cast: Vec<Vote> = shares.iter().zip(verdicts).map(vote).collect();
        let Some(combined) = combine(settings.vote_by, &cast, 1) else {
            return Self::Missing { why: "the judge cannot tell".to_owned() };
        };
        let agreeing = shares.iter().position(|share| *share == Some(combined));
        let told = verdicts.get(agreeing.unwrap_or_default());
        if let Some(told) = told {
            if !told.reasons.is_empty() {
                evidence.push("reasons", told.reasons.as_str());
            }
            if let Some(quote) = told.quote.as_deref().filter(|quote| !quote.is_empty()) {
                evidence.push("quote", quote);
            }
        }
        if unproved {
            evidence.push("reason", "quote-not-found");
        }
        if settings.logprobs && verdicts.iter().any(|verdict| verdict.expected.is_none()) {
            evidence.push("logprobs", "not given at the verdict");
        }
        if shares.len() > 1 {
            evidence.push("votes", json!(shares));
        }
        let value = match told.and_then(|told| told.answer.as_ref()) {
            Some(answer) if agreeing.is_some() && !settings.logprobs && !unproved => answer.value,
            _ => criterion.kind.value(combined),
        };
        Self::Answered { answer: Answer { share: combined, value }, evidence }
    }
}

/// Whether the quotation is in the completion, whatever the white space and the case.
fn is_quoted(verdict: &CriterionVerdict, completion: &str) -> bool {
    let words =
        |text: &str| text.split_whitespace().map(str::to_lowercase).collect::<Vec<_>>().join(" ");
    let quote = verdict.quote.as_deref().map(words).unwrap_or_default();
    let quote = quote.trim_matches(|c: char| matches!(c, '"' | '\'' | '“' | '”' | '…' | '.'));
    !quote.is_empty() && words(completion).contains(quote)
}

/// The answers to all leaves, those that are still open among them.
pub(super) fn answers(rubric: &Rubric, states: &BTreeMap<String, CriterionState>) -> Answers {
    let answer = |name: &str| states.get(name).and_then(CriterionState::answer).cloned();
    let leaves = rubric.leaves().into_iter();
    leaves.map(|leaf| (leaf.name.clone(), answer(&leaf.name))).collect()
}

/// Everything that a verdict is made of.
pub(super) struct Report<'a> {
    pub(super) rubric: &'a Rubric,
    pub(super) states: &'a BTreeMap<String, CriterionState>,
    pub(super) judge: Option<String>,
}

impl Report<'_> {
    /// The verdict, with a component for each criterion and each node.
    pub(super) fn verdict(&self) -> Verdict {
        let answers = answers(self.rubric, self.states);
        let aggregate = &self.rubric.aggregate;
        let aggregated = aggregate.of(self.rubric, &answers, &mut Meter::default());
        let nodes = aggregate.nodes(self.rubric, &answers);
        let verdict = match aggregated {
            Err(fault) => Verdict::failed(fault),
            Ok(Some(Aggregated { reward, gate: Some(gate), .. })) => {
                reward_verdict(reward).because("gate-closed").with("gate", gate)
            }
            Ok(aggregated) => match (self.fault(), aggregated) {
                (Some(fault), _) => Verdict::failed(fault),
                (None, Some(aggregated)) => reward_verdict(aggregated.reward),
                (None, None) => Verdict::abstained(self.missing()),
            },
        };
        let verdict = match &self.judge {
            Some(judge) => verdict.with("judge", judge.as_str()),
            None => verdict,
        };
        let mut components = Components::default();
        self.rubric.criteria.iter().for_each(|one| self.describe(one, &nodes, &mut components));
        Verdict { components, ..verdict }
    }

    /// The first fault that leaves the sample without a reward. A reply without a verdict is like an
    /// abstention where the rubric can do without.
    fn fault(&self) -> Option<Fault> {
        let lenient = self.rubric.aggregate.on_missing == OnMissing::Renormalise;
        let fault = |leaf: &&Criterion| match self.states.get(&leaf.name)? {
            CriterionState::Failed { fault } => Some((leaf.name.clone(), fault.clone())),
            CriterionState::Unreadable { fault } if !lenient => {
                Some((leaf.name.clone(), fault.clone()))
            }
            _ => None,
        };
        let leaves = self.rubric.leaves();
        let (name, fault) = leaves.iter().find_map(fault)?;
        Some(Fault::new(fault.kind, format!("criterion \"{name}\": {}", fault.why)))
    }

    fn missing(&self) -> String {
        let leaves = self.rubric.leaves();
        let unanswered = |leaf: &&&Criterion| {
            self.states.get(&leaf.name).and_then(CriterionState::answer).is_none()
        };
        let missing: Vec<&str> =
            leaves.iter().filter(unanswered).map(|leaf| leaf.name.as_str()).collect();
        let first = missing.first().copied().unwrap_or_default();
        let (count, all) = (missing.len(), leaves.len());
        format!("{count} of {all} criteria were not answered, \"{first}\" first")
    }

    fn describe(
        &self,
        criterion: &Criterion,
        nodes: &[(String, Option<f64>)],
        components: &mut Components,
    ) {
        if criterion.is_node() {
            let share = nodes.iter().find(|(name, _)| *name == criterion.name);
            let outcome = match share.and_then(|(_, share)| *share).and_then(Reward::new) {
                Some(reward) => Outcome::Scored(reward),
                None => Outcome::Abstained("not all criteria below it were answered".into()),
            };
            let mut evidence = Evidence::default();
            evidence.push("points", criterion.points);
            components.push(criterion.name.clone(), Component { outcome, evidence });
            criterion.criteria.iter().for_each(|one| self.describe(one, nodes, components));
            return;
        }
        components
            .push(criterion.name.clone(), component(criterion, self.states.get(&criterion.name)));
    }
}

fn reward_verdict(reward: f64) -> Verdict {
    match Reward::new(reward) {
        Some(reward) => Verdict::scored(reward),
        None => Verdict::failed(Fault::internal("the reward is not finite")),
    }
}

fn component(criterion: &Criterion, state: Option<&CriterionState>) -> Component {
    let mut noted = Evidence::default();
    noted.push("points", criterion.points);
    let outcome = match state {
        None => Outcome::Abstained("not asked: a gate is closed".into()),
        Some(CriterionState::Answered { answer, evidence }) => {
            let mut all = evidence.clone();
            all.push("points", criterion.points);
            if (answer.value - answer.share).abs() > f64::EPSILON {
                all.push("value", answer.value);
            }
            let outcome = Reward::new(answer.share).map(Outcome::Scored);
            let odd = || Outcome::Failed(Fault::bad_input("the answer is not a finite number"));
            return Component { outcome: outcome.unwrap_or_else(odd), evidence: all };
        }
        Some(CriterionState::Unmet { why }) => {
            noted.push("reason", why.as_str());
            Outcome::Scored(Reward::ZERO)
        }
        Some(CriterionState::Missing { why }) => Outcome::Abstained(why.clone().into()),
        Some(CriterionState::Unreadable { fault } | CriterionState::Failed { fault }) => {
            Outcome::Failed(fault.clone())
        }
    };
    Component { outcome, evidence: noted }
}
