//! `text_similarity`: how much of one text is in another, by their n-grams or letters.

mod bleu;
mod lcs;
mod ngrams;
mod rouge;

use assay_verifiers::prelude::*;
use assay_verifiers::stats::float;

use self::bleu::{Tokenizer13a, bleu, gleu};
use self::lcs::common;
use self::rouge::{rouge_l, rouge_n};
use crate::template::GraderTemplate;

/// How alike two texts of the row are, from 0 to 1, as the grader `text_similarity` of `OpenAI`
/// measures it.
///
/// Both texts are templates: `{{ sample.output_text }}` is the completion without what the model
/// thinks before it answers, `{{ item.NAME }}` a column of the row. A row without the column
/// abstains. A completion that repeats the words of a reference in another order, or adds a "not",
/// still earns much: prefer a check that extracts an answer where there is one.
#[derive(Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct TextSimilarity {
    /// The text that is looked at.
    input: String,
    /// The text that it is compared with.
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
    tokenizer: Tokenizer13a,
}

impl Default for TextSimilarity {
    fn default() -> Self {
        Self {
            input: "{{ sample.output_text }}".to_owned(),
            reference: "{{ item.reference }}".to_owned(),
            metric: Metric::default(),
            threshold: None,
            loaded: None,
        }
    }
}

impl Check for TextSimilarity {
    const ID: &'static str = "text_similarity";

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
            tokenizer: Tokenizer13a::new().map_err(|why| BuildError::new("metric", why))?,
        });
        Ok(())
    }

    fn aspect(&self) -> Aspect {
        Aspect::Likeness
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
        let similarity = self.metric.of(&input, &reference, &loaded.tokenizer, meter)?;
        let reward = match self.threshold {
            Some(threshold) => Reward::graded(similarity >= threshold),
            None => Reward::new(similarity)
                .ok_or_else(|| Fault::internal("the similarity is not finite"))?,
        };
        Ok(Verdict::scored(reward).with("similarity", similarity))
    }
}

impl Metric {
    fn of(
        self,
        input: &str,
        reference: &str,
        tokenizer: &Tokenizer13a,
        meter: &mut Meter<'_>,
    ) -> Result<f64, Fault> {
        // Tokens and n-grams take a few passes over both texts.
        meter.spend(16 * (input.len() + reference.len()) as u64)?;
        Ok(match self {
            Self::FuzzyMatch => fuzzy(input, reference, meter)?,
            Self::Bleu => bleu(&tokenizer.tokens(input), &tokenizer.tokens(reference)),
            Self::Gleu => gleu(&tokenizer.tokens(input), &tokenizer.tokens(reference)),
            Self::Rouge1 => rouge_n(input, reference, 1),
            Self::Rouge2 => rouge_n(input, reference, 2),
            Self::Rouge3 => rouge_n(input, reference, 3),
            Self::Rouge4 => rouge_n(input, reference, 4),
            Self::Rouge5 => rouge_n(input, reference, 5),
            Self::RougeL => rouge_l(input, reference, meter)?,
        })
    }
}

fn fuzzy(input: &str, reference: &str, meter: &mut Meter<'_>) -> Result<f64, Fault> {
    let (input, reference): (Vec<char>, Vec<char>) =
        (input.chars().collect(), reference.chars().collect());
    let common = common(&input, &reference, meter)?;
    let lengths = input.len() + reference.len();
    Ok(if lengths == 0 { 1.0 } else { 2.0 * float(common) / float(lengths) })
}
