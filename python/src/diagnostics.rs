//! Diagnostics that are functions of a few columns.

#![expect(clippy::needless_pass_by_value, reason = "what Python hands over is taken by value")]

use assay::trainer::Groups;
use assay::trainer::diagnostics::{self, Resampling};
use pyo3::prelude::*;
use serde::Serialize;
use serde_json::Value;

use crate::columns::{Columns, Numbers, wrong};
use crate::error;
use crate::interpreter::detached;
use crate::value;

/// The probability that one of `k` samples is correct.
#[pyfunction]
pub(crate) fn pass_at_k(samples: usize, correct: usize, k: usize) -> Option<f64> {
    diagnostics::pass_at_k(samples, correct, k)
}

/// pass@k over many prompts, with intervals.
#[pyfunction]
pub(crate) fn pass_curve<'py>(py: Python<'py>, given: Columns<'py>) -> PyResult<Bound<'py, PyAny>> {
    let labels = labels(&given, "correct")?.ok_or_else(|| wrong("correct", "not given"))?;
    let groups = groups(&given, labels.len())?;
    let counts = diagnostics::prompt_counts(&groups, &labels).map_err(error::of_trainer)?;
    let most = counts.iter().map(|prompt| prompt.samples).max().unwrap_or_default();
    let ks = given.counts("ks")?.unwrap_or_else(|| diagnostics::powers_of_two(most));
    let how = Resampling {
        resamples: given.need("resamples")?.extract()?,
        level: given.need("level")?.extract()?,
        seed: given.need("seed")?.extract()?,
    };
    told(py, &detached(py, || diagnostics::pass_curve(&counts, &ks, how)))
}

/// How two series go together, over all rows or within groups.
#[pyfunction]
pub(crate) fn correlation<'py>(
    py: Python<'py>,
    given: Columns<'py>,
) -> PyResult<Bound<'py, PyAny>> {
    let (x, y) = (numbers(&given, "x")?, numbers(&given, "y")?);
    let (x, y) = (x.as_slice(), y.as_slice());
    if x.len() != y.len() {
        return Err(wrong("y", &format!("{} values, expected {}: as many as x", y.len(), x.len())));
    }
    if given.get("groups")?.is_none() {
        return told(py, &detached(py, || diagnostics::correlation(x, y)));
    }
    let groups = groups(&given, x.len())?;
    let found = detached(py, || diagnostics::correlation_within(&groups, x, y));
    told(py, &found.map_err(error::of_trainer)?)
}

/// Whether longer responses earn more.
#[pyfunction]
pub(crate) fn length_bias<'py>(
    py: Python<'py>,
    given: Columns<'py>,
) -> PyResult<Bound<'py, PyAny>> {
    let (lengths, rewards) = (numbers(&given, "lengths")?, numbers(&given, "rewards")?);
    let (lengths, rewards) = (lengths.as_slice(), rewards.as_slice());
    let groups = groups(&given, rewards.len())?;
    groups.along("lengths", lengths.len()).map_err(error::of_trainer)?;
    let labels = labels(&given, "correct")?.unwrap_or_default();
    let found = detached(py, || diagnostics::length_bias(&groups, lengths, rewards, &labels));
    told(py, &found.map_err(error::of_trainer)?)
}

fn numbers(given: &Columns<'_>, name: &str) -> PyResult<Numbers> {
    given.numbers(name)?.ok_or_else(|| wrong(name, "not given"))
}

/// Labels: any number but 0 is true, and what is missing has none.
fn labels(given: &Columns<'_>, name: &str) -> PyResult<Option<Vec<Option<bool>>>> {
    let label = |number: &f64| (!number.is_nan()).then_some(*number != 0.0);
    Ok(given.numbers(name)?.map(|numbers| numbers.as_slice().iter().map(label).collect()))
}

fn groups(given: &Columns<'_>, rows: usize) -> PyResult<Groups> {
    given.groups(rows)?.groups(rows).map_err(error::of_trainer)
}

fn told<'py>(py: Python<'py>, found: &impl Serialize) -> PyResult<Bound<'py, PyAny>> {
    value::to_python(py, &serde_json::to_value(found).unwrap_or(Value::Null))
}
