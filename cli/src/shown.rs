//! What `view` and `report` show: a run folder, or a log of another tool and a training, whose rows become a
//! run folder by the scores that they have.

use std::fs::File;
use std::io::{BufWriter, Write as _};
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use assay::data::{Columns, ReadLimits, Row, Source, escape};
use assay::engine::label_truth;
use assay::engine::runs::{CONFIG, MANIFEST, VERDICTS, write_atomic};
use assay_view::{RunData, ViewRun};
use serde_json::{Map, Value, json};
use tempfile::TempDir;

use super::audit::FOUND;
use super::exit::Failure;
use super::line_data::{LineData, note_missing};
use super::run_files::manifest;
use super::run_texts::RunTexts;

/// Every completion of a training.
const ROLLOUTS: &str = "rollouts.jsonl";
/// What else the folder of a training has that is shown.
const MEASUREMENTS: [&str; 2] = ["metrics.jsonl", "warnings.jsonl"];
/// What people said of rows.
const LABELS: &str = "labels.jsonl";
/// The columns of a log.
const SCORE: &str = "their_score";
const SCORES: &str = "their_scores";

/// A run that is shown.
pub(super) struct Shown {
    pub(super) run: ViewRun,
    /// Where the run of a log lies, which goes with this.
    pub(super) folder: Option<TempDir>,
}

impl Shown {
    /// A run folder, the folder of an audit or of a training, or a log.
    pub(super) fn open(path: &Path, with: &[PathBuf]) -> Result<Self, Failure> {
        if path.is_file() {
            return Self::of_log(path, None);
        }
        let rollouts = path.join(ROLLOUTS);
        if rollouts.is_file() && !path.join(VERDICTS).exists() {
            return Self::of_log(&rollouts, Some(path));
        }
        let run = if path.join(FOUND).is_file() { path.join("run") } else { path.to_owned() };
        let texts = RunTexts::find(&run, &manifest(&run)?, with)?;
        let labels = run.join(LABELS);
        Ok(Self { run: shown(run, texts, labels)?, folder: None })
    }

    fn of_log(log: &Path, training: Option<&Path>) -> Result<Self, Failure> {
        let folder = tempfile::tempdir()?;
        let named = training.unwrap_or(log).canonicalize()?;
        let dir = folder.path().join(named.file_name().unwrap_or_default());
        std::fs::create_dir(&dir)?;
        for name in MEASUREMENTS {
            if let Some(training) = training.filter(|training| training.join(name).is_file()) {
                symlink(training.canonicalize()?.join(name), dir.join(name))?;
            }
        }
        let columns = Columns {
            group: Some("group".to_owned()),
            label: Some(SCORE.to_owned()),
            ..Columns::default()
        };
        let mut out = BufWriter::new(File::create(dir.join(VERDICTS))?);
        let mut tool = None;
        for block in Source::open(&[log.to_owned()], &ReadLimits::default())? {
            let block = block?;
            let own = block.log().ok_or_else(|| not_a_log(log))?;
            if tool.is_none() {
                tool = Some(own.to_owned());
            }
            for row in block.rows(&columns) {
                writeln!(out, "{}", line(&row))?;
            }
        }
        out.flush()?;
        let tool = tool.ok_or_else(|| not_a_log(log))?;
        let bytes = log.metadata()?.len();
        let input = json!({ "path": log.display().to_string(), "bytes": bytes });
        let about =
            json!({ "assay": env!("CARGO_PKG_VERSION"), "log_format": tool, "inputs": [input] });
        write_atomic(&dir.join(MANIFEST), about.to_string().as_bytes())?;
        let config = json!({ "data": columns }).to_string();
        write_atomic(&dir.join(CONFIG), config.as_bytes())?;
        let texts = Ok(RunTexts::of_files(&[log.to_owned()], columns)?);
        let beside = || named.with_added_extension(LABELS);
        let labels = training.map_or_else(beside, |training| training.join(LABELS));
        Ok(Self { run: shown(dir, texts, labels)?, folder: Some(folder) })
    }
}

/// A run with its data, where they are known.
fn shown(
    dir: PathBuf,
    texts: Result<RunTexts, String>,
    labels: PathBuf,
) -> Result<ViewRun, Failure> {
    let found = texts.map_or_else(|why| Ok(Err(why)), LineData::new)?;
    let (data, missing): (Option<Arc<dyn RunData>>, _) = match found {
        Ok(data) => (Some(Arc::new(data)), None),
        Err(why) => {
            note_missing(&why);
            (None, Some(why))
        }
    };
    Ok(ViewRun { dir, data, missing, labels })
}

fn not_a_log(path: &Path) -> Failure {
    let name = escape(&path.display().to_string());
    Failure::usage(format!(
        "{name}: neither a run folder nor a log that is known; accepted: RUN of `assay score`, the folder of \
         `assay train`, a log of inspect_ai, NeMo-Gym, verifiers or lm-eval. Rows are scored first: `assay \
         score CONFIG {name} -o RUN`"
    ))
}

/// A row of a log as a line of verdicts.
fn line(row: &Row) -> Value {
    let sample = match &row.sample {
        Ok(sample) => sample,
        Err(error) => {
            let id = format!("row-{}", row.index + 1);
            return json!({
                "id": id, "outcome": "failed", "reward": null, "fault": "BadInput",
                "why": error.to_string(), "verdicts": {},
            });
        }
    };
    let score = row.label.as_ref();
    let number = score.and_then(Value::as_f64).filter(|number| number.is_finite());
    let number = number.or_else(|| Some(f64::from(u8::from(label_truth(score?)?))));
    let meta = sample.meta();
    let fault = meta.get("fault").and_then(Value::as_str);
    let (outcome, why) = match (number, fault) {
        (Some(_), _) => ("scored", None),
        (None, Some(_)) => ("failed", None),
        (None, None) => ("abstained", Some("the log has no score")),
    };
    let own =
        || Map::from_iter([(SCORE.to_owned(), json!({ "outcome": outcome, "reward": number }))]);
    let verdicts = meta.get(SCORES).and_then(Value::as_object).filter(|own| !own.is_empty());
    let verdicts = verdicts.cloned().unwrap_or_else(own);
    let mut line =
        json!({ "id": sample.id(), "outcome": outcome, "reward": number, "verdicts": verdicts });
    let more = [("group", sample.group()), ("fault", fault), ("why", why)];
    if let Value::Object(members) = &mut line {
        for (name, value) in more {
            members.extend(value.map(|value| (name.to_owned(), Value::from(value))));
        }
    }
    line
}
