//! What only the rows that were scored know: prompts, lengths, roles, predicted values.

use std::path::{Path, PathBuf};

use assay::Sample;
use assay::data::{Place, ReadLimits, Source, escape};
use assay::engine::runs::{CONFIG, MANIFEST, RunManifest};
use assay::trainer::request::AdvantageRequest;
use assay::verifiers::code::Code;
use clap::Args as ClapArgs;
use serde_json::Value;

use crate::exit::Failure;
use crate::run_files::{columns, input_file, json};

/// The data, and which of its columns estimators need.
#[derive(Debug, ClapArgs)]
pub(super) struct DataColumns {
    /// The rows that were scored, in their order: their prompts and token ids, and the columns below
    #[arg(long, value_name = "DATA")]
    with: Vec<PathBuf>,
    /// The column with the number of tokens of the response; by default its token ids are counted
    #[arg(long, value_name = "COLUMN", requires = "with")]
    lengths: Option<String>,
    /// The column with the role that the rollout played
    #[arg(long, value_name = "COLUMN", requires = "with")]
    role: Option<String>,
    /// The column with a value that was predicted for the rollout
    #[arg(long, value_name = "COLUMN", requires = "with")]
    value: Option<String>,
}

/// What the data say, along the rows of the run.
#[derive(Default)]
pub(super) struct DataRows {
    pub(super) prompts: Vec<String>,
    lengths: Option<Vec<usize>>,
    roles: Option<Vec<String>>,
    values: Option<Vec<Option<f64>>>,
}

impl DataColumns {
    /// The data along the rows of the run; `None` without `--with`. Where the prompts are `needed`, the
    /// files that the run scored are taken, if they are still where they were.
    pub(super) fn read(
        &self,
        run: &Path,
        ids: &[String],
        needed: bool,
    ) -> Result<Option<DataRows>, Failure> {
        let files = match self.with.as_slice() {
            [] if needed => scored_files(run)?,
            given => given.to_vec(),
        };
        if files.is_empty() {
            return Ok(None);
        }
        let samples = samples(&files, run, ids)?;
        let prompts = samples.iter().map(|(_, sample)| sample.prompt().to_owned()).collect();
        let lengths = match &self.lengths {
            Some(column) => Some(along(&samples, column, "a number of tokens", |value| {
                value.as_u64().and_then(|length| usize::try_from(length).ok())
            })?),
            None => samples.iter().map(|(_, sample)| Some(sample.token_ids()?.len())).collect(),
        };
        let role = |column: &String| {
            along(&samples, column, "a text or an integer", |value| match value {
                Value::String(text) => Some(text.clone()),
                Value::Number(number) => Some(number.to_string()),
                _ => None,
            })
        };
        let value = |column: &String| {
            along(&samples, column, "a number or null", |value| match value {
                Value::Null => Some(None),
                other => other.as_f64().map(Some),
            })
        };
        let roles = self.role.as_ref().map(role).transpose()?;
        let values = self.value.as_ref().map(value).transpose()?;
        Ok(Some(DataRows { prompts, lengths, roles, values }))
    }
}

impl DataRows {
    /// Writes what is known into a request.
    pub(super) fn fill(self, request: &mut AdvantageRequest) {
        request.lengths = self.lengths;
        request.roles = self.roles;
        request.values = self.values;
    }
}

/// A column of the metadata, along the samples.
fn along<T>(
    samples: &[(Place, Sample)],
    column: &str,
    expected: &str,
    read: impl Fn(&Value) -> Option<T>,
) -> Result<Vec<T>, Failure> {
    let one = |(place, sample): &(Place, Sample)| {
        let value = sample.meta().get(column);
        value.and_then(&read).ok_or_else(|| {
            let (code, found) = if let Some(value) = value {
                (Code::BadValue, format!("is {value}"))
            } else {
                let own: Vec<String> = sample.meta().keys().map(|key| escape(key)).collect();
                let own = if own.is_empty() { "none".to_owned() } else { own.join(", ") };
                (
                    Code::MissingValue,
                    format!("missing; columns that [data] gives no meaning: {own}"),
                )
            };
            let column = escape(column);
            let why = format!("{place}: {column}: {found}; expected {expected}");
            Failure::refused(code, why)
        })
    };
    samples.iter().map(one).collect()
}

/// The files that a run scored; none where one of them is gone or is another.
fn scored_files(run: &Path) -> Result<Vec<PathBuf>, Failure> {
    let manifest: RunManifest = json(run, MANIFEST)?;
    let files = manifest.identity.inputs.iter().map(|input| input_file(run, input));
    Ok(files.collect::<Option<_>>().unwrap_or_default())
}

/// The samples of these ids, which are in the data in the same order; rows between them were not
/// scored.
fn samples(data: &[PathBuf], run: &Path, ids: &[String]) -> Result<Vec<(Place, Sample)>, Failure> {
    let columns = columns(&json(run, CONFIG)?, run.display())?;
    let mut wanted = ids.iter();
    let mut next = wanted.next();
    let mut samples = Vec::with_capacity(ids.len());
    for block in Source::open(data, &ReadLimits::default())? {
        for row in block?.rows(&columns) {
            if let Ok(sample) = row.sample
                && next.is_some_and(|id| id == sample.id())
            {
                samples.push((row.place, sample));
                next = wanted.next();
            }
        }
    }
    match next {
        None => Ok(samples),
        Some(id) => {
            let id = escape(id);
            let why = format!(
                "--with: the row with id \"{id}\" is not in the data, or not in the order of the run"
            );
            Err(Failure::usage(why))
        }
    }
}
