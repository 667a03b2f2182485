//! `game24`: the game of 24.

use assay_puzzles::countdown::{UseRules, judge, tree_of_thought};
use assay_puzzles::expression::Operator;

use super::countdown::{expression, part, ratio, ratios, reason};
use crate::extract::{Thinking, thinking};
use crate::prelude::*;

/// Right when the answer is an expression over exactly the given numbers that equals 24.
///
/// The row has the numbers in a column, or in its reference as a list or under that name; `target` in
/// the reference may be another one than 24. The answer is the last `<answer>` tag, or else the last
/// line, `Answer: (10 - 4) * (9 - 5) = 24`.
#[derive(Debug, Deserialize, Serialize, JsonSchema, SmartDefault)]
#[serde(deny_unknown_fields, default)]
pub struct Game24 {
    /// The column with the numbers.
    #[default = "numbers"]
    numbers: String,
    /// Judge as the tree-of-thought paper does: the last line alone, whatever follows `=`, with any
    /// operator of Python, and the runs of digits as numbers, so that 1.5 is 1 and 5.
    official: bool,
}

const FOUR: &[Operator] =
    &[Operator::Add, Operator::Subtract, Operator::Multiply, Operator::Divide];

impl Check for Game24 {
    const ID: &'static str = "game24";
    const NO_GOLD: bool = true;

    fn columns(&self) -> Vec<(&'static str, String)> {
        vec![("numbers", self.numbers.clone())]
    }

    fn check(&self, sample: &Sample, meter: &mut Meter<'_>) -> Result<Verdict, Fault> {
        let own = part(sample, &self.numbers);
        let Some(numbers) = own.or_else(|| sample.reference().filter(|own| !own.is_object()))
        else {
            return Ok(Verdict::no_reference());
        };
        let numbers = ratios(numbers)?;
        let target = ratio(part(sample, "target").unwrap_or(&json!(24)))?;
        if self.official {
            let completion = sample.completion();
            meter.spend(200 * completion.len() as u64)?;
            let said = thinking::answer(completion, Thinking::Skip);
            let text = said.map_or("", |said| &completion[said]);
            let right = tree_of_thought(text, &numbers, target);
            return Ok(Verdict::graded(right).because(if right { "reached" } else { "missed" }));
        }
        let Some((span, _)) = expression(sample, meter)? else {
            return Ok(Verdict::graded(false).because("no-answer"));
        };
        meter.spend(200 * (span.len() + numbers.len()) as u64)?;
        let text = &sample.completion()[span.clone()];
        let attempt = judge(text, &numbers, target, UseRules { operators: FOUR, all: true });
        let verdict = Verdict::graded(attempt == assay_puzzles::countdown::Attempt::Reached);
        Ok(verdict.with_extracted(text, (span.start, span.end)).because(reason(attempt)))
    }
}
