//! Reads the letters of options, or the text of one, at a known place.

use super::options::Options;
use super::wording::{
    CLOSED, DRESS, TICKS, ends, ends_sentence, gives_reason, in_brackets, is_article, is_judged,
    is_part, is_word, join, starts_with_word, unwrapped,
};
use crate::extract::qualify;
use crate::language::choice;

/// The options that a place names, and their span.
#[derive(Clone, Copy, Debug)]
pub(super) struct Reading {
    pub(super) letters: u32,
    pub(super) is_hedge: bool,
    pub(super) start: usize,
    /// Where the option that is named first ends.
    pub(super) first_end: usize,
    pub(super) end: usize,
    /// Where that begins which is said behind it.
    pub(super) behind: usize,
}

impl Reading {
    pub(super) const fn new(letters: u32, start: usize, end: usize) -> Self {
        Self { letters, is_hedge: false, start, first_end: end, end, behind: end }
    }

    /// The options of this one and of an earlier one, which are named together.
    pub(super) const fn with_earlier(self, earlier: Self) -> Self {
        Self {
            letters: earlier.letters | self.letters,
            is_hedge: earlier.is_hedge | self.is_hedge,
            start: earlier.start,
            first_end: earlier.first_end,
            end: self.end,
            behind: self.behind,
        }
    }
}

/// A place in a text.
pub(super) struct Reader<'a> {
    text: &'a str,
    at: usize,
    options: &'a Options<'a>,
}

/// The longest text of an option that is looked for, in bytes.
pub(super) const OPTION_BYTES_MAX: usize = 1024;

/// The most bytes that are read behind one cue.
pub(super) const NEAR_BYTES_MAX: usize = 4 * OPTION_BYTES_MAX;

/// Signs in front of a letter.
const OPENERS: &str = "*_`$\"':：{(（[【“‘-•→⇒∴#>👉";

/// The most bytes of letters and markup that are read as one answer.
const LETTERS_BYTES_MAX: usize = 512;

impl<'a> Reader<'a> {
    pub(super) const fn new(text: &'a str, at: usize, options: &'a Options<'a>) -> Self {
        Self { text, at, options }
    }

    /// The option that is named here, of this length. The text of one may look like letters: "A and B".
    pub(super) fn read(&self, length: usize, enclosed: Enclosed) -> Option<Reading> {
        let held = self.text.get(self.at..self.at + length)?;
        let is_word = held.chars().filter(|c| c.is_alphanumeric()).count() > 1;
        let text = || self.option_text(length);
        if is_word && !self.options.several {
            return text().or_else(|| self.letters(enclosed));
        }
        self.letters(enclosed).or_else(text)
    }

    /// The text of an option, whole.
    pub(super) fn option_text(&self, length: usize) -> Option<Reading> {
        if length > OPTION_BYTES_MAX {
            return None;
        }
        let end = self.at + length;
        let text = self.text.get(self.at..end)?;
        let options = self.options;
        let letters = options.matching(text).or_else(|| self.named_behind(text));
        let letters = letters.or_else(|| options.matching(number_of_unit(text, options)?))?;
        Some(Reading::new(letters, self.at, end))
    }

    /// The text of an option from here to the end: "(So) Jupiter (is correct)".
    pub(super) fn subject(&self) -> Option<Reading> {
        let at = self.opened(self.at).0;
        let length = self.text.get(at..)?.trim_end().len();
        Reader::new(self.text, at, self.options).option_text(length)
    }

    /// The text of an option with its letter behind it: "7 (C)", "7, option C".
    fn named_behind(&self, text: &str) -> Option<u32> {
        let text = text.trim().trim_end_matches(['.', '*', '_']);
        let in_brackets = text.strip_suffix(')').and_then(|text| text.rsplit_once('('));
        let (said, name) = in_brackets.or_else(|| text.rsplit_once(", "))?;
        let is_noun = |word: &str| choice::FILLERS.contains(&word) || word == "which";
        let words = name.trim().split(' ').skip_while(|word| is_noun(word));
        let mut words = words.map(|word| word.trim_matches(['*', '_', '(', ')', '`', '"']));
        let letter = words.next().filter(|_| words.next().is_none())?;
        let mut letters = letter.chars();
        let bit = self.options.bit(letters.next()?).filter(|_| letters.next().is_none())?;
        (self.options.matching(said) == Some(bit)).then_some(bit)
    }

    /// One letter, or several that are joined.
    pub(super) fn letters(&self, enclosed: Enclosed) -> Option<Reading> {
        let (at, hedged) = self.opened(self.at);
        if let Some(reading) = self.glued(at) {
            return Some(reading);
        }
        let first = self.letter(at, enclosed)?;
        if self.is_equated(&first) {
            return None;
        }
        let alone = Reading { is_hedge: hedged, ..Reading::new(first.bit, first.start, first.end) };
        let mut reading = alone;
        let mut at = first.after;
        while at < self.at + LETTERS_BYTES_MAX
            && let Some((next, is_or)) = self.joined(at)
        {
            reading.letters |= next.bit;
            reading.end = next.end;
            reading.behind = next.end;
            reading.is_hedge |= is_or;
            at = next.after;
        }
        if matches!(enclosed, Enclosed::Alone) && reading.letters != alone.letters {
            let rest = self.text.get(at..)?;
            if !ends(rest) && !gives_reason(rest) {
                return None;
            }
        }
        // "The answer is A, B and C are wrong": what follows the first is of another clause.
        if reading.letters != alone.letters && self.goes_on_behind(at) {
            return Some(alone);
        }
        for (later, is_or) in self.named_later(at) {
            // Where several are due, those that are not offered instead are named as well.
            if self.options.several && !is_or {
                reading.letters |= later.bit;
                reading.end = reading.end.max(later.end);
            } else {
                reading.is_hedge = true;
            }
        }
        Some(reading)
    }

    /// One letter with a sign and a text behind it, as in a list of options whose texts are not known:
    /// "B. 1.2 m". "B. is too short" says something of it.
    pub(super) fn item(&self) -> Option<Reading> {
        let letter = self.letter(self.opened(self.at).0, Enclosed::No)?;
        let tail = self.text.get(letter.end..)?.trim_start_matches(['*', '_']);
        let said =
            tail.strip_prefix([')', ']', '.', ':'])?.trim_start_matches(['*', '_', ' ', '.', ':']);
        let is_item = self.options.are_unknown() && !is_judged(said);
        is_item.then_some(Reading::new(letter.bit, letter.start, letter.end))
    }

    /// Skips markup, openers and fillers; "either" and "both" announce a hedge.
    fn opened(&self, from: usize) -> (usize, bool) {
        let mut at = from;
        let mut hedged = false;
        while at < self.at + LETTERS_BYTES_MAX {
            let rest = &self.text[at..];
            let blanks = rest.len() - rest.trim_start().len();
            let dress = DRESS.iter().find(|dress| rest.starts_with(**dress));
            at += if blanks > 0 {
                blanks
            } else if let Some(dress) = dress {
                dress.len()
            } else if rest.starts_with(|c: char| OPENERS.contains(c) || TICKS.contains(&c)) {
                rest.chars().next().map_or(0, char::len_utf8)
            } else if let Some(word) =
                choice::FILLERS.iter().find(|word| starts_with_word(rest, word))
            {
                word.len()
            } else if rest.starts_with(',') && self.follows_filler(at) {
                1
            } else if starts_with_word(rest, "either") {
                hedged = true;
                "either".len()
            } else {
                break;
            };
        }
        (at, hedged)
    }

    /// "Hence, C."
    fn follows_filler(&self, at: usize) -> bool {
        at > self.at && self.text.get(..at).is_some_and(|head| head.ends_with(char::is_alphabetic))
    }

    /// "AC", where several options may be asked for.
    fn glued(&self, at: usize) -> Option<Reading> {
        let rest = self.text.get(at..).filter(|_| self.options.several)?;
        let length = rest.bytes().take_while(u8::is_ascii_uppercase).count();
        let after = rest.get(length..)?;
        let mut letters = 0;
        for letter in rest.get(..length)?.chars() {
            letters |= self.options.bit(letter).filter(|bit| letters & bit == 0)?;
        }
        (length > 1 && !is_part(after)).then_some(Reading::new(letters, at, at + length))
    }

    /// Whether something is said to be equal to the letter that is not the text of its option:
    /// "C = wrong".
    fn is_equated(&self, letter: &Letter) -> bool {
        let rest = self.text[letter.after..].trim_start_matches(' ');
        let value = rest.strip_prefix('=').and_then(|value| value.split('\n').next());
        value.is_some_and(|value| self.options.matching(value) != Some(letter.bit))
    }

    /// The letter at `at`, unless it belongs to a word; or the number, where options have numbers.
    fn letter(&self, at: usize, enclosed: Enclosed) -> Option<Letter> {
        let rest = self.text.get(at..)?;
        if rest.starts_with(|c: char| c.is_ascii_digit()) {
            return self.number(at, enclosed);
        }
        let letter = rest.chars().next().filter(char::is_ascii_alphabetic)?;
        let bit = self.options.bit(letter)?;
        let opened = self.text.get(..at)?.chars().next_back();
        let tail = rest.get(1..)?;
        let closed = behind_closers(tail);
        let is_dressed = closed.len() < tail.len()
            && !closed.starts_with(|c: char| c.is_alphanumeric() || "{^".contains(c))
            && opened.is_some_and(|c| "([（【{*_`\"'$“‘".contains(c));
        let goes_on = is_part(tail)
            && !self.is_sum(tail)
            && !choice::AFTER.iter().any(|word| tail.starts_with(word));
        let ends = !goes_on || is_dressed;
        let stands = match enclosed {
            Enclosed::Alone => self.ends_line(bit, closed),
            Enclosed::Yes => !is_article(letter, tail),
            Enclosed::No if letter.is_ascii_uppercase() => is_dressed || !is_word(letter, tail),
            Enclosed::No => is_dressed || ends_sentence(closed),
        };
        let after = self.text.len() - closed.len();
        (ends && stands).then_some(Letter { bit, start: at, end: at + 1, after })
    }

    /// The number of an option at `at`, of which nothing follows that makes it an amount: "3 apples", 1.5.
    fn number(&self, at: usize, enclosed: Enclosed) -> Option<Letter> {
        let rest = self.text.get(at..)?;
        let length = rest.bytes().take_while(u8::is_ascii_digit).count();
        let bit = self.options.numbered(rest.get(..length)?)?;
        let tail = rest.get(length..)?;
        let closed = behind_closers(tail);
        let opened = self.text.get(..at)?.chars().next_back();
        let is_signed = match opened {
            Some('$') => !tail.starts_with('$'),
            Some(c) => "-−+.,/^".contains(c),
            None => false,
        };
        let mut next = closed.chars();
        let is_cut = next.next().is_some_and(|c| ".,:".contains(c))
            && next.next().is_some_and(|c| c.is_ascii_digit());
        let word = closed.trim_start();
        let stands = match enclosed {
            Enclosed::Alone => self.ends_line(bit, closed),
            Enclosed::Yes | Enclosed::No => {
                ends(closed)
                    || gives_reason(closed)
                    || closed.starts_with(['.', ',', ':', ';', '!', '\n'])
                    || (closed.len() < tail.len() && closed.starts_with(' '))
                    || join(word).is_some()
                    || self.options.matching(word.split('\n').next()?) == Some(bit)
            }
        };
        let (end, after) = (at + length, self.text.len() - closed.len());
        (stands && !is_signed && !is_cut).then_some(Letter { bit, start: at, end, after })
    }

    /// "A+C", but not "C++" and "A+".
    fn is_sum(&self, tail: &str) -> bool {
        let Some(rest) = tail.strip_prefix('+') else { return false };
        let mut chars = rest.chars();
        let next = chars.next().and_then(|letter| self.options.bit(letter));
        next.is_some() && !chars.next().is_some_and(char::is_alphanumeric)
    }

    /// Nothing follows on the line but another option, or the text of this one. Where the options
    /// are not known, any text does if the completion is that one line.
    fn ends_line(&self, bit: u32, rest: &str) -> bool {
        let line = rest.split('\n').next().unwrap_or_default();
        let said = self.options.text_behind(line, |c| ").:, *-–—=".contains(c));
        let said = said.trim_end_matches(|c: char| c.is_whitespace() || TICKS.contains(&c));
        let is_one_line = !self.text.trim_start().contains('\n');
        let is_only = self.options.are_unknown() && is_one_line;
        ends(line)
            || gives_reason(line)
            || self.joined(self.text.len() - rest.len()).is_some()
            || (said.len() < line.len()
                && [said, in_brackets(said)]
                    .iter()
                    .any(|text| self.options.matching(text) == Some(bit)))
            || (is_one_line && said.len() < line.len() && self.says_of_own(said, bit))
            || (is_only && line.starts_with([')', '.', ':']))
    }

    /// Whether a text says something of the option whose text it begins with, and names no other one:
    /// "Jupiter is the largest planet."
    fn says_of_own(&self, said: &str, bit: u32) -> bool {
        let rest = self.options.behind_text(said, bit);
        let Some(rest) = rest.filter(|rest| !rest.starts_with(char::is_alphanumeric)) else {
            return false;
        };
        let rest = rest.trim_start_matches(['*', '_', ',', ' ']);
        let mut words = rest.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
        let is_another = |word: &str| {
            let mut letters = word.chars();
            let letter =
                letters.next().filter(|c| c.is_ascii_uppercase() && letters.next().is_none());
            letter.and_then(|letter| self.options.bit(letter)).is_some_and(|other| other != bit)
        };
        rest.starts_with(char::is_lowercase)
            && !words.any(is_another)
            && !qualify::is_denied_after(rest)
            && !self.options.names_other(rest, bit)
    }

    /// The next letter of "A, C", "A or C", "A/C" and "A B".
    fn joined(&self, at: usize) -> Option<(Letter, bool)> {
        let rest = self.text.get(at..)?;
        let mut tail = rest.trim_start_matches([' ', '\t', '~']);
        let blank = tail.len() < rest.len();
        let lines = self.options.several && tail.starts_with('\n');
        let joined = tail.trim_start_matches([',', ';', '/', '&', '+', '|', ' ', '、', '，', '；']);
        let joined = if lines { joined.trim_start() } else { joined };
        let mut is_joined = joined.len() < tail.len();
        tail = joined;
        let mut is_or = false;
        let word = unwrapped(tail);
        if let Some((length, or)) = join(word) {
            tail = word.get(length..)?;
            (is_joined, is_or) = (true, or);
            // The brace that closed a word of LaTeX.
            tail = tail.trim_start().strip_prefix('}').unwrap_or(tail);
        }
        for word in choice::DOUBTING.iter().chain(choice::ADDING) {
            let trimmed = tail.trim_start();
            if is_joined && starts_with_word(trimmed, word) {
                tail = trimmed.get(word.len()..)?;
                is_or |= choice::DOUBTING.contains(word);
            }
        }
        let (start, _) = self.opened(self.text.len() - tail.len());
        let next = self.letter(start, Enclosed::No)?;
        let after = self.text.get(next.after..)?;
        let goes_on = starts_with_word(after.trim_start(), "is")
            || starts_with_word(after.trim_start(), "are");
        let stands = match (is_joined, blank) {
            (true, _) if lines => ends(after),
            (true, _) => !goes_on,
            (false, true) => ends(after) || self.letter_follows(next.after),
            (false, false) => self.options.several && rest.starts_with(['(', '[']),
        };
        stands.then_some((next, is_or))
    }

    /// Whether one more letter is joined, of which something is said.
    fn goes_on_behind(&self, at: usize) -> bool {
        let rest = &self.text[at..];
        let tail = rest.trim_start_matches([',', ' ']);
        let tail = tail.strip_prefix("and ").filter(|tail| tail.len() < rest.len());
        let Some(tail) = tail else { return false };
        let (start, _) = self.opened(self.text.len() - tail.len());
        let after = self.letter(start, Enclosed::No).and_then(|next| self.text.get(next.after..));
        after.is_some_and(|after| starts_with_word(after.trim_start(), "are"))
    }

    /// Whether a blank and another bare letter follow.
    fn letter_follows(&self, at: usize) -> bool {
        let rest = &self.text[at..];
        let next = rest.trim_start_matches([' ', '\t']);
        let letter = self.letter(self.text.len() - next.len(), Enclosed::No);
        next.len() < rest.len() && letter.is_some()
    }

    /// The options that the sentence names further on, and whether instead: "(A) 3 gallons and (B) 9
    /// liters".
    fn named_later(&self, at: usize) -> Vec<(Letter, bool)> {
        let rest = &self.text[at..];
        let rest = &rest[..rest.floor_char_boundary(400)];
        let end = rest.find('\n').into_iter().chain(rest.find(". ")).min().unwrap_or(rest.len());
        let sentence = &rest[..end];
        let listed = [", ("].into_iter().filter(|_| self.options.several);
        let found = choice::LATER_JOINS.iter().copied().chain(listed).flat_map(|join| {
            let places =
                sentence.match_indices(join).map(move |(found, _)| at + found + join.len());
            let first = if self.options.several { usize::MAX } else { 1 };
            places.take(first).map(move |from| (from, join.starts_with(" or")))
        });
        let named =
            found.filter_map(|(from, is_or)| Some((self.letter(from, Enclosed::No)?, is_or)));
        let judged = |letter: &Letter| {
            let after = self.text[letter.after..].trim_start();
            starts_with_word(after, "is") || starts_with_word(after, "are")
        };
        named.filter(|(letter, _)| !judged(letter)).collect()
    }
}

/// The number of "18 apples", where all options are numbers.
fn number_of_unit<'t>(text: &'t str, options: &Options<'_>) -> Option<&'t str> {
    let text = text.trim();
    let (number, unit) = text.split_once(' ')?;
    let is_unit = unit.len() <= 24
        && unit.trim_end_matches('.').chars().all(|c| c.is_lowercase() || c == ' ')
        && qualify::qualifier("", unit).is_none();
    (is_unit && options.are_numbers()).then_some(number)
}

/// A text without the marks at its start that close what stands before it.
fn behind_closers(tail: &str) -> &str {
    let closed = tail
        .trim_start_matches(['*', '_', '`', '"', '\'', ')', '）', ']', '】', '}', '$', '”', '’']);
    CLOSED.iter().find_map(|close| closed.strip_prefix(close)).unwrap_or(closed)
}

/// How much the place restricts what may stand there.
#[derive(Clone, Copy)]
pub(super) enum Enclosed {
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
