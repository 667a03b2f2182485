//! The cells of a Parquet row as JSON: the same values that the row would have as a line.
//!
//! Times are RFC 3339 text, decimals are text with the digits that they have, bytes are text where
//! they are UTF-8, and a map is an object.

use std::cell::Cell;
use std::fmt::Display;

use arrow_array::cast::AsArray as _;
use arrow_array::types::{self, ArrowPrimitiveType};
use arrow_array::{Array, RecordBatch, StructArray};
use arrow_schema::{DataType, TimeUnit};
use chrono::{DateTime, NaiveTime, SecondsFormat};
use serde_json::{Map, Number, Value};

use super::error::{Defect, escape};
use super::json::OBJECT_VALUES;
use super::limits::ReadLimits;

/// Reads row `at` of a batch.
pub(super) fn row(
    batch: &RecordBatch,
    at: usize,
    limits: &ReadLimits,
) -> Result<Map<String, Value>, Defect> {
    let reader = Reader {
        values_left: Cell::new(limits.row_values_max),
        bytes_left: Cell::new(limits.row_bytes_max),
    };
    let mut row = Map::new();
    for (field, column) in batch.schema_ref().fields().iter().zip(batch.columns()) {
        let value = reader.value(column, at).map_err(|defect| defect.at_field(field.name()))?;
        insert(&mut row, field.name(), value)?;
    }
    Ok(row)
}

/// Whether columns of a type can be read.
pub(super) fn readable(data_type: &DataType) -> bool {
    use DataType::{
        BinaryView, Boolean, Date32, Decimal128, Decimal256, FixedSizeBinary, Float16, Float32,
        Float64, Int8, Int16, Int32, Int64, List, Map, Null, Struct, Time32, Time64, Timestamp,
        UInt8, UInt16, UInt32, UInt64, Utf8View,
    };
    match data_type {
        Struct(fields) => fields.iter().all(|field| readable(field.data_type())),
        List(field) | Map(field, _) => readable(field.data_type()),
        Null | Boolean | Int8 | Int16 | Int32 | Int64 | UInt8 | UInt16 | UInt32 | UInt64
        | Float16 | Float32 | Float64 | Utf8View | BinaryView | FixedSizeBinary(_) | Date32
        | Time32(_) | Time64(_) | Timestamp(..) | Decimal128(..) | Decimal256(..) => true,
        _ => false,
    }
}

/// What reading a row has used up.
struct Reader {
    values_left: Cell<usize>,
    bytes_left: Cell<usize>,
}

impl Reader {
    fn pay(&self, values: usize) -> Result<(), Defect> {
        let left = self.values_left.get().checked_sub(values);
        self.values_left.set(left.ok_or_else(|| Defect::new("more values than a row may have"))?);
        Ok(())
    }

    fn text(&self, text: &str) -> Result<Value, Defect> {
        let left = self.bytes_left.get().checked_sub(text.len());
        self.bytes_left.set(left.ok_or_else(|| Defect::new("more bytes than a row may have"))?);
        Ok(Value::String(text.to_owned()))
    }

    fn bytes(&self, bytes: &[u8]) -> Result<Value, Defect> {
        match std::str::from_utf8(bytes) {
            Ok(text) => self.text(text),
            Err(_) => Err(Defect::new("bytes that are not UTF-8")),
        }
    }

    fn value(&self, array: &dyn Array, at: usize) -> Result<Value, Defect> {
        self.pay(1)?;
        if array.is_null(at) {
            return Ok(Value::Null);
        }
        match array.data_type() {
            DataType::Null => Ok(Value::Null),
            DataType::Boolean => Ok(Value::Bool(array.as_boolean().value(at))),
            DataType::Utf8View => self.text(array.as_string_view().value(at)),
            DataType::BinaryView => self.bytes(array.as_binary_view().value(at)),
            DataType::FixedSizeBinary(_) => self.bytes(array.as_fixed_size_binary().value(at)),
            DataType::List(_) => self.list(&array.as_list::<i32>().value(at)),
            DataType::Map(..) => self.map(&array.as_map().value(at)),
            DataType::Struct(_) => self.object(array.as_struct(), at),
            _ => number(array, at).unwrap_or_else(|| moment(array, at)),
        }
    }

    fn list(&self, values: &dyn Array) -> Result<Value, Defect> {
        (0..values.len())
            .map(|at| self.value(values, at))
            .collect::<Result<_, _>>()
            .map(Value::Array)
    }

    fn object(&self, array: &StructArray, at: usize) -> Result<Value, Defect> {
        self.pay(OBJECT_VALUES)?;
        let mut object = Map::new();
        for (field, column) in array.fields().iter().zip(array.columns()) {
            insert(&mut object, field.name(), self.value(column, at)?)?;
        }
        Ok(Value::Object(object))
    }

    fn map(&self, entries: &StructArray) -> Result<Value, Defect> {
        self.pay(OBJECT_VALUES)?;
        let mut object = Map::new();
        let [keys, values] = entries.columns() else {
            return Err(Defect::new("a map without keys and values"));
        };
        for at in 0..entries.len() {
            let key = match self.value(keys, at)? {
                Value::String(key) => key,
                other => other.to_string(),
            };
            insert(&mut object, &key, self.value(values, at)?)?;
        }
        Ok(Value::Object(object))
    }
}

/// A null member is as good as none.
fn insert(object: &mut Map<String, Value>, key: &str, value: Value) -> Result<(), Defect> {
    if object.contains_key(key) {
        return Err(Defect::new(format!("duplicate key \"{}\"", escape(key))));
    }
    if !value.is_null() {
        object.insert(key.to_owned(), value);
    }
    Ok(())
}

/// Reads a number; `None` for columns of other types.
fn number(array: &dyn Array, at: usize) -> Option<Result<Value, Defect>> {
    Some(Ok(match array.data_type() {
        DataType::Int8 => native::<types::Int8Type>(array, at).into(),
        DataType::Int16 => native::<types::Int16Type>(array, at).into(),
        DataType::Int32 => native::<types::Int32Type>(array, at).into(),
        DataType::Int64 => native::<types::Int64Type>(array, at).into(),
        DataType::UInt8 => native::<types::UInt8Type>(array, at).into(),
        DataType::UInt16 => native::<types::UInt16Type>(array, at).into(),
        DataType::UInt32 => native::<types::UInt32Type>(array, at).into(),
        DataType::UInt64 => native::<types::UInt64Type>(array, at).into(),
        DataType::Float16 => return Some(float(native::<types::Float16Type>(array, at).to_f64())),
        DataType::Float32 => return Some(float(native::<types::Float32Type>(array, at).into())),
        DataType::Float64 => return Some(float(native::<types::Float64Type>(array, at))),
        DataType::Decimal128(..) => {
            array.as_primitive::<types::Decimal128Type>().value_as_string(at).into()
        }
        DataType::Decimal256(..) => {
            array.as_primitive::<types::Decimal256Type>().value_as_string(at).into()
        }
        _ => return None,
    }))
}

fn native<T: ArrowPrimitiveType>(array: &dyn Array, at: usize) -> T::Native {
    array.as_primitive::<T>().value(at)
}

fn float(value: f64) -> Result<Value, Defect> {
    let number = Number::from_f64(value).map(Value::Number);
    number.ok_or_else(|| Defect::new(format!("{value} is not a JSON number")))
}

/// Reads a date, a time or both.
fn moment(array: &dyn Array, at: usize) -> Result<Value, Defect> {
    let text = match array.data_type() {
        DataType::Date32 => {
            let days = i64::from(native::<types::Date32Type>(array, at));
            DateTime::from_timestamp(days * 86_400, 0).map(|day| day.format("%Y-%m-%d").to_string())
        }
        DataType::Time32(TimeUnit::Second) => {
            clock(native::<types::Time32SecondType>(array, at).into(), 1)
        }
        DataType::Time32(_) => {
            clock(native::<types::Time32MillisecondType>(array, at).into(), 1_000)
        }
        DataType::Time64(TimeUnit::Microsecond) => {
            clock(native::<types::Time64MicrosecondType>(array, at), 1_000_000)
        }
        DataType::Time64(_) => {
            clock(native::<types::Time64NanosecondType>(array, at), 1_000_000_000)
        }
        DataType::Timestamp(unit, zone) => timestamp(array, at, *unit, zone.is_some()),
        other => return Err(Defect::new(format!("a column of type {}", escape(&shown(other))))),
    };
    text.map(Value::String).ok_or_else(|| Defect::new("a time beyond the calendar"))
}

fn shown(value: impl Display) -> String {
    value.to_string()
}

/// Times with a zone are written in UTC, times without one without a zone.
fn timestamp(array: &dyn Array, at: usize, unit: TimeUnit, zoned: bool) -> Option<String> {
    let (value, per_second) = match unit {
        TimeUnit::Second => (native::<types::TimestampSecondType>(array, at), 1),
        TimeUnit::Millisecond => (native::<types::TimestampMillisecondType>(array, at), 1_000),
        TimeUnit::Microsecond => (native::<types::TimestampMicrosecondType>(array, at), 1_000_000),
        TimeUnit::Nanosecond => {
            (native::<types::TimestampNanosecondType>(array, at), 1_000_000_000)
        }
    };
    let (seconds, nanos) = split(value, per_second)?;
    let moment = DateTime::from_timestamp(seconds, nanos)?;
    Some(if zoned {
        moment.to_rfc3339_opts(SecondsFormat::AutoSi, true)
    } else {
        moment.format("%Y-%m-%dT%H:%M:%S%.f").to_string()
    })
}

fn clock(value: i64, per_second: i64) -> Option<String> {
    let (seconds, nanos) = split(value, per_second)?;
    let time = NaiveTime::from_num_seconds_from_midnight_opt(u32::try_from(seconds).ok()?, nanos)?;
    Some(time.format("%H:%M:%S%.f").to_string())
}

fn split(value: i64, per_second: i64) -> Option<(i64, u32)> {
    let nanos = value.rem_euclid(per_second) * (1_000_000_000 / per_second);
    Some((value.div_euclid(per_second), u32::try_from(nanos).ok()?))
}
