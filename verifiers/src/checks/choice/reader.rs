//! Reads the option at an expected place: after "the answer is", in a box, or alone on a line.

use super::options::Options;

/// The options that a place names, and their span.
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

/// The most bytes that are read behind one cue.
const NEAR_BYTES_MAX: usize = 4 * OPTION_BYTES_MAX;

/// The most bytes of letters and markup that are read as one answer.
const LETTERS_BYTES_MAX: usize = 512;

/// Words that may stand between "the answer is" and the option.
#[rustfmt::skip]
const FILLERS: &[&str] = &[
    "option", "options", "choice", "choices", "answer", "answers", "letter", "letters", "the", "is",
    "be", "it's", "it’s", "it", "must", "so", "hence", "therefore", "thus", "then", "clearly",
    "certainly", "definitely", "obviously", "surely", "likely", "probably", "most", "only", "both",
    "closest to",
    "选项", "選項", "選択肢", "就是", "la", "el", "le", "die", "der", "das", "opción", "opzione",
    "opção", "alternativa", "letra", "lettre", "lettera", "réponse", "respuesta", "antwort",
    "вариант", "буква",
];

/// Commands of LaTeX that only style their argument.
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

    /// Reads a text that is announced as the answer: one that is held by a box, a tag or a member,
    /// or one that is said.
    pub(super) fn held(text: &'a str, options: &'a Options<'a>, is_said: bool) -> Option<Reading> {
        let reader = Reader::near(text, 0, options);
        let enclosed = if is_said { Enclosed::No } else { Enclosed::Yes };
        reader.letters(enclosed).or_else(|| reader.option_text(text.len()))
    }

    /// Reads the options that end before `end`, as in "(A) and (C) are correct".
    pub(super) fn before(text: &'a str, end: usize, options: &'a Options<'a>) -> Option<Reading> {
        let head = text.get(..end)?;
        let near = head.floor_char_boundary(end.saturating_sub(2 * OPTION_BYTES_MAX));
        let line = head.get(near..)?.rfind('\n').map_or(near, |at| near + at + 1);
        let whole = Reader::new(head, line, options).letters(Enclosed::No).filter(|reading| {
            let said = head.get(reading.end..).unwrap_or_default();
            let said = said.trim_start_matches([')', ']', '.', ':', '*', '-', ' ']);
            said.len() <= OPTION_BYTES_MAX && options.matching(said) == Some(reading.letters)
        });
        if whole.is_some() {
            return whole;
        }
        let mut from = head.trim_end().len();
        let mut start = None;
        for _ in 0..=options.count() {
            let head =
                text.get(..from)?.trim_end_matches([')', ']', '*', '_', '`', '"', '\'', '$']);
            let before = head.strip_suffix(|c: char| c.is_ascii_uppercase())?;
            if before.ends_with(|c: char| c.is_alphanumeric() || "'’-_^\\".contains(c)) {
                break;
            }
            start = Some(before.len());
            let lead = before.trim_end_matches(['(', '[', '*', '_', '`', '"', '\'', '$', ' ']);
            let joined =
                [" and", " or", ",", "&", "/"].iter().find_map(|join| lead.strip_suffix(join));
            let Some(joined) = joined else { break };
            from = joined.trim_end_matches([' ', ',']).len();
            let goes_on =
                text.get(..from)?.trim_end_matches([')', ']', '*', '_', '`', '"', '\'', '$']);
            let letter = goes_on.strip_suffix(|c: char| c.is_ascii_uppercase());
            if letter.is_none_or(|before| before.ends_with(char::is_alphanumeric)) {
                break;
            }
        }
        Reader::new(head, start?, options).letters(Enclosed::Yes)
    }

    /// Reads a text that is nothing but an option, or whose last line is, or else its first.
    pub(super) fn alone(text: &'a str, options: &'a Options<'a>) -> Option<Reading> {
        let body = text.trim_end();
        let whole = Reader::new(body, body.len() - body.trim_start().len(), options);
        if let Some(reading) = whole.option_text(body.len() - whole.at) {
            return Some(reading);
        }
        let mut lines: Vec<Option<Reading>> = last_lines(body)
            .map(|(start, end)| {
                // With the end of the line, which tells it from a text of one line.
                let to = body.len().min(end + 1);
                let line = Reader::new(body.get(..to).unwrap_or_default(), start, options);
                line.letters(Enclosed::Alone).or_else(|| line.option_text(end - start))
            })
            .collect();
        lines.reverse();
        if !options.several {
            leave_out_lists(&mut lines);
        }
        let last = lines.pop()??;
        // Letters on lines of their own are offered together.
        let above = lines.iter().rev().map_while(|line| *line);
        Some(above.fold(last, |all, line| Reading {
            letters: all.letters | line.letters,
            is_hedge: all.is_hedge | line.is_hedge,
            start: line.start,
            first_end: line.first_end,
            end: all.end,
        }))
    }

    /// Reads a first line that is nothing but an option, before text that explains it.
    pub(super) fn first_line(text: &'a str, options: &'a Options<'a>) -> Option<Reading> {
        let start = text.len() - text.trim_start().len();
        let end = start + text.get(start..)?.find('\n')?;
        let line = Reader::new(text.get(..=end)?, start, options);
        let reading = line.letters(Enclosed::Alone)?;
        let is_capital = text.get(reading.start..)?.starts_with(|c: char| c.is_ascii_uppercase());
        // A list of the options is not an answer.
        let next = text.get(end..)?.trim_start();
        let next = Reader::near(next, 0, options).letters(Enclosed::Alone);
        (is_capital && next.is_none()).then_some(reading)
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
        let text = self.text.get(self.at..end)?;
        let letters = self.options.matching(text).or_else(|| self.named_behind(text))?;
        Some(Reading { letters, is_hedge: false, start: self.at, first_end: end, end })
    }

    /// The text of an option with its letter in brackets behind it: "7 (C)".
    fn named_behind(&self, text: &str) -> Option<u32> {
        let (said, letter) =
            text.trim().trim_end_matches('.').strip_suffix(')')?.rsplit_once('(')?;
        let mut letters = letter.chars();
        let bit = self.options.bit(letters.next()?).filter(|_| letters.next().is_none())?;
        (self.options.matching(said) == Some(bit)).then_some(bit)
    }

    /// One letter, or several that are joined.
    fn letters(&self, enclosed: Enclosed) -> Option<Reading> {
        let (at, hedged) = self.opened(self.at);
        if let Some(reading) = self.glued(at) {
            return Some(reading);
        }
        let first = self.letter(at, enclosed)?;
        if self.is_equated(&first) {
            return None;
        }
        let mut reading = Reading {
            letters: first.bit,
            is_hedge: hedged,
            start: first.start,
            first_end: first.end,
            end: first.end,
        };
        let mut at = first.after;
        let alone = reading;
        while at < self.at + LETTERS_BYTES_MAX
            && let Some((next, is_or)) = self.joined(at)
        {
            reading.letters |= next.bit;
            reading.end = next.end;
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
        reading.is_hedge |= self.hedged_later(at);
        Some(reading)
    }

    /// Whether the option that was read begins a list of all of them.
    pub(super) fn lists(text: &str, reading: &Reading, options: &Options<'_>) -> bool {
        let rest = text.get(reading.end..).unwrap_or_default();
        let rest = rest.get(..rest.floor_char_boundary(NEAR_BYTES_MAX)).unwrap_or_default();
        let next = rest.split('\n').skip(1).find(|line| !line.trim().is_empty());
        let next = next.and_then(|line| {
            // With the end of the line, which tells it from a text of one line.
            let line = format!("{line}\n");
            Reader::new(&line, 0, options).letters(Enclosed::Alone).map(|next| next.letters)
        });
        reading.letters == 1 && next == Some(2) && !options.several
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
            } else if rest.starts_with([
                '*', '_', '`', '$', '"', '\'', ':', '：', '{', '(', '（', '[', '【', '“', '‘', '-',
                '•', '→',
            ]) {
                rest.chars().next().map_or(0, char::len_utf8)
            } else if let Some(word) = FILLERS.iter().find(|word| starts_with_word(rest, word)) {
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
        let end = at + length;
        let ends = !after.starts_with(|c: char| c.is_alphanumeric() || "'’-_^=+#".contains(c));
        (length > 1 && ends).then_some(Reading {
            letters,
            is_hedge: false,
            start: at,
            first_end: end,
            end,
        })
    }

    /// Whether something is said to be equal to the letter that is not the text of its option:
    /// "C = wrong".
    fn is_equated(&self, letter: &Letter) -> bool {
        let rest = self.text.get(letter.after..).unwrap_or_default().trim_start_matches(' ');
        let value = rest.strip_prefix('=').and_then(|value| value.split('\n').next());
        value.is_some_and(|value| self.options.matching(value) != Some(letter.bit))
    }

    /// The letter at `at`, unless it belongs to a word.
    fn letter(&self, at: usize, enclosed: Enclosed) -> Option<Letter> {
        let rest = self.text.get(at..)?;
        let letter = rest.chars().next().filter(char::is_ascii_alphabetic)?;
        let bit = self.options.bit(letter)?;
        let opened = self.text.get(..at)?.chars().next_back();
        let tail = rest.get(1..)?;
        let closed = tail.trim_start_matches([
            '*', '_', '`', '"', '\'', ')', '）', ']', '】', '}', '$', '”', '’',
        ]);
        let closed = closed.strip_prefix("\\)").or(closed.strip_prefix("\\]")).unwrap_or(closed);
        let is_dressed = closed.len() < tail.len()
            && !closed.starts_with(|c: char| c.is_alphanumeric() || "{^".contains(c))
            && opened.is_some_and(|c| "([（【{*_`\"'$“‘".contains(c));
        let goes_on = tail.starts_with(|c: char| c.is_alphanumeric() || "'’-_^=+#".contains(c))
            && !self.is_sum(tail);
        let ends = !goes_on || is_dressed;
        let stands = match enclosed {
            Enclosed::Alone => self.ends_line(bit, closed),
            Enclosed::Yes => true,
            Enclosed::No => is_dressed || (letter.is_ascii_uppercase() && !is_word(letter, tail)),
        };
        let after = self.text.len() - closed.len();
        (ends && stands).then_some(Letter { bit, start: at, end: at + 1, after })
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
        let said = line.trim_start_matches([')', '.', ':', ' ', '*', '-', '–', '—', '=']);
        let is_only = self.options.are_unknown() && !self.text.trim_start().contains('\n');
        ends(line)
            || gives_reason(line)
            || self.joined(self.text.len() - rest.len()).is_some()
            || (said.len() < line.len() && self.options.matching(in_brackets(said)) == Some(bit))
            || (is_only && line.starts_with([')', '.', ':']))
    }

    /// The next letter of "A, C", "A or C", "A/C" and "A B".
    fn joined(&self, at: usize) -> Option<(Letter, bool)> {
        let rest = self.text.get(at..)?;
        let mut tail = rest.trim_start_matches([' ', '\t']);
        let blank = tail.len() < rest.len();
        let lines = self.options.several && tail.starts_with('\n');
        let joined = tail.trim_start_matches([',', ';', '/', '&', '+', '|', ' ', '、', '，', '；']);
        let joined = if lines { joined.trim_start() } else { joined };
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
            (true, _) if lines => ends(after),
            (true, _) => !goes_on,
            (false, true) => ends(after) || self.letter_follows(next.after),
            (false, false) => self.options.several && rest.starts_with(['(', '[']),
        };
        stands.then_some((next, is_or))
    }

    /// Whether one more letter is joined, of which something is said.
    fn goes_on_behind(&self, at: usize) -> bool {
        let rest = self.text.get(at..).unwrap_or_default();
        let tail = rest.trim_start_matches([',', ' ']);
        let tail = tail.strip_prefix("and ").filter(|tail| tail.len() < rest.len());
        let Some(tail) = tail else { return false };
        let (start, _) = self.opened(self.text.len() - tail.len());
        let after = self.letter(start, Enclosed::No).and_then(|next| self.text.get(next.after..));
        after.is_some_and(|after| starts_with_word(after.trim_start(), "are"))
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

/// Lines at the end of a text that are read.
const LINES_MAX: usize = 40;

/// The last lines that are not empty, without marks of a list, the last one first.
fn last_lines(body: &str) -> impl Iterator<Item = (usize, usize)> {
    let mut end = Some(body.len());
    let lines = std::iter::from_fn(move || {
        let to = end?;
        let start = body.get(..to)?.rfind('\n').map_or(0, |at| at + 1);
        end = start.checked_sub(1);
        Some((start, to))
    });
    let full = lines
        .filter(|(start, end)| body.get(*start..*end).is_some_and(|line| !line.trim().is_empty()));
    full.take(LINES_MAX)
}

/// Leaves out lines that list the options in their order from A on, as a copy of the question does.
fn leave_out_lists(lines: &mut [Option<Reading>]) {
    let mut at = 0;
    while at < lines.len() {
        let rest = lines.get_mut(at..).unwrap_or_default();
        let in_order = |(nth, line): &(usize, &Option<Reading>)| {
            u32::try_from(*nth).ok().and_then(|nth| 1_u32.checked_shl(nth))
                == line.map(|line| line.letters)
        };
        let length = rest.iter().enumerate().take_while(in_order).count();
        if length > 1 {
            rest.iter_mut().take(length).for_each(|line| *line = None);
        }
        at += length.max(1);
    }
}

/// How much the place restricts what may stand there.
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

/// What brackets around all of a text hold: "(7)".
fn in_brackets(text: &str) -> &str {
    let inner = text.trim().strip_prefix('(').and_then(|text| text.strip_suffix(')'));
    inner.unwrap_or(text)
}

/// "C, since 7 is prime."
fn gives_reason(rest: &str) -> bool {
    let rest = rest.trim_start_matches([',', ' ']);
    ["because", "since"].iter().any(|word| starts_with_word(rest, word))
}

/// Nothing but signs follow on the line.
fn ends(rest: &str) -> bool {
    let rest = rest.strip_prefix(" only").unwrap_or(rest);
    let mut line = rest.chars().take_while(|c| *c != '\n');
    line.all(|c| c.is_whitespace() || ".,;:!*)]}`$\"'。".contains(c))
}

/// "A" and "I" are words as well.
fn is_word(letter: char, tail: &str) -> bool {
    let follows = tail.strip_prefix([' ', '\t']).unwrap_or_default();
    let word: String = follows.chars().take_while(|c| c.is_alphabetic()).collect();
    matches!(letter, 'A' | 'I')
        && word.chars().next().is_some_and(char::is_lowercase)
        && !FOLLOWERS.contains(&word.as_str())
}
