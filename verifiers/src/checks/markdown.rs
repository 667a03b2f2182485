//! `markdown`: the parts that a Markdown text must have.

use assay_structure::fold::{fold, is_blank};
use assay_structure::markdown::{Kind, Part, outline};

use crate::prelude::*;
use crate::text_parts::{Place, required, share};

/// Right when a Markdown text has all the parts that are asked for.
///
/// A heading counts where text stands below it, a list by its items that hold text, so that an empty
/// skeleton earns nothing. A text of `CommonMark` cannot break: `code` asks for fences that are closed.
#[derive(Debug, Default, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Markdown {
    /// The parts that must be there.
    parts: Vec<Wanted>,
    /// They come in this order.
    ordered: bool,
    /// Pay the share of parts that are there.
    partial: bool,
    /// The reference of each row lists further headings that must be there.
    by_reference: bool,
}

/// A part that must be there.
#[derive(Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Wanted {
    /// What it is.
    kind: Name,
    /// The text of a heading or a link; the target of a link. Case does not count.
    #[serde(default)]
    text: Option<String>,
    /// The level of a heading.
    #[serde(default)]
    level: Option<u8>,
    /// The columns of a table, in order.
    #[serde(default)]
    columns: Vec<String>,
    /// The language of a block of code.
    #[serde(default)]
    language: Option<String>,
    /// Whether a list is numbered.
    #[serde(default)]
    numbered: Option<bool>,
    /// The fewest items of a list or rows of a table.
    #[serde(default)]
    min: Option<usize>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Name {
    Heading,
    List,
    Table,
    Link,
    Code,
}

impl Check for Markdown {
    const ID: &'static str = "markdown";
    const ASPECT: Aspect = Aspect::Form;

    fn load(&mut self, _: &dyn Files) -> Result<(), BuildError> {
        if self.parts.is_empty() && !self.by_reference {
            return Err(BuildError::new("parts", "no part is asked for"));
        }
        let bad = self.parts.iter().position(|part| {
            let is = |kinds: &[Name]| kinds.contains(&part.kind);
            part.text.is_some() && !is(&[Name::Heading, Name::Link])
                || part.level.is_some() && !is(&[Name::Heading])
                || !part.columns.is_empty() && !is(&[Name::Table])
                || part.language.is_some() && !is(&[Name::Code])
                || part.numbered.is_some() && !is(&[Name::List])
                || part.min.is_some() && !is(&[Name::List, Name::Table])
        });
        match bad {
            Some(at) => {
                Err(BuildError::new(format!("parts.{at}"), "the kind has no such property"))
            }
            None => Ok(()),
        }
    }

    fn check(&self, sample: &Sample, meter: &mut Meter<'_>) -> Result<Verdict, Fault> {
        let Some(headings) = required(&[], self.by_reference, sample)? else {
            return Ok(Verdict::no_reference());
        };
        let completion = sample.completion();
        meter.spend(80 * completion.len() as u64)?;
        let span = match Place::around(completion, &["markdown", "md"]) {
            Ok(span) => span,
            Err(reason) => return Ok(Verdict::graded(false).because(reason)),
        };
        let have = outline(&completion[span]);
        let mut free: Vec<&Part> = have.iter().collect();
        let (mut found, mut missing) = (0_u32, None);
        let headings: Vec<Wanted> = headings.into_iter().map(Wanted::heading).collect();
        let parts: Vec<&Wanted> = self.parts.iter().chain(&headings).collect();
        for (at, wanted) in parts.iter().enumerate() {
            meter.spend(200 * free.len() as u64)?;
            match free.iter().position(|part| wanted.fits(part)) {
                Some(place) => {
                    found += 1;
                    free.drain(if self.ordered { 0..=place } else { place..=place });
                }
                None => missing = missing.or(Some(at)),
            }
        }
        let Some(missing) = missing else { return Ok(Verdict::graded(true).because("complete")) };
        let all = u32::try_from(parts.len()).unwrap_or(u32::MAX);
        let part = f64::from(found) / f64::from(all);
        Ok(share(if self.partial { part } else { 0.0 }).with("part", missing).because("missing"))
    }
}

impl Wanted {
    fn heading(text: String) -> Self {
        Self {
            kind: Name::Heading,
            text: Some(text),
            level: None,
            columns: Vec::new(),
            language: None,
            numbered: None,
            min: None,
        }
    }

    fn fits(&self, part: &Part) -> bool {
        let same = |one: &str, two: &str| fold(one.trim(), true) == fold(two.trim(), true);
        let text = self.text.as_deref().is_none_or(|text| same(text, &part.text));
        let least = self.min.unwrap_or(1);
        match (&part.kind, self.kind) {
            (Kind::Heading { level, has_content }, Name::Heading) => {
                *has_content && text && self.level.is_none_or(|own| own == *level)
            }
            (Kind::List { ordered, items }, Name::List) => {
                *items >= least && self.numbered.is_none_or(|own| own == *ordered)
            }
            (Kind::Table { columns, rows }, Name::Table) => {
                let named = self.columns.iter().zip(columns).all(|(one, two)| same(one, two));
                let is_whole = self.columns.is_empty() || self.columns.len() == columns.len();
                *rows >= least && named && is_whole
            }
            (Kind::Link(target), Name::Link) => text || self.text.as_deref() == Some(target),
            (Kind::Code(language), Name::Code) => {
                let is_named = self.language.as_deref().is_none_or(|own| same(own, language));
                is_named && !is_blank(&part.text)
            }
            _ => false,
        }
    }
}
