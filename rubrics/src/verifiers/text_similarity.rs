//! `text_similarity`: how much of one text is in another, by their n-grams or letters.

use assay_metrics::bleu::{BleuReferences, BleuRules, Smoothing};
use assay_metrics::edit::fuzzy_ratio;
use assay_metrics::rouge::{RougeKind, RougeReference};
use assay_metrics::tokens::WordSplit;
use assay_verifiers::prelude::*;

use crate::template::GraderTemplate;

/// BLEU of one sentence by the defaults of sacrebleu.
const BLEU: BleuRules = BleuRules {
    tokens: WordSplit::Mteval13a,
    smoothing: Smoothing::Exponential,
    ignore_case: false,
    effective_order: true,
};

/// How alike two texts of the row are, from 0 to 1, as the grader `text_similarity` of `OpenAI`
/// measures it.
///
/// Both texts are templates: `{{ sample.output_text }}` is the completion without what the model
/// thinks before it answers, `{{ item.NAME }}` a column of the row. A row without the column
/// abstains. A completion that repeats the words of a reference in another order, or adds a "not",
/// still earns much: prefer a check that extracts an answer where there is one.
#[derive(Debug, Deserialize, Serialize, JsonSchema, SmartDefault)]
#[serde(deny_unknown_fields, default)]
pub struct TextSimilarity {
    /// The text that is looked at.
    #[default = "{{ sample.output_text }}"]
    input: String,
    /// The text that it is compared with.
    #[default = "{{ item.reference }}"]
    reference: String,
    /// What is measured.
    metric: Metric,
    /// The reward is 1 from this similarity on and 0 below, in place of the similarity.
    #[serde(skip_serializing_if = "Option::is_none")]
    threshold: Option<f64>,
    #[serde(skip)]
    loaded: Option<Loaded>,
}

/// What is measured.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Metric {
    /// Twice the length of the longest common subsequence of characters over the sum of the lengths,
    /// which is `fuzz.ratio` of rapidfuzz.
    #[default]
    FuzzyMatch,
    /// BLEU of one sentence as sacrebleu 2.6 has it: tokens of mteval 13a, n-grams up to 4 that the
    /// text is long enough for, exponential smoothing.
    Bleu,
    /// The lesser of precision and recall of the n-grams 1 to 4, over the same tokens.
    Gleu,
    /// ROUGE-1, the F measure, by rouge-score 0.1.2 without stemming.
    #[serde(rename = "rouge_1")]
    Rouge1,
    /// ROUGE-2.
    #[serde(rename = "rouge_2")]
    Rouge2,
    /// ROUGE-3.
    #[serde(rename = "rouge_3")]
    Rouge3,
    /// ROUGE-4.
    #[serde(rename = "rouge_4")]
    Rouge4,
    /// ROUGE-5.
    #[serde(rename = "rouge_5")]
    Rouge5,
    /// ROUGE-L, over the longest common subsequence of words.
    RougeL,
}

/// What is made of the settings.
#[derive(Debug)]
struct Loaded {
    input: GraderTemplate,
    reference: GraderTemplate,
}

impl Check for TextSimilarity {
    const ID: &'static str = "text_similarity";
    const VERSION: u32 = 2;
    const ASPECT: Aspect = Aspect::Likeness;

    fn load(&mut self, _: &dyn Files) -> Result<(), BuildError> {
        if self.threshold.is_some_and(|threshold| !(0.0..=1.0).contains(&threshold)) {
            return Err(BuildError::new("threshold", "expected 0 to 1"));
        }
        let parse = |setting: &str, text: &str| {
            GraderTemplate::parse(text).map_err(|why| BuildError::new(setting, why))
        };
        self.loaded = Some(Loaded {
            input: parse("input", &self.input)?,
            reference: parse("reference", &self.reference)?,
        });
        Ok(())
    }

    fn check(&self, sample: &Sample, meter: &mut Meter<'_>) -> Result<Verdict, Fault> {
        let unset = || Fault::internal("text_similarity was not loaded");
        let loaded = self.loaded.as_ref().ok_or_else(unset)?;
        meter.spend(sample.completion().len() as u64)?;
        let filled = (loaded.input.fill(sample, meter), loaded.reference.fill(sample, meter));
        let (input, reference) = match filled {
            (Ok(input), Ok(reference)) => (input, reference),
            (Err(missing), _) | (_, Err(missing)) => return Ok(missing.verdict()),
        };
        if reference.trim().is_empty() {
            return Err(Fault::bad_reference("the reference of text_similarity is empty"));
        }
        let similarity = self.metric.of(&input, &reference, meter)?;
        let reward = match self.threshold {
            Some(threshold) => Reward::graded(similarity >= threshold),
            None => Reward::new(similarity)
                .ok_or_else(|| Fault::internal("the similarity is not finite"))?,
        };
        Ok(Verdict::scored(reward).with("similarity", similarity))
    }
}

impl Metric {
    fn of(self, input: &str, reference: &str, meter: &mut Meter<'_>) -> Result<f64, Fault> {
        // Tokens and n-grams take a few passes over both texts.
        meter.spend(16 * (input.len() + reference.len()) as u64)?;
        let kind = match self {
            Self::FuzzyMatch => {
                return fuzzy_ratio(input, reference, &mut |units| meter.spend(units));
            }
            Self::Bleu => {
                let bleu = BleuReferences::new(&[reference], &BLEU).score(input);
                // Rounding may take it beyond 1.
                return Ok((bleu.score / 100.0).min(1.0));
            }
            Self::Gleu => {
                let shared = BleuReferences::new(&[reference], &BLEU).overlap(input);
                return Ok(shared.precision.min(shared.recall));
            }
            Self::Rouge1 => RougeKind::Grams(1),
            Self::Rouge2 => RougeKind::Grams(2),
            Self::Rouge3 => RougeKind::Grams(3),
            Self::Rouge4 => RougeKind::Grams(4),
            Self::Rouge5 => RougeKind::Grams(5),
            Self::RougeL => RougeKind::Longest,
        };
        let reference = RougeReference::new(reference, kind, false);
        Ok(reference.score(input, &mut |units| meter.spend(units))?.f1())
    }
}
