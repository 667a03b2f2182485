//! `regex_answer`: the answer is a regular expression, which must match some texts and not others.

use crate::language::sentences::range_in;
use crate::pattern::effort::Effort;
use crate::prelude::*;
use crate::text_parts::{Place, share};

/// Right when the answer is a regular expression that matches every text that it must, and no other.
///
/// The reference is `{ accept = [...], reject = [...] }`, both with at least one text. The expression
/// stands in the last code fence or answer tag, or is the last line; slashes or backticks around it
/// are left out. It is one of the crate `regex`: linear, without look-around and backreferences.
#[derive(Debug, Deserialize, Serialize, JsonSchema, SmartDefault)]
#[serde(deny_unknown_fields, default)]
pub struct RegexAnswer {
    /// A text is matched as a whole; otherwise a part of it may match.
    #[default(true)]
    full: bool,
    /// Pay the lesser one of the shares of both kinds of texts, so that an expression that matches
    /// everything earns nothing.
    partial: bool,
    /// The longest expression, in bytes: one that lists the texts is none.
    #[default(500)]
    bytes_max: usize,
}

/// What compiling an expression may cost.
const COMPILE_FUEL: u64 = 1_000_000;

/// The texts of a reference.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Texts {
    accept: Vec<String>,
    reject: Vec<String>,
}

impl Check for RegexAnswer {
    const ID: &'static str = "regex_answer";

    fn check(&self, sample: &Sample, meter: &mut Meter<'_>) -> Result<Verdict, Fault> {
        let Some(reference) = sample.reference() else { return Ok(Verdict::no_reference()) };
        let texts = read(reference)?;
        let completion = sample.completion();
        meter.spend(4 * completion.len() as u64)?;
        let span = match Place::Any.find(completion, &["regex", "regexp", "re"]) {
            Ok(span) => span,
            Err(reason) => return Ok(Verdict::graded(false).because(reason)),
        };
        let line = completion[span].trim().lines().next_back().unwrap_or_default().trim();
        let line = line.trim_matches('`');
        let inner =
            line.strip_prefix('/').and_then(|inner| inner.strip_suffix('/')).unwrap_or(line);
        let place = range_in(completion, inner);
        let verdict = |verdict: Verdict| verdict.with_extracted(inner, (place.start, place.end));
        let whole = if self.full { format!(r"\A(?:{inner})\z") } else { inner.to_owned() };
        if inner.is_empty() || inner.len() > self.bytes_max {
            return Ok(verdict(Verdict::graded(false)).because("length"));
        }
        meter.spend(COMPILE_FUEL)?;
        // What does not compile by itself must not compile by the brackets around it.
        let pattern = Pattern::new(inner).and_then(|_| Pattern::new(&whole));
        let read = pattern.and_then(|pattern| Ok((Effort::new(&whole, 0)?, pattern)));
        let (effort, pattern) = match read {
            Ok(read) => read,
            Err(why) => {
                return Ok(verdict(Verdict::graded(false).with("what", why)).because("no-regex"));
            }
        };
        let mut count = |texts: &[String], wanted: bool| -> Result<f64, Fault> {
            let mut right = 0_u32;
            for text in texts {
                meter.spend(effort.most(text.len() + 1) / 4)?;
                right += u32::from(pattern.is_match(text) == wanted);
            }
            let all = u32::try_from(texts.len()).unwrap_or(u32::MAX);
            Ok(f64::from(right) / f64::from(all))
        };
        let (accepted, rejected) = (count(&texts.accept, true)?, count(&texts.reject, false)?);
        let least = accepted.min(rejected);
        let is_right = accepted >= 1.0 && rejected >= 1.0;
        let reward = if is_right || self.partial { least } else { 0.0 };
        let scored = verdict(share(reward)).with("accepted", accepted).with("rejected", rejected);
        Ok(scored.because(if is_right { "equal" } else { "unequal" }))
    }

    /// An expression is no text of the reference; the texts that it must match are one.
    fn gold(&self, sample: &Sample) -> Option<Vec<String>> {
        let texts = read(sample.reference()?).ok()?;
        let all: Vec<String> = texts.accept.iter().map(|text| regex::escape(text)).collect();
        let can = all.iter().all(|one| !one.contains('\n')) && self.full;
        Some(can.then(|| format!("<answer>{}</answer>", all.join("|"))).into_iter().collect())
    }
}

fn read(reference: &Value) -> Result<Texts, Fault> {
    let held = reference.as_str().and_then(|text| serde_json::from_str(text).ok());
    let texts: Option<Texts> =
        serde_json::from_value(held.unwrap_or_else(|| reference.clone())).ok();
    let texts = texts.filter(|texts| !texts.accept.is_empty() && !texts.reject.is_empty());
    texts.ok_or_else(|| {
        Fault::bad_reference("expected {accept: [...], reject: [...]}, each with at least one text")
    })
}
