//! What rows hold and a reward does not read: calls of tools, tables that are compared as text, tests whose function
//! stands under another key.

use assay::data::escape;
use assay::engine::{JudgedTurn, Planned, did_you_mean};
use serde_json::Value;

use super::lint::{ANSWERS, Lint};
use super::problem::{Problem, listed};
use super::read::Row;
use super::slips::which;

/// Verifiers that read the text of an answer and nothing else.
const READ_TEXT: [&str; 8] =
    ["exact", "math", "number", "choice", "json", "contains", "regex", "tags"];
/// Verifiers that compare an answer with the reference.
const COMPARE: [&str; 3] = ["exact", "choice", "math"];
/// One row in so many at least: a policy calls a tool at the end now and then.
const SHARE: usize = 4;

/// Keys under which others name the function that tests call, without what parts their words.
const FUNCTIONS: [&str; 8] =
    ["fnname", "fn", "func", "funcname", "function", "functionname", "entrypoint", "methodname"];
/// A key that is no longer may be a slip of `fn_name`.
const SLIP_CHARS_MAX: usize = 8;

/// Keys under which it is read.
const READ_FUNCTIONS: [&str; 3] = ["fn_name", "func_name", "entry_point"];

impl Lint<'_> {
    /// What rewards do not read of the rows.
    pub(super) fn of_unread(&self) -> Vec<Problem> {
        let rewards = self.plan.rewards.iter().enumerate();
        let told = |(at, planned): (usize, &Planned)| {
            let id = planned.built.spec.id.as_ref();
            let rows = self.rows_of(at);
            let calls = READ_TEXT.contains(&id).then(|| self.calls(at, id, &rows));
            let tables = COMPARE.contains(&id).then(|| self.tables(at, id, &rows));
            let is_suite = ["unit_tests", "stdin_stdout"].contains(&id);
            let functions = is_suite.then(|| self.functions(at, &rows));
            [calls, tables, functions].into_iter().flatten().flatten().collect::<Vec<_>>()
        };
        rewards.flat_map(told).collect()
    }

    /// Calls of tools without text.
    fn calls(&self, at: usize, id: &str, rows: &[&Row]) -> Option<Problem> {
        // Another message may be the answer.
        if self.plan.config.rewards.get(at)?.turn != JudgedTurn::default() {
            return None;
        }
        let is_call = |row: &&&Row| row.has_calls() && row.is_blank();
        let with: Vec<&&Row> = rows.iter().filter(is_call).collect();
        let first = with.first().filter(|_| with.len() * SHARE >= rows.len())?;
        let message = format!(
            "{}: the completion is calls of tools without text, and `{id}` reads text alone",
            which(with.len(), first.number)
        );
        let help = "verifier = \"python_check\" sees the calls: def grade(sample, item) has them in \
                    sample[\"output_tools\"]; or end the conversation with an answer of the assistant";
        Some(self.setting(at, "verifier", message, help.to_owned()))
    }

    /// Tables that are compared as text.
    fn tables(&self, at: usize, id: &str, rows: &[&Row]) -> Option<Problem> {
        let table = |row: &Row| match row.sample.reference()? {
            Value::Object(members) if id == "exact" => Some(members.clone()),
            Value::String(text) if text.trim_start().starts_with('{') => {
                serde_json::from_str(text).ok()
            }
            _ => None,
        };
        let is_given = |row: &Row| {
            let text = row.sample.reference_text().unwrap_or_default();
            row.sample.completion().contains(text.trim())
        };
        let with: Vec<&&Row> = rows.iter().filter(|row| table(row).is_some()).collect();
        // Where answers are such tables, they are compared well enough.
        let first = with.first().filter(|_| !with.iter().any(|row| is_given(row)))?;
        let members = table(first)?;
        if members.is_empty() || ANSWERS.iter().any(|key| members.contains_key(*key)) {
            return None;
        }
        let is_constraint =
            ["func_name", "instruction_id", "instruction_id_list", "constraint_type", "kwargs"]
                .into_iter()
                .any(|key| members.contains_key(key));
        let place = which(with.len(), first.number);
        let keys = listed(members.keys().map(String::as_str));
        let (what, help) = if is_constraint {
            (
                "what an answer must obey, and no answer",
                "write what obeys it into a reward: verifier = \"python_check\", whose function reads \
                 sample[\"reference\"]"
                    .to_owned(),
            )
        } else {
            let column = &self.plan.config.data.reference;
            let member = members.keys().next().map_or("MEMBER", String::as_str);
            (
                "a table, and no answer",
                format!(
                    "[data] reference = \"{}.{}\" names a member of it; verifier = \"json\" with equals_reference = \
                     true compares tables",
                    escape(column),
                    escape(member)
                ),
            )
        };
        let message =
            format!("{place}: the reference is {what} (it has {keys}): `{id}` compares it as text");
        Some(self.setting(at, "verifier", message, help))
    }

    /// Tests of inputs and outputs whose function stands under another key than `fn_name`.
    fn functions(&self, at: usize, rows: &[&Row]) -> Option<Problem> {
        let key = |row: &Row| {
            let parsed: Value;
            let reference = match row.sample.reference()? {
                Value::String(text) => {
                    parsed = serde_json::from_str(text).ok()?;
                    &parsed
                }
                other => other,
            };
            let members = reference.as_object()?;
            let is_suite = members.contains_key("inputs") && members.contains_key("outputs");
            let within = members.get("metadata").and_then(Value::as_object);
            let is_named = [Some(members), within]
                .into_iter()
                .flatten()
                .any(|place| READ_FUNCTIONS.iter().any(|key| place.contains_key(*key)));
            let is_name = |value: &Value| {
                value.as_str().is_some_and(|text| {
                    !text.is_empty()
                        && text.chars().all(|char| char.is_alphanumeric() || char == '_')
                })
            };
            let is_meant = |key: &str| {
                let word = key.to_lowercase().replace(['_', '-', ' '], "");
                let is_slip = || {
                    let is_short = key.starts_with('f') && key.len() <= SLIP_CHARS_MAX;
                    is_short && did_you_mean(key, ["fn_name"]).is_some()
                };
                FUNCTIONS.contains(&word.as_str()) || is_slip()
            };
            let mut named = members.iter().filter(|(key, value)| is_meant(key) && is_name(value));
            let (key, _) = named.next().filter(|_| is_suite && !is_named)?;
            Some(key.clone())
        };
        let with: Vec<(&&Row, String)> =
            rows.iter().filter_map(|row| Some((row, key(row)?))).collect();
        let (first, key) = with.first()?;
        let message = format!(
            "{}: the tests name a function by `{}`, which nothing reads: each program is run as a whole, on its input",
            which(with.len(), first.number),
            escape(key)
        );
        let help =
            "write \"fn_name\": \"...\" beside inputs and outputs, and verifier = \"unit_tests\"";
        Some(self.setting(at, "verifier", message, help.to_owned()))
    }
}
