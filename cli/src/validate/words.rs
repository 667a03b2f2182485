//! The words of a script: names, texts, numbers and signs, without comments.

use std::ops::Range;

/// A word, and its bytes in the source.
#[derive(Clone, Debug)]
pub(super) struct Token {
    pub(super) word: Word,
    pub(super) at: Range<usize>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Word {
    Name(String),
    Text(String),
    Number(String),
    Sign(char),
    /// The end of a line, outside of brackets.
    Line,
}

/// What scripts are written in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Language {
    Rhai,
    Python,
}

struct Scanner<'a> {
    source: &'a str,
    language: Language,
    at: usize,
    end: usize,
    depth: usize,
    tokens: Vec<Token>,
}

pub(super) fn words(source: &str, language: Language) -> Vec<Token> {
    let end = source.len();
    let mut scanner = Scanner { source, language, at: 0, end, depth: 0, tokens: Vec::new() };
    scanner.run();
    scanner.tokens
}

impl<'a> Scanner<'a> {
    fn rest(&self) -> &'a str {
        self.source.get(self.at..self.end).unwrap_or_default()
    }

    fn run(&mut self) {
        let is_rhai = self.language == Language::Rhai;
        while let Some(char) = self.rest().chars().next() {
            let comment = if is_rhai { "//" } else { "#" };
            if self.rest().starts_with(comment) {
                self.at += self.rest().find('\n').unwrap_or(self.rest().len());
            } else if is_rhai && self.rest().starts_with("/*") {
                self.block_comment();
            } else if is_rhai && char == '`' {
                self.template();
            } else if is_rhai && char == '\'' {
                self.text("'", false);
                // A character names nothing.
                self.tokens.pop();
            } else if char == '"' || char == '\'' {
                self.quoted(char, false);
            } else if char.is_alphabetic() || char == '_' {
                self.name();
            } else if char.is_ascii_digit() {
                self.number();
            } else {
                self.sign(char);
            }
        }
    }

    fn push(&mut self, word: Word, start: usize) {
        self.tokens.push(Token { word, at: start..self.at });
    }

    fn sign(&mut self, char: char) {
        let start = self.at;
        self.at += char.len_utf8();
        match char {
            '(' | '[' | '{' => self.depth += 1,
            ')' | ']' | '}' => self.depth = self.depth.saturating_sub(1),
            '\\' if self.rest().starts_with('\n') => return self.at += 1,
            '\n' => {
                let is_open = self.language == Language::Python && self.depth > 0;
                if !is_open {
                    self.push(Word::Line, start);
                }
                return;
            }
            _ if char.is_whitespace() => return,
            _ => {}
        }
        self.push(Word::Sign(char), start);
    }

    fn name(&mut self) {
        let start = self.at;
        let is_word = |char: char| char.is_alphanumeric() || char == '_';
        let name = self.rest();
        let length = name.find(|char| !is_word(char)).unwrap_or(name.len());
        let name = name.get(..length).unwrap_or_default();
        self.at += length;
        let lower = name.to_ascii_lowercase();
        let quote = self.rest().chars().next().filter(|char| ['"', '\''].contains(char));
        let is_prefix = ["r", "b", "f", "u", "rb", "br", "fr", "rf"].contains(&lower.as_str());
        match quote.filter(|_| self.language == Language::Python && is_prefix) {
            Some(quote) => self.quoted(quote, lower.contains('r')),
            None => self.push(Word::Name(name.to_owned()), start),
        }
    }

    fn number(&mut self) {
        let start = self.at;
        let mut chars = self.rest().chars().peekable();
        while let Some(char) = chars.next() {
            let next_is_digit = chars.peek().is_some_and(char::is_ascii_digit);
            if !(char.is_alphanumeric() || char == '_' || char == '.' && next_is_digit) {
                break;
            }
            self.at += char.len_utf8();
        }
        let digits = self.source.get(start..self.at).unwrap_or_default().to_owned();
        self.push(Word::Number(digits), start);
    }

    /// A text in one quote of its kind, or in three as Python has it.
    fn quoted(&mut self, quote: char, is_raw: bool) {
        let triple = String::from(quote).repeat(3);
        if self.language == Language::Python && self.rest().starts_with(&triple) {
            return self.text(&triple, is_raw);
        }
        let mut one = [0; 4];
        self.text(quote.encode_utf8(&mut one), is_raw);
    }

    fn text(&mut self, quote: &str, is_raw: bool) {
        let start = self.at;
        self.at += quote.len();
        let mut text = String::new();
        while let Some(char) = self.rest().chars().next() {
            if self.rest().starts_with(quote) {
                self.at += quote.len();
                break;
            }
            self.at += char.len_utf8();
            match self.rest().chars().next().filter(|_| char == '\\' && !is_raw) {
                Some(escaped) => {
                    self.at += escaped.len_utf8();
                    text.push(escaped);
                }
                None => text.push(char),
            }
        }
        self.push(Word::Text(text), start);
    }

    /// A text of rhai with expressions in it, whose words count.
    fn template(&mut self) {
        let start = self.at;
        self.at += 1;
        let mut is_plain = true;
        while let Some(char) = self.rest().chars().next() {
            if self.rest().starts_with("${") {
                is_plain = false;
                self.at += 2;
                self.inner();
            } else {
                self.at += char.len_utf8();
                if char == '`' {
                    break;
                }
            }
        }
        if is_plain {
            let text = self.source.get(start + 1..self.at.saturating_sub(1)).unwrap_or_default();
            self.push(Word::Text(text.to_owned()), start);
        }
    }

    /// What stands up to the brace that closes an expression.
    fn inner(&mut self) {
        let (mut open, mut end) = (1_usize, self.end);
        for (at, char) in self.rest().char_indices() {
            open = match char {
                '{' => open + 1,
                '}' => open - 1,
                _ => open,
            };
            if open == 0 {
                end = self.at + at;
                break;
            }
        }
        let outer = std::mem::replace(&mut self.end, end);
        self.run();
        self.end = outer;
        self.at = (end + 1).min(outer);
    }

    fn block_comment(&mut self) {
        let mut depth = 0_usize;
        while let Some(char) = self.rest().chars().next() {
            if self.rest().starts_with("/*") {
                depth += 1;
                self.at += 2;
            } else if self.rest().starts_with("*/") {
                depth = depth.saturating_sub(1);
                self.at += 2;
                if depth == 0 {
                    return;
                }
            } else {
                self.at += char.len_utf8();
            }
        }
    }
}
