//! Settings that mean something else than they say, seen beside the rows.

use serde_json::{Map, Value};

use super::lint::Lint;
use super::problem::Problem;
use super::read::Row;
use super::sources::Role;
use super::words::{Language, Token, Word, words};

/// Packages that reward functions import and that are not part of Python.
const PACKAGES: [&str; 22] = [
    "datasets",
    "evaluate",
    "jsonschema",
    "latex2sympy2",
    "latex2sympy2_extended",
    "math_verify",
    "nltk",
    "numpy",
    "openai",
    "open_r1",
    "pandas",
    "pydantic",
    "rapidfuzz",
    "regex",
    "requests",
    "rouge_score",
    "scipy",
    "sklearn",
    "sympy",
    "torch",
    "transformers",
    "verl",
];

/// A larger share of a number makes it another one.
const RELATIVE_WIDE: f64 = 0.1;

impl Lint<'_> {
    /// What settings say that is hardly meant.
    pub(super) fn of_settings(&self) -> Vec<Problem> {
        let rewards = self.plan.config.rewards.iter().enumerate();
        let settings = rewards.flat_map(|(at, reward)| {
            let config = &reward.config;
            match reward.verifier.as_str() {
                "json" => self.json(at, config).into_iter().collect(),
                "math" | "number" => self.tolerance(at, config).into_iter().collect(),
                "rubric" => self.checklist(at, config).into_iter().collect(),
                "text_similarity" | "string_check" => ["input", "reference"]
                    .iter()
                    .filter_map(|key| self.template(at, key, config.get(*key)?.as_str()?))
                    .collect(),
                _ => Vec::new(),
            }
        });
        settings.chain(self.imports()).collect()
    }

    /// A reference that a check of JSON does not look at.
    fn json(&self, at: usize, config: &Map<String, Value>) -> Option<Problem> {
        let alone = self.plan.config.rewards.len() == 1;
        let is_read = ["equals_reference", "schema_file", "pointer"]
            .iter()
            .any(|key| config.contains_key(*key))
            || config.get("schema").is_some_and(|schema| !takes_any(schema));
        let has_reference = |row: &Row| {
            row.sample.reference().is_some_and(|own| match own {
                Value::String(text) => serde_json::from_str::<Value>(text).is_ok(),
                own => own.is_object() || own.is_array(),
            })
        };
        (alone && !is_read && self.rows.iter().any(has_reference)).then(|| {
            let message = "any JSON is right, and the rows have references that no reward reads";
            self.setting(
                at,
                "verifier",
                message.to_owned(),
                "config = { equals_reference = true }".to_owned(),
            )
        })
    }

    /// A tolerance by which another number is right.
    fn tolerance(&self, at: usize, config: &Map<String, Value>) -> Option<Problem> {
        let relative = config.get("decimals").and_then(|own| own.get("relative"));
        let wide = relative.and_then(Value::as_f64).filter(|relative| *relative >= RELATIVE_WIDE);
        let rounded = config.get("significant").and_then(Value::as_u64) == Some(1);
        let (key, message, help) = if let Some(relative) = wide {
            (
                "config.decimals",
                format!("a decimal that is off by {} % is right", relative * 100.0),
                "write decimals = { relative = 0.01 } for one percent",
            )
        } else if rounded {
            (
                "config.significant",
                "one digit has to agree: 140 is right where 123 is".to_owned(),
                "write significant = 3, or relative = 0.01 for one percent",
            )
        } else {
            return None;
        };
        Some(self.setting(at, key, message, help.to_owned()))
    }

    /// A list of texts in the place of a rubric, which is one score of the judge.
    fn checklist(&self, at: usize, config: &Map<String, Value>) -> Option<Problem> {
        let list = config.get("rubric")?.as_array()?;
        let is_texts = !list.is_empty() && list.iter().all(Value::is_string);
        (is_texts && !config.contains_key("format")).then(|| {
            let message = "a list of texts is read as the checklist of WildBench: the judge gives one score from 1 \
                           to 10, and the reward is (score - 5) * 2, from -8 to 10";
            let help = "for an answer to each, and a reward from 0 to 1: rubric = { criterion = [{ name = \"polite\", \
                        text = \"Is it polite?\" }, ...] }";
            self.setting(at, "config.rubric", message.to_owned(), help.to_owned())
        })
    }

    /// The name of a column where a template is due.
    fn template(&self, at: usize, key: &str, text: &str) -> Option<Problem> {
        let name = text.trim().trim_matches(['{', '}', '$']).trim();
        let is_template = text.contains("{{");
        let columns = &self.plan.config.data;
        let known = [&columns.reference, &columns.completion, &columns.prompt];
        let is_column = |row: &Row| row.sample.meta().contains_key(name);
        let is_known = known.iter().any(|own| *own == name)
            || ["reference", "completion", "prompt", "answer"].contains(&name)
            || self.rows.iter().any(is_column);
        (!is_template && is_known).then(|| {
            let template = if name == columns.completion || name == "completion" {
                "{{ sample.output_text }}".to_owned()
            } else {
                format!("{{{{ item.{name} }}}}")
            };
            let message = format!("`{key}` is the word \"{text}\" itself, and no template");
            self.setting(
                at,
                &format!("config.{key}"),
                message,
                format!("write {key} = \"{template}\""),
            )
        })
    }

    /// Imports of packages, which a script may have put where their failure is caught.
    fn imports(&self) -> Vec<Problem> {
        let python = self.sources.iter().filter(|source| source.language == Language::Python);
        let found = python.filter_map(|source| {
            let Role::Reward(_) = source.role else { return None };
            let tokens = words(&source.text, source.language);
            let (package, token) = imported(&tokens)?;
            let message = format!("the script imports `{package}`, which is not there");
            let help = "scripts have the standard library of Python alone; the verifiers `math`, `number`, \
                        `json` and others do much of what packages are for";
            Some(source.problem(self.document, Some(token.at.clone()), message, Some(help.to_owned())))
        });
        found.collect()
    }

    /// A problem of a setting, or of the verifier itself.
    pub(super) fn setting(&self, at: usize, key: &str, message: String, help: String) -> Problem {
        let name = self.plan.config.rewards.get(at).map_or("", |reward| reward.name.as_str());
        let error = self.document.error(&format!("reward[{at}].{key}"), message).help(Some(help));
        let key = if key == "verifier" { String::new() } else { format!(".{key}") };
        Problem::new(format!("reward.{name}{key}"), error)
    }
}

/// Whether a schema refuses no object.
fn takes_any(schema: &Value) -> bool {
    match schema {
        Value::Bool(own) => *own,
        Value::Object(members) => members.iter().all(|(key, value)| {
            ["$schema", "title", "description"].contains(&key.as_str())
                || key == "type" && value == "object"
        }),
        _ => false,
    }
}

/// The first package of [`PACKAGES`] that is imported.
fn imported(tokens: &[Token]) -> Option<(&str, &Token)> {
    let mut starts = true;
    for (at, token) in tokens.iter().enumerate() {
        let is_import =
            matches!(&token.word, Word::Name(word) if word == "import" || word == "from");
        if starts && is_import {
            let next = tokens.get(at + 1)?;
            if let Word::Name(name) = &next.word
                && let Some(package) = PACKAGES.iter().find(|package| *package == name)
            {
                return Some((package, next));
            }
        }
        starts = matches!(token.word, Word::Line | Word::Sign(':' | ';'));
    }
    None
}
