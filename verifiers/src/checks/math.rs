//! `math`: the answer equals the reference as mathematics.
//!
//! `extract` finds the answer, `lexer`, `parser` and `primary` read it, `build` makes a `value` of
//! the tree, and `compare` climbs the ladder from equal bytes to equal canonical forms (`poly`,
//! `algebra`, `trig`). What describes numbers is solved to them: inequalities in one variable
//! (`solve`, `substitute`, `roots`), families over whole numbers (`families`, `qualify`), sets
//! (`sets`, `ranges`, `phrases`); `meets`, `relations`, `order` and `renaming` compare across kinds
//! and names. Floating point (`approx`) only ever tells numbers apart. An answer that is equal but
//! says the question again is refused (`echo`, by the symbols of `layout` and `wording`, and by
//! what is left to be done, `unfinished`).

mod algebra;
mod approx;
mod arrays;
mod asides;
mod ast;
mod ball;
mod build;
mod calculus;
mod calendar;
mod chains;
mod characters;
mod compare;
mod dots;
mod echo;
mod evaluate;
mod families;
mod functions;
mod layout;
mod letters;
mod lexer;
mod limits;
mod markup;
mod measures;
mod meets;
mod names;
mod nouns;
mod number;
mod operators;
mod order;
mod parser;
mod phrases;
mod points;
mod poly;
mod primary;
mod qualify;
mod quantities;
mod ranges;
mod reading;
mod relations;
mod rename;
mod renaming;
mod roots;
mod rounding;
mod sampled;
mod series;
mod sets;
mod settings;
mod show;
mod solve;
mod spelled;
mod statement;
mod substitute;
mod trig;
mod unfinished;
pub(crate) mod units;
mod univariate;
mod value;
mod whole;
mod wording;
mod words;
mod written;

pub use crate::extract::Policy;
pub use settings::{Decimals, Relations, Strict};

use compare::{Comparer, Judged, Rung};
use echo::{Pair, Question, Refusal};
use poly::Ctx;
use reading::Reading;
use value::Value as Answer;

use crate::extract::{self, Candidate, Provenance, Scope, Spoken, Thinking};
use crate::prelude::*;

/// Right when the answer equals the reference as mathematics.
///
/// The answer is taken from the last `\boxed{}` or announcement ("the answer is", `#### 18`,
/// `"answer": "18"`, in many languages), outside thinking, hidden text, code and quotations of the
/// prompt; a completion that is nothing but an answer works too. LaTeX, plain text and Unicode
/// are read alike: fractions, surds, percents, units, points, sets, intervals, matrices, equations
/// and inequalities, polynomials and rational functions, number words. What cannot be proved equal
/// is not paid. Where the reference is a decimal, an answer within half a unit of its last digit is
/// right. See docs/math.md.
///
/// A reference that is a list names several acceptable answers. One that is no mathematics is
/// compared as text.
#[derive(Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Math {
    /// Where the answer is looked for.
    #[serde(default)]
    extract: Policy,
    /// Let boxes and announcements in chains of thought, in code and in quotations of the prompt
    /// count.
    #[serde(default)]
    allow_hidden: bool,
    /// How decimals are compared: `reference_digits`, `exact`, or `{ relative = 1e-6 }`.
    #[serde(default)]
    decimals: Decimals,
    /// Refuse an answer that is a sum, a product, an integral, a limit or a derivative which the
    /// reference has not: it says the problem again. A bare expression without a prompt is no
    /// answer to a problem, and is computed. Where there is a prompt, arithmetic of its numbers
    /// that was left to be done is refused too.
    #[serde(default = "yes")]
    closed_form: bool,
    /// What an equation or inequality may stand for: `solved`, its solutions where it is solved for
    /// its variable; `equivalent`, its solutions in any form.
    #[serde(default)]
    relations: Relations,
    /// What must also be written as in the reference: `{ units = true, order = true, relations = true }`.
    #[serde(default)]
    strict: Strict,
}

fn yes() -> bool {
    true
}

/// What one comparison may cost, in fuel: at most about 5 ms. What would cost more stays
/// undecided.
const WORK_MAX: u64 = 500_000;

/// Why something was not computed or not read.
#[derive(Debug)]
enum Stop {
    /// Fuel or time is gone: the verdict.
    Fault(Fault),
    /// A size limit: the question stays undecided.
    Cap,
    /// A division by zero.
    Undefined,
    /// Not mathematics.
    Unreadable,
}

impl From<Fault> for Stop {
    fn from(fault: Fault) -> Self {
        Self::Fault(fault)
    }
}

impl Check for Math {
    const ID: &'static str = "math";
    const VERSION: u32 = 4;

    fn load(&mut self, _: &dyn Files) -> Result<(), BuildError> {
        match self.decimals {
            Decimals::Relative(eps) if !(0.0..1.0).contains(&eps) => Err(BuildError::new(
                "decimals",
                format!("relative is {eps}; it must be at least 0 and below 1"),
            )),
            _ => Ok(()),
        }
    }

    fn check(&self, sample: &Sample, meter: &mut Meter<'_>) -> Result<Verdict, Fault> {
        if sample.reference().is_none() {
            return Ok(Verdict::no_reference());
        }
        let references = sample.references();
        meter.spend(references.iter().map(|text| text.len() as u64).sum())?;
        let references: Vec<_> = references.iter().map(|text| extract::reference(text)).collect();
        if references.is_empty() || references.iter().any(|text| reading::trimmed(text).is_empty())
        {
            return Err(Fault::bad_reference("the reference is empty"));
        }
        meter.spend(20 + sample.completion().len() as u64)?;
        let (completion, prompt) = (sample.completion(), sample.prompt());
        let spoken = if self.allow_hidden {
            Spoken::all(completion)
        } else {
            Spoken::of(completion, Thinking::Skip)
        };
        let scope = if self.allow_hidden {
            Scope::everything(&spoken, prompt)
        } else {
            Scope::of(&spoken, prompt)
        };
        let announced = extract::announced(&scope, self.extract, meter)?;
        let said = Said { scope, announced, question: Question::new(sample.prompt()) };
        let mut best: Option<Trial> = None;
        for reference in &references {
            let trial = self.trial(reference, &said, meter)?;
            let better = best.as_ref().is_none_or(|best| trial.rank() > best.rank());
            if better {
                best = Some(trial);
            }
            if best.as_ref().is_some_and(|best| matches!(best.judged, Judged::Equal(_))) {
                break;
            }
        }
        Ok(best.map_or_else(|| Verdict::graded(false).because("no-answer"), Trial::verdict))
    }
}

/// The comparison of one reference with the answer.
struct Trial {
    judged: Judged,
    extracted: Option<(String, (usize, usize), Provenance)>,
    normal: String,
    reference_normal: String,
    /// Why an equal answer is none.
    refusal: Option<Refusal>,
}

impl Trial {
    /// A comparison that came to no end.
    fn undecided() -> Self {
        let (normal, reference_normal) = (String::new(), String::new());
        Self { judged: Judged::Undecided, extracted: None, normal, reference_normal, refusal: None }
    }

    fn rank(&self) -> u8 {
        match self.judged {
            Judged::Equal(_) => 2,
            Judged::Undecided => 1,
            Judged::Unequal => 0,
        }
    }

    fn verdict(self) -> Verdict {
        let reason = match self.judged {
            Judged::Equal(rung) => rung.reason(),
            Judged::Undecided => "undecided",
            Judged::Unequal if self.extracted.is_none() => "no-answer",
            Judged::Unequal => self.refusal.map_or("proved-unequal", Refusal::reason),
        };
        let Some((text, span, provenance)) = self.extracted else {
            return Verdict::graded(false)
                .with("reference_normal", self.reference_normal)
                .because(reason);
        };
        let verdict = Verdict::graded(matches!(self.judged, Judged::Equal(_)))
            .with_extracted(&text, span)
            .with("provenance", provenance.name())
            .with("normal", self.normal)
            .with("reference_normal", self.reference_normal);
        match self.judged {
            Judged::Equal(rung) => verdict.with("rung", rung.name()).because(reason),
            _ => verdict.because(reason),
        }
    }
}

/// A completion, the answers that it announces, and what it was asked.
struct Said<'a> {
    scope: Scope<'a>,
    announced: Vec<Candidate<'a>>,
    question: Question<'a>,
}

/// An answer that was chosen among the candidates, and what it may mean.
struct Chosen<'a> {
    candidate: Candidate<'a>,
    reading: Reading,
    values: Vec<Answer>,
}

impl Math {
    fn trial(
        &self,
        reference: &str,
        said: &Said<'_>,
        meter: &mut Meter<'_>,
    ) -> Result<Trial, Fault> {
        if let Some(trial) = whole::trial(reference, &said.scope, &said.announced) {
            return Ok(trial);
        }
        let limit = WORK_MAX.min(meter.left());
        let mut work = Meter::new(limit);
        let trial = self.attempts(reference, said, &mut work);
        // Where the fuel of the sample is gone, this is the fault; else only the comparison was cut.
        meter.spend(work.spent().min(WORK_MAX))?;
        let trial = match trial {
            Err(fault) if fault.kind == FaultKind::OutOfFuel => Trial::undecided(),
            trial => trial?,
        };
        let first = said.announced.first().filter(|_| trial.extracted.is_none());
        let same =
            |first: &&Candidate<'_>| reading::trimmed(&first.text) == reading::trimmed(reference);
        Ok(match first.filter(same) {
            // Too large to be read, and the same text.
            Some(first) if matches!(trial.judged, Judged::Undecided) => Trial {
                judged: Judged::Equal(Rung::Bytes),
                extracted: Some(said.scope.taken(first.clone())),
                ..trial
            },
            _ => trial,
        })
    }

    fn attempts(
        &self,
        reference: &str,
        said: &Said<'_>,
        meter: &mut Meter<'_>,
    ) -> Result<Trial, Fault> {
        let first = self.attempt(reference, said, &mut Ctx::new(meter));
        let (trial, bare_log) = settled(first)?;
        if !bare_log || matches!(trial.judged, Judged::Equal(_)) {
            return Ok(trial);
        }
        // A `\log` without a base: the decimal one did not fit, so try the natural one.
        let mut ctx = Ctx::new(meter);
        ctx.natural_log = true;
        let (second, _) = settled(self.attempt(reference, said, &mut ctx))?;
        Ok(if second.rank() > trial.rank() { second } else { trial })
    }

    fn attempt(
        &self,
        reference: &str,
        said: &Said<'_>,
        ctx: &mut Ctx<'_, '_>,
    ) -> Result<(Trial, bool), Stop> {
        let wanted = reading::read(reference, false, ctx)?;
        let mut wanted_values = wanted.values(ctx)?;
        let textual = !wanted_values.is_empty() && wanted_values.iter().all(Answer::is_words);
        let reference_normal = shown(ctx, &wanted, &wanted_values);
        if textual {
            for part in statement::answers(reference) {
                wanted_values.extend(reading::read(part, false, ctx)?.values(ctx)?);
            }
        }
        let chosen = match choose(&said.announced, textual, ctx)? {
            None => {
                let whole = extract::whole(&said.scope, self.extract);
                match choose(whole.as_slice(), textual, ctx)? {
                    None => choose(&extract::concluded(&said.scope, self.extract), textual, ctx)?,
                    chosen => chosen,
                }
            }
            chosen => chosen,
        };
        let Some(chosen) = chosen else {
            let none = Trial {
                judged: Judged::Unequal,
                extracted: None,
                normal: String::new(),
                reference_normal,
                refusal: None,
            };
            return Ok((none, false));
        };
        let same = reading::trimmed(&chosen.candidate.text) == reading::trimmed(reference);
        let open = self.closed_form
            && chosen.reading.has_operator()
            && !wanted.has_operator()
            && (said.scope.asked || chosen.candidate.provenance != Provenance::Whole);
        let mut refusal = open.then_some(Refusal::NotClosedForm);
        let mut judged = if same {
            Judged::Equal(Rung::Bytes)
        } else if wanted.same_letters(&chosen.reading) {
            Judged::Equal(Rung::Text)
        } else if open || wanted.contradicts(&chosen.reading, ctx)? {
            Judged::Unequal
        } else {
            self.judge(&wanted_values, &chosen.values, &said.question, ctx)?
        };
        if let (Judged::Equal(rung), false) = (judged, same) {
            let pair = Pair {
                answer: &chosen.candidate.text,
                answer_reading: &chosen.reading,
                reference,
                reference_reading: &wanted,
                rung,
            };
            let value = matches!(wanted_values.as_slice(), [Answer::Scalar(_)]);
            refusal = self.refusal(&pair, value, &said.question, ctx)?;
            judged = if refusal.is_some() { Judged::Unequal } else { judged };
        }
        let normal = shown(ctx, &chosen.reading, &chosen.values);
        let extracted = Some(said.scope.taken(chosen.candidate));
        Ok((Trial { judged, extracted, normal, reference_normal, refusal }, ctx.bare_log))
    }

    /// Why an answer that equals the reference is none.
    fn refusal(
        &self,
        pair: &Pair<'_>,
        value: bool,
        question: &Question<'_>,
        ctx: &mut Ctx<'_, '_>,
    ) -> Result<Option<Refusal>, Stop> {
        Ok(
            if self.relations == Relations::Solved && pair.is_unsolved(value, !question.is_empty())
            {
                Some(Refusal::NotSolved)
            } else if question.is_empty() {
                None
            } else if pair.echoes(question, ctx.meter)? {
                Some(Refusal::Echo)
            } else if self.closed_form && pair.is_unevaluated(question, ctx.meter)? {
                Some(Refusal::NotEvaluated)
            } else {
                None
            },
        )
    }

    /// Equal where any meaning of the answer equals any meaning of the reference.
    fn judge(
        &self,
        wanted: &[Answer],
        values: &[Answer],
        question: &Question<'_>,
        ctx: &mut Ctx<'_, '_>,
    ) -> Result<Judged, Stop> {
        let mut comparer = Comparer { ctx, decimals: &self.decimals, strict: self.strict };
        let open = wanted.is_empty() || values.is_empty();
        let mut judged = if open { Judged::Undecided } else { Judged::Unequal };
        for want in wanted {
            for have in values {
                match comparer.up_to_letters(want, have, question) {
                    Ok(equal @ Judged::Equal(_)) => return Ok(equal),
                    Ok(Judged::Unequal) => {}
                    Err(Stop::Fault(fault)) => return Err(Stop::Fault(fault)),
                    Ok(Judged::Undecided) | Err(_) => judged = Judged::Undecided,
                }
            }
        }
        Ok(judged)
    }
}

/// Limits are no faults of ours or of the reference: the question stays open.
fn settled(attempt: Result<(Trial, bool), Stop>) -> Result<(Trial, bool), Fault> {
    match attempt {
        Ok(done) => Ok(done),
        Err(Stop::Fault(fault)) => Err(fault),
        Err(Stop::Cap | Stop::Undefined | Stop::Unreadable) => Ok((Trial::undecided(), false)),
    }
}

/// The first candidate that can be taken for an answer.
fn choose<'a>(
    candidates: &[Candidate<'a>],
    textual: bool,
    ctx: &mut Ctx<'_, '_>,
) -> Result<Option<Chosen<'a>>, Stop> {
    for candidate in candidates {
        let reading = reading::read(&candidate.text, true, ctx)?;
        let values = reading.values(ctx)?;
        let text = |value: &Answer| matches!(value, Answer::Text(_));
        let prose = (!values.is_empty() && values.iter().all(text)) || wordy(&candidate.text);
        let taken = match candidate.provenance {
            Provenance::Boxed => true,
            _ if !prose => true,
            Provenance::Marker | Provenance::Json => {
                textual || number_in_prose(candidate, false).is_none()
            }
            Provenance::Anchor => textual && short(&candidate.text),
            Provenance::Whole => textual,
            Provenance::LastMath | Provenance::LastNumber => false,
        };
        if taken {
            return Ok(Some(Chosen { candidate: candidate.clone(), reading, values }));
        }
        let only = candidate.provenance == Provenance::Anchor;
        let announced =
            only || matches!(candidate.provenance, Provenance::Marker | Provenance::Json);
        if let (true, Some(candidate)) = (announced, number_in_prose(candidate, only)) {
            let reading = reading::read(&candidate.text, true, ctx)?;
            let values = reading.values(ctx)?;
            return Ok(Some(Chosen { candidate, reading, values }));
        }
    }
    Ok(None)
}

/// Whether a text is a sentence with numbers in it rather than a value with a few words.
fn wordy(text: &str) -> bool {
    let word = |word: &&str| word.len() > 2 && word.bytes().all(|byte| byte.is_ascii_alphabetic());
    text.split_whitespace().filter(word).count() > 5
}

fn short(text: &str) -> bool {
    text.len() <= 100 && text.split_whitespace().count() <= 6
}

/// The number that ends an announced sentence, unless it leaves a choice or the words around it
/// make something else of it.
fn number_in_prose<'a>(candidate: &Candidate<'a>, only: bool) -> Option<Candidate<'a>> {
    let found = extract::last_number(&candidate.text, 0)?;
    let (from, to) = found.span;
    let (head, after) = (candidate.text.get(..from)?, candidate.text.get(to..)?);
    let another = head.contains(|c: char| c.is_ascii_digit());
    let open = head.split(|c: char| !(c.is_alphanumeric() || c == '\'')).any(|word| {
        UNKNOWN.iter().any(|unknown| unknown.eq_ignore_ascii_case(word)) || word.ends_with("n't")
    }) || asides::alters(head);
    if open || (another && (only || head.contains(" or ") || head.starts_with('{'))) {
        return None;
    }
    let found = extract::signed(found, &candidate.text, 0);
    let head = candidate.text.get(..found.span.0)?;
    if extract::qualify::qualifier(head, after).is_some() {
        return None;
    }
    let text = found.text.into_owned();
    let span = match &candidate.text {
        std::borrow::Cow::Borrowed(_) => (candidate.span.0 + found.span.0, candidate.span.0 + to),
        std::borrow::Cow::Owned(_) => candidate.span,
    };
    Some(Candidate { text: text.into(), span, provenance: candidate.provenance })
}

/// Words of an announced sentence that says that there is no answer.
const UNKNOWN: [&str; 8] =
    ["not", "unknown", "unclear", "uncertain", "undetermined", "unsure", "hard", "cannot"];

fn shown(ctx: &Ctx<'_, '_>, reading: &Reading, values: &[Answer]) -> String {
    values.first().map_or_else(|| reading.text.clone(), |value| ctx.show_value(value))
}
