//! What a query may do: read the tables of its database, and nothing else.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, PoisonError};

use rusqlite::Connection;
use rusqlite::config::DbConfig;
use rusqlite::hooks::{AuthAction, AuthContext, Authorization};
use rusqlite::limits::Limit;

/// The longest query that is looked at, in bytes.
pub(super) const QUERY_BYTES_MAX: usize = 1 << 16;

/// Tables and columns, in lower case; the column is empty where rows are only counted.
pub(super) type Reads = BTreeSet<(String, String)>;

/// What the authorizer saw of one query.
#[derive(Debug, Default)]
pub(super) struct Seen {
    /// The tables and columns that it reads.
    pub(super) reads: Reads,
    /// The first thing that it may not do: the reason, and what it was.
    pub(super) refused: Option<(&'static str, String)>,
}

/// Shared with the authorizer of a connection.
pub(super) type SharedSeen = Arc<Mutex<Seen>>;

/// Takes what was seen, and leaves nothing.
pub(super) fn take(seen: &SharedSeen) -> Seen {
    std::mem::take(&mut *seen.lock().unwrap_or_else(PoisonError::into_inner))
}

/// Makes `connection` refuse everything but reading: `tables` are the names in its schema, in
/// lower case.
pub(super) fn guard(
    connection: &mut Connection,
    tables: BTreeSet<String>,
    seen: SharedSeen,
) -> rusqlite::Result<()> {
    harden(connection)?;
    connection.pragma_update(None, "query_only", true)?;
    for (limit, value) in [
        (Limit::SQLITE_LIMIT_SQL_LENGTH, 1 << 16),
        (Limit::SQLITE_LIMIT_COLUMN, 1000),
        (Limit::SQLITE_LIMIT_EXPR_DEPTH, 500),
        (Limit::SQLITE_LIMIT_PARSER_DEPTH, 500),
        (Limit::SQLITE_LIMIT_COMPOUND_SELECT, 200),
        (Limit::SQLITE_LIMIT_VDBE_OP, 200_000),
        (Limit::SQLITE_LIMIT_FUNCTION_ARG, 100),
        (Limit::SQLITE_LIMIT_VARIABLE_NUMBER, 0),
        (Limit::SQLITE_LIMIT_TRIGGER_DEPTH, 1),
    ] {
        connection.set_limit(limit, value)?;
    }
    connection.authorizer(Some(move |context: AuthContext<'_>| {
        let mut seen = seen.lock().unwrap_or_else(PoisonError::into_inner);
        judge(context.action, &tables, &mut seen)
    }))
}

/// What holds for every connection, also for those that build a database.
pub(super) fn harden(connection: &Connection) -> rusqlite::Result<()> {
    for (config, value) in [
        (DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true),
        (DbConfig::SQLITE_DBCONFIG_TRUSTED_SCHEMA, false),
        (DbConfig::SQLITE_DBCONFIG_ENABLE_FTS3_TOKENIZER, false),
        (DbConfig::SQLITE_DBCONFIG_ENABLE_ATTACH_CREATE, false),
        (DbConfig::SQLITE_DBCONFIG_ENABLE_ATTACH_WRITE, false),
    ] {
        connection.set_db_config(config, value)?;
    }
    connection.set_limit(Limit::SQLITE_LIMIT_ATTACHED, 0)?;
    connection.set_limit(Limit::SQLITE_LIMIT_WORKER_THREADS, 0)?;
    // Sorting spills to files by default; a grader writes none.
    connection.pragma_update(None, "temp_store", "MEMORY")
}

/// Why a function may not be called, if it may not.
pub(super) fn refused_function(name: &str) -> Option<&'static str> {
    match name.to_ascii_lowercase().as_str() {
        "random" | "randomblob" => Some("not-deterministic"),
        "load_extension" | "fts3_tokenizer" | "sqlite_log" => Some("forbidden-function"),
        _ => None,
    }
}

fn judge(action: AuthAction<'_>, tables: &BTreeSet<String>, seen: &mut Seen) -> Authorization {
    let refusal = match action {
        AuthAction::Select | AuthAction::Recursive => None,
        AuthAction::Read { table_name, column_name } => {
            let (table, column) = (table_name.to_lowercase(), column_name.to_lowercase());
            let refusal = refused_table(&table, &column, tables);
            if refusal.is_none() && tables.contains(&table) {
                seen.reads.insert((table, column));
            }
            refusal.map(|why| (why, table_name.to_owned()))
        }
        AuthAction::Function { function_name } => {
            refused_function(function_name).map(|why| (why, format!("{function_name}()")))
        }
        other => Some(("not-read-only", named(other))),
    };
    match refusal {
        None => Authorization::Allow,
        Some(refusal) => {
            seen.refused.get_or_insert(refusal);
            Authorization::Deny
        }
    }
}

/// Built-in tables show the machine, not the data. A column of a table that is not in the schema
/// belongs to one of them; a subquery whose columns are not used is reported by its name alone.
fn refused_table(table: &str, column: &str, tables: &BTreeSet<String>) -> Option<&'static str> {
    const OPEN: [&str; 8] = assay_verifiers::words::list(
        "json_each json_tree jsonb_each jsonb_tree sqlite_master sqlite_schema sqlite_temp_master \
         sqlite_temp_schema",
    );
    const CLOSED: [&str; 5] =
        ["dbstat", "sqlite_dbpage", "sqlite_stmt", "fts3tokenize", "bytecode"];
    let is_known = tables.contains(table) || OPEN.contains(&table);
    let is_closed = table.starts_with("pragma_") || CLOSED.contains(&table);
    (!is_known && (is_closed || !column.is_empty())).then_some("forbidden-table")
}

/// What a statement set out to do, in words.
fn named(action: AuthAction<'_>) -> String {
    let (what, name) = match action {
        AuthAction::Delete { table_name: table }
        | AuthAction::Insert { table_name: table }
        | AuthAction::Update { table_name: table, .. }
            if table.starts_with("sqlite_") =>
        {
            ("a change of the schema", "")
        }
        AuthAction::Delete { table_name } => ("delete from", table_name),
        AuthAction::Insert { table_name } => ("insert into", table_name),
        AuthAction::Update { table_name, .. } => ("update", table_name),
        AuthAction::DropTable { table_name } => ("drop table", table_name),
        AuthAction::CreateTable { table_name } | AuthAction::CreateTempTable { table_name } => {
            ("create table", table_name)
        }
        AuthAction::Pragma { pragma_name, .. } => ("pragma", pragma_name),
        AuthAction::Attach { filename } => ("attach", filename),
        AuthAction::Transaction { .. } => ("transaction", ""),
        _ => ("another change", ""),
    };
    format!("{what} {name}").trim_end().to_owned()
}
