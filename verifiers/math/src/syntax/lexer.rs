//! The lexer: tokens of LaTeX, plain and Unicode mathematics alike.

mod commands;
mod digits;
mod numerals;

use super::ast::Rel;
use super::token::{Commas, Tok, Token, relates};
use super::{symbols, units, words};
use crate::meter::Meter;
use crate::stop::Stop;

/// The most tokens of one answer.
const TOKENS_MAX: usize = 20_000;
/// The most points that name an angle or a polygon.
const POINTS_MAX: usize = 4;
/// Marks that say that an answer is done or right.
const ORNAMENTS: &str = "✓✔✅☑∎■☺⭐✨🎉🎊😊🙂😀👍💯🚀\u{fe0f}";

pub(crate) fn lex<'a>(
    text: &'a str,
    commas: Commas,
    meter: &mut Meter<'_>,
) -> Result<Vec<Token<'a>>, Stop> {
    meter.spend(10 + 2 * text.len() as u64)?;
    let indices = memchr::memchr(b'_', text.as_bytes()).is_some();
    let one_dollar = memchr::memchr_iter(b'$', text.as_bytes()).take(2).count() == 1;
    let mut lexer = Lexer {
        text,
        at: 0,
        tokens: Vec::new(),
        commas,
        prose_end: 0,
        rows: 0,
        indices,
        related: false,
        one_dollar,
    };
    lexer.tokens.reserve(text.len().min(64));
    while lexer.at < text.len() {
        lexer.step()?;
        if lexer.tokens.len() > TOKENS_MAX {
            return Err(Stop::Cap);
        }
    }
    Ok(lexer.tokens)
}

struct Lexer<'a> {
    text: &'a str,
    at: usize,
    tokens: Vec<Token<'a>>,
    commas: Commas,
    /// Up to here the text is the argument of `\text{}`.
    prose_end: usize,
    /// How many environments with rows are open.
    rows: usize,
    /// Whether there are indices at all, and so perhaps bases.
    indices: bool,
    /// Whether a sign of relation was met.
    related: bool,
    /// Whether there is a single dollar, which then delimits no formula.
    one_dollar: bool,
}

impl<'a> Lexer<'a> {
    fn rest(&self) -> &'a str {
        &self.text[self.at..]
    }

    fn push(&mut self, tok: Tok<'a>, bytes: usize) {
        let spaced = self
            .text
            .get(..self.at)
            .is_some_and(|before| before.ends_with(|c: char| c.is_whitespace() || c == '~'));
        self.tokens.push(Token { tok, spaced, at: self.at });
        self.related |= relates(tok);
        self.at += bytes;
    }

    fn step(&mut self) -> Result<(), Stop> {
        let rest = self.rest();
        let Some(first) = rest.chars().next() else { return Ok(()) };
        if self.indices
            && let Some((digits, base, length)) = numerals::numeral(self.text, self.at)
        {
            self.push(Tok::Based(digits, base), length);
            return Ok(());
        }
        match first {
            '0'..='9' => self.number(),
            '.' if digit_at(rest, 1) => self.number(),
            '\\' => self.command()?,
            'a'..='z' | 'A'..='Z' => self.letters(),
            '{' if rest.starts_with("{:}") => self.push(Tok::Colon, 3),
            _ => {
                if let Some(tok) = self.symbol(first) {
                    let double = tok == Tok::Times && rest.starts_with("**");
                    if double {
                        self.push(Tok::Caret, 2);
                    } else {
                        self.push(tok, first.len_utf8());
                    }
                    self.relation_tail();
                } else if first == '$' && self.is_price() {
                    self.push(Tok::Currency("dollar"), 1);
                } else if ignorable(first) {
                    self.at += first.len_utf8();
                } else if let Some(name) = symbols::greek_char(first) {
                    self.push(name, first.len_utf8());
                } else if first.is_alphabetic() {
                    self.foreign();
                } else {
                    return Err(Stop::Unreadable);
                }
            }
        }
        Ok(())
    }

    /// Whether a dollar before digits is a currency: the delimiters of formulas come in pairs.
    fn is_price(&self) -> bool {
        self.one_dollar && digit_at(self.rest(), 1)
    }

    /// A symbol of one character.
    fn symbol(&mut self, first: char) -> Option<Tok<'a>> {
        if self.prose_end == self.at + 1 && first == '}' {
            // The brace that closes a text is skipped by the caller.
            self.prose_end = 0;
            return None;
        }
        symbols::symbol(first)
    }

    /// `<=`, `>=`, `==`, `!=`, `->` and the like, typed as two characters.
    fn relation_tail(&mut self) {
        // 10!=3628800
        let factorial = matches!(
            self.tokens.as_slice(),
            [.., Token { tok: Tok::Num(_), .. }, Token { tok: Tok::Bang, spaced: false, .. }]
        );
        let Some(last) = self.tokens.last_mut() else { return };
        let next = self.text.get(self.at..).and_then(|rest| rest.chars().next());
        let joined = match (last.tok, next) {
            (Tok::Rel(Rel::Less), Some('=')) => Tok::Rel(Rel::LessEqual),
            (Tok::Rel(Rel::More), Some('=')) => Tok::Rel(Rel::MoreEqual),
            (Tok::Rel(Rel::Equal), Some('=')) => Tok::Rel(Rel::Equal),
            (Tok::Bang, Some('=')) if !factorial => Tok::Rel(Rel::Unequal),
            (Tok::Plus, Some('-'))
                if self.text.get(self.at..).is_some_and(|r| r.starts_with("-/")) =>
            {
                self.at += 1;
                Tok::PlusMinus
            }
            _ => return,
        };
        last.tok = joined;
        self.at += 1;
    }

    /// A run of Latin letters: a function, a word, or variables side by side.
    fn letters(&mut self) {
        let rest = self.rest();
        let end = rest.find(|c: char| !c.is_ascii_alphabetic()).unwrap_or(rest.len());
        let run = &rest[..end];
        let prose = self.at < self.prose_end;
        if run.len() == 1 && !prose && run != "x" {
            return self.push(Tok::Letter(run), 1);
        }
        let after_number = self.follows_count();
        let after = rest[end..].trim_start();
        if after_number && run == "min" && !after.starts_with(['(', '{', '\\']) {
            return self.push(Tok::Word(run), end);
        }
        // 1.5 x 10^3: the letter stands for the sign.
        if after_number && run == "x" && (after.starts_with("10^") || after.starts_with("10**")) {
            return self.push(Tok::Times, end);
        }
        if let Some(name) = words::currency(run)
            && after.trim_start_matches(['.', '}', ' ']).starts_with(|c: char| c.is_ascii_digit())
        {
            return self.push(Tok::Currency(name), end);
        }
        let counts = |tok: &Tok<'_>| match tok {
            Tok::Scale(_) if matches!(run, "score" | "gross" | "tens") => self.follows_count(),
            Tok::Scale(_) => !self.tokens.is_empty(),
            _ => true,
        };
        if let Some(tok) = words::word(run).filter(counts) {
            return self.push(tok, end);
        }
        // \mathrm{i}, \mathrm{e}, \mathrm{d}x: constants in upright type.
        let upright = prose && matches!(run, "i" | "e" | "d") && rest.get(1..2) == Some("}");
        // \frac{NO}{BO}, \angle BAC: points and not a word.
        let shape = matches!(
            self.tokens.last(),
            Some(Token { tok: Tok::Letter("angle" | "triangle"), .. })
        );
        let points = !prose
            && (shape && run.len() <= POINTS_MAX || run.len() == 2 && rest.get(2..3) == Some("}"))
            && run.bytes().all(|byte| byte.is_ascii_uppercase());
        if !upright && !points && (prose || is_word(run, after_number || self.follows_word())) {
            return self.push(Tok::Word(run), end);
        }
        self.push(Tok::Letter(&run[..1]), 1);
    }

    /// Whether a number or a multiplier is before.
    fn follows_count(&self) -> bool {
        matches!(self.tokens.last(), Some(Token { tok: Tok::Num(_) | Tok::Scale(_), .. }))
    }

    /// Whether a word is before: "square cm".
    fn follows_word(&self) -> bool {
        matches!(self.tokens.last(), Some(Token { tok: Tok::Word(_), .. }))
    }

    /// Letters of another script are always text. Chinese words end at other letters.
    fn foreign(&mut self) {
        let rest = self.rest();
        let chinese = |c: char| matches!(c, '\u{3400}'..='\u{9fff}');
        let own = rest.starts_with(chinese);
        let end = rest.find(|c: char| !c.is_alphabetic() || (own && !chinese(c)));
        let end = end.unwrap_or(rest.len());
        let word = &rest[..end];
        let tok = match word {
            "或" | "或者" | "или" => Tok::Or,
            "和" | "与" | "且" | "及" | "и" => Tok::And,
            word => Tok::Word(word),
        };
        self.push(tok, end.max(1));
    }
}

fn digit_at(text: &str, at: usize) -> bool {
    text.as_bytes().get(at).is_some_and(u8::is_ascii_digit)
}

/// Characters without meaning: spaces, delimiters, quotation marks, marks of direction.
fn ignorable(c: char) -> bool {
    c.is_whitespace()
        || matches!(c, '$' | '~' | '`' | '"' | '“' | '”' | '}' | '.' | '\u{feff}')
        || (!c.is_ascii() && ORNAMENTS.contains(c))
        || matches!(c, '\u{200b}'..='\u{200f}' | '\u{2060}'..='\u{2064}')
}

/// Whether a run of letters is a word rather than variables side by side.
fn is_word(run: &str, after_number: bool) -> bool {
    const SHORT: &[&str] = &[
        "no", "yes", "not", "is", "the", "of", "if", "to", "be", "it", "odd", "all", "we", "so",
        "got", "get", "st", "nd", "rd", "th", "am", "pm",
    ];
    let lower = run.to_ascii_lowercase();
    run.len() >= 4
        || SHORT.contains(&lower.as_str())
        || (run.len() >= 2 && after_number && (units::known(run) || matches!(run, "sq" | "cu")))
        || (run.len() == 3 && lower.contains(['a', 'e', 'i', 'o', 'u']) && !in_order(&lower))
}

/// Whether letters follow each other in the alphabet, as the names of variables do.
fn in_order(run: &str) -> bool {
    run.as_bytes().is_sorted()
}
