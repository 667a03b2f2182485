//! The profiles of languages: how often each has an n-gram of one to three characters.

use std::collections::HashMap;
use std::sync::LazyLock;

const LANGUAGES: &str = include_str!("../data/languages.txt");
const GRAMS: &[u8] = include_bytes!("../data/profiles.bin");
const KANJI: &str = include_str!("../data/kanji.txt");

/// How many languages have a profile.
pub(crate) const COUNT: usize = 55;
/// Slots of the table, a power of two.
const BITS: u32 = 18;

/// N-grams and what they say of languages.
pub(crate) struct Grams {
    /// The code of each language.
    pub(crate) codes: Vec<&'static str>,
    /// Open addressing: a packed n-gram, and where its list starts. No n-gram packs to 0.
    slots: Vec<(u64, u32)>,
    /// Where the list starts of an n-gram of Latin letters and blanks, plus 1, by its [`index`].
    latin: Vec<u32>,
    /// Lists of languages with the share of the n-gram among those of its length, each ended by
    /// `COUNT`.
    lists: Vec<(u8, f64)>,
}

pub(crate) static TABLE: LazyLock<Grams> = LazyLock::new(Grams::read);

/// A character of CJK, and the one that stands for its class.
pub(crate) static CLASSES: LazyLock<HashMap<char, char>> = LazyLock::new(|| {
    let class =
        |line: &'static str| line.chars().map(move |c| (c, line.chars().next().unwrap_or(c)));
    KANJI.lines().flat_map(class).collect()
});

/// Up to three characters, the last one lowest.
pub(crate) fn pack(gram: &[char]) -> u64 {
    gram.iter().fold(0, |packed, &c| packed << 21 | u64::from(u32::from(c)))
}

fn place(gram: u64) -> usize {
    (gram.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> (64 - BITS)) as usize
}

/// How many codes Latin letters have: 0 for none, 1 for the blank, then the letters.
pub(crate) const LETTERS: usize = 54;

/// The code of a Latin letter or a blank.
pub(crate) fn letter(c: char) -> Option<usize> {
    match c {
        ' ' => Some(1),
        'A'..='Z' => Some(c as usize - 'A' as usize + 2),
        'a'..='z' => Some(c as usize - 'a' as usize + 28),
        _ => None,
    }
}

/// An n-gram of letters, followed by one more; of more than three the first is dropped.
pub(crate) fn index(gram: usize, letter: usize) -> usize {
    gram % (LETTERS * LETTERS) * LETTERS + letter
}

impl Grams {
    /// The list of an n-gram of Latin letters and blanks.
    pub(crate) fn find_latin(&self, index: usize) -> Option<u32> {
        self.latin.get(index).and_then(|list| list.checked_sub(1))
    }

    /// The list of an n-gram.
    pub(crate) fn find(&self, gram: u64) -> Option<u32> {
        let mut at = place(gram);
        while let Some(&(own, list)) = self.slots.get(at % (1 << BITS)) {
            if own == gram {
                return Some(list);
            }
            if own == 0 {
                return None;
            }
            at += 1;
        }
        None
    }

    /// The languages that have an n-gram, with its share in each.
    pub(crate) fn shares(&self, list: u32) -> impl Iterator<Item = (usize, f64)> {
        let rest = self.lists.iter().skip(list as usize);
        rest.map(|&(language, share)| (usize::from(language), share))
            .take_while(|&(language, _)| language < COUNT)
    }

    /// The file is a series of n-grams in order. Each is a byte (characters shared with the one
    /// before, characters of its own, four bits each), its own characters, the count of languages,
    /// and for each a byte and a count in groups of seven bits, the lowest first.
    fn read() -> Grams {
        let numbers = |line: &'static str| {
            let mut words = line.split(' ');
            let code = words.next();
            let totals: Vec<f64> = words.filter_map(|word| word.parse().ok()).collect();
            code.map(|code| (code, totals))
        };
        let (codes, totals): (Vec<_>, Vec<_>) = LANGUAGES.lines().filter_map(numbers).unzip();
        let mut table = Grams {
            codes,
            slots: vec![(0, 0); 1 << BITS],
            latin: vec![0; LETTERS * LETTERS * LETTERS],
            lists: Vec::new(),
        };
        let mut bytes = GRAMS.iter().copied();
        let mut gram: Vec<char> = Vec::new();
        while let Some(head) = bytes.next() {
            gram.truncate(usize::from(head >> 4));
            gram.extend((0..head & 15).filter_map(|_| character(&mut bytes)));
            let list = u32::try_from(table.lists.len());
            for _ in 0..bytes.next().unwrap_or_default() {
                let language = bytes.next().unwrap_or_default();
                let count = count(&mut bytes);
                let total = totals.get(usize::from(language));
                let total = total.and_then(|totals| totals.get(gram.len().wrapping_sub(1)));
                if let Some(total) = total {
                    table.lists.push((language, count / total));
                }
            }
            table.lists.push((u8::MAX, 0.0));
            if let Ok(list) = list {
                let latin = gram.iter().try_fold(0, |at, &c| Some(index(at, letter(c)?)));
                if let Some(slot) = latin.and_then(|at| table.latin.get_mut(at)) {
                    *slot = list + 1;
                }
                table.insert(pack(&gram), list);
            }
        }
        table
    }

    fn insert(&mut self, gram: u64, list: u32) {
        let mut at = place(gram);
        while let Some(slot) = self.slots.get_mut(at % (1 << BITS)) {
            if slot.0 == 0 {
                *slot = (gram, list);
                return;
            }
            at += 1;
        }
    }
}

/// The next character of UTF-8.
fn character(bytes: &mut impl Iterator<Item = u8>) -> Option<char> {
    let first = bytes.next()?;
    let (more, bits) = match first {
        0..0x80 => (0, first),
        0x80..0xe0 => (1, first & 0x1f),
        0xe0..0xf0 => (2, first & 0x0f),
        _ => (3, first & 0x07),
    };
    let join = |code: u32, byte: u8| code << 6 | u32::from(byte & 0x3f);
    char::from_u32(bytes.take(more).fold(u32::from(bits), join))
}

fn count(bytes: &mut impl Iterator<Item = u8>) -> f64 {
    let (mut count, mut shift) = (0_u32, 0);
    for byte in bytes {
        count |= u32::from(byte & 0x7f) << shift;
        if byte < 0x80 {
            break;
        }
        shift += 7;
    }
    f64::from(count)
}
