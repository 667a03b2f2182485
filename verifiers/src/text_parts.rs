//! What checks of documents and of short answers share: the part of a completion that is judged, and
//! what is said of it.

use std::borrow::Cow;
use std::ops::Range;

use assay_structure::Break;

use crate::extract::{self, Policy, Provenance, Scope, Spoken, Thinking, thinking};
use crate::language::standing::{self, Against};
use crate::plain::refuse_objects;
use crate::prelude::*;

/// Where a document is in a completion. What the model thinks is not looked at.
#[derive(Clone, Copy, Debug, Default, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Place {
    /// The last code fence of its language, or else the last one of no language, or else the last
    /// answer tag, or else the whole completion.
    #[default]
    Any,
    /// The whole completion.
    Whole,
    /// The last code fence of its language, or else the last one of no language.
    Fence,
}

impl Place {
    /// The bytes of the document; `languages` are those by which fences name its format. Linear in the
    /// completion.
    pub(crate) fn find(self, text: &str, languages: &[&str]) -> Result<Range<usize>, &'static str> {
        let said = thinking::answer(text, Thinking::Skip).ok_or("no-answer")?;
        let (named, bare) = last_fences(text, said.clone(), languages);
        let fence = named.or(bare);
        filled(
            text,
            match self {
                Self::Whole => said,
                Self::Fence => fence.ok_or("no-fence")?,
                Self::Any => fence.or_else(|| last_tag(text, &said)).unwrap_or(said),
            },
        )
    }

    /// The same of a text in which a fence of no language is a part: a fence of these languages, or else
    /// the last answer tag, or else the whole.
    pub(crate) fn around(text: &str, languages: &[&str]) -> Result<Range<usize>, &'static str> {
        let said = thinking::answer(text, Thinking::Skip).ok_or("no-answer")?;
        let (named, _) = last_fences(text, said.clone(), languages);
        filled(text, named.or_else(|| last_tag(text, &said)).unwrap_or(said))
    }
}

/// The last answer tag in a part of a text.
pub(crate) fn last_tag(text: &str, said: &Range<usize>) -> Option<Range<usize>> {
    let inner = extract::last_tag(&text[said.clone()], extract::is_answer_tag)?.inner;
    Some(said.start + inner.start..said.start + inner.end)
}

fn filled(text: &str, part: Range<usize>) -> Result<Range<usize>, &'static str> {
    if text[part.clone()].trim().is_empty() { Err("empty") } else { Ok(part) }
}

/// A part of a text, if it is there.
type Part = Option<Range<usize>>;

/// The text of the last closed fence whose language is one of these, and that of the last one without
/// a language.
fn last_fences(text: &str, part: Range<usize>, languages: &[&str]) -> (Part, Part) {
    let (mut open, mut named, mut bare): (Option<(usize, &str, String)>, _, _) = (None, None, None);
    let mut at = part.start;
    for line in text[part].split_inclusive('\n') {
        let head = line.trim_start_matches([' ', '\t']);
        match &open {
            Some((start, mark, language)) if head.starts_with(mark) => {
                let found = Some(*start..at);
                if languages.contains(&language.as_str()) {
                    named = found;
                } else if language.is_empty() {
                    bare = found;
                }
                open = None;
            }
            Some(_) => {}
            None => {
                let mark = ["```", "~~~"].into_iter().find(|mark| head.starts_with(mark));
                open = mark.map(|mark| {
                    let info = head.trim_start_matches(['`', '~']).trim();
                    let language = info.split([' ', ',', '{']).next().unwrap_or_default();
                    (at + line.len(), mark, language.to_lowercase())
                });
            }
        }
        at += line.len();
    }
    (named, bare)
}

/// Why a document is not judged, or not right.
pub(crate) enum Stop {
    /// It breaks its format.
    Broken(Break),
    /// It cannot be judged.
    Fault(Fault),
}

impl From<Break> for Stop {
    fn from(broken: Break) -> Self {
        Self::Broken(broken)
    }
}

impl From<Fault> for Stop {
    fn from(fault: Fault) -> Self {
        Self::Fault(fault)
    }
}

/// Judges the document of a completion, for whose bytes it pays `units` each. Where one breaks its
/// format, the evidence has the rule as `reason`, and `line`, `column` and `span` in the completion.
pub(crate) fn judge_document(
    sample: &Sample,
    (place, languages, units): (Place, &[&str], u64),
    meter: &mut Meter<'_>,
    judge: impl FnOnce(&str, &mut Meter<'_>) -> Result<Verdict, Stop>,
) -> Result<Verdict, Fault> {
    let completion = sample.completion();
    meter.spend(4 * completion.len() as u64)?;
    let span = match place.find(completion, languages) {
        Ok(span) => span,
        Err(reason) => return Ok(Verdict::graded(false).because(reason)),
    };
    meter.spend(units * span.len() as u64)?;
    let text = &completion[span.clone()];
    match judge(text, meter) {
        Ok(verdict) => Ok(verdict),
        Err(Stop::Fault(fault)) => Err(fault),
        Err(Stop::Broken(broken)) => {
            let broken = broken.shifted(span.start);
            let (line, column) = broken.place(completion);
            let verdict = Verdict::graded(false).with("what", broken.what.as_str());
            let verdict = verdict.with("line", line).with("column", column);
            let verdict = verdict.with("span", vec![broken.span.start, broken.span.end]);
            Ok(verdict.because(broken.rule))
        }
    }
}

/// What must be there: what the settings list and, with `by_reference`, what the reference of the row
/// lists. `None` where that lacks.
///
/// # Errors
/// A reference that lists no texts.
pub(crate) fn required(
    own: &[String],
    by_reference: bool,
    sample: &Sample,
) -> Result<Option<Vec<String>>, Fault> {
    if !by_reference {
        return Ok(Some(own.to_vec()));
    }
    let Some(reference) = sample.reference() else { return Ok(None) };
    refuse_objects(sample)?;
    let listed = texts(reference);
    if listed.is_empty() || listed.iter().any(|text| text.trim().is_empty()) {
        return Err(Fault::bad_reference("the reference lists nothing that must be there"));
    }
    Ok(Some(own.iter().cloned().chain(listed).collect()))
}

/// A document that is as it must be.
pub(crate) fn valid() -> Verdict {
    Verdict::graded(true).because("valid")
}

/// A short answer, as the reader of answers finds it.
pub(crate) struct Said {
    /// Its text, to the end of its sentence.
    pub(crate) text: String,
    /// Its bytes in the completion.
    pub(crate) span: (usize, usize),
    /// How it was found.
    pub(crate) provenance: Provenance,
    /// What the completion says against it.
    against: Option<Against>,
}

impl Said {
    /// A part of a completion that is an answer, whatever is said around it.
    pub(crate) fn part(completion: &str, span: Range<usize>) -> Self {
        let (text, provenance) = (completion[span.clone()].to_owned(), Provenance::Whole);
        Self { text, span: (span.start, span.end), provenance, against: None }
    }

    /// The same, with what the completion says against it.
    pub(crate) fn standing(completion: &str, span: Range<usize>) -> Self {
        let against = standing::of(completion, span.clone(), "").against();
        Self { against, ..Self::part(completion, span) }
    }

    /// A verdict on the answer: what is said against it makes it wrong.
    pub(crate) fn verdict(self, right: bool, reward: impl FnOnce(bool) -> Verdict) -> Verdict {
        self.told(right, if right { "equal" } else { "unequal" }, reward)
    }

    /// The same, with another reason.
    pub(crate) fn told(
        self,
        right: bool,
        reason: &'static str,
        reward: impl FnOnce(bool) -> Verdict,
    ) -> Verdict {
        let stands = right && self.against.is_none();
        let verdict = reward(stands).with_extracted(&self.text, self.span);
        match self.against.filter(|_| right) {
            Some(against) => verdict.against(against),
            None => verdict.because(reason),
        }
    }
}

/// The answer of a completion: the best one that is announced, or else all of a short completion, or
/// what its last sentence says. `reference` is another form of it.
pub(crate) fn said(
    sample: &Sample,
    reference: &str,
    meter: &mut Meter<'_>,
) -> Result<Option<Said>, Fault> {
    let completion = sample.completion();
    meter.spend(10 * completion.len() as u64)?;
    let spoken = Spoken::of(completion, Thinking::Skip).without_tags();
    let scope = Scope::of(&spoken, sample.prompt());
    let mut found = extract::announced(&scope, Policy::Auto, meter)?;
    if found.is_empty() {
        found = extract::whole(&scope, Policy::Whole).into_iter().collect();
    }
    if found.is_empty() {
        found = extract::concluded(&scope, Policy::Auto);
    }
    let Some(first) = found.into_iter().next() else { return Ok(None) };
    let (text, span, provenance) = scope.taken(first);
    let against = scope.against(span, reference);
    Ok(Some(Said { text, span, provenance, against }))
}

/// The text that a completion shows, without thinking and hidden parts.
pub(crate) fn shown(sample: &Sample, meter: &mut Meter<'_>) -> Result<String, Fault> {
    meter.spend(6 * sample.completion().len() as u64)?;
    Ok(Spoken::of(sample.completion(), Thinking::Skip).text().to_owned())
}

/// What a completion shows after the thinking, with as many blanks in place of hidden parts, and where it
/// begins. `None` where the thinking never ends.
pub(crate) fn visible<'s>(
    sample: &'s Sample,
    meter: &mut Meter<'_>,
) -> Result<Option<(Cow<'s, str>, usize)>, Fault> {
    let completion = sample.completion();
    meter.spend(10 * completion.len() as u64)?;
    let said = thinking::answer(completion, Thinking::Skip);
    Ok(said.map(|said| (extract::hidden::blanked(&completion[said.clone()]), said.start)))
}

/// The text that metrics judge: the last answer tag, or else all that is shown, without space at its
/// ends. An error says why there is none.
pub(crate) fn given(
    sample: &Sample,
    meter: &mut Meter<'_>,
) -> Result<Result<String, &'static str>, Fault> {
    let Some((text, _)) = visible(sample, meter)? else { return Ok(Err("no-answer")) };
    let all = 0..text.len();
    let text = text[last_tag(&text, &all).unwrap_or(all)].trim();
    Ok(if text.is_empty() { Err("empty") } else { Ok(text.to_owned()) })
}

/// A share as a reward.
pub(crate) fn share(value: f64) -> Verdict {
    Verdict::scored(Reward::new(value).unwrap_or(Reward::ZERO))
}

/// The entries of a list in the reference, or in a column: texts as they are, anything else as JSON.
pub(crate) fn texts(value: &Value) -> Vec<String> {
    match value {
        Value::Array(values) => {
            values.iter().map(|one| crate::sample::value_text(one).into_owned()).collect()
        }
        Value::Null => Vec::new(),
        value => vec![crate::sample::value_text(value).into_owned()],
    }
}
