//! Mathematical answers: reading them, and telling whether two of them are equal.
//!
//! [`parse`] reads LaTeX, plain text and Unicode with one grammar; [`equal`] climbs a ladder from
//! equal bytes to proofs. Neither uses a clock or a thread, and both do a bounded amount of work,
//! which [`same_value`] pays from a [`Meter`].
//!
//! ```
//! use assay_math::meter::Meter;
//! use assay_math::{WORK_MAX, equal, parse, same_value};
//!
//! assert!(equal("\\frac12", "0.5"));
//! assert!(!equal("\\frac12", "0.6"));
//! assert_eq!(parse("\\sqrt{8}").unwrap().to_string(), "2*2^(1/2)");
//!
//! let mut meter = Meter::default();
//! assert!(same_value("0.50", "\\frac12", WORK_MAX, &mut meter)?);
//! assert!(meter.spent() > 0);
//! # Ok::<(), assay_math::fault::Fault>(())
//! ```
//!
//! The way of an answer: `syntax` makes a tree of its characters, `builder` makes a value
//! (`values`) of the tree, with `algebra` for canonical forms and `sets` for sets of real numbers;
//! `reading` keeps the values of an ambiguous text; `compare` compares them, at last with
//! `numeric`, which only ever proves that numbers differ. `question` and `refusal` tell answers
//! that restate the question.

pub mod algebra;
mod builder;
pub mod compare;
pub mod fault;
pub mod meter;
mod number;
mod numeric;
pub mod question;
pub mod reading;
pub mod refusal;
mod sets;
mod settings;
pub mod stop;
pub mod syntax;
pub mod values;
pub mod words;

use std::fmt;

pub use settings::{Dates, Decimals, Relations, Strict};

use crate::fault::Fault;
use crate::meter::Meter;
use algebra::Context;
use compare::Comparer;
use compare::judged::Equivalence;
use question::Question;
use reading::read;
use stop::Stop;

/// What one comparison may cost, in fuel: at most about 5 ms. What would cost more stays
/// undecided.
pub const WORK_MAX: u64 = 500_000;

/// What a text says as mathematics, in canonical form.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Parsed {
    forms: Vec<String>,
}

impl Parsed {
    /// Every way to read the text, the likeliest first: `1,234` is one number or two.
    pub fn forms(&self) -> &[String] {
        &self.forms
    }
}

impl fmt::Display for Parsed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.forms.first().map_or("", String::as_str))
    }
}

/// Reads a text as mathematics. `None` where it is too large, or has no value.
///
/// ```
/// use assay_math::parse;
///
/// assert_eq!(parse("2x + x").unwrap().to_string(), "3*x");
/// assert_eq!(parse("1,234").unwrap().forms(), ["1234", "1, 234"]);
/// assert!(parse("\\frac10").is_none());
/// ```
pub fn parse(text: &str) -> Option<Parsed> {
    let mut cx = Context::new(Meter::new(WORK_MAX));
    let values = read(text, false, &mut cx).and_then(|reading| reading.values(&mut cx)).ok()?;
    let forms: Vec<String> = values.iter().map(|value| values::show_value(&cx, value)).collect();
    (!forms.is_empty()).then_some(Parsed { forms })
}

/// Whether an answer is proved equal to a reference: any reading of the one to any of the other.
///
/// Of a reference that is written as a decimal, an answer within half a unit of its last digit is
/// equal. What cannot be proved is not equal.
///
/// ```
/// use assay_math::equal;
///
/// assert!(equal("(x+1)^2", "x^2 + 2x + 1"));
/// assert!(equal("5\\text{ cm}", "50 mm"));
/// assert!(!equal("x > 2", "x \\ge 2"));
/// ```
pub fn equal(answer: &str, reference: &str) -> bool {
    let mut cx = Context::new(Meter::new(WORK_MAX));
    let decimal = compared(answer, reference, &mut cx);
    if !matches!(decimal, Ok(Equivalence::Equal(_))) && cx.bare_log {
        cx.restart_with_natural_log();
        return matches!(compared(answer, reference, &mut cx), Ok(Equivalence::Equal(_)));
    }
    matches!(decimal, Ok(Equivalence::Equal(_)))
}

/// Whether two answers are proved equal, where neither is the reference of the other: a decimal
/// stands for its own value alone, and which of the two comes first does not matter. Each of the
/// two comparisons may take `work` units of fuel; both are paid from `meter`.
///
/// # Errors
/// The fuel of the meter is spent.
pub fn same_value(one: &str, other: &str, work: u64, meter: &mut Meter<'_>) -> Result<bool, Fault> {
    for (answer, reference) in [(one, other), (other, one)] {
        let limit = work.min(meter.left());
        let mut cx = Context::new(Meter::new(limit));
        let mut judged = exactly(answer, reference, &mut cx);
        if !matches!(judged, Ok(Equivalence::Equal(_))) && cx.bare_log {
            cx.restart_with_natural_log();
            judged = exactly(answer, reference, &mut cx);
        }
        meter.spend(cx.meter.spent().min(work))?;
        if matches!(judged, Ok(Equivalence::Equal(_))) {
            return Ok(true);
        }
    }
    Ok(false)
}

fn exactly(answer: &str, reference: &str, cx: &mut Context) -> Result<Equivalence, Stop> {
    comparison(answer, reference, &Decimals::Exact, cx)
}

fn compared(answer: &str, reference: &str, cx: &mut Context) -> Result<Equivalence, Stop> {
    comparison(answer, reference, &Decimals::default(), cx)
}

fn comparison(
    answer: &str,
    reference: &str,
    decimals: &Decimals,
    cx: &mut Context,
) -> Result<Equivalence, Stop> {
    let (wanted, have) = (read(reference, false, cx)?, read(answer, true, cx)?);
    if wanted.contradicts(&have, cx)? {
        return Ok(Equivalence::Unequal);
    }
    let (wanted, have) = (wanted.values(cx)?, have.values(cx)?);
    let mut comparer = Comparer { cx, decimals, strict: Strict::default() };
    comparer.any_equal(&wanted, &have, &Question::new(""))
}
