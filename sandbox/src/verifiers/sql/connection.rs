//! A connection that can only read one database, and what a query does in it.

use std::collections::BTreeSet;
use std::sync::Arc;

use rusqlite::ffi::ErrorCode;
use rusqlite::limits::Limit;
use rusqlite::{Connection, Error, StatementStatus};

use super::functions::{self, CLOCK};
use super::gauge::{Gauge, OPS_PER_LOOK, UNITS_PER_OP};
use super::growth::{self, Columns, NAMES_MAX};
use super::guard::{self, QUERY_BYTES_MAX, Reads, SharedSeen, guard};
use super::memory::{self, bare};
use super::table::{Cell, Table};

/// The longest value, and what a step of the machine costs while values may be that long. A step
/// can copy a value or keep one, so its price grows with their length; a query starts among short
/// values and is started anew among longer ones when it makes one.
const TIERS: [(i32, u64); 7] = [
    (1 << 8, 1),
    (1 << 10, 2),
    (1 << 12, 8),
    (1 << 14, 32),
    (1 << 16, 128),
    (1 << 18, 512),
    (1 << 20, 2048),
];
/// What a query may hold in memory, its rows apart.
const MEMORY_BYTES_MAX: i64 = 64 << 20;
/// What the rows of one query may take up.
const RESULT_BYTES_MAX: usize = 1 << 24;

/// How far a query may go.
#[derive(Clone, Copy, Debug)]
pub(super) struct QueryLimits {
    /// Units of fuel.
    pub(super) units: u64,
    pub(super) rows_max: usize,
}

/// What came of a query.
#[derive(Debug)]
pub(super) struct QueryRun {
    /// Its rows, or why there are none.
    pub(super) result: Result<Table, QueryError>,
    /// Whether `SQLite` took it for a query that it can run.
    pub(super) compiled: bool,
    /// Steps of the virtual machine.
    pub(super) ops: u64,
    /// Units of fuel.
    pub(super) units: u64,
    /// The tables and columns that it reads.
    pub(super) reads: Reads,
}

/// Why a query has no result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct QueryError {
    /// A fixed word.
    pub(super) reason: &'static str,
    /// The message of `SQLite`, or what was refused.
    pub(super) why: String,
}

impl QueryError {
    fn new(reason: &'static str, why: impl Into<String>) -> Self {
        Self { reason, why: why.into() }
    }
}

/// A connection to a copy of one database. It is used again: nothing that a query can do is left
/// behind in it.
pub(super) struct QueryConnection {
    connection: Connection,
    gauge: Arc<Gauge>,
    seen: SharedSeen,
    /// What the columns of views stand for.
    columns: Columns,
}

impl QueryConnection {
    /// Opens a copy of the database whose bytes are `image`.
    pub(super) fn open(image: &[u8], now: Option<&str>) -> rusqlite::Result<Self> {
        let mut connection = bare()?;
        connection.deserialize_read_exact("main", image, image.len(), true)?;
        let (gauge, seen) = (Arc::new(Gauge::default()), SharedSeen::default());
        functions::register(&connection, &gauge, now)?;
        let columns = columns(&connection)?;
        let tables = tables(&connection)?;
        guard(&mut connection, tables, Arc::clone(&seen))?;
        let looked = Arc::clone(&gauge);
        connection.progress_handler(
            OPS_PER_LOOK,
            Some(move || !looked.spend_ops(OPS_PER_LOOK.unsigned_abs().into())),
        )?;
        Ok(Self { connection, gauge, seen, columns })
    }

    /// Runs one query.
    pub(super) fn run(&self, sql: &str, limits: QueryLimits) -> QueryRun {
        self.gauge.fill(limits.units);
        let mut ran = memory::within(MEMORY_BYTES_MAX, || self.attempts(sql, limits));
        let seen = guard::take(&self.seen);
        if let (Err(stop), Some((reason, what))) = (&mut ran.result, seen.refused) {
            *stop = QueryError::new(reason, what);
        }
        QueryRun { units: self.gauge.spent(), reads: seen.reads, ..ran }
    }

    fn attempts(&self, sql: &str, limits: QueryLimits) -> QueryRun {
        let mut ran = stopped("value-too-long", "values are longer than 1 MiB");
        if let Err(stop) = plausible(sql, &self.columns) {
            return QueryRun { result: Err(stop), ..ran };
        }
        for (length, weight) in TIERS {
            self.gauge.weigh(weight);
            // What was seen among shorter values would be seen again.
            guard::take(&self.seen);
            ran = match self.connection.set_limit(Limit::SQLITE_LIMIT_LENGTH, length) {
                Ok(_) => self.attempt(sql, limits),
                Err(error) => stopped("error", &error.to_string()),
            };
            if !matches!(&ran.result, Err(stop) if stop.reason == "value-too-long") {
                break;
            }
        }
        ran
    }

    fn attempt(&self, sql: &str, limits: QueryLimits) -> QueryRun {
        let mut statement = match self.connection.prepare(sql) {
            Ok(statement) => statement,
            Err(error) => return QueryRun { result: Err(self.stop(&error)), ..stopped("", "") },
        };
        if !statement.readonly() || statement.is_explain() != 0 || statement.column_count() == 0 {
            return stopped("not-read-only", "not a query");
        }
        let result = self.rows(&mut statement, limits);
        let ops = u64::from(statement.get_status(StatementStatus::VmStep).unsigned_abs());
        // The hook has paid for whole rounds.
        let is_paid = self.gauge.spend_ops(ops % u64::from(OPS_PER_LOOK.unsigned_abs()));
        let result = if is_paid { result } else { result.and_then(|_| Err(out_of_ops())) };
        QueryRun { result, compiled: true, ops, units: 0, reads: Reads::new() }
    }

    fn rows(
        &self,
        statement: &mut rusqlite::Statement<'_>,
        limits: QueryLimits,
    ) -> Result<Table, QueryError> {
        let mut table = Table { columns: statement.column_count(), cells: Vec::new() };
        let mut bytes = 0;
        let mut rows = statement.raw_query();
        while let Some(row) = rows.next().map_err(|error| self.stop(&error))? {
            for column in 0..table.columns {
                let cell = Cell::new(row.get_ref(column).map_err(|error| self.stop(&error))?);
                bytes += cell.size();
                table.cells.push(cell);
            }
            if table.rows() > limits.rows_max {
                return Err(QueryError::new(
                    "too-many-rows",
                    format!("over {} rows", limits.rows_max),
                ));
            }
            if bytes > RESULT_BYTES_MAX {
                return Err(QueryError::new(
                    "too-many-bytes",
                    format!("over {RESULT_BYTES_MAX} bytes"),
                ));
            }
            if !self.gauge.spend(4 * table.columns as u64) {
                return Err(out_of_ops());
            }
        }
        Ok(table)
    }

    fn stop(&self, error: &Error) -> QueryError {
        if self.gauge.is_empty() {
            return out_of_ops();
        }
        let message = match error {
            Error::SqliteFailure(_, Some(message)) => message.clone(),
            Error::SqlInputError { msg, .. } => msg.clone(),
            other => other.to_string(),
        };
        QueryError::new(reason(error, &message), message)
    }
}

/// The names of the tables and views, in lower case. To read them is to parse the schema, which
/// may hold longer texts than a query may make.
fn tables(connection: &Connection) -> rusqlite::Result<BTreeSet<String>> {
    let mut statement =
        connection.prepare("SELECT name FROM sqlite_schema WHERE type IN ('table', 'view')")?;
    let names = statement.query_map([], |row| row.get::<_, String>(0))?;
    names.map(|name| name.map(|name| name.to_lowercase())).collect()
}

fn stopped(reason: &'static str, why: &str) -> QueryRun {
    let result = Err(QueryError::new(reason, why));
    QueryRun { result, compiled: false, ops: 0, units: 0, reads: Reads::new() }
}

fn out_of_ops() -> QueryError {
    QueryError::new("out-of-ops", functions::OUT_OF_OPS)
}

/// What the columns of views stand for. Views that stand for more than a query may become cannot be read.
fn columns(connection: &Connection) -> rusqlite::Result<Columns> {
    let mut statement = connection.prepare("SELECT sql FROM sqlite_schema WHERE type = 'view'")?;
    let mut known = Columns::new();
    for view in statement.query_map([], |row| row.get::<_, String>(0))? {
        growth::names(&view?, &mut known);
    }
    Ok(known)
}

/// Checks that need no `SQLite`.
fn plausible(sql: &str, columns: &Columns) -> Result<(), QueryError> {
    if sql.len() > QUERY_BYTES_MAX {
        return Err(QueryError::new("query-too-long", format!("over {QUERY_BYTES_MAX} bytes")));
    }
    // SQLite would stop reading there, and not see what follows.
    if sql.contains('\0') {
        return Err(QueryError::new("syntax", "a NUL character"));
    }
    if growth::names(sql, &mut columns.clone()).is_none() {
        let why = format!("names that stand for more than {NAMES_MAX} others");
        return Err(QueryError::new("too-complex", why));
    }
    Ok(())
}

fn reason(error: &Error, message: &str) -> &'static str {
    let says = |parts: &[&str]| parts.iter().any(|part| message.contains(part));
    match error.sqlite_error_code() {
        _ if matches!(error, Error::MultipleStatement) => "two-statements",
        Some(ErrorCode::TooBig) => "value-too-long",
        Some(ErrorCode::OutOfMemory) => "too-complex",
        Some(ErrorCode::ReadOnly | ErrorCode::AuthorizationForStatementDenied) => "not-read-only",
        _ if says(&[CLOCK]) => "not-deterministic",
        _ if says(&["syntax error", "incomplete input", "unrecognized token"]) => "syntax",
        _ if says(&["no such table", "no such column", "no such function", "ambiguous column"]) => {
            "unknown-name"
        }
        // A query has nothing to fill in.
        _ if says(&["SQL variables"]) => "error",
        _ if says(&["too many", "too large", "stack overflow", "too deep", "Recursion limit"]) => {
            "too-complex"
        }
        _ => "error",
    }
}

/// Units for `ops` steps over short values.
pub(super) fn units_of(ops: u64) -> u64 {
    ops.saturating_mul(UNITS_PER_OP)
}
