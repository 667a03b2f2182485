//! Verdicts as columns, and the lines of a run out of them.

use std::sync::Arc;

use arrow_array::{ArrayRef, Float64Array, RecordBatch, StringArray};
use arrow_schema::{DataType, Field, Schema, SchemaRef};
use assay_verifiers::{FaultKind, Outcome, Reward, Scored};
use serde_json::value::RawValue;
use serde_json::{Map, Value};

use super::cells;
use super::error::DataError;
use super::limits::ReadLimits;

/// What the column of a single reward starts with.
const REWARD_PREFIX: &str = "reward.";

/// What the line of a sample ends in before its verdicts are put in.
const NO_VERDICTS: &str = "{}}";

/// The column with the verdicts.
const VERDICTS: &str = "verdicts";

/// The columns that verdicts have: `id`, `group`, `outcome`, `reward`, `fault`, `why`, a
/// `reward.<name>` for each reward, and `verdicts`, as JSON. Nothing of a line is lost in them.
///
/// ```
/// use assay::data::VerdictColumns;
/// use assay::verifiers::{Fault, Scored};
///
/// let columns = VerdictColumns::new(&["correct".to_owned()]);
/// let batch = columns.batch(&[Scored::failed("a", Fault::internal("x"))])?;
/// assert_eq!(batch.schema_ref().field(6).name(), "reward.correct");
/// let line = r#"{"id":"a","outcome":"failed","reward":null,"fault":"Internal","why":"x","verdicts":{}}"#;
/// assert_eq!(VerdictColumns::lines(&batch)?, format!("{line}\n").into_bytes());
/// # Ok::<(), assay::data::DataError>(())
/// ```
#[derive(Clone, Debug)]
pub struct VerdictColumns {
    schema: SchemaRef,
    names: Vec<String>,
}

impl VerdictColumns {
    /// The columns of a configuration whose rewards have these names.
    pub fn new(names: &[String]) -> Self {
        Self { schema: schema(names), names: names.to_vec() }
    }

    /// Their names and types.
    pub fn schema(&self) -> &SchemaRef {
        &self.schema
    }

    /// Scored rows as columns.
    ///
    /// # Errors
    /// A row has a reward that the columns have not.
    pub fn batch(&self, rows: &[Scored]) -> Result<RecordBatch, DataError> {
        rows.iter().try_for_each(|row| self.check(row))?;
        RecordBatch::try_new(Arc::clone(&self.schema), self.columns(rows)).map_err(wrong)
    }

    /// The lines that `verdicts.jsonl` of a run has for these rows. Other columns are passed over.
    ///
    /// # Errors
    /// Columns that are not verdicts.
    pub fn lines(batch: &RecordBatch) -> Result<Vec<u8>, DataError> {
        let column = |name: &str| {
            let found = batch.schema_ref().index_of(name);
            found.map_err(|_| wrong(format!("there is no column \"{name}\"")))
        };
        let mut found = Vec::new();
        for name in ["id", "group", "outcome", "reward", "fault", "why", VERDICTS] {
            found.push(column(name)?);
        }
        let columns = batch.project(&found).map_err(wrong)?;
        let mut lines = Vec::new();
        for at in 0..columns.num_rows() {
            line(&columns, at, &mut lines)
                .map_err(|why| wrong(format!("row {}: {why}", at + 1)))?;
        }
        Ok(lines)
    }

    /// Refuses a row with a reward that has no column.
    pub(super) fn check(&self, row: &Scored) -> Result<(), DataError> {
        let odd = row.verdicts.iter().find(|(name, _)| !self.names.iter().any(|have| have == name));
        let Some((name, _)) = odd else { return Ok(()) };
        Err(wrong(format!("row {:?} has a reward {name:?}, which the columns have not", row.id)))
    }

    fn columns(&self, rows: &[Scored]) -> Vec<ArrayRef> {
        let optional = |read: fn(&Scored) -> Option<&str>| -> ArrayRef {
            Arc::new(rows.iter().map(read).collect::<StringArray>())
        };
        let text = |read: fn(&Scored) -> &str| -> ArrayRef {
            Arc::new(StringArray::from_iter_values(rows.iter().map(read)))
        };
        let fault: StringArray =
            rows.iter().map(|row| fault(row).map(|kind| kind.to_string())).collect();
        let mut columns = vec![
            text(|row| &row.id),
            optional(|row| row.group.as_deref()),
            text(|row| row.outcome.name()),
            Arc::new(rows.iter().map(Scored::reward).collect::<Float64Array>()),
            Arc::new(fault),
            optional(|row| row.outcome.why()),
        ];
        for name in &self.names {
            let reward = |row: &Scored| row.verdict(name)?.outcome.reward().map(Reward::get);
            columns.push(Arc::new(rows.iter().map(reward).collect::<Float64Array>()));
        }
        // Neither keys nor values can fail to be written: keys are text and numbers are finite.
        let verdicts =
            rows.iter().map(|row| serde_json::to_string(&row.verdicts).unwrap_or_default());
        columns.push(Arc::new(StringArray::from_iter_values(verdicts)));
        columns
    }
}

/// Appends the line of row `at`.
fn line(columns: &RecordBatch, at: usize, lines: &mut Vec<u8>) -> Result<(), String> {
    let limits = ReadLimits { row_bytes_max: usize::MAX, ..ReadLimits::default() };
    let mut row =
        cells::row(columns, at, &limits, |_| true).map_err(|defect| defect.to_string())?;
    let Some(Value::String(verdicts)) = row.insert(VERDICTS.to_owned(), Map::new().into()) else {
        return Err("verdicts: expected text".to_owned());
    };
    let is_object = serde_json::from_str::<&RawValue>(&verdicts).is_ok()
        && verdicts.starts_with('{')
        && !verdicts.contains(['\n', '\r']);
    if !is_object {
        return Err("verdicts: expected an object of JSON on one line".to_owned());
    }
    let scored: Scored =
        serde_json::from_value(Value::Object(row)).map_err(|error| error.to_string())?;
    let line = serde_json::to_string(&scored).map_err(|error| error.to_string())?;
    let head = line.strip_suffix(NO_VERDICTS).unwrap_or_default();
    for part in [head, &verdicts, "}\n"] {
        lines.extend_from_slice(part.as_bytes());
    }
    Ok(())
}

fn fault(row: &Scored) -> Option<FaultKind> {
    match &row.outcome {
        Outcome::Failed(fault) => Some(fault.kind),
        Outcome::Scored(_) | Outcome::Abstained(_) => None,
    }
}

fn schema(names: &[String]) -> SchemaRef {
    let mut fields = vec![
        Field::new("id", DataType::Utf8, false),
        Field::new("group", DataType::Utf8, true),
        Field::new("outcome", DataType::Utf8, false),
        Field::new("reward", DataType::Float64, true),
        Field::new("fault", DataType::Utf8, true),
        Field::new("why", DataType::Utf8, true),
    ];
    let reward =
        |name: &String| Field::new(format!("{REWARD_PREFIX}{name}"), DataType::Float64, true);
    fields.extend(names.iter().map(reward));
    fields.push(Field::new(VERDICTS, DataType::Utf8, false));
    Arc::new(Schema::new(fields))
}

fn wrong(why: impl std::fmt::Display) -> DataError {
    DataError::Verdicts { why: why.to_string() }
}

#[cfg(test)]
mod tests {
    use assay_verifiers::Fault;

    use super::*;

    fn batch(verdicts: &str) -> RecordBatch {
        let columns = VerdictColumns::new(&[]);
        let good = columns.batch(&[Scored::failed("a", Fault::internal("x"))]).unwrap();
        let mut all = good.columns().to_vec();
        *all.last_mut().unwrap() = Arc::new(StringArray::from(vec![verdicts]));
        RecordBatch::try_new(Arc::clone(columns.schema()), all).unwrap()
    }

    #[test]
    fn what_is_no_verdict_makes_no_line() {
        assert!(VerdictColumns::lines(&batch("{}")).is_ok());
        let not_text = "verdict columns: row 1: verdicts: expected an object of JSON on one line";
        for text in ["", "[1]", "{", "{\n}", "{}{}"] {
            let why = VerdictColumns::lines(&batch(text)).unwrap_err().to_string();
            assert_eq!(why, not_text, "{text:?}");
        }
        let less = batch("{}").project(&[0, 1, 2]).unwrap();
        let why = VerdictColumns::lines(&less).unwrap_err().to_string();
        assert_eq!(why, "verdict columns: there is no column \"reward\"");
    }
}
