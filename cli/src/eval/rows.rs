//! The rows of a benchmark, by the names that its authors gave to columns.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::rc::Rc;

use assay::data::{Columns, Place, ReadLimits, RowError, escape, nearest};
use assay::verifiers::code::Code;
use assay::verifiers::{Content, Message};
use serde_json::{Map, Value};

use super::files::{Next, each_block};
use crate::exit::Failure;

/// The most names of columns that a message lists.
const NAMES_MAX: usize = 20;
/// The most characters of a value that a message shows.
const SHOWN_MAX: usize = 60;
/// The name under which all subsets are reported.
const POOLED: &str = "all";

/// What is read.
pub(super) struct Asked<'a> {
    pub(super) files: &'a [PathBuf],
    /// The columns of the protocol.
    pub(super) names: &'static [&'static str],
    /// That of them which holds the subset.
    pub(super) subset: &'static str,
    /// Those that are called otherwise, as `NAME=COLUMN`.
    pub(super) renamed: &'a [String],
    pub(super) limit: Option<usize>,
}

/// The rows of a benchmark.
pub(super) struct Rows {
    rows: Vec<Row>,
    /// The limit was reached: there may be more.
    pub(super) is_cut: bool,
}

/// One row, and where it is.
#[derive(Clone)]
pub(super) struct Row {
    place: Place,
    called: Rc<BTreeMap<&'static str, String>>,
    subset: &'static str,
    columns: Map<String, Value>,
}

/// Right or wrong completions of a row.
pub(super) struct Completions {
    pub(super) texts: Vec<String>,
    /// It came as a list of texts, not as one.
    pub(super) is_list: bool,
    /// What comes before it in its conversation, where it is one.
    pub(super) asked: Vec<Message>,
}

impl Asked<'_> {
    /// Reads files.
    pub(super) fn read(&self) -> Result<Rows, Failure> {
        let (called, given) = self.called()?;
        let called = Rc::new(called);
        let nowhere = "\u{0}".to_owned();
        let columns = Columns {
            id: nowhere.clone(),
            prompt: nowhere.clone(),
            completion: nowhere.clone(),
            reference: nowhere.clone(),
            meta: Some(nowhere),
            ..Columns::default()
        };
        let limit = self.limit.unwrap_or(usize::MAX);
        let mut rows = Rows { rows: Vec::new(), is_cut: false };
        each_block(self.files, &ReadLimits::default(), |block| {
            for row in block.tasks(&columns) {
                if rows.rows.len() >= limit {
                    rows.is_cut = true;
                    return Ok(Next::Stop);
                }
                let sample = row.sample?;
                rows.rows.push(Row {
                    place: row.place,
                    called: Rc::clone(&called),
                    subset: self.subset,
                    columns: sample.meta().clone(),
                });
            }
            Ok(Next::Read)
        })?;
        if rows.rows.is_empty() {
            return Err(Failure::usage("no rows were read: there is nothing to measure"));
        }
        rows.have(&given)?;
        rows.have_subsets()?;
        Ok(rows)
    }

    /// What each column is called, and which of the names were given.
    fn called(&self) -> Result<(BTreeMap<&'static str, String>, Vec<&'static str>), Failure> {
        let names = self.names;
        let mut called: BTreeMap<&str, String> =
            names.iter().map(|name| (*name, (*name).to_owned())).collect();
        let mut given = Vec::new();
        for pair in self.renamed {
            let Some((name, column)) = pair.split_once('=') else {
                return Err(Failure::usage(format!("--column {pair}: expected NAME=COLUMN")));
            };
            let Some(name) = names.iter().copied().find(|own| *own == name) else {
                let known = names.join(", ");
                return Err(Failure::usage(format!("--column {name}: no such name; has: {known}")));
            };
            if given.contains(&name) {
                return Err(Failure::usage(format!("--column {name}: given twice")));
            }
            given.push(name);
            called.insert(name, column.to_owned());
        }
        Ok((called, given))
    }
}

impl Rows {
    pub(super) fn len(&self) -> usize {
        self.rows.len()
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &Row> {
        self.rows.iter()
    }

    /// Whether a row has each of the columns that the command line names.
    fn have(&self, given: &[&'static str]) -> Result<(), Failure> {
        for name in given {
            if self.iter().any(|row| row.value(name).is_some()) {
                continue;
            }
            let own: BTreeSet<&str> =
                self.iter().flat_map(|row| row.columns.keys()).map(String::as_str).collect();
            let column = self.rows.first().map_or("", |row| row.column(name));
            let near = nearest(column, own.iter().copied());
            let near = near.map_or_else(String::new, |(_, near)| {
                format!("; did you mean \"{}\"?", escape(near))
            });
            let (column, own, rows) = (escape(column), listed(own), self.len());
            return Err(Failure::usage(format!(
                "--column {name}={column}: not in any of {rows} rows, which have: {own}{near}"
            )));
        }
        Ok(())
    }

    /// Whether all rows of a file name their subset, or none does.
    fn have_subsets(&self) -> Result<(), Failure> {
        let mut named: BTreeMap<&str, &Row> = BTreeMap::new();
        for row in self.iter().filter(|row| row.value(row.subset).is_some()) {
            named.entry(&row.place.file).or_insert(row);
        }
        for row in self.iter().filter(|row| row.value(row.subset).is_none()) {
            if let Some(other) = named.get(&*row.place.file) {
                let other = other.place();
                return Err(row.wrong(row.subset, &format!("a text, as {other} has")));
            }
        }
        Ok(())
    }
}

impl Row {
    /// Its file and number.
    pub(super) fn place(&self) -> &Place {
        &self.place
    }

    /// What a column of the protocol is called here.
    fn column(&self, name: &str) -> &str {
        self.called.get(name).map_or("", String::as_str)
    }

    fn value(&self, name: &str) -> Option<&Value> {
        self.columns.get(self.column(name))
    }

    /// What a column has, and what was expected of it.
    pub(super) fn wrong(&self, name: &str, expected: &str) -> Failure {
        let column = self.column(name);
        let called = if column == name { name.to_owned() } else { format!("{name} ({column})") };
        let (code, why) = match self.value(name) {
            None => {
                let own = listed(self.columns.keys().map(String::as_str));
                let why = format!(
                    "missing; expected {expected}; the row has: {own} (--column {name}=COLUMN names \
                     another)"
                );
                (Code::MissingValue, why)
            }
            Some(value) => {
                let value: String = value.to_string().chars().take(SHOWN_MAX).collect();
                (Code::BadValue, format!("is {}; expected {expected}", escape(&value)))
            }
        };
        RowError::new(self.place.clone(), code, Some(&called), why).into()
    }

    pub(super) fn id(&self) -> Option<String> {
        match self.value("id")? {
            Value::String(text) => Some(text.clone()),
            Value::Number(number) => Some(number.to_string()),
            _ => None,
        }
    }

    /// What was asked: a text, which is a message of the user, or messages.
    pub(super) fn messages(&self, name: &str) -> Result<Vec<Message>, Failure> {
        let wrong = || self.wrong(name, "a text, or a list of messages {role, content}");
        match self.value(name) {
            Some(Value::String(text)) => Ok(vec![Message::new("user", text.as_str())]),
            Some(Value::Number(number)) => Ok(vec![Message::new("user", number.to_string())]),
            Some(Value::Array(items)) if !items.is_empty() => self.conversation(name, items),
            _ => Err(wrong()),
        }
    }

    /// Messages that are nothing but text.
    fn conversation(&self, name: &str, items: &[Value]) -> Result<Vec<Message>, Failure> {
        let wrong = |why: &str| self.wrong(name, why);
        let read = Content::from_value(Value::Array(items.to_vec()))
            .map_err(|why| wrong(&format!("messages {{role, content}}: {why}")))?;
        let messages = read.messages().unwrap_or_default().to_vec();
        let unread = messages.iter().flat_map(|message| message.content.unread()).next();
        match unread {
            Some(kind) => Err(wrong(&format!("text alone; a part is of type {kind}"))),
            None => Ok(messages),
        }
    }

    /// A text, a list of texts, or a conversation that ends with what is judged.
    pub(super) fn completions(&self, name: &str) -> Result<Completions, Failure> {
        let is_conversation =
            |items: &[Value]| !items.is_empty() && items.iter().all(Value::is_object);
        match self.value(name) {
            Some(Value::Array(items)) if is_conversation(items) => {
                let mut asked = self.conversation(name, items)?;
                let last = asked.pop().filter(|message| message.role == "assistant");
                let last = last.ok_or_else(|| {
                    self.wrong(name, "a conversation that ends with a message of the assistant")
                })?;
                Ok(Completions { texts: vec![last.text().to_owned()], is_list: false, asked })
            }
            value => {
                let is_list = matches!(value, Some(Value::Array(_)));
                Ok(Completions { texts: self.texts(name)?, is_list, asked: Vec::new() })
            }
        }
    }

    /// A list of texts; one text is a list of one.
    pub(super) fn texts(&self, name: &str) -> Result<Vec<String>, Failure> {
        let texts = match self.value(name) {
            Some(Value::String(text)) => Some(vec![text.clone()]),
            Some(Value::Array(items)) => {
                items.iter().map(|item| item.as_str().map(str::to_owned)).collect()
            }
            _ => None,
        };
        texts.filter(|texts| !texts.is_empty()).ok_or_else(|| self.wrong(name, "a list of texts"))
    }

    /// An integer, which every row has: one without a label would be counted as right.
    pub(super) fn integer(&self, name: &str) -> Result<i64, Failure> {
        let integer = self.value(name).and_then(integer);
        integer.ok_or_else(|| self.wrong(name, "an integer; -1 where no step is wrong"))
    }

    pub(super) fn integers(&self, name: &str) -> Result<Vec<i64>, Failure> {
        let integers = match self.value(name) {
            Some(Value::Array(items)) => items.iter().map(integer).collect(),
            _ => None,
        };
        integers.ok_or_else(|| self.wrong(name, "a list of integers, empty where no step is wrong"))
    }

    /// The subset that the row names, else the name of its file.
    pub(super) fn subset(&self) -> Result<String, Failure> {
        let subset = match self.value(self.subset) {
            None => {
                let stem = self.place.file.rsplit('/').next().unwrap_or_default();
                stem.split('.').next().unwrap_or_default()
            }
            Some(Value::String(text)) => text,
            Some(_) => return Err(self.wrong(self.subset, "a text")),
        };
        if subset.is_empty() || subset == POOLED {
            let expected = "a name of its own: \"all\" is that of all subsets together";
            return Err(self.wrong(self.subset, expected));
        }
        Ok(subset.to_owned())
    }
}

/// An integer; columns with gaps come as floats.
fn integer(value: &Value) -> Option<i64> {
    value.as_i64().or_else(|| {
        let whole = value.as_f64().filter(|number| number.fract() == 0.0)?;
        format!("{whole:.0}").parse().ok()
    })
}

/// Names of columns, as a message lists them.
fn listed<'a>(names: impl IntoIterator<Item = &'a str>) -> String {
    let mut names: Vec<String> = names.into_iter().map(escape).collect();
    if names.len() > NAMES_MAX {
        names.truncate(NAMES_MAX);
        names.push("…".to_owned());
    }
    if names.is_empty() { "nothing".to_owned() } else { names.join(", ") }
}
