//! `bleu`: n-grams that a translation shares with its references.

use assay_metrics::bleu::{BleuReferences, BleuRules, Smoothing};
use assay_metrics::tokens::WordSplit;

use crate::likeness::{self, Kept, Measured};
use crate::prelude::*;

/// BLEU of one sentence against one or several references, from 0 to 1, as sacrebleu has it.
///
/// The text is the last answer tag, or else all that the completion says. A completion that repeats
/// the n-grams of a reference in another order, or adds a "not", still earns much: prefer a check of
/// the answer where there is one.
#[derive(Debug, Default, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Bleu {
    /// How texts are split.
    tokenize: Tokenizer,
    /// What an order of n-grams counts that has no match.
    smoothing: Smooth,
    /// The number of `floor` or `add-k`: 0.1 and 1 by default.
    #[serde(skip_serializing_if = "Option::is_none")]
    smoothing_value: Option<f64>,
    /// Case does not count.
    lowercase: bool,
    /// Count all four orders even in a text that is too short for them, as scores of a corpus do.
    all_orders: bool,
    /// The reward is 1 from this score on and 0 below, in place of the score.
    #[serde(skip_serializing_if = "Option::is_none")]
    threshold: Option<f64>,
}

#[derive(Clone, Copy, Debug, Default, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(super) enum Tokenizer {
    /// mteval-v13a.
    #[default]
    #[serde(rename = "13a")]
    Mteval13a,
    /// mteval-v14: punctuation and symbols of Unicode.
    Intl,
    /// Chinese characters stand alone.
    Zh,
    /// Every character.
    Char,
    /// At white space.
    None,
}

impl Tokenizer {
    pub(super) fn split(self) -> WordSplit {
        match self {
            Self::Mteval13a => WordSplit::Mteval13a,
            Self::Intl => WordSplit::International,
            Self::Zh => WordSplit::Chinese,
            Self::Char => WordSplit::Characters,
            Self::None => WordSplit::Space,
        }
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
enum Smooth {
    /// Half a match, then a quarter, and so on.
    #[default]
    Exp,
    /// A fixed number of matches.
    Floor,
    /// As many matches and n-grams more, from order 2.
    AddK,
    /// None: the score is then 0.
    None,
}

thread_local! {
    static KEPT: Kept<BleuRules, BleuReferences> = const { Kept::new() };
}

impl Bleu {
    fn rules(&self) -> BleuRules {
        BleuRules {
            tokens: self.tokenize.split(),
            smoothing: match self.smoothing {
                Smooth::Exp => Smoothing::Exponential,
                Smooth::Floor => Smoothing::Floor(self.smoothing_value.unwrap_or(0.1)),
                Smooth::AddK => Smoothing::Add(self.smoothing_value.unwrap_or(1.0)),
                Smooth::None => Smoothing::None,
            },
            ignore_case: self.lowercase,
            effective_order: !self.all_orders,
        }
    }
}

impl Check for Bleu {
    const ID: &'static str = "bleu";
    const ASPECT: Aspect = Aspect::Likeness;

    fn load(&mut self, _: &dyn Files) -> Result<(), BuildError> {
        let takes_value = matches!(self.smoothing, Smooth::Floor | Smooth::AddK);
        let is_bad = |value: f64| !(takes_value && value.is_finite() && value > 0.0);
        if self.smoothing_value.is_some_and(is_bad) {
            let why = "a number above 0, where smoothing is \"floor\" or \"add-k\"";
            return Err(BuildError::new("smoothing_value", why));
        }
        likeness::check_threshold(self.threshold)
    }

    fn check(&self, sample: &Sample, meter: &mut Meter<'_>) -> Result<Verdict, Fault> {
        likeness::judge(sample, self.threshold, meter, |text, references, _| {
            let read = |rules: &BleuRules| BleuReferences::new(references, rules);
            let found =
                KEPT.with(|kept| kept.with(references, self.rules(), read, |all| all.score(text)));
            let parts = vec![
                ("bleu", found.score.into()),
                ("precisions", found.precisions.to_vec().into()),
                ("brevity", found.brevity.into()),
            ];
            Ok(Measured { score: found.score / 100.0, parts })
        })
    }

    fn gold(&self, sample: &Sample) -> Option<Vec<String>> {
        likeness::gold(sample)
    }
}
