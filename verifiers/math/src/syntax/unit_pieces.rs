//! The pieces of units: spaces and styles, letters and signs, powers.

use super::commands::{Command, command};

/// Commands that set a text upright.
#[rustfmt::skip]
const UPRIGHT: [&str; 16] = [
    "text", "mathrm", "rm", "mbox", "textrm", "operatorname", "mathsf", "textsf", "textnormal", "textup", "hbox",
    "si", "unit", "textbf", "mathbf", "mathit",
];
/// Commands without meaning.
const SPACING: [&str; 6] = ["quad", "qquad", "left", "right", "thinspace", "space"];
/// How a degree sign is typed.
const DEGREES: [&str; 8] =
    ["^{\\circ}", "^\\circ", "^{\\degree}", "^\\degree", "^{°}", "^°", "{}^\\circ", "{}^{\\circ}"];
/// The longest run of letters that is looked up, in bytes.
pub(crate) const NAME_MAX: usize = 32;

/// A text of which a unit is read.
pub(crate) struct Reader<'a> {
    pub(crate) text: &'a str,
    pub(crate) at: usize,
    /// Open braces.
    pub(crate) open: usize,
    pub(crate) sure: bool,
    pub(crate) upright: bool,
}

impl<'a> Reader<'a> {
    pub(crate) fn rest(&self) -> &'a str {
        &self.text[self.at..]
    }

    pub(crate) fn eat(&mut self, marks: &[&str]) -> bool {
        let rest = self.rest();
        let found = marks.iter().find(|mark| {
            rest.strip_prefix(**mark).is_some_and(|tail| {
                !mark.ends_with(|c: char| c.is_ascii_alphabetic())
                    || !tail.starts_with(|c: char| c.is_ascii_alphabetic())
            })
        });
        self.at += found.map_or(0, |mark| mark.len());
        found.is_some()
    }

    /// Skips spaces, braces that are not those of another argument, and styles.
    pub(crate) fn skip(&mut self) {
        loop {
            let rest = self.rest();
            let Some(first) = rest.chars().next() else { return };
            let before = &self.text[..self.at];
            self.at += match first {
                '{' if !before.ends_with('}') => {
                    self.open += 1;
                    1
                }
                '}' if self.open > 0 => {
                    self.open -= 1;
                    1
                }
                '~' | '$' => 1,
                c if c.is_whitespace() => c.len_utf8(),
                '\\' => {
                    let name = command_name(rest);
                    let space = name.is_empty()
                        && rest.get(1..2).is_some_and(|c| matches!(c, "," | ";" | ":" | "!" | " "));
                    self.upright |= UPRIGHT.contains(&name);
                    if space {
                        2
                    } else if UPRIGHT.contains(&name) || SPACING.contains(&name) {
                        1 + name.len()
                    } else {
                        return;
                    }
                }
                _ => return,
            };
        }
    }

    /// Letters, a command, or a sign.
    pub(crate) fn piece(&mut self) -> Option<String> {
        if self.eat(&DEGREES) {
            return Some("°".to_owned());
        }
        let rest = self.rest();
        let first = rest.chars().next()?;
        if first == '\\' {
            let name = command_name(rest);
            let piece = match name {
                "mu" | "upmu" | "textmu" | "micro" => "µ",
                "Omega" | "textohm" | "upOmega" => "Ω",
                "ohm" => "ohm",
                "AA" | "angstrom" => "Å",
                "circ" | "degree" | "textdegree" => "°",
                "degreeCelsius" | "celsius" => "celsius",
                "ell" => "l",
                name if name.len() > 1 && matches!(command(name), Command::Unknown) => name,
                _ => return None,
            };
            self.at += 1 + name.len();
            return Some(piece.to_owned());
        }
        let sign = match first {
            'µ' | 'μ' => "µ",
            'Ω' | '\u{2126}' => "Ω",
            'Å' | '\u{212b}' => "Å",
            '°' | 'º' | '˚' => "°",
            '℃' => "celsius",
            '℉' => "fahrenheit",
            '\u{212a}' => "K",
            'ℓ' => "l",
            '℧' => "mho",
            _ => "",
        };
        if !sign.is_empty() {
            self.at += first.len_utf8();
            return Some(sign.to_owned());
        }
        let run = letters(rest)?;
        self.at += run.len();
        Some(run.to_owned())
    }

    /// The power behind a name: `^2`, `^{-1}`, "squared", `\cubed`, the digit of `m2`. `None` where
    /// it is not a whole number.
    pub(crate) fn power(&mut self) -> Option<i8> {
        if let Some((power, length)) = digit_power(self.rest()) {
            self.at += length;
            return Some(power);
        }
        let start = (self.at, self.open);
        self.skip();
        if self.eat(&["squared", "\\squared"]) {
            return Some(2);
        }
        if self.eat(&["cubed", "\\cubed"]) {
            return Some(3);
        }
        let rest = self.rest();
        let marks = ["**", "^", "\\tothe"];
        let degree = DEGREES.iter().any(|mark| rest.starts_with(mark));
        let inner = marks.iter().find_map(|mark| rest.strip_prefix(mark));
        let Some(inner) = inner.filter(|_| !degree) else {
            (self.at, self.open) = start;
            return Some(1);
        };
        let inner = inner.trim_start();
        let (digits, close) = if let Some(inner) = inner.strip_prefix('{') {
            (inner.get(..inner.find('}')?)?, 1)
        } else {
            let sign = inner.len() - inner.trim_start_matches(['-', '−']).len();
            (inner.get(..sign + 1)?, 0)
        };
        let power = digits.trim().replace('−', "-").parse::<i8>().ok()?;
        self.at += rest.len() - inner.len() + digits.len() + 2 * close;
        (-9..=9).contains(&power).then_some(power)
    }
}

fn command_name(rest: &str) -> &str {
    let tail = &rest[1..];
    &tail[..tail.find(|c: char| !c.is_ascii_alphabetic()).unwrap_or(tail.len())]
}

/// The run of letters at the beginning of a text, up to a sign of a unit.
pub(crate) fn letters(rest: &str) -> Option<&str> {
    let end =
        rest.find(|c: char| !c.is_alphabetic() || "µμΩ\u{2126}Å\u{212b}\u{212a}ℓ".contains(c));
    let run = rest.get(..end.unwrap_or(rest.len()))?;
    (!run.is_empty() && run.len() <= NAME_MAX).then_some(run)
}

/// The power of `m2` and `s-1`, and its length.
fn digit_power(rest: &str) -> Option<(i8, usize)> {
    let digits = rest.trim_start_matches(['-', '−']);
    let power = digits.chars().next()?.to_digit(10).filter(|power| (1..5).contains(power))?;
    let goes_on = digits.get(1..)?.starts_with(|c: char| c.is_alphanumeric() || c == '.');
    let power = i8::try_from(power).ok()?;
    let length = rest.len() - digits.len() + 1;
    (!goes_on && length < 5).then_some((if length > 1 { -power } else { power }, length))
}
