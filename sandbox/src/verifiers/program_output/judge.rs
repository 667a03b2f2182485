//! Whether an answer says what is true.

use assay_verifiers::{Fault, Meter};

use super::equal::Equality;
use super::find::{Answer, ways};
use super::literal::{self, Words};
use super::truth::Truth;
use crate::rooms::wire::Plain;

/// What is paid for knowing that the program fails, but not how.
const FAILS: f64 = 0.5;
/// Characters of an answer that names an exception: whoever tells a story names many.
const EXCEPTION_CHARS_MAX: usize = 200;

/// How answers are read.
#[derive(Clone, Copy, Debug)]
pub(super) struct Judge {
    pub(super) equality: Equality,
    /// A text is right without quotes around it.
    pub(super) bare_text: bool,
}

/// What an answer earns, and by which reading.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Paid {
    pub(super) share: f64,
    pub(super) reading: &'static str,
}

impl Paid {
    pub(super) const NOTHING: Self = Self { share: 0.0, reading: "none" };

    pub(super) fn full(reading: &'static str) -> Self {
        Self { share: 1.0, reading }
    }

    fn if_right(right: bool, reading: &'static str) -> Self {
        if right { Self::full(reading) } else { Self::NOTHING }
    }
}

impl Judge {
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

    fn value(self, answer: &Answer<'_>, wanted: &Plain) -> Paid {
        if let Some(value) = &answer.value {
            return Paid::if_right(self.equality.holds(value, wanted), "json");
        }
        if let Plain::Str(wanted) = wanted
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
    if let Some(Plain::Int(_) | Plain::Float(_) | Plain::Bool(_) | Plain::None) = &answer.value {
        return Paid::if_right(lines(&answer.text) == wanted, "text");
    }
    let ways = ways(&answer.text);
    if ways.iter().any(shown) {
        return Paid::full("text");
    }
    let says = |way: &&str| match literal::read(way, Words::Python) {
        Ok(Plain::Str(text)) => String::from_utf8(text).is_ok_and(|text| lines(&text) == wanted),
        _ => false,
    };
    Paid::if_right(ways.iter().any(says), "literal")
}

/// All for the class, half for saying that it fails.
fn raised(answer: &Answer<'_>, class: &str) -> Paid {
    let text = answer.text.trim();
    let is_value = !answer.quoted && literal::read(text, Words::Python).is_ok();
    if is_value || answer.value.is_some() || text.chars().count() > EXCEPTION_CHARS_MAX {
        return Paid::NOTHING;
    }
    let words =
        || text.split(|c: char| !c.is_alphanumeric() && c != '_').filter(|word| !word.is_empty());
    let is_class = |word: &str| {
        let ends = ["Error", "Exception", "Exit", "Interrupt", "Iteration", "Warning"];
        ends.iter().any(|end| word.len() > end.len() && word.ends_with(end))
    };
    let class = class.rsplit('.').next().unwrap_or(class);
    let others = words().filter(|word| is_class(word) && *word != class).count();
    if words().any(|word| word == class) && others == 0 {
        return Paid::full("exception");
    }
    let says = [
        "error",
        "errors",
        "exception",
        "fail",
        "fails",
        "raise",
        "raises",
        "crash",
        "crashes",
        "throw",
        "throws",
        "traceback",
    ];
    let fails =
        words().any(|word| is_class(word) || says.contains(&word.to_ascii_lowercase().as_str()));
    if fails { Paid { share: FAILS, reading: "fails" } } else { Paid::NOTHING }
}

/// By its number, `line 3`, or its text.
fn line(answer: &Answer<'_>, number: Option<u32>, text: &str) -> Paid {
    if let (Some(Plain::Int(said)), Some(number)) = (&answer.value, number) {
        return Paid::if_right(*said == number.into(), "line");
    }
    let right = |way: &&str| {
        let way = way.trim();
        let by_text = !text.is_empty() && way == text.trim();
        by_text || number.is_some_and(|number| numbered(way, text) == Some(number))
    };
    Paid::if_right(ways(&answer.text).iter().any(right), "line")
}

/// The number in `3`, `line 3` and `3: x = 1`. The text that follows must be that of the line.
fn numbered(way: &str, text: &str) -> Option<u32> {
    let lower = way.get(..4).filter(|word| word.eq_ignore_ascii_case("line"));
    let rest = lower.map_or(way, |_| way.get(4..).unwrap_or_default()).trim_start();
    let digits = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
    let number = rest.get(..digits)?.parse().ok()?;
    let after = rest.get(digits..)?.trim_start_matches([':', '.', ')', '|']).trim();
    (after.is_empty() || text.is_empty() || after == text.trim()).then_some(number)
}

fn says_end(answer: &Answer<'_>) -> bool {
    if let Some(value) = &answer.value {
        return *value == Plain::None || *value == Plain::Int((-1).into());
    }
    let word = answer.text.trim().trim_matches(['"', '\'', '`', '.']).to_ascii_lowercase();
    ["none", "end", "null", "-1", "no line", "no next line"].contains(&word.as_str())
}

fn is_type(answer: &Answer<'_>, names: &[String]) -> bool {
    let text = answer.text.trim().trim_matches(['"', '\'', '`', '.']).trim();
    let inner = text.strip_prefix("<class ").and_then(|text| text.strip_suffix('>'));
    let name = inner.unwrap_or(text).trim_matches(['"', '\'']);
    names.iter().any(|have| have == name)
}
