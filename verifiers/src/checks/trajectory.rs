//! `trajectory`: what an agent did on its way.

use assay_calls::trajectory::{self, Account, Message, Step};
use assay_calls::{Refusal, schema};

use super::tool_call::{tool_list, tools};
use crate::pattern::effort::Effort;
use crate::prelude::*;
use crate::sample::Content;

/// Right when the steps of an agent meet every condition.
///
/// Steps are read from messages (`tool_calls`, `tool_use`, role `tool`, `tool_result`), or from the
/// tags of a text: `<think>`, `<tool_call>`, `<search>`, `<tool_response>`, `<information>`,
/// `<answer>` and the like. Conditions: tools that must or must not be called, or in this order;
/// limits on turns, calls, repeated and invalid calls; that each error is followed by another call
/// and a success; that an answer ends it. With `discount`, each turn after the first multiplies the
/// reward.
#[derive(Debug, Deserialize, Serialize, JsonSchema, SmartDefault)]
#[serde(deny_unknown_fields, default)]
pub struct Trajectory {
    /// Tools that must be called.
    required: Vec<String>,
    /// Tools that must not be called.
    forbidden: Vec<String>,
    /// Tools that must be called in this order, others between them.
    ordered: Vec<String>,
    /// The reference lists tools that must be called, or in order.
    reference: Option<ByReference>,
    /// The most turns: how often the model speaks before it is answered.
    turns_max: Option<usize>,
    /// The most calls.
    calls_max: Option<usize>,
    /// The most calls that were made before with the same arguments, or malformed in the same way.
    repeats_max: Option<usize>,
    /// The most calls that are malformed, or of a tool that the row has not.
    invalid_max: Option<usize>,
    /// After each error another call must be made, and a success must follow.
    recovers: bool,
    /// An answer must end it, and say something.
    answers: bool,
    /// The column with the schemas of the tools. Without it, every tool is known.
    #[default = "tools"]
    tools: String,
    /// Patterns of which one is found in an observation that is an error. By default one that
    /// begins with a word such as "error", has a traceback, or is an object with `error`.
    errors: Vec<Pattern>,
    /// Pay the share of the conditions that are met, each by its own share.
    partial: bool,
    /// What each turn after the first multiplies the reward by.
    #[default(1.0)]
    discount: f64,
    #[serde(skip)]
    efforts: Vec<Effort>,
}

/// What the reference lists.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum ByReference {
    /// Tools that must be called.
    Required,
    /// Tools that must be called in this order.
    Ordered,
}

impl Check for Trajectory {
    const ID: &'static str = "trajectory";
    const VERSION: u32 = 2;
    const NO_GOLD: bool = true;

    fn load(&mut self, _: &dyn Files) -> Result<(), BuildError> {
        let limits = [self.turns_max, self.calls_max, self.repeats_max, self.invalid_max];
        let lists = [&self.required, &self.forbidden, &self.ordered];
        let has_some =
            limits.iter().any(Option::is_some) || lists.iter().any(|list| !list.is_empty());
        if !(has_some || self.recovers || self.answers || self.reference.is_some()) {
            return Err(BuildError::new("required", "without a condition everything is right"));
        }
        if self.required.iter().any(|name| self.forbidden.contains(name)) {
            return Err(BuildError::new("forbidden", "a tool is required and forbidden"));
        }
        if !(self.discount > 0.0 && self.discount <= 1.0) {
            return Err(BuildError::new("discount", "a discount is above 0 and at most 1"));
        }
        for pattern in &self.errors {
            let effort = Effort::new(pattern.as_str(), 0);
            self.efforts.push(effort.map_err(|error| BuildError::new("errors", error))?);
        }
        Ok(())
    }

    fn check(&self, sample: &Sample, meter: &mut Meter<'_>) -> Result<Verdict, Fault> {
        let listed = match (self.reference, sample.reference()) {
            (None, _) => Vec::new(),
            (Some(_), None) => return Ok(Verdict::no_reference()),
            (Some(_), Some(reference)) => names(reference)?,
        };
        let steps = self.steps(sample, meter)?;
        let list = tool_list(sample, &self.tools);
        let known = tools(list.as_deref(), &self.tools)?;
        let is_known = |name: &str| {
            known
                .as_ref()
                .is_none_or(|all: &Vec<schema::Tool<'_>>| all.iter().any(|tool| tool.name == name))
        };
        let own = trajectory::account(&steps, &is_known);
        meter.spend(
            (own.calls.len()
                * (1 + known.as_ref().map_or(0, Vec::len) + self.required.len() + listed.len()))
                as u64,
        )?;
        let conditions = self.conditions(&own, &listed);
        let met = conditions.iter().all(|(_, share)| *share >= 1.0);
        let mean = conditions.iter().map(|(_, share)| share).sum::<f64>()
            / number(conditions.len().max(1));
        let outcome = if met {
            1.0
        } else if self.partial {
            mean.min(1.0)
        } else {
            0.0
        };
        let reward = Reward::new(own.discounted(outcome, self.discount)).unwrap_or(Reward::ZERO);
        let mut verdict = Verdict::scored(reward);
        let unmet =
            conditions.iter().find(|(_, share)| *share < 1.0).map_or("met", |(name, _)| *name);
        for (name, share) in conditions {
            verdict
                .components
                .push(name, Outcome::Scored(Reward::new(share).unwrap_or(Reward::ZERO)).into());
        }
        let refused = steps.iter().find_map(|step| step.calls.as_ref().err());
        let counts = [
            ("turns", own.turns),
            ("calls", own.calls.len()),
            ("repeats", own.repeats),
            ("invalid", own.invalid),
        ];
        let counts =
            counts.into_iter().chain([("errors", own.errors), ("recovered", own.recovered)]);
        let verdict =
            counts.fold(verdict, |verdict, (name, count)| verdict.with(name, count as u64));
        let verdict = match refused {
            Some(Refusal { code, .. }) => verdict.with("malformed", code.as_str()),
            None => verdict,
        };
        Ok(verdict.because(unmet))
    }
}

fn number(count: usize) -> f64 {
    f64::from(u32::try_from(count).unwrap_or(u32::MAX))
}

/// The names of tools that a reference lists.
fn names(reference: &Value) -> Result<Vec<String>, Fault> {
    let bad = || Fault::bad_reference("the reference is no list of names of tools");
    let names: Vec<String> = match reference {
        Value::Array(names) => names
            .iter()
            .map(|name| name.as_str().map(str::to_owned))
            .collect::<Option<_>>()
            .ok_or_else(bad)?,
        Value::String(name) => vec![name.clone()],
        _ => return Err(bad()),
    };
    if names.is_empty() { Err(bad()) } else { Ok(names) }
}

impl Trajectory {
    /// The conditions, and how far each is met.
    fn conditions(&self, own: &Account<'_>, listed: &[String]) -> Vec<(&'static str, f64)> {
        let passed = |is_met: bool| if is_met { 1.0 } else { 0.0 };
        let mut conditions = Vec::new();
        let by = |which| if self.reference == Some(which) { listed } else { &[] };
        for (name, settings, by) in [
            ("required", &self.required, by(ByReference::Required)),
            ("ordered", &self.ordered, by(ByReference::Ordered)),
        ] {
            for names in [settings.as_slice(), by].into_iter().filter(|names| !names.is_empty()) {
                let share =
                    if name == "required" { own.required(names) } else { own.ordered(names) };
                conditions.push((name, share));
            }
        }
        if !self.forbidden.is_empty() {
            conditions.push(("forbidden", passed(own.forbidden(&self.forbidden).is_none())));
        }
        for (name, limit, count) in [
            ("turns", self.turns_max, own.turns),
            ("calls", self.calls_max, own.calls.len()),
            ("repeats", self.repeats_max, own.repeats),
            ("invalid", self.invalid_max, own.invalid),
        ] {
            conditions.extend(limit.map(|limit| (name, passed(count <= limit))));
        }
        if self.recovers {
            conditions.push(("recovers", own.recovery()));
        }
        if self.answers {
            conditions.push(("answers", passed(own.is_answered)));
        }
        conditions
    }

    fn steps(&self, sample: &Sample, meter: &mut Meter<'_>) -> Result<Vec<Step>, Fault> {
        let is_error = |text: &str| match self.errors.as_slice() {
            [] => trajectory::looks_like_error(text),
            patterns => patterns.iter().any(|pattern| pattern.is_match(text)),
        };
        let messages = match sample.completion_content() {
            Content::Text(text) => {
                self.pay(text.len(), meter)?;
                return Ok(trajectory::steps_of_text(text, &is_error));
            }
            Content::Messages(messages) => messages,
        };
        let mut values = Vec::with_capacity(messages.len());
        for message in messages {
            meter.spend(message.text().len() as u64)?;
            let value = message.to_value();
            self.pay(64 + bytes(&value), meter)?;
            values.push(value);
        }
        let messages: Vec<Message<'_>> = values.iter().map(Message::from_json).collect();
        Ok(trajectory::steps(&messages, &is_error))
    }

    /// Pays for reading a text, and for each pattern.
    fn pay(&self, bytes: usize, meter: &mut Meter<'_>) -> Result<(), Fault> {
        let searches: u64 = self.efforts.iter().map(|effort| effort.most(bytes)).sum();
        meter.spend(searches.saturating_add(bytes as u64 * 3 / 2))
    }
}

/// How long the texts of a message are. Its depth is bounded by the reader of rows.
fn bytes(value: &Value) -> usize {
    match value {
        Value::String(text) => text.len(),
        Value::Array(elements) => elements.iter().map(|element| 1 + bytes(element)).sum(),
        Value::Object(members) => members.iter().map(|(name, own)| name.len() + bytes(own)).sum(),
        _ => 1,
    }
}
