//! A run as the diagnostics see it: rows in groups, and what is correct.

use assay::engine::UnreadLabels;
use assay::trainer::Groups;
use assay::trainer::advantages::RewardPart;
use assay::trainer::diagnostics::AnswerCluster;
use assay::verifiers::stats::float;
use serde_json::Value;

use super::args::Args;
use super::data::{DataRow, RunData};
use super::input::{Column, RunInput};
use crate::exit::Failure;

/// The name of the combined reward in every table.
pub(super) const TOTAL: &str = "total";

/// A run as the diagnostics see it.
pub(super) struct RunView<'a> {
    pub(super) input: &'a RunInput,
    data: Option<RunData>,
    pub(super) groups: Groups,
    /// What the rows of each group share, in the order of the groups.
    pub(super) keys: Vec<String>,
    /// `group`, `prompt`, `size` or `row`.
    pub(super) grouped_by: &'static str,
    /// Whether each completion is correct; `None` where it was not judged.
    pub(super) correct: Vec<Option<bool>>,
    /// Labels that rewards are held against; empty where there are none.
    pub(super) labels: Vec<Option<bool>>,
    /// Where the labels come from.
    pub(super) labelled_by: Option<String>,
    /// Whether the labels are independent of what says correct.
    pub(super) trusted: bool,
    /// The answers that are counted; `None` where no reward extracts any.
    pub(super) answers: Option<Answers<'a>>,
    /// What could not be had, and why.
    pub(super) missing: Vec<String>,
}

/// The answers that rewards extracted.
pub(super) struct Answers<'a> {
    /// The reward that extracted them; `None` where each row has that of the first that did.
    pub(super) reward: Option<String>,
    /// The answer of each row.
    pub(super) texts: Vec<Option<&'a str>>,
    /// Whether a reward that extracts answers judged the row.
    pub(super) sought: Vec<bool>,
}

/// What is correct, or trusted: a reward of the run by its name.
fn decisions(run: &RunInput, name: Option<&str>, above: f64) -> Result<Vec<Option<bool>>, Failure> {
    let rewards = match name {
        None => &run.rows.total,
        Some(name) => &named(run, name)?.rewards,
    };
    Ok(rewards.iter().map(|reward| reward.is_finite().then_some(*reward > above)).collect())
}

/// The reward of this name.
pub(super) fn named<'a>(run: &'a RunInput, name: &str) -> Result<&'a Column, Failure> {
    run.rows.column(name).ok_or_else(|| {
        let has: Vec<&str> = run.rows.rewards.iter().map(|column| column.name.as_str()).collect();
        let has = super::super::text::inline(&has.join(", "));
        Failure::usage(format!("{}: no reward is called \"{name}\"; has: {has}", run.name))
    })
}

impl<'a> RunView<'a> {
    pub(super) fn new(
        input: &'a RunInput,
        data: Option<RunData>,
        args: &Args,
    ) -> Result<Self, Failure> {
        let mut missing = data.as_ref().map(|data| data.notes.clone()).unwrap_or_default();
        if input.manifest.as_ref().is_some_and(|manifest| !manifest.complete) {
            missing.push("the run is not complete".to_owned());
        }
        let (grouped_by, keys) = grouping(input, data.as_ref(), args);
        if grouped_by == "row" {
            missing.push(
                "rows name no group: each is a prompt of its own; `[data] group`, --with \
                          DATA or --group-size N says which share one"
                    .to_owned(),
            );
        }
        let groups = Groups::by_key(&keys);
        let first = |at| groups.members(at).row(0).and_then(|row| keys.get(row)).cloned();
        let keys = (0..groups.len()).filter_map(first).collect();
        let correct = decisions(input, args.correct.as_deref(), args.above)?;
        let answers = match &args.answers {
            Some(name) => Some(Answers::of(Some(name), &[named(input, name)?])),
            None => extracted(input, args),
        };
        let mut view = Self {
            input,
            data,
            groups,
            keys,
            grouped_by,
            correct,
            labels: Vec::new(),
            labelled_by: None,
            trusted: false,
            answers,
            missing,
        };
        view.label(args)?;
        Ok(view)
    }

    /// The data of each row, where there are data.
    pub(super) fn data(&self) -> Option<&[Option<DataRow>]> {
        self.data.as_ref().map(|data| data.rows.as_slice())
    }

    /// Labels of the data that are neither right nor wrong.
    pub(super) fn unread_labels(&self) -> UnreadLabels {
        self.data.as_ref().map(|data| data.unread.clone()).unwrap_or_default()
    }

    /// The combined reward and every reward, by name.
    pub(super) fn series(&self) -> Vec<(&'a str, &'a [f64])> {
        let total = std::iter::once((TOTAL, self.input.rows.total.as_slice()));
        let own = |column: &'a Column| (column.name.as_str(), column.rewards.as_slice());
        total.chain(self.input.rows.rewards.iter().map(own)).collect()
    }

    /// The rewards with the weights of the configuration; 1 where it says nothing.
    pub(super) fn parts(&self) -> Vec<RewardPart<'a>> {
        let part = |column: &'a Column| RewardPart {
            name: &column.name,
            weight: self.weight(&column.name).unwrap_or(1.0),
            rewards: &column.rewards,
        };
        self.input.rows.rewards.iter().map(part).collect()
    }

    /// The weight of a reward; `None` where the configuration has no fixed one.
    pub(super) fn weight(&self, name: &str) -> Option<f64> {
        let rewards = self.input.config.get("reward")?.as_array()?;
        let own =
            rewards.iter().find(|reward| reward.get("name").and_then(Value::as_str) == Some(name));
        own?.get("weight")?.as_f64()
    }

    /// The answers of one group: those that were judged, by their text. A completion without an answer
    /// agrees with no other.
    pub(super) fn clusters(&self, group: usize) -> Option<Vec<(Option<&'a str>, AnswerCluster)>> {
        let answers = self.answers.as_ref()?;
        let mut found: Vec<(Option<&str>, AnswerCluster)> = Vec::new();
        for row in self.groups.members(group).rows() {
            let Some(correct) = self.correct.get(row).copied().flatten() else { continue };
            let answer = answers.texts.get(row).copied().flatten();
            let value = f64::from(u8::from(correct));
            let same = found.iter_mut().find(|(own, _)| own.is_some() && *own == answer);
            match same {
                Some((_, cluster)) => {
                    cluster.count += 1;
                    // The sum, until all are counted.
                    cluster.value += value;
                }
                None => found.push((answer, AnswerCluster { count: 1, value })),
            }
        }
        for (_, cluster) in &mut found {
            cluster.value /= float(cluster.count);
        }
        Some(found)
    }

    fn label(&mut self, args: &Args) -> Result<(), Failure> {
        let column = self.data.as_ref().and_then(|data| data.label.clone());
        (self.labelled_by, self.labels) = match (&args.trusted, column, &args.correct) {
            (Some(name), _, _) => {
                (Some(format!("reward {name}")), decisions(self.input, Some(name), args.above)?)
            }
            (None, Some(column), _) => {
                let label = |row: &Option<DataRow>| row.as_ref().and_then(|row| row.label);
                let rows = self.data().unwrap_or_default();
                (Some(format!("column {column}")), rows.iter().map(label).collect())
            }
            (None, None, Some(name)) => (Some(format!("reward {name}")), self.correct.clone()),
            (None, None, None) => (None, Vec::new()),
        };
        self.trusted = match (&args.trusted, &self.labelled_by) {
            (Some(name), _) => args.correct.as_ref() != Some(name),
            (None, Some(by)) => by.starts_with("column "),
            (None, None) => false,
        };
        if self.labelled_by.is_none() {
            self.missing.push(
                "no labels are trusted: --correct NAME, --trusted NAME or --label \
                               COLUMN says what rewards are held against"
                    .to_owned(),
            );
        }
        Ok(())
    }
}

/// What the rows share, one key a row, and by what.
fn grouping(input: &RunInput, data: Option<&RunData>, args: &Args) -> (&'static str, Vec<String>) {
    let rows = input.rows.len();
    // A row without what groups are made of is a group of its own; no key of others starts like it.
    let alone = |row: usize| format!("\u{0}row {}", row + 1);
    if let Some(size) = args.group_size {
        let size = usize::try_from(size).unwrap_or(usize::MAX);
        return ("size", (0..rows).map(|row| (row / size + 1).to_string()).collect());
    }
    if input.rows.groups.iter().any(Option::is_some) {
        let key =
            |(row, group): (usize, &Option<String>)| group.clone().unwrap_or_else(|| alone(row));
        return ("group", input.rows.groups.iter().enumerate().map(key).collect());
    }
    if let Some(data) = data {
        let key = |(row, data): (usize, &Option<DataRow>)| {
            data.as_ref().map_or_else(|| alone(row), |data| data.prompt.clone())
        };
        return ("prompt", data.rows.iter().enumerate().map(key).collect());
    }
    ("row", (0..rows).map(alone).collect())
}

/// The answers, where no reward was named: of the one that says correct if it extracts any, else of the
/// first in each row that did.
fn extracted<'a>(input: &'a RunInput, args: &Args) -> Option<Answers<'a>> {
    let extracts = |column: &&Column| column.answers.iter().any(Option::is_some);
    let correct = args.correct.as_ref().and_then(|name| input.rows.column(name)).filter(extracts);
    if let Some(column) = correct {
        return Some(Answers::of(Some(&column.name), &[column]));
    }
    let columns: Vec<&Column> = input.rows.rewards.iter().filter(extracts).collect();
    match columns.as_slice() {
        [] => None,
        [column] => Some(Answers::of(Some(&column.name), &[column])),
        columns => Some(Answers::of(None, columns)),
    }
}

impl<'a> Answers<'a> {
    fn of(reward: Option<&String>, columns: &[&'a Column]) -> Self {
        let rows = columns.iter().map(|column| column.answers.len()).max().unwrap_or_default();
        let text = |row: usize| {
            columns.iter().find_map(|column| column.answers.get(row).and_then(Option::as_deref))
        };
        let is_judged =
            |row: usize| columns.iter().any(|c| c.rewards.get(row).is_some_and(|r| r.is_finite()));
        Self {
            reward: reward.cloned(),
            texts: (0..rows).map(text).collect(),
            sought: (0..rows).map(is_judged).collect(),
        }
    }
}
