//! `terms`: terms that must be used, so often, and terms that must not.

use std::collections::BTreeMap;

use assay_structure::answer::holds_words;
use assay_structure::fold::{fold, words};
use assay_structure::markdown;

use crate::prelude::*;
use crate::text_parts::{share, shown, texts};

/// Right when a text uses the terms that it must as often as it must, and none that it must not.
///
/// Terms are whole words or phrases; case, width, the kind of quotation marks and marks of Markdown do not count. Without
/// any list, the reference lists what is required. A text that is little but its terms is refused.
#[derive(Debug, Deserialize, Serialize, JsonSchema, SmartDefault)]
#[serde(deny_unknown_fields, default)]
pub struct TermsCheck {
    /// Terms that must be used.
    required: Vec<String>,
    /// Terms that must not be used.
    forbidden: Vec<String>,
    /// The column with further terms that must not be used.
    forbidden_column: Option<String>,
    /// How often terms are used: at least, at most.
    counts: BTreeMap<String, (u32, u32)>,
    /// The largest share of the words of the text that are required terms.
    #[default(0.5)]
    share_max: f64,
    /// Pay the share of required terms and counts that are met, unless a forbidden one is used.
    partial: bool,
}

impl Check for TermsCheck {
    const ID: &'static str = "terms";
    const ASPECT: Aspect = Aspect::Form;

    fn load(&mut self, _: &dyn Files) -> Result<(), BuildError> {
        let lists = [("required", &self.required), ("forbidden", &self.forbidden)];
        if let Some((name, _)) =
            lists.iter().find(|(_, list)| list.iter().any(|term| plain(term).is_empty()))
        {
            return Err(BuildError::new(*name, "a blank term is in every text"));
        }
        if let Some((term, _)) =
            self.counts.iter().find(|(term, (min, max))| min > max || plain(term).is_empty())
        {
            return Err(BuildError::new(
                format!("counts.{term}"),
                "expected [at least, at most] of a term",
            ));
        }
        let is_share = self.share_max > 0.0 && self.share_max <= 1.0;
        if is_share {
            Ok(())
        } else {
            Err(BuildError::new("share_max", "a share is above 0, at most 1"))
        }
    }

    fn columns(&self) -> Vec<(&'static str, String)> {
        self.forbidden_column.iter().map(|column| ("forbidden_column", column.clone())).collect()
    }

    fn check(&self, sample: &Sample, meter: &mut Meter<'_>) -> Result<Verdict, Fault> {
        let column = self.forbidden_column.as_ref().and_then(|column| sample.column(column));
        let forbidden: Vec<String> =
            self.forbidden.iter().cloned().chain(column.map(texts).into_iter().flatten()).collect();
        let is_set = !(self.required.is_empty()
            && self.counts.is_empty()
            && self.forbidden.is_empty()
            && self.forbidden_column.is_none());
        let required = match sample.reference().filter(|_| !is_set) {
            _ if is_set => self.required.clone(),
            None => return Ok(Verdict::no_reference()),
            Some(reference) => texts(reference),
        };
        if !is_set && (required.is_empty() || required.iter().any(|term| plain(term).is_empty())) {
            return Err(Fault::bad_reference("the reference lists no terms, or a blank one"));
        }
        let text = shown(sample, meter)?;
        meter.spend(160 * text.len() as u64)?;
        // "**As** an AI" says "As an AI".
        let (text, bare) = (plain(&text), plain(&markdown::shown(&text)));
        let times = |term: &str, most: u32, meter: &mut Meter<'_>| {
            Ok::<_, Fault>(count(&text, term, most, meter)?.max(count(&bare, term, most, meter)?))
        };
        if text.is_empty() {
            return Ok(Verdict::graded(false).because("empty"));
        }
        for term in forbidden.iter().map(|term| plain(term)).filter(|term| !term.is_empty()) {
            if times(&term, 1, meter)? > 0 {
                return Ok(Verdict::graded(false).with("term", term).because("forbidden"));
            }
        }
        let once = required.iter().map(|term| (term, (1, u32::MAX)));
        let wanted: Vec<(&String, (u32, u32))> =
            once.chain(self.counts.iter().map(|(term, range)| (term, *range))).collect();
        let (mut met, mut used, mut missing) = (0_u32, 0, None);
        for (term, (min, max)) in &wanted {
            let term = plain(term);
            let found = times(&term, u32::MAX, meter)?;
            used += words(&term).count() * found as usize;
            if (*min..=*max).contains(&found) {
                met += 1;
            } else {
                missing = missing.or(Some((term, found)));
            }
        }
        #[expect(clippy::cast_precision_loss, reason = "a text has far fewer words than 2^53")]
        if used as f64 > self.share_max * words(&text).count() as f64 {
            return Ok(Verdict::graded(false).because("only-terms"));
        }
        let Some((term, found)) = missing else {
            return Ok(Verdict::graded(true).because("complete"));
        };
        let all = u32::try_from(wanted.len()).unwrap_or(u32::MAX);
        let reward = if self.partial { f64::from(met) / f64::from(all) } else { 0.0 };
        Ok(share(reward).with("term", term).with("count", found).because("missing"))
    }
}

fn plain(text: &str) -> String {
    fold(text, true).split_whitespace().collect::<Vec<_>>().join(" ")
}

/// How often a term stands in a text, at most so often.
fn count(text: &str, term: &str, most: u32, meter: &mut Meter<'_>) -> Result<u32, Fault> {
    meter.spend((text.len() + term.len()) as u64)?;
    let (mut found, mut from) = (0, 0);
    while let Some(at) =
        text.get(from..).and_then(|rest| holds_words(rest, term)).filter(|_| found < most)
    {
        found += 1;
        from += at + term.len();
    }
    Ok(found)
}
