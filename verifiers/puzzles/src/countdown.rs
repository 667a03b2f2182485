//! An expression over given numbers that reaches a target: Countdown, the game of 24.

use std::ops::Range;

use crate::expression::{Algebra, ExactArithmetic, ExpressionStyle, Operator, compute};
use crate::number::Ratio;

/// What an expression may be.
#[derive(Clone, Copy, Debug)]
pub struct UseRules<'s> {
    /// The operators.
    pub operators: &'s [Operator],
    /// Every number must be used. Without it, each at most as often as it is given.
    pub all: bool,
}

/// How an expression fails, or that it does not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Attempt {
    /// It reaches the target.
    Reached,
    /// It has another value.
    Missed,
    /// It uses numbers that are not given, or not all that must be used.
    OtherNumbers,
    /// It does not parse, uses other operators, divides by zero, or leaves 128 bits.
    Unreadable,
}

/// Judges an expression; `= target` may follow it. Linear in the text, and the numbers are sorted.
pub fn judge(text: &str, numbers: &[Ratio], target: Ratio, allowed: UseRules<'_>) -> Attempt {
    let text = text.trim().trim_matches('$').trim();
    let (text, claimed) = match text.split_once('=') {
        Some((left, right)) => (left, Some(Ratio::parse(right.trim().trim_end_matches('.')))),
        None => (text, None),
    };
    let mut limited = Limited { exact: ExactArithmetic::default(), operators: allowed.operators };
    let Some(value) = compute(text.trim_end_matches('.'), ExpressionStyle::Written, &mut limited)
    else {
        return Attempt::Unreadable;
    };
    if !uses(&limited.exact.numbers, numbers, allowed.all) {
        return Attempt::OtherNumbers;
    }
    let is_claim_right = claimed.is_none_or(|claimed| claimed == Some(target));
    if value == target && is_claim_right { Attempt::Reached } else { Attempt::Missed }
}

/// Whether numbers are those given, or some of them.
fn uses(used: &[Ratio], given: &[Ratio], all: bool) -> bool {
    let sorted = |numbers: &[Ratio]| {
        let mut sorted = numbers.to_vec();
        sorted.sort_by(|one, two| one.float().total_cmp(&two.float()));
        sorted
    };
    let (used, given) = (sorted(used), sorted(given));
    let mut left = given.iter();
    let is_part = used.iter().all(|one| left.any(|other| other == one));
    is_part && (!all || used.len() == given.len())
}

/// Exact arithmetic with some operators.
struct Limited<'s> {
    exact: ExactArithmetic,
    operators: &'s [Operator],
}

impl Algebra for Limited<'_> {
    type Value = Ratio;

    fn number(&mut self, digits: &str) -> Option<Ratio> {
        self.exact.number(digits)
    }

    fn name(&mut self, _: &str) -> Option<Ratio> {
        None
    }

    fn negated(&mut self, value: Ratio) -> Option<Ratio> {
        value.negated()
    }

    fn factorial(&mut self, _: Ratio) -> Option<Ratio> {
        None
    }

    fn combined(&mut self, operator: Operator, left: Ratio, right: Ratio) -> Option<Ratio> {
        if self.operators.contains(&operator) {
            self.exact.combined(operator, left, right)
        } else {
            None
        }
    }
}

/// Words that announce an answer.
const LABELS: &str =
    " so thus therefore hence the my a one final answer solution expression equation result is ";

/// The bytes of the expression on the last line of a text: in its box, or behind words such as `the answer
/// is:`, without marks of Markdown and LaTeX around it. Linear.
pub fn last_expression(text: &str) -> Option<Range<usize>> {
    let text = text.trim_end();
    let line = text.rsplit('\n').next()?.trim_start();
    let mut inner = line;
    loop {
        inner = inner.trim_start_matches(|c: char| c.is_whitespace() || "*_`$:,#".contains(c));
        let length = inner.find(|c: char| !c.is_ascii_alphabetic()).unwrap_or(inner.len());
        let (word, rest) = inner.split_at(length);
        if word.is_empty() || !LABELS.contains(&format!(" {} ", word.to_ascii_lowercase())) {
            break;
        }
        inner = rest;
    }
    let mut end = text.len();
    if let Some((_, rest)) = inner.rsplit_once("\\boxed{")
        && let Some((boxed, behind)) = rest.rsplit_once('}')
    {
        inner = boxed;
        end -= behind.len() + 1;
    }
    let bare = |c: char| c.is_whitespace() || "`*$".contains(c);
    let trimmed = inner.trim_end_matches(|c| bare(c) || c == '.');
    end -= inner.len() - trimmed.len();
    let length = trimmed.trim_start_matches(bare).len();
    (length > 0).then_some(end - length..end)
}

/// The score of the tree-of-thought paper for the game of 24: the last line, in small letters and
/// without `answer: `, left of `=`, uses exactly the numbers and equals 24. Linear in the text.
pub fn tree_of_thought(text: &str, numbers: &[Ratio], target: Ratio) -> bool {
    let line = text.trim().rsplit('\n').next().map_or(String::new(), str::to_lowercase);
    let line = line.replace("answer: ", "");
    let line = line.split('=').next().map_or("", str::trim);
    let mut runs: Vec<&str> =
        line.split(|c: char| !c.is_ascii_digit()).filter(|run| !run.is_empty()).collect();
    let mut given: Vec<String> = numbers
        .iter()
        .map(|one| one.integer().map_or(String::new(), |one| one.to_string()))
        .collect();
    runs.sort_unstable();
    given.sort_unstable();
    runs == given
        && compute(line, ExpressionStyle::Python, &mut ExactArithmetic::default()) == Some(target)
}
