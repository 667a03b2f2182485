//! Why a text is not read as calls.

use std::fmt;
use std::ops::Range;

/// Why a text that attempts a call is not read as one, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// What is wrong.
    pub code: Code,
    /// The bytes of the text that are wrong; empty at the place where something is missing.
    pub span: Range<usize>,
}

macro_rules! codes {
    ($($name:ident = $word:literal,)*) => {
        /// What is wrong with an attempted call.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum Code { $(#[doc = $word] $name,)* }

        impl Code {
            /// The fixed word that evidence shows.
            pub fn as_str(self) -> &'static str {
                match self { $(Self::$name => $word,)* }
            }
        }
    };
}

// `unexpected` is anything that no other code says. `expression`: arithmetic, a variable or a
// nested call in the place of a literal; nothing is evaluated. `bad-escape` has halves of surrogate
// pairs too.
codes! {
    Truncated = "truncated",
    TrailingComma = "trailing-comma",
    DuplicateKey = "duplicate-key",
    SingleQuotes = "single-quotes",
    UnquotedKey = "unquoted-key",
    BadLiteral = "bad-literal",
    BadNumber = "bad-number",
    BadEscape = "bad-escape",
    ControlCharacter = "control-character",
    Unexpected = "unexpected",
    TooDeep = "too-deep",
    NotACall = "not-a-call",
    BadName = "bad-name",
    NoArguments = "no-arguments",
    ArgumentsNotObject = "arguments-not-object",
    UnclosedTag = "unclosed-tag",
    UnopenedTag = "unopened-tag",
    TextAfter = "text-after",
    MixedFormats = "mixed-formats",
    SeveralBlocks = "several-blocks",
    Expression = "expression",
    PositionalAfterNamed = "positional-after-named",
    Unnamed = "unnamed-argument",
}

impl Refusal {
    pub(crate) fn new(code: Code, span: Range<usize>) -> Self {
        Self { code, span }
    }

    /// The same, where the text that was read starts at `offset` of another.
    pub(crate) fn shifted(self, offset: usize) -> Self {
        Self { span: self.span.start + offset..self.span.end + offset, ..self }
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} at bytes {}..{}", self.code.as_str(), self.span.start, self.span.end)
    }
}

impl std::error::Error for Refusal {}
