//! The sentences of findings, made of their fields: templates that `sentences.toml` has under the code of a lint.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use assay::built_in;
use assay::data::escape;
use minijinja::value::Serde;
use minijinja::{Environment, UndefinedBehavior};
use serde_json::Value;

use super::look::{listed, shown, tried_on, which};
use crate::output::count;

/// By code and name: what is wrong, and what to type, where the page of the lint does not say it.
type Sentences = BTreeMap<String, BTreeMap<String, Vec<String>>>;

static SENTENCES: LazyLock<Sentences> =
    LazyLock::new(|| built_in::table(include_str!("sentences.toml")));

static JINJA: LazyLock<Environment<'static>> = LazyLock::new(|| {
    let mut jinja = Environment::new();
    jinja.set_undefined_behavior(UndefinedBehavior::SemiStrict);
    jinja.add_filter("count", count);
    jinja.add_filter("plain", |number: f64| number.to_string());
    jinja.add_filter("escape", |text: String| escape(&text));
    jinja.add_filter("shown", |text: String| shown(&text));
    jinja.add_filter("listed", |names: Vec<String>| listed(names.iter().map(String::as_str)));
    jinja.add_filter("which", which);
    jinja.add_filter("tried", tried_on);
    jinja
});

/// What is wrong, and what to type. A text that names no sentence is a template itself.
pub(super) fn of(code: &str, says: &str, fields: &[(&'static str, Value)]) -> [String; 2] {
    let named = SENTENCES.get(code).and_then(|own| own.get(says));
    let mut templates = named.into_iter().flatten().map(String::as_str);
    let context: BTreeMap<_, _> = fields.iter().map(|(name, value)| (*name, value)).collect();
    let filled = |template: &str| {
        JINJA
            .render_str(template, Serde(&context))
            .unwrap_or_else(|error| format!("{template}: {error}"))
    };
    [filled(templates.next().unwrap_or(says)), filled(templates.next().unwrap_or_default())]
}
