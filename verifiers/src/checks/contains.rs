//! `contains`: texts that must, may, or must not be there.

use std::borrow::Cow;

use crate::plain::{lower, refuse_objects};
use crate::prelude::*;

/// Right when the completion contains what it must and nothing that it must not.
///
/// Without any list, it must contain the reference (one member, if that is a list). Beware that a
/// model learns to list every candidate: where an answer is due, prefer a check that extracts one.
#[derive(Debug, Default, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Contains {
    /// Texts that must all be there.
    all: Vec<String>,
    /// Texts of which one must be there.
    any: Vec<String>,
    /// Texts that must not be there.
    none: Vec<String>,
    /// Compare without regard to case, in any script.
    ignore_case: bool,
    /// A text counts only where no letter, digit, underscore or combining mark goes on before or
    /// after it.
    whole_words: bool,
}

impl Check for Contains {
    const ID: &'static str = "contains";
    const VERSION: u32 = 2;

    fn load(&mut self, _: &dyn Files) -> Result<(), BuildError> {
        for (name, texts) in [("all", &self.all), ("any", &self.any), ("none", &self.none)] {
            if texts.iter().any(|text| text.trim().is_empty()) {
                return Err(BuildError::new(name, "a blank text is in every completion"));
            }
        }
        Ok(())
    }

    /// A text that is asked for and that no completion has.
    fn slips(&self, samples: &[&Sample]) -> Vec<Slip> {
        let has = |text: &str| samples.iter().any(|sample| sample.completion().contains(text));
        let of_any = || self.any.first().filter(|_| !self.any.iter().any(|text| has(text)));
        let absent = self.all.iter().find(|text| !has(text)).or_else(of_any);
        let Some(text) = absent.filter(|_| samples.len() > 1 && !self.ignore_case) else {
            return Vec::new();
        };
        let lower = text.to_lowercase();
        let help = if text.contains("\\\\") {
            "within single quotes TOML takes a backslash literally: write one".to_owned()
        } else if samples.iter().any(|sample| sample.completion().to_lowercase().contains(&lower)) {
            "ignore_case = true takes it as it is written".to_owned()
        } else {
            "the prompt must ask for it, and the policy write it".to_owned()
        };
        let (code, setting) = ("absent_text", if self.all.contains(text) { "all" } else { "any" });
        vec![Slip {
            code,
            setting,
            samples: Vec::new(),
            message: format!("no completion has `{text}`"),
            help,
        }]
    }

    fn aspect(&self) -> Aspect {
        let lists = [&self.all, &self.any, &self.none];
        if lists.iter().all(|texts| texts.is_empty()) { Aspect::Text } else { Aspect::Form }
    }

    fn check(&self, sample: &Sample, meter: &mut Meter<'_>) -> Result<Verdict, Fault> {
        let text = self.folded(sample.completion(), meter)?;
        if self.all.is_empty() && self.any.is_empty() && self.none.is_empty() {
            return self.check_reference(&text, sample, meter);
        }
        for wanted in &self.all {
            if self.find(&text, wanted, meter)?.is_none() {
                return Ok(Verdict::graded(false).with("text", wanted.as_str()).because("missing"));
            }
        }
        for refused in &self.none {
            if let Some(span) = self.find(&text, refused, meter)? {
                return Ok(Verdict::graded(false)
                    .with("text", refused.as_str())
                    .with("span", vec![span.0, span.1])
                    .because("refused"));
            }
        }
        for wanted in &self.any {
            if self.find(&text, wanted, meter)?.is_some() {
                return Ok(Verdict::graded(true).with("text", wanted.as_str()).because("found"));
            }
        }
        let right = self.any.is_empty();
        Ok(Verdict::graded(right).because(if right { "found" } else { "missing" }))
    }
}

impl Contains {
    fn check_reference(
        &self,
        text: &str,
        sample: &Sample,
        meter: &mut Meter<'_>,
    ) -> Result<Verdict, Fault> {
        if sample.reference().is_none() {
            return Ok(Verdict::no_reference());
        }
        refuse_objects(sample)?;
        let references = sample.references();
        if references.iter().all(|wanted| wanted.trim().is_empty()) {
            return Err(Fault::bad_reference("a blank reference is in every completion"));
        }
        for wanted in references.iter().map(|wanted| wanted.trim()) {
            if let Some(span) = self.find(text, wanted, meter)? {
                let verdict = Verdict::graded(true).with("text", wanted);
                return Ok(verdict.with("span", vec![span.0, span.1]).because("found"));
            }
        }
        Ok(Verdict::graded(false).because("missing"))
    }

    /// Where `wanted` is in the folded text.
    fn find(
        &self,
        text: &str,
        wanted: &str,
        meter: &mut Meter<'_>,
    ) -> Result<Option<(usize, usize)>, Fault> {
        meter.spend((text.len() + wanted.len()) as u64)?;
        let wanted = self.folded(wanted, meter)?;
        if wanted.is_empty() {
            return Ok(None);
        }
        let mut from = 0;
        while let Some(at) = text.get(from..).and_then(|rest| rest.find(wanted.as_ref())) {
            let span = (from + at, from + at + wanted.len());
            if !self.whole_words || is_word(text, span) {
                return Ok(Some(span));
            }
            // The next one may begin within this one, so its length is looked at again.
            meter.spend(wanted.len() as u64)?;
            from = text.ceil_char_boundary(span.0 + 1);
        }
        Ok(None)
    }

    /// The text without its case. Folding character by character keeps no offsets, except in
    /// ASCII; spans are those of the folded text.
    fn folded<'t>(&self, text: &'t str, meter: &mut Meter<'_>) -> Result<Cow<'t, str>, Fault> {
        if !self.ignore_case {
            return Ok(Cow::Borrowed(text));
        }
        meter.spend(text.len() as u64)?;
        Ok(Cow::Owned(lower(text).collect()))
    }
}

/// Whether no word goes on at either end.
fn is_word(text: &str, (start, end): (usize, usize)) -> bool {
    let before = text.get(..start).and_then(|text| text.chars().next_back());
    let after = text.get(end..).and_then(|text| text.chars().next());
    !before.is_some_and(goes_on) && !after.is_some_and(goes_on)
}

fn goes_on(c: char) -> bool {
    c.is_alphanumeric() || c == '_' || ('\u{300}'..='\u{36f}').contains(&c)
}
