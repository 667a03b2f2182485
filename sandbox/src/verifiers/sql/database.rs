//! A database: its bytes, and the connections that read copies of them.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use rusqlite::fallible_iterator::FallibleIterator as _;
use rusqlite::ffi::ErrorCode;
use rusqlite::hooks::{AuthAction, AuthContext, Authorization};
use rusqlite::limits::Limit;
use rusqlite::types::Value as SqlValue;
use rusqlite::{Batch, Connection, params_from_iter};
use serde_json::{Map, Value};

use super::connection::QueryConnection;
use super::functions::{self, OUT_OF_OPS};
use super::gauge::{Gauge, OPS_PER_LOOK};
use super::growth::{self, Columns, NAMES_MAX};
use super::guard::{self, refused_function};
use super::memory::{self, bare};

/// How a file of `SQLite` begins.
const MAGIC: &[u8] = b"SQLite format 3\0";
/// The most connections that are kept for the next sample.
const IDLE_MAX: usize = 64;

/// What a dump may cost: so many units, and as many for each byte of it.
const FILE_UNITS_MIN: u64 = 200_000_000;
const FILE_UNITS_PER_BYTE: u64 = 1_000;
/// How large a database may become, and how much larger for each byte that it is made of.
const IMAGE_BYTES_MIN: usize = 24 << 20;
const IMAGE_BYTES_PER_BYTE: usize = 8;
/// What is held beside the database while it is made, read and checked.
const WORK_BYTES_MAX: usize = 40 << 20;
/// The longest value, unless what it is made of is longer.
const VALUE_BYTES_MAX: usize = 8 << 20;
/// The most tables, views, indexes and triggers: the whole schema is read for each.
const ENTRIES_MAX: usize = 2_000;
/// A page of a database where nothing is said of it, and the largest one.
const PAGE_BYTES: usize = 4096;
const PAGE_BYTES_MAX: usize = 65_536;

/// A database that never changes.
#[derive(Default)]
pub(super) struct Database {
    image: Vec<u8>,
    now: Option<String>,
    idle: Mutex<Vec<QueryConnection>>,
}

impl std::fmt::Debug for Database {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Database({} bytes)", self.image.len())
    }
}

impl Database {
    /// Reads a file: SQL text, as `sqlite3 FILE .dump` writes it, or a file of `SQLite`.
    pub(super) fn from_file(bytes: Vec<u8>, now: Option<&str>) -> Result<Self, String> {
        let image = if bytes.starts_with(MAGIC) {
            without_log(bytes)
        } else {
            let dump = String::from_utf8(bytes)
                .map_err(|error| format!("neither a file of SQLite nor UTF-8: {error}"))?;
            let units = dump.len() as u64 * FILE_UNITS_PER_BYTE + FILE_UNITS_MIN;
            built(dump.len(), || {
                let builder = Builder::new(now, units, &[&dump], 0)?;
                builder.run(&dump)?;
                builder.finish()
            })?
        };
        let database = Self { image, now: now.map(str::to_owned), idle: Mutex::default() };
        database.probe()?;
        Ok(database)
    }

    /// Builds a database from the SQL and the rows of a reference, within `units` of fuel, and
    /// returns what was spent.
    pub(super) fn from_parts(
        sql: &[&str],
        rows: Option<&Map<String, Value>>,
        now: Option<&str>,
        units: u64,
    ) -> Result<(Self, u64), String> {
        let given = rows.map_or(0, |rows| rows.values().map(|rows| rows.to_string().len()).sum());
        let (image, spent) = built(given + bytes(sql), || {
            let builder = Builder::new(now, units, sql, given)?;
            for sql in sql {
                builder.run(sql)?;
            }
            for (table, rows) in rows.into_iter().flatten() {
                builder.insert(table, rows)?;
            }
            let spent = builder.gauge.spent();
            Ok((builder.finish()?, spent))
        })?;
        let database = Self { image, now: now.map(str::to_owned), idle: Mutex::default() };
        Ok((database, spent))
    }

    /// How many bytes a copy of it has.
    pub(super) fn size(&self) -> usize {
        self.image.len()
    }

    /// Lends a connection to `work`.
    pub(super) fn with_connection<T>(
        &self,
        work: impl FnOnce(&QueryConnection) -> T,
    ) -> Result<T, String> {
        let idle = || self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        let kept = idle().pop();
        let open = || QueryConnection::open(&self.image, self.now.as_deref());
        let opened = || memory::within(room(self.image.len()), open);
        let connection = kept.map_or_else(opened, Ok).map_err(told)?;
        let done = work(&connection);
        let mut idle = idle();
        if idle.len() < IDLE_MAX {
            idle.push(connection);
        }
        Ok(done)
    }

    /// Whether the file passes the integrity check of `SQLite`.
    fn probe(&self) -> Result<(), String> {
        let check = || {
            let mut connection = bare()?;
            connection.deserialize_read_exact(
                "main",
                self.image.as_slice(),
                self.image.len(),
                true,
            )?;
            let said = |row: &rusqlite::Row<'_>| row.get::<_, String>(0);
            connection.query_row("PRAGMA quick_check(1)", [], said)
        };
        match memory::within(room(self.image.len()), check).map_err(told)? {
            said if said == "ok" => self.with_connection(|_| ()),
            said => Err(format!("the file is damaged: {said}")),
        }
    }
}

/// The bytes of `SQL` texts.
fn bytes(sql: &[&str]) -> usize {
    sql.iter().map(|sql| sql.len()).sum()
}

/// How large a database may become that is made of so many bytes.
fn image_bytes_max(given: usize) -> usize {
    given.saturating_mul(IMAGE_BYTES_PER_BYTE).saturating_add(IMAGE_BYTES_MIN)
}

/// What work on a database of so many bytes may hold in memory.
fn room(image: usize) -> i64 {
    i64::try_from(image.saturating_add(WORK_BYTES_MAX)).unwrap_or(i64::MAX)
}

/// What is built of so many bytes.
fn built<T>(given: usize, build: impl FnOnce() -> Result<T, String>) -> Result<T, String> {
    memory::within(room(image_bytes_max(given)), build)
}

/// A file whose writes go to a log beside it cannot be read from memory; what is in the file
/// itself can, once its header says so.
fn without_log(mut image: Vec<u8>) -> Vec<u8> {
    if let Some(versions) = image.get_mut(18..20)
        && versions == [2, 2]
    {
        versions.fill(1);
    }
    image
}

fn told(error: rusqlite::Error) -> String {
    match error {
        rusqlite::Error::SqlInputError { msg, .. } => msg,
        rusqlite::Error::SqliteFailure(_, Some(message)) => message,
        other => other.to_string(),
    }
}

/// A database that is being written.
struct Builder {
    connection: Connection,
    gauge: Arc<Gauge>,
    /// What it created so far.
    entries: Arc<AtomicUsize>,
}

impl Builder {
    /// Of the statements in `sql` and so many bytes of rows.
    fn new(now: Option<&str>, units: u64, sql: &[&str], rows: usize) -> Result<Self, String> {
        let gauge = Arc::new(Gauge::default());
        gauge.fill(units);
        gauge.weigh(1);
        let mut connection = Self::connection(&gauge, now).map_err(told)?;
        let given = rows + bytes(sql);
        let sets_pages = sql.iter().any(|sql| sql.to_ascii_lowercase().contains("page_size"));
        let page = if sets_pages { PAGE_BYTES_MAX } else { PAGE_BYTES };
        let pages = u32::try_from(image_bytes_max(given) / page).unwrap_or(u32::MAX - 1);
        let value = i32::try_from(given.max(VALUE_BYTES_MAX)).unwrap_or(i32::MAX);
        connection.set_limit(Limit::SQLITE_LIMIT_LENGTH, value).map_err(told)?;
        connection.pragma_update(None, "max_page_count", pages).map_err(told)?;
        let entries = Arc::new(AtomicUsize::new(0));
        let made = Arc::clone(&entries);
        let judge = move |context: AuthContext<'_>| {
            let count = made.fetch_add(usize::from(creates(context.action)), Ordering::Relaxed);
            if count > ENTRIES_MAX { Authorization::Deny } else { may_build(context.action) }
        };
        connection.authorizer(Some(judge)).map_err(told)?;
        Ok(Self { connection, gauge, entries })
    }

    fn connection(gauge: &Arc<Gauge>, now: Option<&str>) -> rusqlite::Result<Connection> {
        let mut connection = bare()?;
        guard::harden(&connection)?;
        // Dumps list tables in any order, so that a row may come before the one it points to.
        connection.pragma_update(None, "foreign_keys", false)?;
        functions::register(&connection, gauge, now)?;
        let looked = Arc::clone(gauge);
        connection.progress_handler(
            OPS_PER_LOOK,
            Some(move || !looked.spend_ops(OPS_PER_LOOK.unsigned_abs().into())),
        )?;
        Ok(connection)
    }

    fn run(&self, sql: &str) -> Result<(), String> {
        if let Some(at) = sql.find('\0') {
            return Err(format!("byte {at} is NUL, which SQL cannot hold"));
        }
        if growth::names(sql, &mut Columns::new()).is_none() {
            return Err(format!("names that stand for more than {NAMES_MAX} others"));
        }
        let mut batch = Batch::new(&self.connection, sql);
        for statement in 1_usize.. {
            let at = |error| format!("statement {statement}: {}", self.told(error));
            match batch.next().map_err(at)? {
                None => break,
                Some(mut prepared) => {
                    let mut rows = prepared.raw_query();
                    while rows.next().map_err(at)?.is_some() {}
                }
            }
        }
        Ok(())
    }

    fn told(&self, error: rusqlite::Error) -> String {
        match error.sqlite_error_code() {
            _ if self.gauge.is_empty() => OUT_OF_OPS.to_owned(),
            _ if self.entries.load(Ordering::Relaxed) > ENTRIES_MAX => {
                format!("more than {ENTRIES_MAX} tables, views, indexes and triggers")
            }
            Some(ErrorCode::DiskFull) => {
                "the database grows too large for what it is made of".into()
            }
            _ => told(error),
        }
    }

    /// Fills a table with rows that are lists of values, or objects of values by column.
    fn insert(&self, table: &str, rows: &Value) -> Result<(), String> {
        let fail = |why: String| format!("rows of \"{table}\": {why}");
        let rows = rows.as_array().ok_or_else(|| fail(format!("expected a list, found {rows}")))?;
        for (row, at) in rows.iter().zip(1..) {
            let fail = |why: String| fail(format!("row {at}: {why}"));
            let (columns, values): (String, Vec<&Value>) = match row {
                Value::Array(values) => (String::new(), values.iter().collect()),
                Value::Object(members) => {
                    let names: Vec<String> = members.keys().map(|name| quoted(name)).collect();
                    (format!("({})", names.join(",")), members.values().collect())
                }
                other => return Err(fail(format!("expected a list or an object, found {other}"))),
            };
            let marks = vec!["?"; values.len()].join(",");
            let sql = format!("INSERT INTO {}{columns} VALUES({marks})", quoted(table));
            let values: Vec<SqlValue> =
                values.into_iter().map(bound).collect::<Result<_, _>>().map_err(fail)?;
            let insert = || self.connection.prepare_cached(&sql)?.execute(params_from_iter(values));
            insert().map_err(|error| fail(self.told(error)))?;
        }
        Ok(())
    }

    fn finish(mut self) -> Result<Vec<u8>, String> {
        if !self.connection.is_autocommit() {
            self.connection.execute_batch("COMMIT").map_err(told)?;
        }
        self.connection.flush_prepared_statement_cache();
        // To copy a database, SQLite asks it for its size, in a pragma.
        self.connection.authorizer(None::<fn(AuthContext<'_>) -> Authorization>).map_err(told)?;
        let image = self.connection.serialize("main").map_err(told)?;
        Ok(image.to_vec())
    }
}

fn quoted(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}

fn bound(value: &Value) -> Result<SqlValue, String> {
    Ok(match value {
        Value::Null => SqlValue::Null,
        Value::Bool(value) => SqlValue::Integer((*value).into()),
        Value::Number(number) => match (number.as_i64(), number.as_f64()) {
            (Some(integer), _) => SqlValue::Integer(integer),
            (None, Some(real)) => SqlValue::Real(real),
            (None, None) => return Err(format!("{number} is no number of SQLite")),
        },
        Value::String(text) => SqlValue::Text(text.clone()),
        other => return Err(format!("expected a value, found {other}")),
    })
}

fn creates(action: AuthAction<'_>) -> bool {
    matches!(
        action,
        AuthAction::CreateTable { .. }
            | AuthAction::CreateIndex { .. }
            | AuthAction::CreateView { .. }
            | AuthAction::CreateTrigger { .. }
            | AuthAction::CreateVtable { .. }
    )
}

/// A dump may do to its own database what it likes, and nothing to the process around it.
fn may_build(action: AuthAction<'_>) -> Authorization {
    const PRAGMAS: [&str; 14] = assay_verifiers::words::list(
        "application_id auto_vacuum case_sensitive_like defer_foreign_keys encoding foreign_keys \
         foreign_key_check journal_mode legacy_file_format page_size recursive_triggers synchronous \
         user_version table_info",
    );
    let is_allowed = match action {
        AuthAction::Attach { .. } | AuthAction::Detach { .. } => false,
        AuthAction::Function { function_name } => refused_function(function_name).is_none(),
        AuthAction::Pragma { pragma_name, .. } => {
            PRAGMAS.contains(&pragma_name.to_ascii_lowercase().as_str())
        }
        _ => true,
    };
    if is_allowed { Authorization::Allow } else { Authorization::Deny }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::connection::QueryLimits;
    use super::super::table::Cell;
    use super::*;

    const LIMITS: QueryLimits = QueryLimits { units: 1 << 20, rows_max: 100 };

    fn count(database: &Database, sql: &str) -> Cell {
        let ran = database.with_connection(|connection| connection.run(sql, LIMITS)).unwrap();
        ran.result.unwrap().cells.remove(0)
    }

    #[test]
    fn dumps_and_files_are_read() {
        let dump = "PRAGMA foreign_keys=OFF;\nBEGIN TRANSACTION;\n\
            CREATE TABLE a(x INTEGER REFERENCES b(y), d TEXT DEFAULT (date('2024-01-01')));\n\
            INSERT INTO a(x) VALUES(7);\nCREATE TABLE b(y PRIMARY KEY);\n-- no COMMIT";
        let database = Database::from_file(dump.into(), None).unwrap();
        assert_eq!(count(&database, "SELECT x FROM a"), Cell::Integer(7));
        let mut file = database.image.clone();
        file[18..20].fill(2);
        let database = Database::from_file(file, None).unwrap();
        assert_eq!(count(&database, "SELECT d FROM a"), Cell::Text(b"2024-01-01".to_vec()));
        assert!(Database::from_file(Vec::new(), None).is_ok(), "a database may have no tables");
    }

    #[test]
    fn broken_files_are_named() {
        for (dump, wanted) in [
            (&b"CREATE TABLE a(x);\nINSERT INTO a VALUES(1,2);"[..], "statement 2"),
            (b"ATTACH '/tmp/x' AS x", "not authorized"),
            (b"PRAGMA hard_heap_limit=1", "not authorized"),
            (b"CREATE TABLE a(x DEFAULT CURRENT_DATE); INSERT INTO a DEFAULT VALUES", "clock"),
            (b"CREATE TABLE a AS SELECT random()", "random"),
            (b"CREATE TABLE a(x);\0", "NUL"),
            (b"\xff", "UTF-8"),
            (b"SQLite format 3\0 and so on", "not a database"),
        ] {
            let told = Database::from_file(dump.to_vec(), None).unwrap_err();
            assert!(told.contains(wanted), "{told}");
        }
        let mut torn = Database::from_file(
            b"CREATE TABLE a(x); WITH RECURSIVE c(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM c \
              WHERE i<5000) INSERT INTO a SELECT hex(i) FROM c"
                .to_vec(),
            None,
        )
        .unwrap()
        .image;
        torn[4096..12_000].fill(0xAA);
        assert!(Database::from_file(torn, None).is_err());
    }

    #[test]
    fn a_reference_brings_its_rows() {
        let rows = json!({"t": [[1, "x"], {"b": null, "a": 2.5}], "u \"q\"": [[true]]});
        let parts = ["CREATE TABLE t(a, b); CREATE TABLE \"u \"\"q\"\"\"(c)"];
        let (database, spent) =
            Database::from_parts(&parts, rows.as_object(), None, 1 << 20).unwrap();
        assert_eq!(count(&database, "SELECT sum(a) FROM t"), Cell::Real(3.5));
        assert!(spent < 1 << 20);
        for (rows, wanted) in [
            (json!({"t": 1}), "expected a list"),
            (json!({"t": [1]}), "row 1: expected a list or an object"),
            (json!({"t": [[1, 2], [[], 2]]}), "row 2: expected a value"),
            (json!({"v": [[1]]}), "no such table"),
        ] {
            let told = Database::from_parts(&parts, rows.as_object(), None, 1 << 20).unwrap_err();
            assert!(told.contains(wanted), "{told}");
        }
        let forever =
            ["CREATE TABLE t AS WITH RECURSIVE c(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM c) \
             SELECT i FROM c"];
        let told = Database::from_parts(&forever, None, None, 1 << 16).unwrap_err();
        assert!(told.contains(OUT_OF_OPS), "{told}");
    }
}
