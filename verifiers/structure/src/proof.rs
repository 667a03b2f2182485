//! Proofs as texts, without a prover: words that leave a gap, and whether a proof states what was asked.
//!
//! Comments and white space do not count, texts in quotes are one token. Linear in the texts.

use std::ops::Range;

use crate::{Break, has_word};

/// Whose language a proof is in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Prover {
    /// Lean 4.
    Lean,
    /// Rocq, once Coq.
    Coq,
    /// Isabelle.
    Isabelle,
    /// Dafny.
    Dafny,
}

/// What is known of a language.
struct Language {
    /// What begins a comment to the end of its line.
    line: &'static str,
    /// What begins and ends a comment; such comments nest.
    block: (&'static str, &'static str),
    /// Words that leave a gap, assume what is to be proved, or change what the statement means.
    gaps: &'static str,
    /// What may follow a statement.
    begins: &'static str,
    /// Words of which a proof has one; any proof does where there are none.
    ends: &'static str,
}

const LEAN: Language = Language {
    line: "--",
    block: ("/-", "-/"),
    gaps: "sorry sorryAx admit axiom constant native_decide unsafe implemented_by extern opaque macro \
           macro_rules notation infix infixl infixr prefix postfix syntax elab elab_rules run_cmd \
           debug.skipKernelTC",
    begins: ":= by where |",
    ends: "",
};
const COQ: Language = Language {
    line: "",
    block: ("(*", "*)"),
    gaps: "Admitted admit give_up Abort Axiom Axioms Parameter Parameters Conjecture Hypothesis Hypotheses \
           Variable Variables bypass_check Notation Infix",
    begins: ".",
    ends: "Qed Defined",
};
const ISABELLE: Language = Language {
    line: "",
    block: ("(*", "*)"),
    gaps: "sorry oops axiomatization quick_and_dirty skip_proofs notation",
    begins: "proof by apply using unfolding including supply",
    ends: "",
};
const DAFNY: Language = Language {
    line: "//",
    block: ("/*", "*/"),
    gaps: "assume expect axiom extern verify",
    begins: "{",
    ends: "",
};

/// What a statement may end with that is no part of it: the beginning of its proof, and a gap in it.
const OPEN_ENDS: &str = ":= by { } . Proof proof";

/// What stands between tokens.
const BETWEEN: char = '\0';

/// What is wrong with a proof.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Flaw {
    /// A word that leaves a gap, and its bytes.
    Gap(String, Range<usize>),
    /// The statement is not there, token by token.
    OtherStatement,
    /// Nothing follows the statement, or the proof is not closed.
    NoProof,
}

impl Prover {
    /// What fences of its language are marked with.
    pub fn fences(self) -> &'static [&'static str] {
        match self {
            Self::Lean => &["lean", "lean4"],
            Self::Coq => &["coq", "rocq"],
            Self::Isabelle => &["isabelle", "isar"],
            Self::Dafny => &["dafny"],
        }
    }

    fn language(self) -> &'static Language {
        match self {
            Self::Lean => &LEAN,
            Self::Coq => &COQ,
            Self::Isabelle => &ISABELLE,
            Self::Dafny => &DAFNY,
        }
    }

    /// What is wrong with a proof; of `allow`, words leave no gap. `statement` may end with the beginning of a
    /// proof. `None`: nothing that its text shows.
    ///
    /// # Errors
    /// A comment or a text in quotes without an end, in the proof.
    pub fn flaw(
        self,
        proof: &str,
        statement: Option<&str>,
        allow: &[String],
    ) -> Result<Option<Flaw>, Break> {
        let language = self.language();
        let tokens = tokens(proof, language)?;
        let is_gap =
            |word: &str| has_word(language.gaps, word) && !allow.iter().any(|own| own == word);
        if let Some(span) = tokens.iter().find(|span| is_gap(&proof[(*span).clone()])) {
            return Ok(Some(Flaw::Gap(proof[span.clone()].to_owned(), span.clone())));
        }
        let words = joined(tokens.iter().map(|span| &proof[span.clone()]));
        let body = match statement {
            None => words.as_str(),
            Some(statement) => {
                let own = joined(self.stated(statement)?.into_iter());
                let begins = |after: &&str| {
                    let next = after.split(BETWEEN).find(|word| !word.is_empty());
                    next.is_none_or(|next| has_word(language.begins, next))
                };
                let ends = memchr::memmem::find_iter(words.as_bytes(), own.as_bytes());
                let mut behind = ends.map(|at| &words[at + own.len() - 1..]);
                match behind.find(begins) {
                    None => return Ok(Some(Flaw::OtherStatement)),
                    Some(after) => after,
                }
            }
        };
        let mut body = body.split(BETWEEN).filter(|word| !word.is_empty());
        let is_proof = match language.ends {
            "" => body.any(|word| !has_word(OPEN_ENDS, word)),
            ends => body.any(|word| has_word(ends, word)),
        };
        Ok((!is_proof).then_some(Flaw::NoProof))
    }

    /// The tokens of a statement, without the beginning of its proof.
    ///
    /// # Errors
    /// A comment or a text in quotes without an end.
    pub fn stated(self, statement: &str) -> Result<Vec<&str>, Break> {
        let language = self.language();
        let tokens = tokens(statement, language)?;
        let mut words: Vec<&str> = tokens.into_iter().map(|span| &statement[span]).collect();
        let is_end = |word: &&str| has_word(OPEN_ENDS, word) || has_word(language.gaps, word);
        while words.last().is_some_and(is_end) {
            words.pop();
        }
        Ok(words)
    }
}

/// Tokens as one text in which they are searched, each between two marks.
fn joined<'t>(tokens: impl Iterator<Item = &'t str>) -> String {
    let mut text = String::from(BETWEEN);
    for token in tokens {
        text.extend(token.chars().filter(|c| *c != BETWEEN));
        text.push(BETWEEN);
    }
    text
}

/// The tokens of a text: words with their dots and primes, texts in quotes, and single marks.
fn tokens(text: &str, language: &Language) -> Result<Vec<Range<usize>>, Break> {
    let (open, close) = language.block;
    let mut tokens = Vec::new();
    let mut at = 0;
    while let Some(first) = text[at..].chars().next() {
        let rest = &text[at..];
        let length = if first.is_whitespace() {
            at += first.len_utf8();
            continue;
        } else if !language.line.is_empty() && rest.starts_with(language.line) {
            at += rest.find('\n').unwrap_or(rest.len());
            continue;
        } else if rest.starts_with(open) {
            let unclosed = || Break::new("unclosed-comment", "", at..text.len());
            at += comment(rest, open, close).ok_or_else(unclosed)?;
            continue;
        } else if first == '"' {
            let unclosed = || Break::new("unclosed-text", "", at..text.len());
            quoted(rest).ok_or_else(unclosed)?
        } else if is_of_word(first) {
            let word = rest.find(|c| !is_of_word(c) && c != '.').unwrap_or(rest.len());
            rest[..word].trim_end_matches('.').len()
        } else if rest.starts_with(":=") {
            2
        } else {
            first.len_utf8()
        };
        tokens.push(at..at + length);
        at += length;
    }
    Ok(tokens)
}

fn is_of_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_' || c == '\''
}

/// The length of a comment, with those in it.
fn comment(text: &str, open: &str, close: &str) -> Option<usize> {
    let (mut depth, mut at) = (0_usize, 0);
    loop {
        let rest = &text[at..];
        if rest.starts_with(open) {
            depth += 1;
            at += open.len();
        } else if rest.starts_with(close) {
            depth -= 1;
            at += close.len();
            if depth == 0 {
                return Some(at);
            }
        } else {
            at += rest.chars().next()?.len_utf8();
        }
    }
}

/// The length of a text in quotes.
fn quoted(text: &str) -> Option<usize> {
    let mut escaped = false;
    for (at, c) in text.char_indices().skip(1) {
        match c {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            '"' => return Some(at + 1),
            _ => {}
        }
    }
    None
}
