//! `calculator`: the calculations that an answer writes down are right.

use std::collections::BTreeSet;

use assay_structure::calculator::{Calculation, Outcome, marked, plain};

use crate::prelude::*;
use crate::text_parts::share;

/// Right when every calculation of the completion is right, and there are enough of them.
///
/// Calculations stand in marks, `<<48/2=24>>`, and with `prose` also in the text: `48 / 2 = 24`. Values
/// are exact fractions; a result may be rounded to the decimals that it has. What calculates nothing
/// (`<<5=5>>`) and what is written twice counts once or not at all. Thinking counts too.
#[derive(Debug, Deserialize, Serialize, JsonSchema, SmartDefault)]
#[serde(deny_unknown_fields, default)]
pub struct Calculator {
    /// What stands before a calculation.
    #[default = "<<"]
    open: String,
    /// What stands behind it.
    #[default = ">>"]
    close: String,
    /// Calculations of the text count too.
    prose: bool,
    /// The fewest different calculations. With 0, a completion without any abstains.
    #[default(1)]
    least: usize,
    /// A result must not be rounded.
    exact: bool,
    /// Pay the share of calculations that are right.
    partial: bool,
}

impl Check for Calculator {
    const ID: &'static str = "calculator";
    const NO_GOLD: bool = true;

    fn load(&mut self, _: &dyn Files) -> Result<(), BuildError> {
        for (name, mark) in [("open", &self.open), ("close", &self.close)] {
            if mark.trim().is_empty() {
                return Err(BuildError::new(name, "a mark is not blank"));
            }
        }
        Ok(())
    }

    fn check(&self, sample: &Sample, meter: &mut Meter<'_>) -> Result<Verdict, Fault> {
        let text = sample.completion();
        meter.spend(100 * text.len() as u64)?;
        let mut found = marked(text, &self.open, &self.close);
        if self.prose {
            meter.spend(300 * text.len() as u64)?;
            let inside = |at: usize| found.iter().any(|one: &Calculation| one.span.contains(&at));
            let more: Vec<Calculation> =
                plain(text).into_iter().filter(|one| !inside(one.span.end - 1)).collect();
            found.extend(more);
        }
        let mut seen = BTreeSet::new();
        let squeezed = |one: &Calculation| {
            text.get(one.span.clone()).map(|part| part.split_whitespace().collect::<String>())
        };
        found.retain(|one| squeezed(one).is_some_and(|part| seen.insert(part)));
        let is_right = |one: &&Calculation| match one.outcome {
            Outcome::Exact => true,
            Outcome::Rounded => !self.exact,
            Outcome::Wrong | Outcome::Unreadable => false,
        };
        let right = found.iter().filter(is_right).count();
        let count = |count: usize| f64::from(u32::try_from(count).unwrap_or(u32::MAX));
        if found.is_empty() && self.least == 0 {
            return Ok(Verdict::abstained("the completion calculates nothing"));
        }
        if found.len() < self.least {
            return Ok(Verdict::graded(false).with("calculations", found.len()).because("too-few"));
        }
        let Some(wrong) = found.iter().find(|one| !is_right(one)) else {
            return Ok(Verdict::graded(true).with("calculations", found.len()).because("right"));
        };
        let reward = if self.partial { count(right) / count(found.len()) } else { 0.0 };
        let span = (wrong.span.start, wrong.span.end);
        let verdict = share(reward).with_extracted(&text[wrong.span.clone()], span);
        let reason = if wrong.outcome == Outcome::Unreadable { "unreadable" } else { "wrong" };
        Ok(verdict.with("calculations", found.len()).with("right", right).because(reason))
    }
}
