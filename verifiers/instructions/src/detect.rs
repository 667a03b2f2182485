//! The language of a text, as the Python package `langdetect` 1.0.9 says it with seed 0.
//!
//! N-grams that some profile has are drawn at random, and each multiplies the probability of every
//! language, until one is almost certain; seven such trials are averaged.

use std::convert::Infallible;

use crate::profiles::{CLASSES, COUNT, LETTERS, TABLE, index, letter, pack};
use crate::twister::Twister;

const TRIALS: u32 = 7;
const STEPS_MAX: usize = 1000;
/// What a step costs: 55 products.
const STEP_COST: u64 = 15;
const CHARACTERS_MAX: usize = 10_000;
/// Probabilities that are not above it are not told.
const TOLD: f64 = 0.1;
const CERTAIN: f64 = 0.99999;
const ALPHA: f64 = 0.5;
const ALPHA_WIDTH: f64 = 0.05;
/// As many as have a profile.
const LANGUAGES: f64 = 55.0;
const BASE: f64 = 10_000.0;

/// What a text may be written in: codes with their probabilities, the most probable first.
///
/// `None` where the text has no letters that any profile knows. The list may be empty, where no
/// language has a probability above 0.1. The cost is linear in the text, and at most about 0.5 ms.
pub fn languages(text: &str) -> Option<Vec<(&'static str, f64)>> {
    likely(&grams(text), &mut |_| Ok::<(), Infallible>(())).unwrap_or_else(|never| match never {})
}

/// Codes of languages with their probabilities, the most probable first.
pub(crate) type Likely = Option<Vec<(&'static str, f64)>>;

/// What a text may be written in whose n-grams these are. `pay` is told the steps of each trial.
pub(crate) fn likely<E>(
    grams: &[u32],
    pay: &mut dyn FnMut(u64) -> Result<(), E>,
) -> Result<Likely, E> {
    let Some(count) = u32::try_from(grams.len()).ok().filter(|&count| count > 0) else {
        return Ok(None);
    };
    let mut draws = Twister::new();
    let mut mean = [0.0; COUNT];
    for _ in 0..TRIALS {
        let mut shares = [1.0 / LANGUAGES; COUNT];
        let weight = (ALPHA + draws.gauss() * ALPHA_WIDTH) / BASE;
        let mut steps = 0;
        for step in 0..=STEPS_MAX {
            steps += STEP_COST;
            let Some(&list) = grams.get(draws.below(count) as usize) else { continue };
            let mut factors = [weight; COUNT];
            for (language, share) in TABLE.shares(list) {
                if let Some(factor) = factors.get_mut(language) {
                    *factor += share;
                }
            }
            shares.iter_mut().zip(factors).for_each(|(share, factor)| *share *= factor);
            if step % 5 == 0 && normalise(&mut shares) > CERTAIN {
                break;
            }
        }
        pay(steps)?;
        mean.iter_mut().zip(shares).for_each(|(mean, share)| *mean += share / f64::from(TRIALS));
    }
    let named = TABLE.codes.iter().copied().zip(mean);
    let mut told: Vec<(&str, f64)> = named.filter(|&(_, share)| share > TOLD).collect();
    told.sort_by(|one, other| other.1.total_cmp(&one.1));
    Ok(Some(told))
}

/// The codes of all languages that have a profile.
pub fn codes() -> &'static [&'static str] {
    &TABLE.codes
}

/// Divides by the sum; gives the greatest.
fn normalise(shares: &mut [f64; COUNT]) -> f64 {
    let mut sum = 0.0;
    for share in shares.iter() {
        sum += share;
    }
    let mut most = 0.0;
    for share in shares {
        *share /= sum;
        most = f64::max(most, *share);
    }
    most
}

/// Up to three characters, the last of a text.
struct Window {
    held: [char; 3],
    length: usize,
    /// The same as codes of letters, where all have one: see [`index`].
    latin: Option<usize>,
}

impl Window {
    /// A blank, as at the start of a text.
    const BLANK: Window = Window { held: [' '; 3], length: 1, latin: Some(1) };

    fn push(&mut self, c: char) {
        let [_, second, third] = self.held;
        self.held = [second, third, c];
        self.length = (self.length + 1).min(3);
        self.latin = match self.latin {
            Some(latin) => letter(c).map(|code| index(latin, code)),
            None if self.length == 3 => {
                self.held.iter().try_fold(0, |at, &c| Some(index(at, letter(c)?)))
            }
            None => None,
        };
    }

    /// The list of the last characters.
    fn find(&self, length: usize) -> Option<u32> {
        let letters = LETTERS.pow(u32::try_from(length).ok()?);
        match self.latin {
            Some(latin) => TABLE.find_latin(latin % letters),
            None => TABLE.find(pack(self.held.get(3 - length..)?)),
        }
    }
}

/// The lists of the n-grams of a text that some profile has. Words with two capitals in a row are
/// read up to these.
pub(crate) fn grams(text: &str) -> Vec<u32> {
    let text = cleaned(text);
    let mut found = Vec::with_capacity(3 * text.len());
    let mut window = Window::BLANK;
    let mut capitals = false;
    for c in text.into_iter().map(normal) {
        let [.., last] = window.held;
        if last == ' ' {
            window = Window::BLANK;
            capitals = false;
            if c == ' ' {
                continue;
            }
        }
        window.push(c);
        if !c.is_uppercase() {
            capitals = false;
        } else if last.is_uppercase() {
            capitals = true;
        }
        if capitals {
            continue;
        }
        for length in 1..=window.length {
            if length > 1 || c != ' ' {
                found.extend(window.find(length));
            }
        }
    }
    found
}

/// The character that stands for one.
fn normal(c: char) -> char {
    match c {
        'A'..='Z' | 'a'..='z' => c,
        '\0'..='\x7f' | '\u{a0}' | '«' | '°' | '»' | '\u{2000}'..='\u{206f}' => ' ',
        'ș' => 'ş',
        'ț' => 'ţ',
        '\u{6cc}' => '\u{64a}',
        '\u{1ea0}'..='\u{1eff}' => '\u{1ec3}',
        '\u{3040}'..='\u{309f}' => 'あ',
        '\u{30a0}'..='\u{30ff}' => 'ア',
        '\u{3100}'..='\u{312f}' | '\u{31a0}'..='\u{31bf}' => 'ㄅ',
        '\u{4e00}'..='\u{9fff}' => CLASSES.get(&c).copied().unwrap_or(c),
        '\u{ac00}'..='\u{d7af}' => '\u{ac00}',
        _ => c,
    }
}

/// The text without addresses and repeated blanks, with Vietnamese letters composed, and without
/// Latin letters where others prevail.
fn cleaned(text: &str) -> Vec<char> {
    let text = without_mails(&without_links(text));
    let mut kept: Vec<char> = Vec::new();
    for c in composed(&text).into_iter().take(CHARACTERS_MAX) {
        if c != ' ' || kept.last() != Some(&' ') {
            kept.push(c);
        }
    }
    let latin = kept.iter().filter(|&c| is_latin(*c)).count();
    let other = kept.iter().filter(|&c| *c >= '\u{300}').count();
    if latin * 2 < other {
        kept.retain(|&c| !is_latin(c));
    }
    kept
}

/// With the signs between capitals and small letters, as the package counts.
fn is_latin(c: char) -> bool {
    ('A'..='z').contains(&c)
}

/// Each `https?://[-_.?&~;+=/#0-9A-Za-z]{1,2076}` becomes a blank.
fn without_links(text: &str) -> String {
    let mut made = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(start) = rest.find("http") {
        let tail = &rest[start + 4..];
        let tail = tail.strip_prefix('s').unwrap_or(tail);
        let is_part = |c: char| c.is_ascii_alphanumeric() || "-_.?&~;+=/#".contains(c);
        let address = tail.strip_prefix("://").filter(|tail| tail.starts_with(is_part));
        if let Some(address) = address {
            made.push_str(&rest[..start]);
            made.push(' ');
            rest = &address[run(address, is_part, 2076)..];
        } else {
            made.push_str(&rest[..start + 4]);
            rest = &rest[start + 4..];
        }
    }
    made.push_str(rest);
    made
}

/// Each `[-_.0-9A-Za-z]{1,64}@[-_0-9A-Za-z]{1,255}[-_.0-9A-Za-z]{1,255}` becomes a blank.
fn without_mails(text: &str) -> String {
    let is_name = |c: char| c.is_ascii_alphanumeric() || "-_".contains(c);
    let is_part = |c: char| c == '.' || is_name(c);
    let mut made = String::with_capacity(text.len());
    let (mut done, mut from) = (0, 0);
    while let Some(found) = text[from..].find('@') {
        let at = from + found;
        from = at + 1;
        let before = &text[done..at];
        let local = before.chars().rev().take_while(|&c| is_part(c)).take(64).count();
        let host = run(&text[from..], is_name, 255);
        let more = run(&text[from + host..], is_part, 255);
        if local == 0 || host + more < 2 || host == 0 {
            continue;
        }
        made.push_str(&text[done..at - local]);
        made.push(' ');
        done = from + host + more;
        from = done;
    }
    made.push_str(&text[done..]);
    made
}

/// The length of the run of ASCII characters at the start, at most `most`.
fn run(text: &str, is_part: impl Fn(char) -> bool, most: usize) -> usize {
    text.chars().take(most).take_while(|&c| is_part(c)).count()
}

const PLAIN: &str = "AEIOUYaeiouyÂÊÔâêôĂăƠơƯư";
const MARKED: [(char, &str); 5] = [
    ('\u{300}', "ÀÈÌÒÙỲàèìòùỳẦỀỒầềồẰằỜờỪừ"),
    ('\u{301}', "ÁÉÍÓÚÝáéíóúýẤẾỐấếốẮắỚớỨứ"),
    ('\u{303}', "ÃẼĨÕŨỸãẽĩõũỹẪỄỖẫễỗẴẵỠỡỮữ"),
    ('\u{309}', "ẢẺỈỎỦỶảẻỉỏủỷẨỂỔẩểổẲẳỞởỬử"),
    ('\u{323}', "ẠẸỊỌỤỴạẹịọụỵẬỆỘậệộẶặỢợỰự"),
];

/// Vowels joined with the mark of a tone that follows them.
fn composed(text: &str) -> Vec<char> {
    let mut made: Vec<char> = Vec::with_capacity(text.len());
    for c in text.chars() {
        if !('\u{300}'..='\u{323}').contains(&c) {
            made.push(c);
            continue;
        }
        let marked = MARKED.iter().find(|(mark, _)| *mark == c);
        let joined = marked.and_then(|(_, letters)| {
            let at = PLAIN.chars().position(|plain| made.last() == Some(&plain))?;
            letters.chars().nth(at)
        });
        match (joined, made.last_mut()) {
            (Some(joined), Some(last)) => *last = joined,
            _ => made.push(c),
        }
    }
    made
}
