//! `search_penalty`: searches are paid for where the question needs one, and cost where it does not.

use crate::shape::member::{no_such, other};
use crate::shape::prelude::*;
use crate::shape::tool_use::ToolUse;

/// `(1 - format_weight) s + format_weight f`, with the reward as `s` and another as the format `f`.
///
/// A right completion that searched although its row is labelled search-free has `s (1 - penalty)`, or
/// `s (1 - penalty)^calls` where calls are counted. A wrong completion that searched for a row labelled
/// search-required has `f = bonus[0]`, or `bonus[1]` where it used two tools. Without a label neither
/// holds. For `s` and `f` in 0 to 1 between 0 and 1 comes out. Source: "MMSearch-R1: Incentivizing
/// LMMs to Search", section "Reward Modeling", and its code, from which the bonus is.
#[derive(Debug, Deserialize, Serialize, JsonSchema, SmartDefault)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct SearchPenalty {
    /// The reward that is the format; by default the format is right.
    format: Option<String>,
    /// The share of the format.
    #[default(0.1)]
    format_weight: f64,
    /// What a right completion loses by searching.
    #[default(0.1)]
    penalty: f64,
    /// Every call costs, not only the first.
    count_calls: bool,
    /// The format of a wrong completion that searched as it had to: with one tool, and with several.
    #[default((1.5, 1.75))]
    bonus: (f64, f64),
    /// The column that says whether a search is required: true or false, or `search_required` or
    /// `search_free`.
    #[default = "search_required"]
    label: String,
    /// The least reward of a right completion.
    #[default(Reward::RIGHT)]
    correct_at: f64,
    #[serde(flatten)]
    calls: ToolUse,
}

impl Shape for SearchPenalty {
    const KIND: &'static str = "search_penalty";

    fn load(&mut self, _: &dyn Files) -> Result<(), BuildError> {
        unit("format_weight", self.format_weight)?;
        unit("penalty", self.penalty)
    }

    fn reads(&self) -> Vec<&str> {
        self.format.as_deref().into_iter().collect()
    }

    fn shape_one(
        &self,
        member: &ShapeMember<'_>,
        reward: f64,
        _: &TrainingState,
        meter: &mut Meter<'_>,
    ) -> Result<Shaped, Fault> {
        let format = match &self.format {
            None => 1.0,
            Some(name) => match other(member, name)? {
                Ok((_, format)) => format,
                Err(why) => return Ok(Shaped::skipped(reward, why)),
            },
        };
        let search = self.calls.count(member.sample, meter)?;
        let searched = search.calls > 0.0;
        let is_right = reward >= self.correct_at;
        let (answer, format) = match self.is_required(member.sample)? {
            Some(false) if searched && is_right => {
                let times = if self.count_calls { search.calls } else { 1.0 };
                (reward * (1.0 - self.penalty).powf(times), format)
            }
            Some(true) if searched && !is_right => {
                (reward, if search.kinds > 1 { self.bonus.1 } else { self.bonus.0 })
            }
            _ => (reward, format),
        };
        let shaped = (1.0 - self.format_weight) * answer + self.format_weight * format;
        Ok(Shaped::new(shaped).with("calls", search.calls))
    }
}

impl SearchPenalty {
    fn is_required(&self, sample: &Sample) -> Result<Option<bool>, Fault> {
        let value = sample.column(&self.label);
        match value {
            None | Some(Value::Null) => return Ok(None),
            Some(Value::Bool(is_required)) => return Ok(Some(*is_required)),
            Some(Value::String(label)) => match label.replace(['-', ' '], "_").as_str() {
                "search_required" => return Ok(Some(true)),
                "search_free" => return Ok(Some(false)),
                _ => {}
            },
            Some(_) => {}
        }
        let expected = "true, false, \"search_required\" or \"search_free\"";
        Err(no_such(&self.label, value, expected))
    }
}
