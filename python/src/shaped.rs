//! Numbers for Python in the kind in which they came: lists, arrays of `NumPy`, or tensors.

use assay::trainer::Ragged;
use pyo3::buffer::PyBuffer;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyList, PyTuple};

use crate::columns::is_tensor;

/// What numbers came as, and go back as.
pub(crate) enum Kind<'py> {
    /// A list.
    List,
    /// An array; `empty` of `NumPy` makes new ones.
    Array { empty: Bound<'py, PyAny> },
    /// A tensor; `like` makes new ones on its device and of its type.
    Tensor { empty: Bound<'py, PyAny>, like: Bound<'py, PyAny> },
}

impl<'py> Kind<'py> {
    /// The kind of a column. `NumPy` is there where an array is.
    pub(crate) fn of(given: &Bound<'py, PyAny>) -> PyResult<Self> {
        let py = given.py();
        let empty = || py.import("numpy")?.getattr(intern!(py, "empty"));
        if is_tensor(given)? {
            let is_float = given.call_method0(intern!(py, "is_floating_point"))?.is_truthy()?;
            let like = if is_float { given.clone() } else { given.call_method0("double")? };
            return Ok(Self::Tensor { empty: empty()?, like });
        }
        if given.is_instance_of::<PyList>() || !given.hasattr(intern!(py, "__array__"))? {
            return Ok(Self::List);
        }
        Ok(Self::Array { empty: empty()? })
    }

    /// The kind of the rows of a list of rows.
    pub(crate) fn of_rows(given: &Bound<'py, PyAny>) -> PyResult<Self> {
        let is_list = given.is_instance_of::<PyList>() || given.is_instance_of::<PyTuple>();
        match given.get_item(0) {
            Ok(first) if is_list => Self::of(&first),
            _ => Self::of(given),
        }
    }

    /// Whether this is a list.
    pub(crate) fn is_list(&self) -> bool {
        matches!(self, Self::List)
    }

    /// A list, or an array of one dimension.
    pub(crate) fn row(&self, py: Python<'py>, numbers: &[f64]) -> PyResult<Bound<'py, PyAny>> {
        self.shaped(py, numbers, None)
    }

    /// A row for each rollout: an array of two dimensions where all of them have `width` tokens,
    /// else a list of rows.
    pub(crate) fn rows(
        &self,
        py: Python<'py>,
        rows: &Ragged<f64>,
        width: Option<usize>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let is_even = |width: &usize| rows.lengths().all(|length| length == *width);
        if let Some(width) = width.filter(is_even).filter(|_| !self.is_list()) {
            return self.shaped(py, rows.values(), Some((rows.rows(), width)));
        }
        let list = PyList::empty(py);
        for row in rows.iter() {
            list.append(self.row(py, row)?)?;
        }
        Ok(list.into_any())
    }

    /// Places of rollouts, which index what came.
    pub(crate) fn places(&self, py: Python<'py>, places: &[usize]) -> PyResult<Bound<'py, PyAny>> {
        let (empty, like) = match self {
            Self::List => return Ok(PyList::new(py, places)?.into_any()),
            Self::Array { empty } => (empty, None),
            Self::Tensor { empty, like } => (empty, Some(like)),
        };
        let array = empty.call1((places.len(), "int64"))?;
        let numbers: Vec<i64> = places.iter().map(|place| place.cast_signed() as i64).collect();
        PyBuffer::<i64>::get(&array)?.copy_from_slice(py, &numbers)?;
        match like {
            None => Ok(array),
            Some(like) => like.call_method0("long")?.call_method1("new_tensor", (array,)),
        }
    }

    /// A new array of one dimension that has no numbers yet; none for lists.
    pub(crate) fn room(&self, len: usize) -> PyResult<Option<Bound<'py, PyAny>>> {
        match self {
            Self::List => Ok(None),
            Self::Array { empty } | Self::Tensor { empty, .. } => empty.call1((len,)).map(Some),
        }
    }

    /// What an array of `NumPy` goes back as.
    pub(crate) fn finished(&self, array: Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        match self {
            Self::List | Self::Array { .. } => Ok(array),
            Self::Tensor { like, .. } => like.call_method1("new_tensor", (array,)),
        }
    }

    fn shaped(
        &self,
        py: Python<'py>,
        numbers: &[f64],
        shape: Option<(usize, usize)>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let Some(mut array) = self.room(numbers.len())? else {
            return Ok(PyList::new(py, numbers)?.into_any());
        };
        PyBuffer::<f64>::get(&array)?.copy_from_slice(py, numbers)?;
        if let Some(shape) = shape {
            array = array.call_method1(intern!(py, "reshape"), (shape,))?;
        }
        self.finished(array)
    }
}
