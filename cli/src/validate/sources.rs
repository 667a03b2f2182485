//! The scripts of a configuration, and where each stands.

use std::ops::Range;

use assay::engine::{ConfigFolder, Document, in_rhai};
use assay::verifiers::Files as _;
use assay::{ConfigError, Plan};
use serde_json::Value;

use super::advice::Failing;
use super::problem::Problem;
use super::words::Language;

/// What a script decides.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Role {
    /// Whether the reward at this place applies.
    When(usize),
    /// What the rewards come to.
    Combine,
    /// The reward at this place.
    Reward(usize),
}

/// A script, and where it stands.
pub(super) struct Source {
    pub(super) role: Role,
    pub(super) language: Language,
    pub(super) text: String,
    /// The function of Python that decides.
    pub(super) function: Option<String>,
    /// The file that holds it, where the configuration does not.
    file: Option<String>,
    key: String,
    path: String,
    /// The same in rhai, where it is written as in Python.
    meant: Option<String>,
}

impl Source {
    pub(super) fn problem(
        &self,
        document: &Document,
        part: Option<Range<usize>>,
        message: String,
        help: Option<String>,
    ) -> Problem {
        let typed = self.meant().or_else(|| self.advice(&message));
        let error = match (&self.file, part) {
            (Some(file), part) => ConfigError::new(file, &self.text, message).at(part),
            (None, Some(part)) => document.error_in(&self.path, part, message),
            (None, None) => document.error(&self.path, message),
        };
        Problem::new(self.key.clone(), error.help(typed.or(help)))
    }

    /// What to type where a script fails for a reason that is known.
    fn advice(&self, message: &str) -> Option<String> {
        let verifier = match self.language {
            Language::Rhai => "rhai",
            Language::Python => "python_check",
        };
        let line = self.place_in(message).and_then(|place| self.line_at(place.start));
        let is_expression = !matches!(self.role, Role::Reward(_));
        let script = Failing { verifier, text: &self.text, line, is_expression };
        script.advice(message)
    }

    /// The line in which a byte stands.
    fn line_at(&self, at: usize) -> Option<&str> {
        let start = self.text.get(..at)?.rfind('\n').map_or(0, |end| end + 1);
        self.text.get(start..)?.lines().next()
    }

    /// The same in rhai, as it is typed, where it is written as in Python.
    fn meant(&self) -> Option<String> {
        let key = self.path.rsplit('.').next().unwrap_or_default();
        let meant = self.meant.as_ref()?;
        Some(format!("write {key} = {}", toml::Value::from(meant.as_str())))
    }

    /// What people call it.
    pub(super) fn called(&self) -> &'static str {
        match self.role {
            Role::When(_) => "`when`",
            Role::Combine => "`expression`",
            Role::Reward(_) => "the script",
        }
    }

    /// The bytes at which a fault says that it went wrong.
    pub(super) fn place_in(&self, why: &str) -> Option<Range<usize>> {
        match self.language {
            Language::Rhai => {
                let (_, told) = why.rsplit_once("(line ")?;
                let (line, column) = told.split_once(", position ")?;
                let column = column.split(')').next()?.parse::<usize>().ok()?;
                self.word_at(line.parse().ok()?, column)
            }
            Language::Python => {
                let (_, told) = why.rsplit_once("script: line ")?;
                let line: usize = told.split(':').next()?.parse().ok()?;
                let (start, text) = self.line(line)?;
                let blank = text.len() - text.trim_start().len();
                Some(start + blank..start + text.trim_end().len())
            }
        }
    }

    /// The word at a line and a character, both counted from 1.
    pub(super) fn word_at(&self, line: usize, column: usize) -> Option<Range<usize>> {
        let (start, text) = self.line(line)?;
        let at = text.char_indices().nth(column.checked_sub(1)?)?.0;
        let rest = text.get(at..)?;
        let is_word = |char: char| char.is_alphanumeric() || char == '_';
        let length = rest.find(|char| !is_word(char)).unwrap_or(rest.len());
        let length = length.max(rest.chars().next().map_or(1, char::len_utf8));
        Some(start + at..start + at + length)
    }

    fn line(&self, line: usize) -> Option<(usize, &str)> {
        let before = self.text.split_inclusive('\n').take(line.checked_sub(1)?);
        let start: usize = before.map(str::len).sum();
        Some((start, self.text.get(start..)?.lines().next()?))
    }
}

/// Every script of the plan, in the order of the rewards.
pub(super) fn sources(plan: &Plan, files: &ConfigFolder) -> Vec<Source> {
    let mut sources = Vec::new();
    for (at, reward) in plan.config.rewards.iter().enumerate() {
        if let Some(when) = &reward.when {
            sources.push(Source {
                role: Role::When(at),
                language: Language::Rhai,
                text: when.clone(),
                function: None,
                file: None,
                key: format!("reward.{}.when", reward.name),
                path: format!("reward[{at}].when"),
                meant: in_rhai(when, &plan.names, false),
            });
        }
        let language = match plan.rewards.get(at).map(|planned| &*planned.built.spec.id) {
            Some("rhai") => Language::Rhai,
            Some("python_check") => Language::Python,
            _ => continue,
        };
        let text = |key: &str| reward.config.get(key).and_then(Value::as_str);
        let (setting, file, text) = match (text("script"), text("file")) {
            (Some(script), None) => ("script", None, Some(script.to_owned())),
            (None, Some(file)) => {
                let read = files.read(file).ok().and_then(|bytes| String::from_utf8(bytes).ok());
                ("file", Some(file.to_owned()), read)
            }
            _ => continue,
        };
        let Some(text) = text else { continue };
        sources.push(Source {
            role: Role::Reward(at),
            language,
            text,
            function: reward.config.get("function").and_then(Value::as_str).map(str::to_owned),
            file,
            key: format!("reward.{}.config.{setting}", reward.name),
            path: format!("reward[{at}].config.{setting}"),
            meant: None,
        });
    }
    if let Some(expression) = &plan.config.combine.expression {
        sources.push(Source {
            role: Role::Combine,
            language: Language::Rhai,
            text: expression.clone(),
            function: None,
            file: None,
            key: "combine.expression".to_owned(),
            path: "combine.expression".to_owned(),
            meant: in_rhai(expression, &plan.names, true),
        });
    }
    sources
}
