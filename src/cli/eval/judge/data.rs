//! Rows with labels of people, as samples.

use std::path::PathBuf;

use assay::data::{Columns, ReadLimits, Row, Source};
use assay::rubrics::reply::pair::Winner;
use assay::verifiers::Sample;
use serde_json::Value;

use super::kind::LabelKind;
use crate::cli::exit::Failure;

/// What is read.
pub(super) struct Asked<'a> {
    pub(super) files: &'a [PathBuf],
    pub(super) columns: &'a Columns,
    pub(super) label: &'a str,
    pub(super) kind: Option<LabelKind>,
    pub(super) limit: usize,
}

/// Rows with labels.
pub(super) struct Labelled {
    pub(super) kind: LabelKind,
    /// One a label; of pairs two.
    pub(super) samples: Vec<Sample>,
    pub(super) labels: Vec<Label>,
    pub(super) unlabelled: usize,
}

/// What people say.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Label {
    /// Of a pair.
    Better(Winner),
    /// A number.
    Level(f64),
    /// Right or wrong.
    Right(bool),
}

impl Asked<'_> {
    /// Reads the rows; those without a label are counted.
    pub(super) fn read(&self, limits: &ReadLimits) -> Result<Labelled, Failure> {
        let given = self.kind;
        let pairs =
            given.map_or_else(|| self.holds_pairs(limits), |kind| Ok(kind == LabelKind::Pairs))?;
        let columns = if pairs { self.of_pairs() } else { self.of_single() };
        let mut kind = if pairs { Some(LabelKind::Pairs) } else { given };
        let (mut samples, mut labels, mut unlabelled) = (Vec::new(), Vec::new(), 0);
        'data: for block in Source::open(self.files, limits)? {
            for row in block?.rows(&columns) {
                if labels.len() + unlabelled >= self.limit {
                    break 'data;
                }
                let place = row.place.to_string();
                let wrong = |why: &str| Failure::from(anyhow::anyhow!("{place}: {why}"));
                let Row { sample, label, .. } = row;
                let sample = sample.map_err(anyhow::Error::from)?;
                let label = label.filter(|label| !label.is_null() || pairs);
                let own = kind.or_else(|| label.as_ref().map(kind_of));
                kind = own;
                match own {
                    Some(LabelKind::Pairs) => {
                        let texts = two(&sample).ok_or_else(|| {
                            wrong("expected two texts in `responses`, or `chosen` and `rejected`")
                        })?;
                        let chosen = sample.meta().contains_key("chosen");
                        let Some(better) = better(label.as_ref(), chosen) else {
                            unlabelled += 1;
                            continue;
                        };
                        samples.extend(pair(&sample, &place, texts));
                        labels.push(Label::Better(better));
                    }
                    Some(kind) => {
                        let Some(label) = label else {
                            unlabelled += 1;
                            continue;
                        };
                        let read = of_label(&label, kind);
                        labels.push(read.ok_or_else(|| wrong(&format!("the label is {label}")))?);
                        samples.push(sample);
                    }
                    None => unlabelled += 1,
                }
            }
        }
        let kind = kind.unwrap_or(LabelKind::Binary);
        Ok(Labelled { kind, samples, labels, unlabelled })
    }

    /// Whether the first row holds two responses.
    fn holds_pairs(&self, limits: &ReadLimits) -> Result<bool, Failure> {
        let columns = self.of_pairs();
        let Some(block) = Source::open(self.files, limits)?.next() else { return Ok(false) };
        let first = block?.rows(&columns).into_iter().next();
        Ok(first.and_then(|row| row.sample.ok()).is_some_and(|sample| two(&sample).is_some()))
    }

    /// The columns of rows with one completion.
    fn of_single(&self) -> Columns {
        Columns { label: Some(self.label.to_owned()), ..self.columns.clone() }
    }

    /// Those of rows with two, which are read as if the prompt were judged.
    fn of_pairs(&self) -> Columns {
        Columns {
            completion: self.columns.prompt.clone(),
            prompt: "\u{0}".to_owned(),
            group: None,
            ..self.of_single()
        }
    }
}

/// The two texts of a row that was read for its prompt.
fn two(row: &Sample) -> Option<[String; 2]> {
    let meta = row.meta();
    let text = |value: &Value| match value {
        Value::String(text) => Some(text.clone()),
        Value::Array(messages) => Some(messages.last()?.get("content")?.as_str()?.to_owned()),
        _ => None,
    };
    match meta.get("responses").and_then(Value::as_array).map(Vec::as_slice) {
        Some([one, other]) => Some([text(one)?, text(other)?]),
        Some(_) => None,
        None => Some([text(meta.get("chosen")?)?, text(meta.get("rejected")?)?]),
    }
}

/// The two samples of a pair: a group of their own.
fn pair(row: &Sample, place: &str, texts: [String; 2]) -> impl Iterator<Item = Sample> {
    let mut meta = row.meta().clone();
    for column in ["responses", "chosen", "rejected"] {
        meta.remove(column);
    }
    let id = row.id().to_owned();
    let reference = row.reference().cloned().unwrap_or_default();
    let (prompt, group) = (row.completion_content().clone(), format!("pair {place}"));
    texts.into_iter().enumerate().map(move |(at, text)| {
        Sample::builder(text)
            .id(format!("{id}/{at}"))
            .prompt(prompt.clone())
            .reference(reference.clone())
            .group(&group)
            .meta(meta.clone())
            .build()
    })
}

/// Which is better; `None` where nobody said.
fn better(label: Option<&Value>, chosen: bool) -> Option<Winner> {
    match label {
        None if chosen => Some(Winner::First),
        Some(Value::Number(place)) => match place.as_u64()? {
            0 => Some(Winner::First),
            1 => Some(Winner::Second),
            _ => None,
        },
        Some(Value::String(word)) if word == "tie" => Some(Winner::Tie),
        _ => None,
    }
}

fn kind_of(label: &Value) -> LabelKind {
    match label {
        Value::Number(_) => LabelKind::Levels,
        _ => LabelKind::Binary,
    }
}

fn of_label(label: &Value, kind: LabelKind) -> Option<Label> {
    if kind == LabelKind::Levels {
        return label.as_f64().map(Label::Level);
    }
    let right = match label {
        Value::Bool(right) => *right,
        Value::Number(number) => match number.as_u64()? {
            0 => false,
            1 => true,
            _ => return None,
        },
        Value::String(word) => match word.to_lowercase().as_str() {
            "true" | "yes" | "right" | "correct" | "pass" => true,
            "false" | "no" | "wrong" | "incorrect" | "fail" => false,
            _ => return None,
        },
        _ => return None,
    };
    Some(Label::Right(right))
}
