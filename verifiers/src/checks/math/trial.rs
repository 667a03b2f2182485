//! The comparison of one reference with the answer of a completion.

use super::Math;
use super::candidate::choose;
use super::integer::integer;
use crate::extract::{self, Candidate, Provenance, Scope};
use crate::fault::{Fault, FaultKind};
use crate::math::algebra::Context;
use crate::math::compare::Comparer;
use crate::math::compare::judged::{Judged, Rung, judged};
use crate::math::question::Question;
use crate::math::reading::{self, Reading, statement};
use crate::math::refusal::{Pair, Refusal};
use crate::math::stop::Stop;
use crate::math::syntax::text::trimmed;
use crate::math::values::{Value, show_value};
use crate::math::{Relations, WORK_MAX};
use crate::meter::Meter;
use crate::verdict::Verdict;

/// The comparison of one reference with the answer.
pub(super) struct Trial {
    pub(super) judged: Judged,
    pub(super) extracted: Option<(String, (usize, usize), Provenance)>,
    pub(super) normal: String,
    pub(super) reference_normal: String,
    /// Why an equal answer is refused.
    pub(super) refusal: Option<Refusal>,
}

impl Trial {
    /// A comparison without a result.
    fn undecided() -> Self {
        let (normal, reference_normal) = (String::new(), String::new());
        Self { judged: Judged::Undecided, extracted: None, normal, reference_normal, refusal: None }
    }

    /// The comparison of two integers without a syntax tree; the result is the same.
    fn of_integers(reference: &str, said: &Said<'_>) -> Option<Self> {
        let first = said.announced.first()?;
        let (want, have) = (integer(reference)?, integer(&first.text)?);
        let judged = if *first.text == *reference {
            Judged::Equal(Rung::Bytes)
        } else {
            judged(want == have, Rung::Rational)
        };
        Some(Self {
            judged,
            extracted: Some(said.scope.taken(first.clone())),
            normal: have.to_string(),
            reference_normal: want.to_string(),
            refusal: None,
        })
    }

    /// Orders the trials of several references, the best last.
    pub(super) fn rank(&self) -> u8 {
        match self.judged {
            Judged::Equal(_) => 2,
            Judged::Undecided => 1,
            Judged::Unequal => 0,
        }
    }

    pub(super) fn is_equal(&self) -> bool {
        matches!(self.judged, Judged::Equal(_))
    }

    pub(super) fn verdict(self) -> Verdict {
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
pub(super) struct Said<'a> {
    pub(super) scope: Scope<'a>,
    pub(super) announced: Vec<Candidate<'a>>,
    pub(super) question: Question<'a>,
}

impl Math {
    /// The comparison with one reference, within the fuel of one comparison.
    pub(super) fn trial(
        &self,
        reference: &str,
        said: &Said<'_>,
        meter: &mut Meter<'_>,
    ) -> Result<Trial, Fault> {
        if let Some(trial) = Trial::of_integers(reference, said) {
            return Ok(trial);
        }
        let mut cx = Context::new(Meter::new(WORK_MAX.min(meter.left())));
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
            Some(first) if matches!(trial.judged, Judged::Undecided) => Trial {
                judged: Judged::Equal(Rung::Bytes),
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
        let mut chosen = choose(&said.announced, textual, cx)?;
        if chosen.is_none() {
            let whole = extract::whole(&said.scope, self.extract);
            chosen = choose(whole.as_slice(), textual, cx)?;
        }
        if chosen.is_none() {
            chosen = choose(&extract::concluded(&said.scope, self.extract), textual, cx)?;
        }
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
        let same = trimmed(&chosen.candidate.text) == trimmed(reference);
        let open = self.closed_form
            && chosen.reading.has_operator()
            && !wanted.has_operator()
            && (said.scope.asked || chosen.candidate.provenance != Provenance::Whole);
        let mut refusal = open.then_some(Refusal::NotClosedForm);
        let mut judged = if same {
            Judged::Equal(Rung::Bytes)
        } else if wanted.same_letters(&chosen.reading) {
            Judged::Equal(Rung::Text)
        } else if open || wanted.contradicts(&chosen.reading, cx)? {
            Judged::Unequal
        } else {
            let mut comparer = Comparer { cx, decimals: &self.decimals, strict: self.strict };
            comparer.any_equal(&wanted_values, &chosen.values, &said.question)?
        };
        if let (Judged::Equal(rung), false) = (judged, same) {
            let pair = Pair {
                answer: &chosen.candidate.text,
                answer_reading: &chosen.reading,
                reference,
                reference_reading: &wanted,
                rung,
            };
            let value = matches!(wanted_values.as_slice(), [Value::Scalar(_)]);
            refusal = self.refusal(&pair, value, &said.question, cx)?;
            judged = if refusal.is_some() { Judged::Unequal } else { judged };
        }
        let normal = shown(cx, &chosen.reading, &chosen.values);
        let extracted = Some(said.scope.taken(chosen.candidate));
        Ok((Trial { judged, extracted, normal, reference_normal, refusal }, cx.bare_log))
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
            if self.relations == Relations::Solved && pair.is_unsolved(value, !question.is_empty())
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

/// A limit is not a fault: the comparison stays undecided.
fn settled(attempt: Result<(Trial, bool), Stop>) -> Result<(Trial, bool), Fault> {
    match attempt {
        Ok(done) => Ok(done),
        Err(Stop::Fault(fault)) => Err(fault),
        Err(Stop::Cap | Stop::Undefined | Stop::Unreadable) => Ok((Trial::undecided(), false)),
    }
}

fn shown(cx: &Context, reading: &Reading, values: &[Value]) -> String {
    values.first().map_or_else(|| reading.text.clone(), |value| show_value(cx, value))
}
