//! LaTeX: a scanner of its tokens, and whether groups, environments, delimiters and formulas balance.

use std::ops::Range;

use memchr::memmem;

use crate::{Break, DEPTH_MAX, has_word};

/// What a token is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Token<'t> {
    /// A command, without its backslash: `frac`, `{`, `\`.
    Command(&'t str),
    /// `{`
    Open,
    /// `}`
    Close,
    /// `$` or `$$`
    Dollar(&'t str),
    /// A letter, digit or sign.
    Sign(char),
    /// White space; more than one line end is [`Token::Paragraph`].
    Space,
    /// A blank line.
    Paragraph,
}

/// The tokens of a text with their bytes; comments are left out. Linear in the text.
pub fn tokens(text: &str) -> Tokens<'_> {
    Tokens { text, at: 0 }
}

/// An iterator of tokens.
pub struct Tokens<'t> {
    text: &'t str,
    at: usize,
}

impl<'t> Tokens<'t> {
    /// The text that is not read yet.
    pub fn rest(&self) -> &'t str {
        &self.text[self.at..]
    }

    /// Where it begins.
    pub fn at(&self) -> usize {
        self.at
    }

    /// Leaves out some bytes of it.
    pub fn pass(&mut self, bytes: usize) {
        self.at = self.text.ceil_char_boundary(self.at.saturating_add(bytes).min(self.text.len()));
    }

    /// The text of the group that comes next, `None` where none does or where it does not end in its
    /// line.
    pub fn group(&mut self) -> Option<&'t str> {
        let inner = self.rest().trim_start_matches([' ', '*']).strip_prefix('{')?;
        let (name, _) = inner.split_once('}').filter(|(name, _)| !name.contains(['{', '\n']))?;
        self.at = self.text.len() - inner.len() + name.len() + 1;
        Some(name.trim())
    }
}

impl<'t> Iterator for Tokens<'t> {
    type Item = (Token<'t>, Range<usize>);

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            let (start, rest) = (self.at, self.rest());
            let first = rest.chars().next()?;
            let (token, length) = match first {
                '%' => {
                    self.pass(rest.find('\n').map_or(rest.len(), |at| at + 1));
                    continue;
                }
                '\\' => {
                    let name = &rest[1..];
                    let letters =
                        name.find(|c: char| !c.is_ascii_alphabetic()).unwrap_or(name.len());
                    let one = name.chars().next().map_or(0, char::len_utf8);
                    let length = if letters == 0 { one } else { letters };
                    (Token::Command(&name[..length]), 1 + length)
                }
                '{' => (Token::Open, 1),
                '}' => (Token::Close, 1),
                '$' => {
                    let length = 1 + usize::from(rest.starts_with("$$"));
                    (Token::Dollar(&rest[..length]), length)
                }
                c if c.is_whitespace() => {
                    let blank = rest.len() - rest.trim_start().len();
                    let lines = rest[..blank].matches('\n').count();
                    (if lines > 1 { Token::Paragraph } else { Token::Space }, blank)
                }
                c => (Token::Sign(c), c.len_utf8()),
            };
            self.at += length;
            return Some((token, start..self.at));
        }
    }
}

/// A text with a backslash before each `$` that is money and no mark of a formula: one that no other
/// closes behind a sign on its line, as Pandoc reads them. Linear in the text.
pub fn with_money(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('$') {
        let (head, behind) = (&rest[..at], &rest[at + 1..]);
        out.push_str(head);
        let close = behind.find(['$', '\n']).filter(|close| behind[*close..].starts_with('$'));
        let is_formula = close.is_some_and(|close| {
            let (inner, after) = (&behind[..close], &behind[close + 1..]);
            let is_tight = !inner.starts_with(char::is_whitespace)
                && !inner.ends_with(|c: char| c.is_whitespace() || c == '\\');
            inner.is_empty() || is_tight && !after.starts_with(|c: char| c.is_ascii_digit())
        });
        let length = if let Some(close) = close.filter(|_| is_formula && !head.ends_with('\\')) {
            close + 2
        } else {
            out.push_str(if head.ends_with('\\') { "" } else { "\\" });
            1
        };
        out.push_str(&rest[at..at + length]);
        rest = &rest[at + length..];
    }
    out.push_str(rest);
    out
}

/// Environments whose content is no LaTeX.
const VERBATIM: [&str; 7] =
    ["verbatim", "verbatim*", "lstlisting", "minted", "comment", "Verbatim", "filecontents"];

/// Environments of formulas.
const FORMULAS: &str = "equation align gather multline eqnarray math displaymath flalign alignat";

/// Commands whose argument may hold signs that are markup elsewhere.
const NAMES: &str = "label ref eqref pageref cite citep citet url href includegraphics input \
     include bibliography path usepackage documentclass autoref cref begin end";

/// Commands behind which a formula may hold text, and text a formula.
const TEXTS: [&str; 6] = ["text", "mbox", "textrm", "textbf", "textit", "intertext"];

/// What is open: a group, an environment, a formula, a pair of `\left` and `\right`.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Open<'t> {
    Group { is_text: bool },
    Environment(&'t str),
    Formula(&'t str),
    Left,
}

/// The parts of a document: environments that are complete and commands that are used, in order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Parts<'t> {
    /// Names of environments, in the order of their ends.
    pub environments: Vec<&'t str>,
    /// Names of commands.
    pub commands: Vec<&'t str>,
    /// How many formulas there are.
    pub formulas: usize,
}

/// Reads a document, or a formula where `is_formula`, and gives its parts. Linear in the text.
///
/// # Errors
/// Braces, environments, `$`, `\(`, `\[`, `\left` and `\right` that do not pair up; a blank line in a
/// formula; `_`, `^` outside of one; `&` outside of an environment; `\left` without a delimiter.
pub fn balance(text: &str, is_formula: bool) -> Result<Parts<'_>, Break> {
    let mut reader =
        Reader { open: Vec::new(), is_formula, parts: Parts::default(), text_next: false };
    let mut tokens = tokens(text);
    while let Some((token, span)) = tokens.next() {
        if let Err((rule, what)) = reader.token(token, span.start, &mut tokens) {
            return Err(Break::new(rule, what, span));
        }
    }
    match reader.open.last() {
        Some((open, span)) => Err(Break::new("unclosed", open.shown(), *span..*span + 1)),
        None => Ok(reader.parts),
    }
}

struct Reader<'t> {
    open: Vec<(Open<'t>, usize)>,
    is_formula: bool,
    parts: Parts<'t>,
    /// Whether the next group is text.
    text_next: bool,
}

/// A rule that is broken, and by what.
type Flaw = (&'static str, String);

impl<'t> Reader<'t> {
    fn token(&mut self, token: Token<'t>, at: usize, tokens: &mut Tokens<'t>) -> Result<(), Flaw> {
        let text_next = std::mem::take(&mut self.text_next);
        match token {
            Token::Command(name) => self.command(name, at, tokens),
            Token::Open => self.push(Open::Group { is_text: text_next }, at),
            Token::Close => self.pop("}", |open| matches!(open, Open::Group { .. })),
            Token::Dollar(mark) => self.dollar(mark, at, tokens),
            Token::Sign(sign @ ('_' | '^')) if !self.in_formula() => {
                Err(("outside-formula", sign.into()))
            }
            Token::Sign('&') => {
                let is_table = |open: &Open<'_>| matches!(open, Open::Environment(name) if *name != "document");
                let inside = self.open.iter().any(|(open, _)| is_table(open));
                if inside { Ok(()) } else { Err(("outside-table", "&".to_owned())) }
            }
            Token::Paragraph if self.in_formula() && !self.is_formula => {
                Err(("paragraph-in-formula", String::new()))
            }
            Token::Space => {
                self.text_next = text_next;
                Ok(())
            }
            _ => Ok(()),
        }
    }

    /// Whether the place is in a formula, by the innermost thing that says so.
    fn in_formula(&self) -> bool {
        let says = |(open, _): &(Open<'_>, usize)| match open {
            Open::Formula(_) | Open::Left => Some(true),
            Open::Group { is_text: true } => Some(false),
            Open::Group { is_text: false } => None,
            Open::Environment(name) => {
                let name = name.trim_end_matches('*');
                if has_word(FORMULAS, name) {
                    Some(true)
                } else {
                    (name == "document").then_some(false)
                }
            }
        };
        self.open.iter().rev().find_map(says).unwrap_or(self.is_formula)
    }

    fn push(&mut self, open: Open<'t>, at: usize) -> Result<(), Flaw> {
        if self.open.len() >= DEPTH_MAX {
            return Err(("too-deep", String::new()));
        }
        self.open.push((open, at));
        Ok(())
    }

    fn pop(&mut self, what: &str, fits: impl Fn(Open<'t>) -> bool) -> Result<(), Flaw> {
        match self.open.pop() {
            Some((open, _)) if fits(open) => Ok(()),
            Some((open, _)) => Err(("mismatch", format!("{what} closes {}", open.shown()))),
            None => Err(("mismatch", format!("{what} closes nothing"))),
        }
    }

    fn dollar(&mut self, mark: &'t str, at: usize, tokens: &mut Tokens<'t>) -> Result<(), Flaw> {
        match self.open.last().map(|(open, _)| *open) {
            Some(Open::Formula("$")) if mark == "$$" => {
                // Of `$x$$y$`, the first sign of the pair closes.
                self.open.pop();
                self.parts.formulas += 1;
                tokens.at -= 1;
                Ok(())
            }
            Some(Open::Formula(open)) if open == mark => {
                self.open.pop();
                self.parts.formulas += 1;
                Ok(())
            }
            _ if self.in_formula() => Err(("mismatch", format!("{mark} in a formula"))),
            _ => self.push(Open::Formula(mark), at),
        }
    }

    /// `\left`, `\right` or `\middle`, and its delimiter.
    fn delimiter(&mut self, name: &str, at: usize, tokens: &mut Tokens<'t>) -> Result<(), Flaw> {
        let rest = tokens.rest().trim_start();
        if !is_delimiter(rest) {
            return Err(("delimiter", format!("\\{name} without a delimiter")));
        }
        let signs = usize::from(rest.starts_with('\\'));
        let sign = rest.chars().nth(signs).filter(|sign| signs == 0 || !sign.is_ascii_alphabetic());
        if let Some(sign) = sign {
            tokens.pass(tokens.rest().len() - rest.len() + signs + sign.len_utf8());
        }
        match name {
            "left" => self.push(Open::Left, at),
            "right" => self.pop("\\right", |open| open == Open::Left),
            _ => Ok(()),
        }
    }

    fn command(&mut self, name: &'t str, at: usize, tokens: &mut Tokens<'t>) -> Result<(), Flaw> {
        self.parts.commands.push(name);
        match name {
            "" => Err(("stray", "\\ at the end".to_owned())),
            "begin" | "end" => {
                let own = tokens
                    .group()
                    .ok_or_else(|| ("environment", format!("\\{name} without a name")))?;
                if name == "end" {
                    self.pop(&format!("\\end{{{own}}}"), |open| open == Open::Environment(own))?;
                    self.parts.environments.push(own);
                    return Ok(());
                }
                self.push(Open::Environment(own), at)?;
                if VERBATIM.contains(&own) {
                    let close = format!("\\end{{{own}}}");
                    let rest = tokens.rest();
                    tokens.pass(
                        memmem::find(rest.as_bytes(), close.as_bytes()).unwrap_or(rest.len()),
                    );
                }
                Ok(())
            }
            "(" | "[" if self.in_formula() => Err(("mismatch", format!("\\{name} in a formula"))),
            "(" | "[" => self.push(Open::Formula(name), at),
            ")" | "]" => {
                let open = if name == ")" { "(" } else { "[" };
                self.parts.formulas += 1;
                self.pop(&format!("\\{name}"), |own| own == Open::Formula(open))
            }
            "left" | "right" | "middle" => self.delimiter(name, at, tokens),
            "verb" => verbatim(tokens),
            name if has_word(NAMES, name) => {
                let rest = tokens.rest();
                let option = rest.strip_prefix('[').and_then(|inner| inner.find(']'));
                tokens.pass(option.map_or(0, |end| end + 2));
                tokens.group();
                Ok(())
            }
            name => {
                self.text_next = TEXTS.contains(&name);
                Ok(())
            }
        }
    }
}

/// Leaves out `\verb|...|`.
fn verbatim(tokens: &mut Tokens<'_>) -> Result<(), Flaw> {
    let rest = tokens.rest().trim_start_matches('*');
    let mark = rest.chars().next().filter(|c| !c.is_whitespace());
    let end = mark.and_then(|mark| rest.get(mark.len_utf8()..)?.split('\n').next()?.find(mark));
    let (Some(mark), Some(end)) = (mark, end) else {
        return Err(("unclosed", "\\verb".to_owned()));
    };
    tokens.pass(tokens.rest().len() - rest.len() + end + 2 * mark.len_utf8());
    Ok(())
}

impl Open<'_> {
    fn shown(self) -> String {
        match self {
            Open::Group { .. } => "{".to_owned(),
            Open::Environment(name) => format!("\\begin{{{name}}}"),
            Open::Formula(mark) if mark.starts_with('$') => mark.to_owned(),
            Open::Formula(mark) => format!("\\{mark}"),
            Open::Left => "\\left".to_owned(),
        }
    }
}

/// Whether a delimiter stands at the start.
fn is_delimiter(text: &str) -> bool {
    const NAMED: &str = "langle rangle lvert rvert lVert rVert lfloor rfloor lceil rceil lbrace \
         rbrace lbrack rbrack vert Vert uparrow downarrow updownarrow backslash lgroup rgroup";
    let Some(command) = text.strip_prefix('\\') else {
        return text.starts_with(['(', ')', '[', ']', '|', '/', '.', '<', '>', '⟨', '⟩']);
    };
    let length = command.find(|c: char| !c.is_ascii_alphabetic()).unwrap_or(command.len());
    command.starts_with(['{', '}', '|']) || has_word(NAMED, &command[..length])
}
