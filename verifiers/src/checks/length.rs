//! `length`: how long the completion is.

use crate::measure::{Measure, Unit};
use crate::prelude::*;

/// Right when the length of the completion lies within bounds.
///
/// The bounds are `min` and `max`, or `ratio`, a range of the length of the reference. Instead of
/// bounds, `soft_overlong` charges a penalty from 0 to -1 (DAPO: An Open-Source LLM Reinforcement
/// Learning System at Scale, section "Overlong Reward Shaping"): nothing up to `max - cache`, then
/// linearly more up to `max`, and -1 beyond.
#[derive(Debug, Default, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Length {
    /// What is counted.
    unit: Unit,
    /// The `tokenizer.json` that counts tokens.
    tokenizer: Option<String>,
    /// The shortest length.
    min: Option<u32>,
    /// The longest length.
    max: Option<u32>,
    /// The shortest and the longest length, as shares of the length of the reference.
    ratio: Option<(f64, f64)>,
    /// A penalty for long completions, instead of bounds.
    soft_overlong: Option<SoftOverlong>,
    #[serde(skip)]
    measure: Measure,
}

/// The overlong penalty of DAPO.
#[derive(Clone, Copy, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct SoftOverlong {
    /// Beyond this length, the penalty is whole.
    max: u32,
    /// Over how many units before `max` it grows.
    cache: u32,
}

impl Check for Length {
    const ID: &'static str = "length";
    const VERSION: u32 = 2;

    fn load(&mut self, files: &dyn Files) -> Result<(), BuildError> {
        let bounded = self.min.is_some() || self.max.is_some();
        let ways = [bounded, self.ratio.is_some(), self.soft_overlong.is_some()];
        if ways.iter().filter(|way| **way).count() != 1 {
            let message = "one of min and max, ratio, and soft_overlong says what is right";
            return Err(BuildError::new("", message));
        }
        if self.min == Some(0) && self.max.is_none() {
            return Err(BuildError::new("min", "no length is below 0"));
        }
        if self.min.zip(self.max).is_some_and(|(min, max)| min > max) {
            return Err(BuildError::new("min", "min is greater than max"));
        }
        if self.ratio.is_some_and(|(low, high)| !(low >= 0.0 && low <= high && high.is_finite())) {
            return Err(BuildError::new("ratio", "a range goes from low to high, zero or more"));
        }
        if self.soft_overlong.is_some_and(|soft| soft.cache == 0 || soft.cache > soft.max) {
            return Err(BuildError::new("soft_overlong", "cache goes from 1 to max"));
        }
        self.measure = Measure::new(self.unit, self.tokenizer.as_deref(), files)?;
        Ok(())
    }

    // No constant: the reference as text may be of the right length.
    fn aspect(&self) -> Aspect {
        Aspect::Form
    }

    fn range(&self) -> [f64; 2] {
        if self.soft_overlong.is_some() { [-1.0, 0.0] } else { [0.0, 1.0] }
    }

    fn check(&self, sample: &Sample, meter: &mut Meter<'_>) -> Result<Verdict, Fault> {
        let length = self.measure.length(sample.completion(), meter)?;
        let verdict = |verdict: Verdict| verdict.with("length", length);
        if let Some(soft) = self.soft_overlong {
            let reward = Reward::new(soft.penalty(length)).unwrap_or(Reward::ZERO);
            return Ok(verdict(Verdict::scored(reward)));
        }
        let (min, max) = match self.ratio {
            None => (f64::from(self.min.unwrap_or(0)), self.max.map_or(f64::INFINITY, f64::from)),
            Some((low, high)) => {
                let Some(reference) = sample.reference_text() else {
                    return Ok(Verdict::no_reference());
                };
                let whole = f64::from(self.measure.length(&reference, meter)?);
                if whole == 0.0 {
                    return Err(Fault::bad_reference("the reference is empty: no share of it"));
                }
                (low * whole, high * whole)
            }
        };
        let (is_short, is_long) = (f64::from(length) < min, f64::from(length) > max);
        let reason = match (is_short, is_long) {
            (true, _) => "too-short",
            (_, true) => "too-long",
            _ => "in-range",
        };
        Ok(verdict(Verdict::graded(!is_short && !is_long)).because(reason))
    }
}

impl SoftOverlong {
    fn penalty(self, length: u32) -> f64 {
        let free = self.max - self.cache.min(self.max);
        let over = length.saturating_sub(free).min(self.cache);
        -(f64::from(over) / f64::from(self.cache))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::NoFiles;
    use crate::check::build;

    #[test]
    fn settings_that_contradict_each_other_are_refused() {
        for (settings, at) in [
            (json!({}), ""),
            (json!({"max": 1, "soft_overlong": {"max": 2, "cache": 1}}), ""),
            (json!({"min": 2, "max": 1}), "min"),
            (json!({"ratio": [2.0, 1.0]}), "ratio"),
            (json!({"soft_overlong": {"max": 2, "cache": 3}}), "soft_overlong"),
            (json!({"max": 1, "unit": "tokens"}), "tokenizer"),
            (json!({"max": 1, "unit": "tokens", "tokenizer": "t.json"}), "tokenizer"),
        ] {
            let error = build::<Length>(settings.clone(), &NoFiles).err().expect("refused");
            assert_eq!(error.setting, at, "{settings}: {error}");
        }
    }

    proptest! {
        #[test]
        fn the_penalty_only_grows(max in 1..5000_u32, cache in 1..5000_u32, length in 0..6000_u32) {
            let soft = SoftOverlong { max, cache: cache.min(max) };
            let (here, longer) = (soft.penalty(length), soft.penalty(length + 1));
            prop_assert!((-1.0..=0.0).contains(&here) && longer <= here);
            prop_assert!(length < max || here <= -1.0);
        }

        #[test]
        fn no_text_panics(text in "(?s).{0,80}", unit in 0..4_usize) {
            let unit = ["characters", "words", "sentences", "bytes"][unit];
            let check: Length = serde_json::from_value(json!({"max": 9, "unit": unit})).unwrap();
            let sample = Sample::builder(text).build();
            prop_assert!(check.check(&sample, &mut Meter::default()).is_ok());
        }
    }
}
