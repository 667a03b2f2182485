//! `json`: well-formed JSON that a schema accepts, or a member that equals the reference.

#[cfg(feature = "json-schema")]
mod cost;
#[cfg(feature = "json-schema")]
mod expansion;
#[cfg(feature = "json-schema")]
mod keywords;
#[cfg(feature = "json-schema")]
mod places;
pub(super) mod schema;
#[cfg(feature = "json-schema")]
mod texts;
pub(super) mod tree;

use std::ops::Range;

use crate::extract::{self, Thinking, thinking};
use crate::prelude::*;
use schema::Compiled;
use tree::{Node, Rules};

/// Right when the completion is JSON as asked for.
///
/// The JSON is the whole completion, or else the last code fence in it, or else what stands in the
/// last answer tag; what the model thinks before it answers is not looked at. JSON Schema (drafts 4 to 2020-12) is checked without the
/// network: a reference out of the schema is an error of the configuration. Patterns in it are
/// linear: no look-around.
///
/// Numbers are compared with the reference by all their digits. Give integers beyond 2^53 as text:
/// JSON readers round them.
#[derive(Debug, Deserialize, Serialize, JsonSchema, SmartDefault)]
#[serde(deny_unknown_fields, default)]
pub struct Json {
    /// A JSON Schema that must accept the value.
    schema: Option<Value>,
    /// The same, from a file.
    schema_file: Option<String>,
    /// Where the JSON stands.
    from: From,
    /// A key may not come twice in one object: readers disagree on which one counts.
    unique_keys: bool,
    /// How deep arrays and objects may nest, at most 120.
    #[default(64)]
    depth_max: usize,
    /// A JSON pointer such as `/answer` to a member that must be there.
    pointer: Option<String>,
    /// The value, or the member at `pointer`, must equal the reference. 1 equals 1.0; the order of
    /// keys does not matter. A reference that is text may hold the JSON.
    equals_reference: bool,
    #[serde(skip)]
    compiled: Option<Compiled>,
}

/// Where the JSON stands.
#[derive(Clone, Copy, Debug, Default, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum From {
    /// The whole completion, or else the last code fence, or else the last answer tag.
    #[default]
    Any,
    /// The whole completion.
    Whole,
    /// The last code fence.
    Fence,
}

/// A level of the text is a call of its reader.
const DEPTH_MAX: usize = 120;

impl Check for Json {
    const ID: &'static str = "json";
    const VERSION: u32 = 4;

    fn load(&mut self, files: &dyn Files) -> Result<(), BuildError> {
        if !(1..=DEPTH_MAX).contains(&self.depth_max) {
            let message = format!("nesting is allowed from 1 to {DEPTH_MAX} levels");
            return Err(BuildError::new("depth_max", message));
        }
        if self.pointer.as_ref().is_some_and(|at| !at.is_empty() && !at.starts_with('/')) {
            return Err(BuildError::new("pointer", "a JSON pointer is empty or starts with /"));
        }
        let (name, schema) = match (&self.schema, &self.schema_file) {
            (Some(_), Some(_)) => {
                return Err(BuildError::new("schema_file", "the schema is given twice"));
            }
            (None, None) => return Ok(()),
            (Some(Value::String(_)), None) => {
                let message = "a JSON Schema is a table, as in schema = { type = \"object\" }; a file of one \
                               is named by schema_file";
                return Err(BuildError::new("schema", message));
            }
            (Some(schema), None) => ("schema", schema.clone()),
            (None, Some(file)) => ("schema_file", schema_in(file, files)?),
        };
        self.compiled = Some(Compiled::new(name, &schema)?);
        Ok(())
    }

    fn slips(&self, samples: &[&Sample]) -> Vec<Slip> {
        self.unread_references(samples).into_iter().collect()
    }

    fn aspect(&self) -> Aspect {
        if self.equals_reference { Aspect::Json } else { Aspect::Form }
    }

    fn check(&self, sample: &Sample, meter: &mut Meter<'_>) -> Result<Verdict, Fault> {
        if self.equals_reference && sample.reference().is_none() {
            return Ok(Verdict::no_reference());
        }
        let completion = sample.completion();
        meter.spend(20 * completion.len() as u64)?;
        let (value, span) = match self.read(completion) {
            Ok(read) => read,
            Err(reason) => return Ok(Verdict::graded(false).because(reason)),
        };
        let judged = |right| Verdict::graded(right).with("span", vec![span.0, span.1]);
        if let Some(compiled) = &self.compiled {
            let length = (span.1 - span.0) as u64;
            meter.spend(length * (1 + compiled.bytes as u64 / 64))?;
            let value = value.value();
            meter.spend(compiled.rules(&value)?)?;
            compiled.pay_for_texts(&value, meter)?;
            if let Err((at, rule)) = compiled.validate(&value) {
                return Ok(judged(false).with("at", at).with("rule", rule).because("schema"));
            }
        }
        let Some(member) = value.pointer(self.pointer.as_deref().unwrap_or_default()) else {
            return Ok(judged(false).because("no-member"));
        };
        match sample.reference().filter(|_| self.equals_reference) {
            None => Ok(judged(true).because("valid")),
            Some(reference) => {
                let right = is_equal(member, reference)?;
                let reason = if right { "equal" } else { "unequal" };
                Ok(judged(right).with("extracted", member.shown()).because(reason))
            }
        }
    }

    fn gold(&self, sample: &Sample) -> Option<Vec<String>> {
        let reference = sample.reference().filter(|_| self.equals_reference)?;
        // What else the schema asks for does not stand in the reference.
        let is_part = self.pointer.as_ref().is_some_and(|at| !at.is_empty());
        let can = !(is_part && self.compiled.is_some());
        Some(can.then(|| self.written(reference)).into_iter().collect())
    }
}

impl Json {
    /// References that are JSON, where any JSON is right.
    fn unread_references(&self, samples: &[&Sample]) -> Option<Slip> {
        let is_free = self.schema.as_ref().is_none_or(takes_any_object);
        if self.equals_reference || self.pointer.is_some() || self.schema_file.is_some() || !is_free
        {
            return None;
        }
        let is_json = |reference: &Value| match reference {
            Value::String(text) => {
                tree::read(text, self.rules()).is_ok() && text.contains(['{', '['])
            }
            other => other.is_object() || other.is_array(),
        };
        let has_json = |sample: &Sample| sample.reference().is_some_and(is_json);
        let samples: Vec<usize> = (0..samples.len())
            .filter(|at| samples.get(*at).is_some_and(|own| has_json(own)))
            .collect();
        (!samples.is_empty()).then(|| Slip {
            code: "unread_reference",
            setting: "",
            samples,
            message: "any JSON is right, and the reference is JSON that nothing is compared with"
                .to_owned(),
            help: "write config = { equals_reference = true }".to_owned(),
        })
    }

    /// The text in which the reference stands at the pointer, and nothing else.
    fn written(&self, reference: &Value) -> String {
        let is_json = |text: &&str| tree::read(text, self.rules()).is_ok();
        let held = reference.as_str().filter(is_json);
        let inner = held.map_or_else(|| reference.to_string(), str::to_owned);
        let names = self.pointer.as_deref().and_then(|at| at.strip_prefix('/'));
        let whole = names.into_iter().flat_map(|at| at.rsplit('/')).fold(inner, |inner, name| {
            let name = Value::from(name.replace("~1", "/").replace("~0", "~"));
            format!("{{{name}: {inner}}}")
        });
        match self.from {
            From::Any | From::Whole => whole,
            From::Fence => format!("```json\n{whole}\n```"),
        }
    }

    fn read<'a>(&self, completion: &'a str) -> Result<(Node<'a>, (usize, usize)), &'static str> {
        let parse = |(start, end): (usize, usize)| {
            let text = &completion[start..end];
            // A byte order mark is no part of the value.
            let start = start + text.len() - text.trim_start_matches('\u{feff}').len();
            let text = &completion[start..end];
            Ok((tree::read(text, self.rules())?, (start, end)))
        };
        let end = completion.len();
        let said = thinking::answer(completion, Thinking::Skip).unwrap_or(end..end);
        // A value that is JSON as it stands may hold the mark of a thought in a text.
        let whole = || match parse((0, end)) {
            Err("not-json") if said != (0..end) => parse((said.start, said.end)),
            parsed => parsed,
        };
        let fence = || last_fence(completion, said.clone());
        let tag = || {
            let text = completion.get(said.clone())?;
            let inner = extract::last_tag(text, extract::is_answer_tag)?.inner;
            Some((said.start + inner.start, said.start + inner.end))
        };
        match self.from {
            From::Whole => whole(),
            From::Fence => parse(fence().ok_or("no-fence")?),
            From::Any => match (whole(), fence().or_else(tag)) {
                (Err("not-json"), Some(part)) => parse(part),
                (parsed, _) => parsed,
            },
        }
    }

    fn rules(&self) -> Rules {
        Rules { depth_max: self.depth_max, unique_keys: self.unique_keys }
    }
}

/// Whether a schema refuses no object.
fn takes_any_object(schema: &Value) -> bool {
    let says_nothing = |(key, value): (&String, &Value)| {
        ["$schema", "title", "description"].contains(&key.as_str())
            || key == "type" && value == "object"
    };
    *schema == Value::Bool(true)
        || schema.as_object().is_some_and(|own| own.iter().all(says_nothing))
}

/// Whether a member is the reference, or what it holds where it is JSON in text.
fn is_equal(member: &Node<'_>, reference: &Value) -> Result<bool, Fault> {
    let wanted = Node::of(reference).ok_or_else(|| {
        Fault::bad_reference(
            "the reference has a number that is too large to be kept exactly; write it as text",
        )
    })?;
    let rules = Rules { depth_max: DEPTH_MAX, unique_keys: false };
    let held = reference.as_str().and_then(|text| tree::read(text, rules).ok());
    Ok(*member == wanted || held.is_some_and(|held| *member == held))
}

fn schema_in(file: &str, files: &dyn Files) -> Result<Value, BuildError> {
    let bad = |why: String| BuildError::new("schema_file", why);
    let bytes = files.read(file).map_err(|why| BuildError::unreadable("schema_file", why))?;
    serde_json::from_slice(&bytes).map_err(|error| bad(format!("file \"{file}\": {error}")))
}

/// Where the text of the last code fence starts and ends. In a list a fence is indented, and some
/// models close one at the end of a line.
fn last_fence(text: &str, part: Range<usize>) -> Option<(usize, usize)> {
    let (mut open, mut last): (Option<(usize, &str)>, _) = (None, None);
    let mut at = part.start;
    for line in text.get(part)?.split_inclusive('\n') {
        let indent = line.len() - line.trim_start_matches([' ', '\t']).len();
        let head = &line[indent..];
        if let Some((start, mark)) = open {
            let code = line.trim_end().strip_suffix(mark).map(str::len);
            let end = if head.starts_with(mark) { Some(indent) } else { code };
            if let Some(end) = end {
                last = Some((start, at + end));
                open = None;
            }
        } else {
            let mark = ["```", "~~~"].into_iter().find(|mark| head.starts_with(mark));
            open = mark.map(|mark| (at + line.len(), mark));
        }
        at += line.len();
    }
    last
}
