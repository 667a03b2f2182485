//! Samples out of Python: rows that are dicts, or one list for each column.

use assay::Sample;
use assay::data::{Columns, RowReader};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyMapping, PyString, PyTuple};
use serde_json::{Map, Value};

use crate::error::DataError;
use crate::value::{self, Unreadable};

/// Reads rows: anything that can be iterated over and gives mappings.
pub(crate) fn of_rows(rows: &Bound<'_, PyAny>, columns: &Columns) -> PyResult<Vec<Sample>> {
    if rows.is_instance_of::<PyMapping>() || rows.is_instance_of::<PyString>() {
        let why = "samples: expected a list of dicts, one for each sample";
        return Err(DataError::new_err(why));
    }
    let reader = RowReader::new(columns);
    let mut samples = Vec::with_capacity(rows.len().unwrap_or(0));
    for (at, row) in rows.try_iter()?.enumerate() {
        let wrong = |why| DataError::new_err(format!("samples[{at}]: {why}"));
        samples.push(sample(&row?, &reader).map_err(wrong)?);
    }
    Ok(samples)
}

/// Reads one row.
pub(crate) fn of_row(row: &Bound<'_, PyAny>, columns: &Columns) -> PyResult<Sample> {
    let read = sample(row, &RowReader::new(columns));
    read.map_err(|why| DataError::new_err(format!("sample: {why}")))
}

fn sample(row: &Bound<'_, PyAny>, reader: &RowReader<'_>) -> Result<Sample, String> {
    match value::to_json(row).map_err(|error| error.to_string())? {
        Value::Object(row) => reader.sample(row),
        _ => Err(format!("expected a dict, found {}", value::kind(row))),
    }
}

/// Reads columns: lists of one length, by the names of the columns.
pub(crate) fn of_columns(lists: &Bound<'_, PyDict>, columns: &Columns) -> PyResult<Vec<Sample>> {
    let mut read = Vec::with_capacity(lists.len());
    let mut rows: Option<(String, usize)> = None;
    for (name, list) in lists {
        let name: String = name.extract()?;
        let values = column(&name, &list)?;
        let (first, length) = rows.get_or_insert_with(|| (name.clone(), values.len()));
        if values.len() != *length {
            let why = format!("{name}: {} values, but {first} has {length}", values.len());
            return Err(DataError::new_err(why));
        }
        read.push((name, values.into_iter()));
    }
    let reader = RowReader::new(columns);
    let row = |at: usize| {
        let mut row = Map::new();
        for (name, values) in &mut read {
            if let Some(value) = values.next().filter(|value| !value.is_null()) {
                row.insert(name.clone(), value);
            }
        }
        reader.sample(row).map_err(|why| DataError::new_err(format!("sample {at}: {why}")))
    };
    (0..rows.map_or(0, |(_, length)| length)).map(row).collect()
}

fn column(name: &str, list: &Bound<'_, PyAny>) -> PyResult<Vec<Value>> {
    let wrong = |error: Unreadable| DataError::new_err(error.within(name).to_string());
    if list.is_instance_of::<PyString>() {
        let why = format!("{name}: expected a list with a value for each sample, found text");
        return Err(DataError::new_err(why));
    }
    let mut values = Vec::with_capacity(list.len().unwrap_or(0));
    if !(list.is_instance_of::<PyList>() || list.is_instance_of::<PyTuple>()) {
        // An array has its own, faster way to plain values.
        if let Value::Array(values) = value::to_json(list).map_err(wrong)? {
            return Ok(values);
        }
        let why = format!("{name}: expected a list with a value for each sample");
        return Err(DataError::new_err(why));
    }
    for (at, value) in list.try_iter()?.enumerate() {
        let value = value::to_json(&value?);
        values.push(value.map_err(|error| wrong(error.within(format!("[{at}]"))))?);
    }
    Ok(values)
}
