//! Functions of `SQLite` whose one step can cost as much as thousands, and functions that read the
//! clock: here they pay for their work, and read a clock that is set.
//!
//! All but `LIKE` are then worked out by `SQLite` itself, on a connection that has no data.

use std::borrow::Cow;
use std::str::Chars;
use std::sync::{Arc, Mutex, PoisonError};

use rusqlite::ffi::ErrorCode;
use rusqlite::functions::{Context, FunctionFlags};
use rusqlite::limits::Limit;
use rusqlite::types::{ToSql, ToSqlOutput, Value, ValueRef};
use rusqlite::{Connection, Error, Result, params_from_iter};

use super::gauge::Gauge;
use super::memory::bare;
use super::numbers;

/// The error of functions whose work would cost more fuel than is left.
pub(super) const OUT_OF_OPS: &str = "the query costs more than its limit";
/// The error of functions that would read a clock that is not set.
pub(super) const CLOCK: &str = "the query depends on the clock";

/// A connection without data, opened when it is first needed.
type Helper = Arc<Mutex<Option<Connection>>>;

/// The longest value that a function may make, unless it was given longer ones.
const VALUE_BYTES_MAX: usize = 1 << 20;
/// Functions whose cost grows with the product of two arguments.
const PRODUCTS: [(&str, i32); 7] = [
    ("glob", 2),
    ("instr", 2),
    ("ltrim", 2),
    ("replace", 3),
    ("rtrim", 2),
    ("trim", 2),
    ("unhex", 2),
];
/// Functions that may read the clock; -1 for any number of arguments.
const CLOCKS: [(&str, i32); 7] = [
    ("date", -1),
    ("datetime", -1),
    ("julianday", -1),
    ("strftime", -1),
    ("time", -1),
    ("timediff", 2),
    ("unixepoch", -1),
];
/// Keywords that read the clock, and the function that says the same of a given time.
const KEYWORDS: [(&str, &str); 3] =
    [("current_date", "date"), ("current_time", "time"), ("current_timestamp", "datetime")];

/// Puts them all into `connection`. `now` is what the clock shows, as `SQLite` writes times.
pub(super) fn register(
    connection: &Connection,
    gauge: &Arc<Gauge>,
    now: Option<&str>,
) -> Result<()> {
    numbers::register(connection, flags())?;
    let helper = Helper::default();
    for arguments in [2, 3] {
        let gauge = Arc::clone(gauge);
        connection.create_scalar_function("like", arguments, flags(), move |context| {
            like(context, &gauge)
        })?;
    }
    for (name, arguments) in PRODUCTS {
        let (gauge, helper) = (Arc::clone(gauge), Arc::clone(&helper));
        connection.create_scalar_function(name, arguments, flags(), move |context| {
            pay_product(context, &gauge)?;
            let values = (0..context.len()).map(|at| owned(context.get_raw(at))).collect();
            ask(&helper, name, values)
        })?;
    }
    for (name, arguments) in CLOCKS {
        let (gauge, helper) = (Arc::clone(gauge), Arc::clone(&helper));
        let now = now.map(str::to_owned);
        connection.create_scalar_function(name, arguments, flags(), move |context| {
            pay(&gauge, 64)?;
            ask(&helper, name, times(context, name, now.as_deref())?)
        })?;
    }
    for (name, function) in KEYWORDS {
        let (helper, now) = (Arc::clone(&helper), now.map(str::to_owned));
        connection.create_scalar_function(name, 0, flags(), move |_| {
            ask(&helper, function, vec![clock(now.as_deref())?])
        })?;
    }
    Ok(())
}

/// Whether `SQLite` takes `text` for a point in time that does not depend on the clock.
pub(super) fn is_time(text: &str) -> bool {
    let read = |text: &str| -> Result<Option<String>> {
        bare()?.query_row("SELECT datetime(?)", [text], |row| row.get(0))
    };
    text.contains('-') && matches!(read(text), Ok(Some(_)))
}

fn flags() -> FunctionFlags {
    FunctionFlags::SQLITE_UTF8
        | FunctionFlags::SQLITE_DETERMINISTIC
        | FunctionFlags::SQLITE_INNOCUOUS
}

fn fail(message: &str) -> Error {
    Error::UserFunctionError(message.into())
}

fn pay(gauge: &Gauge, units: u64) -> Result<()> {
    if gauge.spend(units) { Ok(()) } else { Err(fail(OUT_OF_OPS)) }
}

fn pay_product(context: &Context<'_>, gauge: &Gauge) -> Result<()> {
    let length = |at: usize| (at < context.len()).then(|| bytes(context.get_raw(at)).len() as u64);
    let product = length(0).unwrap_or_default() * length(1).unwrap_or_default();
    pay(gauge, 64 + product / 4)
}

/// The bytes of a text or blob; numbers are short.
fn bytes(value: ValueRef<'_>) -> &[u8] {
    match value {
        ValueRef::Text(bytes) | ValueRef::Blob(bytes) => bytes,
        ValueRef::Null | ValueRef::Integer(_) | ValueRef::Real(_) => b"",
    }
}

fn clock(now: Option<&str>) -> Result<Value> {
    now.map(|now| Value::Text(now.to_owned())).ok_or_else(|| fail(CLOCK))
}

/// The arguments of a function of time, with the clock put in where it would be read.
fn times(context: &Context<'_>, name: &str, now: Option<&str>) -> Result<Vec<Value>> {
    let first = usize::from(name == "strftime");
    let moments = if name == "timediff" { 2 } else { 1 };
    let mut values = Vec::with_capacity(context.len() + 1);
    for at in 0..context.len() {
        let value = context.get_raw(at);
        let word = String::from_utf8_lossy(bytes(value)).to_ascii_lowercase();
        let is_moment = (first..first + moments).contains(&at);
        match word.as_str() {
            // The zone of the machine is as much its own as its clock.
            "localtime" | "utc" if at > first => return Err(fail(CLOCK)),
            "now" if is_moment => values.push(clock(now)?),
            "subsec" | "subsecond" if is_moment => {
                values.push(clock(now)?);
                values.push(owned(value));
            }
            _ => values.push(owned(value)),
        }
    }
    if context.len() == first {
        values.push(clock(now)?);
    }
    Ok(values)
}

/// Lets `SQLite` itself work out the function.
fn ask(helper: &Helper, name: &str, values: Vec<Value>) -> Result<Value> {
    let mut helper = helper.lock().unwrap_or_else(PoisonError::into_inner);
    let connection = match &mut *helper {
        Some(connection) => connection,
        empty => empty.insert(bare()?),
    };
    // It stops there on the way, and does not see only at the end that a value is too long.
    let given: usize = values.iter().map(length).sum();
    let most = i32::try_from(given.max(VALUE_BYTES_MAX)).unwrap_or(i32::MAX);
    connection.set_limit(Limit::SQLITE_LIMIT_LENGTH, most)?;
    let marks = vec!["?"; values.len()].join(",");
    let mut statement = connection.prepare_cached(&format!("SELECT {name}({marks})"))?;
    let made = statement.query_row(params_from_iter(values), |row| row.get_ref(0).map(owned));
    made.map_err(|error| match error {
        // With words of its own it would be any error of a function.
        Error::SqliteFailure(error, _) if error.code == ErrorCode::TooBig => {
            Error::SqliteFailure(error, None)
        }
        error => error,
    })
}

fn length(value: &Value) -> usize {
    match value {
        Value::Text(text) => text.len(),
        Value::Blob(blob) => blob.len(),
        Value::Null | Value::Integer(_) | Value::Real(_) => 0,
    }
}

/// A copy; text that is not UTF-8 is mended.
fn owned(value: ValueRef<'_>) -> Value {
    match value {
        ValueRef::Null => Value::Null,
        ValueRef::Integer(number) => Value::Integer(number),
        ValueRef::Real(number) => Value::Real(number),
        ValueRef::Text(bytes) => Value::Text(String::from_utf8_lossy(bytes).into_owned()),
        ValueRef::Blob(bytes) => Value::Blob(bytes.to_vec()),
    }
}

/// `text LIKE pattern ESCAPE escape`, as `SQLite` has it: without regard to the case of ASCII.
fn like(context: &Context<'_>, gauge: &Gauge) -> Result<Option<bool>> {
    let is_null = |at: usize| context.get_raw(at) == ValueRef::Null;
    if (0..context.len()).any(is_null) {
        return Ok(None);
    }
    // SQLite keeps what was made of an argument for as long as the argument stays the same.
    let pattern: Arc<Pattern> = if context.len() == 2 {
        context.get_or_create_aux(0, |pattern: ValueRef<'_>| -> Result<Pattern> {
            Ok(Pattern::new(&text_of(pattern)?, None))
        })?
    } else {
        let escape = text_of(context.get_raw(2))?;
        let mut characters = escape.chars();
        let (Some(escape), None) = (characters.next(), characters.next()) else {
            return Err(fail("ESCAPE expression must be a single character"));
        };
        Arc::new(Pattern::new(&text_of(context.get_raw(0))?, Some(escape)))
    };
    let text = text_of(context.get_raw(1))?;
    pay(gauge, 8 + (pattern.bytes + text.len()) as u64 / 4)?;
    match &pattern.parts {
        None => Ok(Some(false)),
        Some(parts) => matches(parts, &text, gauge).map(Some),
    }
}

/// A value as text, up to its first NUL, where `SQLite` stops reading too.
fn text_of(value: ValueRef<'_>) -> Result<Cow<'_, str>> {
    match value {
        ValueRef::Null => Ok(Cow::Borrowed("")),
        ValueRef::Text(bytes) | ValueRef::Blob(bytes) => {
            let bytes = bytes.split(|byte| *byte == 0).next().unwrap_or_default();
            Ok(String::from_utf8_lossy(bytes))
        }
        ValueRef::Integer(number) => Ok(Cow::Owned(number.to_string())),
        number @ ValueRef::Real(_) => real_text(number).map(Cow::Owned),
    }
}

/// `SQLite` has a way of its own to write a real number.
fn real_text(number: ValueRef<'_>) -> Result<String> {
    struct Raw<'a>(ValueRef<'a>);
    impl ToSql for Raw<'_> {
        fn to_sql(&self) -> Result<ToSqlOutput<'_>> {
            Ok(ToSqlOutput::Borrowed(self.0))
        }
    }
    let connection = bare()?;
    connection.query_row("SELECT CAST(? AS TEXT)", [Raw(number)], |row| row.get(0))
}

/// A pattern of `LIKE`, taken apart.
struct Pattern {
    /// `None` where it ends in an escape, which nothing matches.
    parts: Option<Vec<Part>>,
    bytes: usize,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Part {
    Any,
    One,
    Only(char),
}

impl Pattern {
    fn new(pattern: &str, escape: Option<char>) -> Self {
        Self { parts: parts(pattern, escape), bytes: pattern.len() }
    }
}

fn parts(pattern: &str, escape: Option<char>) -> Option<Vec<Part>> {
    let mut parts = Vec::new();
    let mut characters = pattern.chars();
    while let Some(c) = characters.next() {
        parts.push(match c {
            _ if Some(c) == escape => Part::Only(characters.next()?.to_ascii_lowercase()),
            '%' => Part::Any,
            '_' => Part::One,
            _ => Part::Only(c.to_ascii_lowercase()),
        });
    }
    Some(parts)
}

/// Takes as little as possible for each `%`, and more when the rest does not fit.
fn matches(parts: &[Part], text: &str, gauge: &Gauge) -> Result<bool> {
    let mut rest = text.chars();
    let mut part = 0;
    // Where the last `%` stands, and what was left of the text there.
    let mut retry: Option<(usize, Chars<'_>)> = None;
    let mut steps = 0_u64;
    loop {
        steps += 1;
        if steps.is_multiple_of(256) {
            pay(gauge, 256)?;
        }
        let ahead = rest.clone();
        let fits = match (parts.get(part), rest.next()) {
            (Some(Part::Any), _) => {
                retry = Some((part, ahead.clone()));
                (rest, part) = (ahead, part + 1);
                continue;
            }
            (None, None) => return Ok(true),
            (Some(Part::One), Some(_)) => true,
            (Some(Part::Only(wanted)), Some(c)) => c.to_ascii_lowercase() == *wanted,
            // Nothing is left to take: more for the last `%` would not help.
            (Some(Part::One | Part::Only(_)), None) => return Ok(false),
            (None, Some(_)) => false,
        };
        match &mut retry {
            _ if fits => part += 1,
            Some((any, from)) => {
                from.next();
                (rest, part) = (from.clone(), *any + 1);
            }
            None => return Ok(false),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn connections(now: Option<&str>) -> (Connection, Connection) {
        let (ours, theirs) = (bare().unwrap(), bare().unwrap());
        let gauge = Arc::new(Gauge::default());
        gauge.fill(1 << 20);
        register(&ours, &gauge, now).unwrap();
        (ours, theirs)
    }

    fn value(connection: &Connection, sql: &str) -> Result<Value> {
        connection.query_row(sql, [], |row| row.get(0))
    }

    #[test]
    fn functions_say_what_sqlite_says() {
        let (ours, theirs) = connections(None);
        for sql in [
            "SELECT 'Straße' LIKE 'str%E'",
            "SELECT 'É' LIKE 'é'",
            "SELECT 1.50 LIKE '1.5'",
            "SELECT 12 LIKE '_2'",
            "SELECT NULL LIKE '%'",
            "SELECT 'a%b' LIKE 'a!%b' ESCAPE '!'",
            "SELECT 'a' LIKE 'a!' ESCAPE '!'",
            "SELECT x'4142' LIKE 'ab'",
            "SELECT 'ab' GLOB '[a-c]?'",
            "SELECT trim('xxaxyx', 'xy')",
            "SELECT replace('aaa', 'a', 'bc')",
            "SELECT instr('añb', 'b')",
            "SELECT date('2024-02-31')",
            "SELECT strftime('%Y-%j', '2024-03-01', '+1 month')",
            "SELECT julianday('2000-01-01')",
            "SELECT unixepoch('2000-01-01')",
            "SELECT date(NULL)",
            "SELECT timediff('2024-01-01', '2023-01-01')",
            "SELECT date(1092941466, 'unixepoch')",
        ] {
            assert_eq!(value(&ours, sql).unwrap(), value(&theirs, sql).unwrap(), "{sql}");
        }
    }

    #[test]
    fn the_clock_is_set_or_not_read() {
        let (set, _) = connections(Some("2024-05-06 07:08:09"));
        for (sql, wanted) in [
            ("SELECT date('now')", "2024-05-06"),
            ("SELECT date()", "2024-05-06"),
            ("SELECT datetime('NOW', '+1 day')", "2024-05-07 07:08:09"),
            ("SELECT strftime('%Y')", "2024"),
            ("SELECT strftime('%Y', CURRENT_TIMESTAMP)", "2024"),
            ("SELECT CURRENT_DATE", "2024-05-06"),
            ("SELECT CURRENT_TIME", "07:08:09"),
        ] {
            assert_eq!(value(&set, sql).unwrap(), Value::Text(wanted.into()), "{sql}");
        }
        let (unset, _) = connections(None);
        for sql in [
            "SELECT date('now')",
            "SELECT date('n' || 'ow')",
            "SELECT time()",
            "SELECT strftime('%s')",
            "SELECT unixepoch('subsec')",
            "SELECT CURRENT_TIMESTAMP",
            "SELECT datetime('2024-01-01', 'localtime')",
            "SELECT timediff('2024-01-01', 'now')",
        ] {
            assert!(value(&unset, sql).unwrap_err().to_string().contains(CLOCK), "{sql}");
        }
    }

    #[test]
    fn work_that_grows_with_a_product_is_paid() {
        let (ours, _) = connections(None);
        let bomb = "SELECT printf('%.*c', 9999, 'a') LIKE '%' || printf('%.*c', 4999, 'a') || 'b'";
        assert!(value(&ours, bomb).unwrap_err().to_string().contains(OUT_OF_OPS));
        let bomb = "SELECT trim(printf('%.*c', 9999, 'a'), printf('%.*c', 9999, 'b'))";
        assert!(value(&ours, bomb).unwrap_err().to_string().contains(OUT_OF_OPS));
    }

    proptest! {
        #[test]
        fn like_is_like_sqlite(
            pattern in "[aAbé%_!]{0,8}",
            text in "[aAbBéÉ%_!]{0,10}",
            escape in proptest::option::of("[!%_]"),
        ) {
            let (ours, theirs) = connections(None);
            let ask = |connection: &Connection| -> i64 {
                match &escape {
                    None => connection
                        .query_row("SELECT ?1 LIKE ?2", (&text, &pattern), |row| row.get(0)),
                    Some(escape) => {
                        let values = (&text, &pattern, escape);
                        let sql = "SELECT ?1 LIKE ?2 ESCAPE ?3";
                        connection.query_row(sql, values, |row| row.get(0))
                    }
                }
                .unwrap()
            };
            prop_assert_eq!(ask(&ours), ask(&theirs));
        }
    }
}
