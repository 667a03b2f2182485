//! Python values as JSON, and back.

use pyo3::exceptions::PyOverflowError;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{
    PyBool, PyBytes, PyDict, PyFloat, PyInt, PyList, PyMapping, PySequence, PyString, PyTuple,
};
use serde_json::{Map, Number, Value};

/// How deep values may nest.
const DEPTH_MAX: usize = 128;

/// Why a value has no JSON form, and where in it.
pub(crate) struct Unreadable {
    path: Vec<String>,
    why: String,
}

impl Unreadable {
    fn new(why: impl Into<String>) -> Self {
        Self { path: Vec::new(), why: why.into() }
    }

    /// The path of the value below `name`, but for its `outer` outermost parts.
    pub(crate) fn dotted(&self, name: &str, outer: usize) -> String {
        let parts = self.path.iter().rev().skip(outer).map(|key| key.trim_matches(['[', ']']));
        std::iter::once(name).chain(parts).collect::<Vec<_>>().join(".")
    }

    /// The same, seen from one level further up.
    pub(crate) fn within(mut self, key: impl Into<String>) -> Self {
        self.path.push(key.into());
        self
    }
}

impl From<PyErr> for Unreadable {
    fn from(error: PyErr) -> Self {
        Self::new(error.to_string())
    }
}

impl std::fmt::Display for Unreadable {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        for (at, key) in self.path.iter().rev().enumerate() {
            let dot = if at > 0 && !key.starts_with('[') { "." } else { "" };
            write!(f, "{dot}{key}")?;
        }
        let colon = if self.path.is_empty() { "" } else { ": " };
        write!(f, "{colon}{}", self.why)
    }
}

/// A Python value as JSON. Members of objects that are `None` are left out, as in files.
pub(crate) fn to_json(value: &Bound<'_, PyAny>) -> Result<Value, Unreadable> {
    let mut lost = Vec::new();
    let value = to_data(value, &mut lost)?;
    lost.into_iter().next().map_or(Ok(value), Err)
}

/// The same, with `None` in the place of what is data and no value of JSON, bytes or numbers: these are
/// `lost`.
pub(crate) fn to_data(
    value: &Bound<'_, PyAny>,
    lost: &mut Vec<Unreadable>,
) -> Result<Value, Unreadable> {
    read(value, 0, lost)
}

fn read(
    value: &Bound<'_, PyAny>,
    depth: usize,
    lost: &mut Vec<Unreadable>,
) -> Result<Value, Unreadable> {
    if depth > DEPTH_MAX {
        return Err(Unreadable::new(format!("nested more than {DEPTH_MAX} deep")));
    }
    if let Ok(text) = value.cast::<PyString>() {
        return Ok(Value::String(text_of(text)?.to_owned()));
    }
    if value.is_none() {
        return Ok(Value::Null);
    }
    if let Ok(bool) = value.cast::<PyBool>() {
        return Ok(Value::Bool(bool.is_true()));
    }
    if let Ok(int) = value.cast::<PyInt>() {
        return integer(int, lost);
    }
    if let Ok(float) = value.cast::<PyFloat>() {
        return Ok(number(float.extract()?, lost));
    }
    if let Ok(dict) = value.cast::<PyDict>() {
        return object(dict.iter(), depth, lost).map(Value::Object);
    }
    if let Ok(list) = value.cast::<PyList>() {
        return array(list.iter(), depth, lost);
    }
    if let Ok(tuple) = value.cast::<PyTuple>() {
        return array(tuple.iter(), depth, lost);
    }
    other(value, depth, lost)
}

/// Whether a value is data of a row, and no image or other object.
pub(crate) fn is_data(value: &Bound<'_, PyAny>) -> PyResult<bool> {
    is_data_at(value, 0)
}

fn all_data<'py>(values: impl Iterator<Item = Bound<'py, PyAny>>, depth: usize) -> PyResult<bool> {
    for value in values {
        if !is_data_at(&value, depth)? {
            return Ok(false);
        }
    }
    Ok(true)
}

fn is_data_at(value: &Bound<'_, PyAny>, depth: usize) -> PyResult<bool> {
    let is_plain = value.is_none()
        || value.is_instance_of::<PyString>()
        || value.is_instance_of::<PyInt>()
        || value.is_instance_of::<PyFloat>();
    // What is nested deeper is refused as the data that it is.
    if is_plain || depth > DEPTH_MAX {
        return Ok(true);
    }
    if let Ok(list) = value.cast::<PyList>() {
        all_data(list.iter(), depth + 1)
    } else if let Ok(tuple) = value.cast::<PyTuple>() {
        all_data(tuple.iter(), depth + 1)
    } else if let Ok(mapping) = value.cast::<PyMapping>() {
        all_data(mapping.values()?.iter(), depth + 1)
    } else {
        value.hasattr(intern!(value.py(), "tolist"))
    }
}

/// The text, unless it has a surrogate without its other half.
fn text_of<'a>(text: &'a Bound<'_, PyString>) -> Result<&'a str, Unreadable> {
    text.to_str().map_err(|_| lone_surrogate())
}

/// Why a text has no UTF-8 form.
pub(crate) fn lone_surrogate() -> Unreadable {
    Unreadable::new("text that is not Unicode: a lone surrogate")
}

fn integer(int: &Bound<'_, PyInt>, lost: &mut Vec<Unreadable>) -> Result<Value, Unreadable> {
    if let Ok(small) = int.extract::<i64>() {
        return Ok(small.into());
    }
    match int.extract::<u64>() {
        Ok(large) => Ok(large.into()),
        // As in JSON: what has no exact form becomes the nearest float.
        Err(error) if error.is_instance_of::<PyOverflowError>(int.py()) => {
            Ok(number(int.extract()?, lost))
        }
        Err(error) => Err(error.into()),
    }
}

fn number(float: f64, lost: &mut Vec<Unreadable>) -> Value {
    let number = Number::from_f64(float).map(Value::Number);
    number.unwrap_or_else(|| {
        lost.push(Unreadable::new(format!("{float} is not a JSON number")));
        Value::Null
    })
}

fn array<'py>(
    values: impl Iterator<Item = Bound<'py, PyAny>>,
    depth: usize,
    lost: &mut Vec<Unreadable>,
) -> Result<Value, Unreadable> {
    let one = |(at, value): (usize, Bound<'py, PyAny>)| {
        let before = lost.len();
        let read = read(&value, depth + 1, lost);
        lost.iter_mut().skip(before).for_each(|one| one.path.push(format!("[{at}]")));
        read.map_err(|error| error.within(format!("[{at}]")))
    };
    values.enumerate().map(one).collect::<Result<_, _>>().map(Value::Array)
}

fn object<'py>(
    members: impl Iterator<Item = (Bound<'py, PyAny>, Bound<'py, PyAny>)>,
    depth: usize,
    lost: &mut Vec<Unreadable>,
) -> Result<Map<String, Value>, Unreadable> {
    let mut object = Map::new();
    for (key, value) in members {
        let Ok(key) = key.cast::<PyString>() else {
            let why = format!("a key of type {}; keys must be text", kind(&key));
            return Err(Unreadable::new(why));
        };
        let key = text_of(key)?;
        let before = lost.len();
        let value = read(&value, depth + 1, lost).map_err(|error| error.within(key))?;
        lost.iter_mut().skip(before).for_each(|one| one.path.push(key.to_owned()));
        if !value.is_null() {
            object.insert(key.to_owned(), value);
        }
    }
    Ok(object)
}

/// What is neither built in nor a subclass of that: arrays, times, mappings, sequences.
fn other(
    value: &Bound<'_, PyAny>,
    depth: usize,
    lost: &mut Vec<Unreadable>,
) -> Result<Value, Unreadable> {
    let py = value.py();
    if let Ok(bytes) = value.cast::<PyBytes>() {
        return Ok(std::str::from_utf8(bytes.as_bytes()).map_or_else(
            |_| {
                lost.push(Unreadable::new("bytes that are not UTF-8"));
                Value::Null
            },
            Value::from,
        ));
    }
    // Arrays and numbers of numpy and torch, columns of data frames, times, decimals.
    for method in [intern!(py, "tolist"), intern!(py, "to_list"), intern!(py, "isoformat")] {
        if value.hasattr(method)? {
            let plain = value.call_method0(method)?;
            if !plain.is(value) {
                return read(&plain, depth + 1, lost);
            }
        }
    }
    if value.hasattr(intern!(py, "as_tuple"))? && value.hasattr(intern!(py, "quantize"))? {
        return Ok(Value::String(value.str()?.to_string()));
    }
    if let Ok(mapping) = value.cast::<PyMapping>() {
        let items = mapping.items()?;
        let mut members = Vec::with_capacity(items.len());
        for item in items.iter() {
            members.push(item.extract::<(Bound<'_, PyAny>, Bound<'_, PyAny>)>()?);
        }
        return object(members.into_iter(), depth, lost).map(Value::Object);
    }
    if let Ok(sequence) = value.cast::<PySequence>() {
        return array(sequence.to_list()?.iter(), depth, lost);
    }
    let why = format!("a value of type {}, which has no JSON form", kind(value));
    Err(Unreadable::new(why))
}

/// The type of a value, for messages.
pub(crate) fn kind(value: &Bound<'_, PyAny>) -> String {
    let name = value.get_type().fully_qualified_name();
    name.map_or_else(|_| "unknown".to_owned(), |name| name.to_string())
}

/// JSON as Python values.
pub(crate) fn to_python<'py>(py: Python<'py>, value: &Value) -> PyResult<Bound<'py, PyAny>> {
    Ok(match value {
        Value::Null => py.None().into_bound(py),
        Value::Bool(bool) => PyBool::new(py, *bool).to_owned().into_any(),
        Value::Number(number) => match (number.as_i64(), number.as_u64()) {
            (Some(small), _) => small.into_pyobject(py)?.into_any(),
            (None, Some(large)) => large.into_pyobject(py)?.into_any(),
            (None, None) => PyFloat::new(py, number.as_f64().unwrap_or(f64::NAN)).into_any(),
        },
        Value::String(text) => PyString::new(py, text).into_any(),
        Value::Array(values) => {
            let list = PyList::empty(py);
            for value in values {
                list.append(to_python(py, value)?)?;
            }
            list.into_any()
        }
        Value::Object(members) => members_to_python(py, members.iter())?.into_any(),
    })
}

/// The members of a JSON object as a dict.
pub(crate) fn members_to_python<'py, 'a, K: AsRef<str>>(
    py: Python<'py>,
    members: impl Iterator<Item = (K, &'a Value)>,
) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    for (key, value) in members {
        dict.set_item(key.as_ref(), to_python(py, value)?)?;
    }
    Ok(dict)
}
