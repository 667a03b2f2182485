//! Selection: columns in, what becomes of each rollout out.

#![expect(clippy::needless_pass_by_value, reason = "what Python hands over is taken by value")]

use assay::trainer::selection::{self, Attempt, RolloutBatch, Selection, SelectionState, Selector};
use assay::trainer::{Groups, Ragged, TrainerError};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use serde::Serialize;
use serde_json::Value;

use crate::columns::{self, Columns, Numbers, wrong};
use crate::error;
use crate::interpreter::detached;
use crate::shaped::Kind;
use crate::value;

/// What a policy needs beside the rewards, as far as it is given.
struct Beside {
    ids: Option<Vec<String>>,
    prompts: Option<Vec<String>>,
    advantages: Option<Numbers>,
    lengths: Option<Vec<usize>>,
    truncated: Option<Vec<bool>>,
    step_means: Option<Numbers>,
    step_counts: Option<Vec<usize>>,
    pass_rates: Option<Numbers>,
    curves: Option<Ragged<f64>>,
    extra: Option<Vec<bool>>,
    attempts: Option<Vec<Attempt>>,
    versions: Option<Vec<u64>>,
    version: Option<u64>,
    state: SelectionState,
}

/// What becomes of the rollouts of a batch, by name.
#[pyfunction]
pub(crate) fn select<'py>(py: Python<'py>, given: Columns<'py>) -> PyResult<Bound<'py, PyDict>> {
    let selector = selection::build(given.settings()?).map_err(error::of_trainer)?;
    let column = given.need("rewards")?;
    let rewards = columns::numbers("rewards", &column)?;
    let rows = rewards.as_slice().len();
    let keys = given.groups(rows)?;
    let groups = detached(py, || keys.groups(rows)).map_err(error::of_trainer)?;
    let beside = Beside::read(&given, &groups)?;
    let selected = detached(py, || beside.select(&*selector, &groups, rewards.as_slice()));
    answer(py, &Kind::of(&column)?, &selected.map_err(error::of_trainer)?)
}

impl Beside {
    fn read(given: &Columns<'_>, groups: &Groups) -> PyResult<Self> {
        let mut state: SelectionState = given.table("state")?;
        if let Some(seed) = given.get("seed")?.filter(|_| state == SelectionState::default()) {
            let seed = seed.extract::<u64>();
            state.seed = seed.map_err(|_| wrong("seed", "expected an int from 0 on"))?;
        }
        let mut prompts = given.texts("prompts")?;
        if let Some(rows) = prompts.as_mut().filter(|rows| rows.len() == groups.rows()) {
            let first = |group: usize| groups.members(group).row(0);
            let first = (0..groups.len()).filter_map(first);
            *rows = first.filter_map(|row| rows.get(row).cloned()).collect();
        }
        Ok(Self {
            ids: given.texts("ids")?,
            prompts,
            advantages: given.numbers("advantages")?,
            lengths: given.counts("lengths")?,
            truncated: given.flags("truncated")?,
            step_means: given.numbers("step_means")?,
            step_counts: given.counts("step_counts")?,
            pass_rates: given.numbers("pass_rates")?,
            curves: given.tokens("curves")?.map(|curves| curves.rows),
            extra: given.flags("extra")?,
            attempts: given.table("attempts")?,
            versions: given
                .counts("versions")?
                .map(|all| all.into_iter().map(|version| version as u64).collect()),
            version: given
                .get("version")?
                .map(|version| version.extract())
                .transpose()
                .map_err(|_: PyErr| wrong("version", "expected an int from 0 on"))?,
            state,
        })
    }

    fn select(
        &self,
        selector: &dyn Selector,
        groups: &Groups,
        rewards: &[f64],
    ) -> Result<Selection, TrainerError> {
        let batch = RolloutBatch {
            ids: self.ids.as_deref(),
            prompts: self.prompts.as_deref(),
            advantages: self.advantages.as_ref().map(Numbers::as_slice),
            lengths: self.lengths.as_deref(),
            truncated: self.truncated.as_deref(),
            step_means: self.step_means.as_ref().map(Numbers::as_slice),
            step_counts: self.step_counts.as_deref(),
            pass_rates: self.pass_rates.as_ref().map(Numbers::as_slice),
            curves: self.curves.as_ref(),
            extra: self.extra.as_deref(),
            attempts: self.attempts.as_deref(),
            versions: self.versions.as_deref(),
            version: self.version,
            ..RolloutBatch::new(groups, rewards)?
        };
        selector.select(&batch, &self.state)
    }
}

fn answer<'py>(
    py: Python<'py>,
    kind: &Kind<'py>,
    selected: &Selection,
) -> PyResult<Bound<'py, PyDict>> {
    let answer = PyDict::new(py);
    let kept = || selected.kept.iter();
    let (rows, from): (Vec<usize>, Vec<usize>) =
        kept().map(|kept| (kept.row, kept.from_token)).unzip();
    answer.set_item("kept", kind.places(py, &rows)?)?;
    let weights: Vec<f64> = kept().map(|kept| kept.weight).collect();
    answer.set_item("weights", kind.row(py, &weights)?)?;
    answer.set_item("from_tokens", kind.places(py, &from)?)?;
    answer.set_item("held", kind.places(py, &selected.held)?)?;
    let dropped = PyDict::new(py);
    for drop in &selected.dropped {
        dropped.set_item(drop.row, plain(py, &drop.reason)?)?;
    }
    answer.set_item("dropped", dropped)?;
    let pairs: Vec<(usize, usize)> =
        selected.pairs.iter().map(|pair| (pair.chosen, pair.rejected)).collect();
    answer.set_item("pairs", pairs)?;
    answer.set_item("ready", selected.ready)?;
    answer.set_item("replayed", plain(py, &selected.replayed)?)?;
    answer.set_item("requests", plain(py, &selected.requests)?)?;
    answer.set_item("stored", plain(py, &selected.stored)?)?;
    answer.set_item("released", plain(py, &selected.released)?)?;
    answer.set_item("prompt_weights", plain(py, &selected.prompt_weights)?)?;
    answer.set_item("metrics", plain(py, &selected.metrics)?)?;
    answer.set_item("state", plain(py, &selected.state)?)?;
    Ok(answer)
}

fn plain<'py>(py: Python<'py>, part: &impl Serialize) -> PyResult<Bound<'py, PyAny>> {
    value::to_python(py, &serde_json::to_value(part).unwrap_or(Value::Null))
}
