//! What `assay validate` found. The keys are part of the command-line contract.

use annotate_snippets::Level;
use minijinja::syntax::SyntaxConfig;
use minijinja::value::Serde;
use minijinja::{Environment, UndefinedBehavior, context};
use serde::Serialize;

use crate::lints::Problem;
use crate::output::count;
use crate::text::inline;
use crate::trial::DEEP_ROWS;
use crate::trial::read::DataReport;
use crate::trial::rewards::RewardReport;
use crate::trial::tally::RowsTally;

/// Findings that are shown; `--json` lists more.
const SHOWN_MAX: usize = 10;
/// Characters of a completion that are shown.
const COMPLETION_CHARS: usize = 80;

/// What was found of a configuration.
#[derive(Serialize)]
pub(super) struct Report {
    pub(super) ok: bool,
    pub(super) config_hash: String,
    /// Whether models and judges were asked, on a few rows.
    pub(super) deep: bool,
    /// What fails on every row that it applies to, and names that stand for nothing.
    pub(super) errors: Vec<Problem>,
    /// What fails on some rows, and what could not be tried.
    pub(super) warnings: Vec<Problem>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) data: Option<DataReport>,
    /// What the rewards of the rows came to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) combined: Option<RowsTally>,
    pub(super) rewards: Vec<RewardReport>,
}

impl Report {
    /// The report for people.
    pub(super) fn text(&self) -> anyhow::Result<String> {
        let mut jinja = Environment::new();
        let mut syntax = SyntaxConfig::builder();
        syntax.trim_blocks(true).lstrip_blocks(true).keep_trailing_newline(true);
        jinja.set_syntax(syntax.build()?);
        jinja.set_undefined_behavior(UndefinedBehavior::Chainable);
        jinja.add_filter("count", count);
        jinja.add_filter("inline", inline);
        jinja.add_filter("shortened", |text: String| {
            match text.char_indices().nth(COMPLETION_CHARS) {
                Some((end, _)) => format!("{}…", &text[..end]),
                None => text,
            }
        });
        let errors = self.errors.iter().map(|own| own.text(Level::ERROR));
        let warnings = self.warnings.iter().map(|own| own.text(Level::WARNING));
        let problems: Vec<String> = errors.chain(warnings).collect();
        let (shown, deep_rows) = (SHOWN_MAX, DEEP_ROWS);
        let context = context! { problems, shown, deep_rows, ..Serde(self) };
        Ok(jinja.render_str(include_str!("report.jinja"), context)?)
    }
}
