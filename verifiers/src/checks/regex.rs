//! `regex`: a pattern matches, or what it captures equals the reference.

mod slips;

use crate::pattern::effort::{Effort, Searches};
use crate::plain::refuse_objects;
use crate::prelude::*;

/// Right when the pattern is found in the text.
///
/// The syntax is that of the Rust `regex` crate: no look-around and no back-references, so that
/// matching takes time linear in the text. A pattern that every text matches is refused. `(?s)`, `(?m)`, `(?i)` and `(?x)` set flags. With
/// `group`, what the last match captures must equal the reference (any member of a list), both
/// trimmed.
#[derive(Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Regex {
    /// The pattern.
    pattern: Pattern,
    /// The text that is searched.
    #[serde(default)]
    on: On,
    /// The pattern must match the whole text.
    #[serde(default)]
    full: bool,
    /// The name or number of a capture group to compare with the reference.
    #[serde(default)]
    group: Option<String>,
    /// The fewest matches.
    #[serde(default)]
    min: Option<u64>,
    /// The most matches.
    #[serde(default)]
    max: Option<u64>,
    /// Right when it would be wrong: the pattern must not be found.
    #[serde(default)]
    negate: bool,
    #[serde(skip)]
    whole: Option<Pattern>,
    #[serde(skip)]
    effort: Option<Effort>,
}

/// The text that is searched.
#[derive(Clone, Copy, Debug, Default, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum On {
    /// The completion.
    #[default]
    Completion,
    /// The prompt.
    Prompt,
}

impl Check for Regex {
    const ID: &'static str = "regex";
    const VERSION: u32 = 2;

    fn load(&mut self, _: &dyn Files) -> Result<(), BuildError> {
        let counts = self.min.is_some() || self.max.is_some();
        if self.min > self.max && self.max.is_some() {
            return Err(BuildError::new("min", "min is greater than max"));
        }
        if counts && (self.full || self.group.is_some()) {
            return Err(BuildError::new("min", "matches are not counted with full or group"));
        }
        if self.min == Some(0) && self.max.is_none() {
            return Err(BuildError::new("min", "no count of matches is below 0"));
        }
        if !counts && self.group.is_none() && self.pattern.always_matches(self.full) {
            let why = "the pattern matches every text, an empty one too";
            return Err(BuildError::new("pattern", why));
        }
        if self.group.is_some() && self.negate {
            return Err(BuildError::new(
                "negate",
                "a comparison with the reference has no negation",
            ));
        }
        if self.full {
            self.whole = Some(whole(&self.pattern)?);
        }
        let captures = if self.group.is_some() { self.pattern.captures_len() } else { 0 };
        let effort = Effort::new(self.used().as_str(), captures);
        self.effort = Some(effort.map_err(|error| BuildError::new("pattern", error))?);
        match &self.group {
            Some(group) if self.group_at(group).is_none() => {
                let message = format!("group \"{group}\": the pattern has no such group");
                Err(BuildError::new("group", message))
            }
            _ => Ok(()),
        }
    }

    fn aspect(&self) -> Aspect {
        if self.group.is_some() { Aspect::Text } else { Aspect::Form }
    }

    fn check(&self, sample: &Sample, meter: &mut Meter<'_>) -> Result<Verdict, Fault> {
        let text = match self.on {
            On::Completion => sample.completion(),
            On::Prompt => sample.prompt(),
        };
        meter.spend(self.pass(text))?;
        let Some(effort) = &self.effort else {
            return Err(Fault::internal("regex was not loaded"));
        };
        let mut searches = effort.of(text);
        searches.pay(0, meter)?;
        if let Some(group) = &self.group {
            return self.compare((group, text), sample, &mut searches, meter);
        }
        if self.min.is_some() || self.max.is_some() {
            let count = self.count(text, &mut searches, meter)?;
            let right = count >= self.min.unwrap_or(0) && self.max.is_none_or(|max| count <= max);
            let reason = if right { "count" } else { "count-out-of-range" };
            return Ok(Verdict::graded(right != self.negate).with("count", count).because(reason));
        }
        let found = self.used().find(text);
        let verdict = Verdict::graded(found.is_some() != self.negate);
        Ok(match found {
            Some(found) => verdict.with("span", vec![found.start(), found.end()]).because("match"),
            None => verdict.because("no-match"),
        })
    }

    /// With `group`, texts that the pattern matches, with the reference in the group.
    fn gold(&self, sample: &Sample) -> Option<Vec<String>> {
        let at = self.group_at(self.group.as_ref()?).unwrap_or_default();
        if let On::Prompt = self.on {
            return Some(Vec::new());
        }
        let references = sample.references();
        let texts = references.iter().filter(|reference| !reference.trim().is_empty());
        let texts = texts.filter_map(|reference| match at {
            0 => Some(reference.to_string()).filter(|text| self.used().is_match(text)),
            at => self.used().example(Some((at, reference))),
        });
        Some(texts.collect())
    }

    fn slips(&self, samples: &[&Sample]) -> Vec<Slip> {
        slips::slips(self.pattern.as_str(), self.group.is_some(), samples)
    }
}

impl Regex {
    fn used(&self) -> &Pattern {
        self.whole.as_ref().unwrap_or(&self.pattern)
    }

    /// The fuel of one pass over `text`: longer patterns have more states.
    fn pass(&self, text: &str) -> u64 {
        text.len() as u64 * (1 + self.pattern.as_str().len() as u64 / 128)
    }

    /// Each search may scan the whole rest of the text before it decides for a short match.
    fn pay_for_search(text: &str, from: usize, meter: &mut Meter<'_>) -> Result<(), Fault> {
        meter.spend(8 + text.len().saturating_sub(from) as u64 / 32)
    }

    fn count(
        &self,
        text: &str,
        searches: &mut Searches<'_>,
        meter: &mut Meter<'_>,
    ) -> Result<u64, Fault> {
        let mut count = 0;
        for found in self.pattern.find_iter(text) {
            Self::pay_for_search(text, found.end(), meter)?;
            searches.pay(found.end(), meter)?;
            count += 1;
            if self.max.is_some_and(|max| count > max) {
                break;
            }
        }
        Ok(count)
    }

    fn group_at(&self, group: &str) -> Option<usize> {
        let named = self.pattern.capture_names().position(|name| name == Some(group));
        named.or_else(|| group.parse().ok().filter(|at| *at < self.pattern.captures_len()))
    }

    fn compare(
        &self,
        (group, text): (&str, &str),
        sample: &Sample,
        searches: &mut Searches<'_>,
        meter: &mut Meter<'_>,
    ) -> Result<Verdict, Fault> {
        if sample.reference().is_none() {
            return Ok(Verdict::no_reference());
        }
        refuse_objects(sample)?;
        let at = self.group_at(group).unwrap_or_default();
        let mut captured = None;
        for captures in self.used().captures_iter(text) {
            let end = captures.get_match().end();
            Self::pay_for_search(text, end, meter)?;
            searches.pay(end, meter)?;
            captured = captures.get(at).or(captured);
        }
        let Some(captured) = captured else {
            return Ok(Verdict::graded(false).because("no-match"));
        };
        let answer = captured.as_str().trim();
        let references = sample.references();
        meter.spend((answer.len() * references.len()) as u64)?;
        let right = !answer.is_empty() && references.iter().any(|wanted| wanted.trim() == answer);
        Ok(Verdict::graded(right)
            .with_extracted(answer, (captured.start(), captured.end()))
            .because(if right { "equal" } else { "unequal" }))
    }
}

/// The pattern between the ends of the text.
fn whole(pattern: &Pattern) -> Result<Pattern, BuildError> {
    let anchored = |end| Pattern::new(&format!(r"\A(?:{}{end}", pattern.as_str()));
    // With `(?x)`, a comment at the end would go on over the closing bracket.
    let whole = anchored(r")\z").or_else(|error| anchored("\n)\\z").map_err(|_| error));
    whole.map_err(|error| BuildError::new("pattern", error))
}
