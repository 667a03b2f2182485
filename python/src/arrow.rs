//! Tables of other libraries, by the capsules of the Arrow interface: no library is imported, and no
//! column copied.

#![allow(unsafe_code, reason = "structs of the C interface of Arrow come as raw pointers")]

use std::ffi::CStr;
use std::sync::Arc;

use arrow_array::ffi::{FFI_ArrowArray, FFI_ArrowSchema, from_ffi, to_ffi};
use arrow_array::ffi_stream::{FFI_ArrowArrayStream, RecordBatchStreamReader};
use arrow_array::{
    Array as _, RecordBatch, RecordBatchIterator, RecordBatchOptions, RecordBatchReader,
    StructArray,
};
use arrow_schema::{ArrowError, DataType, Schema};
use pyo3::exceptions::PyTypeError;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyTuple};

use crate::error::DataError;

const ARRAY: &CStr = c"arrow_array";
const SCHEMA: &CStr = c"arrow_schema";
const STREAM: &CStr = c"arrow_array_stream";

/// The batches of a table.
pub(crate) type Reader = Box<dyn RecordBatchReader + Send>;

/// Reads any object with the Arrow interface.
pub(crate) fn import(table: &Bound<'_, PyAny>) -> PyResult<Reader> {
    let py = table.py();
    if table.hasattr(intern!(py, "__arrow_c_stream__"))? {
        let capsule = table.call_method0(intern!(py, "__arrow_c_stream__"))?;
        return import_stream(&capsule.cast_into()?);
    }
    if table.hasattr(intern!(py, "__arrow_c_array__"))? {
        let capsules = table.call_method0(intern!(py, "__arrow_c_array__"))?;
        let batch = import_batch(&capsules.cast_into()?)?;
        let schema = batch.schema();
        return Ok(Box::new(RecordBatchIterator::new([Ok(batch)], schema)));
    }
    let kind = table.get_type().fully_qualified_name()?;
    Err(PyTypeError::new_err(format!("{kind} has no Arrow interface: no __arrow_c_stream__")))
}

fn import_stream(capsule: &Bound<'_, PyCapsule>) -> PyResult<Reader> {
    let pointer = capsule.pointer_checked(Some(STREAM))?;
    // SAFETY: a capsule of this name holds a valid stream, for as long as the capsule lives. Moving
    // it out marks it as released, which the capsule then respects; a stream that was moved out
    // before is refused by the reader. The interpreter is held: no other thread moves it meanwhile.
    let stream = unsafe { FFI_ArrowArrayStream::from_raw(pointer.cast().as_ptr()) };
    Ok(Box::new(RecordBatchStreamReader::try_new(stream).map_err(|error| refused(&error))?))
}

fn import_batch(capsules: &Bound<'_, PyTuple>) -> PyResult<RecordBatch> {
    let (schema, array): (Bound<'_, PyCapsule>, Bound<'_, PyCapsule>) = capsules.extract()?;
    let (schema, array) =
        (schema.pointer_checked(Some(SCHEMA))?, array.pointer_checked(Some(ARRAY))?);
    // SAFETY: as for streams; the capsule outlives the reference, and nobody changes a schema.
    let schema = unsafe { schema.cast::<FFI_ArrowSchema>().as_ref() };
    let fields = Schema::try_from(schema).map_err(|error| refused(&error))?;
    // SAFETY: as for streams.
    let array = unsafe { FFI_ArrowArray::from_raw(array.cast().as_ptr()) };
    if array.is_released() {
        return Err(DataError::new_err("the Arrow array was read before"));
    }
    // SAFETY: who gives both capsules promises that they belong together.
    let data = unsafe { from_ffi(array, schema) }.map_err(|error| refused(&error))?;
    if !matches!(data.data_type(), DataType::Struct(_)) || data.null_count() > 0 {
        return Err(DataError::new_err("expected the rows of a table, found a single column"));
    }
    let rows = RecordBatchOptions::new().with_row_count(Some(data.len()));
    let columns = StructArray::from(data).into_parts().1;
    RecordBatch::try_new_with_options(Arc::new(fields), columns, &rows)
        .map_err(|error| refused(&error))
}

/// A capsule with a schema.
pub(crate) fn schema<'py>(py: Python<'py>, schema: &Schema) -> PyResult<Bound<'py, PyCapsule>> {
    let schema = FFI_ArrowSchema::try_from(schema).map_err(|error| refused(&error))?;
    PyCapsule::new_with_value(py, schema, SCHEMA)
}

/// A capsule with a stream, which owns its reader.
pub(crate) fn stream(py: Python<'_>, reader: Reader) -> PyResult<Bound<'_, PyCapsule>> {
    PyCapsule::new_with_value(py, FFI_ArrowArrayStream::new(reader), STREAM)
}

/// Capsules with the schema and the columns of a batch.
pub(crate) fn batch<'py>(
    py: Python<'py>,
    batch: &RecordBatch,
) -> PyResult<(Bound<'py, PyCapsule>, Bound<'py, PyCapsule>)> {
    let columns = StructArray::from(batch.clone());
    let (array, _) = to_ffi(&columns.to_data()).map_err(|error| refused(&error))?;
    let array = PyCapsule::new_with_value(py, array, ARRAY)?;
    Ok((schema(py, batch.schema_ref())?, array))
}

/// What Arrow refuses, as an exception.
pub(crate) fn refused(error: &ArrowError) -> PyErr {
    DataError::new_err(error.to_string())
}
