//! `tool_call`: the calls of tools that a completion makes are those that are expected.

use std::borrow::Cow;
use std::collections::BTreeMap;

use assay_calls::compare::{Comparison, Expected, Prices, Rule, compare};
use assay_calls::{Call, Calls, Code, Format, Reading, Refusal, read, schema};
use serde_json::Map;

use crate::pattern::effort::Effort;
use crate::prelude::*;
use crate::sample::{Message, MessageContent};

/// Right when the completion calls the tools that the reference lists, with their arguments, and no
/// other.
///
/// The reference is a list of `{name, arguments}`, as a value or as JSON in text, or a text with calls of
/// Python, `[f(a=1)]`; an empty list means that no tool may be called. Calls are taken from the message (`tool_calls` of `OpenAI`,
/// `tool_use` of Anthropic, items `function_call`), else read from the text, in the notation of the
/// model: JSON, the tags and tokens of Qwen, Hermes, Llama, Mistral, `DeepSeek`, GLM, Kimi, Phi,
/// Granite, gpt-oss, Command R, `MiniMax`, `InternLM`, Functionary and Jamba, `ReAct`, calls of
/// Python. In JSON, and in brackets of Python, a name may have several words. What is thought, quoted or an example is no call, and a malformed attempt earns nothing: the evidence says why. Calls are
/// matched so that the most is earned, each argument by its rule. Rules name an argument, `city`,
/// or that of one tool, `weather.city`; arguments without a rule must be equal as JSON.
#[derive(Debug, Deserialize, Serialize, JsonSchema, SmartDefault)]
#[serde(deny_unknown_fields, default)]
pub struct ToolCallCheck {
    /// The notation: `auto`, or one by name, such as `hermes`, `llama`, `python`.
    #[default = "auto"]
    format: String,
    /// Text behind calls is allowed.
    text_after: bool,
    /// The column with the schemas of the tools, in the shape of `OpenAI`, Anthropic or BFCL. Text
    /// in tags gets its types from them.
    #[default = "tools"]
    tools: String,
    /// Every call must be valid by the schema of its tool: name, required arguments, types,
    /// enumerations.
    schema: bool,
    /// The order of calls.
    order: Order,
    /// Arguments that may have any value, or none.
    any: Vec<String>,
    /// Arguments whose words must be equal, whatever their case and punctuation.
    text: Vec<String>,
    /// Arguments that are lists in any order.
    set: Vec<String>,
    /// Arguments for which the reference lists the values that are right.
    one_of: Vec<String>,
    /// Arguments that are numbers with a tolerance: `{ radius = { rel = 0.01 } }`.
    numbers: BTreeMap<String, Tolerance>,
    /// Arguments that are texts in which a pattern is found, whatever the reference says.
    patterns: BTreeMap<String, Pattern>,
    /// Pay for a part: the mean over calls of the share of their arguments that are right.
    partial: bool,
    /// With `partial`: what the right name of a tool earns alone.
    name_share: f64,
    /// With `partial`: how much a missing call weighs.
    #[default(1.0)]
    missing: f64,
    /// With `partial`: how much a call weighs that nothing expects.
    #[default(1.0)]
    extra: f64,
    #[serde(skip)]
    reading: Reading,
    #[serde(skip)]
    rules: BTreeMap<String, Rule>,
    #[serde(skip)]
    efforts: Vec<(Pattern, Effort)>,
}

/// The order of calls.
#[derive(Clone, Copy, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Order {
    /// Any order.
    #[default]
    Any,
    /// That of the reference.
    Exact,
    /// The reference is a list of lists: the calls of one come in any order, before those of the
    /// next.
    Partial,
}

/// How far a number may be off: by the greater of both.
#[derive(Clone, Copy, Debug, Default, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
struct Tolerance {
    /// Relative to the expected number.
    rel: f64,
    /// In units.
    abs: f64,
}

/// A call that is expected: its tool, its arguments, its stage.
type Wanted = (String, Map<String, Value>, usize);

impl Check for ToolCallCheck {
    const ID: &'static str = "tool_call";
    const VERSION: u32 = 2;
    const ASPECT: Aspect = Aspect::Json;

    fn load(&mut self, _: &dyn Files) -> Result<(), BuildError> {
        self.reading =
            Reading { format: format(&self.format)?, names: false, text_after: self.text_after };
        let prices =
            [("name_share", self.name_share), ("missing", self.missing), ("extra", self.extra)];
        for (name, price) in prices {
            if !(0.0..=1.0).contains(&price) {
                return Err(BuildError::new(name, "a price is in 0 to 1"));
            }
        }
        for (name, own) in &self.numbers {
            if !(own.rel >= 0.0 && own.abs >= 0.0 && own.rel.is_finite() && own.abs.is_finite()) {
                return Err(BuildError::new(
                    format!("numbers.{name}"),
                    "a tolerance is at least 0",
                ));
            }
        }
        for (name, pattern) in &self.patterns {
            let effort = Effort::new(pattern.as_str(), 0);
            let effort =
                effort.map_err(|error| BuildError::new(format!("patterns.{name}"), error))?;
            self.efforts.push((pattern.clone(), effort));
        }
        let lists = [
            (&self.any, Rule::Any),
            (&self.text, Rule::Text),
            (&self.set, Rule::Set),
            (&self.one_of, Rule::OneOf),
        ];
        let listed = lists.iter().flat_map(|(names, rule)| names.iter().map(|name| (name, *rule)));
        let numbers = self
            .numbers
            .iter()
            .map(|(name, own)| (name, Rule::Number { rel: own.rel, abs: own.abs }));
        let patterns = self.patterns.keys().enumerate().map(|(at, name)| (name, Rule::Other(at)));
        for (name, rule) in listed.chain(numbers).chain(patterns) {
            if self.rules.insert(name.clone(), rule).is_some() {
                return Err(BuildError::new("", format!("argument \"{name}\" has two rules")));
            }
        }
        Ok(())
    }

    fn columns(&self) -> Vec<(&'static str, String)> {
        if self.schema { vec![("tools", self.tools.clone())] } else { Vec::new() }
    }

    fn check(&self, sample: &Sample, meter: &mut Meter<'_>) -> Result<Verdict, Fault> {
        let Some(reference) = sample.reference() else { return Ok(Verdict::no_reference()) };
        let wanted = self.wanted(reference)?;
        let list = tool_list(sample, &self.tools);
        let tools = tools(list.as_deref(), &self.tools)?;
        let mut found = match calls_of(sample, self.reading, meter)? {
            Ok(found) => found,
            Err(refusal) => return Ok(refused(&refusal)),
        };
        if let Some(tools) = &tools {
            meter.spend((found.calls.len() * tools.len()) as u64)?;
            schema::resolve(&mut found.calls, tools);
        }
        if self.schema {
            let tools = tools.ok_or_else(|| Fault::bad_input("the row has no schemas of tools"))?;
            for call in &found.calls {
                if let Some(wrong) = schema::check(call, &tools, &mut |units| meter.spend(units))? {
                    let verdict = Verdict::graded(false).with("tool", call.name.as_str());
                    return Ok(verdict
                        .with("at", wrong.path)
                        .with("rule", wrong.rule)
                        .because("schema"));
                }
            }
        }
        self.judge(&wanted, &found, meter)
    }

    fn gold(&self, sample: &Sample) -> Option<Vec<String>> {
        let is_json = self.reading.format.is_none_or(|format| format == Format::Json);
        if !self.patterns.is_empty() || !is_json {
            return Some(Vec::new());
        }
        let wanted = self.wanted(sample.reference()?).ok()?;
        let first = |tool: &str, name: &str, value: &Value| match (self.rule(tool, name), value) {
            (Rule::OneOf, Value::Array(options)) => options.first().cloned().unwrap_or_default(),
            _ => value.clone(),
        };
        let calls = wanted.iter().map(|(tool, arguments, _)| {
            let own =
                arguments.iter().map(|(name, value)| (name.clone(), first(tool, name, value)));
            json!({"name": tool, "arguments": own.collect::<Map<_, _>>()})
        });
        Some(vec![Value::Array(calls.collect()).to_string()])
    }
}

impl ToolCallCheck {
    fn rule(&self, tool: &str, name: &str) -> Rule {
        let own =
            if self.rules.is_empty() { None } else { self.rules.get(&format!("{tool}.{name}")) };
        own.or_else(|| self.rules.get(name)).copied().unwrap_or_default()
    }

    fn judge(
        &self,
        wanted: &[Wanted],
        found: &Calls,
        meter: &mut Meter<'_>,
    ) -> Result<Verdict, Fault> {
        let expected: Vec<Expected<'_>> = wanted
            .iter()
            .map(|(name, arguments, stage)| Expected { name, arguments, stage: *stage })
            .collect();
        let meter = std::cell::RefCell::new(meter);
        let prices = Prices { name: self.name_share, missing: self.missing, extra: self.extra };
        let own = compare(
            &expected,
            &found.calls,
            &|tool, name| self.rule(tool, name),
            &prices,
            &mut |which, _, value| {
                let text = value.as_text().map_or_else(|| value.to_string(), str::to_owned);
                let Some((pattern, effort)) = self.efforts.get(which) else { return Ok(0.0) };
                effort.of(&text).pay(0, &mut meter.borrow_mut())?;
                Ok(if pattern.is_match(&text) { 1.0 } else { 0.0 })
            },
            &mut |units| meter.borrow_mut().spend(units),
        )?;
        let reward = if self.partial { Reward::new(own.score) } else { None };
        let mut verdict = Verdict::scored(reward.unwrap_or(Reward::graded(own.is_right)));
        let pairs = own.pairs.len();
        for (name, part) in [
            ("expected", share(pairs, pairs + own.missing)),
            ("unexpected", share(pairs, pairs + own.extra)),
            ("arguments", own.arguments),
            ("order", own.order),
        ] {
            verdict
                .components
                .push(name, Outcome::Scored(Reward::new(part).unwrap_or(Reward::ZERO)).into());
        }
        Ok(noted(verdict, found).because(reason(&own, found)))
    }

    /// The calls that a reference lists.
    fn wanted(&self, reference: &Value) -> Result<Vec<Wanted>, Fault> {
        let bad =
            || Fault::bad_reference("the reference is no list of calls with names and arguments");
        let held = reference.as_str().map(|text| listed(text).ok_or_else(bad)).transpose()?;
        let reference = held.as_ref().unwrap_or(reference);
        let reference = reference.get("tool_calls").unwrap_or(reference);
        let list = reference.as_array().map_or(std::slice::from_ref(reference), Vec::as_slice);
        let mut wanted = Vec::new();
        for (at, entry) in list.iter().enumerate() {
            let stage = match (self.order, entry) {
                (Order::Partial, Value::Array(stage)) => stage.as_slice(),
                (Order::Partial, _) => {
                    return Err(Fault::bad_reference(
                        "order = \"partial\" wants a list of lists of calls",
                    ));
                }
                _ => std::slice::from_ref(entry),
            };
            for call in stage {
                let call = call.get("function").filter(|inner| inner.is_object()).unwrap_or(call);
                let name = call.get("name").and_then(Value::as_str).ok_or_else(bad)?;
                let arguments = match call.get("arguments") {
                    Some(Value::Object(own)) => own.clone(),
                    Some(Value::String(text)) => serde_json::from_str(text).map_err(|_| bad())?,
                    _ => return Err(bad()),
                };
                wanted.push((
                    name.to_owned(),
                    arguments,
                    if self.order == Order::Any { 0 } else { at },
                ));
            }
        }
        Ok(wanted)
    }
}

/// The calls that a text lists: JSON, or calls in the syntax of Python.
fn listed(text: &str) -> Option<Value> {
    let how = Reading { format: Some(Format::Python), ..Reading::default() };
    let calls = || read(text, how).ok().map(|found| found.calls).filter(|calls| !calls.is_empty());
    let call = |call: Call| {
        let arguments: Value = serde_json::from_str(&call.arguments.to_string()).ok()?;
        call.positional.is_empty().then(|| json!({"name": call.name, "arguments": arguments}))
    };
    serde_json::from_str(text).ok().or_else(|| calls()?.into_iter().map(call).collect())
}

fn reason(own: &Comparison, found: &Calls) -> &'static str {
    match own {
        Comparison { is_right: true, .. } => "equal",
        _ if found.calls.is_empty() => "no-call",
        Comparison { missing: 1.., .. } => "missing-call",
        Comparison { extra: 1.., .. } => "extra-call",
        Comparison { order, .. } if *order < 1.0 => "order",
        _ => "arguments",
    }
}

fn share(part: usize, whole: usize) -> f64 {
    let number = |count: usize| f64::from(u32::try_from(count).unwrap_or(u32::MAX));
    if whole == 0 { 1.0 } else { number(part) / number(whole) }
}

/// The notation of this name; none for `auto`.
pub(super) fn format(name: &str) -> Result<Option<Format>, BuildError> {
    match Format::named(name) {
        None if name == "auto" => Ok(None),
        None => {
            let names = Format::ALL.iter().map(|format| format.name());
            Err(BuildError::new("format", format!("no notation is called \"{name}\""))
                .expected(std::iter::once("auto").chain(names)))
        }
        found => Ok(found),
    }
}

/// Notes the notation, the place and the names of calls.
pub(super) fn noted(verdict: Verdict, found: &Calls) -> Verdict {
    let spans = found.calls.iter().map(|call| &call.span).filter(|span| !span.is_empty());
    let ends =
        spans.fold(None, |ends: Option<(usize, usize)>, span| {
            Some(ends.map_or((span.start, span.end), |(from, to)| {
                (from.min(span.start), to.max(span.end))
            }))
        });
    let names: Vec<&str> = found.calls.iter().take(16).map(|call| call.name.as_str()).collect();
    let mut verdict = verdict.with("calls", names);
    if let Some(format) = found.format {
        verdict = verdict.with("format", format.name());
    }
    match ends {
        Some((from, to)) => verdict.with("span", vec![from, to]),
        None => verdict,
    }
}

/// A malformed attempt at a call.
pub(super) fn refused(refusal: &Refusal) -> Verdict {
    let span = vec![refusal.span.start, refusal.span.end];
    Verdict::graded(false).with("span", span).because(refusal.code.as_str())
}

/// The tools of a row, where it has them, as a value or as JSON in text.
pub(super) fn tool_list<'s>(sample: &'s Sample, column: &str) -> Option<Cow<'s, Value>> {
    let value = sample.column(column).filter(|value| !value.is_null())?;
    let held = value.as_str().and_then(|text| serde_json::from_str(text).ok());
    Some(held.map_or(Cow::Borrowed(value), Cow::Owned))
}

/// Their schemas.
pub(super) fn tools<'s>(
    list: Option<&'s Value>,
    column: &str,
) -> Result<Option<Vec<schema::Tool<'s>>>, Fault> {
    let Some(value) = list else { return Ok(None) };
    let bad = || Fault::bad_input(format!("column \"{column}\" is no list of tools with schemas"));
    schema::tools(value).map(Some).ok_or_else(bad)
}

/// The calls of the message that is judged, or else of its text.
pub(super) fn calls_of(
    sample: &Sample,
    how: Reading,
    meter: &mut Meter<'_>,
) -> Result<Result<Calls, Refusal>, Fault> {
    let text = sample.completion();
    meter.spend(text.len() as u64 * 3 / 2)?;
    let Some(message) = sample.completion_message() else { return Ok(read(text, how)) };
    let mut given: Vec<(&str, &Value)> =
        message.tool_calls.iter().map(|call| (call.name.as_str(), &call.arguments)).collect();
    match &message.content {
        // Items of one answer stand side by side.
        MessageContent::Item(_) => {
            let all = sample.completion_content().messages().into_iter().flatten().rev();
            let own: Vec<&Message> = all.take_while(|one| is_own(one)).collect();
            given.extend(own.into_iter().rev().filter_map(|one| item(&one.other)));
        }
        MessageContent::Parts { parts, .. } => {
            let uses = parts
                .iter()
                .filter(|part| part.get("type").and_then(Value::as_str) == Some("tool_use"));
            given.extend(
                uses.filter_map(|part| Some((part.get("name")?.as_str()?, part.get("input")?))),
            );
        }
        MessageContent::Text(_) => {}
    }
    if message.other.contains_key("tool_calls") {
        return Ok(Err(Refusal { code: Code::NotACall, span: 0..0 }));
    }
    if given.is_empty() {
        return Ok(read(text, how));
    }
    let format = Some(Format::OpenAi);
    let mut calls = Vec::with_capacity(given.len());
    for (name, arguments) in given {
        meter.spend(16 + 2 * arguments.as_str().map_or(0, str::len) as u64)?;
        match Call::from_parts(name, arguments) {
            Ok(call) => calls.push(call),
            Err(refusal) => return Ok(Err(refusal)),
        }
    }
    Ok(Ok(Calls { calls, format }))
}

/// Whether a message is an item of what the model says.
fn is_own(message: &Message) -> bool {
    matches!(message.role.as_str(), "function_call" | "reasoning" | "assistant")
}

fn item(members: &Map<String, Value>) -> Option<(&str, &Value)> {
    let is_call = members.get("type")?.as_str()? == "function_call";
    is_call.then_some((members.get("name")?.as_str()?, members.get("arguments")?))
}
