//! `length_band`: a completion is to be about as long as the reference.

use crate::shape::length::CompletionLength;
use crate::shape::member::Amount;
use crate::shape::prelude::*;

/// `r - factor |q - 1|` where `q`, the length as a share of that of the reference, is outside
/// `band`; else `r`.
///
/// At most `r` comes out; there is no lower bound. A row without a reference is left as it is. Source:
/// "From Verifiable Dot to Reward Chain" (RLVRR), the length term of its code, where the band is 0.9 to
/// 1.2 and the factor 0.
#[derive(Debug, Deserialize, Serialize, JsonSchema, SmartDefault)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct LengthBand {
    /// The least and the greatest share that cost nothing.
    #[default((0.9, 1.2))]
    band: (f64, f64),
    /// The weight of the penalty.
    #[default(1.0)]
    factor: f64,
    /// The length that is the measure, instead of that of the reference: a number, or the column that
    /// holds it.
    target: Option<Amount>,
    #[serde(flatten)]
    length: CompletionLength,
}

impl Shape for LengthBand {
    const KIND: &'static str = "length_band";

    fn load(&mut self, files: &dyn Files) -> Result<(), BuildError> {
        if self.band.0 > self.band.1 {
            return Err(BuildError::new("band", "a band goes from low to high"));
        }
        at_least("factor", self.factor, 0.0)?;
        if self.target.is_none() && self.length.counts_ids() {
            let message =
                "the reference has no token ids: set `tokenizer`, `target` or another unit";
            return Err(BuildError::new("unit", message));
        }
        self.length.load(files)
    }

    fn shape_one(
        &self,
        member: &ShapeMember<'_>,
        reward: f64,
        _: &TrainingState,
        meter: &mut Meter<'_>,
    ) -> Result<Shaped, Fault> {
        let whole = match (&self.target, member.sample.reference_text()) {
            (Some(target), _) => target.of(member.sample)?,
            (None, Some(reference)) => self.length.of_text(&reference, meter)?,
            (None, None) => return Ok(Shaped::skipped(reward, "the sample has no reference")),
        };
        if whole <= 0.0 {
            return Err(Fault::bad_reference("the reference is empty: no share of it"));
        }
        let share = self.length.of(member.sample, meter)? / whole;
        let within = (self.band.0..=self.band.1).contains(&share);
        let cost = if within { 0.0 } else { self.factor * (share - 1.0).abs() };
        Ok(Shaped::new(reward - cost).with("share", share))
    }
}
