//! Advantages: columns in, a number for each rollout or token out.

#![expect(clippy::needless_pass_by_value, reason = "what Python hands over is taken by value")]
#![allow(unsafe_code, reason = "advantages are written to a new array without the interpreter")]

use std::collections::BTreeMap;

use assay::trainer::advantages::{
    self as estimators, AdvantageValues, Estimator, EstimatorState, GroupReport, PolicyTokens,
    RewardBatch, RewardPart, StepReward,
};
use assay::trainer::{Groups, Ragged, TrainerError};
use pyo3::buffer::PyBuffer;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::columns::{self, Columns, Numbers, TokenNumbers, wrong};
use crate::error;
use crate::interpreter::detached;
use crate::shaped::Kind;
use crate::value;

/// Numbers by name, that an estimator keeps.
type Kept = BTreeMap<String, Vec<f64>>;
/// The advantages, the report, and what is kept for the next call.
type Answer<'py> = (Bound<'py, PyAny>, Bound<'py, PyAny>, Kept);

/// What an estimator needs beside the rewards, as far as it is given.
struct Beside {
    parts: Vec<(String, f64, Numbers)>,
    lengths: Option<Vec<usize>>,
    mask: Option<Ragged<bool>>,
    token_rewards: Option<Ragged<f64>>,
    token_values: Option<Ragged<f64>>,
    policy: Option<Policy>,
    steps: Option<Ragged<StepReward>>,
    step_tags: Option<Ragged<String>>,
    starts: Option<Vec<usize>>,
    roles: Option<Vec<String>>,
    prompts: Option<Vec<String>>,
    values: Option<Numbers>,
    state: Option<EstimatorState>,
    /// How many tokens a row has, where a column came as a padded array.
    width: Option<usize>,
}

/// What the policy says of each token.
struct Policy {
    log_probs: Ragged<f64>,
    sum_pi_squared: Ragged<f64>,
    weights: Option<Ragged<f64>>,
}

/// The advantages of a batch.
#[pyfunction]
pub(crate) fn advantages<'py>(py: Python<'py>, given: Columns<'py>) -> PyResult<Answer<'py>> {
    let estimator = estimators::build(given.settings()?);
    let estimator = estimator.map_err(error::of_trainer)?;
    let column = given.need("rewards")?;
    let rewards = columns::numbers("rewards", &column)?;
    let rows = rewards.as_slice().len();
    let keys = given.groups(rows)?;
    let groups = detached(py, || keys.groups(rows)).map_err(error::of_trainer)?;
    let kind = Kind::of(&column)?;
    let beside = Beside::read(&given)?;
    if beside.is_nothing()
        && let Some(array) = kind.room(rows)?
        && let Some(report) = written(py, &*estimator, (&groups, &rewards), &array)?
    {
        return Ok((kind.finished(array)?, told(py, report)?, Kept::new()));
    }
    let found = detached(py, || beside.estimate(&*estimator, &groups, rewards.as_slice()));
    let found = found.map_err(error::of_trainer)?;
    let values = match &found.values {
        AdvantageValues::Rollouts(values) => kind.row(py, values)?,
        AdvantageValues::Tokens(values) => {
            let kind = if kind.is_list() { padded_kind(&given)? } else { kind };
            kind.rows(py, values, beside.width)?
        }
    };
    Ok((values, told(py, found.report)?, found.state.0))
}

/// Writes the advantages into a new array. Nothing is written by an estimator that has more than one
/// number for each rollout.
fn written(
    py: Python<'_>,
    estimator: &dyn Estimator,
    (groups, rewards): (&Groups, &Numbers),
    array: &Bound<'_, PyAny>,
) -> PyResult<Option<GroupReport>> {
    let room = PyBuffer::<f64>::get(array)?;
    let Some(mut out) = room.as_slice_ptr() else { return Ok(None) };
    // SAFETY: the array was made for this call, has no gaps, and nobody else knows it yet.
    let out = unsafe { out.as_mut() };
    let batch = RewardBatch::new(groups, rewards.as_slice()).map_err(error::of_trainer)?;
    match detached(py, || estimator.estimate_into(&batch, out)) {
        Ok(report) => Ok(Some(report)),
        Err(TrainerError::Input { what, .. }) if what == "advantages" => Ok(None),
        Err(error) => Err(error::of_trainer(error)),
    }
}

/// The kind of the padded column, where rewards are a list.
fn padded_kind<'py>(given: &Columns<'py>) -> PyResult<Kind<'py>> {
    for name in ["mask", "token_rewards", "token_values"] {
        if let Some(column) = given.get(name)? {
            return Kind::of_rows(&column);
        }
    }
    Ok(Kind::List)
}

fn told(py: Python<'_>, report: GroupReport) -> PyResult<Bound<'_, PyAny>> {
    value::to_python(py, &serde_json::to_value(report).unwrap_or_default())
}

impl Beside {
    fn read(given: &Columns<'_>) -> PyResult<Self> {
        let (mask, mask_width) = given.token_flags("mask")?.unzip();
        let token_rewards = given.tokens("token_rewards")?;
        let token_values = given.tokens("token_values")?;
        let padded = [&token_rewards, &token_values];
        let padded = padded.into_iter().flatten().find_map(|tokens| tokens.width);
        let state = given.get("state")?.map(|state| {
            state.extract::<Kept>().map(EstimatorState).map_err(|_| {
                wrong("state", "expected the `state` of an earlier call: lists of numbers by name")
            })
        });
        Ok(Self {
            parts: parts(given)?,
            lengths: given.counts("lengths")?,
            mask,
            token_rewards: token_rewards.map(|tokens| tokens.rows),
            token_values: token_values.map(|tokens| tokens.rows),
            policy: policy(given)?,
            steps: steps(given)?,
            step_tags: step_tags(given)?,
            starts: given.counts("starts")?,
            roles: given.texts("roles")?,
            prompts: given.texts("prompts")?,
            values: given.numbers("values")?,
            state: state.transpose()?,
            width: mask_width.flatten().or(padded),
        })
    }

    fn is_nothing(&self) -> bool {
        let tokens = self.mask.is_some() || self.token_rewards.is_some();
        let of_policy = self.token_values.is_some() || self.policy.is_some();
        let steps = self.steps.is_some() || self.step_tags.is_some();
        let texts = self.roles.is_some() || self.prompts.is_some();
        let numbers = self.lengths.is_some() || self.starts.is_some() || self.values.is_some();
        let is_any = tokens || of_policy || steps || texts || numbers || self.state.is_some();
        !is_any && self.parts.is_empty()
    }

    fn estimate(
        &self,
        estimator: &dyn Estimator,
        groups: &Groups,
        rewards: &[f64],
    ) -> Result<estimators::Advantages, TrainerError> {
        for (name, _, rewards) in &self.parts {
            groups.along(&format!("parts: {name}"), rewards.as_slice().len())?;
        }
        let parts: Vec<RewardPart<'_>> = self
            .parts
            .iter()
            .map(|(name, weight, rewards)| RewardPart {
                name,
                weight: *weight,
                rewards: rewards.as_slice(),
            })
            .collect();
        let policy = self.policy.as_ref().map(|policy| PolicyTokens {
            log_probs: &policy.log_probs,
            sum_pi_squared: &policy.sum_pi_squared,
            weights: policy.weights.as_ref(),
        });
        let first = EstimatorState::default();
        estimator.estimate(&RewardBatch {
            parts: &parts,
            lengths: self.lengths.as_deref(),
            mask: self.mask.as_ref(),
            token_rewards: self.token_rewards.as_ref(),
            token_values: self.token_values.as_ref(),
            policy,
            steps: self.steps.as_ref(),
            step_tags: self.step_tags.as_ref(),
            starts: self.starts.as_deref(),
            roles: self.roles.as_deref(),
            prompts: self.prompts.as_deref(),
            values: self.values.as_ref().map(Numbers::as_slice),
            state: Some(self.state.as_ref().unwrap_or(&first)),
            ..RewardBatch::new(groups, rewards)?
        })
    }
}

/// The parts that rewards were combined from, and their weights.
fn parts(given: &Columns<'_>) -> PyResult<Vec<(String, f64, Numbers)>> {
    let Some(parts) = given.get("parts")? else { return Ok(Vec::new()) };
    let parts = parts.cast::<PyDict>().map_err(|_| wrong("parts", "expected rewards by name"))?;
    let weights = given.get("part_weights")?;
    let mut read = Vec::with_capacity(parts.len());
    for (name, rewards) in parts.iter() {
        let text: String = name.extract().map_err(|_| wrong("parts", "expected texts as names"))?;
        let rewards = columns::numbers(&format!("parts: {text}"), &rewards)?;
        let weight = weights.as_ref().and_then(|weights| weights.get_item(&name).ok());
        let weight = weight.map(|weight| weight.extract::<f64>()).transpose();
        let weight =
            weight.map_err(|_| wrong("part_weights", "expected a number for each name"))?;
        read.push((text, weight.unwrap_or(1.0), rewards));
    }
    Ok(read)
}

fn policy(given: &Columns<'_>) -> PyResult<Option<Policy>> {
    let Some(policy) = given.get("policy")? else { return Ok(None) };
    let expected = "expected a dict of log_probs, sum_pi_squared and, where they are, weights";
    let policy = Columns(policy.cast_into().map_err(|_| wrong("policy", expected))?);
    let need = |name: &str| {
        let rows: Option<TokenNumbers> = policy.tokens(name)?;
        rows.map(|tokens| tokens.rows).ok_or_else(|| wrong(&format!("policy: {name}"), "not given"))
    };
    Ok(Some(Policy {
        log_probs: need("log_probs")?,
        sum_pi_squared: need("sum_pi_squared")?,
        weights: policy.tokens("weights")?.map(|tokens| tokens.rows),
    }))
}

/// The steps of each rollout: pairs of the token after the last one and the reward, triples with the
/// first token before them, dicts of `end`, `reward` and `start`, or the steps of a verdict.
fn steps(given: &Columns<'_>) -> PyResult<Option<Ragged<StepReward>>> {
    let Some(column) = given.get("steps")? else { return Ok(None) };
    let mut steps = Ragged::new();
    for (row, of_row) in columns::items("steps", &column)?.enumerate() {
        let what = format!("steps: row {row}");
        let steps_of_row = columns::items(&what, &of_row?)?;
        let read: PyResult<Vec<_>> = steps_of_row.map(|one| step(&what, &one?)).collect();
        steps.push(read?);
    }
    Ok(Some(steps))
}

fn step(what: &str, given: &Bound<'_, PyAny>) -> PyResult<StepReward> {
    let (start, end, reward) = match given.cast::<PyDict>() {
        Ok(step) => (step.get_item("start")?, step.get_item("end")?, step.get_item("reward")?),
        Err(_) if given.hasattr("reward")? => {
            let tokens = given.getattr("tokens")?;
            (tokens.get_item(0).ok(), tokens.get_item(1).ok(), Some(given.getattr("reward")?))
        }
        Err(_) if given.len().is_ok_and(|parts| parts == 3) => {
            (given.get_item(0).ok(), given.get_item(1).ok(), given.get_item(2).ok())
        }
        Err(_) => (None, given.get_item(0).ok(), given.get_item(1).ok()),
    };
    let start = start.filter(|start| !start.is_none()).map(|start| start.extract::<usize>());
    let end = end.and_then(|end| end.extract::<usize>().ok());
    let reward: Option<Option<f64>> = reward.and_then(|reward| reward.extract().ok());
    let (Some(end), Some(reward), Ok(start)) = (end, reward, start.transpose()) else {
        let why = "expected (end, reward) or (start, end, reward): the first token of a step, the one \
                   after its last, a number";
        return Err(wrong(what, why));
    };
    Ok(StepReward { start, end, reward: reward.unwrap_or(f64::NAN) })
}

fn step_tags(given: &Columns<'_>) -> PyResult<Option<Ragged<String>>> {
    let Some(column) = given.get("step_tags")? else { return Ok(None) };
    let mut tags = Ragged::new();
    for (row, of_row) in columns::items("step_tags", &column)?.enumerate() {
        tags.push(columns::texts(&format!("step_tags: row {row}"), &of_row?)?);
    }
    Ok(Some(tags))
}
