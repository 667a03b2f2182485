//! `error_rate`: words or characters of a transcript that are wrong.

use assay_metrics::edit::{EditUnit, Edits, errors};

use crate::likeness::{self, Measured};
use crate::prelude::*;

/// 1 less the word or character error rate, at least 0, as jiwer counts.
///
/// The rate is the least number of insertions, deletions and substitutions for each word or character
/// of the reference; of several references the one with the lowest rate counts. The text is the last
/// answer tag, or else all that the completion says.
#[derive(Debug, Default, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct ErrorRate {
    /// What is counted.
    unit: Counted,
    /// Case does not count.
    lowercase: bool,
    /// The reward is 1 from this score on and 0 below, in place of the score.
    #[serde(skip_serializing_if = "Option::is_none")]
    threshold: Option<f64>,
}

#[derive(Clone, Copy, Debug, Default, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Counted {
    /// Words between spaces: the word error rate.
    #[default]
    Words,
    /// Characters: the character error rate.
    Characters,
}

impl Check for ErrorRate {
    const ID: &'static str = "error_rate";
    const ASPECT: Aspect = Aspect::Likeness;

    fn load(&mut self, _: &dyn Files) -> Result<(), BuildError> {
        likeness::check_threshold(self.threshold)
    }

    fn check(&self, sample: &Sample, meter: &mut Meter<'_>) -> Result<Verdict, Fault> {
        let unit = match self.unit {
            Counted::Words => EditUnit::Words,
            Counted::Characters => EditUnit::Characters,
        };
        let cased = |text: &str| if self.lowercase { text.to_lowercase() } else { text.to_owned() };
        likeness::judge(sample, self.threshold, meter, |text, references, meter| {
            let text = cased(text);
            let mut best: Option<Edits> = None;
            for reference in references {
                let found =
                    errors(&text, &cased(reference), unit, &mut |units| meter.spend(units))?;
                if best.is_none_or(|best| found.rate() < best.rate()) {
                    best = Some(found);
                }
            }
            let found = best.ok_or_else(|| Fault::internal("there is no reference"))?;
            let parts = vec![
                ("rate", found.rate().into()),
                ("edits", found.count.into()),
                ("wanted", found.wanted.into()),
            ];
            Ok(Measured { score: 1.0 - found.rate(), parts })
        })
    }

    fn gold(&self, sample: &Sample) -> Option<Vec<String>> {
        likeness::gold(sample)
    }
}
