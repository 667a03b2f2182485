//! `synergy`: an auxiliary reward counts mostly where the main one is earned.

use crate::shape::member::other;
use crate::shape::prelude::*;
use crate::shape::settings::fixed;

/// `r + w1 F + (1 - w1) r F`, with another reward as the auxiliary `F`.
///
/// For both in 0 to 1 between 0 and 2 comes out. Source: "`LongRLVR`: Long-Context
/// Reinforcement Learning Requires Verifiable Context Rewards", its code, where w1 is 0.1.
#[derive(Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Synergy {
    /// The auxiliary reward.
    with: String,
    /// The weight of the auxiliary on its own; the rest is that of the product.
    #[serde(default = "tenth")]
    w1: Schedule,
}

impl Shape for Synergy {
    const KIND: &'static str = "synergy";

    fn load(&mut self, _: &dyn Files) -> Result<(), BuildError> {
        let (low, high) = self.w1.bounds();
        unit("w1", low)?;
        unit("w1", high)
    }

    fn reads(&self) -> Vec<&str> {
        vec![&self.with]
    }

    fn shape_one(
        &self,
        member: &ShapeMember<'_>,
        reward: f64,
        state: &TrainingState,
        _: &mut Meter<'_>,
    ) -> Result<Shaped, Fault> {
        let alone = self.w1.at(state.step);
        Ok(match other(member, &self.with)? {
            Ok((_, with)) => {
                let shaped = reward + alone * with + (1.0 - alone) * reward * with;
                Shaped::new(shaped).with("with", with)
            }
            Err(why) => Shaped::skipped(reward, why),
        })
    }
}

fn tenth() -> Schedule {
    fixed(0.1)
}
