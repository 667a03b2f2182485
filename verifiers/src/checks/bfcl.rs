//! `bfcl`: calls of tools, judged as the Berkeley Function-Calling Leaderboard does.

use assay_calls::bfcl::{Category, Checker, Language, Route, UNJUDGEABLE, Version};
use assay_calls::{Calls, Format, Reading, Refusal};

use super::tool_call::{calls_of, format, noted, refused};
use crate::prelude::*;

/// Right when the AST checker of the Berkeley Function-Calling Leaderboard (v1 to v3, single turn)
/// accepts the calls.
///
/// The reference lists the calls, each with the allowed values of every argument, as
/// `possible_answer` of the leaderboard or as `{name, arguments}`; a value "" means that the
/// argument may be left out. The row has the schemas of the tools in a column, and its category in
/// another (`simple`, `live_parallel`, `simple_java`, `irrelevance`); without one, the count of
/// answers and of tools tells. Quirks are kept: texts are compared without ` ,./-_*^`, case and
/// kind of quotes, an integer is a float at the top level alone, parallel calls are matched
/// greedily. Arithmetic in arguments, which the official decoder evaluates, is refused.
#[derive(Debug, Deserialize, Serialize, JsonSchema, SmartDefault)]
#[serde(deny_unknown_fields, default)]
pub struct Bfcl {
    /// The version of the checker.
    version: Release,
    /// The column with the category.
    #[default = "category"]
    category: String,
    /// The column with the schemas of the tools.
    #[default = "tools"]
    tools: String,
    /// The notation of calls: `auto`, or one by name.
    #[default = "auto"]
    format: String,
    /// The model writes `_` for `.` in names of tools, as models do whose interface allows no dot.
    dotless: bool,
    #[serde(skip)]
    reading: Reading,
}

/// The version of the checker.
#[derive(Clone, Copy, Debug, Default, Deserialize, Serialize, JsonSchema)]
enum Release {
    /// As of August 2024.
    #[serde(rename = "2024-08")]
    Of2024,
    /// As of 2025 and 2026.
    #[default]
    #[serde(rename = "current")]
    Current,
}

impl Check for Bfcl {
    const ID: &'static str = "bfcl";
    const VERSION: u32 = 2;
    const ASPECT: Aspect = Aspect::Json;

    fn load(&mut self, _: &dyn Files) -> Result<(), BuildError> {
        self.reading = Reading { format: format(&self.format)?, names: true, text_after: false };
        Ok(())
    }

    fn columns(&self) -> Vec<(&'static str, String)> {
        vec![("tools", self.tools.clone())]
    }

    fn check(&self, sample: &Sample, meter: &mut Meter<'_>) -> Result<Verdict, Fault> {
        let category = self.category(sample)?;
        if matches!(category.route, Route::Irrelevance | Route::Relevance) {
            // What cannot be read calls nothing.
            let found = self.calls(sample, category, meter)?.unwrap_or_default();
            let right = found.calls.is_empty() == (category.route == Route::Irrelevance);
            let reason = if found.calls.is_empty() { "no-call" } else { "call" };
            return Ok(noted(Verdict::graded(right), &found).because(reason));
        }
        let Some(reference) = sample.reference() else { return Ok(Verdict::no_reference()) };
        let held = held(reference)?;
        let checker = self.checker(sample, held.as_ref().unwrap_or(reference), category)?;
        let found = match self.calls(sample, category, meter)? {
            Ok(found) => found,
            Err(refusal) => {
                return Ok(refused(&refusal).with("error_type", "ast_decoder:decoder_failed"));
            }
        };
        meter.spend(checker.cost(sample.completion().len()))?;
        let verdict = |right| noted(Verdict::graded(right), &found);
        match checker.check(&found.calls) {
            None => Ok(verdict(true).because("accepted")),
            Some(UNJUDGEABLE) => Err(Fault::bad_reference(
                "the schema or the answer has a form that the official checker cannot judge",
            )),
            Some(wrong) => Ok(verdict(false).with("error_type", wrong).because("rejected")),
        }
    }

    fn gold(&self, sample: &Sample) -> Option<Vec<String>> {
        if self.reading.format.is_some_and(|format| format != Format::Json) {
            return Some(Vec::new());
        }
        let category = self.category(sample).ok()?;
        let reference = sample.reference()?;
        let held = held(reference).ok()?;
        let checker = self.checker(sample, held.as_ref().unwrap_or(reference), category).ok()?;
        Some(checker.gold().map(|calls| calls.to_string()).into_iter().collect())
    }
}

/// The reference that a text holds.
fn held(reference: &Value) -> Result<Option<Value>, Fault> {
    let bad = |_| Fault::bad_reference("the reference is a text that is no JSON");
    reference.as_str().map(serde_json::from_str).transpose().map_err(bad)
}

impl Bfcl {
    fn category(&self, sample: &Sample) -> Result<Category, Fault> {
        match sample.column(&self.category) {
            Some(Value::String(name)) => Category::named(name).ok_or_else(|| {
                Fault::bad_reference(format!(
                    "category \"{name}\" is none that the AST checker judges"
                ))
            }),
            Some(Value::Null) | None => {
                let count =
                    |list: Option<&Value>| list.and_then(Value::as_array).map_or(1, Vec::len);
                let route = match (count(sample.reference()), count(sample.column(&self.tools))) {
                    (2.., _) => Route::Parallel,
                    (_, 2..) => Route::Multiple,
                    _ => Route::Simple,
                };
                Ok(Category { route, language: Language::Python })
            }
            Some(_) => {
                Err(Fault::bad_reference(format!("column \"{}\" is no text", self.category)))
            }
        }
    }

    fn checker<'s>(
        &self,
        sample: &'s Sample,
        reference: &'s Value,
        category: Category,
    ) -> Result<Checker<'s>, Fault> {
        let tools = sample.column(&self.tools);
        let tools = tools
            .ok_or_else(|| Fault::bad_input(format!("the row has no column \"{}\"", self.tools)))?;
        let version = match self.version {
            Release::Of2024 => Version::Of2024,
            Release::Current => Version::Current,
        };
        Checker::new(tools, reference, category, version, self.dotless)
            .map_err(Fault::bad_reference)
    }

    /// The calls. Those of Java and JavaScript are read as such where they are no JSON.
    fn calls(
        &self,
        sample: &Sample,
        category: Category,
        meter: &mut Meter<'_>,
    ) -> Result<Result<Calls, Refusal>, Fault> {
        let native = match category.language {
            Language::Python => None,
            Language::Java => Some(Format::Java),
            Language::JavaScript => Some(Format::JavaScript),
        };
        let found = calls_of(sample, self.reading, meter)?;
        let is_read =
            |found: &Calls| !found.calls.is_empty() && found.format != Some(Format::Python);
        match native {
            Some(native) if self.reading.format.is_none() && !found.as_ref().is_ok_and(is_read) => {
                calls_of(sample, Reading { format: Some(native), ..self.reading }, meter)
            }
            _ => Ok(found),
        }
    }
}
