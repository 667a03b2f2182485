//! What the benchmarks share: the rows, the model, its scores, and what is reported of them.

use std::collections::BTreeMap;
use std::sync::Arc;

use assay::reward_models::ModelError;
use assay::reward_models::backend::BackendChoice;
use assay::reward_models::model::{Judgement, Model};
use assay::reward_models::models::RunSettings;
use assay::reward_models::template::View;
use assay::setup::Environment;
use assay::verifiers::code::Code;
use serde_json::{Map, Value, json};

use super::args::{Args, Backend};
use crate::eval::rows::{Asked, Row, Rows};
use crate::exit::{Exit, Failure};
use crate::output;

/// Texts that are scored together.
const TEXTS: usize = 1_024;
/// Texts that were not judged and are named.
const SHOWN_MAX: usize = 5;

/// A protocol, and what it is run on.
pub(super) struct Task<'a> {
    pub(super) benchmark: &'static str,
    pub(super) args: &'a Args,
    pub(super) environment: &'a Environment,
}

/// Scores, one a text.
pub(super) struct Scored<T> {
    pub(super) scores: Vec<Option<T>>,
    /// Texts without one: too long for the model, or a critique that says nothing. A benchmark of
    /// which a part is left out is another benchmark: they count as wrong.
    pub(super) unjudged: Unjudged,
}

/// What was not judged.
#[derive(Default)]
pub(super) struct Unjudged {
    texts: usize,
    /// Rows with such a text, by subset.
    rows: BTreeMap<String, usize>,
}

/// What came of a benchmark.
pub(super) struct Figures {
    /// By subset, and of all.
    pub(super) scores: Value,
    /// What is beside them.
    pub(super) beside: Map<String, Value>,
    /// What people read: a name and its figures.
    pub(super) lines: Vec<(String, String)>,
}

impl Task<'_> {
    /// The rows; `names` are the columns by the names that the authors gave them.
    pub(super) fn rows(
        &self,
        names: &'static [&'static str],
        subset: &'static str,
    ) -> Result<Rows, Failure> {
        let Args { data, columns, limit, .. } = self.args;
        Asked { files: data, names, subset, renamed: columns, limit: *limit }.read()
    }

    /// The model, which is loaded once the rows are known to be what the protocol asks for.
    pub(super) fn model(&self, rows: &Rows) -> Result<Arc<Model>, Failure> {
        let backend = match self.args.backend {
            Backend::Auto => BackendChoice::Auto,
            Backend::Ort => BackendChoice::Ort,
            Backend::Rten => BackendChoice::Rten,
        };
        let settings = RunSettings { backend, ..RunSettings::default() };
        let model = self.environment.models().load(&self.args.model, &settings);
        let model = model.map_err(|error| Failure::usage(error.to_string()))?;
        output::note(&format!("{} rows, {} on {}", rows.len(), model.name(), model.backend));
        Ok(model)
    }

    /// Tells the figures, and what was not judged.
    pub(super) fn tell(
        &self,
        model: &Model,
        figures: Figures,
        unjudged: &Unjudged,
    ) -> Result<Exit, Failure> {
        let Figures { scores, beside, lines } = figures;
        if self.args.json {
            let mut found = json!({
                "benchmark": self.benchmark,
                "model": model.name(),
                "backend": model.backend,
                "threshold": self.args.threshold,
                "unjudged": unjudged.texts,
                "unjudged_rows": unjudged.rows,
                "scores": scores,
            });
            if let Some(found) = found.as_object_mut() {
                found.extend(beside);
            }
            output::json(&found)?;
        } else {
            let width = lines.iter().map(|(name, _)| name.chars().count()).max().unwrap_or(0);
            for (name, line) in &lines {
                output::line(&format!("{name:width$}  {line}"));
            }
        }
        if unjudged.texts == 0 {
            return Ok(Exit::Ok);
        }
        let rows: Vec<String> =
            unjudged.rows.iter().map(|(subset, rows)| format!("{rows} rows of {subset}")).collect();
        let (texts, rows) = (unjudged.texts, rows.join(", "));
        output::note(&format!("{texts} texts were not judged and count as wrong: {rows}"));
        Ok(Exit::Fault)
    }
}

impl<T> Scored<T> {
    /// What `read` makes of the judgement of each text; `owners` are the rows that they come from,
    /// each with its subset.
    pub(super) fn of(
        model: &Model,
        views: &[View],
        owners: &[(&Row, &str)],
        read: impl Fn(&Model, &Judgement, usize) -> Option<T>,
    ) -> Result<Self, Failure> {
        let mut scores = Vec::with_capacity(views.len());
        let mut unjudged = Unjudged::default();
        let mut last = None;
        for (views, owners) in views.chunks(TEXTS).zip(owners.chunks(TEXTS)) {
            for ((view, (row, subset)), judged) in views.iter().zip(owners).zip(model.judge(views))
            {
                let score = match judged {
                    Ok(judged) => read(model, &judged, view.steps.len())
                        .ok_or_else(|| "the model gave no score".to_owned()),
                    Err(ModelError::Input(why)) => Err(why.to_string()),
                    Err(error) => {
                        return Err(Failure::outside(
                            Code::Internal,
                            format!("{}: {error}", row.place()),
                        ));
                    }
                };
                if let Err(why) = &score {
                    unjudged.texts += 1;
                    if unjudged.texts <= SHOWN_MAX {
                        output::note(&format!("{}: not judged: {why}", row.place()));
                    }
                    if last != Some(row.place()) {
                        *unjudged.rows.entry((*subset).to_owned()).or_default() += 1;
                        last = Some(row.place());
                    }
                }
                scores.push(score.ok());
            }
        }
        Ok(Self { scores, unjudged })
    }
}

/// A share in percent.
pub(super) fn percent(share: f64) -> String {
    format!("{:.1}", 100.0 * share)
}
