//! What a piece of a Python program defines and uses, by its lines.

use std::collections::BTreeSet;

/// The class in which `LeetCode` has its functions.
const SOLUTION: &str = "Solution";

/// What a piece of a program brings, and what it takes from elsewhere.
#[derive(Debug, Default)]
pub(crate) struct Outline {
    /// Functions and classes, and names that are assigned a `lambda`.
    pub(crate) defined: BTreeSet<String>,
    /// Other names that are assigned or imported at the margin.
    pub(crate) bound: BTreeSet<String>,
    /// Methods of a class named `Solution`.
    pub(crate) methods: BTreeSet<String>,
    /// Words outside of strings and comments that are no attributes.
    pub(crate) used: BTreeSet<String>,
    /// Functions of which only the signature is there, perhaps with what they are to do: their bodies are
    /// `...`, `pass`, a text, or an error that says so.
    pub(crate) hollow: BTreeSet<String>,
    /// A statement at the margin does something: it neither defines, imports nor assigns.
    pub(crate) acts: bool,
}

impl Outline {
    pub(crate) fn of(source: &str) -> Self {
        let mut outline = Self::default();
        let code = blanked(source);
        let mut class = "";
        for line in code.lines() {
            let at_margin = !line.starts_with([' ', '\t']) && !line.trim().is_empty();
            if at_margin {
                class = after_word(line, "class").map_or("", name);
                outline.statement(line);
            } else if class == SOLUTION
                && let Some(method) = function(line.trim_start())
            {
                outline.methods.insert(method.to_owned());
            }
        }
        outline.hollow = hollow(&code);
        outline.used = words(&code).filter(|word| !word.is_attribute).map(Word::owned).collect();
        outline
    }

    /// Whether the piece has `name` with a body.
    pub(crate) fn implements(&self, name: &str) -> bool {
        self.defines(name) && !self.hollow.contains(name)
    }

    /// Whether the piece has `name`, as a function or a class or as a method of `Solution`.
    pub(crate) fn defines(&self, name: &str) -> bool {
        self.defined.contains(name) || self.methods.contains(name)
    }

    fn statement(&mut self, line: &str) {
        if let Some(name) = function(line).or_else(|| after_word(line, "class").map(name)) {
            self.defined.insert(name.to_owned());
            return;
        }
        if let Some(names) = imported(line) {
            self.bound.extend(names.map(str::to_owned));
            return;
        }
        match assigned(line) {
            Some((name, value)) if value.starts_with("lambda") => {
                self.defined.insert(name.to_owned());
            }
            Some((name, _)) => {
                self.bound.insert(name.to_owned());
            }
            // What ends a bracket or a string of lines before it says nothing.
            None => self.acts |= !line.starts_with([')', ']', '}', '"', '@']),
        }
    }
}

/// The functions of blanked code whose bodies do nothing.
fn hollow(code: &str) -> BTreeSet<String> {
    let mut lines = code.lines().filter(|line| !line.trim().is_empty()).peekable();
    let mut found = BTreeSet::new();
    let margin = |line: &str| line.len() - line.trim_start().len();
    while let Some(line) = lines.next() {
        let Some(name) = function(line.trim_start()) else { continue };
        let depth = margin(line);
        let mut signature = line.to_owned();
        while is_open(&signature)
            && let Some(next) = lines.next()
        {
            signature.push_str(next);
        }
        let inline = signature.rsplit_once(':').map_or("", |(_, body)| body);
        let mut is_hollow = inline.trim().is_empty() || is_idle(inline.trim());
        while let Some(next) = lines.next_if(|next| margin(next) > depth) {
            is_hollow &= is_idle(next.trim());
        }
        if is_hollow {
            found.insert(name.to_owned());
        } else {
            found.remove(name);
        }
    }
    found
}

/// Whether a bracket is open at the end of blanked code.
fn is_open(code: &str) -> bool {
    let count = |brackets: [char; 3]| code.matches(brackets).count();
    count(['(', '[', '{']) > count([')', ']', '}'])
}

/// Whether a line of blanked code does nothing.
fn is_idle(line: &str) -> bool {
    let is_text = line.trim_matches(['"', '\'', ' ', 'r', 'f', 'u']).is_empty();
    line == "..." || line == "pass" || is_text || line.starts_with("raise NotImplementedError")
}

/// A word of a program.
#[derive(Clone, Copy)]
pub(crate) struct Word<'a> {
    text: &'a str,
    /// It follows a dot.
    is_attribute: bool,
}

impl Word<'_> {
    fn owned(self) -> String {
        self.text.to_owned()
    }
}

/// The names that code uses, outside of strings and comments.
pub(super) fn used(source: &str) -> BTreeSet<String> {
    words(&blanked(source)).filter(|word| !word.is_attribute).map(Word::owned).collect()
}

fn words(code: &str) -> impl Iterator<Item = Word<'_>> {
    let mut before = ' ';
    code.split_inclusive(|c: char| !is_word(c)).filter_map(move |piece| {
        let text = piece.trim_end_matches(|c| !is_word(c));
        let is_attribute = before == '.';
        before = piece.chars().next_back().unwrap_or(' ');
        let is_name = text.starts_with(|c: char| !c.is_ascii_digit());
        is_name.then_some(Word { text, is_attribute })
    })
}

/// The code with what is in strings and comments replaced by blanks; quotes stay. Lines and
/// offsets are those of the source.
pub(crate) fn blanked(source: &str) -> String {
    let mut out = String::with_capacity(source.len());
    let mut rest = source;
    while let Some(first) = rest.chars().next() {
        let (kept, skipped) = match first {
            '#' => (0, rest.find('\n').unwrap_or(rest.len())),
            '"' | '\'' => (1, text_length(rest, first)),
            c => (c.len_utf8(), c.len_utf8()),
        };
        let (piece, after) = rest.split_at(skipped);
        out.push_str(if kept == 1 && skipped > 1 { "\"" } else { &piece[..kept] });
        let inner = &piece[kept..];
        let blank = |byte: u8| if byte == b'\n' { '\n' } else { ' ' };
        out.extend(inner.bytes().map(blank));
        rest = after;
    }
    out
}

/// The length of the string literal that `rest` begins with; one in a single line ends with it.
fn text_length(rest: &str, quote: char) -> usize {
    let triple = ["\"\"\"", "'''"].into_iter().find(|quotes| rest.starts_with(quotes));
    let mut at = triple.map_or(1, str::len);
    while let Some(tail) = rest.get(at..).filter(|tail| !tail.is_empty()) {
        match (tail.chars().next(), triple) {
            (Some('\\'), _) => at += tail.chars().take(2).map(char::len_utf8).sum::<usize>(),
            (_, Some(quotes)) if tail.starts_with(quotes) => return at + 3,
            (Some(c), None) if c == quote => return at + 1,
            (Some('\n'), None) => return at,
            (c, _) => at += c.map_or(1, char::len_utf8),
        }
    }
    rest.len()
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// The name that `text` begins with.
pub(super) fn name(text: &str) -> &str {
    text.split(|c| !is_word(c)).next().unwrap_or_default()
}

fn after_word<'a>(line: &'a str, word: &str) -> Option<&'a str> {
    let rest = line.strip_prefix(word)?;
    rest.starts_with([' ', '\t']).then(|| rest.trim_start())
}

/// The function that a line defines.
pub(crate) fn function(line: &str) -> Option<&str> {
    let line = after_word(line, "async").unwrap_or(line);
    after_word(line, "def").map(name).filter(|name| !name.is_empty())
}

pub(super) fn imported(line: &str) -> Option<impl Iterator<Item = &str>> {
    let names = match after_word(line, "from") {
        Some(rest) => rest.split_once(" import ").map(|(_, names)| names),
        None => after_word(line, "import"),
    };
    names.map(|names| {
        names.split(',').map(|item| {
            let item = item.trim().trim_start_matches('(');
            name(item.split_once(" as ").map_or(item, |(_, name)| name.trim()))
        })
    })
}

/// The name that a line assigns, and what.
pub(super) fn assigned(line: &str) -> Option<(&str, &str)> {
    let bound = name(line);
    let rest = line.get(bound.len()..)?.trim_start();
    let rest = match rest.strip_prefix(':') {
        Some(annotated) => annotated.split_once('=')?.1,
        None => rest.strip_prefix('=')?,
    };
    (!bound.is_empty() && !rest.starts_with('=')).then(|| (bound, rest.trim_start()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn list(names: &BTreeSet<String>) -> Vec<&str> {
        names.iter().map(String::as_str).collect()
    }

    #[test]
    fn what_a_program_defines_and_uses() {
        let outline = Outline::of(
            "import math as m, os\nfrom a.b import (c, d as e)\nX: int = 3\nf = lambda x: g(x)\n\
             class Solution:\n    def solve(self, q):\n        return h.attr(q)\n\
             async def run():\n    '''\n\ndef no(): pass\n'''\n    return \"def neither()\"  # k()\n",
        );
        assert_eq!(list(&outline.defined), ["Solution", "f", "run"]);
        assert_eq!(list(&outline.bound), ["X", "c", "e", "m", "os"]);
        assert_eq!(list(&outline.methods), ["solve"]);
        assert!(outline.used.contains("g") && outline.used.contains("h"));
        assert!(!outline.used.contains("attr") && !outline.used.contains("k"));
        assert!(!outline.used.contains("neither") && !outline.acts);
        assert!(outline.defines("solve") && outline.defines("run") && !outline.defines("X"));
        assert!(Outline::of("x = 1\nprint(x)\n").acts);
        assert!(Outline::of("if x == 1:\n    pass\n").acts);
    }

    #[test]
    fn what_is_blanked_has_the_same_length() {
        for source in ["a = 'é' # ü\nb", "'''x\n'''", "'\\'' + \"\"\"\\", "r'\\\n", "\"", "#", "''"]
        {
            let code = blanked(source);
            assert_eq!(code.len(), source.len(), "{source:?} {code:?}");
            assert_eq!(code.lines().count(), source.lines().count());
        }
    }
}
