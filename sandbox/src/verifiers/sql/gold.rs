//! What a row says of the right answer: its queries, and perhaps its own database.

use serde_json::{Map, Value};

use assay_verifiers::Fault;

/// The reference of a row, read.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Gold<'a> {
    /// The acceptable queries.
    pub(super) queries: Vec<&'a str>,
    /// SQL that builds the database: the schema, then what fills it.
    pub(super) sql: Vec<&'a str>,
    /// Rows to be filled in, by table.
    pub(super) rows: Option<&'a Map<String, Value>>,
}

/// A reference that is text may hold the JSON of one that is not: SQL begins with neither bracket.
pub(super) fn unpacked(reference: &Value) -> Option<Value> {
    let text = reference.as_str()?.trim_start();
    if text.starts_with(['{', '[']) { serde_json::from_str(text).ok() } else { None }
}

/// Reads a reference: a query, a list of queries, or an object with its own database.
pub(super) fn read(reference: &Value) -> Result<Gold<'_>, Fault> {
    let Value::Object(members) = reference else {
        return Ok(Gold { queries: queries("reference", reference)?, ..Gold::default() });
    };
    let mut gold = Gold::default();
    let (mut setup, mut filled) = (Vec::new(), None);
    for (key, value) in members {
        match key.as_str() {
            "query" | "queries" => gold.queries.extend(queries(key, value)?),
            "schema" => gold.sql.extend(queries(key, value)?),
            "rows" if value.is_object() => filled = value.as_object(),
            "setup" | "rows" => setup.extend(queries(key, value)?),
            other => {
                return Err(bad(&format!(
                    "key \"{other}\" is not known; known: query, queries, rows, schema, setup"
                )));
            }
        }
    }
    if gold.sql.is_empty() && !(setup.is_empty() && filled.is_none()) {
        return Err(bad("rows or setup without a schema"));
    }
    if gold.queries.is_empty() {
        return Err(bad("no query; expected \"query\" or \"queries\""));
    }
    gold.sql.extend(setup);
    gold.rows = filled;
    Ok(gold)
}

fn bad(why: &str) -> Fault {
    Fault::bad_reference(format!("reference: {why}"))
}

/// One text, or a list of them; none of them empty.
fn queries<'a>(key: &str, value: &'a Value) -> Result<Vec<&'a str>, Fault> {
    let wrong = |found: &Value| bad(&format!("{key}: expected SQL or a list of it, found {found}"));
    let values = match value {
        Value::String(_) => std::slice::from_ref(value),
        Value::Array(values) if !values.is_empty() => values,
        other => return Err(wrong(other)),
    };
    let text = |value: &'a Value| match value.as_str() {
        Some(text) if !text.trim().is_empty() => Ok(text),
        _ => Err(wrong(value)),
    };
    values.iter().map(text).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn every_form_is_read() {
        assert_eq!(read(&json!("SELECT 1")).unwrap().queries, ["SELECT 1"]);
        assert_eq!(read(&json!(["a", "b"])).unwrap().queries, ["a", "b"]);
        let whole = json!({"schema": "s", "rows": {"t": []}, "setup": ["i"], "query": "q"});
        let gold = read(&whole).unwrap();
        assert_eq!((gold.queries, gold.sql), (vec!["q"], vec!["s", "i"]));
        assert!(gold.rows.is_some());
        let text = json!(r#" {"query": "q"}"#);
        assert_eq!(unpacked(&text), Some(json!({"query": "q"})));
        assert_eq!(unpacked(&json!("SELECT '{'")), None);
    }

    #[test]
    fn what_is_wrong_is_named() {
        for (reference, wanted) in [
            (json!(3), "found 3"),
            (json!([]), "found []"),
            (json!(["a", 1]), "found 1"),
            (json!(""), "found \"\""),
            (json!({"schema": "s"}), "no query"),
            (json!({"query": "q", "rows": "i"}), "without a schema"),
            (json!({"query": "q", "db": "d"}), "key \"db\""),
        ] {
            let fault = read(&reference).unwrap_err();
            assert!(fault.why.contains(wanted), "{fault}");
        }
    }
}
