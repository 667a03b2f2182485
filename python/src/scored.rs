//! What comes back: a scored sample, its verdicts, and their parts. They become Python values when they
//! are asked for.

use std::sync::Arc;
use std::time::Duration;

use assay::Scored;
use assay::verifiers::{Component, Fault, Outcome, Step, Verdict};
use pyo3::PyClass;
use pyo3::exceptions::PyValueError;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyString, PyTuple};
use serde_json::{Map, Value, json};

use crate::results::Held;
use crate::value::{members_to_python, to_json};

/// The verifier of each reward and its version, in the order of the verdicts.
pub(crate) type VerifierVersions = Arc<[(String, u32)]>;

/// A sample's reward, and the verdicts that it was made of.
///
/// Equal to another where their lines are; it pickles.
///
/// >>> engine = assay.Engine({"version": 1, "reward": [{"name": "right", "verifier": "math"}]})
/// >>> [scored] = engine.score([{"id": "q1", "completion": "It is 4.", "reference": "4"}])
/// >>> scored
/// Scored(id="q1", reward=1.0; right: reward=1.0)
#[pyclass(frozen, eq, name = "Scored", module = "assay")]
pub(crate) struct PyScored(Held, Option<VerifierVersions>);

impl PartialEq for PyScored {
    /// Equal where their lines are: time is not a part of them.
    fn eq(&self, other: &Self) -> bool {
        let (one, other) = (&*self.0, &*other.0);
        (&one.id, &one.group) == (&other.id, &other.group)
            && (&one.outcome, &one.verdicts) == (&other.outcome, &other.verdicts)
    }
}

/// What one verifier came to.
///
/// >>> verdict = assay.check("math", completion="It is 4.", reference="5")
/// >>> verdict.reward, verdict.evidence.get("reason")
/// (0.0, 'proved-unequal')
#[pyclass(frozen, eq, name = "Verdict", module = "assay")]
pub(crate) struct PyVerdict {
    verdict: Verdict,
    /// The verifier and its version, where an engine gave the verdict.
    verifier: Option<(String, u32)>,
}

impl PartialEq for PyVerdict {
    /// Equal where their JSON is.
    fn eq(&self, other: &Self) -> bool {
        self.verdict == other.verdict
    }
}

/// A part of a verdict: a criterion of a rubric, an objective of a model.
///
/// >>> verdict = assay.Verdict.scored(0.5, components={"brief": 1.0, "polite": 0.0})
/// >>> verdict.components["brief"]
/// Component(reward=1.0)
#[pyclass(frozen, eq, name = "Component", module = "assay")]
#[derive(PartialEq)]
pub(crate) struct PyComponent(Component);

/// The reward of one step of a completion.
///
/// >>> line = '{"outcome": "scored", "reward": 1.0, "steps": [{"span": [0, 4], "reward": 0.5}]}'
/// >>> assay.Verdict.from_json(line).steps
/// [Step(span=(0, 4), reward=0.5)]
#[pyclass(frozen, eq, name = "Step", module = "assay")]
#[derive(PartialEq)]
pub(crate) struct PyStep(Step);

/// What a verdict took.
///
/// >>> assay.Verdict.abstained("no code").usage
/// Usage(tokens=0, calls=0)
#[pyclass(frozen, eq, get_all, name = "Usage", module = "assay")]
#[derive(PartialEq)]
pub(crate) struct PyUsage {
    /// Tokens that models read and wrote.
    tokens: u64,
    /// Calls of models and judges.
    calls: u64,
}

impl PyScored {
    /// A result of an engine.
    pub(crate) fn new(held: Held, versions: &VerifierVersions) -> Self {
        Self(held, Some(Arc::clone(versions)))
    }

    /// The result itself.
    pub(crate) fn get(&self) -> &Scored {
        &self.0
    }
}

impl From<Verdict> for PyVerdict {
    fn from(verdict: Verdict) -> Self {
        Self { verdict, verifier: None }
    }
}

impl PyVerdict {
    fn read(read: serde_json::Result<Verdict>) -> PyResult<Self> {
        read.map(Self::from)
            .map_err(|error| PyValueError::new_err(format!("not a verdict: {error}")))
    }
}

/// A reward that is a number.
fn finite(name: &str, reward: f64) -> PyResult<f64> {
    if reward.is_finite() {
        return Ok(reward);
    }
    Err(PyValueError::new_err(format!("{name}: {reward} is not a reward: it must be finite")))
}

/// A mapping as JSON.
fn json_of(name: &str, mapping: &Bound<'_, PyAny>) -> PyResult<Map<String, Value>> {
    match to_json(mapping) {
        Ok(Value::Object(members)) => Ok(members),
        Ok(_) => Err(PyValueError::new_err(format!("{name}: expected a dict"))),
        Err(error) => Err(PyValueError::new_err(error.within(name).to_string())),
    }
}

/// The fault of an outcome, by its kind.
fn fault(outcome: &Outcome) -> Option<String> {
    match outcome {
        Outcome::Failed(fault) => Some(fault.kind.to_string()),
        Outcome::Scored(_) | Outcome::Abstained(_) => None,
    }
}

/// `reward=1.0`, or `failed: Timeout: why`.
fn shown(outcome: &Outcome) -> String {
    let why = outcome.why().unwrap_or_default();
    match (outcome.reward(), fault(outcome)) {
        (Some(reward), _) => format!("reward={:?}", reward.get()),
        (None, Some(fault)) => format!("{}: {fault}: {why}", outcome.name()),
        (None, None) => format!("{}: {why}", outcome.name()),
    }
}

/// The kind of a fault, and why it is.
type FaultParts = (String, String);
type RewardsAndFaults = (Vec<Option<f64>>, Vec<Option<FaultParts>>);

/// The reward of each sample, and the fault of each that could not be judged. A fault of a reward that
/// counts for nothing is none.
#[pyfunction]
#[expect(clippy::needless_pass_by_value, reason = "what Python hands over is taken by value")]
pub(crate) fn rewards_and_faults(
    scored: Vec<PyRef<'_, PyScored>>,
    unweighted: &Bound<'_, PyAny>,
) -> PyResult<RewardsAndFaults> {
    let rewards = scored.iter().map(|one| one.get().reward()).collect();
    let faults = scored.iter().map(|one| counted_fault(one.get(), unweighted));
    Ok((rewards, faults.collect::<PyResult<_>>()?))
}

fn counted_fault(scored: &Scored, unweighted: &Bound<'_, PyAny>) -> PyResult<Option<FaultParts>> {
    let parts = |fault: &Fault| Some((fault.kind.to_string(), fault.why.to_string()));
    if let Outcome::Failed(fault) = &scored.outcome {
        return Ok(parts(fault));
    }
    for (name, verdict) in scored.verdicts.iter() {
        if let Outcome::Failed(fault) = &verdict.outcome
            && !unweighted.contains(name)?
        {
            return Ok(parts(fault));
        }
    }
    Ok(None)
}

#[pymethods]
impl PyScored {
    /// The id of the sample: the one given, or the SHA-256 of its canonical form.
    #[getter]
    fn id(&self) -> &str {
        &self.0.id
    }

    /// The prompt that the sample shares with others, where its row names it.
    #[getter]
    fn group(&self) -> Option<&str> {
        self.0.group.as_deref()
    }

    /// `"scored"`, `"abstained"` (nothing applies) or `"failed"` (it could not be judged).
    #[getter]
    fn outcome(&self) -> &'static str {
        self.0.outcome.name()
    }

    /// The combined reward. `None` unless the outcome is `"scored"`.
    #[getter]
    fn reward(&self) -> Option<f64> {
        self.0.reward()
    }

    /// The kind of fault, such as `"Timeout"`. `None` unless the outcome is `"failed"`.
    #[getter]
    fn fault(&self) -> Option<String> {
        fault(&self.0.outcome)
    }

    /// Why there is no reward.
    #[getter]
    fn why(&self) -> Option<&str> {
        self.0.outcome.why()
    }

    /// The verdicts by the names of their rewards, in the order of the configuration.
    #[getter]
    fn verdicts<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let dict = PyDict::new(py);
        for (at, (name, verdict)) in self.0.verdicts.iter().enumerate() {
            let verifier = self.1.as_ref().and_then(|known| known.get(at)).cloned();
            dict.set_item(name, PyVerdict { verdict: verdict.clone(), verifier })?;
        }
        Ok(dict)
    }

    /// The reward of each verdict by its name; `None` where it has none.
    #[getter]
    fn rewards<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let dict = PyDict::new(py);
        for (name, verdict) in self.0.verdicts.iter() {
            dict.set_item(name, verdict.outcome.reward().map(f64::from))?;
        }
        Ok(dict)
    }

    /// The verdicts that could not be reached: the kind of the fault by the name of the reward.
    #[getter]
    fn faults<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let dict = PyDict::new(py);
        for (name, verdict) in self.0.verdicts.iter() {
            if let Some(kind) = fault(&verdict.outcome) {
                dict.set_item(name, kind)?;
            }
        }
        Ok(dict)
    }

    /// Microseconds spent on each verdict. No part of the line, nor of equality.
    #[getter]
    fn spent_us<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let dict = PyDict::new(py);
        for ((name, _), spent_ns) in self.0.verdicts.iter().zip(&self.0.spent_ns) {
            dict.set_item(name, spent_ns.div_ceil(1000))?;
        }
        Ok(dict)
    }

    /// What a trainer logs of the sample by names: whether it has a fault, whether it abstained, how long
    /// the call took and the sample, and each reward, `missing` where that has no number.
    fn _metrics<'py>(
        &self,
        names: &Bound<'py, PyTuple>,
        is_fault: bool,
        latency_ms: f64,
        missing: Option<f64>,
    ) -> PyResult<Bound<'py, PyDict>> {
        let spent_us = self.0.spent_ns.iter().map(|spent_ns| spent_ns.div_ceil(1000)).sum();
        let sample_ms = 1000.0 * Duration::from_micros(spent_us).as_secs_f64();
        let has_abstained = matches!(self.0.outcome, Outcome::Abstained(_));
        let rates = [f64::from(is_fault), f64::from(has_abstained), latency_ms, sample_ms];
        let rewards = self.0.verdicts.iter().map(|(_, verdict)| verdict.outcome.reward());
        let rewards = rewards.map(|reward| reward.map(f64::from).or(missing));
        let values = rates.into_iter().map(Some).chain(rewards).chain(std::iter::repeat(missing));
        let dict = PyDict::new(names.py());
        for (name, value) in names.iter().zip(values) {
            dict.set_item(name, value)?;
        }
        Ok(dict)
    }

    /// The line of `verdicts.jsonl`, without its end.
    fn to_json(&self) -> String {
        // Keys are text and numbers are finite: nothing here can fail to be written.
        serde_json::to_string(&*self.0).unwrap_or_default()
    }

    /// Reads a line of `verdicts.jsonl`.
    #[staticmethod]
    fn from_json(line: &str) -> PyResult<Self> {
        let read: Result<Scored, _> = serde_json::from_str(line);
        read.map(|scored| Self(Held::from(scored), None))
            .map_err(|error| PyValueError::new_err(format!("not a verdict line: {error}")))
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<(Bound<'py, PyAny>, (String,))> {
        let read = slf.get_type().getattr(intern!(slf.py(), "from_json"))?;
        Ok((read, (slf.get().to_json(),)))
    }

    fn __repr__(&self) -> String {
        let part =
            |(name, verdict): (&str, &Verdict)| format!("{name}: {}", shown(&verdict.outcome));
        let parts: Vec<String> = self.0.verdicts.iter().map(part).collect();
        let id = format!("{:?}", self.0.id);
        format!("Scored(id={id}, {}; {})", shown(&self.0.outcome), parts.join("; "))
    }

    fn _repr_html_(slf: &Bound<'_, Self>) -> PyResult<String> {
        html(slf)
    }
}

#[pymethods]
impl PyVerdict {
    /// `"scored"`, `"abstained"` or `"failed"`.
    #[getter]
    fn outcome(&self) -> &'static str {
        self.verdict.outcome.name()
    }

    /// The reward. `None` unless the outcome is `"scored"`.
    #[getter]
    fn reward(&self) -> Option<f64> {
        self.verdict.outcome.reward().map(f64::from)
    }

    /// The kind of fault. `None` unless the outcome is `"failed"`.
    #[getter]
    fn fault(&self) -> Option<String> {
        fault(&self.verdict.outcome)
    }

    /// Why there is no reward.
    #[getter]
    fn why(&self) -> Option<&str> {
        self.verdict.outcome.why()
    }

    /// What led to the outcome. A `span` counts bytes: `completion.encode()[start:end]`.
    #[getter]
    fn evidence<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        members_to_python(py, self.verdict.evidence.iter())
    }

    /// The parts of the verdict by name.
    #[getter]
    fn components<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let dict = PyDict::new(py);
        for (name, component) in self.verdict.components.iter() {
            dict.set_item(name, PyComponent(component.clone()))?;
        }
        Ok(dict)
    }

    /// The rewards of the steps of the completion, in their order.
    #[getter]
    fn steps<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        let steps: PyResult<Vec<_>> =
            self.verdict.steps.iter().map(|step| Bound::new(py, PyStep(*step))).collect();
        PyList::new(py, steps?)
    }

    /// The verifier that gave it; `None` for one that was read from JSON.
    #[getter]
    fn verifier(&self) -> Option<&str> {
        self.verifier.as_ref().map(|(id, _)| id.as_str())
    }

    /// The version of that verifier, which is raised whenever the same sample may get another verdict.
    #[getter]
    fn version(&self) -> Option<u32> {
        self.verifier.as_ref().map(|(_, version)| *version)
    }

    /// What it took.
    #[getter]
    fn usage(&self) -> PyUsage {
        PyUsage { tokens: self.verdict.usage.tokens, calls: self.verdict.usage.calls }
    }

    /// The JSON form, as in a verdict line.
    fn to_json(&self) -> String {
        serde_json::to_string(&self.verdict).unwrap_or_default()
    }

    /// Reads the JSON form.
    #[staticmethod]
    fn from_json(line: &str) -> PyResult<Self> {
        Self::read(serde_json::from_str(line))
    }

    /// A verdict with a reward, for verifiers in Python.
    #[staticmethod]
    #[pyo3(signature = (reward, *, evidence=None, components=None))]
    fn scored(
        reward: f64,
        evidence: Option<&Bound<'_, PyAny>>,
        components: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Self> {
        let mut verdict = Map::new();
        verdict.insert("outcome".to_owned(), "scored".into());
        verdict.insert("reward".to_owned(), finite("reward", reward)?.into());
        if let Some(evidence) = evidence {
            verdict.insert("evidence".to_owned(), json_of("evidence", evidence)?.into());
        }
        if let Some(components) = components {
            let scored = |(name, reward)| (name, json!({"outcome": "scored", "reward": reward}));
            let parts = json_of("components", components)?.into_iter().map(scored);
            verdict.insert("components".to_owned(), parts.collect());
        }
        let verdict = Value::Object(verdict);
        Self::read(serde_json::from_value(verdict))
    }

    /// A verdict that the verifier does not apply.
    #[staticmethod]
    fn abstained(why: String) -> Self {
        Verdict::abstained(why).into()
    }

    /// A verdict that the sample could not be judged: a fault such as `"Upstream"`, and why.
    #[staticmethod]
    fn failed(fault: &str, why: &str) -> PyResult<Self> {
        Self::read(serde_json::from_value(json!({"outcome": "failed", "fault": fault, "why": why})))
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<(Bound<'py, PyAny>, (String,))> {
        let read = slf.get_type().getattr(intern!(slf.py(), "from_json"))?;
        Ok((read, (slf.get().to_json(),)))
    }

    fn __repr__(&self) -> String {
        format!("Verdict({})", shown(&self.verdict.outcome))
    }

    fn _repr_html_(slf: &Bound<'_, Self>) -> PyResult<String> {
        html(slf)
    }
}

#[pymethods]
impl PyComponent {
    /// `"scored"`, `"abstained"` or `"failed"`.
    #[getter]
    fn outcome(&self) -> &'static str {
        self.0.outcome.name()
    }

    /// The reward. `None` unless the outcome is `"scored"`.
    #[getter]
    fn reward(&self) -> Option<f64> {
        self.0.outcome.reward().map(f64::from)
    }

    /// The kind of fault. `None` unless the outcome is `"failed"`.
    #[getter]
    fn fault(&self) -> Option<String> {
        fault(&self.0.outcome)
    }

    /// Why there is no reward.
    #[getter]
    fn why(&self) -> Option<&str> {
        self.0.outcome.why()
    }

    /// What led to the outcome.
    #[getter]
    fn evidence<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        members_to_python(py, self.0.evidence.iter())
    }

    fn __repr__(&self) -> String {
        format!("Component({})", shown(&self.0.outcome))
    }
}

#[pymethods]
impl PyStep {
    /// Its place in the completion: `completion.encode()[start:end]`.
    #[getter]
    fn span(&self) -> (usize, usize) {
        self.0.span
    }

    /// The message that it is a part of, where the completion is a conversation.
    #[getter]
    fn turn(&self) -> Option<usize> {
        self.0.turn
    }

    /// Its tokens, from and to, where they are known.
    #[getter]
    fn tokens(&self) -> Option<(usize, usize)> {
        self.0.tokens
    }

    /// Its reward.
    #[getter]
    fn reward(&self) -> f64 {
        self.0.reward.get()
    }

    fn __repr__(&self) -> String {
        let (start, end) = self.0.span;
        format!("Step(span=({start}, {end}), reward={:?})", self.0.reward.get())
    }
}

#[pymethods]
impl PyUsage {
    fn __repr__(&self) -> String {
        format!("Usage(tokens={}, calls={})", self.tokens, self.calls)
    }
}

/// The picture of a result in a notebook, which Python draws.
fn html<T: PyClass>(result: &Bound<'_, T>) -> PyResult<String> {
    let py = result.py();
    let draw = py.import(intern!(py, "assay._html"))?.getattr(intern!(py, "of_result"))?;
    Ok(draw.call1((result,))?.cast::<PyString>()?.to_string())
}
