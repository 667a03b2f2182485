//! Proofs as texts, without a prover: words that leave a gap, and whether a proof states what was asked.
//!
//! Comments and white space do not count, texts in quotes are one token. Linear in the texts.

use std::collections::BTreeSet;
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
    /// Whether a backslash escapes in a text in quotes.
    escapes: bool,
    /// Words that leave a gap, or trust a program.
    gaps: &'static str,
    /// Words that assume what is to be proved, but for those of the statement itself.
    assumes: &'static str,
    /// Words that change what a statement means, but for those of the statement itself.
    bends: &'static str,
    /// Words that define the name behind them.
    defines: &'static str,
    /// What may follow a statement.
    begins: &'static str,
    /// Words of which a proof has one; any proof does where there are none.
    ends: &'static str,
}

const LEAN: Language = Language {
    line: "--",
    block: ("/-", "-/"),
    escapes: true,
    gaps: "sorry sorryAx admit stop native_decide native bv_decide bv_check ofReduceBool ofReduceNat trustCompiler \
           Lean.ofReduceBool Lean.ofReduceNat Lean.trustCompiler unsafe implemented_by extern elab elab_rules \
           by_elab run_cmd run_elab run_meta run_tac initialize exit guard_msgs debug.skipKernelTC",
    assumes: "axiom constant opaque",
    bends: "variable variables include instance default_instance notation notation3 infix infixl infixr prefix \
            postfix macro macro_rules syntax binder_predicate unif_hint renaming",
    defines: "def abbrev structure inductive class alias",
    begins: ":= by where |",
    ends: "",
};
const COQ: Language = Language {
    line: "",
    block: ("(*", "*)"),
    escapes: false,
    gaps: "Admitted admit Admit give_up Abort bypass_check Checking native_compute vm_cast_no_check \
           native_cast_no_check Reset",
    assumes: "Axiom Axioms Parameter Parameters Conjecture Conjectures Hypothesis Hypotheses Variable Variables",
    bends: "Context Notation Infix",
    defines: "Definition Fixpoint CoFixpoint Function Inductive CoInductive Variant Record Structure Class Let Module",
    begins: ".",
    ends: "Qed Defined",
};
const ISABELLE: Language = Language {
    line: "",
    block: ("(*", "*)"),
    escapes: true,
    gaps: "sorry oops quick_and_dirty skip_proofs oracle ML ML_file ML_prf ML_val ML_command setup local_setup \
           method_setup tactic raw_tactic cheat_tac Skip_Proof Skip_Proof.cheat_tac",
    assumes: "axiomatization",
    bends: "context locale notation no_notation syntax translations overloading",
    defines: "definition fun function primrec primcorec abbreviation datatype codatatype type_synonym typedef \
              record inductive coinductive consts",
    begins: "proof by apply using unfolding including supply",
    ends: "",
};
const DAFNY: Language = Language {
    line: "//",
    block: ("/*", "*/"),
    escapes: true,
    gaps: "assume expect verify",
    assumes: "axiom extern",
    bends: "",
    defines: "",
    begins: "{",
    ends: "",
};

/// What a statement may end with that is no part of it: the beginning of its proof, and a gap in it.
const OPEN_ENDS: &str = ":= by { } . Proof proof";

/// What stands between tokens.
const BETWEEN: char = '\0';

/// The most tokens between a word that defines and the name.
const NAME_TOKENS_MAX: usize = 16;

/// What is wrong with a proof.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Flaw {
    /// A word that leaves a gap, or a name of the statement that is defined anew; and its bytes.
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
        let words: Vec<&str> = tokens.iter().map(|span| &proof[span.clone()]).collect();
        let is_allowed = |word: &str| allow.iter().any(|own| own == word);
        let gap = |at: usize, word: &str| {
            Ok(tokens.get(at).map(|span| Flaw::Gap(word.to_owned(), span.clone())))
        };
        let lists = |list: &str, word: &str| has_word(list, bare(word)) && !is_allowed(word);
        let found = words.iter().enumerate().find(|(_, word)| lists(language.gaps, word));
        if let Some((at, word)) = found {
            return gap(at, word);
        }
        let text = joined(words.iter().copied());
        let (own, names) = match statement {
            None => (Some(0..0), BTreeSet::new()),
            Some(statement) => {
                let stated = self.stated(statement)?;
                (stands(&text, &stated, language), names(&stated))
            }
        };
        // What a proof without a statement means is its own.
        let bends = if statement.is_some() { language.bends } else { "" };
        for (at, word) in words.iter().enumerate() {
            if own.as_ref().is_some_and(|own| own.contains(&at)) {
                continue;
            }
            if lists(language.assumes, word) || lists(bends, word) {
                return gap(at, word);
            }
            let defined = words.get(at + 1..).filter(|_| has_word(language.defines, word));
            let name = defined.and_then(defined_name);
            if let Some(name) = name.filter(|name| names.contains(name) && !is_allowed(name)) {
                return gap(at, name);
            }
        }
        let Some(own) = own else { return Ok(Some(Flaw::OtherStatement)) };
        let mut body = words.iter().skip(own.end);
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

/// A name without the mark of the root of all names.
fn bare(word: &str) -> &str {
    word.strip_prefix("_root_.").unwrap_or(word)
}

/// The tokens of a proof that are those of its statement, where a proof may follow.
fn stands(text: &str, stated: &[&str], language: &Language) -> Option<Range<usize>> {
    let own = joined(stated.iter().copied());
    let begins = |at: &usize| {
        let mut after = text[at + own.len() - 1..].split(BETWEEN);
        after.find(|word| !word.is_empty()).is_none_or(|next| has_word(language.begins, next))
    };
    let at = memchr::memmem::find_iter(text.as_bytes(), own.as_bytes()).find(begins)?;
    let first = text[..at].matches(BETWEEN).count();
    Some(first..first + stated.len())
}

/// The words of a statement, without the parts before their last dot; not those that it binds: `(n : nat)`.
fn names<'t>(stated: &[&'t str]) -> BTreeSet<&'t str> {
    let (mut names, mut bound) = (BTreeSet::new(), BTreeSet::new());
    let mut binds = false;
    for token in stated.iter().rev() {
        let is_word = token.starts_with(is_of_word);
        binds = *token == ":" || binds && is_word;
        match (is_word, binds) {
            (true, true) => bound.extend(token.rsplit('.').next()),
            (true, false) => names.extend(token.rsplit('.').next()),
            (false, _) => names.extend(token.split(|c| !is_of_word(c))),
        }
    }
    names.retain(|name| !name.is_empty() && !bound.contains(name));
    names
}

/// The name that follows a word that defines one, without the parts before its last dot.
fn defined_name<'t>(behind: &[&'t str]) -> Option<&'t str> {
    let mut depth = 0_usize;
    for token in behind.iter().take(NAME_TOKENS_MAX) {
        match *token {
            "(" | "[" => depth += 1,
            ")" | "]" => depth = depth.saturating_sub(1),
            ":" | "Import" | "Export" => {}
            token if depth == 0 => {
                let mut words = token.split(|c| !is_of_word(c)).filter(|word| !word.is_empty());
                return if token.starts_with('"') { words.next() } else { words.next_back() };
            }
            _ => {}
        }
    }
    None
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
        } else if let Some((open, close)) = raw(rest, language) {
            let unclosed = || Break::new("unclosed-text", "", at..text.len());
            open + close.len() + rest[open..].find(&close).ok_or_else(unclosed)?
        } else if first == '"' {
            let unclosed = || Break::new("unclosed-text", "", at..text.len());
            quoted(rest, language.escapes).ok_or_else(unclosed)?
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

/// What opens and closes a quotation in which nothing escapes: `'"'`, `r#"..."#` of Lean, `@"..."` of Dafny.
fn raw(text: &str, language: &Language) -> Option<(usize, String)> {
    let is = |block: &Language| language.block == block.block;
    if (is(&LEAN) || is(&DAFNY)) && (text.starts_with("'\"'") || text.starts_with("'\\\"'")) {
        return Some((2, "'".to_owned()));
    }
    if is(&DAFNY) && text.starts_with("@\"") {
        return Some((2, "\"".to_owned()));
    }
    let behind = text.strip_prefix('r').filter(|_| is(&LEAN))?;
    let inner = behind.trim_start_matches('#');
    let hashes = behind.len() - inner.len();
    inner.starts_with('"').then(|| (hashes + 2, format!("\"{}", "#".repeat(hashes))))
}

/// The length of a text in quotes.
fn quoted(text: &str, escapes: bool) -> Option<usize> {
    let mut is_next = false;
    for (at, c) in text.char_indices().skip(1) {
        match c {
            _ if is_next => is_next = false,
            '\\' if escapes => is_next = true,
            '"' => return Some(at + 1),
            _ => {}
        }
    }
    None
}
