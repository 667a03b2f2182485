//! Slips in the data that no verifier can tell: groups that do not stand together, references and
//! completions that hold something else than an answer, ids that name several rows.

use std::collections::{BTreeMap, BTreeSet};

use assay::Plan;
use assay::engine::config::RewardConfig;
use assay::engine::{Document, group_key};
use assay::verifiers::{Lane, Sample};
use serde_json::Value;

use super::advice::GROUPS;
use super::broken;
use super::faults::Found;
use super::problem::Problem;
use super::read::Row;
use super::slips::{self, Slip, slipped, which};
use super::sources::Source;
use super::trial;
use crate::output::count;

/// Members of a table that hold the answer, in the data of others.
pub(super) const ANSWERS: [&str; 6] =
    ["ground_truth", "final_answer", "answer", "gold", "target", "expected_answer"];
/// The same, where an answer is compared as text.
const TEXTS: [&str; 3] = ["aliases", "text", "value"];

/// Columns that hold the prompt, in the data of others.
const PROMPTS: [&str; 8] =
    ["question", "problem", "query", "instruction", "input", "messages", "prompt_text", "task"];

/// The rows, and where the columns are named.
pub(super) struct Lint<'a> {
    pub(super) plan: &'a Plan,
    pub(super) document: &'a Document,
    pub(super) rows: &'a [Row],
    pub(super) sources: &'a [Source],
    /// The step of the training.
    pub(super) step: u64,
}

impl Lint<'_> {
    /// What is wrong with the rows.
    pub(super) fn find(&self, found: &mut Found) {
        if self.plan.needs_groups() {
            found.errors.extend(self.scattered());
        }
        let warnings = [
            self.ids(),
            self.alone(),
            self.one_group(),
            self.nested_references(),
            self.copied(),
            self.messages_as_text(),
            self.control_characters(),
            self.empty(),
        ];
        found.warnings.extend(warnings.into_iter().flatten());
        found.warnings.extend(self.of_columns());
        found.warnings.extend(self.of_turns());
        let mut slips = slips::find(self.rows, self.plan, self.step);
        slips.extend(broken::find(self.rows, self.plan));
        found.warnings.extend(
            slips
                .into_iter()
                .map(|Slip { key, message, help }| self.problem(key, message, help.to_owned())),
        );
        found.warnings.extend(self.captures());
        found.warnings.extend(self.patterns());
        found.warnings.extend(self.of_settings());
        found.warnings.extend(self.of_idle());
        found.warnings.extend(self.of_unread());
        found.warnings.extend(self.of_verifiers());
    }

    /// What verifiers find in the rows to which they apply.
    fn of_verifiers(&self) -> Vec<Problem> {
        let mut problems = Vec::new();
        for (at, planned) in self.plan.rewards.iter().enumerate() {
            let Lane::Compute(verifier) = &planned.built.lane else { continue };
            let rows = self.rows_of(at);
            let samples: Vec<&Sample> = rows.iter().map(|row| &row.sample).collect();
            for slip in verifier.slips(&samples) {
                let first = slip.samples.first().and_then(|first| rows.get(*first));
                let Some(first) = first else { continue };
                let message =
                    format!("{}: {}", which(slip.samples.len(), first.number), slip.message);
                let key = match slip.setting {
                    "" => "verifier".to_owned(),
                    setting => format!("config.{setting}"),
                };
                problems.push(self.setting(at, &key, message, slip.help));
            }
        }
        problems
    }

    /// The rows to which the reward at a place applies.
    pub(super) fn rows_of(&self, at: usize) -> Vec<&Row> {
        let applies = |row: &&Row| trial::applies(self.plan, at, &row.sample, self.step);
        self.rows.iter().filter(applies).collect()
    }

    /// Patterns that capture what nothing compares.
    fn captures(&self) -> impl Iterator<Item = Problem> {
        let has_references = self.rows.iter().any(|row| row.sample.reference().is_some());
        let rewards = self.plan.config.rewards.iter().enumerate();
        rewards.filter(move |_| has_references).filter_map(|(at, reward)| {
            let pattern = reward.config.get("pattern").and_then(Value::as_str)?;
            if reward.verifier != "regex" || reward.config.contains_key("group") {
                return None;
            }
            let group = captured(pattern)?;
            let message = format!(
                "what `{group}` captures is not compared with the reference: any match is right"
            );
            let named = ["(?P<", "(?<"].into_iter().find_map(|lead| group.strip_prefix(lead));
            let (name, inner) = named
                .and_then(|rest| rest.split_once('>'))
                .unwrap_or(("1", group.get(1..).unwrap_or_default()));
            let help = format!(
                "write group = \"{name}\" to compare it, or (?:{inner} for a group that captures nothing"
            );
            Some(self.setting(at, "config.pattern", message, help))
        })
    }

    /// Patterns that are written as in another language.
    fn patterns(&self) -> impl Iterator<Item = Problem> {
        let rewards = self.plan.config.rewards.iter().enumerate();
        rewards.filter(|(_, reward)| reward.verifier == "regex").filter_map(|(at, reward)| {
            let pattern = reward.config.get("pattern")?.as_str()?;
            let (message, meant) = foreign(pattern)?;
            let help = format!("write pattern = {}", toml::Value::from(meant));
            Some(self.setting(at, "config.pattern", message.to_owned(), help))
        })
    }

    pub(super) fn problem(&self, key: &str, message: String, help: String) -> Problem {
        let path = format!("data.{key}");
        let error = self.document.error(&path, message).help(Some(help));
        Problem::new(path, error)
    }

    /// A group that goes on behind another one.
    fn scattered(&self) -> Option<Problem> {
        let (mut seen, mut key) = (BTreeSet::new(), None);
        let again = self.rows.iter().find(|row| {
            let own = group_key(&row.sample);
            let is_new = key != Some(own);
            key = Some(own);
            is_new && !seen.insert(own)
        })?;
        let (row, group) = (again.number, group_key(&again.sample));
        let message =
            format!("the group {group:?} goes on at row {row}, behind rows of another group");
        let help = "rewards are compared within groups, so the rows of a group stand together: sort the \
                    rows by their group";
        Some(self.problem("group", message, help.to_owned()))
    }

    /// Groups of one row each, where rewards are compared within groups.
    fn alone(&self) -> Option<Problem> {
        let what = self.plan.compares(|_| true)?;
        let keys: BTreeSet<&str> = self.rows.iter().map(|row| group_key(&row.sample)).collect();
        (self.rows.len() > 1 && keys.len() == self.rows.len()).then(|| {
            let message =
                format!("every group has one row, and {what} compares the rows of a group");
            self.problem("group", message, GROUPS.to_owned())
        })
    }

    /// Rows that name neither a prompt nor a group, which are one group.
    fn one_group(&self) -> Option<Problem> {
        let what = self.plan.compares(|_| true)?;
        let is_silent = |row: &Row| group_key(&row.sample).is_empty();
        (self.rows.len() > 1 && self.rows.iter().all(is_silent)).then(|| {
            let rows = count(self.rows.len() as u64);
            let message = format!(
                "no row has a prompt or a group, so that all {rows} rows are one group, and {what} compares \
                 the rows of a group"
            );
            let meta = self.rows.first().map(|row| row.sample.meta());
            let is_there = |name: &&&str| meta.is_some_and(|meta| meta.contains_key(**name));
            let help = match PROMPTS.iter().find(is_there) {
                Some(name) => format!("write [data] prompt = \"{name}\""),
                None => GROUPS.to_owned(),
            };
            self.problem("prompt", message, help)
        })
    }

    /// Ids that name several rows.
    fn ids(&self) -> Option<Problem> {
        let mut rows: BTreeMap<&str, &Row> = BTreeMap::new();
        // Equal answers to one prompt are one id where no column has ids, and no slip.
        let differ = |one: &Row, other: &Row| {
            one.sample.prompt() != other.sample.prompt()
                || one.sample.completion() != other.sample.completion()
        };
        let again = self.rows.iter().find_map(|row| {
            let first = rows.insert(row.sample.id(), row)?;
            differ(first, row).then(|| (row.sample.id(), first.number, row.number))
        });
        let (id, first, second) = again?;
        let message = format!("the rows {first} and {second} have one id, {id:?}");
        let help = "name a column that tells rows apart: [data] id = \"COLUMN\"; `explain --id` shows the \
                    first of them alone";
        Some(self.problem("id", message, help.to_owned()))
    }

    /// References that hold the answer in a table.
    fn nested_references(&self) -> Option<Problem> {
        let column = &self.plan.config.data.reference;
        let of_text = self.plan.rewards.iter().any(slips::compares);
        let rewards = self.plan.config.rewards.iter();
        if !of_text && rewards.clone().any(takes_tables) {
            return None;
        }
        let texts = if of_text { &TEXTS[..] } else { &[] };
        let names: Vec<&'static str> = ANSWERS.iter().chain(texts).copied().collect();
        let own = |row: &Row| row.sample.reference().and_then(|value| member(value, &names));
        let (key, is_text) = self.rows.iter().find_map(own)?;
        let (rows, _) = slipped(self.rows, |row| own(row).is_some())?;
        // What is one and the same for every question is no answer to any.
        let mut answers = self.rows.iter().map(|row| row.sample.reference()?.get(key));
        let first = answers.next().flatten();
        let prompts: BTreeSet<_> = self.rows.iter().map(Row::question).collect();
        if first.is_some() && answers.all(|own| own == first) && prompts.len() > 2 {
            return None;
        }
        let place = format!("{column}.{key}");
        let (what, help) = if is_text {
            (
                "text that holds a table",
                format!("write it as an object, and [data] reference = \"{place}\""),
            )
        } else {
            ("table", format!("write [data] reference = \"{place}\""))
        };
        let message = format!(
            "{rows}: the reference is a {what} with `{key}` in it, and not the answer alone"
        );
        Some(self.problem("reference", message, help))
    }

    /// Completions that are the reference, all of them.
    fn copied(&self) -> Option<Problem> {
        let is_copy = |row: &Row| {
            let reference = row.sample.reference_text();
            let completion = row.sample.completion();
            !completion.is_empty() && reference.is_some_and(|own| own == completion)
        };
        let all = self.rows.len() > 1 && self.rows.iter().all(is_copy);
        all.then(|| {
            let message =
                "the completion is the reference, letter by letter, on every row".to_owned();
            let help = "[data] completion names the answers of the policy, and not the solutions";
            self.problem("completion", message, help.to_owned())
        })
    }

    /// Conversations that were written as text.
    fn messages_as_text(&self) -> Option<Problem> {
        let (rows, _) = slipped(self.rows, |row| {
            let text = row.sample.completion().trim();
            text.starts_with('[') && text.contains("\"role\"") && is_messages(text)
        })?;
        let message = format!("{rows}: the completion is a text that holds messages");
        let help = "write the list itself: json.dumps once, over the whole row";
        Some(self.problem("completion", message, help.to_owned()))
    }

    /// LaTeX with one backslash: `\boxed` and `\frac` are read as a backspace and a form feed.
    fn control_characters(&self) -> Option<Problem> {
        let (rows, _) =
            slipped(self.rows, |row| row.sample.completion().contains(['\u{8}', '\u{c}']))?;
        let message = format!(
            "{rows}: the completion has a backspace or a form feed, as `\\boxed` and `\\frac` become with one \
             backslash"
        );
        let help = "JSON writes a backslash as two, which json.dumps does";
        Some(self.problem("completion", message, help.to_owned()))
    }

    fn empty(&self) -> Option<Problem> {
        let is_empty = |row: &Row| row.is_blank() && !row.has_calls();
        let all = !self.rows.is_empty() && self.rows.iter().all(is_empty);
        all.then(|| {
            let help = "[data] completion names the column of the answers, or a member of it, such as \
                        message.content; calls of tools and `reasoning_content` are no answers by themselves";
            self.problem("completion", "every completion is empty".to_owned(), help.to_owned())
        })
    }
}

/// The first group of a pattern that captures what an answer may be: neither alternatives of a word nor what
/// is repeated.
fn captured(pattern: &str) -> Option<&str> {
    let (mut open, mut is_class, mut is_escaped): (Vec<usize>, _, _) = (Vec::new(), false, false);
    let mut first: Option<&str> = None;
    for (at, char) in pattern.char_indices() {
        match char {
            _ if is_escaped => is_escaped = false,
            '\\' => is_escaped = true,
            ']' => is_class = false,
            _ if is_class => {}
            '[' => is_class = true,
            '(' => open.push(at),
            ')' => {
                let group = open.pop().and_then(|start| pattern.get(start..=at))?;
                let named = group.starts_with("(?P<") || group.starts_with("(?<");
                let captures = named || !group.starts_with("(?");
                let repeated = pattern.get(at + 1..)?.starts_with(['*', '+', '?', '{']);
                if captures && !repeated && !group.contains('|') {
                    first = first.or(Some(group));
                }
            }
            _ => {}
        }
    }
    first
}

/// What is said of a pattern that is written as in another language, and what is meant.
fn foreign(pattern: &str) -> Option<(&'static str, String)> {
    let slashes = pattern.strip_prefix('/').and_then(|rest| rest.rsplit_once('/'));
    if let Some((inner, flags)) = slashes
        && flags.chars().all(|flag| "gimsuy".contains(flag))
    {
        let flags: String = flags.chars().filter(|flag| "ims".contains(*flag)).collect();
        let flags = if flags.is_empty() { flags } else { format!("(?{flags})") };
        return Some(("the slashes belong to the pattern, and are looked for", flags + inner));
    }
    for quote in ['"', '\''] {
        let quoted = pattern.strip_prefix('r').and_then(|rest| rest.strip_prefix(quote));
        if let Some(inner) = quoted.and_then(|rest| rest.strip_suffix(quote)) {
            let message = "the quotes and the `r` belong to the pattern, and are looked for";
            return Some((message, inner.to_owned()));
        }
    }
    let boxed = pattern.match_indices("\\boxed").find(|(at, _)| {
        let before = pattern.get(..*at).unwrap_or_default();
        (before.len() - before.trim_end_matches('\\').len()).is_multiple_of(2)
    });
    boxed.map(|(at, _)| {
        let (before, rest) = pattern.split_at(at);
        (
            "`\\b` is the border of a word: `\\boxed` is looked for as `oxed`",
            format!("{before}\\{rest}"),
        )
    })
}

/// Whether a reward takes a reference that is a table as a whole.
fn takes_tables(reward: &RewardConfig) -> bool {
    let config = &reward.config;
    match reward.verifier.as_str() {
        "json" => {
            config.get("equals_reference") == Some(&Value::Bool(true))
                && !config.contains_key("pointer")
        }
        "rhai" | "python_check" | "rubric" | "wasm" | "webhook" => true,
        _ => false,
    }
}

/// The member that holds the answer, and whether it stands in a text.
fn member(reference: &Value, names: &[&'static str]) -> Option<(&'static str, bool)> {
    let of = |table: &Value| names.iter().copied().find(|name| table.get(*name).is_some());
    match reference {
        Value::Object(_) => of(reference).map(|name| (name, false)),
        Value::String(text) if text.trim_start().starts_with('{') => {
            let quoted = |name: &&str| {
                text.contains(&format!("\"{name}\"")) || text.contains(&format!("'{name}'"))
            };
            names.iter().copied().find(|name| quoted(name)).map(|name| (name, true))
        }
        _ => None,
    }
}

fn is_messages(text: &str) -> bool {
    let read: Result<Vec<Value>, _> = serde_json::from_str(text);
    read.is_ok_and(|values| values.iter().any(|value| value.get("role").is_some()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_that_capture_an_answer_are_found() {
        for (pattern, group) in [
            (r"the answer is (\d+)", Some(r"(\d+)")),
            (r"<answer>(?P<a>.*?)</answer>", Some("(?P<a>.*?)")),
            (r"(?s)^<think>.*</think>", None),
            (r"(?:yes|no) \(x\) [(a)]", None),
            (r"(yes|no)", None),
            (r"^(\w+ )+$", None),
        ] {
            assert_eq!(captured(pattern), group, "{pattern}");
        }
    }

    #[test]
    fn patterns_of_other_languages_are_told() {
        for (pattern, meant) in [
            ("/yes/i", Some("(?i)yes")),
            ("/a\\/b/", Some("a\\/b")),
            ("/usr/bin", None),
            (r#"r"\d+""#, Some(r"\d+")),
            (r"\boxed\{.*\}", Some(r"\\boxed\{.*\}")),
            (r"\\boxed", None),
            (r"\bbox\b", None),
        ] {
            assert_eq!(foreign(pattern).map(|(_, meant)| meant).as_deref(), meant, "{pattern}");
        }
    }
}
