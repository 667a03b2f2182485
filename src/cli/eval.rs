//! `assay eval`: the published protocols for reward models.

mod rows;

use std::path::PathBuf;
use std::sync::Arc;

use assay::reward_models::backend::Choice;
use assay::reward_models::benchmarks::{self, FirstError, Preference, StepValidity};
use assay::reward_models::model::{Judgement, Model};
use assay::reward_models::models::Run;
use assay::reward_models::template::View;
use assay::verifiers::Message;
use clap::{Args as ClapArgs, ValueEnum};
use serde::Serialize;
use serde_json::json;

use super::exit::{Exit, Failure};
use super::{guests, models, output};
use rows::{Row, Rows};

/// Texts that are scored together.
const TEXTS: usize = 1_024;

/// The published protocols for reward models.
#[derive(Debug, ClapArgs)]
pub(super) struct Args {
    /// The protocol
    #[arg(value_enum)]
    benchmark: Benchmark,
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

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Benchmark {
    /// The first wrong step; F1 by subset. Columns: problem, steps, label (-1 or null: none)
    Processbench,
    /// The best of several completions, and ties. Columns: prompt, chosen, rejected, subset, id
    Rewardbench,
    /// Valid and invalid steps. Columns: question, process, `error_steps` (from 1), classification
    Prmbench,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Backend {
    Auto,
    Ort,
    Rten,
}

pub(super) fn run(args: &Args) -> Result<Exit, Failure> {
    let backend = match args.backend {
        Backend::Auto => Choice::Auto,
        Backend::Ort => Choice::Ort,
        Backend::Rten => Choice::Rten,
    };
    let models = models::models(&guests::assets());
    let model = models.load(&args.model, &Run { backend, ..Run::default() });
    let model = model.map_err(|error| Failure::usage(error.to_string()))?;
    let rows = Rows::read(&args.data, names(args.benchmark), &args.columns, args.limit)?;
    output::note(&format!("{} rows, {} on {}", rows.len(), model.name(), model.backend));
    match args.benchmark {
        Benchmark::Processbench => process_bench(args, &model, &rows),
        Benchmark::Rewardbench => reward_bench(args, &model, &rows),
        Benchmark::Prmbench => prm_bench(args, &model, &rows),
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

fn process_bench(args: &Args, model: &Arc<Model>, rows: &Rows) -> Result<Exit, Failure> {
    let views = rows.each(|row| Ok(stepwise(&row.text("problem")?, row.texts("steps")?)))?;
    let scores = scored(model, &views, &rows.iter().collect::<Vec<_>>(), Model::step_scores)?;
    let mut cases = Vec::with_capacity(rows.len());
    for (row, scores) in rows.iter().zip(scores) {
        let labelled = row.integer("label")?.and_then(|label| usize::try_from(label).ok());
        let found = scores.iter().position(|score| *score < args.threshold);
        cases.push(FirstError { subset: row.subset("subset")?, labelled, found });
    }
    let scores = benchmarks::first_errors(&cases);
    tell(args, model, &scores, |score| {
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

fn reward_bench(args: &Args, model: &Arc<Model>, rows: &Rows) -> Result<Exit, Failure> {
    let mut views = Vec::new();
    let mut counts = Vec::with_capacity(rows.len());
    let mut owners = Vec::with_capacity(2 * rows.len());
    for row in rows.iter() {
        let (prompt, chosen) = (row.text("prompt")?, row.texts("chosen")?);
        let rejected = row.texts("rejected")?;
        counts.push((chosen.len(), rejected.len()));
        owners.resize(owners.len() + chosen.len() + rejected.len(), row);
        views.extend(chosen.into_iter().chain(rejected).map(|completion| {
            let steps = model.steps(&completion).into_iter().map(|(step, _)| step.to_owned());
            View { steps: steps.collect(), messages: user(&prompt), completion, ..View::default() }
        }));
    }
    let mut scores = scored(model, &views, &owners, Model::score)?.into_iter();
    let mut cases = Vec::with_capacity(rows.len());
    for (row, (chosen, rejected)) in rows.iter().zip(counts) {
        let chosen = scores.by_ref().take(chosen).collect();
        let rejected = scores.by_ref().take(rejected).collect();
        let id = row.optional_text("id").unwrap_or_default();
        cases.push(Preference { subset: row.subset("subset")?, id, chosen, rejected });
    }
    let scores = benchmarks::preferences(&cases);
    tell(args, model, &scores, |score| format!("{:.1}", 100.0 * score))
}

fn prm_bench(args: &Args, model: &Arc<Model>, rows: &Rows) -> Result<Exit, Failure> {
    let views = rows.each(|row| Ok(stepwise(&row.text("question")?, row.texts("process")?)))?;
    let scores = scored(model, &views, &rows.iter().collect::<Vec<_>>(), Model::step_scores)?;
    let mut steps = Vec::new();
    for (row, scores) in rows.iter().zip(scores) {
        let wrong = row.integers("error_steps")?;
        let subset = row.subset("classification")?;
        steps.extend(scores.iter().zip(1_i64..).map(|(score, number)| StepValidity {
            subset: subset.clone(),
            valid: !wrong.contains(&number),
            found_valid: *score >= args.threshold,
        }));
    }
    let scores = benchmarks::step_validity(&steps);
    tell(args, model, &scores, |score| {
        let percent = |share: f64| format!("{:.1}", 100.0 * share);
        let (valid, invalid) = (percent(score.f1_valid), percent(score.f1_invalid));
        let whole = percent(score.prm_score);
        format!("PRMScore {whole}  (F1 valid {valid}, invalid {invalid}, {} steps)", score.steps)
    })
}

fn user(prompt: &str) -> Vec<Message> {
    vec![Message { role: "user".to_owned(), content: prompt.to_owned() }]
}

fn stepwise(problem: &str, steps: Vec<String>) -> View {
    View { messages: user(problem), steps, ..View::default() }
}

/// What `read` makes of the judgement of each text; `owners` are the rows that they come from. A
/// text that cannot be judged stops the evaluation: a benchmark of which a part is left out is
/// another benchmark.
fn scored<T>(
    model: &Model,
    views: &[View],
    owners: &[&Row],
    read: impl Fn(&Model, &Judgement, usize) -> Option<T>,
) -> Result<Vec<T>, Failure> {
    let mut found = Vec::with_capacity(views.len());
    for (views, owners) in views.chunks(TEXTS).zip(owners.chunks(TEXTS)) {
        for ((view, row), judged) in views.iter().zip(owners).zip(model.judge(views)) {
            let judged = judged.map_err(|error| anyhow::anyhow!("{}: {error}", row.place()))?;
            let score = read(model, &judged, view.steps.len());
            let unread = || anyhow::anyhow!("{}: the model gave no score", row.place());
            found.push(score.ok_or_else(unread)?);
        }
    }
    Ok(found)
}

fn tell<S: Serialize>(
    args: &Args,
    model: &Model,
    scores: &std::collections::BTreeMap<String, S>,
    line: impl Fn(&S) -> String,
) -> Result<Exit, Failure> {
    if args.json {
        let benchmark = format!("{:?}", args.benchmark).to_lowercase();
        let found = json!({
            "benchmark": benchmark,
            "model": model.name(),
            "backend": model.backend,
            "threshold": args.threshold,
            "scores": scores,
        });
        output::json(&found)?;
        return Ok(Exit::Ok);
    }
    let width = scores.keys().map(String::len).max().unwrap_or_default();
    for (subset, score) in scores {
        output::line(&format!("{subset:width$}  {}", line(score)));
    }
    Ok(Exit::Ok)
}

impl Rows {
    /// One view a row.
    fn each(&self, view: impl Fn(&Row) -> Result<View, Failure>) -> Result<Vec<View>, Failure> {
        self.iter().map(view).collect()
    }
}
