//! Data of runs that tests make.

use std::fs;
use std::path::PathBuf;

use serde_json::Value;

use crate::data::{DataRows, RowText, RunData};
use crate::error::ViewError;

/// Rows of JSON with the names of [`RowText`].
pub(crate) struct TestData(pub(crate) Vec<PathBuf>);

impl RunData for TestData {
    fn check(&self) -> Result<(), String> {
        Ok(())
    }

    fn rows(&self) -> Result<DataRows<'_>, ViewError> {
        let text = fs::read_to_string(&self.0[0]).unwrap();
        let lines = text.lines().filter(|line| !line.is_empty()).map(str::to_owned);
        let lines: Vec<String> = lines.collect();
        let rows = lines.into_iter().zip(0..);
        Ok(Box::new(
            rows.map(|(line, number)| Ok(RowText { number, ..self.row(line.as_bytes()).unwrap() })),
        ))
    }

    fn row(&self, line: &[u8]) -> Option<RowText> {
        let value: Value = serde_json::from_slice(line).ok()?;
        let text = |key: &str| value[key].as_str().map(str::to_owned);
        let (id, prompt) = (text("id")?, text("prompt")?);
        let (completion, reference) = (text("completion")?, text("reference"));
        Some(RowText { number: 0, id, prompt, completion, reference })
    }

    fn files(&self) -> &[PathBuf] {
        &self.0
    }
}
