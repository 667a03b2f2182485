//! `csv`: CSV with rows of one length and the columns that are asked for.

use assay_structure::csv;

use crate::prelude::*;
use crate::text_parts::{Place, judge_document, required, valid};

/// Right when the completion is CSV (RFC 4180): a header and at least one row, all of one length.
///
/// A field with quotation marks, delimiters or line ends stands in quotation marks, and those within it
/// are doubled.
#[derive(Debug, Deserialize, Serialize, JsonSchema, SmartDefault)]
#[serde(deny_unknown_fields, default)]
pub struct Csv {
    /// Where the document stands.
    from: Place,
    /// What separates fields: one character, such as `;` or a tab.
    #[default(',')]
    delimiter: char,
    /// The header, in order. Without it the header has at least two columns, so that prose is no CSV.
    columns: Vec<String>,
    /// The fewest rows below the header.
    #[default(1)]
    rows_min: usize,
    /// The reference of each row is the header, instead of `columns`.
    by_reference: bool,
}

impl Check for Csv {
    const ID: &'static str = "csv";
    const ASPECT: Aspect = Aspect::Form;

    fn load(&mut self, _: &dyn Files) -> Result<(), BuildError> {
        if "\"\r\n".contains(self.delimiter) || self.delimiter.is_alphanumeric() {
            return Err(BuildError::new("delimiter", "a sign or a tab separates fields"));
        }
        if self.by_reference && !self.columns.is_empty() {
            return Err(BuildError::new("columns", "the header is given twice"));
        }
        Ok(())
    }

    fn check(&self, sample: &Sample, meter: &mut Meter<'_>) -> Result<Verdict, Fault> {
        let Some(required) = required(&self.columns, self.by_reference, sample)? else {
            return Ok(Verdict::no_reference());
        };
        judge_document(sample, (self.from, &["csv", "tsv"], 20), meter, |text, _| {
            let records = csv::read(text.trim_start_matches('\n'), self.delimiter)?;
            let header = records.first().map(Vec::as_slice).unwrap_or_default();
            let width = header.len();
            let is_named = header.iter().map(|name| name.trim()).eq(required.iter());
            let reason = if required.is_empty() && width < 2 || !required.is_empty() && !is_named {
                "columns"
            } else if records.len() <= self.rows_min {
                "too-few-rows"
            } else {
                return Ok(valid());
            };
            Ok(Verdict::graded(false).because(reason))
        })
    }
}
