//! Sentences, as NLTK's Punkt tokeniser of English finds them (NLTK 3.10.4, `punkt_tab`).

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::sync::LazyLock;

use crate::py::{is_digit, is_letter, is_space};

const DATA: &str = include_str!("../data/punkt.txt");

/// What the model learned from text.
#[derive(Default)]
struct Model {
    abbreviations: HashSet<&'static str>,
    starters: HashSet<&'static str>,
    /// The seconds of pairs, by the first.
    collocations: HashMap<&'static str, Vec<&'static str>>,
    /// Of a type: 1 = with a capital it starts sentences; 2 = in lower case it does not;
    /// 4 = it occurs in lower case. Types that are not listed have 2.
    cases: HashMap<&'static str, u8>,
}

static MODEL: LazyLock<Model> = LazyLock::new(|| {
    let mut model = Model::default();
    for line in DATA.lines() {
        let mut items = line.split('\t');
        match items.next() {
            Some("abbreviations") => model.abbreviations.extend(items),
            Some("starters") => model.starters.extend(items),
            Some("collocations") => {
                for (first, second) in items.filter_map(|pair| pair.split_once(' ')) {
                    model.collocations.entry(first).or_default().push(second);
                }
            }
            Some(bits) => {
                let bits = bits.parse().unwrap_or(2);
                model.cases.extend(items.map(|word| (word, bits)));
            }
            None => (),
        }
    }
    model
});

/// The sentences of a text, with the blanks between them left out.
pub fn sentences(text: &str) -> Vec<&str> {
    let mut spans = spans(text).into_iter().peekable();
    let mut found = Vec::new();
    let mut moved = 0;
    while let Some((start, end)) = spans.next() {
        let start = start + moved;
        let Some(&(next, next_end)) = spans.peek() else {
            found.extend((start < end).then(|| &text[start..end]));
            break;
        };
        if let Some((closed, skipped)) = closers(&text[next..next_end]) {
            found.push(&text[start..next + closed]);
            moved = skipped;
        } else {
            moved = 0;
            found.extend((start < end).then(|| &text[start..end]));
        }
    }
    found
}

/// Quotes and brackets that close the sentence before: their length, and that with the blanks after.
fn closers(text: &str) -> Option<(usize, usize)> {
    let rest = text.trim_start_matches(['"', '\'', ')', ']', '}', '‘', '’', '“', '”', '«', '»']);
    let closed = text.len() - rest.len();
    let after = rest.trim_start_matches(is_space);
    let ends = rest.is_empty() || rest.len() > after.len() || rest.starts_with("--");
    (closed > 0 && ends).then_some((closed, text.len() - after.len()))
}

/// Where sentences start and end, before closing marks are moved.
fn spans(text: &str) -> Vec<(usize, usize)> {
    let mut spans = Vec::new();
    let mut last = 0;
    candidates(text, &mut |end: &End, context: &str| {
        if has_break(context) {
            spans.push((last, end.at + 1));
            last = end.next.unwrap_or(end.at + 1);
        }
    });
    spans.push((last, crate::py::strip_end(text).len().max(last)));
    spans
}

/// A mark that may end a sentence, and what follows it.
struct End {
    at: usize,
    /// Where the next token starts, if blanks come before it.
    next: Option<usize>,
    /// Where what follows ends: a closing mark, or the next token.
    after: usize,
}

/// Calls with each mark that may end a sentence and its context: the word before, the mark, and
/// what follows. Of marks in one word the last counts.
fn candidates<'t>(text: &'t str, each: &mut dyn FnMut(&End, &'t str)) {
    let mut word = (0, 0);
    let mut before: Option<End> = None;
    for at in memchr::memchr3_iter(b'.', b'?', b'!', text.as_bytes()) {
        let Some(end) = end(text, at) else { continue };
        let since = &text[word.1..at];
        let is_blank = |c: char| matches!(c, ' ' | '\t'..='\r');
        let start = match since.rfind(is_blank) {
            Some(blank) if blank > 0 => word.1 + blank + 1,
            _ => word.0,
        };
        if let Some(before) = before.filter(|_| word.1 <= start) {
            each(&before, &text[word.0..before.after]);
        }
        before = Some(end);
        word = (start, at);
    }
    if let Some(before) = before {
        each(&before, &text[word.0..before.after]);
    }
}

fn end(text: &str, at: usize) -> Option<End> {
    let rest = &text[at + 1..];
    let first = rest.chars().next()?;
    if ends_word(first) {
        return Some(End { at, next: None, after: at + 1 + first.len_utf8() });
    }
    if !is_space(first) {
        return None;
    }
    let tail = rest.trim_start_matches(is_space);
    if tail.is_empty() {
        return None;
    }
    let next = text.len() - tail.len();
    let after = next + tail.find(is_space).unwrap_or(tail.len());
    Some(End { at, next: Some(next), after })
}

/// Whether a character cannot be within a word.
fn ends_word(c: char) -> bool {
    matches!(
        c,
        ')' | '"'
            | ';'
            | '}'
            | ']'
            | '*'
            | ':'
            | '@'
            | '\''
            | '('
            | '{'
            | '['
            | '?'
            | '!'
            | '‘'
            | '’'
            | '“'
            | '”'
            | '«'
            | '»'
    )
}

/// A token with its marks.
struct Token<'t> {
    text: &'t str,
    ends: bool,
    is_abbreviation: bool,
    is_ellipsis: bool,
}

/// Whether a token that is not the last one ends a sentence.
fn has_break(context: &str) -> bool {
    let mut last: Option<Token<'_>> = None;
    for line in context.split('\n') {
        let is_found = tokenize(line, &mut |text| {
            let next = Token::new(text);
            if let Some(token) = &mut last {
                reconsider(token, &next);
                if token.ends {
                    return true;
                }
            }
            last = Some(next);
            false
        });
        if is_found {
            return true;
        }
    }
    false
}

impl<'t> Token<'t> {
    fn new(text: &'t str) -> Token<'t> {
        let mut token = Token { text, ends: false, is_abbreviation: false, is_ellipsis: false };
        if matches!(text, "." | "?" | "!") {
            token.ends = true;
        } else if text.ends_with("..") {
            token.is_ellipsis = text.bytes().all(|byte| byte == b'.');
        } else if let Some(word) = text.strip_suffix('.') {
            let word = lowered(word);
            let part = word.rsplit('-').next().unwrap_or(&word);
            let known = &MODEL.abbreviations;
            token.is_abbreviation = known.contains(&*word) || known.contains(part);
            token.ends = !token.is_abbreviation;
        }
        token
    }

    /// In lower case, without the final period; numbers are alike.
    fn without_period(&self) -> Cow<'t, str> {
        if is_number(self.text) {
            return Cow::Borrowed(NUMBER);
        }
        let short = self.text.strip_suffix('.').filter(|short| !short.is_empty());
        lowered(short.unwrap_or(self.text))
    }

    /// The same, with the period unless it ends the sentence.
    fn kind(&self) -> Cow<'t, str> {
        if self.ends || is_number(self.text) { self.without_period() } else { lowered(self.text) }
    }

    fn is_capital(&self) -> bool {
        self.text.starts_with(char::is_uppercase)
    }

    fn case(&self) -> u8 {
        MODEL.cases.get(&*self.kind()).copied().unwrap_or(2)
    }

    /// Whether the spelling says that the token starts a sentence.
    fn starts(&self) -> Option<bool> {
        if matches!(self.text, ";" | ":" | "," | "." | "!" | "?") {
            return Some(false);
        }
        let case = self.case();
        if self.is_capital() && case & 1 == 1 {
            return Some(true);
        }
        (self.text.starts_with(char::is_lowercase) && case & 2 == 2).then_some(false)
    }
}

fn lowered(text: &str) -> Cow<'_, str> {
    if text.bytes().all(|byte| byte.is_ascii() && !byte.is_ascii_uppercase()) {
        Cow::Borrowed(text)
    } else {
        Cow::Owned(text.to_lowercase())
    }
}

const NUMBER: &str = "##number##";

/// `^-?[\.,]?\d[\d,\.-]*\.?$`
fn is_number(text: &str) -> bool {
    let text = text.strip_prefix('-').unwrap_or(text);
    let text = text.strip_prefix(['.', ',']).unwrap_or(text);
    text.starts_with(is_digit) && text.chars().all(|c| is_digit(c) || ",.-".contains(c))
}

/// The second look at a token, with the one that follows.
fn reconsider(token: &mut Token<'_>, next: &Token<'_>) {
    if !token.text.ends_with('.') {
        return;
    }
    let mut letters = token.text.chars();
    let is_initial = letters.next().is_some_and(is_letter) && letters.as_str() == ".";
    let kind = token.without_period();
    let seconds = MODEL.collocations.get(&*kind);
    if seconds.is_some_and(|seconds| seconds.contains(&&*next.kind())) {
        token.ends = false;
        token.is_abbreviation = true;
        return;
    }
    if (token.is_abbreviation || token.is_ellipsis) && !is_initial {
        let is_starter = next.is_capital() && MODEL.starters.contains(&*next.kind());
        if next.starts() == Some(true) || is_starter {
            token.ends = true;
            return;
        }
    }
    if is_initial || kind == NUMBER {
        let starts = next.starts();
        let is_name = starts.is_none() && is_initial && next.is_capital() && next.case() & 4 == 0;
        if starts == Some(false) || is_name {
            token.ends = false;
        }
    }
}

/// The tokens of a line: words up to a mark that ends them, runs of hyphens and of periods, other
/// characters one by one.
/// Stops where `each` says so.
fn tokenize<'t>(line: &'t str, each: &mut dyn FnMut(&'t str) -> bool) -> bool {
    let mut rest = line.trim_start_matches(is_space);
    while let Some(first) = rest.chars().next() {
        let length = match several(rest) {
            0 if starts_word(first) => word_length(rest),
            0 => first.len_utf8(),
            length => length,
        };
        if each(&rest[..length]) {
            return true;
        }
        rest = rest[length..].trim_start_matches(is_space);
    }
    false
}

fn starts_word(c: char) -> bool {
    !matches!(
        c,
        '(' | '"'
            | '`'
            | '{'
            | '['
            | ':'
            | ';'
            | '&'
            | '#'
            | '*'
            | '@'
            | ')'
            | '}'
            | ']'
            | '-'
            | ','
    )
}

fn word_length(text: &str) -> usize {
    let is_end = |rest: &str| match rest.chars().next() {
        None => true,
        Some(c) => is_space(c) || ends_word(c) || several(rest) > 0,
    };
    let mut places = text.char_indices();
    places.next();
    let ends =
        |&(at, c): &(usize, char)| is_end(&text[at..]) || c == ',' && is_end(&text[at + 1..]);
    places.find(ends).map_or(text.len(), |(at, _)| at)
}

/// The length of `-{2,}`, `.{2,}` or `(.\s){2,}.` at the start.
fn several(text: &str) -> usize {
    for mark in ['-', '.'] {
        let length = text.len() - text.trim_start_matches(mark).len();
        if length > 1 {
            return length;
        }
    }
    let mut rest = text;
    let mut pairs = 0;
    while let Some(tail) = rest.strip_prefix('.') {
        let Some(tail) = tail.strip_prefix(is_space) else {
            return if pairs >= 2 { text.len() - tail.len() } else { 0 };
        };
        rest = tail;
        pairs += 1;
    }
    // The last pair gives its period back.
    if pairs >= 3 {
        let blank = text[..text.len() - rest.len()].chars().next_back().map_or(0, char::len_utf8);
        return text.len() - rest.len() - blank;
    }
    0
}
