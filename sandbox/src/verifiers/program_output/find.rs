//! What a completion says the answer is, whatever form it has.

mod found;
mod json;
mod phrase;
mod subject;
mod weak;

use std::ops::Range;

use assay_verifiers::prelude::*;

use crate::answer::{self, Thinking};
use crate::value::literal::{self, Words};
use crate::value::{Arguments, PyValue};
pub(super) use found::{Answer, Placed, sides};
pub(super) use phrase::says_value;

/// Readings of an input that are tried.
const CALLS_MAX: usize = 4;
/// What may lead to an answer that is all of the text.
const LEADS: [&str; 6] = ["return ", "=>", "->", "→", "####", "="];

/// How the answer is found in a completion.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema, SmartDefault)]
#[serde(default, deny_unknown_fields)]
pub(super) struct Find {
    /// What counts as the answer.
    #[default(Source::Auto)]
    pub(super) from: Source,
    /// The member of a JSON object that holds it. `output` is known too, or `input` where that is
    /// asked for.
    #[default = "answer"]
    pub(super) key: String,
    /// The tag that holds it; an answer without it is none. By default `<answer>`, `[ANSWER]` and
    /// `<output>` (or `<input>`) are known, and none is needed.
    pub(super) tag: Option<String>,
    /// What is done with the model's thinking.
    pub(super) thinking: Thinking,
}

/// What counts as the answer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(super) enum Source {
    /// The first of these that there is: the last tag, the last JSON member, the last assertion,
    /// the last sentence, fenced block or interactive session that says it, the whole text.
    #[default]
    Auto,
    /// The inside of the last tag.
    Tag,
    /// The member of the last JSON object that has it, even where the JSON is damaged.
    Json,
    /// What the last assertion says: `assert f(1) == 2`.
    Assertion,
    /// The last sentence like "the output is `2`".
    Phrase,
    /// The last fenced block.
    Fence,
    /// The whole text.
    Whole,
}

/// What is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Want {
    /// A value.
    Value,
    /// Text, such as what a program prints.
    Text,
    /// Arguments of a call.
    Arguments,
}

/// The answers in `text`, the best one first: what was found, and the whole text around it.
pub(super) fn find<'a>(
    text: &'a str,
    how: &Find,
    want: Want,
    meter: &mut Meter<'_>,
) -> Result<Vec<Answer<'a>>, Fault> {
    meter.spend(4 * text.len() as u64)?;
    let Some(part) = answer::part(text, how.thinking) else { return Ok(Vec::new()) };
    let search = Search { text, how, want };
    let tagged = search.tagged(part.clone());
    if tagged.is_some() || how.tag.is_some() || how.from == Source::Tag {
        let Some(inside) = tagged else { return Ok(Vec::new()) };
        return search.in_part(inside, "tag", meter);
    }
    search.in_part(part, "whole", meter)
}

struct Search<'a, 's> {
    text: &'a str,
    how: &'s Find,
    want: Want,
}

impl<'a> Search<'a, '_> {
    fn tagged(&self, part: Range<usize>) -> Option<Range<usize>> {
        let input = if self.want == Want::Arguments { "input" } else { "output" };
        let names = match &self.how.tag {
            Some(tag) => vec![tag.as_str()],
            None => vec!["answer", "final_answer", input],
        };
        let known = |name: &str| names.iter().any(|tag| name.eq_ignore_ascii_case(tag));
        let wanted = matches!(self.how.from, Source::Auto | Source::Tag) || self.how.tag.is_some();
        wanted.then(|| answer::tagged(self.text, part, known)).flatten()
    }

    fn in_part(
        &self,
        part: Range<usize>,
        from: &'static str,
        meter: &mut Meter<'_>,
    ) -> Result<Vec<Answer<'a>>, Fault> {
        let mut found = Vec::new();
        let whole = self.answer(part.clone(), from);
        let all = matches!(self.how.from, Source::Auto | Source::Tag);
        let of = |source: Source| all || self.how.from == source;
        if of(Source::Json) {
            let other = if self.want == Want::Arguments { "input" } else { "output" };
            let keys = [self.how.key.as_str(), other];
            found.extend(json::member(self.text, part.clone(), &keys, meter)?);
        }
        // Words inside a literal say nothing.
        let is_literal = |text: &str| literal::read(text, Words::Python).is_ok();
        let is_done = all && whole.as_ref().is_some_and(|whole| is_literal(&whole.text));
        if found.is_empty() && is_done {
            return Ok(whole.into_iter().collect());
        }
        if found.is_empty() && of(Source::Assertion) {
            found.extend(phrase::assertion(self.text, part.clone()));
        }
        if found.is_empty() && (of(Source::Phrase) || of(Source::Fence)) {
            let is_text = self.want == Want::Text;
            let lines = is_text.then(|| phrase::lines_said(self.text, part.clone())).flatten();
            let is_input = self.want == Want::Arguments;
            let input = is_input.then(|| phrase::said_arguments(self.text, part.clone())).flatten();
            let said = lines.or(input).or_else(|| phrase::said(self.text, part.clone()));
            let said = said.filter(|_| of(Source::Phrase));
            let fenced = of(Source::Fence).then(|| self.fenced(part.clone())).flatten();
            let around = part.clone();
            let shown = all.then(|| self.session(part)).flatten();
            let all = fenced.into_iter().chain(shown).chain(said);
            found.extend(all.max_by_key(|answer| answer.span.0));
            if found.is_empty() && of(Source::Phrase) {
                found.extend(weak::said_plainly(self.text, around));
            }
        }
        if all || self.how.from == Source::Whole {
            found.extend(whole);
        }
        Ok(found)
    }

    fn fenced(&self, part: Range<usize>) -> Option<Answer<'a>> {
        let blocks = answer::fenced(self.text, part);
        let body = |range: &Range<usize>| &self.text[range.clone()];
        let says = |range: &&Range<usize>| {
            self.want == Want::Text
                || self.want == Want::Arguments && assigned(body(range)).is_some()
                || literal::read(body(range), Words::Python).is_ok()
                || !body(range).trim().contains('\n')
        };
        let range = blocks.iter().rfind(says)?;
        self.answer(range.clone(), "fence")
    }

    /// What the last prompt of an interactive session is answered with.
    fn session(&self, part: Range<usize>) -> Option<Answer<'a>> {
        let text = self.text.get(part.clone())?;
        let prompt = text.rfind("\n>>> ").map(|at| at + 1);
        let prompt = prompt.or_else(|| text.starts_with(">>> ").then_some(0))?;
        let mut start = prompt + text.get(prompt..)?.find('\n')? + 1;
        while text.get(start..)?.starts_with("...") {
            start += text.get(start..)?.find('\n')? + 1;
        }
        let rest = text.get(start..)?;
        let blank = rest.find("\n\n").filter(|_| self.want != Want::Text);
        let end = rest.find("\n```").into_iter().chain(blank).min().unwrap_or(rest.len());
        let from = part.start + start;
        self.answer(from..from + end, "session")
    }

    fn answer(&self, range: Range<usize>, from: &'static str) -> Option<Answer<'a>> {
        let text = self.text.get(range.clone())?;
        let span = (range.start, range.end);
        (!text.trim().is_empty()).then_some(Answer {
            text: text.into(),
            value: None,
            span,
            from,
            quoted: false,
        })
    }
}

/// The ways to read an answer: as it is, without what models put around it, and the right side of
/// what it asserts.
pub(super) fn ways(text: &str) -> Vec<&str> {
    let mut ways = undressed(text);
    let right = ways.get(1).and_then(|bare| sides(bare)).map(|(_, right)| right);
    let led = ways.get(1).and_then(|bare| LEADS.iter().find_map(|lead| bare.strip_prefix(lead)));
    ways.extend(right);
    // `print(f(1))  # 2`
    let comment = ways.get(1).and_then(|bare| bare.split_once(")  # ").or(bare.split_once(") # ")));
    ways.extend(comment.filter(|(call, _)| is_call(call)).map(|(_, value)| value.trim()));
    ways.extend(led.map(str::trim_start));
    ways
}

/// Whether a text is the call of a function by its name, but for the last bracket.
fn is_call(text: &str) -> bool {
    let name = text.split('(').next().unwrap_or_default();
    name.len() < text.len()
        && !name.is_empty()
        && name.chars().all(|c| c.is_alphanumeric() || "_.".contains(c))
        && !text.contains(['\n', '#'])
}

/// As it is, without marks around it, and without a dot at its end.
fn undressed(text: &str) -> Vec<&str> {
    let bare = unfenced(text.trim());
    let bare = ["`", "**", "$"].iter().fold(bare, |text, mark| {
        let inner = text.strip_prefix(mark).and_then(|text| text.strip_suffix(mark));
        inner.map_or(text, str::trim)
    });
    vec![text, bare, bare.strip_suffix('.').unwrap_or(bare)]
}

/// Calls that an answer may mean when it is asked for an input: `f(1, 2)`, `1, 2`, `(1, 2)`.
pub(super) fn calls(answer: &Answer<'_>, entry_point: &str) -> Vec<Arguments> {
    let mut calls = Vec::new();
    if let Some(value) = &answer.value {
        if let PyValue::Dict(members) = value {
            calls.extend(by_name(members));
        }
        calls.push(Arguments { args: vec![value.clone()], kwargs: Vec::new() });
    }
    for way in undressed(&answer.text) {
        let left = sides(way).map_or(way, |(left, _)| left).trim();
        let inner = left.strip_prefix(entry_point).map(str::trim_start);
        let inner = inner.and_then(|rest| rest.strip_prefix('(')?.strip_suffix(')'));
        calls.extend(literal::arguments(inner.unwrap_or(left), Words::Python));
        if let Some(members) = assigned(way) {
            let args = members.iter().map(|(_, value)| value.clone()).collect();
            calls.push(Arguments { args: Vec::new(), kwargs: members });
            calls.push(Arguments { args, kwargs: Vec::new() });
        }
    }
    let spread = |call: &Arguments| match call.args.as_slice() {
        [PyValue::Tuple(items)] if call.kwargs.is_empty() => {
            Some(Arguments { args: items.clone(), kwargs: Vec::new() })
        }
        [PyValue::List(items)] if answer.value.is_some() => {
            Some(Arguments { args: items.clone(), kwargs: Vec::new() })
        }
        _ => None,
    };
    let spread: Vec<Arguments> = calls.iter().filter_map(spread).collect();
    calls.extend(spread);
    let mut different: Vec<Arguments> = Vec::new();
    for call in calls {
        if !different.contains(&call) && different.len() < CALLS_MAX {
            different.push(call);
        }
    }
    different
}

/// The names and the values of lines that assign literals: "s = 'ab'".
fn assigned(text: &str) -> Option<Vec<(String, PyValue)>> {
    let lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
    let member = |line: &str| {
        let (name, value) = line.split_once('=')?;
        let name = name.trim();
        let is_name = name.chars().all(|c| c.is_alphanumeric() || c == '_') && !name.is_empty();
        let value = literal::read(value.trim(), Words::Python).ok().filter(|_| is_name)?;
        Some((name.to_owned(), value))
    };
    let members: Vec<_> = lines.map(member).collect::<Option<_>>()?;
    (!members.is_empty()).then_some(members)
}

/// Arguments by name, where the keys are names.
fn by_name(members: &[(PyValue, PyValue)]) -> Option<Arguments> {
    let named = |(key, value): &(PyValue, PyValue)| Some((key.as_str()?.to_owned(), value.clone()));
    let kwargs = members.iter().map(named).collect::<Option<_>>()?;
    Some(Arguments { args: Vec::new(), kwargs })
}

fn unfenced(text: &str) -> &str {
    let inner = text.strip_prefix("```").and_then(|text| text.strip_suffix("```"));
    let Some(inner) = inner else { return text };
    let (first, rest) = inner.split_once('\n').unwrap_or(("", inner));
    let names_language = first.trim().chars().all(|c| c.is_ascii_alphanumeric());
    if names_language { rest.trim_matches(['\n', '\r']) } else { inner.trim() }
}
