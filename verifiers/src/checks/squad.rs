//! `squad`: an answer against its aliases, by the rules of `SQuAD`.

use assay_metrics::squad::{compare, normalised};

use crate::likeness::{self, Measured};
use crate::prelude::*;
use crate::text_parts::{given, texts};

/// Exact match or F1 of tokens against the best of the right answers, as the scripts of `SQuAD` 1.1 and
/// 2.0 have it.
///
/// Answers are compared in lower case, without ASCII punctuation, and without a, an and the. The
/// reference is an answer, a list of them, or the `answers` of the data set, `{ text = [...] }`. The
/// answer is the last answer tag, or else all that the completion says: ask for short answers.
#[derive(Debug, Default, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Squad {
    /// Which measure pays.
    metric: Metric,
    /// What an answer says where the question has none, which is where the reference is empty. By
    /// default an empty reference is a fault.
    #[serde(skip_serializing_if = "Option::is_none")]
    unanswerable: Option<String>,
    /// The reward is 1 from this score on and 0 below, in place of the score.
    #[serde(skip_serializing_if = "Option::is_none")]
    threshold: Option<f64>,
}

#[derive(Clone, Copy, Debug, Default, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Metric {
    /// The F1 of tokens.
    #[default]
    F1,
    /// Whether the answers are equal.
    ExactMatch,
}

impl Squad {
    /// The right answers, normalised. An empty one says that there is none.
    fn wanted(&self, reference: &Value, meter: &mut Meter<'_>) -> Result<Vec<String>, Fault> {
        let bad = || Fault::bad_reference("the reference has no answer");
        let listed = match reference {
            Value::Object(fields) => fields.get("text").ok_or_else(bad)?,
            other => other,
        };
        let is_text = |value: &Value| value.is_string() || value.is_number();
        let all = listed.as_array().map_or(is_text(listed), |list| list.iter().all(is_text));
        let listed = if all { texts(listed) } else { return Err(bad()) };
        meter.spend(20 * listed.iter().map(|text| text.len() as u64).sum::<u64>())?;
        let wanted: Vec<String> = listed.iter().map(|text| normalised(text)).collect();
        let wanted: Vec<String> = wanted.into_iter().filter(|text| !text.is_empty()).collect();
        match wanted.is_empty() {
            // What has no answer but punctuation and articles.
            true if listed.iter().any(|text| !text.trim().is_empty()) => Err(bad()),
            true if self.unanswerable.is_none() => Err(bad()),
            true => Ok(vec![String::new()]),
            false => Ok(wanted),
        }
    }
}

impl Check for Squad {
    const ID: &'static str = "squad";
    const ASPECT: Aspect = Aspect::Likeness;

    fn load(&mut self, _: &dyn Files) -> Result<(), BuildError> {
        if self.unanswerable.as_ref().is_some_and(|text| normalised(text).is_empty()) {
            return Err(BuildError::new("unanswerable", "expected words"));
        }
        likeness::check_threshold(self.threshold)
    }

    fn check(&self, sample: &Sample, meter: &mut Meter<'_>) -> Result<Verdict, Fault> {
        let Some(reference) = sample.reference() else { return Ok(Verdict::no_reference()) };
        let wanted = self.wanted(reference, meter)?;
        let text = match given(sample, meter)? {
            Ok(text) => text,
            Err(why) => return Ok(Verdict::graded(false).because(why)),
        };
        let read: usize = wanted.iter().map(|right| right.len() + text.len()).sum();
        meter.spend(20 * read as u64)?;
        let mut answer = normalised(&text);
        match &self.unanswerable {
            Some(own) if normalised(own) == answer => answer.clear(),
            // Nothing but punctuation and articles is no answer, and does not say that there is none.
            _ if answer.is_empty() => return Ok(Verdict::graded(false).because("empty")),
            _ => {}
        }
        let scores = wanted.iter().map(|right| compare(&answer, right));
        let (exact, f1) =
            scores.fold((false, 0.0_f64), |best, (exact, f1)| (best.0 || exact, best.1.max(f1)));
        let score = match self.metric {
            Metric::F1 => f1,
            Metric::ExactMatch => f64::from(u8::from(exact)),
        };
        let parts = vec![("exact_match", exact.into()), ("f1", f1.into())];
        Ok(likeness::earned(Measured { score, parts }, self.threshold))
    }

    fn gold(&self, sample: &Sample) -> Option<Vec<String>> {
        let wanted = self.wanted(sample.reference()?, &mut Meter::default()).ok()?;
        let none = self.unanswerable.as_ref();
        let written = |text: String| if text.is_empty() { none.cloned() } else { Some(text) };
        Some(wanted.into_iter().filter_map(written).collect())
    }
}
