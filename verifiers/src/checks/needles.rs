//! `needles`: texts that were hidden in a long context are found again.

use assay_structure::answer::holds_words;
use assay_structure::fold::{fold, words};

use crate::plain::refuse_objects;
use crate::prelude::*;
use crate::text_parts::{share, shown, texts};

/// Right when the answer has every needle, as whole words, and little else.
///
/// The reference lists the needles. Case, accents and the kind of blanks do not count. An answer that
/// copies the context finds nothing: it may have `extra_words` words beside the needles, and none of
/// the distractors.
#[derive(Debug, Deserialize, Serialize, JsonSchema, SmartDefault)]
#[serde(deny_unknown_fields, default)]
pub struct Needles {
    /// The needles must come in the order of the reference.
    ordered: bool,
    /// Pay the share of needles that are found.
    partial: bool,
    /// A column that lists texts which must not be there, such as needles of other keys.
    distractors: Option<String>,
    /// The most words beside the needles.
    #[default(100)]
    extra_words: usize,
}

impl Check for Needles {
    const ID: &'static str = "needles";

    fn columns(&self) -> Vec<(&'static str, String)> {
        self.distractors.iter().map(|column| ("distractors", column.clone())).collect()
    }

    fn check(&self, sample: &Sample, meter: &mut Meter<'_>) -> Result<Verdict, Fault> {
        let Some(reference) = sample.reference() else { return Ok(Verdict::no_reference()) };
        refuse_objects(sample)?;
        let needles = plain_all(&texts(reference));
        if needles.is_empty() || needles.iter().any(String::is_empty) {
            return Err(Fault::bad_reference("the reference lists no needles, or an empty one"));
        }
        let text = shown(sample, meter)?;
        meter.spend(40 * text.len() as u64)?;
        let text = plain(&text);
        let own: usize = needles.iter().map(|needle| words(needle).count()).sum();
        let count = words(&text).count();
        if count > own + self.extra_words {
            return Ok(Verdict::graded(false).with("words", count).because("too-long"));
        }
        let distractors = self.distractors.as_ref().and_then(|column| sample.column(column));
        let distractors = plain_all(&distractors.map(texts).unwrap_or_default());
        for other in distractors.iter().filter(|other| !needles.contains(other)) {
            meter.spend((text.len() + other.len()) as u64)?;
            if holds_words(&text, other).is_some() {
                return Ok(Verdict::graded(false)
                    .with("text", other.as_str())
                    .because("distractor"));
            }
        }
        let (mut found, mut from, mut missing) = (0_u32, 0, None);
        for needle in &needles {
            meter.spend((text.len() + needle.len()) as u64)?;
            match text.get(from..).and_then(|rest| holds_words(rest, needle)) {
                Some(at) => {
                    found += 1;
                    from += if self.ordered { at + needle.len() } else { 0 };
                }
                None => missing = missing.or(Some(needle.as_str())),
            }
        }
        let Some(missing) = missing else { return Ok(Verdict::graded(true).because("found")) };
        let all = u32::try_from(needles.len()).unwrap_or(u32::MAX);
        let reward = if self.partial { f64::from(found) / f64::from(all) } else { 0.0 };
        Ok(share(reward).with("text", missing).with("found", found).because("missing"))
    }

    fn gold(&self, sample: &Sample) -> Option<Vec<String>> {
        Some(vec![texts(sample.reference()?).join("\n")])
    }
}

fn plain_all(texts: &[String]) -> Vec<String> {
    texts.iter().map(|text| plain(text)).collect()
}

fn plain(text: &str) -> String {
    fold(text, false).split_whitespace().collect::<Vec<_>>().join(" ")
}
