//! What a lint sees, and what it finds.

use std::ops::Range;

use assay::engine::Planned;
use assay::engine::config::{CombineBy, RewardConfig};
use assay::verifiers::{Aspect, Lane, Reward, Verdict, Verifier};
use assay::{Engine, Plan, Registry};
use serde_json::Value;

use super::script::{Role, Script};
use crate::output::count;
use crate::trial::read::Row;
use crate::trial::rewards::RewardReport;
use crate::trial::tally::{Example, RowsTally};
use crate::trial::{Trial, Tried, applies};

/// A configuration and rows.
#[derive(Clone, Copy)]
pub(crate) struct Look<'a> {
    pub(crate) plan: &'a Plan,
    pub(crate) rows: &'a [Row],
    /// The step of the training.
    pub(crate) step: u64,
}

/// A configuration that was run on the rows.
#[derive(Clone, Copy)]
pub(crate) struct Tested<'a> {
    pub(crate) look: Look<'a>,
    pub(crate) engine: &'a Engine,
    pub(crate) registry: &'a Registry,
    pub(crate) trial: &'a Trial<'a>,
    pub(crate) rewards: &'a [RewardReport],
    pub(crate) combined: Option<&'a RowsTally>,
    pub(crate) scripts: &'a [Script],
    /// There are rows behind those that were read.
    pub(crate) is_partial: bool,
    /// The command that shows a row, up to its number.
    pub(crate) explain: &'a str,
}

/// Where something is wrong.
#[derive(Clone, Debug)]
pub(crate) enum Place {
    /// A key of the configuration, as `--set` names it.
    Key(String),
    /// A key of the reward at a place; none for the reward itself.
    Reward(usize, String),
    /// Bytes of the script at a place in [`Tested::scripts`].
    Script(usize, Option<Range<usize>>),
}

/// One thing that is wrong.
#[derive(Clone, Debug)]
pub(crate) struct Finding {
    /// Where it is other than the code of the lint that found it.
    pub(crate) code: Option<&'static str>,
    pub(crate) is_error: bool,
    pub(crate) place: Place,
    /// What the sentence is made of.
    pub(crate) fields: Vec<(&'static str, Value)>,
    /// The name of its sentence, or a template of it.
    pub(crate) says: &'static str,
    /// The sentence, once it is made.
    pub(crate) message: String,
    /// What to type; empty where the sentence or the page of the lint says it.
    pub(crate) help: String,
}

impl From<&str> for Place {
    fn from(key: &str) -> Self {
        Self::Key(key.to_owned())
    }
}

impl From<(usize, &str)> for Place {
    fn from((at, key): (usize, &str)) -> Self {
        Self::Reward(at, key.to_owned())
    }
}

impl Finding {
    pub(crate) fn new(place: impl Into<Place>, says: &'static str) -> Self {
        let (place, fields) = (place.into(), Vec::new());
        let (message, help) = (String::new(), String::new());
        Self { code: None, is_error: false, place, fields, says, message, help }
    }

    /// Of rows; none where there are none.
    pub(crate) fn of_rows(place: impl Into<Place>, rows: &[&Row], what: &str) -> Option<Self> {
        let found = Self::new(place, "{{ rows | which(row) }}: {{ what }}").with("what", what);
        Some(found.with("rows", rows.len()).with("row", rows.first()?.number))
    }

    /// Of what fails, on so many of the rows that it was tried on: an error where it is all of them.
    pub(crate) fn of_failures(
        place: impl Into<Place>,
        what: &str,
        (failed, of): (u64, u64),
        first: &Example,
    ) -> Self {
        const SAYS: &str = "{{ what }} fails on {% if rows == of %}{{ of | tried }}{% else %}{{ rows | count }} of \
                            {{ of | count }} rows{% endif %}, first on row {{ row }} ({{ id }}): {{ reason }}";
        let found = Self::new(place, SAYS).with("what", what).with("rows", failed).with("of", of);
        found.of_example(first).error_if(failed == of)
    }

    /// With a row, and what is said of it.
    pub(crate) fn of_example(self, first: &Example) -> Self {
        let Example { id, row, reason, .. } = first;
        self.with("row", *row).with("id", id.as_str()).with("reason", reason.as_str())
    }

    pub(crate) fn help(self, help: impl Into<String>) -> Self {
        Self { help: help.into(), ..self }
    }

    /// With one more field.
    pub(crate) fn with(mut self, name: &'static str, value: impl Into<Value>) -> Self {
        self.fields.push((name, value.into()));
        self
    }

    /// As an error where that is so.
    pub(crate) fn error_if(self, is_error: bool) -> Self {
        Self { is_error, ..self }
    }
}

impl<'a> Look<'a> {
    /// The rewards, and how the configuration writes them.
    pub(crate) fn rewards(self) -> impl Iterator<Item = (usize, &'a Planned, &'a RewardConfig)> {
        let all = self.plan.rewards.iter().zip(&self.plan.config.rewards).enumerate();
        all.map(|(at, (planned, config))| (at, planned, config))
    }

    /// The verifier of a reward, where it judges by itself.
    pub(crate) fn verifier(self, at: usize) -> Option<&'a dyn Verifier> {
        match &self.plan.rewards.get(at)?.built.lane {
            Lane::Compute(verifier) => Some(&**verifier),
            _ => None,
        }
    }

    pub(crate) fn aspect(self, at: usize) -> Aspect {
        self.verifier(at).map_or(Aspect::Other, Verifier::aspect)
    }

    /// Whether any reward judges something of a kind.
    pub(crate) fn judges(self, is_it: impl Fn(Aspect) -> bool) -> bool {
        (0..self.plan.rewards.len()).any(|at| is_it(self.aspect(at)))
    }

    /// Whether a reward that judges something of a kind applies to a row.
    pub(crate) fn judges_row(self, row: &Row, is_it: impl Fn(Aspect) -> bool) -> bool {
        let mut rewards = 0..self.plan.rewards.len();
        rewards.any(|at| is_it(self.aspect(at)) && applies(self.plan, at, &row.sample, self.step))
    }

    /// The rows to which the reward at a place applies.
    pub(crate) fn rows_of(self, at: usize) -> Vec<&'a Row> {
        let applies = |row: &&Row| applies(self.plan, at, &row.sample, self.step);
        self.rows.iter().filter(applies).collect()
    }

    /// The rows of which something holds.
    pub(crate) fn rows_with(self, holds: impl Fn(&Row) -> bool) -> Vec<&'a Row> {
        self.rows.iter().filter(|row| holds(row)).collect()
    }
}

impl<'a> Tested<'a> {
    pub(crate) fn plan(self) -> &'a Plan {
        self.look.plan
    }

    /// The command that shows a row.
    pub(crate) fn shows(self, row: u64) -> String {
        format!("`{} --row {row}` shows the row", self.explain)
    }

    /// Whether no answer of a model or a judge is missing.
    pub(crate) fn is_whole(self) -> bool {
        let hangs = (0..self.rewards.len()).any(|at| self.trial.hangs(at));
        !hangs || self.trial.rows.iter().all(|tried| tried.asked)
    }

    /// Whether completions differ.
    pub(crate) fn completions_differ(self) -> bool {
        let mut texts = self.trial.rows.iter().map(|tried| tried.row.sample.completion());
        texts.next().is_some_and(|first| texts.any(|text| text != first))
    }

    /// The places of rewards that judge answers.
    pub(crate) fn judges(self) -> Vec<usize> {
        let all = self.rewards.iter().enumerate();
        all.filter(|(_, report)| report.judges_answers()).map(|(at, _)| at).collect()
    }

    /// The place of what decides something: in its script, where it has one.
    pub(crate) fn place_of(self, role: Role, part: Option<(usize, usize)>) -> Place {
        let script = self.scripts.iter().enumerate().find(|(_, script)| script.role == role);
        match (script, role) {
            (Some((at, script)), _) => {
                Place::Script(at, part.and_then(|part| script.word_at(part)))
            }
            (None, Role::Combine) => Place::Key("combine.how".to_owned()),
            (None, Role::Reward(at) | Role::When(at)) => Place::Reward(at, String::new()),
        }
    }

    /// What rewards earned before they were shaped, and what the row earned.
    pub(crate) fn earned(self, at: usize) -> impl Iterator<Item = (&'a Tried<'a>, f64, f64)> {
        let rows = self.trial.rows.iter();
        rows.filter_map(move |tried| Some((tried, tried.unshaped(at)?, tried.total()?)))
    }

    /// The total of some verdicts at a step, with other rewards in the place of some.
    pub(crate) fn total(
        self,
        verdicts: &[Verdict],
        step: u64,
        other: impl Fn(usize) -> Option<f64>,
    ) -> Option<f64> {
        let own = |(at, own): (usize, &Verdict)| {
            other(at).and_then(Reward::new).map_or_else(|| own.clone(), Verdict::scored)
        };
        let verdicts: Vec<Verdict> = verdicts.iter().enumerate().map(own).collect();
        Some(self.plan().combiner.combine(&verdicts, step).reward()?.get())
    }

    /// The key that says how rewards become one, where that is written out.
    pub(crate) fn written(self) -> Option<&'static str> {
        match self.plan().config.combine.how {
            CombineBy::Expression => Some("combine.expression"),
            CombineBy::Formula => Some("combine.formula"),
            _ => None,
        }
    }

    /// The weight of a reward at the step of the training.
    #[expect(clippy::indexing_slicing, reason = "the place is of a reward of the plan")]
    pub(crate) fn weight(self, at: usize) -> f64 {
        self.plan().rewards[at].weight.at(self.look.step)
    }
}

/// Which rows are so.
pub(crate) fn which(amount: u64, first: u64) -> String {
    match amount {
        1 => format!("row {first}"),
        amount => format!("{} rows, first row {first}", count(amount)),
    }
}

/// The beginning of a text.
pub(crate) fn shown(text: &str) -> String {
    /// Characters that are shown.
    const SHOWN_CHARS: usize = 40;
    assay::data::escape(&text.chars().take(SHOWN_CHARS).collect::<String>())
}

/// Names, as a message lists them.
pub(crate) fn listed<'a>(names: impl IntoIterator<Item = &'a str>) -> String {
    /// The most names that are listed.
    const LISTED_MAX: usize = 12;
    let names: Vec<&str> = names.into_iter().collect();
    let shown: Vec<String> =
        names.iter().take(LISTED_MAX).map(|name| assay::data::escape(name)).collect();
    let more = names.len().saturating_sub(LISTED_MAX);
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    shown.join(", ") + more.as_str()
}

/// So many rows that were tried.
pub(crate) fn tried_on(all: u64) -> String {
    match all {
        1 => "the only row it was tried on".to_owned(),
        all => format!("each of the {} rows it was tried on", count(all)),
    }
}
