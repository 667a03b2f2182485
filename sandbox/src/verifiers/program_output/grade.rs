//! Whether an answer says what is true.

use assay_verifiers::{Fault, Meter};

use super::find::{Answer, ways};
use super::line::{line, says_end};
use super::paid::Paid;
use super::raised::raised;
use super::truth::Truth;
use crate::value::literal::{self, Words};
use crate::value::{Equality, PyValue};

/// How answers are read.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rules {
    pub(super) equality: Equality,
    /// A text is right without quotes around it.
    pub(super) bare_text: bool,
}

impl Rules {
    /// What the answer earns.
    pub(super) fn paid(
        self,
        answer: &Answer<'_>,
        truth: &Truth,
        meter: &mut Meter<'_>,
    ) -> Result<Paid, Fault> {
        meter.spend(16 * answer.text.len() as u64)?;
        Ok(match truth {
            Truth::Value(wanted) => self.value(answer, wanted),
            Truth::Shown { text, plain } => {
                let wanted = squeezed(text);
                if ways(&answer.text).iter().any(|way| squeezed(way) == wanted) {
                    return Ok(Paid::full("text"));
                }
                plain.as_ref().map_or(Paid::NOTHING, |wanted| self.value(answer, wanted))
            }
            Truth::Printed(wanted) => printed(answer, wanted),
            Truth::Raised(class) => raised(answer, class),
            Truth::Line { number, text } => line(answer, *number, text),
            Truth::End => Paid::if_right(says_end(answer), "line"),
            Truth::Type(names) => Paid::if_right(is_type(answer, names), "type"),
        })
    }

    fn value(self, answer: &Answer<'_>, wanted: &PyValue) -> Paid {
        if let Some(value) = &answer.value {
            return Paid::if_right(self.equality.holds(value, wanted), "json");
        }
        if let PyValue::Str(wanted) = wanted
            && self.bare_text
            && bare(answer).iter().any(|way| way.as_bytes() == wanted)
        {
            return Paid::full("text");
        }
        let words = if self.equality == Equality::Lenient { Words::Json } else { Words::Python };
        // The first that is a literal counts: `1.` is a float, and no integer before a dot.
        let value = ways(&answer.text).iter().find_map(|way| literal::read(way, words).ok());
        let right = value.is_some_and(|value| self.equality.holds(&value, wanted));
        Paid::if_right(right, "literal")
    }
}

/// The text itself. Where no quotes say where it ends, white space around it may be the model's.
fn bare<'a>(answer: &'a Answer<'_>) -> Vec<&'a str> {
    let text: &str = &answer.text;
    let mut bare = vec![text];
    if !answer.quoted {
        bare.push(text.trim_matches(['\n', '\r']));
        bare.extend(ways(text));
    }
    bare
}

/// Without white space, but for that inside quotes.
fn squeezed(text: &str) -> String {
    let mut quote = None;
    let keep = |c: &char| {
        match (quote, *c) {
            (Some(open), c) if c == open => quote = None,
            (None, '\'' | '"') => quote = Some(*c),
            _ => {}
        }
        quote.is_some() || !c.is_whitespace()
    };
    text.chars().filter(keep).collect()
}

/// White space at the ends of lines, and empty lines at the end, do not show.
fn printed(answer: &Answer<'_>, wanted: &str) -> Paid {
    let lines = |text: &str| {
        let lines: Vec<String> =
            text.trim_end().lines().map(|line| line.trim_end().to_owned()).collect();
        lines
    };
    let wanted = lines(wanted);
    let shown = |way: &&str| {
        let way = way.trim_matches(['\n', '\r']);
        lines(way) == wanted
    };
    if let Some(PyValue::Int(_) | PyValue::Float(_) | PyValue::Bool(_) | PyValue::None) =
        &answer.value
    {
        return Paid::if_right(lines(&answer.text) == wanted, "text");
    }
    let ways = ways(&answer.text);
    if ways.iter().any(shown) {
        return Paid::full("text");
    }
    let says = |way: &&str| match literal::read(way, Words::Python) {
        Ok(PyValue::Str(text)) => String::from_utf8(text).is_ok_and(|text| lines(&text) == wanted),
        _ => false,
    };
    Paid::if_right(ways.iter().any(says), "literal")
}

fn is_type(answer: &Answer<'_>, names: &[String]) -> bool {
    let text = answer.text.trim().trim_matches(['"', '\'', '`', '.']).trim();
    let inner = text.strip_prefix("<class ").and_then(|text| text.strip_suffix('>'));
    let name = inner.unwrap_or(text).trim_matches(['"', '\'']);
    names.iter().any(|have| have == name)
}
