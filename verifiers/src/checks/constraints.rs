//! `constraints`: an assignment of values to variables, held to the constraints of the row.

use std::borrow::Cow;

use assay_puzzles::constraints::{Halt, Problem};
use assay_puzzles::entry::weight;

use crate::OrderedMap;
use crate::prelude::*;
use crate::text_parts::{Place, share};

/// Right when every variable has a value of its domain, and all constraints hold.
///
/// The reference has `variables` (a list of names, or an object from names to a list of values,
/// `{"range": [1, 5]}` or `"bool"`) and `constraints`, lists with an operator first: `=`, `!=`, `<`,
/// `<=`, `>`, `>=`, `+`, `-`, `*`, `abs`, `mod`, `and`, `or`, `not`, `->`, `<->`, `xor`,
/// `all_different`, `adjacent`, `left_of`, `before`, `exactly`, `at_least`, `at_most`, `says`. A text
/// is a variable, or else itself. Or it has `clauses` of DIMACS, or `names` and `statements` of knights
/// and knaves (`["lying", 1]`, `["and", ...]`), or several of these.
///
/// The answer is the last code fence or answer tag, or else the completion: JSON, `name: value`,
/// `name = value` or `name is a value`, or literals such as `1 -2 3`.
#[derive(Debug, Default, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Constraints {
    /// Pay the share of constraints that hold. Without a value for every variable it is 0.
    partial: bool,
}

impl Check for Constraints {
    const ID: &'static str = "constraints";
    const NO_GOLD: bool = true;

    fn check(&self, sample: &Sample, meter: &mut Meter<'_>) -> Result<Verdict, Fault> {
        let Some(reference) = sample.reference() else { return Ok(Verdict::no_reference()) };
        meter.spend(200 * weight(reference))?;
        let reference = described(reference)?;
        let problem = Problem::of(&reference).map_err(Fault::bad_reference)?;
        let completion = sample.completion();
        meter.spend(200 * completion.len() as u64)?;
        let text = match Place::Any.find(completion, &["json"]) {
            Ok(span) => &completion[span],
            Err(reason) => return Ok(Verdict::graded(false).because(reason)),
        };
        let members = serde_json::from_str::<OrderedMap<Value>>(text.trim());
        if members.is_ok_and(|members| members.is_ambiguous()) {
            return Ok(Verdict::graded(false).because("duplicate-key"));
        }
        let mut values = problem.read(text);
        if let Some(name) = problem.unassigned(&mut values) {
            return Ok(Verdict::graded(false).with("variable", name).because("unassigned"));
        }
        let (holding, broken) = match problem.hold(&values, &mut |units| meter.spend(units)) {
            Ok(found) => found,
            Err(Halt::Bad(why)) => return Err(Fault::bad_reference(why)),
            Err(Halt::Pay(fault)) => return Err(fault),
        };
        let count = |count: usize| f64::from(u32::try_from(count).unwrap_or(u32::MAX));
        let verdict = match (broken, self.partial) {
            (Some(_), true) => share(count(holding) / count(problem.rules())),
            (broken, _) => Verdict::graded(broken.is_none()),
        };
        let verdict = verdict.with("holding", holding).with("constraints", problem.rules());
        Ok(match broken {
            Some(at) => verdict.with("broken", at).because("broken"),
            None => verdict.because("all-hold"),
        })
    }
}

/// A description: an object, or a text that holds one.
pub(super) fn described(value: &Value) -> Result<Cow<'_, Value>, Fault> {
    match value {
        Value::String(text) => serde_json::from_str(text)
            .map(Cow::Owned)
            .map_err(|_| Fault::bad_reference("the description is a text that is not JSON")),
        other => Ok(Cow::Borrowed(other)),
    }
}
