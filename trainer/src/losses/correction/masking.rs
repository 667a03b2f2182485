//! What becomes of tokens that a correction leaves out.

use crate::losses::prelude::*;
use crate::losses::tokens::count;

/// What becomes of tokens that are left out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Rejected {
    /// Their terms count as zeros: neither the objective nor a denominator sees a difference (TRL,
    /// `OpenRLHF`, `SkyRL`).
    #[default]
    Zero,
    /// They leave the mask: the objective and the denominators are those of the other tokens (verl).
    Drop,
    /// They leave the mask that the objective sees, but the denominators count them (`AReaL`).
    DropCounted,
}

/// Leaves tokens out. The share of the tokens with a term that these are.
pub fn reject(tokens: &mut TrainedTokens<'_>, how: Rejected, dropped: &[bool]) -> f64 {
    let before = tokens.trained();
    let both = tokens.mask.values().iter().zip(dropped);
    let share = count(&both.map(|(trained, dropped)| *trained && *dropped).collect::<Vec<_>>());
    let TrainedTokens { mask, counted, kept, advantages, .. } = tokens;
    let places = mask.values_mut().iter_mut().zip(counted.values_mut()).zip(kept).zip(advantages);
    let places = places.zip(dropped).filter(|(_, dropped)| **dropped);
    for ((((mask, counted), kept), advantage), _) in places {
        match how {
            Rejected::Zero => *kept = 0.0,
            Rejected::Drop => (*mask, *counted, *advantage) = (false, false, 0.0),
            Rejected::DropCounted => (*mask, *advantage) = (false, 0.0),
        }
    }
    share / before.max(1.0)
}
