//! What metrics of texts share: the text that is judged, its references, and what a score earns.

use std::borrow::Cow;
use std::cell::Cell;
use std::slice;

use assay_structure::answer;
use assay_structure::fold::decomposed;

use crate::OrderedMap;
use crate::prelude::*;
use crate::sample::value_text;
use crate::text_parts::{Place, given, share, texts, visible};

/// What a metric says.
pub(crate) struct Measured {
    /// The score that pays, from 0 to 1; rounding and rates may lie beyond.
    pub(crate) score: f64,
    /// What the evidence has.
    pub(crate) parts: Vec<(&'static str, Value)>,
}

/// Measures the text of a completion against the references of its row, one text or several. With a
/// threshold the reward is 1 from that score on and 0 below.
pub(crate) fn judge(
    sample: &Sample,
    threshold: Option<f64>,
    meter: &mut Meter<'_>,
    measure: impl FnOnce(&str, &[&str], &mut Meter<'_>) -> Result<Measured, Fault>,
) -> Result<Verdict, Fault> {
    let Some(reference) = sample.reference() else { return Ok(Verdict::no_reference()) };
    let references = references(reference)?;
    let text = match given(sample, meter)? {
        Ok(text) => text,
        Err(why) => return Ok(Verdict::graded(false).because(why)),
    };
    let references: Vec<&str> = references.iter().map(|text| &**text).collect();
    let read: usize = references.iter().map(|text| text.len()).sum();
    // Some twenty passes over texts and n-grams.
    meter.spend(20 * (text.len() * references.len() + read) as u64)?;
    Ok(earned(measure(&text, &references, meter)?, threshold))
}

/// What a thread read of the last references: completions of a prompt have the same.
pub(crate) struct Kept<K, R>(Cell<Option<(Vec<String>, K, R)>>);

impl<K: PartialEq, R> Kept<K, R> {
    pub(crate) const fn new() -> Self {
        Self(Cell::new(None))
    }

    /// Hands over what `read` makes of references by rules.
    pub(crate) fn with<T>(
        &self,
        references: &[&str],
        rules: K,
        read: impl FnOnce(&K) -> R,
        then: impl FnOnce(&R) -> T,
    ) -> T {
        let kept = self.0.take().filter(|(texts, own, _)| texts == references && *own == rules);
        let kept = kept.unwrap_or_else(|| {
            let all = read(&rules);
            (references.iter().map(|text| (*text).to_owned()).collect(), rules, all)
        });
        let out = then(&kept.2);
        self.0.set(Some(kept));
        out
    }
}

/// What a score earns.
pub(crate) fn earned(measured: Measured, threshold: Option<f64>) -> Verdict {
    let score = measured.score.clamp(0.0, 1.0);
    let verdict = match threshold {
        Some(threshold) => Verdict::graded(score >= threshold),
        None => share(score),
    };
    measured.parts.into_iter().fold(verdict, |verdict, (key, value)| verdict.with(key, value))
}

fn is_text(value: &Value) -> bool {
    value.is_string() || value.is_number()
}

fn text(value: &Value) -> Option<Cow<'_, str>> {
    match value {
        Value::String(text) => Some(Cow::Borrowed(text.trim())),
        Value::Number(_) => Some(value_text(value)),
        _ => None,
    }
}

/// The texts of a reference, none of them blank.
fn references(reference: &Value) -> Result<Vec<Cow<'_, str>>, Fault> {
    let listed = reference.as_array().map_or(slice::from_ref(reference), Vec::as_slice);
    let texts: Option<Vec<Cow<'_, str>>> = listed.iter().map(text).collect();
    let is_full =
        |texts: &Vec<Cow<'_, str>>| !texts.is_empty() && texts.iter().all(|text| !text.is_empty());
    texts
        .filter(is_full)
        .ok_or_else(|| Fault::bad_reference("the reference is no text, no list of texts, or empty"))
}

/// Refuses a threshold outside of 0 to 1.
pub(crate) fn check_threshold(threshold: Option<f64>) -> Result<(), BuildError> {
    match threshold {
        Some(threshold) if !(0.0..=1.0).contains(&threshold) => {
            Err(BuildError::new("threshold", "expected 0 to 1"))
        }
        _ => Ok(()),
    }
}

/// Each of several references is a right answer.
pub(crate) fn gold(sample: &Sample) -> Option<Vec<String>> {
    let reference = sample.reference()?;
    let texts = |listed: Vec<Cow<'_, str>>| listed.into_iter().map(Cow::into_owned).collect();
    (!reference.is_string()).then(|| references(reference).map(texts).unwrap_or_default())
}

/// The data of a text, and the JSON that it is: in the last code fence, or else in the last answer tag, or else
/// in all of it, and there in the last box. Of an object, its member `answer` or the only one; none where
/// it is there twice and says two things.
pub(crate) fn data(text: &str) -> Option<(&str, Option<Value>)> {
    let part = text[Place::Any.find(text, &["json"]).ok()?].trim();
    let mut depth = 1_u32;
    let closes = |c| {
        depth = depth + u32::from(c == '{') - u32::from(c == '}');
        depth == 0
    };
    let boxed =
        part.rsplit_once("\\boxed{").and_then(|(_, rest)| Some(&rest[..rest.find(closes)?]));
    let part = boxed.unwrap_or(part).trim();
    let Ok(members) = serde_json::from_str::<OrderedMap<Value>>(part) else {
        return Some((part, serde_json::from_str(part).ok()));
    };
    let first = members.iter().next().map_or("", |(key, _)| key);
    let is_answer = members.iter().any(|(key, _)| key == "answer");
    let name = if is_answer { "answer" } else { first };
    let mut own = members.iter().filter(|(key, _)| *key == name).map(|(_, own)| own);
    let value = own.next();
    // Two answers are none.
    if own.any(|other| Some(other) != value) {
        return None;
    }
    let is_only = members.iter().all(|(key, _)| key == name);
    Some((part, value.filter(|_| is_answer || is_only).cloned()))
}

/// An item without emphasis and the marks of text in LaTeX, decomposed.
pub(crate) fn item(text: &str) -> String {
    let bare = text.trim().trim_matches(['*', '`']).trim();
    let inner = bare.strip_prefix("\\text{").and_then(|inner| inner.strip_suffix('}'));
    let bare = inner.unwrap_or(bare);
    decomposed(if bare.is_empty() { text.trim() } else { bare })
}

/// The items that a completion lists, in order: those of a JSON array, or the entries of a list.
pub(crate) fn items(sample: &Sample, meter: &mut Meter<'_>) -> Result<Vec<String>, Fault> {
    let Some((text, _)) = visible(sample, meter)? else { return Ok(Vec::new()) };
    meter.spend(40 * text.len() as u64)?;
    let Some((text, value)) = data(&text) else { return Ok(Vec::new()) };
    let items: Vec<String> = match value {
        Some(Value::Array(values)) if values.iter().all(is_text) => {
            texts(&Value::Array(values)).iter().map(|own| item(own)).collect()
        }
        Some(Value::String(text)) => answer::items(&text).into_iter().map(item).collect(),
        _ => answer::items(text).into_iter().map(item).collect(),
    };
    Ok(items.into_iter().filter(|item| !item.is_empty()).collect())
}

/// The different items of a reference, in order.
pub(crate) fn listed_reference(reference: &Value) -> Result<Vec<String>, Fault> {
    let items = if reference.is_array() { references(reference) } else { Err(no_list()) };
    let items: Vec<String> = items.map_err(|_| no_list())?.iter().map(|own| item(own)).collect();
    let distinct: std::collections::BTreeSet<&String> = items.iter().collect();
    if distinct.len() == items.len() { Ok(items) } else { Err(no_list()) }
}

fn no_list() -> Fault {
    Fault::bad_reference("the reference is no list of different texts")
}

/// A list as a completion writes it.
pub(crate) fn gold_list(sample: &Sample) -> Option<Vec<String>> {
    let items = listed_reference(sample.reference()?).ok()?;
    Some(vec![json!(items).to_string()])
}
