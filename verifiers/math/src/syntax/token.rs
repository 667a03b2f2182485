//! The tokens of a mathematical text.

use super::ast::Rel;

/// A token; slices point into the text.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Tok<'a> {
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
    /// An accent over what follows, by its name.
    Accent(&'static str),
    Not,
    Begin(&'a str),
    End,
    /// A multiplier: a dozen, a million.
    Scale(u64),
    /// The sign of a currency, by its name.
    Currency(&'static str),
    /// The infix commands `\over` and `\choose`.
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
    /// A sign of relation, or an arrow: what a variable tends to.
    Rel(Rel),
    /// A relation that is not read.
    Similar,
    /// The remainder of a division.
    Mod,
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
    /// The start of a qualification: "for all x", "where n is whole".
    Stop,
}

/// A token, with whether space is before it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Token<'a> {
    pub(crate) tok: Tok<'a>,
    pub(crate) spaced: bool,
    /// Where it begins in the text, in bytes.
    pub(crate) at: usize,
}

/// How a comma between digits is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Commas {
    /// `1,234` is one number.
    Thousands,
    /// `1,234` is two numbers.
    Separate,
    /// `1,22` is 1.22.
    Decimal,
}

/// Whether a token is a sign of relation.
pub(crate) fn relates(tok: Tok<'_>) -> bool {
    matches!(tok, Tok::Rel(rel) if !matches!(rel, Rel::In | Rel::To))
}
