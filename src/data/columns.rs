//! Which columns of a dataset mean what.

use std::borrow::Cow;

use assay_verifiers::column_path::{member, member_mut};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use smart_default::SmartDefault;

/// The `[data]` section: which columns mean what. Each is a dotted path: `meta.answer` is the
/// member `answer` of the column `meta`, unless there is a column of that very name; `answers.0` is the
/// first element of a list. Text on the way is read as JSON.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, SmartDefault)]
#[serde(deny_unknown_fields, default)]
pub struct Columns {
    /// A public data set, of which is taken what this configuration does not say: `assay list presets` names
    /// them. It is filled in where a text is read, so that none is left in what was read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub preset: Option<String>,
    /// The id under which a sample is reported: text or an integer. A sample without one is
    /// known by its SHA-256.
    #[default = "id"]
    pub id: String,
    /// What was asked: text, or a list of messages `{role, content}`.
    #[default = "prompt"]
    pub prompt: String,
    /// What is judged: text, or a list of messages `{role, content}`. Every row must have it.
    #[default = "completion"]
    pub completion: String,
    /// What a right completion comes to. Any value; null and missing mean that there is none.
    #[default = "reference"]
    pub reference: String,
    /// What the samples of one prompt share: text or an integer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub group: Option<String>,
    /// The token ids of the completion: a list of integers. Unless a column is named, it is metadata
    /// like any other.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub token_ids: Option<String>,
    /// The log-probability of each token of the completion: a list of numbers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub logprobs: Option<String>,
    /// Why the completion ended: text, such as `stop`, `length` or `tool_calls`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub finish_reason: Option<String>,
    /// The column whose members join the metadata as if they were columns; by default `meta`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub meta: Option<String>,
    /// A human label, against which rewards are compared. No verifier sees it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub label: Option<String>,
    /// Columns that are named here may be missing from every row. Otherwise one that none of the first
    /// 1,000 rows has is an error.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub optional: bool,
}

impl Columns {
    /// The columns that have a name of their own, by their keys.
    pub fn named(&self) -> Vec<(&'static str, &str)> {
        let default = Self::default();
        let fixed = [
            ("completion", &self.completion, &default.completion),
            ("prompt", &self.prompt, &default.prompt),
            ("reference", &self.reference, &default.reference),
            ("id", &self.id, &default.id),
        ];
        let optional = [
            ("group", &self.group),
            ("token_ids", &self.token_ids),
            ("logprobs", &self.logprobs),
            ("finish_reason", &self.finish_reason),
            ("label", &self.label),
            ("meta", &self.meta),
        ];
        let fixed = fixed.into_iter().filter(|(_, own, default)| own != default);
        let fixed = fixed.map(|(key, own, _)| (key, own.as_str()));
        fixed
            .chain(optional.into_iter().filter_map(|(key, own)| Some((key, own.as_deref()?))))
            .collect()
    }
}

/// The paths of [`Columns`], split once for all rows.
pub(super) struct Paths {
    pub(super) id: Path,
    pub(super) prompt: Path,
    pub(super) completion: Path,
    pub(super) reference: Path,
    pub(super) group: Option<Path>,
    pub(super) token_ids: Option<Path>,
    pub(super) logprobs: Option<Path>,
    pub(super) finish_reason: Option<Path>,
    pub(super) label: Option<Path>,
    pub(super) meta: Path,
    /// Whether a row without a completion is read too, as one whose completion is empty.
    pub(super) are_tasks: bool,
}

impl Paths {
    pub(super) fn new(columns: &Columns) -> Self {
        let named = [&columns.id, &columns.prompt, &columns.completion, &columns.reference]
            .into_iter()
            .chain(&columns.group)
            .chain(&columns.token_ids)
            .chain(&columns.logprobs)
            .chain(&columns.finish_reason)
            .chain(&columns.label)
            .map(String::as_str)
            .collect::<Vec<_>>();
        let path = |text: &str| Path::new(text, &named);
        Self {
            id: path(&columns.id),
            prompt: path(&columns.prompt),
            completion: path(&columns.completion),
            reference: path(&columns.reference),
            group: columns.group.as_deref().map(path),
            token_ids: columns.token_ids.as_deref().map(path),
            logprobs: columns.logprobs.as_deref().map(path),
            finish_reason: columns.finish_reason.as_deref().map(path),
            label: columns.label.as_deref().map(path),
            meta: Path::new(columns.meta.as_deref().unwrap_or("meta"), &[]),
            are_tasks: false,
        }
    }

    /// The same for rows that are yet to be answered.
    pub(super) fn of_tasks(columns: &Columns) -> Self {
        Self { are_tasks: true, ..Self::new(columns) }
    }

    /// Removes what two mappings share, once all have read it.
    pub(super) fn clear(&self, row: &mut Map<String, Value>) {
        for path in self.all().filter(|path| path.shared) {
            path.remove(row);
        }
    }

    /// Whether a column, or a part of one, is or holds more than metadata.
    pub(super) fn judge(&self, path: &str) -> bool {
        self.all().any(|own| overlap(&own.text, path))
    }

    fn all(&self) -> impl Iterator<Item = &Path> {
        let fixed = [&self.id, &self.prompt, &self.completion, &self.reference];
        let optional =
            [&self.group, &self.token_ids, &self.logprobs, &self.finish_reason, &self.label];
        fixed.into_iter().chain(optional.into_iter().flatten())
    }
}

/// A dotted path.
pub(super) struct Path {
    pub(super) text: String,
    parents: Vec<String>,
    last: String,
    /// Whether another mapping reads the same value, or a part of it.
    shared: bool,
}

impl Path {
    fn new(text: &str, named: &[&str]) -> Self {
        let (parents, last) =
            text.rsplit_once('.').map_or((None, text), |(parents, last)| (Some(parents), last));
        let parents = parents.into_iter().flat_map(|parents| parents.split('.'));
        let shared = named.iter().filter(|other| overlap(text, other)).count() > 1;
        Self {
            text: text.to_owned(),
            parents: parents.map(str::to_owned).collect(),
            last: last.to_owned(),
            shared,
        }
    }

    /// The value, moved out of the row where nothing else reads it.
    pub(super) fn take(&self, row: &mut Map<String, Value>) -> Option<Value> {
        let value = if self.shared { None } else { self.remove(row) };
        value.or_else(|| Some(self.get(row)?.into_owned())).filter(|value| !value.is_null())
    }

    /// The value; text on the way to it is read as JSON.
    fn get<'r>(&self, row: &'r Map<String, Value>) -> Option<Cow<'r, Value>> {
        let below = |at: &Value, name: &String| member(at, name).cloned().map(Cow::Owned);
        let step = |at: Cow<'r, Value>, name: &String| match at {
            Cow::Borrowed(Value::String(text)) => below(&serde_json::from_str(text).ok()?, name),
            Cow::Borrowed(value) => member(value, name).map(Cow::Borrowed),
            Cow::Owned(value) => below(&value, name),
        };
        let nested = || {
            let (first, rest) = self.parents.split_first()?;
            rest.iter().chain([&self.last]).try_fold(Cow::Borrowed(row.get(first)?), step)
        };
        row.get(&self.text).map(Cow::Borrowed).or_else(nested)
    }

    fn remove(&self, row: &mut Map<String, Value>) -> Option<Value> {
        if self.parents.is_empty() || row.contains_key(&self.text) {
            return row.remove(&self.text);
        }
        let (first, rest) = self.parents.split_first()?;
        match rest.iter().try_fold(row.get_mut(first)?, |at, name| member_mut(at, name))? {
            Value::Object(members) => members.remove(&self.last),
            list => member_mut(list, &self.last).map(Value::take),
        }
    }
}

/// Whether a row has a column, by its name or path, with a value that is not null.
pub(super) fn has_column(row: &Map<String, Value>, column: &str) -> bool {
    Path::new(column, &[]).get(row).is_some_and(|value| !value.is_null())
}

fn overlap(one: &str, two: &str) -> bool {
    let within = |inner: &str, outer: &str| {
        inner.strip_prefix(outer).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
    };
    within(one, two) || within(two, one)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn row(value: Value) -> Map<String, Value> {
        let Value::Object(row) = value else { panic!("no row") };
        row
    }

    #[test]
    fn a_literal_column_wins_over_a_path() {
        let mut both = row(json!({"a.b": 1, "a": {"b": 2}}));
        assert_eq!(Path::new("a.b", &["a.b"]).take(&mut both), Some(json!(1)));
        assert_eq!(Path::new("a.b", &["a.b"]).take(&mut both), Some(json!(2)));
        assert_eq!(both, row(json!({"a": {}})));
    }

    #[test]
    fn elements_of_lists_are_named_by_their_numbers() {
        let mut own = row(json!({"a": [{"t": ["x", "y"]}, 7], "b": {"0": 1}}));
        for (path, value) in [
            ("a.0.t.1", Some(json!("y"))),
            ("a.1", Some(json!(7))),
            ("b.0", Some(json!(1))),
            ("a.2", None),
            ("a.t", None),
            ("a.-1", None),
            ("a.0.t.0.x", None),
        ] {
            assert_eq!(has_column(&own, path), value.is_some(), "{path}");
            assert_eq!(Path::new(path, &[path, path]).take(&mut own), value, "shared: {path}");
            assert_eq!(Path::new(path, &[path]).take(&mut own), value, "{path}");
        }
        // The others keep their places.
        assert_eq!(own, row(json!({"a": [{"t": ["x", null]}, null], "b": {}})));
    }

    #[test]
    fn text_on_the_way_is_read_as_json() {
        let mut own =
            row(json!({"info": "{\"tests\": [{\"truth\": \"7\"}], \"none\": null}", "plain": "7"}));
        for (path, value) in [
            ("info.tests.0.truth", Some(json!("7"))),
            ("info.none", None),
            ("info.tests.1", None),
            ("info.tests.0.truth.x", None),
            ("plain.truth", None),
        ] {
            assert_eq!(has_column(&own, path), value.is_some(), "{path}");
            assert_eq!(Path::new(path, &[path]).take(&mut own), value, "{path}");
        }
        assert!(own["info"].is_string());
    }

    #[test]
    fn shared_and_overlapping_paths_are_all_served() {
        let columns = Columns {
            id: "q".into(),
            prompt: "q".into(),
            reference: "m".into(),
            label: Some("m.label".into()),
            ..Columns::default()
        };
        let paths = Paths::new(&columns);
        let mut values = row(json!({"q": "x", "m": {"label": 3}, "rest": true}));
        assert_eq!(paths.id.take(&mut values), Some(json!("x")));
        assert_eq!(paths.prompt.take(&mut values), Some(json!("x")));
        assert_eq!(paths.label.as_ref().unwrap().take(&mut values), Some(json!(3)));
        assert_eq!(paths.reference.take(&mut values), Some(json!({"label": 3})));
        paths.clear(&mut values);
        assert_eq!(values, row(json!({"rest": true})));
    }

    #[test]
    fn unknown_keys_are_refused() {
        assert!(serde_json::from_value::<Columns>(json!({"completions": "x"})).is_err());
        assert_eq!(serde_json::from_value::<Columns>(json!({})).unwrap(), Columns::default());
    }
}
