//! `math`: the answer equals the reference as mathematics.
//!
//! [`extract`] finds the answer, [`crate::math`] reads and compares it. An answer that is equal but
//! restates the question is refused.

mod candidate;
pub(crate) mod integer;
mod trial;

use crate::extract::Policy;
pub use crate::language::standing::Against;
pub use crate::math::{Dates, Decimals, Relations, Strict};

use candidate::{outermost, with_unit};
use trial::{Said, Trial, settled, shown};

use crate::extract::{self, Candidate, Provenance, Scope, Spoken, Thinking};
use crate::math::WORK_MAX;
use crate::math::algebra::Context;
use crate::math::compare::Comparer;
use crate::math::compare::judged::{Equivalence, Rung, judged};
use crate::math::question::Question;
use crate::math::reading::score::score;
use crate::math::reading::{self, statement};
use crate::math::refusal::{Pair, Refusal};
use crate::math::stop::Stop;
use crate::math::syntax::text::trimmed;
use crate::math::values::Value;
use crate::prelude::*;
use crate::sample::object_in;

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
/// A reference that is a list, or the text of a list of texts (`"['70']"`), names several acceptable
/// answers. One that is no mathematics is
/// compared as text.
#[derive(Debug, Deserialize, Serialize, JsonSchema, SmartDefault)]
#[serde(deny_unknown_fields, default)]
pub struct Math {
    /// Where the answer is looked for.
    extract: Policy,
    /// Let boxes and announcements in chains of thought, in code and in quotations of the prompt
    /// count.
    allow_hidden: bool,
    /// How decimals are compared: `reference_digits`, `exact`, or `{ relative = 1e-6 }`.
    decimals: Decimals,
    /// Which number of `05/01/2021` is the month: `month_first` (May 1) or `day_first` (January 5).
    dates: Dates,
    /// Refuse an answer that is a sum, a product, an integral, a limit or a derivative which the
    /// reference has not: it says the problem again. A bare expression without a prompt is no
    /// answer to a problem, and is computed. Where there is a prompt, arithmetic of its numbers
    /// that was left to be done is refused too.
    #[default(true)]
    closed_form: bool,
    /// What an equation or inequality may stand for: `solved`, its solutions where it is solved for
    /// its variable; `equivalent`, its solutions in any form.
    relations: Relations,
    /// What must also be written as in the reference: `{ units = true, order = true, relations = true }`.
    strict: Strict,
}

/// The most answers of one list.
const REFERENCES_MAX: usize = 10_000;
/// What a comparison costs at least, in fuel: a list of references pays it for each.
const TRIAL_FUEL: u64 = 700;

impl Check for Math {
    const ID: &'static str = "math";
    const VERSION: u32 = 13;
    const ASPECT: Aspect = Aspect::Value;

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
        let one = sample.reference().into_iter();
        let listed = one.clone().filter_map(|own| own.as_array()).flatten();
        if let Some(found) = one.chain(listed).find_map(object_found) {
            let why = format!("expected text or a number, or a list of them, found {found}");
            return Err(Fault::bad_reference(why));
        }
        let references = sample.answers();
        if references.len() > REFERENCES_MAX {
            let why = format!("a list of more than {REFERENCES_MAX} answers is too long");
            return Err(Fault::bad_reference(why));
        }
        meter.spend(references.iter().map(|text| text.len() as u64).sum())?;
        let references: Vec<_> = references.iter().map(|text| extract::reference(text)).collect();
        if references.is_empty() || references.iter().any(|text| trimmed(text).is_empty()) {
            return Err(Fault::bad_reference("the reference is empty"));
        }
        meter.spend(20 + sample.completion().len() as u64)?;
        let (completion, prompt) = (sample.completion(), sample.prompt());
        let spoken = if self.allow_hidden {
            Spoken::all(completion)
        } else {
            Spoken::of(completion, Thinking::Skip).without_emphasis()
        };
        let scope = if self.allow_hidden {
            Scope::everything(&spoken, prompt)
        } else {
            Scope::of(&spoken, prompt)
        };
        let announced = outermost(extract::announced(&scope, self.extract, meter)?);
        let said = Said { scope, announced, question: Question::new(sample.prompt()) };
        let mut best: Option<Trial> = None;
        for reference in &references {
            let trial = self.trial(reference, &said, meter)?;
            if best.as_ref().is_none_or(|best| trial.rank() > best.rank()) {
                best = Some(trial);
            }
            if best.as_ref().is_some_and(Trial::is_equal) {
                break;
            }
        }
        let Some(best) = best else { return Ok(Verdict::graded(false).because("no-answer")) };
        let reference = best.reference_normal.clone();
        Ok(best.standing_in(&said.scope, &reference).verdict())
    }
}

/// What a reference is that is a table, or the text of one.
pub(crate) fn object_found(reference: &serde_json::Value) -> Option<&'static str> {
    match reference {
        serde_json::Value::Object(_) => Some("an object"),
        serde_json::Value::String(text) => {
            object_in(text).map(|_| "text that holds an object; name the member that is the answer")
        }
        _ => None,
    }
}

/// The answer of a completion.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Extracted {
    /// What it says, without the signs around formulas.
    pub text: String,
    /// Its bytes in the completion.
    pub span: (usize, usize),
    /// What the completion says against it; `None` where it stands.
    pub against: Option<Against>,
}

impl Extracted {
    /// The end of a sentence, and the dollars around a formula, are no part of an answer.
    fn of(text: &str, start: usize) -> Self {
        let said = text.trim_end_matches(['.', ',', ';', ':', '!', '?']).trim_end();
        let formula = said.strip_prefix('$').and_then(|rest| rest.strip_suffix('$'));
        let (text, skipped) = formula.map_or((said, 0), |formula| (formula, 1));
        let start = start + skipped;
        Self { text: text.to_owned(), span: (start, start + text.len()), against: None }
    }
}

/// The answer that a completion gives to `prompt`, and its bytes in the completion: mathematics, else
/// a few words that are announced as the answer. `None` where it gives none.
///
/// ```
/// use assay_verifiers::{Meter, checks::math::answer};
///
/// let found = answer("So the answer is $18$.", "", &mut Meter::default())?;
/// assert_eq!(found.map(|found| (found.text, found.span)), Some(("18".to_owned(), (18, 20))));
/// # Ok::<(), assay_verifiers::Fault>(())
/// ```
///
/// # Errors
/// The fuel of the meter is spent.
pub fn answer(
    completion: &str,
    prompt: &str,
    meter: &mut Meter<'_>,
) -> Result<Option<Extracted>, Fault> {
    let found = answer_by(Policy::Auto, completion, prompt, meter)?;
    Ok(found.map(|found| found.answer))
}

/// An answer that was looked for.
pub(crate) struct FoundAnswer {
    pub(crate) answer: Extracted,
    /// The completion is a few words that nothing marks as an answer.
    pub(crate) is_bare_words: bool,
}

/// The same as [`answer`], where `policy` says where an answer is looked for.
pub(crate) fn answer_by(
    policy: Policy,
    completion: &str,
    prompt: &str,
    meter: &mut Meter<'_>,
) -> Result<Option<FoundAnswer>, Fault> {
    meter.spend(20 + completion.len() as u64)?;
    let spoken = Spoken::of(completion, Thinking::Skip).without_emphasis();
    let scope = Scope::of(&spoken, prompt);
    let announced = outermost(extract::announced(&scope, policy, meter)?);
    let said = Said { scope, announced, question: Question::new(prompt) };
    let mut cx = Context::new(Meter::new(WORK_MAX.min(meter.left())));
    for textual in [false, true] {
        let before = cx.meter.spent();
        let chosen = said.chosen(policy, textual, &mut cx);
        meter.spend((cx.meter.spent() - before).min(WORK_MAX))?;
        match chosen {
            Ok(Some(chosen)) => {
                let (text, (start, _), provenance) = said.scope.taken(chosen.candidate);
                let is_bare_words = textual && provenance == Provenance::Whole;
                let mut answer = Extracted::of(&text, start);
                answer.against = said.scope.against(answer.span, "");
                return Ok(Some(FoundAnswer { answer, is_bare_words }));
            }
            Err(Stop::Fault(fault)) => return Err(fault),
            Ok(None) | Err(Stop::Cap | Stop::Undefined | Stop::Unreadable) => {}
        }
    }
    Ok(None)
}

impl Math {
    /// The comparison with one reference, within the fuel of one comparison.
    fn trial(
        &self,
        reference: &str,
        said: &Said<'_>,
        meter: &mut Meter<'_>,
    ) -> Result<Trial, Fault> {
        if let Some(trial) = Trial::of_integers(reference, said) {
            return Ok(trial);
        }
        meter.spend(TRIAL_FUEL)?;
        let mut cx = Context::new(Meter::new(WORK_MAX.min(meter.left())));
        cx.dates = self.dates;
        let trial = self.attempts(reference, said, &mut cx);
        // Where the fuel of the sample is gone, this is the fault; else only the comparison was
        // cut.
        meter.spend(cx.meter.spent().min(WORK_MAX))?;
        let trial = match trial {
            Err(fault) if fault.kind == FaultKind::OutOfFuel => Trial::undecided(),
            trial => trial?,
        };
        let first = said.announced.first().filter(|_| trial.extracted.is_none());
        let same = |first: &&Candidate<'_>| trimmed(&first.text) == trimmed(reference);
        Ok(match first.filter(same) {
            // Too large to be read, and the same text.
            Some(first) if matches!(trial.judged, Equivalence::Undecided) => Trial {
                judged: Equivalence::Equal(Rung::Bytes),
                extracted: Some(said.scope.taken(first.clone())),
                ..trial
            },
            _ => trial,
        })
    }

    fn attempts(&self, reference: &str, said: &Said<'_>, cx: &mut Context) -> Result<Trial, Fault> {
        let (trial, bare_log) = settled(self.attempt(reference, said, cx))?;
        if !bare_log || trial.is_equal() {
            return Ok(trial);
        }
        // A `\log` without a base: the decimal one did not fit, so try the natural one.
        cx.restart_with_natural_log();
        let (second, _) = settled(self.attempt(reference, said, cx))?;
        Ok(if second.rank() > trial.rank() { second } else { trial })
    }

    fn attempt(
        &self,
        reference: &str,
        said: &Said<'_>,
        cx: &mut Context,
    ) -> Result<(Trial, bool), Stop> {
        let wanted = reading::read(reference, false, cx)?;
        let mut wanted_values = wanted.values(cx)?;
        let textual = !wanted_values.is_empty() && wanted_values.iter().all(Value::is_words);
        let reference_normal = shown(cx, &wanted, &wanted_values);
        if textual {
            for part in statement::answers(reference) {
                wanted_values.extend(reading::read(part, false, cx)?.values(cx)?);
            }
        }
        let Some(chosen) = said.chosen(self.extract, textual, cx)? else {
            let none = Trial {
                judged: Equivalence::Unequal,
                extracted: None,
                normal: String::new(),
                reference_normal,
                refusal: None,
                against: None,
            };
            return Ok((none, false));
        };
        let chosen = if wanted_values.iter().any(Value::is_measured) {
            with_unit(chosen, said.scope.text(), cx)?
        } else {
            chosen
        };
        // "7{,}5" is "7,5" as it is typeset.
        let unbraced = |text: &str| trimmed(text).replace("{,}", ",");
        let same = unbraced(&chosen.candidate.text) == unbraced(reference);
        let open = self.closed_form
            && chosen.reading.leaves_operator()
            && !wanted.has_operator()
            && (said.scope.asked || chosen.candidate.provenance != Provenance::Whole);
        let mut refusal = open.then_some(Refusal::NotClosedForm);
        let scores = score(trimmed(reference))
            .filter(|_| said.question.asks_for_score())
            .map(|wanted| Some(wanted) == score(trimmed(&chosen.candidate.text)));
        let mut judged = if same {
            Equivalence::Equal(Rung::Bytes)
        } else if let Some(scores) = scores {
            judged(scores, Rung::Text)
        } else if wanted.same_letters(&chosen.reading) {
            Equivalence::Equal(Rung::Text)
        } else if open || wanted.contradicts(&chosen.reading, cx)? {
            Equivalence::Unequal
        } else {
            let mut comparer = Comparer { cx, decimals: &self.decimals, strict: self.strict };
            comparer.any_equal(&wanted_values, &chosen.values, &said.question)?
        };
        // "122 \div 7 = 17 R 3" is the division with its result.
        if let (Equivalence::Equal(rung), false) = (judged, same || wanted.has_remainder()) {
            let pair = Pair {
                answer: &chosen.candidate.text,
                answer_reading: &chosen.reading,
                reference,
                reference_reading: &wanted,
                rung,
            };
            let value = matches!(wanted_values.as_slice(), [Value::Scalar(_)]);
            refusal = self.refusal(&pair, value, &said.question, cx)?;
            judged = if refusal.is_some() { Equivalence::Unequal } else { judged };
        }
        let normal = shown(cx, &chosen.reading, &chosen.values);
        let extracted = Some(said.scope.taken(chosen.candidate));
        let trial = Trial { judged, extracted, normal, reference_normal, refusal, against: None };
        Ok((trial, cx.bare_log))
    }

    /// Why an answer that equals the reference is refused.
    fn refusal(
        &self,
        pair: &Pair<'_>,
        value: bool,
        question: &Question<'_>,
        cx: &mut Context,
    ) -> Result<Option<Refusal>, Stop> {
        Ok(
            if self.relations == Relations::Solved
                && pair.is_unsolved(value, question, &mut cx.meter)?
            {
                Some(Refusal::NotSolved)
            } else if question.is_empty() {
                None
            } else if pair.echoes(question, &mut cx.meter)? {
                Some(Refusal::Echo)
            } else if self.closed_form && pair.is_unevaluated(question, &mut cx.meter)? {
                Some(Refusal::NotEvaluated)
            } else {
                None
            },
        )
    }
}
