//! `rouge`: n-grams or subsequences that a summary shares with its references.

use assay_metrics::rouge::{RougeKind, RougeReference};
use assay_metrics::score::Overlap;

use crate::likeness::{self, Kept, Measured};
use crate::prelude::*;

/// ROUGE against the best of one or several references, from 0 to 1, as rouge-score has it.
///
/// Tokens are runs of the letters a to z and of digits in lower case: texts in other scripts score 0.
/// The text is the last answer tag, or else all that the completion says.
#[derive(Debug, Default, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Rouge {
    /// What is compared.
    metric: Metric,
    /// What of it pays.
    pays: Pays,
    /// Words of more than three letters are compared by their stems, which the Porter stemmer of NLTK
    /// finds.
    stemmer: bool,
    /// The reward is 1 from this score on and 0 below, in place of the score.
    #[serde(skip_serializing_if = "Option::is_none")]
    threshold: Option<f64>,
}

#[derive(Clone, Copy, Debug, Default, Deserialize, Serialize, JsonSchema)]
enum Metric {
    /// Words.
    #[serde(rename = "rouge1")]
    One,
    /// Pairs of words.
    #[serde(rename = "rouge2")]
    Two,
    /// Three words in a row.
    #[serde(rename = "rouge3")]
    Three,
    /// Four words in a row.
    #[serde(rename = "rouge4")]
    Four,
    /// The longest common subsequence.
    #[default]
    #[serde(rename = "rougeL")]
    Longest,
    /// The longest common subsequences of lines, put together for each line of the reference.
    #[serde(rename = "rougeLsum")]
    Lines,
}

#[derive(Clone, Copy, Debug, Default, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Pays {
    /// The harmonic mean of precision and recall.
    #[default]
    F1,
    /// The share of the text that is in the reference.
    Precision,
    /// The share of the reference that is in the text.
    Recall,
}

thread_local! {
    static KEPT: Kept<(RougeKind, bool), Vec<RougeReference>> = const { Kept::new() };
}

impl Check for Rouge {
    const ID: &'static str = "rouge";
    const ASPECT: Aspect = Aspect::Likeness;

    fn load(&mut self, _: &dyn Files) -> Result<(), BuildError> {
        likeness::check_threshold(self.threshold)
    }

    fn check(&self, sample: &Sample, meter: &mut Meter<'_>) -> Result<Verdict, Fault> {
        let kind = match self.metric {
            Metric::One => RougeKind::Grams(1),
            Metric::Two => RougeKind::Grams(2),
            Metric::Three => RougeKind::Grams(3),
            Metric::Four => RougeKind::Grams(4),
            Metric::Longest => RougeKind::Longest,
            Metric::Lines => RougeKind::Lines,
        };
        likeness::judge(sample, self.threshold, meter, |text, references, meter| {
            let read = |(kind, stem): &(RougeKind, bool)| -> Vec<RougeReference> {
                references.iter().map(|text| RougeReference::new(text, *kind, *stem)).collect()
            };
            let best = |all: &Vec<RougeReference>| {
                let mut best: Option<Overlap> = None;
                for reference in all {
                    let found = reference.score(text, &mut |units| meter.spend(units))?;
                    if best.is_none_or(|best| found.f1() > best.f1()) {
                        best = Some(found);
                    }
                }
                best.ok_or_else(|| Fault::internal("there is no reference"))
            };
            let found =
                KEPT.with(|kept| kept.with(references, (kind, self.stemmer), read, best))?;
            let parts = vec![
                ("precision", found.precision.into()),
                ("recall", found.recall.into()),
                ("f1", found.f1().into()),
            ];
            let score = match self.pays {
                Pays::F1 => found.f1(),
                Pays::Precision => found.precision,
                Pays::Recall => found.recall,
            };
            Ok(Measured { score, parts })
        })
    }

    fn gold(&self, sample: &Sample) -> Option<Vec<String>> {
        likeness::gold(sample)
    }
}
