//! `set_match`: the items of a list against those of the reference.

use assay_metrics::sets::SetCounts;

use crate::likeness::{self, Measured};
use crate::prelude::*;

/// Precision, recall, F-beta or Jaccard index of the items of a list, in any order, each once.
///
/// The list is a JSON array, entries with bullets or numbers, or what commas, semicolons or bars
/// separate; it stands in the last code fence, or else in the last answer tag, or else it is the
/// completion, and there in a box, or in an object as its member `answer` or the only one. The reference is a list. Items are equal without regard to case and to space and emphasis around them.
/// For items with several names use `answer_list`.
#[derive(Debug, Deserialize, Serialize, JsonSchema, SmartDefault)]
#[serde(deny_unknown_fields, default)]
pub struct SetMatch {
    /// Which measure pays.
    metric: Metric,
    /// How much more recall weighs than precision in `f_beta`.
    #[default(1.0)]
    beta: f64,
    /// Case counts.
    case_counts: bool,
    /// The reward is 1 from this score on and 0 below, in place of the score.
    #[serde(skip_serializing_if = "Option::is_none")]
    threshold: Option<f64>,
}

#[derive(Clone, Copy, Debug, Default, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Metric {
    /// The mean of precision and recall, weighed by `beta`.
    #[default]
    FBeta,
    /// The share of the items that are wanted. One right item alone earns 1.
    Precision,
    /// The share of wanted items that are there. All items at once earn 1.
    Recall,
    /// What both have over what either has.
    Jaccard,
    /// Whether both are the same.
    Exact,
}

impl Check for SetMatch {
    const ID: &'static str = "set_match";
    const ASPECT: Aspect = Aspect::Value;

    fn load(&mut self, _: &dyn Files) -> Result<(), BuildError> {
        if !(self.beta > 0.0 && self.beta <= 100.0) {
            return Err(BuildError::new("beta", "expected a number above 0, up to 100"));
        }
        likeness::check_threshold(self.threshold)
    }

    fn check(&self, sample: &Sample, meter: &mut Meter<'_>) -> Result<Verdict, Fault> {
        let Some(reference) = sample.reference() else { return Ok(Verdict::no_reference()) };
        let wanted = likeness::listed_reference(reference)?;
        let given = likeness::items(sample, meter)?;
        meter.spend(50 * (given.len() + wanted.len()) as u64)?;
        if given.is_empty() {
            return Ok(Verdict::graded(false).because("no-list"));
        }
        let cased =
            |item: &String| if self.case_counts { item.clone() } else { item.to_lowercase() };
        let given: Vec<String> = given.iter().map(cased).collect();
        let wanted: Vec<String> = wanted.iter().map(cased).collect();
        let counts =
            SetCounts::of(given.iter().map(String::as_str), wanted.iter().map(String::as_str));
        let overlap = counts.overlap();
        let is_whole = counts.common == counts.given && counts.common == counts.wanted;
        let score = match self.metric {
            Metric::FBeta => overlap.f_beta(self.beta),
            Metric::Precision => overlap.precision,
            Metric::Recall => overlap.recall,
            Metric::Jaccard => counts.jaccard(),
            Metric::Exact => f64::from(u8::from(is_whole)),
        };
        let parts = vec![
            ("right", counts.common.into()),
            ("given", counts.given.into()),
            ("wanted", counts.wanted.into()),
        ];
        Ok(likeness::earned(Measured { score, parts }, self.threshold))
    }

    fn gold(&self, sample: &Sample) -> Option<Vec<String>> {
        likeness::gold_list(sample)
    }
}
