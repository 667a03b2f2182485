//! The mathematical functions of `SQLite`, which builds of it have or lack.

use rusqlite::functions::{Context, FunctionFlags};
use rusqlite::types::{Value, ValueRef};
use rusqlite::{Connection, Result};

type One = fn(f64) -> f64;
type Two = fn(f64, f64) -> f64;

/// Functions of one number.
const ONE: [(&str, One); 20] = [
    ("acos", f64::acos),
    ("acosh", f64::acosh),
    ("asin", f64::asin),
    ("asinh", f64::asinh),
    ("atan", f64::atan),
    ("atanh", f64::atanh),
    ("cos", f64::cos),
    ("cosh", f64::cosh),
    ("degrees", f64::to_degrees),
    ("exp", f64::exp),
    ("ln", |number| logarithm(number, f64::ln)),
    ("log", |number| logarithm(number, f64::log10)),
    ("log10", |number| logarithm(number, f64::log10)),
    ("log2", |number| logarithm(number, f64::log2)),
    ("radians", f64::to_radians),
    ("sin", f64::sin),
    ("sinh", f64::sinh),
    ("sqrt", f64::sqrt),
    ("tan", f64::tan),
    ("tanh", f64::tanh),
];
/// Functions of two.
const TWO: [(&str, Two); 5] = [
    ("atan2", f64::atan2),
    ("log", |base, number| logarithm(number, f64::ln) / positive(logarithm(base, f64::ln))),
    ("mod", |number, by| number % by),
    ("pow", f64::powf),
    ("power", f64::powf),
];
/// Functions that leave an integer as it is.
const WHOLE: [(&str, One); 4] =
    [("ceil", f64::ceil), ("ceiling", f64::ceil), ("floor", f64::floor), ("trunc", f64::trunc)];

/// Puts them into `connection`. What has no value, as the root of -1, is NULL.
pub(super) fn register(connection: &Connection, flags: FunctionFlags) -> Result<()> {
    connection.create_scalar_function("pi", 0, flags, |_| Ok(std::f64::consts::PI))?;
    for (name, function) in ONE {
        connection.create_scalar_function(name, 1, flags, move |context| {
            Ok(real(context, 0).map(function))
        })?;
    }
    for (name, function) in TWO {
        connection.create_scalar_function(name, 2, flags, move |context| {
            Ok(real(context, 0).and_then(|one| Some(function(one, real(context, 1)?))))
        })?;
    }
    for (name, function) in WHOLE {
        connection.create_scalar_function(name, 1, flags, move |context| {
            Ok(match number(context.get_raw(0)) {
                Value::Real(number) => Value::Real(function(number)),
                other => other,
            })
        })?;
    }
    Ok(())
}

fn logarithm(number: f64, function: One) -> f64 {
    function(positive(number))
}

fn positive(number: f64) -> f64 {
    if number > 0.0 { number } else { f64::NAN }
}

#[expect(clippy::cast_precision_loss, reason = "SQLite rounds large integers too")]
fn real(context: &Context<'_>, at: usize) -> Option<f64> {
    match number(context.get_raw(at)) {
        Value::Integer(number) => Some(number as f64),
        Value::Real(number) => Some(number),
        _ => None,
    }
}

/// The number that a value is, or that its text says; else NULL.
fn number(value: ValueRef<'_>) -> Value {
    match value {
        ValueRef::Integer(number) => Value::Integer(number),
        ValueRef::Real(number) => Value::Real(number),
        ValueRef::Text(bytes) => {
            let text = std::str::from_utf8(bytes).unwrap_or_default().trim_ascii();
            let is_number = text.bytes().all(|byte| byte.is_ascii_digit() || b"+-.eE".contains(&byte));
            let real = || text.parse().ok().filter(|_| is_number).map(Value::Real);
            text.parse().map(Value::Integer).ok().or_else(real).unwrap_or(Value::Null)
        }
        ValueRef::Null | ValueRef::Blob(_) => Value::Null,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What `SQLite` 3.40.1 says, built with these functions.
    #[test]
    fn numbers_are_what_sqlite_says() {
        let connection = Connection::open_in_memory().unwrap();
        register(&connection, FunctionFlags::SQLITE_UTF8).unwrap();
        for (sql, wanted) in [
            ("sqrt(2.25)", "1.5"),
            ("sqrt('4')", "2.0"),
            ("sqrt(' 4.0 ')", "2.0"),
            ("sqrt('inf')", "NULL"),
            ("sqrt('4x')", "NULL"),
            ("sqrt(-1)", "NULL"),
            ("sqrt(NULL)", "NULL"),
            ("sqrt(x'34')", "NULL"),
            ("pow(2, 10)", "1024.0"),
            ("power(2, -1)", "0.5"),
            ("pow(2, 'x')", "NULL"),
            ("mod(7, 4)", "3.0"),
            ("mod(-7, 4)", "-3.0"),
            ("mod(1, 0)", "NULL"),
            ("ceil(1.2)", "2.0"),
            ("ceiling(-1.2)", "-1.0"),
            ("floor(7)", "7"),
            ("floor('7')", "7"),
            ("floor(-1.5)", "-2.0"),
            ("trunc(-1.5)", "-1.0"),
            ("trunc('a')", "NULL"),
            ("log(100)", "2.0"),
            ("log10(100)", "2.0"),
            ("log2(8)", "3.0"),
            ("log(2, 8)", "3.0"),
            ("log(1, 8)", "NULL"),
            ("log(0.5, 8)", "NULL"),
            ("log(2, 0)", "NULL"),
            ("ln(0)", "NULL"),
            ("ln(1)", "0.0"),
            ("exp(0)", "1.0"),
            ("round(pi(), 6)", "3.141593"),
            ("round(degrees(pi()), 9)", "180.0"),
            ("atan2(0, 1)", "0.0"),
            ("acos(2)", "NULL"),
        ] {
            let said: String =
                connection.query_row(&format!("SELECT quote({sql})"), [], |row| row.get(0)).unwrap();
            assert_eq!(said, wanted, "{sql}");
        }
    }
}
