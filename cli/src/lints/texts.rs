//! Lints that look for texts in rows, as `texts.toml` lists them.

use std::sync::LazyLock;

use assay::built_in;
use assay::verifiers::extract::{Thinking, thinking};
use assay::verifiers::{Aspect, Pattern, Verdict};
use serde::Deserialize;
use serde_json::Value;

use super::look::{Finding, Look, Place, Tested, shown};
use crate::trial::read::Row;

/// The lints of the file.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    lint: Vec<TextLint>,
}

/// A lint: on which rows of which plan it looks, and for what.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct TextLint {
    code: String,
    page: String,
    #[serde(default)]
    help: String,
    of: Option<Vec<Aspect>>,
    #[serde(default)]
    not_of: Vec<Aspect>,
    unless: Option<Unless>,
    share: Option<usize>,
    least: Option<usize>,
    #[serde(default)]
    unpaid: bool,
    #[serde(default)]
    sign: Vec<Sign>,
}

/// A shorter prompt may begin an answer by chance.
const PROMPT_CHARS_MIN: usize = 8;

#[derive(Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Unless {
    Wanted,
    Answered,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Sign {
    key: Key,
    pattern: Pattern,
    what: String,
    of: Option<Vec<Aspect>>,
    share: Option<usize>,
    least: Option<usize>,
}

#[derive(Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Key {
    Label,
    Reference,
    Completion,
    /// A completion that begins with its prompt, and is no program.
    Echo,
    /// A completion that begins to think and never ends.
    Thought,
    /// The code of a completion: its fenced blocks, where it has any.
    Program,
    /// Why a program earns nothing, as its evidence calls it.
    Reason,
}

static FILE: LazyLock<File> = LazyLock::new(|| built_in::table(include_str!("texts.toml")));

/// The codes and the pages.
pub(super) fn pages() -> impl Iterator<Item = (&'static str, &'static str)> {
    FILE.lint.iter().map(|lint| (lint.code.as_str(), lint.page.trim()))
}

/// What is found: of each lint the first sign that there is.
pub(super) fn find(look: Look<'_>, tested: Option<Tested<'_>>) -> Vec<(&'static str, Finding)> {
    let found = |lint: &'static TextLint| {
        let finding = lint.sign.iter().find_map(|sign| lint.find(sign, look, tested))?;
        Some((lint.code.as_str(), finding))
    };
    FILE.lint.iter().filter_map(found).collect()
}

impl TextLint {
    fn find(&self, sign: &Sign, look: Look<'_>, tested: Option<Tested<'_>>) -> Option<Finding> {
        let Self { of, not_of, unless, share, least, unpaid, .. } = self;
        let judges = |all: &[Aspect]| look.judges(|own| all.contains(&own));
        let is_for = |all: &Option<Vec<Aspect>>| all.as_ref().is_none_or(|all| judges(all));
        if !is_for(of) || !is_for(&sign.of) || judges(not_of) {
            return None;
        }
        let is_judged = |row: &&Row| {
            of.as_ref().is_none_or(|all| look.judges_row(row, |own| all.contains(&own)))
        };
        let all = || look.rows.iter().filter(is_judged).map(|row| (row, None)).collect();
        let (rows, place) = if *unpaid {
            let (rows, at) = unpaid_programs(tested?)?;
            (rows, Some(Place::Reward(at, String::new())))
        } else {
            (all(), None)
        };
        let is_wanted = |row: &Row| match unless {
            None => false,
            Some(Unless::Wanted) => {
                row.sample.references().iter().any(|own| sign.pattern.is_match(own.trim()))
            }
            Some(Unless::Answered) => look.rows.iter().any(|other| is_answered(row, other)),
        };
        if *unless == Some(Unless::Wanted) && look.rows.iter().any(is_wanted) {
            return None;
        }
        let texts =
            rows.iter().filter_map(|(row, verdict)| Some((*row, sign.text(look, row, *verdict)?)));
        let with: Vec<(&Row, String)> =
            texts.filter(|(row, text)| sign.pattern.is_match(text) && !is_wanted(row)).collect();
        let is_few = sign.share.or(*share).is_some_and(|share| with.len() * share < rows.len());
        let least = sign.least.or(*least).unwrap_or(1);
        let (_, text) = with.first().filter(|_| !is_few && with.len() >= least)?;
        let found = shown(sign.pattern.find(text)?.as_str().trim());
        let what = sign.what.replace("{shown}", &shown(text)).replace("{found}", &found);
        let key = match sign.key {
            Key::Label => "data.label",
            Key::Reference => "data.reference",
            _ => "data.completion",
        };
        let rows: Vec<&Row> = with.iter().map(|(row, _)| *row).collect();
        let place = place.unwrap_or_else(|| Place::Key(key.to_owned()));
        let own = Finding::of_rows(place, &rows, &what)?.help(self.help.as_str());
        Some(own.with("found", found))
    }
}

impl Sign {
    fn text(&self, look: Look<'_>, row: &Row, verdict: Option<&Verdict>) -> Option<String> {
        let (sample, completion) = (&row.sample, row.sample.completion().trim());
        Some(match self.key {
            Key::Label => row
                .label
                .as_ref()
                .map(|own| own.as_str().map_or_else(|| own.to_string(), str::to_owned))?,
            Key::Reference => match sample.reference()? {
                Value::Array(all) if all.is_empty() => String::new(),
                own => own.as_str()?.trim().to_owned(),
            },
            Key::Echo => {
                let prompt = sample.prompt().trim();
                let rest = completion.strip_prefix(prompt).filter(|rest| !rest.is_empty())?;
                let is_program = (0..look.plan.rewards.len()).any(|at| is_program(look, row, at));
                let is_long = prompt.chars().count() >= PROMPT_CHARS_MIN;
                Some(rest.to_owned()).filter(|_| is_long && !is_program)?
            }
            Key::Thought => match thinking::answer(sample.completion(), Thinking::Skip) {
                None => completion.to_owned(),
                Some(_) => return None,
            },
            Key::Program if completion.contains("```") => {
                let blocks = completion.split("```").skip(1).step_by(2);
                blocks.filter_map(|block| block.split_once('\n')).map(|(_, code)| code).collect()
            }
            // A call of a tool is an answer too.
            Key::Completion if completion.is_empty() && row.has_calls() => return None,
            Key::Completion | Key::Program => completion.to_owned(),
            Key::Reason => verdict?.evidence.get("reason")?.as_str()?.to_owned(),
        })
    }
}

/// Whether a row of the same reference is answered with it: then it is the name of a class.
fn is_answered(row: &Row, other: &Row) -> bool {
    let word = |row: &Row| Some(row.sample.reference()?.as_str()?.trim().to_lowercase());
    let completion = other.sample.completion().to_lowercase();
    let answer = completion.trim_end_matches(['.', ' ', '\n']);
    word(row).is_some_and(|own| word(other).as_ref() == Some(&own) && answer.ends_with(&own))
}

/// Whether a reward runs the completion of a row as a program.
fn is_program(look: Look<'_>, row: &Row, at: usize) -> bool {
    look.verifier(at).is_some_and(|own| own.trivial(&row.sample).is_some())
}

/// A row, with its verdict where that is asked for.
type Judged<'a> = (&'a Row, Option<&'a Verdict>);

/// The rows that earn nothing from the first reward of programs, where there are any, with their verdicts.
fn unpaid_programs(tested: Tested<'_>) -> Option<(Vec<Judged<'_>>, usize)> {
    (0..tested.rewards.len()).find_map(|at| {
        let tried = tested.trial.rows.iter();
        let unpaid = tried.filter(|own| {
            own.unshaped(at).is_some_and(|own| own <= 0.0) && is_program(tested.look, own.row, at)
        });
        let unpaid: Vec<_> = unpaid.map(|own| (own.row, own.verdicts.get(at))).collect();
        (!unpaid.is_empty()).then_some((unpaid, at))
    })
}
