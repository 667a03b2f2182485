//! The comparison of one reference with the answer of a completion.

use super::candidate::{Chosen, choose};
use super::integer::integer;
use crate::extract::{self, Candidate, Policy, Provenance, Scope};
use crate::fault::Fault;
use crate::language::standing::Against;
use crate::math::algebra::Context;
use crate::math::compare::judged::{Equivalence, Rung, judged};
use crate::math::question::Question;
use crate::math::reading::Reading;
use crate::math::refusal::Refusal;
use crate::math::stop::Stop;
use crate::math::values::{Value, show_value};
use crate::verdict::Verdict;

/// The comparison of one reference with the answer.
pub(super) struct Trial {
    pub(super) judged: Equivalence,
    pub(super) extracted: Option<(String, (usize, usize), Provenance)>,
    pub(super) normal: String,
    pub(super) reference_normal: String,
    /// Why an equal answer is refused.
    pub(super) refusal: Option<Refusal>,
    /// What is said against an equal answer.
    pub(super) against: Option<Against>,
}

impl Trial {
    /// A comparison without a result.
    pub(super) fn undecided() -> Self {
        let (normal, reference_normal) = (String::new(), String::new());
        Self {
            judged: Equivalence::Undecided,
            extracted: None,
            normal,
            reference_normal,
            refusal: None,
            against: None,
        }
    }

    /// The comparison of two integers without a syntax tree; the result is the same.
    pub(super) fn of_integers(reference: &str, said: &Said<'_>) -> Option<Self> {
        let first = said.announced.first()?;
        let (want, have) = (integer(reference)?, integer(&first.text)?);
        let judged = if *first.text == *reference {
            Equivalence::Equal(Rung::Bytes)
        } else {
            judged(want == have, Rung::Rational)
        };
        Some(Self {
            judged,
            extracted: Some(said.scope.taken(first.clone())),
            normal: have.to_string(),
            reference_normal: want.to_string(),
            refusal: None,
            against: None,
        })
    }

    /// Orders the trials of several references, the best last.
    pub(super) fn rank(&self) -> u8 {
        match self.judged {
            Equivalence::Equal(_) => 2,
            Equivalence::Undecided => 1,
            Equivalence::Unequal => 0,
        }
    }

    pub(super) fn is_equal(&self) -> bool {
        matches!(self.judged, Equivalence::Equal(_))
    }

    /// The same, where an answer that does not stand is not right.
    pub(super) fn standing_in(self, scope: &Scope<'_>, reference: &str) -> Self {
        let span = self.extracted.as_ref().filter(|_| self.is_equal()).map(|(_, span, _)| *span);
        let against = span.and_then(|span| scope.against(span, reference));
        match against {
            Some(_) => Self { judged: Equivalence::Unequal, against, ..self },
            None => self,
        }
    }

    pub(super) fn verdict(self) -> Verdict {
        let reason = match self.judged {
            Equivalence::Equal(rung) => rung.reason(),
            Equivalence::Undecided => "undecided",
            Equivalence::Unequal if self.extracted.is_none() => "no-answer",
            Equivalence::Unequal => self.refusal.map_or("proved-unequal", Refusal::reason),
        };
        let Some((text, span, provenance)) = self.extracted else {
            return Verdict::graded(false)
                .with("reference_normal", self.reference_normal)
                .because(reason);
        };
        let verdict = Verdict::graded(matches!(self.judged, Equivalence::Equal(_)))
            .with_extracted(&text, span)
            .with("provenance", provenance.name())
            .with("normal", self.normal)
            .with("reference_normal", self.reference_normal);
        match (self.against, self.judged) {
            (Some(against), _) => verdict.against(against),
            (None, Equivalence::Equal(rung)) => verdict.with("rung", rung.name()).because(reason),
            (None, _) => verdict.because(reason),
        }
    }
}

/// A completion, the answers that it announces, and what it was asked.
pub(super) struct Said<'a> {
    pub(super) scope: Scope<'a>,
    pub(super) announced: Vec<Candidate<'a>>,
    pub(super) question: Question<'a>,
}

impl<'a> Said<'a> {
    /// The answer among what is announced, the whole completion, and its conclusion.
    pub(super) fn chosen(
        &self,
        policy: Policy,
        textual: bool,
        cx: &mut Context,
    ) -> Result<Option<Chosen<'a>>, Stop> {
        let mut chosen = choose(&self.announced, textual, cx)?;
        if chosen.is_none() {
            let whole = extract::whole(&self.scope, policy);
            chosen = choose(whole.as_slice(), textual, cx)?;
        }
        if chosen.is_none() {
            chosen = choose(&extract::concluded(&self.scope, policy), textual, cx)?;
        }
        Ok(chosen)
    }
}

/// A limit is not a fault: the comparison stays undecided.
pub(super) fn settled(attempt: Result<(Trial, bool), Stop>) -> Result<(Trial, bool), Fault> {
    match attempt {
        Ok(done) => Ok(done),
        Err(Stop::Fault(fault)) => Err(fault),
        Err(Stop::Cap | Stop::Undefined | Stop::Unreadable) => Ok((Trial::undecided(), false)),
    }
}

pub(super) fn shown(cx: &Context, reading: &Reading, values: &[Value]) -> String {
    values.first().map_or_else(|| reading.text.clone(), |value| show_value(cx, value))
}
