//! Rows with labels of people, as samples.

use std::path::PathBuf;

use assay::data::{Columns, ReadLimits, Row, RowError, Source, escape};
use assay::rubrics::reply::pair::Winner;
use assay::verifiers::Sample;
use assay::verifiers::code::Code;
use serde_json::Value;

use super::kind::LabelKind;
use crate::eval::files::{Next, each_block};
use crate::exit::Failure;

/// What is read.
pub(super) struct Asked<'a> {
    pub(super) files: &'a [PathBuf],
    pub(super) columns: &'a Columns,
    pub(super) label: &'a str,
    /// The command line names it: rows are to have it.
    pub(super) label_given: bool,
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
        let mut read = Labelled {
            kind: kind.unwrap_or(LabelKind::Binary),
            samples: Vec::new(),
            labels: Vec::new(),
            unlabelled: 0,
        };
        each_block(self.files, limits, |block| {
            for row in block.rows(&columns) {
                if read.labels.len() + read.unlabelled >= self.limit {
                    return Ok(Next::Stop);
                }
                kind = kind.or_else(|| row.label.as_ref().map(kind_of));
                read.kind = kind.unwrap_or(read.kind);
                self.take(row, kind, &mut read)?;
            }
            Ok(Next::Read)
        })?;
        Ok(read)
    }

    /// Takes a row, whose label is of this kind.
    fn take(&self, row: Row, kind: Option<LabelKind>, to: &mut Labelled) -> Result<(), Failure> {
        let place = row.place;
        let sample = row.sample?;
        let wrong = |expected: &str| {
            let found = row.label.as_ref().map(ToString::to_string).unwrap_or_default();
            let why = format!(
                "is {}; expected {expected} (--label names another column, --kind another kind; null \
                 means no label)",
                escape(&found)
            );
            RowError::new(place.clone(), Code::BadValue, Some(self.label), why)
        };
        let read = match (kind, &row.label) {
            (Some(LabelKind::Pairs), label) => {
                let texts = two(&sample).ok_or_else(|| {
                    let why = "expected two texts in `responses`, `chosen` and `rejected`, or \
                               `response_A` and `response_B`";
                    RowError::new(place.clone(), Code::MissingValue, None, why)
                })?;
                // Without a label, the names of the columns say which is better.
                let named = sample.meta().contains_key("chosen") && !self.label_given;
                let better = match label {
                    None => named.then_some(Winner::First),
                    Some(label) => Some(better(label).ok_or_else(|| {
                        wrong(
                            "0 or 1, the place of the better, \"tie\", \"A>B\", \"B>A\" or \"A=B\"",
                        )
                    })?),
                };
                if better.is_some() {
                    to.samples.extend(pair(&sample, &place.to_string(), texts));
                }
                better.map(Label::Better)
            }
            (Some(kind), Some(label)) => {
                let label = of_label(label, kind).ok_or_else(|| wrong(expected(kind)))?;
                to.samples.push(sample);
                Some(label)
            }
            _ => None,
        };
        match read {
            Some(label) => to.labels.push(label),
            None => to.unlabelled += 1,
        }
        Ok(())
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
        None => {
            let named =
                |one: &str, other: &str| Some([text(meta.get(one)?)?, text(meta.get(other)?)?]);
            named("chosen", "rejected").or_else(|| named("response_A", "response_B"))
        }
    }
}

/// The two samples of a pair: a group of their own.
fn pair(row: &Sample, place: &str, texts: [String; 2]) -> impl Iterator<Item = Sample> {
    let mut meta = row.meta().clone();
    for column in ["responses", "chosen", "rejected", "response_A", "response_B"] {
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

/// Which is better; `None` of what says it in no way that is known.
fn better(label: &Value) -> Option<Winner> {
    match label {
        Value::Number(place) => match whole(place)? {
            0 => Some(Winner::First),
            1 => Some(Winner::Second),
            _ => None,
        },
        Value::String(word) => match word.as_str() {
            "A>B" => Some(Winner::First),
            "B>A" => Some(Winner::Second),
            "A=B" | "tie" => Some(Winner::Tie),
            _ => None,
        },
        _ => None,
    }
}

/// A whole number; columns with gaps come as floats.
fn whole(number: &serde_json::Number) -> Option<u64> {
    number.as_u64().or_else(|| format!("{}", number.as_f64()?).parse().ok())
}

/// What labels of a kind are, for messages.
fn expected(kind: LabelKind) -> &'static str {
    match kind {
        LabelKind::Levels => "a number",
        _ => "true or false, 1 or 0, or a word such as \"yes\" and \"no\"",
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
        Value::Number(number) => match whole(number)? {
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
