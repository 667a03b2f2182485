//! Boolean queries: AND, OR, NOT, brackets, phrases, fields.

use crate::fold::{fold, words};
use crate::{Break, DEPTH_MAX};

/// The most different terms of two queries that are compared by truth table.
pub const TERMS_MAX: usize = 16;

/// Quotation marks around a phrase.
const QUOTES: [char; 4] = ['"', '“', '”', '„'];

/// A term: a word, a phrase or a prefix (`tumor*`), with its field.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Term {
    /// The field, in lower case: that of `title:word` or `word[tiab]`.
    pub field: Option<String>,
    /// The words, folded, one blank between them.
    pub text: String,
    /// Whether its last word may go on.
    pub is_prefix: bool,
}

/// A step of a query in postfix order.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Step {
    Term(usize),
    Not,
    And,
    Or,
}

/// A query.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Query {
    terms: Vec<Term>,
    steps: Vec<Step>,
}

/// A token that is not a term.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Sign {
    Open,
    Not,
    And,
    Or,
}

/// Reads a query: NOT binds strongest, then AND, then OR; operators in capitals, or `&`, `|`, `!`, and `-` with a
/// blank before it ("cat -dog").
/// Terms side by side are joined by AND where `implicit_and` allows it. Linear in the text.
///
/// # Errors
/// Brackets or quotation marks that do not pair up, an operator without its operand, an empty pair of
/// brackets, terms without an operator between them.
pub fn parse(text: &str, implicit_and: bool) -> Result<Query, Break> {
    let mut parser = Parser {
        text,
        at: 0,
        query: Query { terms: Vec::new(), steps: Vec::new() },
        signs: Vec::new(),
        wants_operand: true,
    };
    while parser.skip_space() {
        parser.token(implicit_and)?;
    }
    if parser.wants_operand {
        return parser.stop("operand", text.len());
    }
    while let Some((sign, at)) = parser.signs.pop() {
        if sign == Sign::Open {
            return parser.stop("bracket", at);
        }
        parser.query.steps.push(step(sign));
    }
    Ok(parser.query)
}

fn step(sign: Sign) -> Step {
    match sign {
        Sign::Not => Step::Not,
        Sign::And => Step::And,
        Sign::Or | Sign::Open => Step::Or,
    }
}

struct Parser<'t> {
    text: &'t str,
    at: usize,
    query: Query,
    /// Operators that wait for their operands, with their places.
    signs: Vec<(Sign, usize)>,
    wants_operand: bool,
}

impl Parser<'_> {
    fn stop<T>(&self, rule: &'static str, at: usize) -> Result<T, Break> {
        let end = self.text.ceil_char_boundary((at + 1).min(self.text.len()));
        Err(Break::new(rule, "", at..end))
    }

    fn skip_space(&mut self) -> bool {
        let rest = &self.text[self.at..];
        self.at += rest.len() - rest.trim_start().len();
        self.at < self.text.len()
    }

    /// Whether a minus negates what follows it: one before an operand or, behind one, one with a blank
    /// before it and none behind it ("cat -dog", but not "cat-dog").
    fn excludes(&self) -> bool {
        const SIGNS: [char; 3] = ['-', '−', '–'];
        let (head, rest) = self.text.split_at(self.at);
        let is_apart = head.ends_with(|c: char| c.is_whitespace() || c == '(');
        rest.strip_prefix(SIGNS).is_some_and(|behind| {
            self.wants_operand
                || is_apart
                    && !behind.starts_with(|c: char| c.is_whitespace() || SIGNS.contains(&c))
        })
    }

    fn token(&mut self, implicit_and: bool) -> Result<(), Break> {
        let (start, rest) = (self.at, &self.text[self.at..]);
        let ends = |c: char| c.is_whitespace() || "()".contains(c) || QUOTES.contains(&c);
        let word = &rest[..rest.find(ends).unwrap_or(rest.len())];
        let sign = match word {
            "AND" | "&&" | "&" => Some(Sign::And),
            "OR" | "||" | "|" => Some(Sign::Or),
            "NOT" => Some(Sign::Not),
            _ if rest.starts_with('!') || self.excludes() => Some(Sign::Not),
            _ => None,
        };
        match sign {
            Some(Sign::Not) => {
                self.at +=
                    if word == "NOT" { 3 } else { rest.chars().next().map_or(0, char::len_utf8) };
                if !self.wants_operand {
                    // "a NOT b" is "a AND NOT b".
                    self.operator(Sign::And, start)?;
                }
                self.signs.push((Sign::Not, start));
            }
            Some(sign) => {
                self.at += word.len();
                self.operator(sign, start)?;
            }
            None if rest.starts_with(')') => {
                self.at += 1;
                if self.wants_operand {
                    return self.stop("operand", start);
                }
                loop {
                    match self.signs.pop() {
                        Some((Sign::Open, _)) => return Ok(()),
                        Some((sign, _)) => self.query.steps.push(step(sign)),
                        None => return self.stop("bracket", start),
                    }
                }
            }
            None => {
                if !self.wants_operand {
                    if !implicit_and {
                        return self.stop("operator", start);
                    }
                    self.operator(Sign::And, start)?;
                }
                if rest.starts_with('(') {
                    self.at += 1;
                    self.signs.push((Sign::Open, start));
                } else {
                    self.term()?;
                }
            }
        }
        if self.signs.len() > DEPTH_MAX { self.stop("too-deep", start) } else { Ok(()) }
    }

    /// An operator between two operands: those that bind as strongly come first.
    fn operator(&mut self, sign: Sign, at: usize) -> Result<(), Break> {
        if self.wants_operand {
            return self.stop("operand", at);
        }
        let binds = |sign: Sign| match sign {
            Sign::Open => 0,
            Sign::Or => 1,
            Sign::And => 2,
            Sign::Not => 3,
        };
        while let Some((last, _)) = self.signs.pop_if(|(last, _)| binds(*last) >= binds(sign)) {
            self.query.steps.push(step(last));
        }
        self.signs.push((sign, at));
        self.wants_operand = true;
        Ok(())
    }

    fn term(&mut self) -> Result<(), Break> {
        let start = self.at;
        let mut rest = &self.text[start..];
        let mut field = None;
        let name = rest.find(|c: char| !(c.is_alphanumeric() || c == '_')).unwrap_or(rest.len());
        if name > 0
            && rest[name..].starts_with(':')
            && !rest[name + 1..].starts_with(char::is_whitespace)
        {
            field = Some(rest[..name].to_lowercase());
            rest = &rest[name + 1..];
        }
        let text = if let Some(inner) = rest.strip_prefix(QUOTES) {
            let Some((text, behind)) = inner.split_once(QUOTES) else {
                return self.stop("quotation", start);
            };
            rest = behind;
            text
        } else {
            let end = rest
                .find(|c: char| c.is_whitespace() || "()[]".contains(c) || QUOTES.contains(&c))
                .unwrap_or(rest.len());
            let (text, behind) = rest.split_at(end);
            rest = behind;
            text
        };
        if let Some(inner) = rest.strip_prefix('[') {
            let Some((tag, behind)) = inner.split_once(']') else {
                return self.stop("bracket", start);
            };
            field = Some(tag.trim().to_lowercase());
            rest = behind;
        }
        let is_prefix = text.ends_with('*') || rest.starts_with('*');
        rest = rest.strip_prefix('*').unwrap_or(rest);
        let term = Term { field, text: plain(text), is_prefix };
        if term.text.is_empty() {
            return self.stop("empty-term", start);
        }
        self.at = self.text.len() - rest.len();
        let known = self.query.terms.iter().position(|have| *have == term);
        let at = known.unwrap_or(self.query.terms.len());
        if known.is_none() {
            if at >= 1000 {
                return self.stop("too-many-terms", start);
            }
            self.query.terms.push(term);
        }
        self.query.steps.push(Step::Term(at));
        self.wants_operand = false;
        Ok(())
    }
}

fn plain(text: &str) -> String {
    let folded = fold(text, true);
    words(&folded).map(|(_, word)| word).collect::<Vec<_>>().join(" ")
}

impl Query {
    /// Its different terms, in the order in which they come first.
    pub fn terms(&self) -> &[Term] {
        &self.terms
    }

    /// The value of the query, given one for each term; `each` combines those of two operands. `None`
    /// never occurs in a parsed query.
    fn value<T>(
        &self,
        term: impl Fn(usize) -> T,
        not: impl Fn(T) -> T,
        each: impl Fn(T, T, bool) -> T,
    ) -> Option<T> {
        let mut stack = Vec::new();
        for step in &self.steps {
            let value = match step {
                Step::Term(at) => term(*at),
                Step::Not => not(stack.pop()?),
                Step::And | Step::Or => {
                    let (two, one) = (stack.pop()?, stack.pop()?);
                    each(one, two, *step == Step::And)
                }
            };
            stack.push(value);
        }
        stack.pop()
    }

    /// Whether the terms that are true make the query true.
    pub fn is_true(&self, term: impl Fn(&Term) -> bool) -> bool {
        let values: Vec<bool> = self.terms.iter().map(term).collect();
        #[expect(clippy::indexing_slicing, reason = "places are those of the terms")]
        let value = |at: usize| values[at];
        self.value(value, |one| !one, |one, two, and| if and { one && two } else { one || two })
            .unwrap_or(false)
    }
}

/// The rows of a word of a truth table in which its first six terms are true.
const LOW: [u64; 6] = [
    0xaaaa_aaaa_aaaa_aaaa,
    0xcccc_cccc_cccc_cccc,
    0xf0f0_f0f0_f0f0_f0f0,
    0xff00_ff00_ff00_ff00,
    0xffff_0000_ffff_0000,
    0xffff_ffff_0000_0000,
];

/// Whether two queries are true together for all values of their terms. `None` where they have more than
/// [`TERMS_MAX`] different ones. Pays a unit for each step and 64 rows of the truth table.
///
/// # Errors
/// What `pay` refuses.
pub fn equivalent<E>(
    one: &Query,
    two: &Query,
    pay: &mut dyn FnMut(u64) -> Result<(), E>,
) -> Result<Option<bool>, E> {
    let mut terms: Vec<&Term> = one.terms.iter().chain(&two.terms).collect();
    terms.sort();
    terms.dedup();
    if terms.len() > TERMS_MAX {
        return Ok(None);
    }
    // Bit n of word w is row 64 w + n; term t is true in the rows that have bit t.
    let words = 1_usize << terms.len().saturating_sub(6);
    let column = |query: &Query, word: usize| {
        let value = |at: usize| {
            #[expect(clippy::indexing_slicing, reason = "places are those of the terms")]
            let own = &query.terms[at];
            let place = terms.partition_point(|term| *term < own);
            let high = || if word >> (place - 6) & 1 == 1 { u64::MAX } else { 0 };
            LOW.get(place).copied().unwrap_or_else(high)
        };
        query.value(value, |one| !one, |one, two, and| if and { one & two } else { one | two })
    };
    pay(40 * words as u64 * (one.steps.len() + two.steps.len()) as u64)?;
    Ok(Some((0..words).all(|word| column(one, word) == column(two, word))))
}

/// A document: the words of its fields.
#[derive(Clone, Debug, Default)]
pub struct Document {
    fields: Vec<(String, String)>,
}

impl Document {
    /// A document of fields by name. Linear in them.
    pub fn new<'t>(fields: impl IntoIterator<Item = (&'t str, &'t str)>) -> Self {
        let field =
            |(name, text): (&str, &str)| (name.to_lowercase(), format!(" {} ", plain(text)));
        Self { fields: fields.into_iter().map(field).collect() }
    }

    /// Bytes of all fields.
    pub fn len(&self) -> usize {
        self.fields.iter().map(|(_, text)| text.len()).sum()
    }

    /// Whether there is no text.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Whether a field of the document, or any where the term names none, has its words. The tags of
    /// `PubMed` for titles and abstracts stand for fields of these names. Linear in the document.
    pub fn has(&self, term: &Term) -> bool {
        let wanted =
            if term.is_prefix { format!(" {}", term.text) } else { format!(" {} ", term.text) };
        let counts = |name: &str| match term.field.as_deref() {
            None | Some("all" | "tw" | "all fields" | "text word") => true,
            Some("ti" | "title") => name == "title",
            Some("ab") => name == "abstract",
            Some("tiab" | "title/abstract") => ["title", "abstract", "text"].contains(&name),
            Some("mh" | "mesh" | "mesh terms") => ["mesh", "mh", "keywords"].contains(&name),
            Some(own) => own == name,
        };
        self.fields.iter().any(|(name, text)| counts(name) && text.contains(&wanted))
    }
}
