//! Numbers and times out of columns.

use std::fmt::Display;

use arrow_array::Array;
use arrow_array::cast::AsArray as _;
use arrow_array::types::{self, ArrowPrimitiveType};
use arrow_schema::{DataType, TimeUnit};
use assay_verifiers::code::Code;
use chrono::{DateTime, NaiveTime, SecondsFormat};
use serde_json::{Number, Value};

use super::error::{Defect, escape};

/// Whether columns of a type hold numbers or times that can be read.
pub(super) fn readable(data_type: &DataType) -> bool {
    use DataType::{
        Date32, Date64, Decimal32, Decimal64, Decimal128, Decimal256, Float16, Float32, Float64,
        Int8, Int16, Int32, Int64, Time32, Time64, Timestamp, UInt8, UInt16, UInt32, UInt64,
    };
    matches!(
        data_type,
        Int8 | Int16
            | Int32
            | Int64
            | UInt8
            | UInt16
            | UInt32
            | UInt64
            | Float16
            | Float32
            | Float64
            | Date32
            | Date64
            | Time32(_)
            | Time64(_)
            | Timestamp(..)
            | Decimal32(..)
            | Decimal64(..)
            | Decimal128(..)
            | Decimal256(..)
    )
}

/// An integer that says where a value lies.
pub(super) fn index(array: &dyn Array, at: usize) -> Option<usize> {
    match number(array, at)?.ok()? {
        Value::Number(number) => usize::try_from(number.as_u64()?).ok(),
        _ => None,
    }
}

/// Reads a number or a time.
pub(super) fn scalar(array: &dyn Array, at: usize) -> Result<Value, Defect> {
    number(array, at).unwrap_or_else(|| moment(array, at))
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
        DataType::Decimal32(..) => {
            array.as_primitive::<types::Decimal32Type>().value_as_string(at).into()
        }
        DataType::Decimal64(..) => {
            array.as_primitive::<types::Decimal64Type>().value_as_string(at).into()
        }
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

/// A float. One that is not a number is what pandas writes in the place of a value that is missing.
fn float(value: f64) -> Result<Value, Defect> {
    if value.is_nan() {
        return Ok(Value::Null);
    }
    let number = Number::from_f64(value).map(Value::Number);
    number.ok_or_else(|| Defect::new(Code::WrongType, format!("{value} is not a JSON number")))
}

/// Reads a date, a time or both.
fn moment(array: &dyn Array, at: usize) -> Result<Value, Defect> {
    let text = match array.data_type() {
        DataType::Date32 => day(i64::from(native::<types::Date32Type>(array, at)) * 86_400),
        DataType::Date64 => day(native::<types::Date64Type>(array, at).div_euclid(1_000)),
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
        other => {
            return Err(Defect::new(
                Code::WrongType,
                format!("a column of type {}", escape(&shown(other))),
            ));
        }
    };
    text.map(Value::String)
        .ok_or_else(|| Defect::new(Code::WrongType, "a time beyond the calendar"))
}

fn day(seconds: i64) -> Option<String> {
    DateTime::from_timestamp(seconds, 0).map(|day| day.format("%Y-%m-%d").to_string())
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
