//! The grammar of units: signs and names with prefixes, powers, products and quotients, in LaTeX,
//! in words and in Unicode alike: `\mathrm{kg\cdot m/s^2}`, `k\Omega`, "miles per hour".

use super::measure::Measure;
use super::unit_pieces::{NAME_MAX, Reader, letters};
use super::unit_runs::{product_of, resolved};
use super::unit_table::{is_prefix, is_prefix_sign, name};

/// The most factors of a unit.
const FACTORS_MAX: u8 = 8;
/// The deepest brackets of a unit.
const DEPTH_MAX: u8 = 4;
const TIMES: [&str; 9] = ["\\cdot", "\\times", "\\ast", "*", "·", "⋅", "∙", "•", "×"];
const OVER: [&str; 4] = ["\\per", "/", "⁄", "∕"];
const FRACTIONS: [&str; 5] = ["\\frac", "\\dfrac", "\\tfrac", "\\sfrac", "\\nicefrac"];

/// A unit at the beginning of a text.
pub(crate) struct Found {
    pub(crate) measure: Measure,
    /// Where it ends, in bytes.
    pub(crate) end: usize,
    /// Whether a name or a sign of several letters is in it, which is less likely a variable.
    pub(crate) sure: bool,
    /// Whether it is set upright.
    pub(crate) upright: bool,
}

/// How two factors are joined.
#[derive(PartialEq)]
enum Joint {
    Side,
    Times,
    Over,
}

/// Reads a unit at the beginning of a text, in which `open` braces are open.
pub(crate) fn read(text: &str, open: usize) -> Option<Found> {
    let mut reader = Reader { text, at: 0, open, sure: false, upright: false };
    let measure = reader.product(0)?;
    while reader.open > open {
        let rest = reader.rest();
        let tail = rest.trim_start().strip_prefix('}')?;
        (reader.at, reader.open) = (reader.at + rest.len() - tail.len(), reader.open - 1);
    }
    let end = reader.at;
    Some(Found { measure, end, sure: reader.sure, upright: reader.upright })
}

impl Reader<'_> {
    /// Factors side by side, or with signs between them. What is after a slash is below it.
    fn product(&mut self, depth: u8) -> Option<Measure> {
        let mut whole = None::<Measure>;
        let mut below = false;
        for _ in 0..FACTORS_MAX {
            let (start, open) = (self.at, self.open);
            let joint = self.joint(whole.is_none());
            below |= joint == Joint::Over;
            let Some((factor, power)) = self.factor(depth, below) else {
                (self.at, self.open) = (start, open);
                break;
            };
            // J/kg K^{-1}: a power below nothing is that of its own.
            let inverse = below && (power > 0 || joint == Joint::Over);
            let factor = factor.raised(if inverse { -1 } else { 1 })?;
            whole = Some(match whole {
                Some(whole) => whole.times(&factor)?,
                None => factor,
            });
        }
        whole
    }

    fn joint(&mut self, first: bool) -> Joint {
        // newton-metre, kg.m
        let rest = self.rest();
        if let (false, Some(tail)) = (first, rest.strip_prefix(['-', '‑', '.']))
            && tail.starts_with(char::is_alphabetic)
            && self.text.get(..self.at).is_some_and(|before| before.ends_with(char::is_alphabetic))
        {
            self.at += rest.len() - tail.len();
            return Joint::Times;
        }
        self.skip();
        if !first && !self.rest().starts_with("**") && self.eat(&TIMES) {
            Joint::Times
        } else if self.eat(&["per", "\\per"]) || (!first && (self.eat(&OVER) || self.article())) {
            Joint::Over
        } else {
            Joint::Side
        }
    }

    /// "miles an hour", "dollars a day".
    fn article(&mut self) -> bool {
        let start = self.at;
        let found = self.eat(&["a ", "an "])
            && letters(self.rest()).is_some_and(|word| word.len() > 2 && name(word).is_some());
        if !found {
            self.at = start;
        }
        found
    }

    /// A unit with its power, and the power.
    fn factor(&mut self, depth: u8, below: bool) -> Option<(Measure, i8)> {
        let mut power = 1;
        loop {
            self.skip();
            if self.eat(&["square ", "sq ", "sq. ", "\\square", "Square "]) {
                power = 2;
            } else if self.eat(&["cubic ", "cu ", "cu. ", "\\cubic", "Cubic "]) {
                power = 3;
            } else {
                break;
            }
        }
        if depth < DEPTH_MAX && self.eat(&["("]) {
            let inner = self.product(depth + 1)?;
            self.skip();
            if !self.eat(&[")"]) {
                return None;
            }
            let raised = self.power()?;
            return Some((inner.raised(raised)?, raised));
        }
        if depth < DEPTH_MAX && self.eat(&FRACTIONS) {
            let (top, below) = (self.group(depth)?, self.group(depth)?);
            return Some((top.times(&below.raised(-1)?)?, 1));
        }
        let run = self.run()?;
        let raised = self.power()?;
        let measure = match run.as_str() {
            // W/mK is by metre and kelvin.
            "mK" if below => product_of("m", "K", raised)?,
            run => resolved(run, raised, true)?,
        };
        Some((measure.raised(power)?, raised))
    }

    /// An argument of a fraction.
    fn group(&mut self, depth: u8) -> Option<Measure> {
        let inner = self.rest().trim_start().strip_prefix('{')?;
        let mut open = 1usize;
        let end = inner.find(|c: char| {
            open += usize::from(c == '{');
            open -= usize::from(c == '}');
            open == 0
        })?;
        let mut reader = Reader { text: inner.get(..end)?, at: 0, open: 0, ..*self };
        let measure = reader.product(depth + 1)?;
        reader.skip();
        (self.sure, self.upright) = (reader.sure, reader.upright);
        self.at = self.text.len() - inner.len() + end + 1;
        (reader.at == end).then_some(measure)
    }

    /// The sign or the name of a unit, with its prefix, in one spelling.
    fn run(&mut self) -> Option<String> {
        let mut whole = self.piece()?;
        let start = (self.at, self.open);
        if whole == "°" {
            self.skip();
            match self.piece() {
                Some(scale) if name(&format!("degree {scale}")).is_some() => {
                    whole = format!("degree {scale}");
                }
                _ => (self.at, self.open) = start,
            }
            self.sure = true;
            return Some(whole);
        }
        // The words of a name, then a prefix and its unit.
        let mut longer = whole.clone();
        for _ in 0..3 {
            if self.rest().starts_with('-') {
                self.at += 1;
            }
            self.skip();
            let Some(next) = self.piece().filter(|next| longer.len() + next.len() < NAME_MAX)
            else {
                break;
            };
            let prefixed = longer == whole
                && (is_prefix(&whole)
                    || whole == "µ"
                    || (is_prefix_sign(&whole) && matches!(next.as_str(), "Ω" | "Å" | "ohm")));
            let micro = matches!(whole.as_str(), "µ" | "micro");
            let spellings: &[&str] = if micro { &["µ", "micro"] } else { &[&whole] };
            let joined = spellings.iter().map(|prefix| format!("{prefix}{next}"));
            let joined =
                joined.filter(|_| prefixed).find(|joined| resolved(joined, 1, false).is_some());
            if joined.is_some() {
                self.sure = true;
                return joined;
            }
            longer = format!("{longer} {next}");
            if longer.len() > 4 && name(&longer).is_some() {
                self.sure = true;
                return Some(longer);
            }
        }
        (self.at, self.open) = start;
        self.sure |= whole.chars().count() > 1;
        Some(whole)
    }
}

/// Whether a command of no other meaning is a part of a unit: those of siunitx.
pub(crate) fn is_command(run: &str) -> bool {
    const PARTS: [&str; 16] = crate::words::list(
        "per square cubic squared cubed tothe micro ohm AA angstrom celsius degreeCelsius textmu \
         textohm upmu upOmega",
    );
    PARTS.contains(&run) || is_prefix(run) || (run.len() > 1 && resolved(run, 1, false).is_some())
}
