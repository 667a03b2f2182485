//! `number`: a number in prose, compared exactly or within a tolerance.

mod context;
mod decimal;
mod digits;
mod dress;
mod scan;

use dashu_base::Abs as _;
use dashu_ratio::RBig;

use super::math::object_found;
use crate::canonical::number_text;
use crate::extract::{self, Candidate, Policy, Provenance, Scope, Spoken, Thinking, is_one_of};
use crate::language::cues::Role;
use crate::language::number;
use crate::language::{remarks, sentences, standing};
use crate::math::syntax::{number_words, plain_text};
use crate::prelude::*;
use crate::sample::{listed, object_in, value_text};
use context::Near;
use digits::Notation;
use scan::Found;

/// Right when the number that the completion gives equals the reference.
///
/// The number is the one in the last `\boxed{...}` or answer tag, or the one that follows the last
/// "answer is", "answer:" or "####" directly, in the languages in which models answer; else the
/// last one. `after` names another place. What the model thinks and what is hidden is not looked
/// at. Signs, thousands separators, fractions (`3/4`, `\frac{3}{4}`, `1 1/2`), exponents (`2e5`,
/// `2 \times 10^5`), "million", "dozen", `18k` and the like are read; currencies and units are not
/// looked at.
///
/// "3 or 4", "3 (or maybe 4)", "3-4" and "1 2 3" give no number. Neither does one that is denied, a
/// bound, a name or an operand: "not 4", "at least 4", "page 4", "half of 4", "4 - 1", "4 / 2", `4!`,
/// `\sqrt{4}`, `2024-01-04`. A dash before digits is a minus sign, but in a range: "pages 3–5".
///
/// Numbers are compared as exact fractions, so 0.1 + 0.2 is 0.3 and integers of any length are
/// told apart. The reference is a number, a text that holds one, a list of acceptable ones (also
/// written as text: `"['3', '4']"`), an
/// interval (`"[1.5, 2.5]"`, round brackets exclude an end), or `{"min": 1.5, "max": 2.5}`. Give
/// integers beyond 2^53 as text: JSON readers round them.
#[derive(Debug, Default, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Number {
    /// How far the number may be from the reference.
    absolute: Option<f64>,
    /// How far it may be from it, as a share of the reference.
    relative: Option<f64>,
    /// How many significant digits of the reference it must agree with: it may be off by half a
    /// unit of the last of them.
    significant: Option<u8>,
    /// The number is the first one after the last match of this pattern.
    after: Option<Pattern>,
    /// A comma starts the decimals and a dot separates thousands: 1.234,5.
    decimal_comma: bool,
    /// A blank separates thousands: 1 234.
    blank_separates: bool,
    /// 50% is 0.5. Otherwise the sign is a unit like any other, and 50% is 50.
    percent_is_fraction: bool,
}

/// How far behind an announcement its number is looked for.
const NEAR_BYTES_MAX: usize = 4096;

/// The longest text that is read as a number in words, in bytes.
const WORDS_BYTES_MAX: usize = 120;

/// The fuel in which a right answer is made.
const GOLD_FUEL: u64 = 1_000_000;

/// The values that the reference accepts.
enum Wanted {
    /// A number; and the double that it was, of which several decimals may be the shortest form.
    Exactly(RBig, Option<f64>),
    Within {
        low: Option<End>,
        high: Option<End>,
    },
}

/// An end of an interval, and whether it belongs to it.
struct End(RBig, bool);

impl Check for Number {
    const ID: &'static str = "number";
    const VERSION: u32 = 11;
    const ASPECT: Aspect = Aspect::Value;

    fn load(&mut self, _: &dyn Files) -> Result<(), BuildError> {
        for (name, tolerance) in [("absolute", self.absolute), ("relative", self.relative)] {
            if tolerance.is_some_and(|tolerance| !tolerance.is_finite() || tolerance < 0.0) {
                return Err(BuildError::new(name, "a tolerance is zero or more"));
            }
        }
        if let Some(relative) = self.relative.filter(|relative| *relative > 1.0) {
            let message = format!("{relative} is no share: expected 0 to 1; write 0.05 for 5 %");
            return Err(BuildError::new("relative", message));
        }
        if self.significant == Some(0) {
            return Err(BuildError::new("significant", "at least one digit is significant"));
        }
        Ok(())
    }

    fn check(&self, sample: &Sample, meter: &mut Meter<'_>) -> Result<Verdict, Fault> {
        let Some(reference) = sample.reference() else { return Ok(Verdict::no_reference()) };
        let wanted = self.wanted(reference, meter)?;
        let completion = sample.completion();
        meter.spend(6 * completion.len() as u64)?;
        let spoken = Spoken::of(completion, Thinking::Skip).without_tags();
        let scope = Scope::of(&spoken, sample.prompt());
        let answer = match self.find(&scope, meter)? {
            Ok(answer) => answer,
            Err(reason) => return Ok(Verdict::graded(false).because(reason)),
        };
        meter.spend(1000)?;
        let equal = wanted.iter().any(|wanted| self.is_right(&answer.value, wanted));
        let against = equal.then(|| scope.against(answer.span, &value_text(reference))).flatten();
        let verdict = Verdict::graded(equal && against.is_none());
        let verdict = verdict.with_extracted(&answer.text, answer.span);
        Ok(match against {
            Some(against) => verdict.against(against),
            None => verdict.because(if equal { "equal" } else { "unequal" }),
        })
    }

    /// A number within each interval; with `after`, behind a text that its pattern matches.
    fn gold(&self, sample: &Sample) -> Option<Vec<String>> {
        let wanted = self.wanted(sample.reference()?, &mut Meter::new(GOLD_FUEL)).ok()?;
        let is_interval = |wanted: &Wanted| matches!(wanted, Wanted::Within { .. });
        if self.after.is_none() && !wanted.iter().any(is_interval) {
            return None;
        }
        let numbers =
            wanted.iter().filter_map(|wanted| self.within(wanted)).map(|one| one.to_string());
        let Some(after) = &self.after else { return Some(numbers.collect()) };
        let Some(lead) = after.example(None) else { return Some(Vec::new()) };
        Some(numbers.map(|number| format!("{lead} {number}")).collect())
    }
}

/// A number that a completion gives.
struct Answer {
    value: RBig,
    text: String,
    /// Its bytes in the completion.
    span: (usize, usize),
}

impl Number {
    fn notation(&self) -> Notation {
        Notation {
            decimal_comma: self.decimal_comma,
            blank_separates: self.blank_separates,
            percent_is_fraction: self.percent_is_fraction,
        }
    }

    fn find(
        &self,
        scope: &Scope<'_>,
        meter: &mut Meter<'_>,
    ) -> Result<Result<Answer, &'static str>, Fault> {
        let body = scope.text();
        let in_body = |found: Found| Answer {
            text: body[found.start..found.end].to_owned(),
            span: (scope.place(found.start), scope.place(found.end)),
            value: found.value,
        };
        if let Some(after) = &self.after {
            let found = after
                .find_iter(body)
                .last()
                .and_then(|from| scan::first(body, from.end(), self.notation()));
            return Ok(found.map(in_body).ok_or("nothing-found"));
        }
        for mut candidate in extract::announced(scope, Policy::Auto, meter)? {
            if let Some(plain) = dress::undressed(&candidate.text) {
                candidate.text = plain.into();
            }
            if let Some(found) = in_words(&candidate.text) {
                return Ok(Ok(held_answer(scope, &candidate, found)));
            }
            let (start, end) = candidate.span;
            let is_part = body.get(start..end) == Some(candidate.text.as_ref());
            let read = if candidate.provenance == Provenance::Anchor && is_part {
                self.direct(body, candidate.span.0).map(|read| read.map(in_body))
            } else if candidate.provenance == Provenance::Anchor {
                meter.spend(scan::affordable(&candidate.text).1)?;
                self.direct(&candidate.text, 0)
                    .map(|read| read.map(|found| held_answer(scope, &candidate, found)))
            } else {
                meter.spend(scan::affordable(&candidate.text).1)?;
                self.held(&candidate)
                    .map(|read| read.map(|found| held_answer(scope, &candidate, found)))
            };
            if let Some(read) = read {
                return Ok(read);
            }
        }
        let end = scope.statement().map_or(body.len(), |statement| statement.sentence.end);
        let (from, cost) = scan::affordable(&body[..end]);
        meter.spend(cost)?;
        let last = context::last_before(body, from..end, self.notation());
        let last = last.and_then(|last| {
            let is_unsaid = extract::is_unsaid_at(body, last.start)
                || scope.statement().is_none() && standing::leaves_open(body, last.end, &[Role::Guess, Role::Doubt]);
            if is_unsaid { Err("nothing-found") } else { Ok(last) }
        });
        let whole = extract::whole(scope, Policy::Auto).filter(|_| last.is_err());
        let spelled = whole.and_then(|whole| Some((in_words(&whole.text)?, whole)));
        if let Some((found, whole)) = spelled {
            return Ok(Ok(held_answer(scope, &whole, found)));
        }
        Ok(last.map(in_body))
    }

    /// The number that follows an announcement at once, or the result of the calculation that
    /// does. An announced date or time is an answer, and has no number.
    fn direct(&self, text: &str, from: usize) -> Option<Result<Found, &'static str>> {
        let near = text.get(..text.floor_char_boundary(from + NEAR_BYTES_MAX))?;
        let found = scan::first(near, from, self.notation());
        let gap = near.get(from..found.as_ref().map_or(near.len(), |found| found.start))?;
        let lead = gap.find(|c: char| c.is_ascii_digit()).and_then(|at| gap.get(..at));
        if lead.is_some_and(is_lead) {
            return Some(Err("nothing-found"));
        }
        let found = found.filter(|_| is_lead(gap))?;
        let line = line_end(text, found.end);
        // An equation in a remark is no calculation: "18 (we reject x = 17)".
        let said = line.get(found.start..)?;
        let end = sentences::ends(said).next().unwrap_or(said.len());
        let (said, next) = said.split_at_checked(end)?;
        let length = extract::qualify::value_length(said);
        // "18. Check: 18 / 2 = 9."
        let is_cut = length < said.len() || remarks::begins(next);
        let cut = line.get(..found.start + length).filter(|_| is_cut);
        let line = cut.unwrap_or(line);
        Some(if self.is_false(line, &found) {
            Err("nothing-found")
        } else if is_worked_out(line, found.end) {
            context::last(line, found.start.max(scan::affordable(line).0), self.notation())
        } else if context::is_hedged(text, &found, self.notation()) {
            Err("hedge")
        } else if (Near { text, from: 0 }).may_answer(&found) {
            Ok(found)
        } else {
            Err("nothing-found")
        })
    }

    /// Whether a text equates a whole number with another one: "3 = 4".
    fn is_false(&self, text: &str, found: &Found) -> bool {
        let next = scan::first(text, found.end, self.notation());
        let is_stated = |next: &Found| {
            let between = &text[found.end..next.start];
            let after = text[next.end..].trim_start();
            let ends =
                !after.starts_with(|c: char| c.is_alphanumeric() || "+-*/^\\×·÷(!%".contains(c));
            let before = &text[..found.start];
            let begins = !before.trim_end().ends_with(|c: char| "+-*/^=×·÷)}".contains(c));
            between.trim_matches([' ', '$']) == "=" && ends && begins
        };
        let whole = |found: &Found| found.value.is_int();
        next.is_some_and(|next| {
            whole(found) && whole(&next) && found.value != next.value && is_stated(&next)
        })
    }

    /// The number of a box, a tag or a member. An empty one has none, and nothing else counts.
    fn held(&self, candidate: &Candidate<'_>) -> Option<Result<Found, &'static str>> {
        let text = &candidate.text;
        let is_final = candidate.provenance == Provenance::Boxed
            || text.contains(|c: char| c.is_ascii_digit());
        let direct = self.direct(text, 0).filter(|_| !text.contains('\n'));
        let from = scan::affordable(text).0;
        direct.or_else(|| match context::last(text, from, self.notation()) {
            Err("nothing-found") if !is_final => None,
            read => Some(read),
        })
    }

    fn wanted(&self, reference: &Value, meter: &mut Meter<'_>) -> Result<Vec<Wanted>, Fault> {
        let all: Vec<&Value> = match reference {
            Value::Array(values) => values.iter().collect(),
            value => vec![value],
        };
        meter.spend(1000 * all.len() as u64)?;
        let entries = |value: &Value| {
            let entries = value.as_str().and_then(listed)?;
            Some(entries.into_iter().map(Value::String).collect::<Vec<_>>())
        };
        let wanted = all.iter().map(|value| match entries(value) {
            Some(entries) => entries.iter().map(|entry| self.one(entry)).collect(),
            None => self.one(value).map(|one| vec![one]),
        });
        let wanted: Option<Vec<Vec<Wanted>>> = wanted.collect();
        let wanted = wanted.map(|wanted| wanted.into_iter().flatten().collect::<Vec<_>>());
        wanted.filter(|wanted| !wanted.is_empty()).ok_or_else(|| {
            if let Some(found) = all.iter().find_map(|value| object_found(value)) {
                let why =
                    format!("expected a number, an interval, or a list of them, found {found}");
                return Fault::bad_reference(why);
            }
            let shown: String = reference.to_string().chars().take(80).collect();
            Fault::bad_reference(format!("reference {shown} holds no number and no interval"))
        })
    }

    fn one(&self, reference: &Value) -> Option<Wanted> {
        match reference {
            Value::Number(number) => {
                let double = number.as_f64().filter(|_| number.is_f64());
                Some(Wanted::Exactly(decimal::parse(&number_text(number))?, double))
            }
            Value::String(text) => self.interval(text.trim()).or_else(|| {
                if let Some(object) = object_in(text) {
                    return self.one(&object);
                }
                let found = context::reference(text, self.notation())?;
                Some(Wanted::Exactly(found.value, None))
            }),
            Value::Object(members) => {
                let end = |name| match members.get(name) {
                    None | Some(Value::Null) => Some(None),
                    Some(Value::Number(number)) => {
                        Some(Some(End(decimal::parse(&number_text(number))?, true)))
                    }
                    Some(_) => None,
                };
                let (low, high) = (end("min")?, end("max")?);
                (low.is_some() || high.is_some()).then_some(Wanted::Within { low, high })
            }
            _ => None,
        }
    }

    fn interval(&self, text: &str) -> Option<Wanted> {
        let inner = text.strip_prefix(['[', '('])?.strip_suffix([']', ')'])?;
        let (low, high) = inner.split_once(';').or_else(|| inner.split_once(','))?;
        let end = |text: &str, closed: bool| {
            Some(End(context::reference(text, self.notation())?.value, closed))
        };
        let (low, high) = (end(low, text.starts_with('['))?, end(high, text.ends_with(']'))?);
        (low.0 <= high.0).then_some(Wanted::Within { low: Some(low), high: Some(high) })
    }

    /// A number that is right, an integer where one is.
    fn within(&self, wanted: &Wanted) -> Option<RBig> {
        let (low, high) = match wanted {
            Wanted::Exactly(value, _) => return Some(value.clone()),
            Wanted::Within { low, high } => (low.as_ref(), high.as_ref()),
        };
        let (low, high) = match (low, high) {
            (Some(End(low, _)), Some(End(high, _))) => (low, high),
            (Some(End(one, _)), None) | (None, Some(End(one, _))) => (one, one),
            (None, None) => return None,
        };
        let middle = (low + high) / RBig::from(2);
        let numbers =
            [middle.round().into(), low.ceil().into(), high.floor().into(), middle, low.clone()];
        numbers.into_iter().find(|number| self.is_right(number, wanted))
    }

    fn is_right(&self, value: &RBig, wanted: &Wanted) -> bool {
        match wanted {
            Wanted::Within { low, high } => {
                low.as_ref().is_none_or(|End(low, closed)| value > low || (*closed && value == low))
                    && high
                        .as_ref()
                        .is_none_or(|End(high, closed)| value < high || (*closed && value == high))
            }
            Wanted::Exactly(wanted, double) => {
                let off = (value - wanted).abs();
                let allowed = [
                    self.absolute.and_then(decimal::from_f64),
                    self.relative
                        .and_then(decimal::from_f64)
                        .map(|share| share * wanted.clone().abs()),
                    self.significant.and_then(|digits| decimal::half_a_unit(wanted, digits)),
                ];
                value == wanted
                    || double
                        .is_some_and(|double| value.to_f64().value().to_bits() == double.to_bits())
                    || allowed.iter().flatten().any(|allowed| off <= *allowed)
            }
        }
    }
}

/// The numbers of a list, with the words and letters that scale them. Of an answer that is `said`, those that
/// are denied, bounds or names are left out; parts of terms always are.
#[cfg(feature = "tasks")]
pub(super) fn all(text: &str, said: bool) -> Vec<f64> {
    let near = Near { text, from: 0 };
    let value = |(span, value): (std::ops::Range<usize>, f64)| {
        let scale = scan::scale(text, span.end);
        let factor = scale.as_ref().map_or(1.0, |(scale, _)| scale.to_f64().value());
        let end = scale.map_or(span.end, |(_, end)| end);
        let found = Found { value: RBig::ZERO, start: span.start, end };
        near.may_be_listed(&found, said).then_some(value * factor)
    };
    assay_structure::number::all(text).into_iter().filter_map(value).collect()
}

/// The text up to the end of the line at `at`.
fn line_end(body: &str, at: usize) -> &str {
    let rest = &body[at..];
    let end = rest.find('\n').map_or(body.len(), |length| at + length);
    &body[..end]
}

/// Whether the answer is a calculation, of which the result comes last: "3 + 4 = 7".
fn is_worked_out(body: &str, at: usize) -> bool {
    // A value may end within its number.
    let Some(rest) = body.get(at..).and_then(|rest| rest.split('\n').next()) else { return false };
    let next = rest.trim_start();
    rest.contains('=')
        || ["+", "/", "⁄", "∕", "／", "×", "- ", "* ", "-"]
            .iter()
            .any(|sign| next.starts_with(sign))
}

/// The number that a text is in words and nothing else: "eighteen".
fn in_words(text: &str) -> Option<Found> {
    if text.len() > WORDS_BYTES_MAX || text.contains(|c: char| c.is_ascii_digit()) {
        return None;
    }
    let (value, _) = number_words::number(&plain_text(text))?;
    Some(Found { value, start: 0, end: text.len() })
}

/// Whether only filler words stand between an announcement and its number.
fn is_lead(gap: &str) -> bool {
    let mut rest = gap;
    while let Some(at) = rest.find(char::is_alphanumeric) {
        rest = &rest[at..];
        let end = rest.find(|c: char| !c.is_alphanumeric()).unwrap_or(rest.len());
        let (word, after) = rest.split_at(end);
        let is_name = end == 1 && after.trim_start().starts_with('=');
        if !is_name && !is_one_of(number::LEADS, word) {
            return false;
        }
        rest = after;
    }
    !gap.contains(['≠', '<', '>', '≤', '≥', '√', '^', '!'])
}

/// The number of a candidate, as the completion has it.
fn held_answer(scope: &Scope<'_>, candidate: &Candidate<'_>, found: Found) -> Answer {
    let (start, end) = candidate.span;
    let is_part = scope.text().get(start..end) == Some(candidate.text.as_ref());
    let span = if is_part { (start + found.start, start + found.end) } else { (start, end) };
    Answer {
        text: candidate.text[found.start..found.end].to_owned(),
        span: (scope.place(span.0), scope.place(span.1)),
        value: found.value,
    }
}
