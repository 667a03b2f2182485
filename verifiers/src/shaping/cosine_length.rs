//! `cosine_length`: what a right and a wrong completion earn depends on their length.

use crate::shape::length::CompletionLength;
use crate::shape::prelude::*;
use crate::shape::settings::right;

/// Instead of the reward, `b + (a - b) (1 + cos(pi L / max)) / 2` with `[a, b] = correct` for a right
/// completion and `wrong` for a wrong one: `a` for the shortest, `b` at `max`. From `max` on `exceed`,
/// right or wrong.
///
/// With the defaults right ones are to be short, and wrong ones are to try for longer; -10 to 2 comes
/// out. Source: "Demystifying Long Chain-of-Thought Reasoning in LLMs", section "Cosine Length-Scaling
/// Reward", whose hyperparameters are the defaults.
#[derive(Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct CosineLength {
    /// The greatest length.
    max: u32,
    /// What a right completion earns at length 0, and at `max`.
    #[serde(default = "correct")]
    correct: (f64, f64),
    /// What a wrong completion earns at length 0, and at `max`.
    #[serde(default = "wrong")]
    wrong: (f64, f64),
    /// What a completion of length `max` or more earns.
    #[serde(default = "exceed")]
    exceed: f64,
    /// The least reward of a right completion.
    #[serde(default = "right")]
    correct_at: f64,
    #[serde(flatten)]
    length: CompletionLength,
}

impl Shape for CosineLength {
    const KIND: &'static str = "cosine_length";

    fn load(&mut self, files: &dyn Files) -> Result<(), BuildError> {
        at_least("max", f64::from(self.max), 1.0)?;
        self.length.load(files)
    }

    fn shape_one(
        &self,
        member: &ShapeMember<'_>,
        reward: f64,
        _: &TrainingState,
        meter: &mut Meter<'_>,
    ) -> Result<Shaped, Fault> {
        let (length, max) = (self.length.of(member.sample, meter)?, f64::from(self.max));
        let (short, long) = if reward >= self.correct_at { self.correct } else { self.wrong };
        let turn = (std::f64::consts::PI * length / max).cos();
        let earned = long + (short - long) * f64::midpoint(1.0, turn);
        let earned = if length >= max { self.exceed } else { earned };
        Ok(Shaped::new(earned).with("length", length))
    }
}

fn correct() -> (f64, f64) {
    (2.0, 1.0)
}

fn wrong() -> (f64, f64) {
    (-10.0, 0.0)
}

fn exceed() -> f64 {
    -10.0
}
