//! Tokens of LaTeX, plain and Unicode mathematics: one lexer for all three.

use super::Stop;
use super::words::{self, Command};
use crate::meter::Meter;

mod based;
mod numbers;

/// The most tokens of one answer.
const TOKENS_MAX: usize = 20_000;

/// The longest argument that is dropped, in bytes.
const ARGUMENT_MAX: usize = 256;

/// What a token is. Slices point into the text.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Tok<'a> {
    /// Digits, perhaps with a point and with separators between thousands.
    Num(&'a str),
    /// A numeral with letters for digits, and its base: `(1A)_{16}`.
    Based(&'a str, u32),
    /// A variable of one letter, or a Greek one by its name.
    Letter(&'a str),
    /// A word of several letters, or any from `\text{}`.
    Word(&'a str),
    /// A function by its canonical name.
    Fun(&'static str),
    /// A big operator, which is never evaluated: sum, int, lim, ...
    Big(&'static str),
    Pi,
    Dots,
    Infinity,
    EmptySet,
    Reals,
    Frac,
    Sqrt,
    Binom,
    /// A mark above what follows, by its name.
    Accent(&'static str),
    Not,
    Begin(&'a str),
    End,
    /// A multiplier: a dozen, a million.
    Scale(u64),
    /// The sign of a currency, by its name.
    Currency(&'static str),
    /// A fraction or a binomial whose sign stands between its parts.
    Over,
    Choose,
    Plus,
    Minus,
    PlusMinus,
    MinusPlus,
    Times,
    Slash,
    Caret,
    Under,
    Bang,
    Percent,
    Degree,
    Prime,
    Comma,
    Semi,
    Colon,
    And,
    Or,
    Amp,
    Row,
    Equal,
    Unequal,
    Less,
    LessEqual,
    More,
    MoreEqual,
    Approx,
    /// About, before a number; else a relation that is not read.
    Similar,
    In,
    /// The remainder of a division.
    Mod,
    /// An arrow: what a variable tends to.
    To,
    Cup,
    Cap,
    Setminus,
    Bar,
    LParen,
    RParen,
    LBracket,
    RBracket,
    LBrace,
    RBrace,
    LSet,
    RSet,
    LFloor,
    RFloor,
    LCeil,
    RCeil,
    /// A qualification starts here: "for all x", "where n is whole".
    Stop,
}

/// A token, with whether space stands before it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Token<'a> {
    pub(super) tok: Tok<'a>,
    pub(super) spaced: bool,
}

/// How a comma between digits is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Commas {
    /// `1,234` is one number.
    Thousands,
    /// `1,234` is two numbers.
    Separate,
    /// `1,22` is 1.22.
    Decimal,
}

pub(super) fn lex<'a>(
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
    /// Whether there is one dollar: then no formula stands between two.
    one_dollar: bool,
}

impl<'a> Lexer<'a> {
    fn rest(&self) -> &'a str {
        self.text.get(self.at..).unwrap_or_default()
    }

    fn push(&mut self, tok: Tok<'a>, bytes: usize) {
        let spaced = self
            .text
            .get(..self.at)
            .is_some_and(|before| before.ends_with(|c: char| c.is_whitespace() || c == '~'));
        self.tokens.push(Token { tok, spaced });
        self.related |= relates(tok);
        self.at += bytes;
    }

    fn step(&mut self) -> Result<(), Stop> {
        let rest = self.rest();
        let Some(first) = rest.chars().next() else { return Ok(()) };
        if self.indices
            && let Some((digits, base, length)) = based::numeral(self.text, self.at)
        {
            self.push(Tok::Based(digits, base), length);
            return Ok(());
        }
        match first {
            '0'..='9' => self.number(),
            '.' if digit_at(rest, 1) => self.number(),
            '\\' => self.command()?,
            'a'..='z' | 'A'..='Z' => self.letters(),
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
                } else if let Some(name) = words::greek_char(first) {
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

    /// Whether a dollar before digits is one of money: the dollars around formulas come in pairs.
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
        words::symbol(first)
    }

    /// `<=`, `>=`, `==`, `!=`, `->` and the like, typed as two characters.
    fn relation_tail(&mut self) {
        // 10!=3628800
        let factorial = matches!(
            self.tokens.as_slice(),
            [.., Token { tok: Tok::Num(_), .. }, Token { tok: Tok::Bang, spaced: false }]
        );
        let Some(last) = self.tokens.last_mut() else { return };
        let next = self.text.get(self.at..).and_then(|rest| rest.chars().next());
        let joined = match (last.tok, next) {
            (Tok::Less, Some('=')) => Tok::LessEqual,
            (Tok::More, Some('=')) => Tok::MoreEqual,
            (Tok::Equal, Some('=')) => Tok::Equal,
            (Tok::Bang, Some('=')) if !factorial => Tok::Unequal,
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
        let run = rest.get(..end).unwrap_or_default();
        let prose = self.at < self.prose_end;
        if run.len() == 1 && !prose && run != "x" {
            return self.push(Tok::Letter(run), 1);
        }
        let after_number = self.follows_count();
        let after = rest.get(end..).unwrap_or_default().trim_start();
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
        // \mathrm{i}, \mathrm{e}, \mathrm{d}x: constants set upright.
        let upright = prose && matches!(run, "i" | "e" | "d") && rest.get(1..2) == Some("}");
        // \frac{NO}{BO}: points, and no word.
        let points = !prose
            && run.len() == 2
            && rest.get(2..3) == Some("}")
            && run.bytes().all(|byte| byte.is_ascii_uppercase());
        if !upright
            && !points
            && (prose || words::is_word(run, after_number || self.follows_word()))
        {
            return self.push(Tok::Word(run), end);
        }
        self.push(Tok::Letter(run.get(..1).unwrap_or_default()), 1);
    }

    /// Whether a number or a multiplier stands before.
    fn follows_count(&self) -> bool {
        matches!(self.tokens.last(), Some(Token { tok: Tok::Num(_) | Tok::Scale(_), .. }))
    }

    /// Whether a word stands before: "square cm".
    fn follows_word(&self) -> bool {
        matches!(self.tokens.last(), Some(Token { tok: Tok::Word(_), .. }))
    }

    /// Letters of another script: only ever text.
    fn foreign(&mut self) {
        let rest = self.rest();
        let end = rest.find(|c: char| !c.is_alphabetic()).unwrap_or(rest.len());
        self.push(Tok::Word(rest.get(..end).unwrap_or_default()), end.max(1));
    }

    fn command(&mut self) -> Result<(), Stop> {
        let rest = self.rest();
        let tail = rest.get(1..).unwrap_or_default();
        if tail.starts_with('\\') {
            return self.backslashes(tail);
        }
        let end = tail.find(|c: char| !c.is_ascii_alphabetic()).unwrap_or(tail.len());
        if end == 0 {
            return self.escaped(tail);
        }
        let name = tail.get(..end).unwrap_or_default();
        match words::command(name) {
            Command::Tok(tok) => self.push(tok, 1 + end),
            Command::Letter => self.push(Tok::Letter(name), 1 + end),
            Command::Skip => {
                self.at += 1 + end;
                // A bracket that is not there.
                let bracket = matches!(name, "left" | "right");
                self.at += usize::from(bracket && self.rest().starts_with('.'));
                if matches!(name, "mathbb" | "Bbb") {
                    self.blackboard();
                }
            }
            Command::Prose => {
                self.at += 1 + end;
                self.prose();
            }
            Command::Drop => {
                self.at += 1 + end;
                self.dropped()?;
            }
            Command::Begin => self.environment(1 + end),
            Command::End => {
                self.rows = self.rows.saturating_sub(1);
                let close = tail.find('}').ok_or(Stop::Unreadable)?;
                self.push(Tok::End, close + 2);
            }
            Command::Unknown => return self.split_command(name),
        }
        Ok(())
    }

    /// An argument that says nothing: a color, a width, a label.
    fn dropped(&mut self) -> Result<(), Stop> {
        for (open, close) in [('*', "*"), ('[', "]"), ('{', "}")] {
            let rest = self.rest();
            let tail = rest.trim_start();
            let near = tail.get(..ARGUMENT_MAX).unwrap_or(tail);
            if tail.starts_with(open)
                && let Some(end) = near.find(close)
            {
                // White on white is not to be seen.
                if near.get(..end).is_some_and(|said| said.contains("white")) {
                    return Err(Stop::Unreadable);
                }
                self.at += rest.len() - tail.len() + end + 1;
            }
        }
        Ok(())
    }

    /// The real numbers; other sets stay letters.
    fn blackboard(&mut self) {
        let rest = self.rest();
        if rest.trim_start().starts_with("{R}") {
            self.push(Tok::Reals, rest.len() - rest.trim_start().len() + 3);
        } else if rest.trim_start().starts_with('R') {
            self.push(Tok::Reals, rest.len() - rest.trim_start().len() + 1);
        }
    }

    /// `\pir`, `\cdotx`: a known command with letters run into it.
    fn split_command(&mut self, name: &'a str) -> Result<(), Stop> {
        for end in (2..name.len()).rev() {
            let head = name.get(..end).unwrap_or_default();
            if let Command::Tok(tok @ (Tok::Pi | Tok::Times | Tok::Frac)) = words::command(head) {
                self.push(tok, 1 + end);
                return Ok(());
            }
            if matches!(head, "quad" | "qquad") {
                self.at += 1 + end;
                return Ok(());
            }
        }
        if self.is_operand(name) {
            self.push(Tok::Letter(name), 1 + name.len());
            return Ok(());
        }
        Err(Stop::Unreadable)
    }

    /// Whether an unknown command stands where a term of a relation does: then it is a name. No
    /// operator has signs on both of its sides.
    fn is_operand(&self, name: &str) -> bool {
        let before = self.tokens.last().map(|token| token.tok);
        let rest = self.rest().get(1 + name.len()..).unwrap_or_default();
        let after = rest.trim_start_matches(['$', ' ']);
        let related = after.starts_with(['=', '<', '>']);
        let opens =
            matches!(before, None | Some(Tok::Plus | Tok::Minus)) || before.is_some_and(relates);
        let closes = related || after.is_empty() || after.starts_with(['+', '-']);
        opens && closes && (self.related || related) && !words::is_sign(name)
    }

    /// `\\`: a new row, or a backslash that was escaped once too often.
    fn backslashes(&mut self, tail: &str) -> Result<(), Stop> {
        let letters =
            tail.get(1..).is_some_and(|t| t.starts_with(|c: char| c.is_ascii_alphabetic()));
        if self.rows > 0 && !(letters && tail.get(1..).is_some_and(|t| t.starts_with("end{"))) {
            self.push(Tok::Row, 2);
        } else if letters {
            self.at += 1;
            return self.command();
        } else {
            self.at += 1 + usize::from(
                !tail.get(1..).is_some_and(|t| t.starts_with(['{', '}', '%', '$'])),
            );
        }
        Ok(())
    }

    fn escaped(&mut self, tail: &str) -> Result<(), Stop> {
        let Some(first) = tail.chars().next() else {
            // The space behind it was cut off.
            self.at += 1;
            return Ok(());
        };
        match first {
            '$' => self.push(Tok::Currency("dollar"), 2),
            '{' => self.push(Tok::LSet, 2),
            '}' => self.push(Tok::RSet, 2),
            '%' => self.push(Tok::Percent, 2),
            '|' => self.push(Tok::Bar, 2),
            '(' | ')' | '[' | ']' | ',' | '!' | ';' | ':' | ' ' | '/' | '#' | '&' | '\n' => {
                self.at += 2;
            }
            '_' => self.push(Tok::Under, 2),
            _ => return Err(Stop::Unreadable),
        }
        Ok(())
    }

    /// Notes where the argument of `\text{}` ends.
    fn prose(&mut self) {
        let rest = self.rest();
        let lead = rest.len() - rest.trim_start().len();
        if !rest.trim_start().starts_with('{') || self.prose_end > self.at {
            return;
        }
        let mut depth = 0usize;
        for (at, byte) in rest.bytes().enumerate().skip(lead) {
            match byte {
                b'{' => depth += 1,
                b'}' => depth -= 1,
                _ => {}
            }
            if depth == 0 {
                self.prose_end = self.at + at + 1;
                self.at += lead + 1;
                return;
            }
        }
        // Never closed: the rest is text. Looking on would cost the square of the length.
        self.prose_end = self.text.len();
        self.at += lead + 1;
    }

    fn environment(&mut self, skip: usize) {
        let rest = self.rest();
        let name = rest.get(skip..).and_then(|tail| {
            let tail = tail.trim_start().strip_prefix('{')?;
            tail.find('}').and_then(|end| tail.get(..end))
        });
        let name = name.unwrap_or_default();
        let close = rest.find('}').map_or(rest.len(), |at| at + 1);
        self.rows += 1;
        self.push(Tok::Begin(name), close);
        // The column specification of an array.
        if name == "array" && self.rest().starts_with('{') {
            self.at += self.rest().find('}').map_or(0, |at| at + 1);
        }
    }
}

/// Whether a token is a sign of relation.
fn relates(tok: Tok<'_>) -> bool {
    matches!(
        tok,
        Tok::Equal
            | Tok::Unequal
            | Tok::Less
            | Tok::LessEqual
            | Tok::More
            | Tok::MoreEqual
            | Tok::Approx
    )
}

fn digit_at(text: &str, at: usize) -> bool {
    text.as_bytes().get(at).is_some_and(u8::is_ascii_digit)
}

/// Characters that carry no meaning: spaces, currency, marks that direct text.
fn ignorable(c: char) -> bool {
    c.is_whitespace()
        || matches!(c, '$' | '~' | '`' | '"' | '“' | '”' | '}' | '.' | '✓' | '✔' | '\u{feff}')
        || matches!(c, '\u{200b}'..='\u{200f}' | '\u{2060}'..='\u{2064}')
}
