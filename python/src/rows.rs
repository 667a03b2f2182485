//! Samples out of Python: rows that are dicts, or one list for each column.
//!
//! Reading has two halves. The first takes what the interpreter guards: which texts there are, without a
//! copy, and all other values. The second makes samples of that while others use the interpreter.

use assay::data::{Defect, RowReader};
use assay::verifiers::code::Code;
use assay::{Engine, Sample};
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedStr;
use pyo3::types::{PyDict, PyList, PyMapping, PyString, PyTuple};
use rayon::iter::{IntoParallelIterator as _, ParallelIterator as _};
use serde_json::{Map, Value};

use crate::error::{DataError, DataTypeError, with_code};
use crate::value::{self, Unreadable};

/// Fewer rows than these are not worth a thread.
const PARALLEL_ROWS_MIN: usize = 64;

/// Rows as they were taken out of Python. Drop it while attached.
pub(crate) enum Taken {
    Rows(Vec<TakenRow>),
    Columns { rows: usize, columns: Vec<(String, Vec<Cell>)> },
}

/// Why a row is no sample, and the code of that.
pub(crate) type WrongRow = (String, Code);

/// A row: its columns by name.
type TakenRow = Vec<(PyBackedStr, Cell)>;

/// One value of a row.
pub(crate) enum Cell {
    /// A text, which Python still owns.
    Text(PyBackedStr),
    Other(Value),
}

impl Taken {
    /// Takes rows: anything that can be iterated over and gives mappings.
    pub(crate) fn rows(rows: &Bound<'_, PyAny>, reader: &RowReader) -> PyResult<Self> {
        if rows.is_instance_of::<PyMapping>() || rows.is_instance_of::<PyString>() {
            let why = "samples: expected a list of dicts, one for each sample";
            return Err(DataTypeError::new_err(why));
        }
        let mut taken = Vec::with_capacity(rows.len().unwrap_or(0));
        for (at, row) in rows.try_iter()?.enumerate() {
            let wrong = |why| DataTypeError::new_err(format!("samples[{at}]: {why}"));
            taken.push(self::row(&row?, reader).map_err(wrong)?);
        }
        Ok(Self::Rows(taken))
    }

    /// Takes columns: lists of one length, by the names of the columns.
    pub(crate) fn columns(lists: &Bound<'_, PyDict>, reader: &RowReader) -> PyResult<Self> {
        let named = lists.iter().map(|(name, list)| Ok((name.extract()?, list)));
        Self::lists(named.collect::<PyResult<_>>()?, reader)
    }

    /// Takes columns by their names; of two with one name the second counts.
    pub(crate) fn lists(
        lists: Vec<(String, Bound<'_, PyAny>)>,
        reader: &RowReader,
    ) -> PyResult<Self> {
        let mut columns: Vec<(String, Vec<Cell>)> = Vec::with_capacity(lists.len());
        for (name, list) in lists {
            let cells = column(&name, &list, reader)?;
            if let Some((first, others)) = columns.first()
                && others.len() != cells.len()
            {
                let (here, there) = (cells.len(), others.len());
                let why = format!("{name}: {here} values, but {first} has {there}");
                return Err(DataError::new_err(why));
            }
            columns.push((name, cells));
        }
        let rows = columns.first().map_or(0, |(_, cells)| cells.len());
        Ok(Self::Columns { rows, columns })
    }

    /// Makes the samples, on the threads of the engine where there are many. Needs no interpreter.
    pub(crate) fn samples(&self, engine: &Engine) -> Result<Vec<Sample>, WrongRow> {
        let reader = &engine.plan().reader;
        let sample = |at: usize| self.sample(at, reader);
        let rows = self.len();
        if rows < PARALLEL_ROWS_MIN {
            return (0..rows).map(sample).collect();
        }
        // The first wrong row is named, whichever thread is first.
        let read: Vec<_> = engine.install(|| (0..rows).into_par_iter().map(sample).collect());
        read.into_iter().collect()
    }

    /// How many rows there are.
    pub(crate) fn len(&self) -> usize {
        match self {
            Self::Rows(rows) => rows.len(),
            Self::Columns { rows, .. } => *rows,
        }
    }

    fn sample(&self, at: usize, reader: &RowReader) -> Result<Sample, WrongRow> {
        match self {
            Self::Rows(rows) => {
                let members = rows.get(at).into_iter().flatten();
                let row = members.map(|(key, cell)| (&**key, cell));
                reader
                    .sample(object(row))
                    .map_err(|why| (format!("samples[{at}]: {why}"), why.code()))
            }
            Self::Columns { columns, .. } => {
                let cells = columns.iter().map(|(name, cells)| Some((&**name, cells.get(at)?)));
                let row = cells.flatten();
                reader
                    .sample(object(row))
                    .map_err(|why| (format!("sample {at}: {why}"), why.code()))
            }
        }
    }
}

/// Reads one row.
pub(crate) fn of_row(row: &Bound<'_, PyAny>, reader: &RowReader) -> PyResult<Sample> {
    let wrong =
        |why: Defect| with_code(DataError::new_err(format!("sample: {why}")), why.code().word());
    let mistyped = |why| DataTypeError::new_err(format!("sample: {why}"));
    let row = self::row(row, reader).map_err(mistyped)?;
    let members = object(row.iter().map(|(key, cell)| (&**key, cell)));
    reader.sample(members).map_err(wrong)
}

/// Takes one row.
fn row(row: &Bound<'_, PyAny>, reader: &RowReader) -> Result<TakenRow, String> {
    let Ok(dict) = row.cast::<PyDict>() else {
        let Ok(mapping) = row.cast::<PyMapping>() else {
            return Err(format!("expected a dict, found {}", value::kind(row)));
        };
        let dict = PyDict::new(row.py());
        let copied = dict.update(mapping);
        copied.map_err(|error| error.to_string())?;
        return self::row(&dict, reader);
    };
    let mut taken = Vec::with_capacity(dict.len());
    for (key, value) in dict {
        let Ok(key) = key.cast_into::<PyString>() else {
            return Err("a column name that is not a string".to_owned());
        };
        let key = backed(key).map_err(|error| error.to_string())?;
        let cell = cell(&value, &key, reader);
        let cell = cell.map_err(|error| error.within(&*key).to_string())?;
        taken.push((key, cell));
    }
    Ok(taken)
}

/// Takes one column.
fn column(name: &str, list: &Bound<'_, PyAny>, reader: &RowReader) -> PyResult<Vec<Cell>> {
    let wrong = |error: Unreadable| DataTypeError::new_err(error.within(name).to_string());
    let expected = |found: &str| {
        let why = format!("{name}: expected a list with a value for each sample{found}");
        DataTypeError::new_err(why)
    };
    if list.is_instance_of::<PyString>() {
        return Err(expected(", found text"));
    }
    if !(list.is_instance_of::<PyList>() || list.is_instance_of::<PyTuple>()) {
        // An array has its own, faster way to plain values.
        return match json(list, name, 1, reader).map_err(wrong)? {
            Value::Array(values) => Ok(values.into_iter().map(Cell::Other).collect()),
            _ => Err(expected("")),
        };
    }
    let mut cells = Vec::with_capacity(list.len().unwrap_or(0));
    for (at, value) in list.try_iter()?.enumerate() {
        let cell = cell(&value?, name, reader);
        cells.push(cell.map_err(|error| wrong(error.within(format!("[{at}]"))))?);
    }
    Ok(cells)
}

/// Takes one value of a column.
fn cell(value: &Bound<'_, PyAny>, name: &str, reader: &RowReader) -> Result<Cell, Unreadable> {
    match value.cast::<PyString>() {
        Ok(text) => backed(text.clone()).map(Cell::Text),
        Err(_) => json(value, name, 0, reader).map(Cell::Other),
    }
}

/// A value of a column, or so many levels above one, without what is no JSON in metadata.
fn json(
    value: &Bound<'_, PyAny>,
    name: &str,
    above: usize,
    reader: &RowReader,
) -> Result<Value, Unreadable> {
    let mut lost = Vec::new();
    let value = value::to_data(value, &mut lost)?;
    let judged = lost.into_iter().find(|one| reader.judges(&one.dotted(name, above)));
    judged.map_or(Ok(value), Err)
}

/// A text without a copy, unless it has a surrogate without its other half.
fn backed(text: Bound<'_, PyString>) -> Result<PyBackedStr, Unreadable> {
    PyBackedStr::try_from(text).map_err(|_| value::lone_surrogate())
}

/// The members of a row. A null member is as good as none.
fn object<'a>(cells: impl Iterator<Item = (&'a str, &'a Cell)>) -> Map<String, Value> {
    let mut row = Map::new();
    for (name, cell) in cells {
        let value = match cell {
            Cell::Text(text) => Value::String((**text).to_owned()),
            Cell::Other(Value::Null) => continue,
            Cell::Other(value) => value.clone(),
        };
        row.insert(name.to_owned(), value);
    }
    row
}
