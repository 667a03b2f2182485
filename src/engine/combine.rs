//! Many rewards become one.

use std::fmt::Write as _;

use assay_verifiers::script::{Program, shared_engine};
use assay_verifiers::{Fault, Meter, Outcome, Reward, Verdict};
use rhai::{Dynamic, Map, Scope};

use super::config::{Config, How, OnFault};
use super::plan::Planned;

/// The rule by which the rewards of a sample become its reward.
pub struct Combiner {
    how: How,
    clamp: Option<(f64, f64)>,
    on_fault: OnFault,
    floor: Reward,
    pass: f64,
    expression: Option<Program>,
    parts: Vec<Part>,
}

struct Part {
    name: String,
    weight: f64,
    gate: bool,
}

impl Combiner {
    /// Builds the rule. An error is the path of the key at fault and what is wrong with it.
    pub(super) fn build(
        config: &Config,
        rewards: &[Planned],
        gates: &[usize],
    ) -> Result<Self, (String, String)> {
        let fail = |key: &str, message: &str| Err((format!("combine.{key}"), message.to_owned()));
        let combine = &config.combine;
        let clamp = combine.clamp.map(|[low, high]| (low, high));
        if clamp.is_some_and(|(low, high)| !(low.is_finite() && high.is_finite() && low <= high)) {
            return fail("clamp", "`clamp` must be two finite numbers, the lower one first");
        }
        let floor = combine.floor.or(clamp.map(|(low, _)| low)).unwrap_or(0.0);
        let Some(floor) = Reward::new(floor) else {
            return fail("floor", "`floor` must be a finite number");
        };
        let expression = match (&combine.expression, combine.how) {
            (Some(source), How::Expression) => {
                Some(Program::expression(source).map_err(|error| {
                    ("combine.expression".to_owned(), format!("`expression`: {error}"))
                })?)
            }
            (None, How::Expression) => {
                return fail("how", "how = \"expression\" needs `expression`");
            }
            (Some(_), _) => return fail("expression", "`expression` needs how = \"expression\""),
            (None, _) => None,
        };
        let part = |(at, reward): (usize, &Planned)| Part {
            name: reward.name.clone(),
            weight: reward.weight,
            gate: gates.contains(&at),
        };
        Ok(Self {
            how: combine.how,
            clamp,
            on_fault: combine.on_fault,
            floor,
            pass: combine.pass,
            expression,
            parts: rewards.iter().enumerate().map(part).collect(),
        })
    }

    /// Whether a gate with this verdict lets the rest count. One that abstained is no gate.
    pub fn passes(&self, verdict: &Verdict) -> bool {
        match &verdict.outcome {
            Outcome::Scored(reward) => reward.get() >= self.pass,
            Outcome::Abstained(_) => true,
            Outcome::Failed(_) => false,
        }
    }

    /// The outcome of the sample. `verdicts` are in the order of the rewards.
    pub fn combine(&self, verdicts: &[Verdict]) -> Outcome {
        if let Some(fault) = self.fault(verdicts) {
            return match self.on_fault {
                OnFault::Mask | OnFault::DropGroup => Outcome::Failed(fault),
                OnFault::Floor => Outcome::Scored(self.floor),
            };
        }
        let scored: Vec<(&Part, f64)> = self
            .parts
            .iter()
            .zip(verdicts)
            .filter_map(|(part, verdict)| Some((part, verdict.outcome.reward()?.get())))
            .collect();
        if scored.is_empty() {
            return Outcome::Abstained("every verifier abstained".into());
        }
        let counted =
            scored.iter().filter(|(part, _)| part.weight != 0.0).map(|(_, reward)| *reward);
        let total = match self.how {
            How::WeightedSum => scored.iter().map(|(part, reward)| part.weight * reward).sum(),
            How::Product => counted.product(),
            How::Min => counted.fold(f64::INFINITY, f64::min),
            How::Gate => self.gated(&scored),
            How::Expression => match self.evaluate(verdicts) {
                Ok(total) => total,
                Err(fault) => return Outcome::Failed(fault),
            },
        };
        let clamped = self.clamp.map_or(total, |(low, high)| total.clamp(low, high));
        match Reward::new(clamped) {
            Some(reward) => Outcome::Scored(reward),
            None => Outcome::Failed(Fault::internal("the combined reward is not a finite number")),
        }
    }

    /// How the numbers became one, for people.
    pub fn explain(&self, verdicts: &[Verdict]) -> String {
        let mut text = String::new();
        for (part, verdict) in self.parts.iter().zip(verdicts) {
            let Some(reward) = verdict.outcome.reward() else { continue };
            let gap = if text.is_empty() { "" } else { self.sign() };
            let _ = match self.how {
                How::WeightedSum => write!(text, "{gap}{} x {}", part.weight, reward.get()),
                How::Gate if part.gate => write!(text, "{gap}gate {}", reward.get()),
                How::Gate => write!(text, "{gap}{} x {}", part.weight, reward.get()),
                _ => write!(text, "{gap}{}={}", part.name, reward.get()),
            };
        }
        if let Some((low, high)) = self.clamp {
            let _ = write!(text, ", clamped to [{low}, {high}]");
        }
        text
    }

    fn sign(&self) -> &'static str {
        match self.how {
            How::WeightedSum => " + ",
            How::Product => " * ",
            How::Min | How::Gate | How::Expression => ", ",
        }
    }

    /// The first fault that matters: one behind weight 0 is reported and counts for nothing.
    fn fault(&self, verdicts: &[Verdict]) -> Option<Fault> {
        let matters = |part: &Part| part.weight != 0.0 || part.gate || self.how == How::Expression;
        self.parts.iter().zip(verdicts).find_map(|(part, verdict)| match &verdict.outcome {
            Outcome::Failed(fault) if matters(part) => {
                Some(Fault::new(fault.kind, format!("{}: {}", part.name, fault.why)))
            }
            _ => None,
        })
    }

    fn gated(&self, scored: &[(&Part, f64)]) -> f64 {
        if scored.iter().any(|(part, reward)| part.gate && *reward < self.pass) {
            return 0.0;
        }
        let mut rest = scored.iter().filter(|(part, _)| !part.gate).peekable();
        if rest.peek().is_none() && self.parts.iter().all(|part| part.gate) {
            return 1.0;
        }
        rest.map(|(part, reward)| part.weight * reward).sum()
    }

    fn evaluate(&self, verdicts: &[Verdict]) -> Result<f64, Fault> {
        let Some(program) = &self.expression else {
            return Err(Fault::internal("no expression was compiled"));
        };
        let mut scope = Scope::new();
        let mut rewards = Map::new();
        for (part, verdict) in self.parts.iter().zip(verdicts) {
            let reward = verdict.outcome.reward().map_or(Dynamic::UNIT, |r| Dynamic::from(r.get()));
            scope.push_constant_dynamic(part.name.as_str(), reward.clone());
            rewards.insert(part.name.as_str().into(), reward);
        }
        scope.push_constant("rewards", rewards);
        let value = program.run(&shared_engine(), &mut scope, &mut Meter::default())?;
        number(&value).ok_or_else(|| {
            Fault::internal(format!("`expression` gave {}, expected a number", value.type_name()))
        })
    }
}

#[expect(clippy::cast_precision_loss, reason = "a reward of 2^53 is not told from its neighbour")]
fn number(value: &Dynamic) -> Option<f64> {
    match (value.as_float(), value.as_int(), value.as_bool()) {
        (Ok(float), _, _) => Some(float),
        (_, Ok(integer), _) => Some(integer as f64),
        (_, _, Ok(right)) => Some(f64::from(u8::from(right))),
        _ => None,
    }
}
