//! What shapes ask of one member: the verdict of another reward, a column, an amount.

use std::borrow::Cow;

use super::settings::Target;
use super::{ShapeMember, Shaped};
use crate::prelude::*;
use crate::verifier::Earlier;

/// An amount that a configuration gives as a number, or as the name of the column that holds it.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(untagged, expecting = "expected a number, or the name of a column")]
pub(crate) enum Amount {
    /// The same for every row.
    Fixed(f64),
    /// That of the row.
    Column(String),
}

impl Amount {
    /// The amount for a sample.
    ///
    /// # Errors
    /// A row whose column is missing or holds no number.
    pub(crate) fn of(&self, sample: &Sample) -> Result<f64, Fault> {
        match self {
            Self::Fixed(amount) => Ok(*amount),
            Self::Column(column) => {
                let value = sample.column(column);
                value.and_then(Value::as_f64).ok_or_else(|| no_such(column, value, "a number"))
            }
        }
    }
}

/// The fault of a row whose column is not as expected.
pub(crate) fn no_such(column: &str, value: Option<&Value>, expected: &str) -> Fault {
    let found = value.map_or("nothing", crate::canonical::kind);
    Fault::bad_input(format!("column \"{column}\": expected {expected}, found {found}"))
}

/// The verdict of the reward called `name`, where it judged; else why it did not.
///
/// # Errors
/// That verdict failed: what is made of it fails with it.
pub(crate) fn other<'a>(
    member: &ShapeMember<'a>,
    name: &str,
) -> Result<Result<(&'a Verdict, f64), String>, Fault> {
    other_of(member.earlier, name)
}

/// The same among these verdicts.
pub(crate) fn other_of<'a>(
    earlier: Earlier<'a>,
    name: &str,
) -> Result<Result<(&'a Verdict, f64), String>, Fault> {
    let Some(verdict) = earlier.get(name) else {
        return Ok(Err(format!("reward \"{name}\" has no verdict")));
    };
    match &verdict.outcome {
        Outcome::Scored(reward) => Ok(Ok((verdict, reward.get()))),
        Outcome::Abstained(_) => Ok(Err(format!("reward \"{name}\" abstained"))),
        Outcome::Failed(fault) => {
            Err(Fault::new(fault.kind, format!("reward \"{name}\" failed: {}", fault.why)))
        }
    }
}

/// What a sample's model wrote, text by text: the reasoning that an API gives apart, and the message
/// that is judged.
pub(crate) fn texts(sample: &Sample) -> impl Iterator<Item = &str> {
    let message = sample.completion_message();
    let reasoning = message.and_then(|message| message.reasoning_content.as_deref());
    reasoning.into_iter().chain([sample.completion()])
}

/// Changes the reward, the rewards of the steps, or both, each by `change`.
pub(crate) fn changed(
    target: Target,
    member: &ShapeMember<'_>,
    reward: f64,
    change: impl Fn(f64) -> f64,
) -> Shaped {
    let shaped = Shaped::new(if target == Target::Steps { reward } else { change(reward) });
    match target {
        Target::Reward => shaped,
        Target::Steps | Target::Both => {
            shaped.with_steps(member.steps().into_iter().map(change).collect())
        }
    }
}

/// Whether the completion was cut off at the limit of its length, where the row says so: by the
/// column that is named, else by the finish reason.
///
/// # Errors
/// A column that holds neither a truth value nor a finish reason.
pub(crate) fn truncated(sample: &Sample, column: Option<&str>) -> Result<Option<bool>, Fault> {
    let reason: Option<Cow<'_, str>> = match column {
        None => sample.finish_reason().map(Cow::Borrowed),
        Some(column) => match sample.column(column) {
            None | Some(Value::Null) => None,
            Some(Value::Bool(is_truncated)) => return Ok(Some(*is_truncated)),
            Some(Value::String(reason)) => Some(Cow::Borrowed(reason)),
            other => return Err(no_such(column, other, "true, false or a finish reason")),
        },
    };
    let is_cut_off =
        |reason: Cow<'_, str>| CUT_OFF.iter().any(|name| reason.eq_ignore_ascii_case(name));
    Ok(reason.map(is_cut_off))
}

/// The finish reasons of a completion that was cut off, as APIs spell them, in either case.
const CUT_OFF: [&str; 8] = assay_math::words::list(
    "length max_length max_tokens max_new_tokens max_output_tokens max_completion_tokens \
     model_length truncated",
);
