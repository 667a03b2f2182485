//! Texts folded for comparison: case, width, ligatures, composed letters, quotation marks.

use std::collections::BTreeMap;
use std::sync::LazyLock;

/// What a character is composed of: another text, by the compatibility decomposition of Unicode.
static PARTS: LazyLock<BTreeMap<char, &'static str>> = LazyLock::new(|| {
    let lines = include_str!("../data/decompositions.txt").lines();
    lines
        .filter_map(|line| line.split_once('\t'))
        .filter_map(|(one, parts)| Some((one.chars().next()?, parts)))
        .collect()
});

/// Whether a character is a mark on the letter before it (the blocks of combining diacritical marks).
pub fn is_mark(c: char) -> bool {
    matches!(c, '\u{300}'..='\u{36f}' | '\u{1ab0}'..='\u{1aff}' | '\u{1dc0}'..='\u{1dff}' | '\u{20d0}'..='\u{20ff}')
}

/// Whether a character is invisible: zero-width signs, joiners, soft hyphens, marks of direction.
pub fn is_invisible(c: char) -> bool {
    matches!(c, '\u{ad}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{2064}' | '\u{feff}')
}

/// Whether a character shows nothing: white space, controls, default ignorable code points (The
/// Unicode Standard, section "Default Ignorable Code Points"), and blank signs. `extract::hidden` of the
/// verifiers, which are built without this crate too, has the same.
pub fn shows_nothing(c: char) -> bool {
    c.is_whitespace()
        || c.is_control()
        || is_invisible(c)
        || matches!(c,
            '\u{34f}' | '\u{61c}' | '\u{115f}'..='\u{1160}' | '\u{17b4}'..='\u{17b5}' | '\u{180b}'..='\u{180f}'
            | '\u{2060}'..='\u{206f}' | '\u{2800}' | '\u{3164}' | '\u{fe00}'..='\u{fe0f}' | '\u{ffa0}'
            | '\u{fff0}'..='\u{fffb}' | '\u{1bca0}'..='\u{1bca3}' | '\u{1d159}'
            | '\u{1d173}'..='\u{1d17a}' | '\u{e0000}'..='\u{e0fff}')
}

/// Whether nothing of a text is seen.
pub fn is_blank(text: &str) -> bool {
    text.chars().all(shows_nothing)
}

/// A text in lower case by Unicode, decomposed by compatibility (NFKD) for Latin, Greek, Cyrillic and
/// full-width letters and digits, signs and ligatures; one kind of quotation marks, dashes and blanks;
/// nothing invisible. Without `accents`, marks on letters are left out too. Linear in the text.
pub fn fold(text: &str, accents: bool) -> String {
    folded(text, accents, false)
}

/// A text as [`fold`] decomposes it, with its case. Linear in the text.
pub fn decomposed(text: &str) -> String {
    folded(text, true, true)
}

fn folded(text: &str, accents: bool, case: bool) -> String {
    let mut out = String::with_capacity(text.len());
    let mut push = |c: char| {
        if case && !is_invisible(c) {
            out.push(c);
        } else if !(is_invisible(c) || !accents && is_mark(c)) {
            out.extend(c.to_lowercase().filter(|c| accents || !is_mark(*c)));
        }
    };
    for c in text.chars() {
        match c {
            c if c.is_ascii() => push(c),
            'ß' | 'ẞ' => "ss".chars().for_each(&mut push),
            'æ' | 'Æ' if !accents => "ae".chars().for_each(&mut push),
            'œ' | 'Œ' if !accents => "oe".chars().for_each(&mut push),
            'ø' | 'Ø' if !accents => push('o'),
            'ł' | 'Ł' if !accents => push('l'),
            'đ' | 'Đ' if !accents => push('d'),
            'ı' => push('i'),
            'ς' => push('σ'),
            '‘' | '’' | '‚' | '‛' | '′' | '`' | '´' => push('\''),
            '“' | '”' | '„' | '‟' | '″' | '«' | '»' => push('"'),
            '‐'..='―' | '−' => push('-'),
            c if c.is_whitespace() => push(' '),
            c => match PARTS.get(&c) {
                Some(parts) => parts.chars().for_each(&mut push),
                None => push(c),
            },
        }
    }
    out
}

/// Whether words of the script of a character stand side by side without blanks.
pub fn is_unspaced(c: char) -> bool {
    matches!(c, '\u{e00}'..='\u{eff}' | '\u{1000}'..='\u{109f}' | '\u{1780}'..='\u{17ff}'
        | '\u{3040}'..='\u{30ff}' | '\u{3400}'..='\u{4dbf}' | '\u{4e00}'..='\u{9fff}'
        | '\u{f900}'..='\u{faff}' | '\u{20000}'..='\u{3ffff}')
}

/// The words of a text: runs of letters, digits and marks, with an apostrophe, a dot or a comma between
/// them (`don't`, `3.5`); a character of a script without blanks is a word by itself. Linear in the text.
pub fn words(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut at = 0;
    std::iter::from_fn(move || {
        let rest = text.get(at..)?;
        let start = at + rest.find(|c: char| c.is_alphanumeric())?;
        let mut chars = text[start..].char_indices().peekable();
        let (_, first) = chars.next()?;
        let mut end = start + first.len_utf8();
        let mut last = first;
        while let Some((offset, c)) = chars.next() {
            let next = chars.peek().map(|(_, next)| *next);
            let joins = match c {
                '\'' | '’' => next.is_some_and(char::is_alphabetic),
                '.' | ',' => {
                    last.is_ascii_digit() && next.is_some_and(|next| next.is_ascii_digit())
                }
                _ => false,
            };
            let goes_on =
                (c.is_alphanumeric() && !is_unspaced(c) || is_mark(c) || c == '_' || joins)
                    && !is_unspaced(first);
            if !(goes_on || is_mark(c) || is_spacing_mark(c)) {
                break;
            }
            (end, last) = (start + offset + c.len_utf8(), c);
        }
        at = end;
        Some((start, &text[start..end]))
    })
}

/// Vowel signs and tones that are no letters by themselves, in scripts of South and South-East Asia.
fn is_spacing_mark(c: char) -> bool {
    matches!(c, '\u{900}'..='\u{dff}' | '\u{e31}' | '\u{e34}'..='\u{e3a}' | '\u{e47}'..='\u{e4e}' | '\u{591}'..='\u{5c7}' | '\u{64b}'..='\u{65f}')
        && !c.is_alphanumeric()
}
