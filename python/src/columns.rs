//! Columns of numbers from Python: arrays are read where they lie, lists are copied. No library is
//! imported for it: an array is what has a buffer or `__array__`.

#![allow(
    unsafe_code,
    reason = "the numbers of an array are read while the interpreter is given up"
)]

use assay::trainer::request::GroupColumn;
use assay::trainer::{Groups, Ragged};
use assay::verifiers::from_value;
use pyo3::buffer::PyBuffer;
use pyo3::exceptions::PyValueError;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyByteArray, PyBytes, PyDict, PyInt, PyList, PyMapping, PyString};

use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use crate::error::ConfigError;
use crate::value;

/// The columns of a call by their names. One that is `None` is not given.
pub(crate) struct Columns<'py>(pub(crate) Bound<'py, PyDict>);

/// A number for each rollout.
pub(crate) enum Numbers {
    /// An array of `float64` without gaps, where it lies.
    There(PyBuffer<f64>),
    /// Copied out of anything else.
    Copied(Vec<f64>),
}

/// A number for each token of each rollout.
pub(crate) struct TokenNumbers {
    pub(crate) rows: Ragged<f64>,
    /// How many tokens every row has, where they came as one padded array.
    pub(crate) width: Option<usize>,
}

impl<'py> FromPyObject<'_, 'py> for Columns<'py> {
    type Error = PyErr;

    fn extract(columns: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        Ok(Self(columns.cast::<PyDict>()?.to_owned()))
    }
}

impl<'py> Columns<'py> {
    /// A column, where it is given.
    pub(crate) fn get(&self, name: &str) -> PyResult<Option<Bound<'py, PyAny>>> {
        Ok(self.0.get_item(name)?.filter(|column| !column.is_none()))
    }

    /// A column that must be given.
    pub(crate) fn need(&self, name: &str) -> PyResult<Bound<'py, PyAny>> {
        self.get(name)?.ok_or_else(|| wrong(name, "not given"))
    }

    /// The table of settings: `kind`, `preset`, and what belongs to the kind.
    pub(crate) fn settings(&self) -> PyResult<Map<String, Value>> {
        match value::to_json(&self.need("settings")?) {
            Ok(Value::Object(settings)) => Ok(settings),
            Ok(_) => Err(wrong("settings", "expected a dict")),
            Err(error) => Err(ConfigError::new_err(error.to_string())),
        }
    }

    /// A member that is a table of its own, such as a state; its default where it is not given.
    pub(crate) fn table<T: DeserializeOwned + Default>(&self, name: &str) -> PyResult<T> {
        let Some(given) = self.get(name)? else { return Ok(T::default()) };
        let table = value::to_json(&given).map_err(|why| wrong(name, &why.to_string()))?;
        from_value(&table).map_err(|why| wrong(name, &why.message))
    }

    /// A number for each rollout; NaN where one is missing.
    pub(crate) fn numbers(&self, name: &str) -> PyResult<Option<Numbers>> {
        self.get(name)?.map(|column| numbers(name, &column)).transpose()
    }

    /// A number for each token of each rollout; NaN where one is missing.
    pub(crate) fn tokens(&self, name: &str) -> PyResult<Option<TokenNumbers>> {
        self.get(name)?.map(|column| tokens(name, &column)).transpose()
    }

    /// Which tokens of each rollout: any number but 0.
    pub(crate) fn token_flags(
        &self,
        name: &str,
    ) -> PyResult<Option<(Ragged<bool>, Option<usize>)>> {
        let Some(TokenNumbers { rows, width }) = self.tokens(name)? else { return Ok(None) };
        flags(name, rows.values())?;
        Ok(Some((rows.map(|number| *number != 0.0), width)))
    }

    /// Which rollouts: any number but 0.
    pub(crate) fn flags(&self, name: &str) -> PyResult<Option<Vec<bool>>> {
        self.numbers(name)?.map(|numbers| flags(name, numbers.as_slice())).transpose()
    }

    /// A count for each rollout.
    pub(crate) fn counts(&self, name: &str) -> PyResult<Option<Vec<usize>>> {
        let Some(numbers) = self.numbers(name)? else { return Ok(None) };
        let counted = numbers.as_slice().iter().enumerate().map(|(row, number)| {
            count(*number).ok_or_else(|| {
                wrong(name, &format!("{number} in row {row}, expected a count from 0 on"))
            })
        });
        counted.collect::<PyResult<_>>().map(Some)
    }

    /// A text for each rollout; numbers are written out.
    pub(crate) fn texts(&self, name: &str) -> PyResult<Option<Vec<String>>> {
        self.get(name)?.map(|column| texts(name, &column)).transpose()
    }

    /// Which of the rollouts, so many `rows`, share a prompt.
    pub(crate) fn groups(&self, rows: usize) -> PyResult<GroupColumn> {
        let groups = self.need("groups")?;
        if let Ok(size) = groups.cast::<PyInt>() {
            let size = size.extract::<usize>();
            return size.map(GroupColumn::Size).map_err(|_| {
                wrong("groups", &format!("groups of {groups}, expected a size of 1 or more"))
            });
        }
        keys(&groups, rows)
    }
}

impl Numbers {
    /// The numbers.
    pub(crate) fn as_slice(&self) -> &[f64] {
        match self {
            Self::Copied(numbers) => numbers,
            Self::There(buffer) => match buffer.as_slice_ptr() {
                // SAFETY: the buffer keeps the memory and its size for as long as it is held, it has
                // no gaps, and every pattern of bits is a number. Who writes to an array while a
                // call reads it has a race in Python already; what is read may then be any number.
                Some(numbers) => unsafe { numbers.as_ref() },
                None => &[],
            },
        }
    }
}

/// An array as one of `NumPy`, or nothing where the value is none: a list, say.
pub(crate) fn array_of<'py>(
    what: &str,
    given: &Bound<'py, PyAny>,
) -> PyResult<Option<Bound<'py, PyAny>>> {
    let py = given.py();
    let mut array = given.clone();
    if is_tensor(given)? {
        // One that needs a gradient, or is on another device, has no `__array__`; neither has one
        // of `bfloat16`.
        for step in ["detach", "cpu", "double"] {
            array = array.call_method0(step)?;
        }
    }
    if array.is_instance_of::<PyList>() || !array.hasattr(intern!(py, "__array__"))? {
        return Ok(None);
    }
    let array = array.call_method0(intern!(py, "__array__"));
    array.map(Some).map_err(|error| wrong(what, &error.to_string()))
}

/// Whether a value is a tensor, such as one of `PyTorch`.
pub(crate) fn is_tensor(given: &Bound<'_, PyAny>) -> PyResult<bool> {
    let py = given.py();
    Ok(given.hasattr(intern!(py, "detach"))? && given.hasattr(intern!(py, "new_tensor"))?)
}

/// What is wrong with a column.
pub(crate) fn wrong(what: &str, why: &str) -> PyErr {
    PyValueError::new_err(format!("{what}: {why}"))
}

/// A list of numbers, or an array of one dimension.
pub(crate) fn numbers(what: &str, given: &Bound<'_, PyAny>) -> PyResult<Numbers> {
    let Some(array) = array_of(what, given)? else { return listed(what, given) };
    let buffer = floats(what, &array)?;
    match buffer.dimensions() {
        1 => Ok(in_place(given.py(), buffer)?),
        other => Err(wrong(what, &format!("an array of {other} dimensions, expected 1"))),
    }
}

/// A list of rows, or an array of two dimensions.
pub(crate) fn tokens(what: &str, given: &Bound<'_, PyAny>) -> PyResult<TokenNumbers> {
    let py = given.py();
    if let Some(array) = array_of(what, given)?
        && !is_of_objects(&array)?
    {
        let buffer = floats(what, &array)?;
        let [rows, width] = *buffer.shape() else {
            let why = format!(
                "an array of {} dimensions, expected 2: a row of tokens for each rollout",
                buffer.dimensions()
            );
            return Err(wrong(what, &why));
        };
        let rows = Ragged::from_parts(buffer.to_vec(py)?, std::iter::repeat_n(width, rows));
        return Ok(TokenNumbers { rows: rows.unwrap_or_default(), width: Some(width) });
    }
    let mut rows = Ragged::new();
    for (at, row) in items(what, given)?.enumerate() {
        let row = row?;
        let what = format!("{what}: row {at}");
        if row.is_none() {
            return Err(wrong(&what, "None, expected a row of tokens"));
        }
        rows.push(numbers(&what, &row)?.as_slice().iter().copied());
    }
    Ok(TokenNumbers { rows, width: None })
}

/// The members of a list, or of anything else that is walked over but a text.
pub(crate) fn items<'py>(
    what: &str,
    given: &Bound<'py, PyAny>,
) -> PyResult<impl Iterator<Item = PyResult<Bound<'py, PyAny>>> + use<'py>> {
    let is_one = given.is_instance_of::<PyString>()
        || given.is_instance_of::<PyBytes>()
        || given.is_instance_of::<PyByteArray>()
        || given.cast::<PyMapping>().is_ok();
    match given.try_iter() {
        Ok(items) if !is_one => Ok(items),
        _ => {
            let why =
                format!("a value of type {}, expected a list or an array", value::kind(given));
            Err(wrong(what, &why))
        }
    }
}

/// A number as a count; nothing where it is none.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "the number is whole and in the range of exact ones"
)]
pub(crate) fn count(number: f64) -> Option<usize> {
    let is_count = (0.0..=9e15).contains(&number) && number.fract() == 0.0;
    is_count.then_some(number as usize)
}

fn listed(what: &str, given: &Bound<'_, PyAny>) -> PyResult<Numbers> {
    let mut numbers = Vec::with_capacity(given.len().unwrap_or_default());
    for (row, item) in items(what, given)?.enumerate() {
        numbers.push(number(what, row, &item?)?);
    }
    Ok(Numbers::Copied(numbers))
}

/// A number of a list; NaN where it is missing.
fn number(what: &str, row: usize, item: &Bound<'_, PyAny>) -> PyResult<f64> {
    if item.is_none() {
        return Ok(f64::NAN);
    }
    item.extract::<f64>().map_err(|_| {
        let kind = value::kind(item);
        wrong(what, &format!("a value of type {kind} in place {row}, expected a number or None"))
    })
}

/// The numbers of an array of `NumPy`, as `float64` without gaps. It is copied where it is of another
/// type.
fn floats(what: &str, array: &Bound<'_, PyAny>) -> PyResult<PyBuffer<f64>> {
    // A buffer in the byte order of another machine has a type that fits, too.
    if let Ok(buffer) = PyBuffer::<f64>::get(array)
        && buffer.is_c_contiguous()
        && matches!(buffer.format().to_bytes(), b"d" | b"@d" | b"=d")
    {
        return Ok(buffer);
    }
    let py = array.py();
    let dtype = array.getattr(intern!(py, "dtype"))?;
    let kind: String = dtype.getattr(intern!(py, "kind"))?.extract()?;
    if !matches!(kind.as_str(), "b" | "i" | "u" | "f" | "O") {
        return Err(wrong(what, &format!("an array of {dtype}, expected numbers")));
    }
    let floats = array.call_method1(intern!(py, "astype"), ("float64", "C"));
    let floats = floats.map_err(|error| wrong(what, &error.to_string()))?;
    PyBuffer::<f64>::get(&floats)
}

fn in_place(py: Python<'_>, buffer: PyBuffer<f64>) -> PyResult<Numbers> {
    // An empty buffer may have no address.
    if buffer.item_count() == 0 || buffer.as_slice_ptr().is_none() {
        return buffer.to_vec(py).map(Numbers::Copied);
    }
    Ok(Numbers::There(buffer))
}

/// Whether an array has Python objects for members: rows of different lengths, say.
fn is_of_objects(array: &Bound<'_, PyAny>) -> PyResult<bool> {
    let py = array.py();
    let kind = array.getattr(intern!(py, "dtype"))?.getattr(intern!(py, "kind"))?;
    Ok(kind.eq("O")? && array.len()? == array.getattr(intern!(py, "size"))?.extract::<usize>()?)
}

fn flags(what: &str, numbers: &[f64]) -> PyResult<Vec<bool>> {
    match numbers.iter().position(|number| number.is_nan()) {
        Some(at) => Err(wrong(what, &format!("no value in place {at}, expected true or false"))),
        None => Ok(numbers.iter().map(|number| *number != 0.0).collect()),
    }
}

/// A text for each member of a list; numbers are written out.
pub(crate) fn texts(what: &str, given: &Bound<'_, PyAny>) -> PyResult<Vec<String>> {
    let text = |(row, item): (usize, PyResult<Bound<'_, PyAny>>)| {
        let item = plain(&item?)?;
        if item.is_instance_of::<PyString>() || item.is_instance_of::<PyInt>() {
            return Ok(item.str()?.to_str()?.to_owned());
        }
        let kind = value::kind(&item);
        Err(wrong(what, &format!("a value of type {kind} in place {row}, expected a text")))
    };
    items(what, given)?.enumerate().map(text).collect()
}

/// A key for each rollout: all are numbers, or all are texts.
fn keys(given: &Bound<'_, PyAny>, rows: usize) -> PyResult<GroupColumn> {
    if let Some(keys) = key_array(given, rows)? {
        return Ok(keys);
    }
    let mut keys = Vec::with_capacity(given.len().unwrap_or_default());
    for (row, key) in items("groups", given)?.enumerate() {
        let key = plain(&key?)?;
        if !(key.is_instance_of::<PyInt>() || key.is_instance_of::<PyString>()) {
            let why =
                format!("a key of type {} in place {row}, expected int or str", value::kind(&key));
            return Err(wrong("groups", &why));
        }
        keys.push(key);
    }
    if let Ok(numbers) = keys.iter().map(PyAnyMethods::extract).collect::<PyResult<Vec<i64>>>() {
        return Ok(GroupColumn::Numbers(numbers));
    }
    let numbers = keys.iter().filter(|key| key.is_instance_of::<PyInt>()).count();
    if numbers > 0 && numbers < keys.len() {
        return Err(wrong("groups", "numbers and texts, expected keys of one type"));
    }
    // Texts, or numbers beyond 64 bits: their digits tell them apart as well.
    let texts = keys.iter().map(|key| Ok(key.str()?.to_str()?.to_owned()));
    texts.collect::<PyResult<_>>().map(GroupColumn::Texts)
}

/// The keys of an array of integers.
fn key_array(given: &Bound<'_, PyAny>, rows: usize) -> PyResult<Option<GroupColumn>> {
    let py = given.py();
    let mut array = given.clone();
    if is_tensor(given)? {
        for step in ["detach", "cpu"] {
            array = array.call_method0(step)?;
        }
    }
    if array.is_instance_of::<PyList>() || !array.hasattr(intern!(py, "__array__"))? {
        return Ok(None);
    }
    let array = array.call_method0(intern!(py, "__array__"))?;
    let kind = array.getattr(intern!(py, "dtype"))?.getattr(intern!(py, "kind"))?;
    if !(kind.eq("i")? || kind.eq("u")?) {
        return Ok(None);
    }
    // Unsigned numbers beyond the range wrap round, and stay apart.
    let numpy = py.import(intern!(py, "numpy"))?;
    let array = numpy.call_method1(intern!(py, "ascontiguousarray"), (array, "int64"))?;
    let buffer = PyBuffer::<i64>::get(&array)?;
    if buffer.dimensions() != 1 {
        let why = format!("an array of {} dimensions, expected 1", buffer.dimensions());
        return Err(wrong("groups", &why));
    }
    // SAFETY: the buffer holds the array, and nothing writes to it while the interpreter is held.
    let keys = buffer.as_slice_ptr().map(|keys| unsafe { keys.as_ref() });
    let even = keys.filter(|keys| keys.len() == rows);
    if let Some(size) = even.and_then(Groups::even_runs) {
        return Ok(Some(GroupColumn::Size(size)));
    }
    buffer.to_vec(py).map(|keys| Some(GroupColumn::Numbers(keys)))
}

/// A member of an array as Python's own.
fn plain<'py>(item: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    let py = item.py();
    if item.is_instance_of::<PyString>() || item.is_instance_of::<PyInt>() {
        return Ok(item.clone());
    }
    if item.hasattr(intern!(py, "item"))? {
        item.call_method0(intern!(py, "item"))
    } else {
        Ok(item.clone())
    }
}
