//! `choice`: the letter of a multiple-choice answer.

mod behind;
mod cues;
mod letters;
mod options;
mod plain;
mod reading;
mod wording;

use crate::canonical::number_text;
use crate::extract::{self, Scope, Spoken, Thinking};
use crate::language::{letter, standing::Against};
use crate::prelude::*;
use crate::sample::{listed, value_text};
use cues::{Cues, Place, is_contrasted};
use letters::Reading;
use options::Options;

/// Right when the completion settles on the option that the reference names.
///
/// The answer is read from `\boxed{C}`, `<answer>C</answer>`, `"answer": "C"`, "the answer is
/// (C)", "Answer: **C**", "the closest option is C", "I choose C", "C is correct" and the like, in
/// the languages in which models answer; without any of these, from a completion or last line that
/// is nothing but an option ("C", "(C)", "C. Paris", "Option C", or the text of one), else from
/// such a first line. What the model thinks and what is hidden is not looked at, nor is another
/// question that the completion runs on into, nor a copied list of the options. A hedge ("A or C",
/// "A, C", "either B or D") is wrong: it names no option. There is no guess where nothing is found.
///
/// The reference is a letter, the number of the option, or its text; a list of one is that one, also
/// where the list is written as text (`"['C']"`). Options are taken from a
/// column of the row (a list of texts, a list of `{"A": "text"}`, or one such object), else from
/// the prompt; without any, letters alone count.
#[derive(Debug, Deserialize, Serialize, JsonSchema, SmartDefault)]
#[serde(deny_unknown_fields, default)]
pub struct Choice {
    /// The column with the options.
    #[default = "options"]
    options: String,
    /// How many letters count, from A, where the options are not known.
    #[default(10)]
    letters: u8,
    /// The number of the first option, where the reference is a number. From 1 on, an answer may name an
    /// option by its number too, unless a number may be what an option says.
    index_from: u64,
    /// Which of several answers counts. Take the first for raw completions of a base model, which
    /// go on after their answer; "C is correct" and announcements in other languages than English
    /// do not count there.
    take: Take,
    /// Every option that the reference names must be named, and no other: "A, C", "AC", a list over
    /// several lines and "A is correct. C is correct." are then answers. The reference is a list, or
    /// a text such as "AC" or "A, C".
    multiple: bool,
    #[serde(skip)]
    cues: Option<Cues>,
}

/// Which of several answers counts.
#[derive(Clone, Copy, Debug, Default, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Take {
    /// The first one.
    First,
    /// The last one.
    #[default]
    Last,
}

/// Fuel to read the options of a row, for its gold answer.
const GOLD_FUEL: u64 = 1 << 30;

impl Check for Choice {
    const ID: &'static str = "choice";
    const VERSION: u32 = 10;
    const ASPECT: Aspect = Aspect::Text;

    fn load(&mut self, _: &dyn Files) -> Result<(), BuildError> {
        if !(2..=26).contains(&self.letters) {
            let message = format!("from 2 to 26 letters can count, not {}", self.letters);
            return Err(BuildError::new("letters", message));
        }
        self.cues = Some(Cues::new().map_err(|error| BuildError::new("", error))?);
        Ok(())
    }

    fn columns(&self) -> Vec<(&'static str, String)> {
        vec![("options", self.options.clone())]
    }

    fn check(&self, sample: &Sample, meter: &mut Meter<'_>) -> Result<Verdict, Fault> {
        let Some(reference) = sample.reference() else { return Ok(Verdict::no_reference()) };
        let Some(cues) = &self.cues else { return Err(Fault::internal("choice was not loaded")) };
        let options = self.options(sample, meter)?;
        let wanted = self.wanted(reference, &options)?;
        let completion = sample.completion();
        let Some(Said { found, span, against }) = self.read(cues, sample, &options, meter)? else {
            return Ok(Verdict::graded(false).because("nothing-found"));
        };
        let is_hedge = self.is_hedge(&found);
        let text = &completion[span.0..span.1];
        let right = !is_hedge && found.letters == wanted && against.is_none();
        let verdict = Verdict::graded(right).with_extracted(text, span);
        let verdict = verdict.with("choice", options::letters_of(found.letters));
        Ok(match against {
            _ if is_hedge => verdict.because("hedge"),
            Some(against) => verdict.against(against),
            None => verdict.because(if right { "equal" } else { "unequal" }),
        })
    }

    fn gold(&self, sample: &Sample) -> Option<Vec<String>> {
        let reference = sample.reference()?;
        let options = self.options(sample, &mut Meter::new(GOLD_FUEL)).ok()?;
        // Without options, digits in a text are rather an answer than the number of an option.
        let is_plain = reference.is_number() || (self.multiple && reference.is_array());
        if options.are_unknown() && !is_plain {
            return None;
        }
        let wanted = self.wanted(reference, &options).ok()?;
        let letters: Vec<String> = options::letters_of(wanted).chars().map(String::from).collect();
        Some(vec![letters.join(", ")])
    }

    fn slips(&self, samples: &[&Sample]) -> Vec<Slip> {
        self.counted_from_one(samples).into_iter().collect()
    }
}

/// What a completion names.
struct Said {
    found: Reading,
    /// Its bytes in the completion.
    span: (usize, usize),
    /// What is said against it.
    against: Option<Against>,
}

/// An option that a completion takes.
pub(crate) struct SettledOption {
    pub(crate) letter: String,
    /// Its bytes in the completion.
    pub(crate) span: (usize, usize),
}

impl Choice {
    /// The option on which a completion settles; `None` where it settles on none, or on several.
    pub(crate) fn settled(
        &self,
        sample: &Sample,
        meter: &mut Meter<'_>,
    ) -> Result<Option<SettledOption>, Fault> {
        let Some(cues) = &self.cues else { return Err(Fault::internal("choice was not loaded")) };
        let options = self.known(sample, meter)?;
        let found = self.read(cues, sample, &options, meter)?;
        let one = found.filter(|Said { found, against, .. }| {
            !found.is_hedge && against.is_none() && found.letters.is_power_of_two()
        });
        Ok(one.map(|Said { found, span, .. }| SettledOption {
            letter: options::letters_of(found.letters),
            span,
        }))
    }

    /// Whether options are offered of which one is due.
    fn is_hedge(&self, found: &Reading) -> bool {
        found.is_hedge || (found.letters.count_ones() > 1 && !self.multiple)
    }

    fn options<'a>(&self, sample: &'a Sample, meter: &mut Meter<'_>) -> Result<Options<'a>, Fault> {
        let mut options = self.known(sample, meter)?;
        options.several = self.multiple;
        Ok(options)
    }

    /// The options of a sample, of which one is due.
    fn known<'a>(&self, sample: &'a Sample, meter: &mut Meter<'_>) -> Result<Options<'a>, Fault> {
        let mut options = Options::of(sample, &self.options, self.letters, meter)?;
        if self.index_from > 0 {
            options.number_from(self.index_from);
        }
        Ok(options)
    }

    /// What a completion names.
    fn read(
        &self,
        cues: &Cues,
        sample: &Sample,
        options: &Options<'_>,
        meter: &mut Meter<'_>,
    ) -> Result<Option<Said>, Fault> {
        let completion = sample.completion();
        meter.spend(4 * completion.len() as u64)?;
        let spoken = Spoken::of(completion, Thinking::Skip);
        let scope = Scope::of(&spoken, sample.prompt());
        let mut found = self.find(cues, &scope, options, meter)?;
        if let Some(found) = &mut found {
            meter.spend(1 << 14)?;
            let behind = &scope.text()[found.behind..];
            found.is_hedge |= behind::is_unsettled(behind, found, options);
        }
        Ok(found.map(|found| {
            // Of a hedge, the first option is shown, and `choice` has all of them.
            let end = if self.is_hedge(&found) { found.first_end } else { found.end };
            let span = (scope.place(found.start), scope.place(end));
            let against = scope.against((span.0, scope.place(found.behind)), "");
            Said { found, span, against }
        }))
    }

    fn wanted(&self, reference: &Value, options: &Options<'_>) -> Result<u32, Fault> {
        let wanted = match reference {
            Value::Array(values) if self.multiple => {
                values.iter().try_fold(0, |all, value| Some(all | self.one(value, options)?))
            }
            Value::String(text) if self.multiple => options::letters_in(text, options)
                .or_else(|| {
                    let mut entries = listed(text)?.into_iter().map(Value::String);
                    entries.try_fold(0, |all, entry| Some(all | self.one(&entry, options)?))
                })
                .or_else(|| self.one(reference, options)),
            Value::Array(values) if values.len() == 1 => {
                values.first().and_then(|only| self.one(only, options))
            }
            value => self.one(value, options),
        };
        wanted.filter(|letters| *letters != 0).ok_or_else(|| {
            let shown: String = reference.to_string().chars().take(80).collect();
            let (count, from) = (options.count(), self.index_from);
            let is_number = reference.is_number() && !options.have_labels();
            let counted = if is_number {
                format!("; numbers are counted from {from}, as index_from says")
            } else {
                String::new()
            };
            Fault::bad_reference(format!(
                "reference {shown} names none of the {count} options{counted}"
            ))
        })
    }

    /// Numbers that are most likely counted from 1: none of them is 0, and answers agree with them more
    /// often so, or there are many.
    fn counted_from_one(&self, samples: &[&Sample]) -> Option<Slip> {
        /// So many numbers are hardly all above 0 by chance.
        const NUMBERS_MIN: usize = 12;
        if self.index_from != 0 {
            return None;
        }
        let mut numbered = Vec::new();
        let (mut right, mut right_from_one) = (0, 0);
        for (at, sample) in samples.iter().enumerate() {
            let meter = &mut Meter::new(GOLD_FUEL);
            let Ok(options) = self.options(sample, meter) else { continue };
            let Some(number) = sample.reference().and_then(|one| number(one, &options)) else {
                continue;
            };
            if number == 0 {
                return None;
            }
            numbered.push(at);
            let settled = self.settled(sample, meter).ok().flatten();
            let named = settled.and_then(|one| {
                let letter = one.letter.bytes().next()?;
                Some(u64::from(letter.checked_sub(b'A')?))
            });
            right += usize::from(named == Some(number));
            right_from_one += usize::from(named == Some(number - 1));
        }
        (right_from_one > right || numbered.len() >= NUMBERS_MIN).then(|| Slip {
            code: "option_counted_from_one",
            setting: "index_from",
            samples: numbered,
            message: "the reference is the number of an option, counted from 0, and none is 0"
                .to_owned(),
            help: "numbers that are counted from 1 take config = { index_from = 1 }".to_owned(),
        })
    }

    /// A letter, a number, or the text of an option.
    fn one(&self, reference: &Value, options: &Options<'_>) -> Option<u32> {
        let number = |number: u64| {
            let index = number.checked_sub(self.index_from)?;
            (index < options.count() as u64).then(|| 1 << index)
        };
        if options.have_labels() {
            let label = value_text(reference);
            return options.labelled(&label).or_else(|| options.matching(&label));
        }
        match reference {
            Value::Number(value) => number(number_text(value).parse().ok()?),
            Value::String(text) => options::letter_alone(text, options)
                .or_else(|| options.matching(text))
                .or_else(|| number(text.trim().parse().ok()?))
                .or_else(|| match listed(text)?.as_slice() {
                    [entry] => self.one(&Value::String(entry.clone()), options),
                    _ => None,
                })
                .or_else(|| reading::whole(text, options)),
            _ => None,
        }
    }

    fn find(
        &self,
        cues: &Cues,
        scope: &Scope<'_>,
        options: &Options<'_>,
        meter: &mut Meter<'_>,
    ) -> Result<Option<Reading>, Fault> {
        let body = scope.text();
        let mut places = cues.places(scope, meter)?;
        // A raw completion makes many passing remarks, and the form of its answer is known.
        places.retain(|place| matches!(self.take, Take::Last) || place.is_format());
        // What stands before another question is the answer, if it is one.
        let begun = body.len() - body.trim_start().len() + 1;
        let own = extract::next_question(body, begun).and_then(|end| body.get(..end));
        if let Some(own) = own
            && let Some(found) = self.settle(own, &places, None, (options, meter))?
        {
            return Ok(Some(found));
        }
        self.settle(body, &places, Some(scope), (options, meter))
    }

    /// What a text settles on, by the places in it where answers are announced.
    fn settle(
        &self,
        body: &str,
        places: &[Place<'_>],
        scope: Option<&Scope<'_>>,
        (options, meter): (&Options<'_>, &mut Meter<'_>),
    ) -> Result<Option<Reading>, Fault> {
        let mut read = |place: &Place<'_>| {
            // The text read at each place is bounded; see `NEAR_BYTES_MAX`.
            meter.spend(4096)?;
            Ok(place.read(body, options))
        };
        let mut first = None;
        for place in places.iter().filter(|place| place.at() <= body.len()) {
            first = read(place)?;
            if first.is_some() {
                break;
            }
        }
        let Some(first) = first else {
            meter.spend(1 << 16)?;
            let said = letter::last(body)
                .and_then(|at| reading::after(body, at, " ", options))
                .filter(|said| !reading::lists(body, said, options));
            let statement = scope.and_then(|scope| Some(scope.statement()?.sentence.end));
            let stated = statement.and_then(|end| body.get(..end)).unwrap_or(body);
            let alone = reading::alone(stated, options);
            let later = match (alone, said) {
                (Some(alone), Some(said)) if said.start > alone.start => Some(said),
                (alone, said) => alone.or(said),
            };
            let later = later.or_else(|| reading::first_line(body, options));
            let may_name =
                scope.is_some() && !self.multiple && matches!(self.take, Take::Last);
            let named = || may_name.then(|| reading::named(body, options)).flatten();
            return Ok(later.or_else(named));
        };
        if matches!(self.take, Take::First) {
            return Ok(Some(first));
        }
        // Only once there is an answer can a further question follow.
        let end = extract::next_question(body, first.end).unwrap_or(body.len());
        let mut last: Option<Reading> = None;
        for place in places.iter().rev().filter(|place| place.at() < end) {
            let Some(reading) = read(place)? else { continue };
            // Where several are due, verdicts in a row belong together: "A is correct. C is correct."
            last = match last {
                None => Some(reading),
                Some(later) if place.is_verdict() => Some(later.with_earlier(reading)),
                Some(later) => return Ok(Some(turned(body, &later, options).unwrap_or(later))),
            };
            let lead = &body[..reading.start];
            if !self.multiple || !place.is_verdict() || is_contrasted(lead) {
                let turned = last.as_ref().and_then(|last| turned(body, last, options));
                return Ok(turned.or(last));
            }
        }
        let last = last.unwrap_or(first);
        Ok(Some(turned(body, &last, options).unwrap_or(last)))
    }
}

/// The option on which the sentence of another one settles: "one might say C, but it is D".
fn turned(body: &str, said: &Reading, options: &Options<'_>) -> Option<Reading> {
    let at = letter::turns(body, said.end)?;
    reading::after(body, at, " ", options)
}

/// The number of an option, where a reference is one and neither a label nor the text of an option.
fn number(reference: &Value, options: &Options<'_>) -> Option<u64> {
    if options.have_labels() || options.are_unknown() && !reference.is_number() {
        return None;
    }
    match reference {
        Value::Number(value) => number_text(value).parse().ok(),
        Value::String(text) if options.matching(text).is_none() => text.trim().parse().ok(),
        _ => None,
    }
}
