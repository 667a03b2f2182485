//! Words, as NLTK's `word_tokenize` splits them (NLTK 3.10.4): sentences first, then the rules of the
//! Penn Treebank.
//!
//! The original is a series of replacements over a sentence. All but those of its end look no further
//! than the white space around a chunk, so each chunk is split by itself.

use crate::punkt;
use crate::py::{self, is_border, is_digit, is_space, is_word};

/// The words of a text.
pub fn words(text: &str) -> Vec<String> {
    let mut words = Vec::new();
    for sentence in punkt::sentences(text) {
        words_of(sentence, |_| true, &mut |word| words.push(word.to_owned()));
    }
    words
}

/// How many words of a text are in capitals.
pub(crate) fn count_capitals(text: &str) -> usize {
    let mut count = 0;
    let mut each = |word: &str| count += usize::from(py::is_upper(word));
    let may_count =
        |chunk: &str| !chunk.bytes().all(|byte| byte.is_ascii() && !byte.is_ascii_uppercase());
    let marks = memchr::memchr3_iter(b'.', b'?', b'!', text.as_bytes());
    let mut nexts = marks.map(|at| text.as_bytes().get(at + 1));
    // Sentences matter only where one may end within a chunk, before what is not set apart anyway.
    if nexts.any(|next| matches!(next, Some(b'\'' | b':'))) {
        for sentence in punkt::sentences(text) {
            words_of(sentence, may_count, &mut each);
        }
    } else {
        words_of(text, may_count, &mut each);
    }
    count
}

/// Calls with each word of those chunks of a sentence that `is_asked` wants.
fn words_of(sentence: &str, is_asked: impl Fn(&str) -> bool, each: &mut dyn FnMut(&str)) {
    let period = last_period(sentence);
    let mut from = 0;
    for chunk in sentence.split(is_space) {
        let start = from;
        from += chunk.len();
        from += sentence[from..].chars().next().map_or(0, char::len_utf8);
        if chunk.is_empty() || !is_asked(chunk) {
            continue;
        }
        if is_plain(chunk) {
            each(chunk);
            continue;
        }
        let place = Place {
            starts: start == 0,
            after_blank: sentence[..start].ends_with(' '),
            period: period.and_then(|at| at.checked_sub(start)).filter(|at| *at < chunk.len()),
        };
        split(chunk, &place, each);
    }
}

/// Whether no rule changes a chunk.
fn is_plain(chunk: &str) -> bool {
    const JOINED: [&str; 6] = ["cannot", "gimme", "gonna", "gotta", "lemme", "wanna"];
    chunk.bytes().all(|byte| byte.is_ascii_alphanumeric())
        && (chunk.len() > 6 || !JOINED.iter().any(|word| word.eq_ignore_ascii_case(chunk)))
}

/// Where a chunk stands in its sentence.
struct Place {
    starts: bool,
    after_blank: bool,
    /// The period that ends the sentence, within the chunk.
    period: Option<usize>,
}

/// The period that ends a sentence: closing marks may follow, no period comes before.
fn last_period(sentence: &str) -> Option<usize> {
    let closing = |c| matches!(c, ']' | ')' | '}' | '>' | '"' | '\'' | '»' | '”' | '’' | ' ');
    let rest = sentence.trim_end_matches(is_space).trim_end_matches(closing);
    let before = rest.strip_suffix('.')?;
    // A quote after a blank opens, and nothing that opens may follow.
    let after = &sentence[rest.len()..];
    if after.contains(" \"") || after.contains(" ''") {
        return None;
    }
    (!before.is_empty() && !before.ends_with('.')).then_some(before.len())
}

fn split(chunk: &str, place: &Place, each: &mut dyn FnMut(&str)) {
    let padded = brackets(&marks(&quotes(chunk, place)));
    let padded = padded.replace("--", " -- ");
    let padded = pad(&padded, |c| matches!(c, '»' | '”' | '’'));
    let padded = padded.replace("''", " '' ").replace('"', " '' ");
    for word in padded.split(is_space).filter(|word| !word.is_empty()) {
        let (stem, ending) = clitic(word, &["'s", "'S", "'m", "'M", "'d", "'D", "'"]);
        for part in [stem, ending] {
            let negation = ["'ll", "'LL", "'re", "'RE", "'ve", "'VE", "n't", "N'T"];
            let (stem, ending) = clitic(part, &negation);
            for part in [stem, ending].into_iter().filter(|part| !part.is_empty()) {
                contractions(part, each);
            }
        }
    }
}

/// A word without one of some endings, and the ending. What is before it ends in no apostrophe.
fn clitic<'t>(word: &'t str, endings: &[&str]) -> (&'t str, &'t str) {
    for ending in endings {
        let stem = word.strip_suffix(ending).unwrap_or_default();
        if !stem.is_empty() && !stem.ends_with('\'') {
            return word.split_at(stem.len());
        }
    }
    (word, "")
}

/// Each character of a kind between blanks.
fn pad(text: &str, is_kind: impl Fn(char) -> bool) -> String {
    let mut made = String::with_capacity(text.len() + 8);
    for c in text.chars() {
        if is_kind(c) {
            made.extend([' ', c, ' ']);
        } else {
            made.push(c);
        }
    }
    made
}

/// Opening quotes are set apart, and the final period with what closes after it.
fn quotes(chunk: &str, place: &Place) -> String {
    let mut made = String::with_capacity(chunk.len() + 16);
    // The character before, as the rule of opening quotes sees it.
    let mut before = place.after_blank.then_some(' ');
    let mut at = 0;
    while let Some(c) = chunk[at..].chars().next() {
        let rest = &chunk[at..];
        let opens = before.is_some_and(|c| matches!(c, ' ' | '(' | '[' | '{' | '<'));
        let mut length = c.len_utf8();
        before = Some(c);
        if Some(at) == place.period {
            made.push_str(" . ");
        } else if matches!(c, '«' | '“' | '‘' | '„') {
            made.extend([' ', c, ' ']);
            before = Some(' ');
        } else if c == '`' {
            length = rest.len() - rest.trim_start_matches('`').len();
            made.extend([" ", &rest[..length], " "]);
            before = Some(' ');
        } else if c == '"' && at == 0 && place.starts {
            made.push_str(" `` ");
            before = Some(' ');
        } else if c == '"' && opens {
            made.push_str(" `` ");
        } else if opens && rest.starts_with("''") {
            made.push_str(" `` ");
            length = 2;
        } else if c == '\'' && starts_quote(chunk, at) {
            made.push_str("' ");
        } else {
            made.push(c);
        }
        at += length;
    }
    // Runs of four backticks and more are split again, in pairs.
    if made.contains("```") { made.replace("``", " `` ") } else { made }
}

/// An apostrophe before a word, which no word is before, and which is no clitic.
fn starts_quote(chunk: &str, at: usize) -> bool {
    let after = &chunk[at + 1..];
    let is_clitic = |clitic: &&'static str| {
        let head = after.get(..clitic.len()).filter(|head| head.eq_ignore_ascii_case(clitic));
        head.is_some() && is_border(after, clitic.len())
    };
    !chunk[..at].chars().next_back().is_some_and(is_word)
        && after.starts_with(is_word)
        && !["re", "ve", "ll", "m", "t", "s", "d", "n"].iter().any(is_clitic)
}

/// Commas and colons that no digit follows, ellipses, dashes and other marks.
fn marks(text: &str) -> String {
    let mut made = String::with_capacity(text.len() + 16);
    let mut rest = text.chars().peekable();
    while let Some(c) = rest.next() {
        match c {
            ',' | ':' => match rest.peek() {
                Some(&next) if is_digit(next) => made.push(c),
                Some(&next) => {
                    made.extend([' ', c, ' ', next]);
                    rest.next();
                }
                // White space follows, or the end.
                None => made.extend([' ', c, ' ']),
            },
            _ => made.push(c),
        }
    }
    let made = ellipses(&made);
    pad(&made, |c| {
        matches!(c, ';' | '@' | '#' | '$' | '%' | '&' | '\u{2012}'..='\u{2015}' | '?' | '!' | '*')
    })
}

fn ellipses(text: &str) -> String {
    if !text.contains("..") {
        return text.to_owned();
    }
    let mut made = String::with_capacity(text.len() + 4);
    let mut rest = text;
    while let Some(start) = rest.find("..") {
        let tail = rest[start..].trim_start_matches('.');
        let run = &rest[start..rest.len() - tail.len()];
        made.extend([&rest[..start], " ", run, " "]);
        rest = tail;
    }
    made.push_str(rest);
    made
}

fn brackets(text: &str) -> String {
    pad(text, |c| matches!(c, '[' | ']' | '(' | ')' | '{' | '}' | '<' | '>'))
}

/// `cannot` is two words, and so are its like.
fn contractions(word: &str, each: &mut dyn FnMut(&str)) {
    const PARTS: [(&str, &str); 8] = [
        ("can", "not"),
        ("d", "'ye"),
        ("gim", "me"),
        ("gon", "na"),
        ("got", "ta"),
        ("lem", "me"),
        ("more", "'n"),
        ("wan", "na"),
    ];
    for (first, second) in PARTS {
        let length = first.len() + second.len();
        let starts = word.char_indices().map(|(at, _)| at);
        let mut found = starts.take_while(|at| at + length <= word.len()).filter(|&at| {
            let held = word.get(at..at + length).is_some_and(|held| {
                held.is_char_boundary(first.len())
                    && held[..first.len()].eq_ignore_ascii_case(first)
                    && held[first.len()..].eq_ignore_ascii_case(second)
            });
            held && is_border(word, at)
                && is_border(word, at + length)
                && (first != "wan" || at + length == word.len())
        });
        if let Some(at) = found.next() {
            let middle = at + first.len();
            if at > 0 {
                contractions(&word[..at], each);
            }
            each(&word[at..middle]);
            each(&word[middle..at + length]);
            if at + length < word.len() {
                contractions(&word[at + length..], each);
            }
            return;
        }
    }
    each(word);
}
