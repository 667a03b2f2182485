//! `short_answer`: a name, a date, a quantity, yes or no, or that there is no answer.

use std::borrow::Cow;

use assay_structure::answer::{self, Guards, How, Rules, matches, polarity};
use assay_structure::date::{self, Reading};
use assay_structure::latex::with_money;
use assay_structure::number::Tolerance;
use assay_structure::phrase::{self, Phrases};
use assay_structure::quantity;
use assay_structure::table::normalised;

use crate::plain::refuse_objects;
use crate::prelude::*;
use crate::text_parts::{Said, said, texts};

/// Right when the answer says what a reference says.
///
/// Words are compared without case, punctuation and articles; marks that carry meaning count (`-5`, `>5`,
/// `5%`, `$5`, `3-5`, `1/2`, `10:30`, `5^2`, `C++`, `B-`). A reference that is a date, a quantity
/// with a unit, or yes or no is compared as one: a date in several forms, a quantity in any unit of
/// its dimension. A reference that says that there is no answer is met by saying so.
///
/// Three outcomes are paid: `right`, `wrong`, and `not_attempted` for an answer that says that it is not
/// known, refuses, or is not there. A date of which only one reading is right (`3/4/21`) abstains.
#[derive(Debug, Deserialize, Serialize, JsonSchema, SmartDefault)]
#[serde(deny_unknown_fields, default)]
pub struct ShortAnswer {
    /// How the answer may say it.
    #[serde(rename = "match")]
    how: Match,
    /// What references are.
    kind: Kind,
    /// A column with further references, such as `aliases`.
    aliases: Option<String>,
    /// Marks on letters do not count: `Beyonce` is `Beyoncé`.
    ignore_accents: bool,
    /// Articles count.
    articles: bool,
    /// The most words beside the reference, where it may be covered.
    #[default(5)]
    extra_words: usize,
    /// The least share of the reference that a part of it has, where both ways count.
    #[default(0.5)]
    least_share: f64,
    /// In `3/4/2021` the day comes first. Without it such a date has two readings.
    day_first: Option<bool>,
    /// How far a quantity may be off, as a share of the reference.
    relative: f64,
    /// What a right answer earns.
    #[default(1.0)]
    right: f64,
    /// What a wrong one earns.
    wrong: f64,
    /// What an answer earns that is not attempted.
    not_attempted: f64,
}

/// How an answer may say what a reference says.
#[derive(Clone, Copy, Debug, Default, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(super) enum Match {
    /// Its words are those of the reference.
    #[default]
    Equal,
    /// It has the words of the reference side by side, a few others, and offers nothing else.
    Cover,
    /// The same, or it is most of the reference.
    TwoWay,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Kind {
    /// What the reference reads as.
    #[default]
    Auto,
    /// Text alone.
    Text,
    /// Yes or no; a reference that says neither is a bad one.
    YesNo,
    /// A date; a reference that is none is a bad one.
    Date,
    /// A number with a unit; a reference that is none is a bad one.
    Quantity,
}

impl Match {
    pub(super) fn how(self) -> How {
        match self {
            Self::Equal => How::Equal,
            Self::Cover => How::Cover,
            Self::TwoWay => How::TwoWay,
        }
    }
}

/// Whether an answer is one reference. `None`: only some of its readings are.
type Equal = Option<bool>;

impl Check for ShortAnswer {
    const ID: &'static str = "short_answer";
    const ASPECT: Aspect = Aspect::Text;

    fn load(&mut self, _: &dyn Files) -> Result<(), BuildError> {
        if !(self.wrong <= self.not_attempted
            && self.not_attempted < self.right
            && self.right.is_finite()
            && self.wrong.is_finite())
        {
            let message = "the rewards must be finite: wrong <= not_attempted < right";
            return Err(BuildError::new("not_attempted", message));
        }
        if !(0.0..=1.0).contains(&self.least_share) || !(0.0..1.0).contains(&self.relative) {
            return Err(BuildError::new(
                "least_share",
                "least_share and relative are shares, from 0 to 1",
            ));
        }
        Ok(())
    }

    fn range(&self) -> [f64; 2] {
        [self.wrong, self.right]
    }

    fn columns(&self) -> Vec<(&'static str, String)> {
        self.aliases.iter().map(|column| ("aliases", column.clone())).collect()
    }

    fn check(&self, sample: &Sample, meter: &mut Meter<'_>) -> Result<Verdict, Fault> {
        if sample.reference().is_none() {
            return Ok(Verdict::no_reference());
        }
        refuse_objects(sample)?;
        let mut references: Vec<String> =
            sample.answers().iter().map(ToString::to_string).collect();
        let aliases = self.aliases.as_ref().and_then(|column| sample.column(column));
        references.extend(aliases.map(texts).into_iter().flatten());
        references.retain(|reference| !reference.trim().is_empty());
        let Some(first) = references.first().cloned() else {
            return Err(Fault::bad_reference("the reference is empty"));
        };
        let said = said(sample, &first, meter)?;
        let Some(said) = said else { return Ok(self.tier(None).because("nothing-found")) };
        meter.spend(100 * said.text.len() as u64)?;
        let gives_up =
            phrase::find(&said.text, &[Phrases::Unknown, Phrases::Refusal, Phrases::Unanswerable]);
        if references.iter().any(|reference| answer::is_unanswerable(reference)) {
            let right = gives_up.is_some_and(|found| found.kind != Phrases::Refusal);
            return Ok(said.verdict(right, |right| self.tier(Some(right))));
        }
        let mut equal = Some(false);
        for reference in &references {
            match self.equal(&said, reference, gives_up.is_some(), meter)? {
                Some(false) => {}
                found => {
                    equal =
                        if found == Some(true) || equal == Some(true) { Some(true) } else { None }
                }
            }
        }
        match equal {
            None => Ok(Verdict::abstained("the answer has several readings, one of them right")),
            Some(false) if gives_up.is_some() => Ok(self.tier(None).because("not-attempted")),
            Some(right) => Ok(said.verdict(right, |right| self.tier(Some(right)))),
        }
    }
}

impl ShortAnswer {
    /// The reward of an outcome; `None` is not attempted.
    fn tier(&self, right: Option<bool>) -> Verdict {
        let reward = match right {
            Some(true) => self.right,
            Some(false) => self.wrong,
            None => self.not_attempted,
        };
        Verdict::scored(Reward::new(reward).unwrap_or(Reward::ZERO))
    }

    fn equal(
        &self,
        said: &Said,
        reference: &str,
        gives_up: bool,
        meter: &mut Meter<'_>,
    ) -> Result<Equal, Fault> {
        meter.spend(200 * (said.text.len() + reference.len()) as u64)?;
        let auto = self.kind == Kind::Auto;
        // "Right" and "wrong" may be sides, or names.
        let is_polar = || !["right", "wrong"].contains(&reference.trim().to_lowercase().as_str());
        if self.kind == Kind::YesNo || auto && !reference.trim().contains(' ') && is_polar() {
            match polarity(reference) {
                Some(wanted) => return Ok(Some(polarity(&said.text) == Some(wanted))),
                None if auto => {}
                None => return Err(Fault::bad_reference("the reference says neither yes nor no")),
            }
        }
        if auto || self.kind == Kind::Date {
            match date::read(reference, self.day_first) {
                Reading::One(wanted) if self.kind == Kind::Date || wanted.month.is_some() => {
                    return Ok(match date::read(&said.text, self.day_first) {
                        Reading::None => Some(false),
                        Reading::One(date) => Some(date == wanted),
                        Reading::Several(dates) => {
                            if dates.contains(&wanted) {
                                None
                            } else {
                                Some(false)
                            }
                        }
                    });
                }
                Reading::Several(_) => return Ok(None),
                _ if self.kind == Kind::Date => {
                    return Err(Fault::bad_reference("the reference is no date"));
                }
                _ => {}
            }
        }
        if auto || self.kind == Kind::Quantity {
            let wanted = quantity::read(reference);
            if let Some(wanted) = wanted.filter(|wanted| !auto || wanted.dimension != [0; 10]) {
                let given = quantity::read(&said.text);
                let near = Tolerance { relative: self.relative, ..Tolerance::default() };
                return Ok(Some(given.is_some_and(|given| {
                    given.dimension == wanted.dimension && near.accepts(given.value, wanted.value)
                })));
            }
            if self.kind == Kind::Quantity {
                return Err(Fault::bad_reference("the reference is no quantity"));
            }
        }
        let rules = Rules { accents: !self.ignore_accents, articles: self.articles };
        let guards = Guards { extra_words: self.extra_words, least_share: self.least_share };
        // Who gives up and names candidates has not answered.
        let how = if gives_up { How::Equal } else { self.how.how() };
        let (given, reference) = (plain(&said.text), plain(reference));
        matches(&given, &reference, how, rules, guards, &mut |units| meter.spend(units)).map(Some)
    }
}

/// A text without markup and the marks of formulas.
fn plain(text: &str) -> Cow<'_, str> {
    if !text.contains(['\\', '$', '*']) {
        return text.into();
    }
    // A star between digits multiplies.
    let is_digit = |c: Option<char>| c.is_some_and(|c| c.is_ascii_digit());
    let mut before = None;
    let mut chars = text.chars().peekable();
    let mut out = String::with_capacity(text.len());
    while let Some(c) = chars.next() {
        let multiplies = c == '*' && is_digit(before) && is_digit(chars.peek().copied());
        out.push(if multiplies { '×' } else { c });
        before = Some(c);
    }
    normalised(&with_money(&out), false).into()
}
