//! The rows that are validated, and what is wrong with the others.

use std::borrow::Cow;
use std::path::PathBuf;

use assay::Config;
use assay::data::{Checked, DataError, Source};
use assay::verifiers::{Content, Sample};
use serde::Serialize;
use serde_json::Value;

use super::finding::LISTED_MAX;
use crate::exit::Failure;

pub(super) struct ProbedRows {
    pub(super) rows: Vec<Row>,
    pub(super) report: DataReport,
    /// A column that the configuration names and no row has: nothing was read then.
    pub(super) absent: Option<Absent>,
}

/// A column that the configuration names and no row has.
pub(super) struct Absent {
    pub(super) key: String,
    pub(super) message: String,
}

pub(super) struct Row {
    /// From 1, over all data.
    pub(super) number: u64,
    pub(super) sample: Sample,
    /// What the column of labels says, where one is named.
    pub(super) label: Option<Value>,
}

impl Row {
    /// The whole prompt: of a conversation, all of its messages.
    pub(super) fn question(&self) -> Cow<'_, str> {
        let content = self.sample.prompt_content();
        match content {
            Content::Text(text) => Cow::Borrowed(text.trim()),
            Content::Messages(_) => Cow::Owned(serde_json::to_string(content).unwrap_or_default()),
        }
    }

    /// Whether the completion calls tools.
    pub(super) fn has_calls(&self) -> bool {
        self.sample.completion_message().is_some_and(|own| !own.tool_calls.is_empty())
    }

    /// Whether the completion has no text.
    pub(super) fn is_blank(&self) -> bool {
        self.sample.completion().trim().is_empty()
    }
}

/// What the data are like.
#[derive(Clone, Default, Serialize)]
pub(super) struct DataReport {
    pub(super) rows: u64,
    pub(super) unreadable: u64,
    /// There are more rows than were read.
    pub(super) partial: bool,
    /// Why, for the first of them.
    pub(super) errors: Vec<String>,
    pub(super) without_prompt: u64,
    pub(super) without_reference: u64,
    pub(super) without_group: u64,
    pub(super) without_label: u64,
    /// Columns that the configuration names and no row has.
    pub(super) missing_columns: Vec<String>,
}

impl DataReport {
    pub(super) fn ok(&self) -> bool {
        self.unreadable == 0
    }
}

pub(super) fn rows(data: &[PathBuf], config: &Config, limit: u64) -> Result<ProbedRows, Failure> {
    let mut read = ProbedRows { rows: Vec::new(), report: DataReport::default(), absent: None };
    let source = Source::open(data, &config.limits.data())?;
    let checked = Checked::new(source, &config.data);
    'data: for block in checked.and_meta(&config.data, config.named_columns()) {
        let block = match block {
            Err(error) => {
                let message = error.to_string();
                let DataError::NoColumn { key, .. } = error else { return Err(error.into()) };
                read.absent = Some(Absent { key, message });
                break;
            }
            Ok(block) => block,
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

/// The rows that could be read; none where there are no data.
pub(super) fn all(rows: Option<&ProbedRows>) -> &[Row] {
    rows.map_or(&[], |rows| &rows.rows)
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
    told.into_iter()
        .filter(|(_, _, without)| readable > 0 && *without == readable)
        .filter_map(|(role, column, _)| column.map(|column| (role, column)))
        .map(
            |(role, column)| {
                if role == column { role.to_owned() } else { format!("{role} ({column})") }
            },
        )
        .collect()
}
