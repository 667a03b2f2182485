//! `turn_thrift`: success in fewer turns earns more.

use crate::shape::member::Amount;
use crate::shape::prelude::*;

/// `gamma^(t - 1) r` for a success at turn `t`, counted from 1. A reward of 0 or less stays.
///
/// The turns are the messages of the assistant; plain text is one turn. Between 0 and `r` comes out.
/// Source: "A Simple 'Try Again' Can Elicit Multi-Turn LLM Reasoning" (unary feedback as observation),
/// reward decay; the default of gamma is ours.
#[derive(Debug, Deserialize, Serialize, JsonSchema, SmartDefault)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct TurnThrift {
    /// What remains of the reward from turn to turn.
    #[default(0.5)]
    gamma: f64,
    /// The turns: a number, or the column that holds it; by default they are counted.
    turns: Option<Amount>,
}

impl Shape for TurnThrift {
    const KIND: &'static str = "turn_thrift";

    fn load(&mut self, _: &dyn Files) -> Result<(), BuildError> {
        unit("gamma", self.gamma)
    }

    fn shape_one(
        &self,
        member: &ShapeMember<'_>,
        reward: f64,
        _: &TrainingState,
        _: &mut Meter<'_>,
    ) -> Result<Shaped, Fault> {
        let counted = || {
            let turns = member.sample.assistant_turns().map_or(1, |turns| turns.len());
            f64::from(u32::try_from(turns).unwrap_or(u32::MAX))
        };
        let turns = self.turns.as_ref().map_or_else(|| Ok(counted()), |of| of.of(member.sample))?;
        let share = self.gamma.powf((turns - 1.0).max(0.0));
        let shaped = if reward > 0.0 { share * reward } else { reward };
        Ok(Shaped::new(shaped).with("turns", turns))
    }
}
