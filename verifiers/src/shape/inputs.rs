//! What the names of a formula stand for in one row.

use super::length::CompletionLength;
use super::member::{no_such, other_of, truncated};
use crate::formula::FormulaInput;
use crate::prelude::*;
use crate::sample::Sample;
use crate::verdict::Step;
use crate::verifier::Earlier;

/// A row as a formula sees it.
pub(crate) struct InputRow<'a> {
    pub(crate) sample: &'a Sample,
    /// The verdicts of other rewards.
    pub(crate) earlier: Earlier<'a>,
    /// The reward as shaped so far.
    pub(crate) reward: Option<f64>,
    pub(crate) steps: &'a [Step],
}

/// Why a number is missing.
#[derive(Clone)]
pub(crate) enum Lack {
    /// The formula does not apply to the row.
    Skip(String),
    /// The row has no reward.
    Fault(Fault),
    /// The work on the row came to an end.
    Stop(Fault),
}

/// The other reward that a name stands for.
pub(crate) fn other_reward(name: &str) -> Option<&str> {
    match name.split_once('.') {
        Some(("rewards", name)) => Some(name),
        Some(_) => None,
        None => (!["r", "length", "correct", "truncated"].contains(&name)).then_some(name),
    }
}

impl InputRow<'_> {
    /// The number of an input over rows.
    pub(crate) fn number(
        &self,
        input: &FormulaInput,
        length: Option<&CompletionLength>,
        meter: &mut Meter<'_>,
    ) -> Result<f64, Lack> {
        let truth = |truth: bool| f64::from(u8::from(truth));
        let reward = || {
            let unset = || Lack::Fault(Fault::internal("the formula is shown no reward"));
            self.reward.ok_or_else(unset)
        };
        match input.name.split_once('.') {
            Some(("meta", column)) => {
                let value = self.sample.column(column);
                match (value, &input.is) {
                    (Some(Value::String(text)), Some(is)) => Ok(truth(text == is)),
                    (Some(Value::Bool(own)), None) => Ok(truth(*own)),
                    (value, None) => value
                        .and_then(Value::as_f64)
                        .ok_or_else(|| Lack::Fault(no_such(column, value, "a number"))),
                    (value, Some(_)) => Err(Lack::Fault(no_such(column, value, "a string"))),
                }
            }
            _ => match input.name.as_str() {
                "r" => reward(),
                "correct" => Ok(truth(reward()? >= Reward::RIGHT)),
                "length" => match length {
                    Some(length) => length.of(self.sample, meter).map_err(Lack::Fault),
                    None => Err(Lack::Fault(Fault::internal("the formula measures no length"))),
                },
                "truncated" => match truncated(self.sample, None).map_err(Lack::Fault)? {
                    Some(own) => Ok(truth(own)),
                    None => {
                        Err(Lack::Skip("the row does not say how the completion ended".to_owned()))
                    }
                },
                name => {
                    let name = other_reward(name).unwrap_or(name);
                    let found = other_of(self.earlier, name).map_err(Lack::Fault)?;
                    found.map(|(_, reward)| reward).map_err(Lack::Skip)
                }
            },
        }
    }

    /// Adds the numbers of `steps.reward`.
    pub(crate) fn list(&self, name: &str, out: &mut Vec<f64>) -> Result<(), Lack> {
        match name {
            "reward" => {
                out.extend(self.steps.iter().map(|step| step.reward.get()));
                Ok(())
            }
            _ => Err(Lack::Fault(Fault::internal(format!("steps have no \"{name}\"")))),
        }
    }

    /// The numbers of a column that holds a list.
    ///
    /// # Errors
    /// The row has no such list: a list that is not there has no default.
    pub(crate) fn numbers(&self, column: &str) -> Result<Vec<f64>, Fault> {
        let value = self.sample.column(column);
        let refuse = || no_such(column, value, "a list of numbers");
        let number = |value: &Value| match value {
            Value::Bool(truth) => Some(f64::from(u8::from(*truth))),
            Value::Null => Some(crate::formula::MISSING),
            value => value.as_f64(),
        };
        let numbers = value.and_then(Value::as_array).ok_or_else(refuse)?;
        numbers.iter().map(|value| number(value).ok_or_else(refuse)).collect()
    }
}
