//! Losses: log-probabilities and advantages in, a value and its gradient out.

#![expect(clippy::needless_pass_by_value, reason = "what Python hands over is taken by value")]

use std::collections::BTreeMap;

use assay::trainer::Ragged;
use assay::trainer::advantages::AdvantageValues;
use assay::trainer::losses::preference::PairedBatch;
use assay::trainer::losses::{
    self, BatchScale, EntropyState, Loss, LossBatch, PreferenceLoss, PreferencePair,
};
use assay::verifiers::from_value;
use pyo3::prelude::*;
use pyo3::types::PyString;

use crate::columns::{self, Columns, Numbers, TokenNumbers, wrong};
use crate::error::{self, ConfigError};
use crate::interpreter::detached;
use crate::shaped::Kind;
use crate::value;

/// The value, the gradient, that of the entropies, the metrics, and what is kept for the next call.
type Answer<'py> = (
    f64,
    Bound<'py, PyAny>,
    Option<Bound<'py, PyAny>>,
    BTreeMap<&'static str, f64>,
    Option<Bound<'py, PyAny>>,
);

/// The columns of a call.
struct LossColumns {
    logp: TokenNumbers,
    advantages: AdvantageValues,
    old: Option<Ragged<f64>>,
    reference: Option<Ragged<f64>>,
    rollout: Option<Ragged<f64>>,
    proximal: Option<Ragged<f64>>,
    entropies: Option<Ragged<f64>>,
    mask: Option<Ragged<bool>>,
    durations: Option<Ragged<f64>>,
    demonstrations: Option<Vec<bool>>,
    staleness: Option<Vec<u64>>,
    kl_weights: Option<Numbers>,
    completion_max: Option<f64>,
    scale: BatchScale,
    entropy_state: Option<EntropyState>,
    seed: u64,
}

/// The loss of a batch, and its gradient.
#[pyfunction]
pub(crate) fn policy_loss<'py>(py: Python<'py>, given: Columns<'py>) -> PyResult<Answer<'py>> {
    let loss = losses::build(given.settings()?).map_err(error::of_trainer)?;
    let columns = LossColumns::read(&given, advantages(&given)?)?;
    let found = detached(py, || loss.loss(&columns.batch())).map_err(error::of_trainer)?;
    let Loss { value, gradient, entropy_gradient, metrics, entropy_state } = found;
    let kind = Kind::of_rows(&given.need("logp")?)?;
    let width = columns.logp.width;
    let entropy_gradient =
        entropy_gradient.map(|gradient| kind.rows(py, &gradient, width)).transpose()?;
    let state = entropy_state
        .map(|state| value::to_python(py, &serde_json::to_value(state).unwrap_or_default()));
    Ok((value, kind.rows(py, &gradient, width)?, entropy_gradient, metrics, state.transpose()?))
}

/// The loss of pairs of rows, and its gradient.
#[pyfunction]
pub(crate) fn preference_loss<'py>(
    py: Python<'py>,
    given: Columns<'py>,
) -> PyResult<(f64, Bound<'py, PyAny>, BTreeMap<&'static str, f64>)> {
    let loss = from_value::<PreferenceLoss>(&given.settings()?.into());
    let loss = loss.map_err(|error| ConfigError::new_err(error.message))?;
    let need = |name: &str| given.tokens(name)?.ok_or_else(|| wrong(name, "not given"));
    let (logp, reference) = (need("logp")?, need("reference")?.rows);
    let mask = given.token_flags("mask")?.map(|(mask, _)| mask);
    let pairs = given.need("pairs")?.extract::<Vec<(usize, usize)>>();
    let pairs =
        pairs.map_err(|_| wrong("pairs", "expected the row of each preferred one and another"))?;
    let pairs: Vec<PreferencePair> =
        pairs.into_iter().map(|(chosen, rejected)| PreferencePair { chosen, rejected }).collect();
    let batch =
        PairedBatch { logp: &logp.rows, reference: &reference, mask: mask.as_ref(), pairs: &pairs };
    let found = detached(py, || loss.loss(&batch)).map_err(error::of_trainer)?;
    let kind = Kind::of_rows(&given.need("logp")?)?;
    Ok((found.value, kind.rows(py, &found.gradient, logp.width)?, found.metrics))
}

/// The penalty of each token for its divergence from the reference.
#[pyfunction]
pub(crate) fn kl_rewards<'py>(py: Python<'py>, given: Columns<'py>) -> PyResult<Bound<'py, PyAny>> {
    let loss = losses::build(given.settings()?).map_err(error::of_trainer)?;
    // It is the same whatever a rollout is worth.
    let rows = given.tokens("logp")?.map_or(0, |logp| logp.rows.rows());
    let columns = LossColumns::read(&given, AdvantageValues::Rollouts(vec![0.0; rows]))?;
    let found = detached(py, || loss.token_rewards(&columns.batch())).map_err(error::of_trainer)?;
    Kind::of_rows(&given.need("logp")?)?.rows(py, &found, columns.logp.width)
}

impl LossColumns {
    fn read(given: &Columns<'_>, advantages: AdvantageValues) -> PyResult<Self> {
        let rows = |name: &str| Ok::<_, PyErr>(given.tokens(name)?.map(|tokens| tokens.rows));
        let logp = given.tokens("logp")?.ok_or_else(|| wrong("logp", "not given"))?;
        let staleness = given.counts("staleness")?;
        let maximum = given.get("completion_max")?.map(|most| most.extract::<f64>());
        Ok(Self {
            advantages,
            logp,
            old: rows("old")?,
            reference: rows("reference")?,
            rollout: rows("rollout")?,
            proximal: rows("proximal")?,
            entropies: rows("entropies")?,
            mask: given.token_flags("mask")?.map(|(mask, _)| mask),
            durations: rows("durations")?,
            demonstrations: given.flags("demonstrations")?,
            staleness: staleness.map(|rows| rows.into_iter().map(|row| row as u64).collect()),
            kl_weights: given.numbers("kl_weights")?,
            completion_max: maximum
                .transpose()
                .map_err(|_| wrong("completion_max", "expected a number"))?,
            scale: given.table("scale")?,
            entropy_state: given.table("entropy_state")?,
            seed: match given.get("seed")? {
                None => 0,
                Some(seed) => {
                    seed.extract().map_err(|_| wrong("seed", "expected an int from 0 on"))?
                }
            },
        })
    }

    fn batch(&self) -> LossBatch<'_> {
        LossBatch {
            old: self.old.as_ref(),
            reference: self.reference.as_ref(),
            rollout: self.rollout.as_ref(),
            proximal: self.proximal.as_ref(),
            entropy: self.entropies.as_ref(),
            mask: self.mask.as_ref(),
            durations: self.durations.as_ref(),
            demonstrations: self.demonstrations.as_deref(),
            staleness: self.staleness.as_deref(),
            kl_weights: self.kl_weights.as_ref().map(Numbers::as_slice),
            completion_max: self.completion_max,
            scale: self.scale,
            entropy_state: self.entropy_state,
            seed: self.seed,
            ..LossBatch::new(&self.logp.rows, &self.advantages)
        }
    }
}

/// A number for each rollout, or a row for each: what the first of them is tells which.
fn advantages(given: &Columns<'_>) -> PyResult<AdvantageValues> {
    let (what, column) = ("advantages", given.need("advantages")?);
    let dimensions = column.getattr("ndim").and_then(|dimensions| dimensions.extract::<usize>());
    let first = columns::items(what, &column)?.next().transpose()?;
    let is_row =
        |first: &Bound<'_, PyAny>| !first.is_instance_of::<PyString>() && first.len().is_ok();
    if dimensions.is_ok_and(|dimensions| dimensions > 1) || first.as_ref().is_some_and(is_row) {
        return Ok(AdvantageValues::Tokens(columns::tokens(what, &column)?.rows));
    }
    Ok(AdvantageValues::Rollouts(columns::numbers(what, &column)?.as_slice().to_vec()))
}
