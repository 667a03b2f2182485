//! Lints that look for texts in rows, as `texts.toml` lists them.

use std::sync::LazyLock;

use assay::verifiers::{Aspect, Pattern, Verdict};
use serde::Deserialize;

use super::look::{Finding, Look, Place, Tested, shown};
use crate::trial::read::Row;

/// The lints of the file.
#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    lint: Vec<TextLint>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct TextLint {
    code: String,
    page: String,
    #[serde(default)]
    help: String,
    #[serde(flatten)]
    when: When,
    #[serde(default)]
    sign: Vec<Sign>,
}

/// On which rows of which plan it is said.
#[derive(Deserialize)]
struct When {
    of: Option<Vec<Aspect>>,
    #[serde(default)]
    not_of: Vec<Aspect>,
    unless: Option<Unless>,
    share: Option<usize>,
    least: Option<usize>,
    #[serde(default)]
    unpaid: bool,
}

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
}

#[derive(Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Key {
    Reference,
    Completion,
    /// The code of a completion: its fenced blocks, where it has any.
    Program,
    /// Why a program earns nothing, as its evidence calls it.
    Reason,
}

static FILE: LazyLock<File> =
    LazyLock::new(|| toml::from_str(include_str!("texts.toml")).unwrap_or_default());

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
        let When { of, not_of, unless, share, least, unpaid } = &self.when;
        let judges = |all: &[Aspect]| look.judges(|own| all.contains(&own));
        let is_for = |all: &Option<Vec<Aspect>>| all.as_ref().is_none_or(|all| judges(all));
        if !is_for(of) || !is_for(&sign.of) || judges(not_of) {
            return None;
        }
        let all = || look.rows.iter().map(|row| (row, None)).collect();
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
            rows.iter().filter_map(|(row, verdict)| Some((*row, sign.text(row, *verdict)?)));
        let with: Vec<(&Row, String)> =
            texts.filter(|(row, text)| sign.pattern.is_match(text) && !is_wanted(row)).collect();
        let is_few = share.is_some_and(|share| with.len() * share < rows.len());
        let (_, text) = with.first().filter(|_| !is_few && with.len() >= least.unwrap_or(1))?;
        let found = shown(sign.pattern.find(text)?.as_str().trim());
        let what = sign.what.replace("{shown}", &shown(text)).replace("{found}", &found);
        let key = if sign.key == Key::Reference { "data.reference" } else { "data.completion" };
        let rows: Vec<&Row> = with.iter().map(|(row, _)| *row).collect();
        let place = place.unwrap_or_else(|| Place::Key(key.to_owned()));
        Some(Finding::of_rows(place, &rows, &what, &self.help)?.with("found", found))
    }
}

impl Sign {
    fn text(&self, row: &Row, verdict: Option<&Verdict>) -> Option<String> {
        let completion = row.sample.completion().trim();
        Some(match self.key {
            Key::Reference => row.sample.reference()?.as_str()?.trim().to_owned(),
            Key::Program if completion.contains("```") => {
                let blocks = completion.split("```").skip(1).step_by(2);
                blocks.filter_map(|block| block.split_once('\n')).map(|(_, code)| code).collect()
            }
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

/// A row, with its verdict where that is asked for.
type Judged<'a> = (&'a Row, Option<&'a Verdict>);

/// The rows that earn nothing from the first reward of programs, where there are any, with their verdicts.
fn unpaid_programs(tested: Tested<'_>) -> Option<(Vec<Judged<'_>>, usize)> {
    let is_program = |row: &Row, at: usize| {
        tested.look.verifier(at).is_some_and(|own| own.trivial(&row.sample).is_some())
    };
    (0..tested.rewards.len()).find_map(|at| {
        let tried = tested.trial.rows.iter();
        let unpaid = tried.filter(|own| {
            own.unshaped(at).is_some_and(|own| own <= 0.0) && is_program(own.row, at)
        });
        let unpaid: Vec<_> = unpaid.map(|own| (own.row, own.verdicts.get(at))).collect();
        (!unpaid.is_empty()).then_some((unpaid, at))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_read() {
        let file: File = toml::from_str(include_str!("texts.toml")).unwrap();
        assert!(file.lint.len() > 10);
        assert!(file.lint.iter().all(|lint| lint.sign.is_empty() || !lint.help.is_empty()));
    }
}
