//! `potential`: steps are paid for the progress that they make.

use crate::shape::member::other;
use crate::shape::prelude::*;

/// Step `t` earns `scale F_t` with `F_t = gamma Phi_t - Phi_(t-1)`, and the sample
/// `r + scale sum_t gamma^(t-1) F_t`.
///
/// The potential `Phi_t` behind step `t` is the reward of that step, in this verdict or in that of
/// `of`; `Phi_0` is `initial`. The potential of the end is 0 (`terminal = "zero"`): then the sum is
/// `-Phi_0` whatever the steps are, and the best policy stays the best. With `terminal = "keep"` it is
/// `gamma^T Phi_T - Phi_0`: progress as in `CoTpred`, and in "Rewarding Progress: Scaling Automated
/// Process Verifiers for LLM Reasoning". Where the potential is another reward's, `scale F_t` is added
/// to the steps of this one. Source: "Policy Invariance Under Reward Transformations: Theory and
/// Application to Reward Shaping", theorem 1.
#[derive(Debug, Deserialize, Serialize, JsonSchema, SmartDefault)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct Potential {
    /// The reward whose steps are the potential; by default those of this one.
    of: Option<String>,
    /// The discount.
    #[default(1.0)]
    gamma: f64,
    /// The potential before the first step.
    initial: f64,
    /// The potential of the end.
    terminal: Terminal,
    /// The weight of the shaping.
    #[default(Schedule::ONE)]
    scale: Schedule,
}

/// The potential of the end.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Terminal {
    /// 0, so that the best policy stays the best.
    #[default]
    Zero,
    /// That of the last step.
    Keep,
}

impl Shape for Potential {
    const KIND: &'static str = "potential";

    fn load(&mut self, _: &dyn Files) -> Result<(), BuildError> {
        unit("gamma", self.gamma)
    }

    fn reads(&self) -> Vec<&str> {
        self.of.as_deref().into_iter().collect()
    }

    fn shape_one(
        &self,
        member: &ShapeMember<'_>,
        reward: f64,
        state: &TrainingState,
        _: &mut Meter<'_>,
    ) -> Result<Shaped, Fault> {
        let own = member.steps();
        let potential: Vec<f64> = match &self.of {
            None => own.clone(),
            Some(name) => match other(member, name)? {
                Ok((verdict, _)) => verdict.steps.iter().map(|step| step.reward.get()).collect(),
                Err(why) => return Ok(Shaped::skipped(reward, why)),
            },
        };
        if potential.is_empty() {
            return Ok(Shaped::skipped(reward, "there are no steps"));
        }
        let scale = self.scale.at(state.step);
        let paid: Vec<f64> = self.progress(potential).into_iter().map(|f| scale * f).collect();
        let sum = paid.iter().rev().fold(0.0, |sum, paid| paid + self.gamma * sum);
        let shaped = Shaped::new(reward + sum).with("shaping", sum);
        match &self.of {
            None => Ok(shaped.with_steps(paid)),
            Some(_) if own.is_empty() => Ok(shaped),
            Some(_) if own.len() == paid.len() => {
                Ok(shaped.with_steps(own.iter().zip(&paid).map(|(own, paid)| own + paid).collect()))
            }
            Some(name) => {
                let (own, other) = (own.len(), paid.len());
                let why = format!("the verdict has {own} steps, and that of \"{name}\" {other}");
                Err(Fault::bad_input(why))
            }
        }
    }
}

impl Potential {
    fn progress(&self, mut potential: Vec<f64>) -> Vec<f64> {
        if let (Terminal::Zero, Some(last)) = (self.terminal, potential.last_mut()) {
            *last = 0.0;
        }
        let before = [self.initial].into_iter().chain(potential.iter().copied());
        potential.iter().zip(before).map(|(after, before)| self.gamma * after - before).collect()
    }
}
