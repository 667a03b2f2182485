//! The value of a number token: digits, decimal places, repeating decimals.

use dashu_int::UBig;

use crate::number::power_of_ten;
use crate::syntax::ast::Written;
use crate::syntax::parser::prelude::*;

/// The longest number that is read, in digits.
const DIGITS_MAX: usize = 4000;
/// The longest period that digits before an ellipsis show.
const PERIOD_MAX: usize = 6;
/// The most digits between the point and such a period.
const BEFORE_PERIOD_MAX: usize = 6;

impl<'a> Parser<'_, 'a> {
    /// The number of a token: its digits without separators.
    pub(crate) fn number(&mut self, text: &str) -> Result<Id, Stop> {
        let (text, endless) = endless(text);
        let decimal_comma = !text.contains('.') && decimal_comma(text);
        // 1.000.000: points between thousands.
        let points = memchr::memchr_iter(b'.', text.as_bytes()).take(2).count() == 1;
        let mut digits = String::with_capacity(text.len());
        let mut places = None;
        for c in text.chars() {
            match c {
                '0'..='9' => {
                    digits.push(c);
                    places = places.map(|places| places + 1);
                }
                '.' if points => places = Some(0u32),
                ',' if decimal_comma => places = Some(0u32),
                _ => {}
            }
        }
        if digits.len() > DIGITS_MAX {
            return Err(Stop::Cap);
        }
        if let Some(places) = places {
            if endless && let Some(value) = periodic(&digits, places as usize) {
                return self.exact(value);
            }
            let bracket = matches!(
                (self.peek(), self.ahead(1), self.ahead(2)),
                (Some(Tok::LParen), Some(Tok::Num(_)), Some(Tok::RParen))
            );
            let over = matches!(self.peek(), Some(Tok::Accent("overline" | "bar" | "dot")));
            if over || (bracket && !self.spaced()) {
                return self.repeating(&digits, places as usize);
            }
        }
        let value = UBig::from_str_radix(&digits, 10).map_err(|_| Stop::Unreadable)?;
        let Some(places) = places else { return self.exact(value) };
        let significant = digits.trim_start_matches('0').len();
        let written =
            Written { places, significant: u32::try_from(significant).map_err(|_| Stop::Cap)? };
        let value = RBig::from_parts(value.into(), power_of_ten(places as usize));
        self.node(Node::Num(value, Some(written)), &[])
    }

    /// `0.1\overline{6}`, `0.1(6)`, `0.\dot{1}4\dot{2}`: the period over as many nines.
    fn repeating(&mut self, digits: &str, places: usize) -> Result<Id, Stop> {
        let mut period = self.period()?.to_owned();
        // Dots are above the first and the last digit of a period.
        if let (Some(Tok::Num(middle)), Some(Tok::Accent("dot"))) = (self.peek(), self.ahead(1)) {
            self.at += 1;
            period.push_str(middle);
            period.push_str(self.period()?);
        } else if self.peek() == Some(Tok::Accent("dot")) {
            period.push_str(self.period()?);
        }
        if period.len() > 100 || places > 1000 || !period.bytes().all(|b| b.is_ascii_digit()) {
            return Err(Stop::Cap);
        }
        let value = with_period(digits, places, &period).ok_or(Stop::Unreadable)?;
        self.exact(value)
    }

    /// The digits under a mark or in brackets.
    pub(crate) fn period(&mut self) -> Result<&'a str, Stop> {
        self.at += 1;
        let bracket = self.tokens.get(self.at - 1).is_some_and(|token| token.tok == Tok::LParen);
        let braced = !bracket && self.eat(Tok::LBrace);
        let Some(Tok::Num(period)) = self.peek() else { return Err(Stop::Unreadable) };
        self.at += 1;
        if bracket {
            self.expect(Tok::RParen)?;
        }
        if braced {
            self.expect(Tok::RBrace)?;
        }
        Ok(period)
    }
}

/// The value of digits, `places` of them after the point, and of a period after them.
fn with_period(digits: &str, places: usize, period: &str) -> Option<RBig> {
    let read = |text: &str| UBig::from_str_radix(text, 10).ok();
    let before = RBig::from_parts(read(digits)?.into(), power_of_ten(places));
    let nines = power_of_ten(period.len()) - UBig::ONE;
    let repeated = RBig::from_parts(read(period)?.into(), nines * power_of_ten(places));
    Some(before + repeated)
}

/// The digits before an ellipsis, and whether there is one.
fn endless(text: &str) -> (&str, bool) {
    if text.ends_with(|c: char| c.is_ascii_digit()) {
        return (text, false);
    }
    let dots = text.find(['…', '\\']).or_else(|| text.find("..."));
    match dots.filter(|_| text.ends_with(['.', '…', 's'])) {
        Some(at) => (&text[..at], true),
        None => (text, false),
    }
}

/// `0.333...`, `0.1212...`, `0.8333...`: digits after the point that end in one period, repeated
/// so often that it is plain where it begins.
fn periodic(digits: &str, places: usize) -> Option<RBig> {
    let from = digits.len().checked_sub(places)?;
    let again = |before: usize, length: usize| {
        let (_, tail) = digits.as_bytes().split_at(from + before);
        let least = match length {
            1 => 3,
            2..PERIOD_MAX if before > 0 => 3,
            _ => 2,
        };
        tail.len() >= least * length && tail.chunks(length).all(|part| tail.starts_with(part))
    };
    let starts = (0..places.min(BEFORE_PERIOD_MAX + 1))
        .flat_map(|before| (1..=PERIOD_MAX).map(move |length| (before, length)));
    let (before, length) = starts.into_iter().find(|(before, length)| again(*before, *length))?;
    let (head, tail) = digits.split_at_checked(from + before)?;
    with_period(if head.is_empty() { "0" } else { head }, before, tail.get(..length)?)
}

/// Whether the only comma is a decimal comma: other than three digits follow it.
fn decimal_comma(text: &str) -> bool {
    text.split_once(',').is_some_and(|(whole, tail)| {
        let (whole, tail) = (whole.trim_end_matches('{'), tail.trim_start_matches('}'));
        tail.bytes().all(|b| b.is_ascii_digit()) && (whole == "0" || tail.len() != 3)
    })
}
