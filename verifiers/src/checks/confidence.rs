//! `confidence`: the confidence that an answer states, scored by whether the answer is right.

use assay_structure::confidence::{Rule, probability};

use crate::extract;
use crate::prelude::*;
use crate::text_parts::Place;
use crate::verifier::Earlier;

/// What the stated confidence earns, given what another reward says of the answer.
///
/// The confidence stands in a tag, `<confidence>0.8</confidence>`, or in a member of a JSON object. It is
/// a number from 0 to `scale`, a percentage, or a fraction; what the model thinks is not looked at. An answer that states none, or several, earns
/// the least that the rule pays.
#[derive(Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Confidence {
    /// The reward, listed before, that says whether the answer is right: from 0.5 on.
    of: String,
    /// The tag, or the member, with the confidence.
    #[serde(default = "name")]
    name: String,
    /// The scoring rule.
    #[serde(default)]
    rule: Name,
    /// The number that means certainty, where no percent sign or slash stands: 1, 10 or 100.
    #[serde(default = "scale")]
    scale: f64,
    /// The least probability that the logarithmic rule reads.
    #[serde(default = "floor")]
    floor: f64,
}

/// A scoring rule, for a probability p and an outcome y of 0 or 1.
#[derive(Clone, Copy, Debug, Default, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Name {
    /// `1 - (p - y)^2`.
    #[default]
    Brier,
    /// `y - (p - y)^2`: right answers pay, and calibration pays beside them (RLCR).
    Rlcr,
    /// `ln p` where the answer is right, else `ln (1 - p)`.
    Log,
    /// `1 - |p - y|`. Not proper: it pays to state 0 or 1.
    Linear,
}

fn name() -> String {
    "confidence".to_owned()
}

fn scale() -> f64 {
    1.0
}

fn floor() -> f64 {
    0.01
}

impl Check for Confidence {
    const ID: &'static str = "confidence";
    const NO_GOLD: bool = true;

    fn load(&mut self, _: &dyn Files) -> Result<(), BuildError> {
        if !(self.scale > 0.0 && self.scale.is_finite()) {
            return Err(BuildError::new("scale", "a scale is above 0"));
        }
        if !(self.floor > 0.0 && self.floor < 0.5) {
            return Err(BuildError::new("floor", "a floor is above 0 and below 0.5"));
        }
        if self.name.trim().is_empty() {
            return Err(BuildError::new("name", "a tag has a name"));
        }
        Ok(())
    }

    fn rewards(&self) -> Vec<(&'static str, String)> {
        vec![("of", self.of.clone())]
    }

    fn range(&self) -> [f64; 2] {
        self.rule().range(self.floor)
    }

    fn check(&self, sample: &Sample, meter: &mut Meter<'_>) -> Result<Verdict, Fault> {
        self.check_after(sample, Earlier::default(), meter)
    }

    fn check_after(
        &self,
        sample: &Sample,
        earlier: Earlier<'_>,
        meter: &mut Meter<'_>,
    ) -> Result<Verdict, Fault> {
        let Some(verdict) = earlier.get(&self.of) else {
            return Err(Fault::bad_input(format!(
                "no reward called \"{}\" was judged before",
                self.of
            )));
        };
        let right = match &verdict.outcome {
            Outcome::Scored(reward) => reward.get() >= Reward::RIGHT,
            Outcome::Abstained(_) => {
                return Ok(Verdict::abstained(format!("reward \"{}\" abstained", self.of)));
            }
            Outcome::Failed(fault) => {
                return Err(Fault::new(
                    fault.kind,
                    format!("reward \"{}\" failed: {}", self.of, fault.why),
                ));
            }
        };
        meter.spend(20 * sample.completion().len() as u64)?;
        let rule = self.rule();
        let scored = |value: f64| Verdict::scored(Reward::new(value).unwrap_or(Reward::ZERO));
        let completion = sample.completion();
        let said = Place::Whole.find(completion, &[]);
        match said.and_then(|said| self.stated(&completion[said])) {
            Ok(p) => {
                let verdict = scored(rule.score(p, right, self.floor)).with("confidence", p);
                Ok(verdict.because(if right { "right" } else { "wrong" }))
            }
            Err(reason) => Ok(scored(rule.range(self.floor)[0]).because(reason)),
        }
    }
}

impl Confidence {
    fn rule(&self) -> Rule {
        match self.rule {
            Name::Brier => Rule::Brier,
            Name::Rlcr => Rule::Rlcr,
            Name::Log => Rule::Log,
            Name::Linear => Rule::Linear,
        }
    }

    /// The confidence of a completion, from 0 to 1.
    fn stated(&self, text: &str) -> Result<f64, &'static str> {
        let mark = format!("</{}>", self.name);
        if let Some(tag) = extract::last_tag(text, |name| name == self.name) {
            if text.matches(&mark).count() > 1 {
                return Err("several-found");
            }
            return probability(&text[tag.inner], self.scale).ok_or("no-probability");
        }
        let key = format!("\"{}\"", self.name);
        let (_, behind) = text.split_once(&key).ok_or("nothing-found")?;
        if behind.contains(&key) {
            return Err("several-found");
        }
        let value = behind.trim_start().strip_prefix(':').ok_or("nothing-found")?;
        let value = value.split([',', '}', '\n']).next().unwrap_or_default();
        probability(value.trim().trim_matches('"'), self.scale).ok_or("no-probability")
    }
}
