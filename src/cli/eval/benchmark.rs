//! The published protocols for reward models.

use std::path::PathBuf;
use std::sync::Arc;

use assay::reward_models::ModelError;
use assay::reward_models::backend::BackendChoice;
use assay::reward_models::benchmarks::{self, FirstError, Preference, StepValidity};
use assay::reward_models::model::{Judgement, Model};
use assay::reward_models::models::RunSettings;
use assay::reward_models::template::View;
use assay::setup::Environment;
use assay::verifiers::Message;
use clap::{Args as ClapArgs, ValueEnum};
use serde::Serialize;
use serde_json::json;

use super::rows::{Row, Rows};
use crate::cli::exit::{Exit, Failure};
use crate::cli::output;

/// Texts that are scored together.
const TEXTS: usize = 1_024;
/// Texts that were not judged and are named.
const SHOWN_MAX: usize = 5;

/// The published protocols for reward models.
#[derive(Debug, ClapArgs)]
pub(super) struct Args {
    /// The folder of the model
    model: PathBuf,
    /// The files as their authors publish them: JSON lines, JSON, Parquet, folders
    #[arg(required = true)]
    data: Vec<PathBuf>,
    /// A column that is called otherwise, as in `--column problem=prompt`
    #[arg(long = "column", value_name = "NAME=COLUMN")]
    columns: Vec<String>,
    /// A step with a score below this is wrong
    #[arg(long, default_value_t = 0.5)]
    threshold: f64,
    /// Stop after so many rows
    #[arg(long, value_name = "N")]
    limit: Option<usize>,
    /// What runs the model
    #[arg(long, value_enum, default_value_t = Backend::Auto)]
    backend: Backend,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// A protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Benchmark {
    Processbench,
    Rewardbench,
    Prmbench,
}

/// A protocol, and what it is run on.
struct Task<'a> {
    benchmark: Benchmark,
    args: &'a Args,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Backend {
    Auto,
    Ort,
    Rten,
}

pub(super) fn run(
    benchmark: Benchmark,
    args: &Args,
    environment: &Environment,
) -> Result<Exit, Failure> {
    let task = Task { benchmark, args };
    let backend = match args.backend {
        Backend::Auto => BackendChoice::Auto,
        Backend::Ort => BackendChoice::Ort,
        Backend::Rten => BackendChoice::Rten,
    };
    let model =
        environment.models().load(&args.model, &RunSettings { backend, ..RunSettings::default() });
    let model = model.map_err(|error| Failure::usage(error.to_string()))?;
    let rows = Rows::read(&args.data, names(benchmark), &args.columns, args.limit)?;
    output::note(&format!("{} rows, {} on {}", rows.len(), model.name(), model.backend));
    match benchmark {
        Benchmark::Processbench => process_bench(&task, &model, &rows),
        Benchmark::Rewardbench => reward_bench(&task, &model, &rows),
        Benchmark::Prmbench => prm_bench(&task, &model, &rows),
    }
}

/// The columns of a protocol, by the names that its authors gave them.
fn names(benchmark: Benchmark) -> &'static [&'static str] {
    match benchmark {
        Benchmark::Processbench => &["problem", "steps", "label", "subset", "id"],
        Benchmark::Rewardbench => &["prompt", "chosen", "rejected", "subset", "id"],
        Benchmark::Prmbench => &["question", "process", "error_steps", "classification", "id"],
    }
}

fn process_bench(task: &Task<'_>, model: &Arc<Model>, rows: &Rows) -> Result<Exit, Failure> {
    let (views, Scored { scores, unjudged }) = stepwise(model, rows, "problem", "steps")?;
    let mut cases = Vec::with_capacity(rows.len());
    for ((row, scores), view) in rows.iter().zip(scores).zip(&views) {
        let label = row.integer("label")?;
        let steps = view.steps.len();
        if label < -1 || usize::try_from(label).is_ok_and(|label| label >= steps) {
            return Err(row.wrong("label", &format!("-1 to {} ({steps} steps)", steps - 1)));
        }
        let labelled = usize::try_from(label).ok();
        // No step has the greatest number: what was not judged is not found.
        let first = |scores: Vec<f64>| scores.iter().position(|score| *score < task.args.threshold);
        let found = scores.map_or(Some(usize::MAX), first);
        cases.push(FirstError { subset: row.subset("subset")?, labelled, found });
    }
    let scores = benchmarks::first_errors(&cases);
    tell(task, model, &scores, unjudged, |score| {
        let part = |name: &str, value: Option<f64>| match value {
            Some(value) => format!("{name} {:.1}", 100.0 * value),
            None => format!("{name} -"),
        };
        let f1 = part("F1", score.f1);
        let (one, two) = (score.accuracy_erroneous, score.accuracy_correct);
        let (one, two) = (part("erroneous", one), part("correct", two));
        format!("{f1}  ({one} of {}, {two} of {})", score.erroneous, score.correct)
    })
}

fn reward_bench(task: &Task<'_>, model: &Arc<Model>, rows: &Rows) -> Result<Exit, Failure> {
    let mut views = Vec::new();
    let mut counts = Vec::with_capacity(rows.len());
    let mut owners = Vec::with_capacity(2 * rows.len());
    for row in rows.iter() {
        let (prompt, chosen) = (row.text("prompt")?, row.texts("chosen")?);
        let rejected = row.texts("rejected")?;
        counts.push((chosen.len(), rejected.len()));
        owners.resize(owners.len() + chosen.len() + rejected.len(), row);
        views.extend(chosen.into_iter().chain(rejected).map(|completion| {
            let steps = model.step_texts(&completion);
            View { steps, messages: user(&prompt), completion, ..View::default() }
        }));
    }
    let Scored { scores, unjudged } = scored(model, &views, &owners, Model::score)?;
    let mut scores = scores.into_iter();
    let mut cases = Vec::with_capacity(rows.len());
    for (row, (chosen, rejected)) in rows.iter().zip(counts) {
        let mut next = |count| scores.by_ref().take(count).collect::<Vec<Option<f64>>>();
        let (chosen, rejected) = (next(chosen), next(rejected));
        let whole = |scores: Vec<Option<f64>>| scores.into_iter().collect::<Option<Vec<f64>>>();
        // Where a text was not judged, the wrong one wins.
        let (chosen, rejected) =
            whole(chosen).zip(whole(rejected)).unwrap_or((vec![0.0], vec![1.0]));
        let id = row.optional_text("id").unwrap_or_default();
        cases.push(Preference { subset: row.subset("subset")?, id, chosen, rejected });
    }
    let scores = benchmarks::preferences(&cases);
    tell(task, model, &scores, unjudged, |score| format!("{:.1}", 100.0 * score))
}

fn prm_bench(task: &Task<'_>, model: &Arc<Model>, rows: &Rows) -> Result<Exit, Failure> {
    let (views, Scored { scores, unjudged }) = stepwise(model, rows, "question", "process")?;
    let mut steps = Vec::new();
    for ((row, scores), view) in rows.iter().zip(scores).zip(&views) {
        let wrong = row.integers("error_steps")?;
        let subset = row.subset("classification")?;
        steps.extend((0..view.steps.len()).zip(1_i64..).map(|(at, number)| {
            let valid = !wrong.contains(&number);
            let score = scores.as_ref().and_then(|scores| scores.get(at));
            let found_valid = score.map_or(!valid, |score| *score >= task.args.threshold);
            StepValidity { subset: subset.clone(), valid, found_valid }
        }));
    }
    let scores = benchmarks::step_validity(&steps);
    tell(task, model, &scores, unjudged, |score| {
        let percent = |share: f64| format!("{:.1}", 100.0 * share);
        let (valid, invalid) = (percent(score.f1_valid), percent(score.f1_invalid));
        let whole = percent(score.prm_score);
        format!("PRMScore {whole}  (F1 valid {valid}, invalid {invalid}, {} steps)", score.steps)
    })
}

fn user(prompt: &str) -> Vec<Message> {
    vec![Message::new("user", prompt)]
}

/// A solution a row, and the scores of its steps.
fn stepwise(
    model: &Model,
    rows: &Rows,
    problem: &str,
    steps: &str,
) -> Result<(Vec<View>, Scored<Vec<f64>>), Failure> {
    let view = |row: &Row| {
        let (messages, steps) = (user(&row.text(problem)?), row.texts(steps)?);
        Ok::<_, Failure>(View { messages, steps, ..View::default() })
    };
    let views = rows.iter().map(view).collect::<Result<Vec<View>, Failure>>()?;
    let owners: Vec<&Row> = rows.iter().collect();
    let scored = scored(model, &views, &owners, Model::step_scores)?;
    Ok((views, scored))
}

/// Scores, one a text.
struct Scored<T> {
    scores: Vec<Option<T>>,
    /// Texts without one: too long for the model, or a critique that says nothing. A benchmark of
    /// which a part is left out is another benchmark: they count as wrong.
    unjudged: usize,
}

/// What `read` makes of the judgement of each text; `owners` are the rows that they come from.
fn scored<T>(
    model: &Model,
    views: &[View],
    owners: &[&Row],
    read: impl Fn(&Model, &Judgement, usize) -> Option<T>,
) -> Result<Scored<T>, Failure> {
    let mut scores = Vec::with_capacity(views.len());
    let mut unjudged = 0;
    for (views, owners) in views.chunks(TEXTS).zip(owners.chunks(TEXTS)) {
        for ((view, row), judged) in views.iter().zip(owners).zip(model.judge(views)) {
            let score = match judged {
                Ok(judged) => read(model, &judged, view.steps.len())
                    .ok_or_else(|| "the model gave no score".to_owned()),
                Err(ModelError::Input(why)) => Err(why.to_string()),
                Err(error) => return Err(anyhow::anyhow!("{}: {error}", row.place()).into()),
            };
            if let Err(why) = &score {
                unjudged += 1;
                if unjudged <= SHOWN_MAX {
                    output::note(&format!("{}: not judged: {why}", row.place()));
                }
            }
            scores.push(score.ok());
        }
    }
    Ok(Scored { scores, unjudged })
}

fn tell<S: Serialize>(
    task: &Task<'_>,
    model: &Model,
    scores: &std::collections::BTreeMap<String, S>,
    unjudged: usize,
    line: impl Fn(&S) -> String,
) -> Result<Exit, Failure> {
    if task.args.json {
        let benchmark = format!("{:?}", task.benchmark).to_lowercase();
        let found = json!({
            "benchmark": benchmark,
            "model": model.name(),
            "backend": model.backend,
            "threshold": task.args.threshold,
            "unjudged": unjudged,
            "scores": scores,
        });
        output::json(&found)?;
    } else {
        let width = scores.keys().map(String::len).max().unwrap_or_default();
        for (subset, score) in scores {
            output::line(&format!("{subset:width$}  {}", line(score)));
        }
    }
    if unjudged == 0 {
        return Ok(Exit::Ok);
    }
    output::note(&format!("{unjudged} texts were not judged and count as wrong"));
    Ok(Exit::Fault)
}
