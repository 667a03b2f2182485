//! Readings of a text: the values that it may denote.

pub(crate) mod congruence;
pub(crate) mod division;
mod functional;
pub(crate) mod letters;
pub(crate) mod notes;
pub(crate) mod phrases;
pub(crate) mod pieces;
pub(crate) mod quantifiers;
pub mod score;
pub mod statement;

use std::borrow::Cow;

use crate::algebra::Context;
use crate::builder;
use crate::sets::{Family, Parameter};
use crate::stop::{Stop, unless_fault};
use crate::syntax::{
    Calendar, Commas, Id, Node, Rel, Tree, calendar, cleaned, environments, lexer, markup,
    number_words, parser, plain_text, trimmed,
};
use crate::values::{Scalar, Value, is_close, over_integers};
use notes::Note;
use phrases::{Phrase, set_of_phrase};

/// The possible meanings of a text: a few syntax trees, or words.
pub struct Reading {
    pub(crate) trees: Vec<(Tree, Id)>,
    /// The words, without markup, punctuation, case and articles.
    pub text: String,
    /// A date or a time of day.
    calendar: Option<Calendar>,
    /// The letter of a choice that came with its value, and the value.
    letter: Option<u8>,
    stated: Option<(Tree, Id)>,
    /// Letters in a row, whose order matters: `HHT`.
    letters: Option<String>,
    /// A value and the note after it, which may repeat it.
    again: Option<([(Tree, Id); 2], Rel)>,
    /// The letters that the text declares to be integers.
    parameters: Vec<Parameter>,
    family: Option<Family>,
    /// A quotient with its remainder.
    division: Option<String>,
    /// The phrase in front of the expression: "at least".
    phrase: Option<Phrase>,
    /// A value and the restriction after it: "2x + 1 for x > 0".
    restricted: Option<(Tree, Id)>,
}

/// Reads `text`. An answer may use a decimal comma; a reference says by its form what it means.
pub fn read(text: &str, answer: bool, cx: &mut Context) -> Result<Reading, Stop> {
    let marked = markup::plain(text);
    let clean = cleaned(&marked);
    let laid_out = environments::plain(&clean);
    let clean = trimmed(&laid_out);
    let family = congruence::congruence(clean);
    let whole = clean;
    let division = division::quotient_with_remainder(whole);
    let (clean, parameters) = quantifiers::qualified(clean);
    let clean = trimmed(&clean);
    let (clean, again) = match notes::note(clean) {
        Some(Note::Part(part)) => (part, None),
        Some(Note::Again { value, note, sign }) => {
            let both = simple(value, cx)?.zip(simple(note, cx)?);
            (Cow::Borrowed(clean), both.map(|both| (both.into(), sign)))
        }
        None => (Cow::Borrowed(clean), None),
    };
    let named = notes::named_value(&clean).or_else(|| functional::named(&clean));
    let clean = named.map_or(clean, Cow::Owned);
    let clean = trimmed(&clean);
    let (phrase, clean) =
        phrases::begins(clean).map_or((None, clean), |(phrase, rest)| (Some(phrase), rest));
    cx.meter.spend(20 + 2 * text.len() as u64)?;
    let mut trees = Vec::new();
    // The letter of a remainder may be a factor, but not in a reference.
    let is_other = family.is_some() || (division.is_some() && !answer);
    let ways = if is_other { Vec::new() } else { readings_of_commas(clean, answer) };
    for commas in ways {
        trees.extend(tree(clean, commas, cx)?);
    }
    let restricted = match notes::restricted(clean) {
        Some(restricted) => tree(&restricted, Commas::Thousands, cx)?,
        None => None,
    };
    if let Some(thousands) = shorthand(clean) {
        trees.extend(tree(&thousands, Commas::Thousands, cx)?);
    }
    let choice = letters::choice(clean);
    let mut stated = None;
    if let Some((letter, rest)) = choice {
        trees.extend(tree(letter, Commas::Thousands, cx)?);
        stated = tree(rest, Commas::Thousands, cx)?;
        trees.extend(tree(rest, Commas::Thousands, cx)?);
    } else if let Some(letter) = letters::named_choice(clean) {
        trees.extend(tree(&letter, Commas::Thousands, cx)?);
    }
    Ok(Reading {
        trees,
        text: plain_text(whole),
        calendar: calendar::read(clean, cx.dates),
        letter: choice.and_then(|(letter, _)| letter.bytes().next()),
        stated,
        letters: letters::in_a_row(clean).map(str::to_owned),
        again,
        parameters,
        family,
        division,
        phrase,
        restricted,
    })
}

/// What the commas of a text may mean, the usual one first.
fn readings_of_commas(text: &str, answer: bool) -> Vec<Commas> {
    let mut ways = vec![Commas::Thousands];
    if text.contains(',') {
        let (thousands, decimal) = comma_shapes(text);
        ways.extend(thousands.then_some(Commas::Separate));
        let wanted = answer || decimal_comma(text);
        ways.extend((wanted && decimal).then_some(Commas::Decimal));
    }
    ways
}

/// A number in digits or in words.
fn simple(text: &str, cx: &mut Context) -> Result<Option<(Tree, Id)>, Stop> {
    match number_words::number(&plain_text(text)) {
        Some((value, None)) => {
            let mut tree = Tree::default();
            let id = tree.add(Node::Num(value, None), &[])?;
            Ok(Some((tree, id)))
        }
        _ => tree(text, Commas::Thousands, cx),
    }
}

/// `5k`, `2.5M`, `\text{5k}`: a number in thousands or millions, written out.
fn shorthand(text: &str) -> Option<String> {
    const STYLES: [&str; 4] = ["\\text", "\\mathrm", "\\textrm", "\\mbox"];
    let end = text.trim_end_matches('}');
    let (number, zeros) = match end.as_bytes().last()? {
        b'k' | b'K' => (end.get(..end.len() - 1)?, 3),
        b'M' => (end.get(..end.len() - 1)?, 6),
        b'B' => (end.get(..end.len() - 1)?, 9),
        _ => return None,
    };
    let mut number = number.trim_end();
    if end.len() < text.len() {
        let styled = |text: &str| STYLES.iter().find_map(|style| text.rfind(style));
        let from = styled(number)?;
        let (head, tail) = number.split_at(from);
        let inner = tail.get(tail.find('{')? + 1..)?;
        // `42\text{ K}` may also be a temperature.
        let scale = head.is_empty() || !end.ends_with('K');
        number = if head.is_empty() { inner } else { head.trim_end() };
        if !scale || (!head.is_empty() && !inner.trim().is_empty()) {
            return None;
        }
    }
    let number = number.trim_end_matches([' ', '~']);
    let digits = number.strip_prefix("\\$").or_else(|| number.strip_prefix('$')).unwrap_or(number);
    let plain = |c: char| c.is_ascii_digit() || matches!(c, '.' | ',');
    (digits.starts_with(|c: char| c.is_ascii_digit()) && digits.chars().all(plain))
        .then(|| format!("{number}\\cdot 10^{zeros}"))
}

/// A tree, `None` where the text is not mathematics, or too large for it.
fn tree(text: &str, commas: Commas, cx: &mut Context) -> Result<Option<(Tree, Id)>, Stop> {
    let tokens = unless_fault(lexer::lex(text, commas, &mut cx.meter))?;
    let Some(tokens) = tokens else { return Ok(None) };
    cx.meter.spend(20 * tokens.len() as u64)?;
    unless_fault(parser::parse(text, &tokens))
}

impl Reading {
    /// Whether a sum, an integral, a limit or a derivative is in any reading.
    pub fn has_operator(&self) -> bool {
        self.trees.iter().any(|(tree, _)| tree.has_operator())
    }

    /// Whether one is in what any reading comes to: not in `\lim_{x \to 0} x = 0`.
    pub fn leaves_operator(&self) -> bool {
        self.trees.iter().any(|(tree, root)| tree.leaves_operator(*root))
    }

    /// Whether it is a set by a phrase: "less than 50".
    pub fn is_bound(&self) -> bool {
        self.phrase.is_some()
    }

    /// Whether it is a choice by its letter.
    pub(crate) fn is_choice(&self) -> bool {
        self.letter.is_some()
    }

    /// Whether it is a quotient with its remainder.
    pub fn has_remainder(&self) -> bool {
        self.division.is_some()
    }

    /// Whether it is a date or a time of day.
    pub(crate) fn is_calendar(&self) -> bool {
        self.calendar.is_some()
    }

    /// Whether both are the same letters in a row, however they are set.
    pub fn same_letters(&self, other: &Self) -> bool {
        self.letters.is_some() && self.letters == other.letters
    }

    /// Whether two choices carry different letters: then their values do not matter. Or they
    /// carry one letter and state two values, or are letters in another order.
    pub fn contradicts(&self, other: &Self, cx: &mut Context) -> Result<bool, Stop> {
        let letters = self.letter.zip(other.letter);
        if letters.is_some_and(|(one, two)| one != two) {
            return Ok(true);
        }
        if let Some((one, two)) = self.letters.as_ref().zip(other.letters.as_ref()) {
            return Ok(one != two);
        }
        match (&self.stated, &other.stated) {
            (Some(one), Some(two)) => Ok(agree(one, two, Rel::Approx, cx)? == Some(false)),
            _ => Ok(false),
        }
    }

    /// The values of the trees, and the text itself where it is not mathematics. Mathematics past a
    /// limit, or without a value, has none.
    pub fn values(&self, cx: &mut Context) -> Result<Vec<Value>, Stop> {
        let division = self.division.clone().map(Value::Text);
        if self.trees.is_empty() && division.is_some() {
            return Ok(division.into_iter().collect());
        }
        if let Some((value, noun)) = number_words::number(&self.text) {
            return Ok(vec![Value::counted(value, noun)]);
        }
        if let Some(([value, note], sign)) = &self.again {
            if agree(value, note, *sign, cx)? == Some(true) {
                return builder::build(cx, &value.0, value.1).map(|value| vec![value]);
            }
            // Two values are no answer.
            if *sign == Rel::Equal {
                return Ok(vec![Value::Text(self.text.clone())]);
            }
        }
        if let Some(kind) = statement::kind_of_number(&self.text) {
            return Ok(vec![Value::Text(kind.to_owned())]);
        }
        let mut values: Vec<Value> = self.calendar.into_iter().map(Value::Calendar).collect();
        // A date is not a difference of numbers.
        let trees = if values.is_empty() { self.trees.as_slice() } else { &[] };
        let trees = trees.iter().chain(&self.restricted);
        values.extend(self.family.clone().map(Value::Family));
        values.extend(phrases::set_of(&self.text));
        let mut open = false;
        for (tree, root) in trees {
            let value = match builder::build(cx, tree, *root) {
                Ok(Value::Text(_)) => continue,
                value => value.and_then(|value| self.repeated(value, cx)),
            };
            match value {
                Ok(value) => values.push(value),
                Err(Stop::Fault(fault)) => return Err(Stop::Fault(fault)),
                Err(Stop::Unreadable) => {}
                Err(Stop::Cap | Stop::Undefined) => open = true,
            }
        }
        values.extend(division);
        if values.is_empty() && !open && !self.text.is_empty() {
            values.push(Value::Text(statement::winner(&self.text).to_owned()));
        }
        Ok(values)
    }

    /// The value with its phrase or its parameters: a set or a family.
    pub(crate) fn repeated(&self, value: Value, cx: &mut Context) -> Result<Value, Stop> {
        if let Some(phrase) = self.phrase {
            return set_of_phrase(cx, phrase, &value);
        }
        if self.parameters.is_empty() {
            return Ok(value);
        }
        let repeated = over_integers(cx, &value, &self.parameters)?;
        Ok(repeated.unwrap_or(value))
    }
}

/// Whether two trees are the same number. `None` where one is not a number.
fn agree(
    one: &(Tree, Id),
    two: &(Tree, Id),
    sign: Rel,
    cx: &mut Context,
) -> Result<Option<bool>, Stop> {
    let mut number = |(tree, root): &(Tree, Id)| -> Result<Option<Box<Scalar>>, Stop> {
        Ok(match unless_fault(builder::build(cx, tree, *root))? {
            Some(Value::Scalar(scalar)) if !cx.has_variable(&scalar.canon) => Some(scalar),
            _ => None,
        })
    };
    let Some(one) = number(one)? else { return Ok(None) };
    let Some(two) = number(two)? else { return Ok(None) };
    is_close(cx, &one, &two, sign).map(Some)
}

/// Whether the comma of a reference is more likely a decimal point than a list: `0,111`, `1,22`, `7{,}5`.
fn decimal_comma(text: &str) -> bool {
    let braced = text.split_once("{,}");
    let Some((whole, rest)) = braced.or_else(|| text.split_once(',')) else { return false };
    let digits = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
    let is_list = rest.len() == 1 && braced.is_none();
    digits(whole) && digits(rest) && (whole == "0" || !is_list && rest.len() != 3)
}

/// Whether a comma might separate thousands, and whether the only one might be a decimal point.
fn comma_shapes(text: &str) -> (bool, bool) {
    let bare =
        if text.contains("{,}") { text.replace("{,}", ",").into() } else { Cow::Borrowed(text) };
    let text = &*bare;
    let bytes = text.as_bytes();
    let digit = |at: usize| bytes.get(at).is_some_and(u8::is_ascii_digit);
    let thousands = text.match_indices(',').any(|(at, _)| {
        at > 0 && digit(at - 1) && digit(at + 1) && digit(at + 2) && digit(at + 3) && !digit(at + 4)
    });
    let mut marks = text.match_indices(',');
    let decimal = match (marks.next(), marks.next()) {
        (Some((at, _)), None) => at > 0 && digit(at - 1) && digit(at + 1),
        _ => false,
    };
    (thousands, decimal)
}
