//! What only the rows that were scored know: prompts, lengths, roles, predicted values.

use std::path::{Path, PathBuf};

use assay::Sample;
use assay::data::{Columns, ReadLimits, Source};
use assay::engine::runs::CONFIG;
use assay::trainer::request::AdvantageRequest;
use clap::Args as ClapArgs;
use serde_json::Value;

use crate::cli::exit::Failure;
use crate::cli::run_files::json;

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
    /// The data along the rows of the run; `None` without `--with`.
    pub(super) fn read(&self, run: &Path, ids: &[String]) -> Result<Option<DataRows>, Failure> {
        if self.with.is_empty() {
            return Ok(None);
        }
        let samples = samples(&self.with, run, ids)?;
        let prompts = samples.iter().map(|sample| sample.prompt().to_owned()).collect();
        let lengths = match &self.lengths {
            Some(column) => Some(along(&samples, column, "a number of tokens", |value| {
                value.as_u64().and_then(|length| usize::try_from(length).ok())
            })?),
            None => samples.iter().map(|sample| Some(sample.token_ids()?.len())).collect(),
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
    samples: &[Sample],
    column: &str,
    expected: &str,
    read: impl Fn(&Value) -> Option<T>,
) -> Result<Vec<T>, Failure> {
    let one = |sample: &Sample| {
        let value = sample.meta().get(column);
        value.and_then(&read).ok_or_else(|| {
            let id = assay::data::escape(sample.id());
            let have = value.map_or_else(|| "is missing".to_owned(), |value| format!("is {value}"));
            Failure::usage(format!("id \"{id}\": column \"{column}\" {have}, expected {expected}"))
        })
    };
    samples.iter().map(one).collect()
}

/// The samples of these ids, which stand in the data in the same order; rows between them were not
/// scored.
fn samples(data: &[PathBuf], run: &Path, ids: &[String]) -> Result<Vec<Sample>, Failure> {
    let config: Value = json(run, CONFIG)?;
    let columns = config.get("data").cloned().unwrap_or_default();
    let columns: Columns = serde_json::from_value(columns)
        .map_err(|error| anyhow::anyhow!("{}: [data] is damaged: {error}", run.display()))?;
    let mut wanted = ids.iter();
    let mut next = wanted.next();
    let mut samples = Vec::with_capacity(ids.len());
    for block in Source::open(data, &ReadLimits::default()).map_err(anyhow::Error::from)? {
        for row in block.map_err(anyhow::Error::from)?.rows(&columns) {
            if let Ok(sample) = row.sample
                && next.is_some_and(|id| id == sample.id())
            {
                samples.push(sample);
                next = wanted.next();
            }
        }
    }
    match next {
        None => Ok(samples),
        Some(id) => {
            let id = assay::data::escape(id);
            let why = format!(
                "--with: the row with id \"{id}\" is not in the data, or not in the order of the run"
            );
            Err(Failure::usage(why))
        }
    }
}
