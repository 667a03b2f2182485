//! `countdown`: an expression over the given numbers that reaches the target.

use std::ops::Range;

use assay_puzzles::countdown::{Attempt, UseRules, judge, last_expression};
use assay_puzzles::expression::Operator;
use assay_puzzles::number::Ratio;
use assay_puzzles::reasoning::last_answer;

use crate::extract::{Thinking, thinking};
use crate::prelude::*;
use crate::text_parts::share;

/// Right when the expression of the answer uses the given numbers and reaches the target.
///
/// Numbers and target are columns of the row, or members of its reference. The answer is the last
/// `<answer>` tag, or else the last line, or its box; `= target` may follow the expression. Values are exact
/// fractions of 128 bits, and nothing is executed.
#[derive(Debug, Deserialize, Serialize, JsonSchema, SmartDefault)]
#[serde(deny_unknown_fields, default)]
pub struct Countdown {
    /// The column with the numbers.
    #[default = "nums"]
    numbers: String,
    /// The column with the target.
    #[default = "target"]
    target: String,
    /// The operators that may be used: some of `+-*/%^`, where `^` is a power.
    #[default = "+-*/"]
    operators: String,
    /// Numbers may be left out.
    subset: bool,
    /// What a wrong expression in an `<answer>` tag earns. `TinyZero` pays 0.1.
    format_reward: f64,
    #[serde(skip)]
    allowed: Vec<Operator>,
}

impl Check for Countdown {
    const ID: &'static str = "countdown";
    const NO_GOLD: bool = true;

    fn load(&mut self, _: &dyn Files) -> Result<(), BuildError> {
        let known = |sign: char| match sign {
            '+' => Some(Operator::Add),
            '-' => Some(Operator::Subtract),
            '*' => Some(Operator::Multiply),
            '/' => Some(Operator::Divide),
            '%' => Some(Operator::Modulo),
            '^' => Some(Operator::Power),
            _ => None,
        };
        let allowed: Option<Vec<Operator>> = self.operators.chars().map(known).collect();
        let some = allowed.filter(|allowed| !allowed.is_empty());
        self.allowed = some.ok_or_else(|| BuildError::new("operators", "some of `+-*/%^`"))?;
        let is_share = (0.0..=1.0).contains(&self.format_reward);
        if is_share {
            Ok(())
        } else {
            Err(BuildError::new("format_reward", "a share is from 0 to 1"))
        }
    }

    fn columns(&self) -> Vec<(&'static str, String)> {
        vec![("numbers", self.numbers.clone()), ("target", self.target.clone())]
    }

    fn check(&self, sample: &Sample, meter: &mut Meter<'_>) -> Result<Verdict, Fault> {
        let (numbers, target) = (part(sample, &self.numbers), part(sample, &self.target));
        let (numbers, target) = match (numbers, target) {
            (Some(numbers), Some(target)) => (numbers, target),
            (None, None) => return Ok(Verdict::no_reference()),
            (numbers, _) => {
                let lacking = if numbers.is_some() { &self.target } else { &self.numbers };
                return Ok(Verdict::abstained(format!("the sample has no \"{lacking}\"")));
            }
        };
        let (numbers, target) = (ratios(numbers)?, ratio(target)?);
        let Some((span, tagged)) = expression(sample, meter)? else {
            return Ok(Verdict::graded(false).because("no-answer"));
        };
        meter.spend(200 * (span.len() + numbers.len()) as u64)?;
        let text = &sample.completion()[span.clone()];
        let allowed = UseRules { operators: &self.allowed, all: !self.subset };
        let attempt = judge(text, &numbers, target, allowed);
        let wrong = if tagged { self.format_reward } else { 0.0 };
        let verdict = share(if attempt == Attempt::Reached { 1.0 } else { wrong });
        Ok(verdict.with_extracted(text, (span.start, span.end)).because(reason(attempt)))
    }
}

/// The reason of a verdict.
pub(super) fn reason(attempt: Attempt) -> &'static str {
    match attempt {
        Attempt::Reached => "reached",
        Attempt::Missed => "missed",
        Attempt::OtherNumbers => "other-numbers",
        Attempt::Unreadable => "unreadable",
    }
}

/// A column, or the member of the reference with its name.
pub(super) fn part<'s>(sample: &'s Sample, name: &str) -> Option<&'s Value> {
    sample.column(name).or_else(|| sample.reference()?.get(name))
}

/// A number of the row.
pub(super) fn ratio(value: &Value) -> Result<Ratio, Fault> {
    let found = Ratio::parse(&crate::sample::value_text(value));
    found.ok_or_else(|| Fault::bad_reference(format!("{value} is not a number that can be used")))
}

/// The numbers of the row: a list, or a text with blanks or commas between them.
pub(super) fn ratios(value: &Value) -> Result<Vec<Ratio>, Fault> {
    let numbers: Vec<Ratio> = match value {
        Value::Array(values) => values.iter().map(ratio).collect::<Result<_, _>>()?,
        Value::String(text) => text
            .trim_matches(['[', ']'])
            .split([' ', ','])
            .filter(|part| !part.is_empty())
            .map(|part| ratio(&Value::from(part)))
            .collect::<Result<_, _>>()?,
        other => vec![ratio(other)?],
    };
    let is_sound = (1..=1000).contains(&numbers.len());
    if is_sound {
        Ok(numbers)
    } else {
        Err(Fault::bad_reference("from 1 to 1000 numbers are needed"))
    }
}

/// The expression of a completion, and whether it is tagged: the last answer tag, or else what its last
/// line has.
pub(super) fn expression(
    sample: &Sample,
    meter: &mut Meter<'_>,
) -> Result<Option<(Range<usize>, bool)>, Fault> {
    let completion = sample.completion();
    meter.spend(6 * completion.len() as u64)?;
    let Some(said) = thinking::answer(completion, Thinking::Skip) else { return Ok(None) };
    let text = &completion[said.clone()];
    if let Some(inner) = last_answer(text).filter(|inner| !inner.is_empty()) {
        return Ok(Some((said.start + inner.start..said.start + inner.end, true)));
    }
    let span = last_expression(text);
    Ok(span.map(|span| (said.start + span.start..said.start + span.end, false)))
}
