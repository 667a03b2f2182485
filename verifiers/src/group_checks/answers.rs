//! The answers of a group, and which of them are the same.

use std::collections::BTreeMap;

use super::members::{Known, read_each};
use super::words::normal;
use crate::checks::choice::Choice;
use crate::checks::math::{answer_by, integer::integer};
use crate::extract::{self, Policy, Scope, Spoken, Thinking};
use crate::math::{WORK_MAX, same_value};
use crate::prelude::*;
use crate::verifier::Member;

/// What kind of answer is read, and when two are the same.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(super) enum AnswerKind {
    /// Mathematics, read as the check `math` reads it: `0.5` and `\frac12` are one answer. Decimals
    /// are not rounded.
    #[default]
    Math,
    /// The letter of an option, read as the check `choice` reads it. A hedge is not an answer.
    Choice,
    /// The announced answer, else the last line, as text without case and punctuation around it.
    Text,
}

/// Reads the answers of completions.
#[derive(Debug)]
pub(super) struct AnswerReader {
    kind: AnswerKind,
    policy: Policy,
    choice: Option<Choice>,
}

/// The answer of a completion.
pub(super) struct Answer {
    /// As it is in the completion, or the letter of an option.
    text: String,
    /// Its bytes in the completion.
    span: (usize, usize),
    /// Equal answers of other spellings may have other keys; equal keys are equal answers.
    key: String,
}

/// The members that gave one answer.
pub(super) struct AnswerClass {
    /// How many.
    pub(super) votes: usize,
    /// The first of them, in the order of the rows.
    pub(super) first: usize,
    /// The answer in its most frequent spelling.
    pub(super) text: String,
}

/// Who gave which answer.
pub(super) struct Ballot {
    /// The class of each member; `None` without an answer.
    pub(super) class_of: Vec<Option<usize>>,
    /// The classes, in no order that matters.
    pub(super) classes: Vec<AnswerClass>,
}

impl AnswerReader {
    pub(super) fn new(kind: AnswerKind, policy: Policy) -> Result<Self, BuildError> {
        let choice = match kind {
            AnswerKind::Choice => {
                let mut choice: Choice = crate::check::settings(json!({}))?;
                choice.load(&crate::NoFiles)?;
                Some(choice)
            }
            AnswerKind::Math | AnswerKind::Text => None,
        };
        if kind == AnswerKind::Choice && policy != Policy::Auto {
            return Err(BuildError::new("extract", "an option is always looked for everywhere"));
        }
        Ok(Self { kind, policy, choice })
    }

    /// The answer of each member, where it gives one.
    pub(super) fn read(
        &self,
        group: &Group<'_>,
        meter: &mut Meter<'_>,
    ) -> Result<Vec<Known<Option<Answer>>>, Fault> {
        read_each(group, meter, |member, own| match self.answer(member, own) {
            // One step was cut, though the fuel is not spent: no answer that can be read.
            Err(fault) if fault.kind == FaultKind::OutOfFuel && own.left() > 0 => Ok(None),
            read => read,
        })
    }

    fn answer(&self, member: &Member<'_>, meter: &mut Meter<'_>) -> Result<Option<Answer>, Fault> {
        let sample = member.sample;
        match (self.kind, &self.choice) {
            (AnswerKind::Choice, Some(choice)) => {
                let found = choice.settled(sample, meter)?;
                Ok(found.map(|found| Answer {
                    text: found.letter.clone(),
                    span: found.span,
                    key: found.letter,
                }))
            }
            (AnswerKind::Choice, None) => Err(Fault::internal("the reader was not loaded")),
            (AnswerKind::Math, _) => {
                let found = answer_by(self.policy, sample.completion(), sample.prompt(), meter)?;
                // "I do not know" is not an answer, though all members may say it.
                let found = found.filter(|found| !found.is_bare_words).map(|found| found.answer);
                Ok(found.filter(|found| !found.text.trim().is_empty()).map(|found| {
                    let text = found.text.trim();
                    let key = integer(text).map_or_else(|| text.to_owned(), |one| one.to_string());
                    Answer { key, text: found.text, span: found.span }
                }))
            }
            (AnswerKind::Text, _) => self.text(sample, meter),
        }
    }

    fn text(&self, sample: &Sample, meter: &mut Meter<'_>) -> Result<Option<Answer>, Fault> {
        let completion = sample.completion();
        meter.spend(20 + 2 * completion.len() as u64)?;
        let spoken = Spoken::of(completion, Thinking::Skip);
        let scope = Scope::of(&spoken, sample.prompt());
        let announced = extract::announced(&scope, self.policy, meter)?;
        let found = match announced.into_iter().next() {
            Some(found) => {
                let (from, to) = found.span;
                Some((found.text.into_owned(), (scope.place(from), scope.place(to))))
            }
            None if matches!(self.policy, Policy::Auto) => last_line(&spoken),
            None if matches!(self.policy, Policy::Whole) => whole(&spoken),
            None => None,
        };
        let Some((text, span)) = found else { return Ok(None) };
        let key = normal(&text, meter)?;
        let key = key.trim_matches(|c: char| c.is_whitespace() || AROUND.contains(c)).to_owned();
        Ok((!key.is_empty()).then_some(Answer { text, span, key }))
    }
}

/// What may be around an answer and is not a part of it.
const AROUND: &str = ".,;:!?*_`\"'$()[]{}";

fn last_line(spoken: &Spoken<'_>) -> Option<(String, (usize, usize))> {
    let said = spoken.text().trim_end();
    let start = said.rfind('\n').map_or(0, |at| at + 1);
    let line = said.get(start..)?;
    let trimmed = line.trim_start();
    let from = start + (line.len() - trimmed.len());
    let span = (spoken.place(from), spoken.place(from + trimmed.len()));
    (!trimmed.is_empty()).then(|| (trimmed.to_owned(), span))
}

fn whole(spoken: &Spoken<'_>) -> Option<(String, (usize, usize))> {
    let said = spoken.text().trim_end();
    let text = said.trim_start();
    let span = (spoken.place(said.len() - text.len()), spoken.place(said.len()));
    (!text.is_empty()).then(|| (text.to_owned(), span))
}

impl Answer {
    /// A verdict that names the answer.
    pub(super) fn noted(&self, verdict: Verdict) -> Verdict {
        verdict.with_extracted(&self.text, self.span)
    }
}

impl Ballot {
    /// Counts the answers. All pairs of spellings that may be equal are compared, so that the order
    /// of the members decides nothing; answers that a chain of equal ones joins are one answer.
    #[expect(clippy::indexing_slicing, reason = "spellings are of the answers")]
    pub(super) fn count(
        answers: &[Option<Answer>],
        kind: AnswerKind,
        meter: &mut Meter<'_>,
    ) -> Result<Self, Fault> {
        let mut spellings: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
        for (at, answer) in answers.iter().enumerate() {
            if let Some(answer) = answer {
                meter.spend(answer.key.len() as u64)?;
                spellings.entry(&answer.key).or_default().push(at);
            }
        }
        let keys: Vec<&str> = spellings.keys().copied().collect();
        let joined = match kind {
            AnswerKind::Math => joined(&keys, meter)?,
            AnswerKind::Choice | AnswerKind::Text => (0..keys.len()).collect(),
        };
        let mut members: BTreeMap<usize, Vec<&Vec<usize>>> = BTreeMap::new();
        for (class, who) in joined.iter().zip(spellings.values()) {
            members.entry(*class).or_default().push(who);
        }
        let mut class_of = vec![None; answers.len()];
        let mut classes = Vec::new();
        for spellings in members.values() {
            let who = || spellings.iter().flat_map(|who| who.iter().copied());
            for at in who() {
                class_of[at] = Some(classes.len());
            }
            // The first of the most frequent spellings; they are sorted.
            let most = spellings.iter().rev().max_by_key(|who| who.len());
            let shown = most.and_then(|who| answers.get(*who.first()?)?.as_ref());
            let text = shown.map_or_else(String::new, |answer| answer.text.clone());
            let first = who().min().unwrap_or_default();
            classes.push(AnswerClass { votes: who().count(), first, text });
        }
        Ok(Self { class_of, classes })
    }
}

/// For each key, the least index of a key that equals it, perhaps by way of others.
#[expect(clippy::indexing_slicing, reason = "pairs are of keys")]
fn joined(keys: &[&str], meter: &mut Meter<'_>) -> Result<Vec<usize>, Fault> {
    let mut class: Vec<usize> = (0..keys.len()).collect();
    let integers: Vec<bool> = keys.iter().map(|key| integer(key).is_some()).collect();
    let pairs = || {
        let is_integer = |key: usize| integers[key];
        (0..keys.len())
            .flat_map(move |one| (one + 1..keys.len()).map(move |other| (one, other)))
            // Integers have one spelling.
            .filter(move |(one, other)| !(is_integer(*one) && is_integer(*other)))
    };
    let work = meter.left() / 2 / (pairs().count() as u64).max(1);
    let work = work.clamp(WORK_MIN, WORK_MAX);
    for (one, other) in pairs() {
        let (a, b) = (class[one], class[other]);
        if a != b && same_value(keys[one], keys[other], work, meter)? {
            let (low, high) = (a.min(b), a.max(b));
            class.iter_mut().filter(|class| **class == high).for_each(|class| *class = low);
        }
    }
    Ok(class)
}

/// What a comparison may cost at least, in fuel: where there is less for each pair, the group fails
/// rather than call equal answers different.
const WORK_MIN: u64 = 20_000;
