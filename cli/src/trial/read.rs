//! The rows that are validated, and what is wrong with the others.

use std::borrow::Cow;
use std::path::PathBuf;

use assay::data::{Checked, DataError, Source};
use assay::verifiers::{Content, Sample};
use assay::{Config, Plan};
use serde::Serialize;
use serde_json::{Value, json};

use crate::exit::Failure;

/// Rows that are listed for one finding; the rest are counted.
pub(crate) const LISTED_MAX: usize = 100;

pub(crate) struct ProbedRows {
    pub(crate) rows: Vec<Row>,
    pub(crate) report: DataReport,
    /// A column that the configuration names and no row has: nothing was read then.
    pub(crate) absent: Option<DataError>,
}

pub(crate) struct Row {
    /// From 1, over all data.
    pub(crate) number: u64,
    pub(crate) sample: Sample,
    /// What the column of labels says, where one is named.
    pub(crate) label: Option<Value>,
}

impl Row {
    /// The whole prompt: of a conversation, all of its messages.
    pub(crate) fn question(&self) -> Cow<'_, str> {
        let content = self.sample.prompt_content();
        match content {
            Content::Text(text) => Cow::Borrowed(text.trim()),
            Content::Messages(_) => Cow::Owned(serde_json::to_string(content).unwrap_or_default()),
        }
    }

    /// Whether the completion calls tools.
    pub(crate) fn has_calls(&self) -> bool {
        self.sample.completion_message().is_some_and(|own| !own.tool_calls.is_empty())
    }

    /// Whether the completion has no text.
    pub(crate) fn is_blank(&self) -> bool {
        self.sample.completion().trim().is_empty()
    }
}

/// What the data are like.
#[derive(Clone, Default, Serialize)]
pub(crate) struct DataReport {
    pub(crate) rows: u64,
    pub(crate) unreadable: u64,
    /// There are more rows than were read.
    pub(crate) partial: bool,
    /// Why, for the first of them, and the row, the code and the field of each.
    pub(crate) errors: Vec<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) defects: Vec<Value>,
    pub(crate) without_prompt: u64,
    pub(crate) without_reference: u64,
    pub(crate) without_group: u64,
    pub(crate) without_label: u64,
    /// Columns that the configuration names and no row has.
    pub(crate) missing_columns: Vec<String>,
}

pub(crate) fn rows(data: &[PathBuf], plan: &Plan, limit: u64) -> Result<ProbedRows, Failure> {
    let config = &plan.config;
    let mut read = ProbedRows { rows: Vec::new(), report: DataReport::default(), absent: None };
    let source = Source::open(data, &config.limits.data())?;
    let checked = Checked::new(source, &config.data);
    'data: for block in checked.and_meta(&config.data, plan.named_columns()) {
        let block = match block {
            Err(error @ DataError::NoColumn { .. }) => {
                read.absent = Some(error);
                break;
            }
            block => block?,
        };
        for row in block.rows(&config.data) {
            if read.report.rows >= limit {
                read.report.partial = true;
                break 'data;
            }
            read.add(row);
        }
    }
    read.report.missing_columns = missing(&read.report, config);
    Ok(read)
}

impl ProbedRows {
    fn add(&mut self, row: assay::data::Row) {
        let report = &mut self.report;
        report.rows += 1;
        let sample = match row.sample {
            Ok(sample) => sample,
            Err(error) => {
                report.unreadable += 1;
                if report.errors.len() < LISTED_MAX {
                    report.errors.push(error.to_string());
                    let (row, code, field) = (error.place.row, error.code(), error.field());
                    report.defects.push(json!({"row": row, "code": code, "field": field}));
                }
                return;
            }
        };
        report.without_prompt += u64::from(sample.prompt().is_empty());
        report.without_reference += u64::from(sample.reference().is_none());
        report.without_group += u64::from(sample.group().is_none());
        report.without_label += u64::from(row.label.is_none());
        self.rows.push(Row { number: row.index + 1, sample, label: row.label });
    }
}

/// A column that the configuration names and no row has is most likely misspelt.
fn missing(report: &DataReport, config: &Config) -> Vec<String> {
    let readable = report.rows - report.unreadable;
    let columns = &config.data;
    let told = [
        ("prompt", Some(&columns.prompt), report.without_prompt),
        ("reference", Some(&columns.reference), report.without_reference),
        ("group", columns.group.as_ref(), report.without_group),
        ("label", columns.label.as_ref(), report.without_label),
    ];
    let missing = told.into_iter().filter(|own| readable > 0 && own.2 == readable);
    let named = |role: &str, own: &String| {
        if role == own { own.clone() } else { format!("{role} ({own})") }
    };
    missing.filter_map(|(role, column, _)| Some(named(role, column?))).collect()
}
