//! Templates of graders: `{{ item.NAME }}` and `{{ sample.output_text }}` in a text.
//!
//! A template is parsed when the configuration is built, and filled in one pass: a value that holds
//! `{{ }}` itself stays text.

use std::borrow::Cow;
use std::fmt;

use assay_verifiers::extract::code::Code;
use assay_verifiers::extract::{Thinking, thinking};
use assay_verifiers::sample::value_text;
use assay_verifiers::{Fault, Meter, Sample, ToolCall, Verdict};
use serde_json::{Value, json};

/// The most steps of a path.
const STEPS_MAX: usize = 32;

/// A text with places to be filled from a sample.
///
/// - `item.NAME` is a column of the row: one of its metadata, or else `prompt`, `reference` or
///   `completion`.
/// - `sample.output_text` is the completion without what the model thinks before it answers,
///   `sample.output_json` the JSON in it, `sample.output_code` the last closed block of code in it,
///   `sample.output_tools` its calls of tools, and `sample.choices` the list of its one choice.
/// - A JSON string, as in `{{ "{{" }}`, is itself.
///
/// Members follow after dots or in brackets: `item.list[0].name`, `item['a b']`.
///
/// ```
/// use assay_rubrics::template::GraderTemplate;
/// use assay_verifiers::{Meter, Sample};
///
/// let template = GraderTemplate::parse("{{ item.reference }} or {{ sample.output_text }}")?;
/// let sample = Sample::builder("{{ 4 }}").reference("5").build();
/// assert_eq!(template.fill(&sample, &mut Meter::default()), Ok("5 or {{ 4 }}".to_owned()));
/// # Ok::<(), String>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct GraderTemplate {
    parts: Vec<Part>,
}

#[derive(Clone, Debug, PartialEq)]
enum Part {
    Text(String),
    Path(Path),
}

#[derive(Clone, Debug, PartialEq)]
struct Path {
    root: Root,
    steps: Vec<Hop>,
    /// As it was written.
    text: String,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Root {
    Item,
    Sample,
}

#[derive(Clone, Debug, PartialEq)]
enum Hop {
    Member(String),
    Index(usize),
}

/// Why a template is not filled.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unfilled {
    /// It names what the sample lacks.
    Missing {
        /// The path, as the template has it.
        path: String,
        /// Whether the completion lacks it; else it is the row.
        by_completion: bool,
    },
    /// It becomes more text than the meter pays for.
    Fault(Fault),
}

impl GraderTemplate {
    /// Reads a template.
    ///
    /// # Errors
    /// A brace that is not closed, or a path that is none.
    pub fn parse(text: &str) -> Result<Self, String> {
        let mut parts = Vec::new();
        let mut rest = text;
        while let Some((before, after)) = rest.split_once("{{") {
            push(&mut parts, before);
            let (part, end) = expression(after.trim_start())?;
            match part {
                Part::Text(text) => push(&mut parts, &text),
                path @ Part::Path(_) => parts.push(path),
            }
            rest = end.trim_start().strip_prefix("}}").ok_or_else(|| unclosed(after))?;
        }
        push(&mut parts, rest);
        Ok(Self { parts })
    }

    /// The template that stands for `text` as it is.
    pub fn literal(text: &str) -> String {
        if text.contains("{{") { quoted(text) } else { text.to_owned() }
    }

    /// The template for the eyes of a judge, who is shown the completion apart: words stand where any
    /// of it would be filled in, so that it is never among the instructions.
    pub fn for_judge(&self) -> String {
        self.written(|path| match path.root {
            Root::Sample if path.is_output_text() => "(the completion)".to_owned(),
            Root::Sample => format!("({} of the completion)", path.text),
            Root::Item if path.is_completion() => "(the completion)".to_owned(),
            Root::Item => format!("{{{{ {} }}}}", path.text),
        })
    }

    /// The template as text, with the paths written as `path` says.
    fn written(&self, path: impl Fn(&Path) -> String) -> String {
        let last = self.parts.len().saturating_sub(1);
        let part = |(at, part): (usize, &Part)| match part {
            // A brace must not grow together with those that follow.
            Part::Text(text) if text.ends_with('{') && at != last => quoted(text),
            Part::Text(text) => Self::literal(text),
            Part::Path(one) => path(one),
        };
        self.parts.iter().enumerate().map(part).collect()
    }

    /// Whether nothing is to be filled in.
    pub fn is_constant(&self) -> bool {
        self.parts.iter().all(|part| matches!(part, Part::Text(_)))
    }

    /// The text with everything filled in. The meter pays for each byte, as often as it is filled in.
    ///
    /// # Errors
    /// The first path that leads nowhere, and a meter that runs out.
    pub fn fill(&self, sample: &Sample, meter: &mut Meter<'_>) -> Result<String, Unfilled> {
        let mut out = String::new();
        for part in &self.parts {
            match part {
                Part::Text(text) => out.push_str(text),
                Part::Path(path) => out.push_str(&path.text_in(sample, meter)?),
            }
        }
        Ok(out)
    }
}

/// The template as text.
impl fmt::Display for GraderTemplate {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.written(|path| format!("{{{{ {} }}}}", path.text)))
    }
}

fn quoted(text: &str) -> String {
    format!("{{{{ {} }}}}", Value::from(text))
}

impl Unfilled {
    /// The verdict on the sample: a completion without what is named is wrong, a row without it is not
    /// judged.
    pub(crate) fn verdict(&self) -> Verdict {
        match self {
            Self::Missing { path, by_completion: true } => {
                Verdict::graded(false).with("missing", path.as_str()).because("no-output")
            }
            Self::Missing { path, .. } => Verdict::abstained(format!("the row has no {path}")),
            Self::Fault(fault) => Verdict::failed(fault.clone()),
        }
    }
}

fn push(parts: &mut Vec<Part>, text: &str) {
    match parts.last_mut() {
        _ if text.is_empty() => {}
        Some(Part::Text(last)) => last.push_str(text),
        _ => parts.push(Part::Text(text.to_owned())),
    }
}

fn unclosed(rest: &str) -> String {
    let shown: String = rest.chars().take(40).collect();
    format!("expected `}}}}` after a path, in \"{{{{{shown}\"")
}

/// A JSON string or a path, and what follows it.
fn expression(text: &str) -> Result<(Part, &str), String> {
    if text.starts_with('"') {
        let mut stream = serde_json::Deserializer::from_str(text).into_iter::<String>();
        let literal = stream.next().and_then(Result::ok).ok_or_else(|| unclosed(text))?;
        let rest = &text[stream.byte_offset()..];
        return Ok((Part::Text(literal), rest));
    }
    let (name, mut rest) = word(text);
    let root = match name {
        "item" => Root::Item,
        "sample" => Root::Sample,
        _ => {
            let shown: String = text.chars().take(40).collect();
            return Err(format!("expected `item` or `sample` after `{{{{`, found \"{shown}\""));
        }
    };
    let mut steps = Vec::new();
    while let Some((step, after)) = hop(rest)? {
        steps.push(step);
        rest = after;
        if steps.len() > STEPS_MAX {
            return Err(format!("a path has more than {STEPS_MAX} members"));
        }
    }
    let path = text[..text.len() - rest.len()].to_owned();
    match (root, steps.first()) {
        (Root::Item, _) => {}
        (Root::Sample, Some(Hop::Member(name))) if OUTPUTS.contains(&name.as_str()) => {}
        (Root::Sample, _) => {
            return Err(format!("`{path}`: `sample` has {}", OUTPUTS.join(", ")));
        }
    }
    Ok((Part::Path(Path { root, steps, text: path }), rest))
}

/// The members of `sample`.
const OUTPUTS: [&str; 5] = ["output_text", "output_json", "output_code", "output_tools", "choices"];

fn word(text: &str) -> (&str, &str) {
    let end = text.find(|c: char| !(c.is_alphanumeric() || c == '_' || c == '-'));
    text.split_at(end.unwrap_or(text.len()))
}

/// A step along a path, and what follows it.
fn hop(text: &str) -> Result<Option<(Hop, &str)>, String> {
    if let Some(after) = text.strip_prefix('.') {
        let (name, rest) = word(after);
        if name.is_empty() {
            return Err(format!("a name is missing after the dot in \"{text}\""));
        }
        return Ok(Some((Hop::Member(name.to_owned()), rest)));
    }
    let Some(after) = text.strip_prefix('[') else { return Ok(None) };
    let quote = after.chars().next().filter(|c| ['\'', '"'].contains(c));
    let closed = match quote {
        Some(quote) => {
            let inner = &after[1..];
            let end = format!("{quote}]");
            inner.split_once(&end).map(|(name, rest)| (Hop::Member(name.to_owned()), rest))
        }
        None => after
            .split_once(']')
            .and_then(|(index, rest)| Some((Hop::Index(index.trim().parse().ok()?), rest))),
    };
    closed.map(Some).ok_or_else(|| format!("expected a number or a quoted name in \"{text}\""))
}

impl Path {
    fn text_in(&self, sample: &Sample, meter: &mut Meter<'_>) -> Result<String, Unfilled> {
        let by_completion = self.root == Root::Sample;
        let missing = || Unfilled::Missing { path: self.text.clone(), by_completion };
        if by_completion {
            // It is read anew for every path.
            meter.spend(sample.completion().len() as u64).map_err(Unfilled::Fault)?;
        }
        let (value, steps) = match self.root {
            Root::Item => self.column(sample).ok_or_else(missing)?,
            Root::Sample => {
                let output = self.output(sample).ok_or_else(missing)?;
                (Cow::Owned(output), self.steps.split_at(1).1)
            }
        };
        let mut value = value.as_ref();
        for step in steps {
            value = match step {
                Hop::Member(name) => value.get(name),
                Hop::Index(at) => value.get(at),
            }
            .ok_or_else(missing)?;
        }
        if value.is_null() {
            return Err(missing());
        }
        let text = value_text(value);
        meter.spend(text.len() as u64).map_err(Unfilled::Fault)?;
        Ok(text.into_owned())
    }

    /// Whether it leads to the completion by way of the row.
    fn is_completion(&self) -> bool {
        matches!(self.steps.first(), Some(Hop::Member(name)) if name == "completion")
    }

    fn is_output_text(&self) -> bool {
        let first = [Hop::Member("output_text".to_owned())];
        self.root == Root::Sample && self.steps == first
    }

    /// The column that the first step names, and the steps after it; the row as a whole has none.
    fn column<'a>(&'a self, sample: &'a Sample) -> Option<(Cow<'a, Value>, &'a [Hop])> {
        let (first, rest) = self.steps.split_first()?;
        let Hop::Member(name) = first else { return None };
        let known = || match name.as_str() {
            "prompt" => Some(Cow::Owned(Value::from(sample.prompt()))),
            "completion" => Some(Cow::Owned(Value::from(sample.completion()))),
            "reference" => sample.reference().map(Cow::Borrowed),
            _ => None,
        };
        let value = sample.meta().get(name).map(Cow::Borrowed).or_else(known)?;
        Some((value, rest))
    }

    fn output(&self, sample: &Sample) -> Option<Value> {
        let Some(Hop::Member(name)) = self.steps.first() else { return None };
        let text = output_text(sample);
        Some(match name.as_str() {
            "output_text" => Value::from(text),
            "output_json" => serde_json::from_str(text.trim()).ok()?,
            "output_code" => Value::from(last_block(text)?),
            "output_tools" => tools(sample),
            _ => json!([{
                "index": 0,
                "finish_reason": sample.finish_reason(),
                "message": { "role": "assistant", "content": text, "tool_calls": tools(sample) },
            }]),
        })
    }
}

/// What is in the last closed block of code.
fn last_block(text: &str) -> Option<&str> {
    const FENCE: &str = "```";
    let ranges = Code::of(text).ranges;
    let mut blocks = ranges.into_iter().rev().filter_map(|range| {
        text.get(range)?.strip_prefix(FENCE)?.trim_start_matches('`').strip_suffix(FENCE)
    });
    blocks.next()?.split_once('\n').map(|(_, code)| code)
}

/// The completion without what the model thinks before it answers.
pub(crate) fn output_text(sample: &Sample) -> &str {
    let completion = sample.completion();
    let said = thinking::answer(completion, Thinking::Skip).unwrap_or_default();
    &completion[said]
}

fn tools(sample: &Sample) -> Value {
    let calls = sample.completion_message().map(|message| message.tool_calls.as_slice());
    calls.unwrap_or_default().iter().map(ToolCall::to_value).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn filled(text: &str) -> Result<String, String> {
        let row = json!({"answer": {"list": [1, {"a b": "{{ item.answer }}"}]}, "none": null});
        let sample = Sample::builder("<think>so</think>{\"x\": [true]}")
            .reference("R")
            .prompt("P")
            .meta(row.as_object().unwrap().clone())
            .build();
        let template = GraderTemplate::parse(text)?;
        template.fill(&sample, &mut Meter::default()).map_err(|error| match error {
            Unfilled::Missing { path, .. } => format!("no {path}"),
            Unfilled::Fault(fault) => fault.why.into_owned(),
        })
    }

    #[test]
    fn paths_lead_to_columns_and_outputs() {
        assert_eq!(filled("a {{ item.answer.list[0] }} b").as_deref(), Ok("a 1 b"));
        assert_eq!(filled("{{item.reference}}{{ item.prompt }}").as_deref(), Ok("RP"));
        assert_eq!(filled("{{ sample.output_text }}").as_deref(), Ok("{\"x\": [true]}"));
        assert_eq!(filled("{{ sample.output_json.x[0] }}").as_deref(), Ok("true"));
        let content = "{{ sample.choices[0].message.content }}";
        assert_eq!(filled(content).as_deref(), Ok("{\"x\": [true]}"));
    }

    #[test]
    fn what_is_filled_in_is_not_filled_again() {
        let path = "{{ item.answer.list[1]['a b'] }}";
        assert_eq!(filled(path).as_deref(), Ok("{{ item.answer }}"));
    }

    #[test]
    fn what_is_missing_is_named() {
        for path in
            ["item.none", "item.other", "item", "sample.output_json.y", "item.answer.list[7]"]
        {
            assert_eq!(filled(&format!("{{{{ {path} }}}}")), Err(format!("no {path}")));
        }
        let tool = "sample.output_tools[0].function.name";
        assert_eq!(filled(&format!("{{{{{tool}}}}}")), Err(format!("no {tool}")));
    }

    #[test]
    fn a_template_that_is_none_is_refused() {
        for text in ["{{", "{{ item.", "{{ item.a", "{{ x }}", "{{ sample.x }}", "{{ item.a + 1 }}"]
        {
            assert!(GraderTemplate::parse(text).is_err(), "{text}");
        }
    }

    #[test]
    fn a_literal_stands_for_itself() {
        for text in ["plain", "{{ item.x }}", "\"{{\" }}", "{{"] {
            let template = GraderTemplate::parse(&GraderTemplate::literal(text)).unwrap();
            assert!(template.is_constant());
            let filled = template.fill(&Sample::builder("").build(), &mut Meter::default());
            assert_eq!(filled.as_deref(), Ok(text));
        }
    }

    proptest! {
        #[test]
        fn what_is_written_is_read_again(text in "([{} \"ab.\\[\\]0']|\\{\\{ (item|sample)\\.[a-c]|output_text \\}\\}){0,12}") {
            if let Ok(template) = GraderTemplate::parse(&text) {
                let again = GraderTemplate::parse(&template.to_string());
                prop_assert_eq!(again.as_ref(), Ok(&template));
            }
        }

        #[test]
        fn a_literal_of_any_text_stands_for_itself(text in "[{}\"\\\\a \n]{0,12}") {
            let template = GraderTemplate::parse(&GraderTemplate::literal(&text)).unwrap();
            let filled = template.fill(&Sample::builder("").build(), &mut Meter::default());
            prop_assert_eq!(filled, Ok(text));
        }
    }
}
