//! Reads an option where one is due: after "the answer is", in a box, or alone on a line.

use super::options::Options;

/// What was read: the options that are named, and where.
#[derive(Clone, Copy, Debug)]
pub(super) struct Reading {
    pub(super) letters: u32,
    pub(super) is_hedge: bool,
    pub(super) start: usize,
    /// Where the option that is named first ends.
    pub(super) first_end: usize,
    pub(super) end: usize,
}

/// A place in a text.
pub(super) struct Reader<'a> {
    text: &'a str,
    at: usize,
    options: &'a Options<'a>,
}

/// The longest text of an option that is looked for, in bytes.
const OPTION_BYTES_MAX: usize = 1024;

/// How far one cue is read on after: every further cue reads again.
const NEAR_BYTES_MAX: usize = 4 * OPTION_BYTES_MAX;

/// How far letters and what dresses them are read; no answer goes on for longer.
const LETTERS_BYTES_MAX: usize = 512;

/// Words that may stand between "the answer is" and the option.
const FILLERS: [&str; 14] = [
    "option",
    "choice",
    "answer",
    "letter",
    "the",
    "is",
    "be",
    "therefore",
    "thus",
    "clearly",
    "likely",
    "probably",
    "most",
    "closest to",
];

/// Commands of LaTeX that only dress what they hold.
const DRESS: [&str; 8] =
    ["\\boxed", "\\textbf", "\\text", "\\mathrm", "\\mathbf", "\\mathit", "\\(", "\\["];

/// Words after a bare "A" or "I" that show that it is not the word of that spelling.
const FOLLOWERS: [&str; 12] =
    ["because", "since", "as", "for", "which", "with", "based", "due", "given", "and", "or", "but"];

impl<'a> Reader<'a> {
    fn new(text: &'a str, at: usize, options: &'a Options<'a>) -> Self {
        Self { text, at, options }
    }

    /// A reader of what follows a cue that ends at `at`.
    pub(super) fn near(text: &'a str, at: usize, options: &'a Options<'a>) -> Self {
        let end = text.floor_char_boundary(at + NEAR_BYTES_MAX);
        Self::new(text.get(..end).unwrap_or_default(), at, options)
    }

    /// Reads what follows `cue`: what is in the box, or between the tags, or what is said next.
    pub(super) fn after(&self, cue: &str) -> Option<Reading> {
        let held = match cue.chars().next_back()? {
            '{' => Some(self.braces()?),
            '>' => Some(self.rest().find("</")?),
            _ => None,
        };
        let Some(length) = held else { return self.said() };
        let inner = self.text.get(..self.at + length)?;
        let reader = Reader::new(inner, self.at, self.options);
        reader.letters(Enclosed::Yes).or_else(|| reader.option_text(length))
    }

    /// Reads a text that is nothing but an option, or whose last line is.
    pub(super) fn alone(text: &'a str, options: &'a Options<'a>) -> Option<Reading> {
        let body = text.trim_end();
        let start = body.rfind('\n').map_or(0, |at| at + 1);
        let whole = Reader::new(body, body.len() - body.trim_start().len(), options);
        if let Some(reading) = whole.option_text(body.len() - whole.at) {
            return Some(reading);
        }
        let line = Reader::new(body, start, options);
        let reading = line.letters(Enclosed::Alone);
        reading.or_else(|| line.option_text(body.len() - start))
    }

    fn rest(&self) -> &'a str {
        self.text.get(self.at..).unwrap_or_default()
    }

    /// The length of what is in the braces that were just opened.
    fn braces(&self) -> Option<usize> {
        let mut depth = 1_u32;
        self.rest().char_indices().find_map(|(at, c)| {
            match c {
                '{' => depth += 1,
                '}' => depth -= 1,
                _ => {}
            }
            (depth == 0).then_some(at)
        })
    }

    fn said(&self) -> Option<Reading> {
        let line = self.rest().trim_start();
        let length = line.find('\n').unwrap_or(line.len());
        let start = self.text.len() - line.len();
        let said = Reader::new(self.text, start, self.options);
        said.letters(Enclosed::No).or_else(|| said.option_text(length))
    }

    /// The text of an option, whole.
    fn option_text(&self, length: usize) -> Option<Reading> {
        if length > OPTION_BYTES_MAX {
            return None;
        }
        let end = self.at + length;
        let letters = self.options.matching(self.text.get(self.at..end)?)?;
        Some(Reading { letters, is_hedge: false, start: self.at, first_end: end, end })
    }

    /// One letter, or several that are joined.
    fn letters(&self, enclosed: Enclosed) -> Option<Reading> {
        let (at, hedged) = self.opened(self.at);
        let first = self.letter(at, enclosed)?;
        let mut reading = Reading {
            letters: first.bit,
            is_hedge: hedged,
            start: first.start,
            first_end: first.end,
            end: first.end,
        };
        let mut at = first.after;
        while at < self.at + LETTERS_BYTES_MAX
            && let Some((next, is_or)) = self.joined(at)
        {
            reading.letters |= next.bit;
            reading.end = next.end;
            reading.is_hedge |= is_or;
            at = next.after;
        }
        reading.is_hedge |= self.hedged_later(at);
        Some(reading)
    }

    /// Skips markup, openers and fillers; "either" and "both" announce a hedge.
    fn opened(&self, from: usize) -> (usize, bool) {
        let mut at = from;
        let mut hedged = false;
        while at < self.at + LETTERS_BYTES_MAX {
            let rest = self.text.get(at..).unwrap_or_default();
            let blanks = rest.len() - rest.trim_start().len();
            let dress = DRESS.iter().find(|dress| rest.starts_with(**dress));
            at += if blanks > 0 {
                blanks
            } else if let Some(dress) = dress {
                dress.len()
            } else if rest
                .starts_with(['*', '_', '`', '$', '"', '\'', ':', '{', '(', '[', '“', '‘'])
            {
                rest.chars().next().map_or(0, char::len_utf8)
            } else if let Some(word) = FILLERS.iter().find(|word| starts_with_word(rest, word)) {
                word.len()
            } else if starts_with_word(rest, "either") {
                hedged = true;
                "either".len()
            } else {
                break;
            };
        }
        (at, hedged)
    }

    /// The letter at `at`, unless it belongs to a word.
    fn letter(&self, at: usize, enclosed: Enclosed) -> Option<Letter> {
        let rest = self.text.get(at..)?;
        let letter = rest.chars().next().filter(char::is_ascii_alphabetic)?;
        let bit = self.options.bit(letter)?;
        let opened = self.text.get(..at)?.chars().next_back();
        let tail = rest.get(1..)?;
        let closed =
            tail.trim_start_matches(['*', '_', '`', '"', '\'', ')', ']', '}', '$', '”', '’']);
        let closed = closed.strip_prefix("\\)").or(closed.strip_prefix("\\]")).unwrap_or(closed);
        let is_dressed = closed.len() < tail.len()
            && !closed.starts_with(|c: char| c.is_alphanumeric() || "{^".contains(c))
            && opened.is_some_and(|c| "([{*_`\"'$“‘".contains(c));
        let ends =
            !tail.starts_with(|c: char| c.is_alphanumeric() || "'’-_^=".contains(c)) || is_dressed;
        let stands = match enclosed {
            Enclosed::Alone => self.ends_line(bit, closed),
            Enclosed::Yes => true,
            Enclosed::No => is_dressed || (letter.is_ascii_uppercase() && !is_word(letter, tail)),
        };
        let after = self.text.len() - closed.len();
        (ends && stands).then_some(Letter { bit, start: at, end: at + 1, after })
    }

    /// Nothing follows on the line but another option, or the text of this one. Where the options
    /// are not known, any text does if the completion is that one line.
    fn ends_line(&self, bit: u32, rest: &str) -> bool {
        let line = rest.split('\n').next().unwrap_or_default();
        let said = line.trim_start_matches([')', '.', ':', ' ', '*']);
        let is_only = self.options.are_unknown() && !self.text.trim().contains('\n');
        ends(line)
            || self.joined(self.text.len() - rest.len()).is_some()
            || (said.len() < line.len() && self.options.matching(said) == Some(bit))
            || (is_only && line.starts_with([')', '.', ':']))
    }

    /// The next letter of "A, C", "A or C", "A/C" and "A B".
    fn joined(&self, at: usize) -> Option<(Letter, bool)> {
        let rest = self.text.get(at..)?;
        let mut tail = rest.trim_start_matches([' ', '\t']);
        let blank = tail.len() < rest.len();
        let joined = tail.trim_start_matches([',', ';', '/', '&', '+', '|', ' ']);
        let mut is_joined = joined.len() < tail.len();
        tail = joined;
        let mut is_or = false;
        for (word, or) in [("and", false), ("or", true), ("to", true), ("through", true)] {
            if starts_with_word(tail, word) {
                tail = tail.get(word.len()..)?;
                (is_joined, is_or) = (true, or);
                break;
            }
        }
        for word in ["possibly", "maybe", "perhaps", "also", "even", "both"] {
            let trimmed = tail.trim_start();
            if is_joined && starts_with_word(trimmed, word) {
                tail = trimmed.get(word.len()..)?;
            }
        }
        let (start, _) = self.opened(self.text.len() - tail.len());
        let next = self.letter(start, Enclosed::No)?;
        let after = self.text.get(next.after..)?;
        let goes_on = starts_with_word(after.trim_start(), "is")
            || starts_with_word(after.trim_start(), "are");
        let stands = match (is_joined, blank) {
            (true, _) => !goes_on,
            (false, true) => ends(after) || self.letter_follows(next.after),
            (false, false) => false,
        };
        stands.then_some((next, is_or))
    }

    /// Whether a blank and another bare letter follow.
    fn letter_follows(&self, at: usize) -> bool {
        let rest = self.text.get(at..).unwrap_or_default();
        let next = rest.trim_start_matches([' ', '\t']);
        let letter = self.letter(self.text.len() - next.len(), Enclosed::No);
        next.len() < rest.len() && letter.is_some()
    }

    /// Whether the sentence names another option further on: "(A) 3 gallons and (B) 9 liters".
    fn hedged_later(&self, at: usize) -> bool {
        let rest = self.text.get(at..).unwrap_or_default();
        let rest = rest.get(..rest.floor_char_boundary(400)).unwrap_or_default();
        let end = rest.find('\n').into_iter().chain(rest.find(". ")).min().unwrap_or(rest.len());
        let sentence = rest.get(..end).unwrap_or_default();
        ["and (", "or (", "or option ", "and option "].iter().any(|join| {
            let Some(found) = sentence.find(join) else { return false };
            let starts_word = sentence.get(..found).is_some_and(|text| text.ends_with(' '));
            let from = at + found + join.len();
            let letter = self.letter(from, Enclosed::No);
            starts_word
                && letter.is_some_and(|letter| {
                    let after = self.text.get(letter.after..).unwrap_or_default().trim_start();
                    !starts_with_word(after, "is") && !starts_with_word(after, "are")
                })
        })
    }
}

/// How much the place tells of what stands there.
#[derive(Clone, Copy)]
enum Enclosed {
    /// A box or a tag: a lower-case letter counts too.
    Yes,
    /// A sentence: a bare letter may be a word.
    No,
    /// A line of its own: nothing may follow but the text of the option.
    Alone,
}

struct Letter {
    bit: u32,
    start: usize,
    end: usize,
    /// Behind what closes it.
    after: usize,
}

fn starts_with_word(text: &str, word: &str) -> bool {
    let same = text.get(..word.len()).is_some_and(|start| start.eq_ignore_ascii_case(word));
    let after = text.get(word.len()..).and_then(|rest| rest.chars().next());
    same && !after.is_some_and(char::is_alphanumeric)
}

/// Nothing but signs follow on the line.
fn ends(rest: &str) -> bool {
    let mut line = rest.chars().take_while(|c| *c != '\n');
    line.all(|c| c.is_whitespace() || ".,;:!*)]}`$".contains(c))
}

/// "A" and "I" are words as well.
fn is_word(letter: char, tail: &str) -> bool {
    let follows = tail.strip_prefix([' ', '\t']).unwrap_or_default();
    let word: String = follows.chars().take_while(|c| c.is_alphabetic()).collect();
    matches!(letter, 'A' | 'I')
        && word.chars().next().is_some_and(char::is_lowercase)
        && !FOLLOWERS.contains(&word.as_str())
}
