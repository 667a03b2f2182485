//! The tokens of sacrebleu 2.6 by its names `13a`, `intl`, `zh`, `char` and `none`.

use std::borrow::Cow;
use std::sync::LazyLock;

use memchr::{memchr_iter, memchr3_iter};
use regex_syntax::hir::{Class, HirKind};

use crate::scan::{BLOCK, Block, Tokens, bits};

/// How a text is split.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum WordSplit {
    /// As mteval-v13a: ASCII punctuation stands alone, but for full stops and commas within numbers.
    #[default]
    Mteval13a,
    /// As mteval-v14: the same for all punctuation and symbols of Unicode; references stay.
    International,
    /// Chinese characters stand alone, the rest is as in 13a; references stay.
    Chinese,
    /// Every character.
    Characters,
    /// At white space.
    Space,
}

/// What 13a replaces first, in order.
const REPLACED: [(&str, &str); 6] = [
    ("<skipped>", ""),
    ("-\n", ""),
    ("&quot;", "\""),
    ("&amp;", "&"),
    ("&lt;", "<"),
    ("&gt;", ">"),
];

/// White space as Python has it.
pub fn is_space(letter: char) -> bool {
    letter.is_whitespace() || ('\u{1c}'..='\u{1f}').contains(&letter)
}

/// The words between white space.
pub(crate) fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(is_space).filter(|word| !word.is_empty())
}

/// What a character does to its neighbours.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Space,
    /// It is a token.
    Alone,
    /// It is a token unless digits are on both sides.
    Mark,
    Digit,
    /// It is a token behind a digit.
    Hyphen,
    Other,
}

impl WordSplit {
    /// The text of which [`WordSplit::split`] takes the tokens. Linear.
    pub(crate) fn prepared(self, text: &str, lower: bool) -> Cow<'_, str> {
        let mut text = if lower { lowered(text) } else { Cow::Borrowed(text) };
        if self == Self::Mteval13a {
            // White space at the end goes first.
            text = match text {
                Cow::Borrowed(text) => Cow::Borrowed(text.trim_end_matches(is_space)),
                Cow::Owned(text) => Cow::Owned(text.trim_end_matches(is_space).to_owned()),
            };
            let bytes = text.as_bytes();
            let is_at = |at: usize| {
                let (_, rest) = bytes.split_at(at);
                REPLACED.iter().any(|(from, _)| rest.starts_with(from.as_bytes()))
            };
            if memchr3_iter(b'<', b'-', b'&', bytes).any(is_at) {
                text = REPLACED.iter().fold(text, |text, (from, to)| text.replace(from, to).into());
            }
        }
        text
    }

    /// Calls `token` with each token. Linear.
    #[expect(clippy::indexing_slicing, reason = "a letter lies within its text")]
    pub(crate) fn split<'t>(self, text: &'t str, mut token: impl FnMut(&'t [u8])) {
        match self {
            Self::Space => words(text).for_each(|word| token(word.as_bytes())),
            Self::Characters => {
                let letters = text.char_indices().filter(|(_, letter)| !is_space(*letter));
                letters
                    .for_each(|(at, letter)| token(&text.as_bytes()[at..at + letter.len_utf8()]));
            }
            _ => self.by_marks(text.trim_end_matches(is_space), token),
        }
    }

    /// Reads the tokens of a text. Linear.
    pub(crate) fn read(self, text: &str, tokens: &mut Tokens) {
        if self == Self::Mteval13a && !has_wide_space(text) {
            tokens.clear(text);
            tokens.read(mteval);
        } else {
            tokens.clear("");
            self.split(text, |token| {
                let key = tokens.key(token);
                tokens.keys.push(key);
            });
        }
    }

    /// The kind of the character that starts at a byte, and its length.
    fn kind(self, text: &str, at: usize) -> (Kind, usize) {
        let letter = match text.as_bytes().get(at) {
            Some(byte) if byte.is_ascii() => return (self.ascii(*byte), 1),
            _ => match text[at..].chars().next() {
                Some(letter) => letter,
                None => return (Kind::Space, 0),
            },
        };
        let kind = match self {
            _ if is_space(letter) => Kind::Space,
            Self::International => international(letter),
            Self::Chinese if is_chinese(letter) => Kind::Alone,
            _ => Kind::Other,
        };
        (kind, letter.len_utf8())
    }

    /// How many characters of ASCII that do nothing to their neighbours a text begins with.
    fn others(self, text: &[u8]) -> usize {
        let is_other = |byte: &u8| byte.is_ascii() && self.ascii(*byte) == Kind::Other;
        text.iter().position(|byte| !is_other(byte)).unwrap_or(text.len())
    }

    #[expect(clippy::indexing_slicing, reason = "the tables have 128 entries")]
    fn ascii(self, byte: u8) -> Kind {
        let table = if self == Self::International { &BY_UNICODE } else { &BY_MTEVAL };
        table[usize::from(byte & 127)]
    }

    /// What the substitutions of the scripts come to, one after another, in one pass: in a run of
    /// marks each is a token, but for a single mark between digits, and for the last one before a
    /// digit where the pairs of the first substitution leave it. Beside the ends of the text are
    /// blanks in 13a, and nothing, which counts as a digit, in the others.
    #[expect(clippy::indexing_slicing, reason = "tokens lie within the text")]
    fn by_marks<'t>(self, text: &'t str, mut token: impl FnMut(&'t [u8])) {
        let text = if self == Self::Chinese { text.trim_matches(is_space) } else { text };
        let edge = self != Self::Mteval13a;
        let (mut at, mut start, mut after_digit) = (0, 0, edge);
        let mut flush = |from: usize, to: usize| {
            if from < to {
                token(&text.as_bytes()[from..to]);
            }
        };
        while at < text.len() {
            let (kind, length) = self.kind(text, at);
            let end = at + length;
            match kind {
                Kind::Other => {
                    after_digit = false;
                    at = end + self.others(&text.as_bytes()[end..]);
                    continue;
                }
                Kind::Digit => after_digit = true,
                Kind::Hyphen if !after_digit || at == 0 => after_digit = false,
                Kind::Space | Kind::Alone | Kind::Hyphen => {
                    flush(start, at);
                    flush(if kind == Kind::Space { end } else { at }, end);
                    (start, after_digit) = (end, false);
                }
                Kind::Mark => {
                    let (mut last, mut next, mut run) = (at, end, 1_usize);
                    let mut after = self.kind(text, next);
                    while after.0 == Kind::Mark && next < text.len() {
                        (last, next, run) = (next, next + after.1, run + 1);
                        after = self.kind(text, next);
                    }
                    let before_digit =
                        if next < text.len() { after.0 == Kind::Digit } else { edge };
                    if !(before_digit && after_digit && run == 1) {
                        flush(start, at);
                        let joins = before_digit && after_digit == (run % 2 == 1);
                        let alone = if joins { last } else { next };
                        let mut from = at;
                        while from < alone {
                            let to = from + self.kind(text, from).1;
                            flush(from, to);
                            from = to;
                        }
                        start = alone;
                    }
                    (at, after_digit) = (next, false);
                    continue;
                }
            }
            at = end;
        }
        flush(start, text.len());
    }
}

/// Whether a text has white space beyond ASCII, of which these are the first bytes.
pub(crate) fn has_wide_space(text: &str) -> bool {
    let is_space_at =
        |at| text.get(at..).and_then(|rest| rest.chars().next()).is_some_and(is_space);
    let bytes = text.as_bytes();
    memchr3_iter(0xc2, 0xe2, 0xe3, bytes).chain(memchr_iter(0xe1, bytes)).any(is_space_at)
}

/// The bytes of the block at a place of a text that are white space, and those that 13a makes tokens.
#[inline]
fn mteval(text: &[u8], at: usize, block: &Block) -> (u64, u64) {
    let is_mark = |byte| matches!(byte, b'.' | b',');
    let space = bits(block, |byte| matches!(byte, b'\t'..=b'\r' | 0x1c..=b' '));
    let digit = bits(block, |byte| byte.is_ascii_digit());
    let mark = bits(block, is_mark);
    let hyphen = bits(block, |byte| byte == b'-');
    let mut alone = bits(
        block,
        |byte| matches!(byte, b'!'..=b'&' | b'('..=b'+' | b'/' | b':'..=b'@' | b'['..=b'`' | b'{'..=b'~'),
    );
    let (before, after) = text.split_at(at);
    let is_digit = |byte: Option<&u8>| byte.is_some_and(u8::is_ascii_digit);
    let after_digit = (digit << 1) | u64::from(is_digit(before.last()));
    let before_digit = (digit >> 1) | (u64::from(is_digit(after.get(BLOCK))) << 63);
    alone |= (hyphen & after_digit) | (mark & !(after_digit & before_digit));
    // Where several marks come before a digit, the pairs of the first substitution may leave the last one.
    let after_mark = (mark << 1) | u64::from(before.last().is_some_and(|byte| is_mark(*byte)));
    let mut last = mark & after_mark & before_digit;
    while last != 0 {
        let (before, _) = text.split_at(at + last.trailing_zeros() as usize + 1);
        let run = before.iter().rev().take_while(|byte| is_mark(**byte)).count();
        if is_digit(before.iter().rev().nth(run)) == (run % 2 == 1) {
            alone &= !(last & last.wrapping_neg());
        }
        last &= last - 1;
    }
    (space, alone)
}

/// The kinds of ASCII characters in mteval-v13a.
const BY_MTEVAL: [Kind; 128] = kinds(false);
/// Those by the categories of Unicode.
const BY_UNICODE: [Kind; 128] = kinds(true);

#[expect(clippy::indexing_slicing, reason = "a loop over the table, in a constant")]
const fn kinds(by_unicode: bool) -> [Kind; 128] {
    let mut out = [Kind::Other; 128];
    let mut byte = 0_u8;
    while byte < 128 {
        out[byte as usize] = match byte {
            b'\t'..=b'\r' | 0x1c..=b' ' => Kind::Space,
            b'0'..=b'9' => Kind::Digit,
            b'$' | b'+' | b'<'..=b'>' | b'^' | b'`' | b'|' | b'~' => Kind::Alone,
            b'.' | b',' => Kind::Mark,
            b'-' if !by_unicode => Kind::Hyphen,
            b'\'' if !by_unicode => Kind::Other,
            b'!'..=b'/' | b':'..=b'@' | b'['..=b'`' | b'{'..=b'~' => {
                if by_unicode {
                    Kind::Mark
                } else {
                    Kind::Alone
                }
            }
            _ => Kind::Other,
        };
        byte += 1;
    }
    out
}

/// In lower case. Linear.
pub(crate) fn lowered(text: &str) -> Cow<'_, str> {
    let is_lower = text.bytes().all(|byte| byte.is_ascii() && !byte.is_ascii_uppercase());
    if is_lower { Cow::Borrowed(text) } else { Cow::Owned(text.to_lowercase()) }
}

/// What sacrebleu takes for Chinese. The third range is what its `\u20000` to `\u2a6d6` come to.
fn is_chinese(letter: char) -> bool {
    matches!(letter, '\u{2001}'..='\u{2a6d}' | '\u{2e80}'..='\u{2eff}' | '\u{2f00}'..='\u{2fdf}'
        | '\u{2ff0}'..='\u{303f}' | '\u{3100}'..='\u{312f}' | '\u{31a0}'..='\u{31bf}'
        | '\u{31c0}'..='\u{31ef}' | '\u{3200}'..='\u{33ff}' | '\u{3400}'..='\u{4db5}'
        | '\u{4e00}'..='\u{9fbb}' | '\u{f900}'..='\u{fa2d}' | '\u{fa30}'..='\u{fa6a}'
        | '\u{fa70}'..='\u{fad9}' | '\u{fe10}'..='\u{fe1f}' | '\u{fe30}'..='\u{fe4f}'
        | '\u{ff00}'..='\u{ffef}')
}

/// Ranges of characters, in order.
type Ranges = Vec<(char, char)>;

/// Those of a class.
fn ranges(class: &str) -> Ranges {
    match regex_syntax::parse(class).map(regex_syntax::hir::Hir::into_kind) {
        Ok(HirKind::Class(Class::Unicode(class))) => {
            class.ranges().iter().map(|range| (range.start(), range.end())).collect()
        }
        _ => Vec::new(),
    }
}

fn international(letter: char) -> Kind {
    static CLASSES: LazyLock<[(Ranges, Kind); 3]> = LazyLock::new(|| {
        [(r"\pP", Kind::Mark), (r"\pS", Kind::Alone), (r"\pN", Kind::Digit)]
            .map(|(class, kind)| (ranges(class), kind))
    });
    let within = |ranges: &[(char, char)]| {
        let next = ranges.partition_point(|(start, _)| *start <= letter);
        next > 0 && ranges.get(next - 1).is_some_and(|(_, end)| letter <= *end)
    };
    CLASSES.iter().find(|(ranges, _)| within(ranges)).map_or(Kind::Other, |(_, kind)| *kind)
}
