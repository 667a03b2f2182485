//! Numbers written as words: "seventeen", "one hundred and five", "two thirds", "a dozen".

use dashu_ratio::RBig;

use crate::number::small;

/// The most words of one number.
const WORDS_MAX: usize = 16;
const ONES: [&str; 20] = crate::words::list(
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen \
     sixteen seventeen eighteen nineteen",
);
const TENS: [&str; 8] =
    ["twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"];
const SCALES: [(&str, i64); 4] = [
    ("thousand", 1_000),
    ("million", 1_000_000),
    ("billion", 1_000_000_000),
    ("trillion", 1_000_000_000_000),
];
const BUNDLES: [(&str, i64); 4] = [("dozen", 12), ("dozens", 12), ("gross", 144), ("score", 20)];
const PARTS: [(&str, &str, i64); 14] = [
    ("half", "halves", 2),
    ("third", "thirds", 3),
    ("quarter", "quarters", 4),
    ("fourth", "fourths", 4),
    ("fifth", "fifths", 5),
    ("sixth", "sixths", 6),
    ("seventh", "sevenths", 7),
    ("eighth", "eighths", 8),
    ("ninth", "ninths", 9),
    ("tenth", "tenths", 10),
    ("twelfth", "twelfths", 12),
    ("twentieth", "twentieths", 20),
    ("hundredth", "hundredths", 100),
    ("thousandth", "thousandths", 1000),
];

/// The denominator that a word denotes: "thirds", "tenths".
pub(crate) fn part(word: &str) -> Option<i64> {
    PARTS.iter().find(|part| part.1 == word).map(|part| part.2)
}

/// Whether a word is an ordinal that may also be a fraction: "third".
pub(crate) fn is_part(word: &str) -> bool {
    PARTS.iter().any(|part| part.0 == word && !matches!(word, "half" | "quarter"))
}

/// The base that a word names: "two", "hex".
pub(crate) fn base(word: &str) -> Option<u32> {
    let number = ONES.iter().position(|name| word.eq_ignore_ascii_case(name));
    let number = number.and_then(|at| u32::try_from(at).ok());
    number.or(match word {
        "bin" => Some(2),
        "oct" => Some(8),
        "dec" => Some(10),
        "hex" => Some(16),
        _ => None,
    })
}

/// The Chinese numeral below ten thousand at the start of a text, and its length.
pub(crate) fn chinese(text: &str) -> Option<(u32, usize)> {
    const DIGITS: [char; 11] = ['零', '一', '二', '三', '四', '五', '六', '七', '八', '九', '两'];
    const UNITS: [(char, u32); 3] = [('十', 10), ('百', 100), ('千', 1000)];
    let (mut total, mut digit, mut length, mut least) = (0u32, None, 0, u32::MAX);
    for c in text.chars() {
        if let Some(at) = DIGITS.iter().position(|have| *have == c) {
            let value = u32::try_from(if at == 10 { 2 } else { at }).ok()?;
            if digit.is_some_and(|digit| digit != 0) {
                return None;
            }
            digit = Some(value);
        } else if let Some((_, unit)) = UNITS.iter().find(|(have, _)| *have == c) {
            if *unit >= least {
                return None;
            }
            total += digit.take().filter(|digit| *digit != 0).unwrap_or(1) * unit;
            least = *unit;
        } else {
            break;
        }
        length += c.len_utf8();
    }
    (length > 0).then(|| (total + digit.unwrap_or(0), length))
}

/// The number that a text in lower case and without articles denotes, and the noun after it.
pub fn number(text: &str) -> Option<(RBig, Option<&str>)> {
    let mut words: Vec<&str> =
        text.split([' ', '-']).filter(|word| !word.is_empty()).take(WORDS_MAX + 1).collect();
    if words.len() > WORDS_MAX {
        return None;
    }
    let negative = matches!(words.first(), Some(&("minus" | "negative")));
    if negative {
        words.remove(0);
    }
    let mut noun = None;
    let value = if let Some(value) = value(&words) {
        value
    } else {
        // "seven apples": one noun, in the plural, so that "one of them" is not a number.
        let last = words.pop().filter(|word| word.len() > 2 && word.ends_with('s'))?;
        noun = PARTS.iter().all(|part| part.1 != last).then_some(last);
        noun?;
        value(&words)?
    };
    Some((if negative { -value } else { value }, noun))
}

fn value(words: &[&str]) -> Option<RBig> {
    let [head @ .., last] = words else { return None };
    match words {
        ["half", "dozen"] => return Some(small(6, 1)),
        ["quarter"] => return Some(small(1, 4)),
        ["half", scale] => {
            let scale = SCALES.iter().find(|have| have.0 == *scale)?.1;
            return Some(small(scale, 2));
        }
        // "three and three quarters"
        [whole_words @ .., "and", above, below] if PARTS.iter().any(|part| part.1 == *below) => {
            let part = value(&[above, below])?;
            return whole(whole_words).map(|whole| small(whole, 1) + part);
        }
        // "two and a half dozen"
        [head @ .., "dozen" | "dozens"] if head.contains(&"half") => {
            return value(head).map(|value| value * small(12, 1));
        }
        _ => {}
    }
    if let Some((one, _, below)) = PARTS.iter().find(|part| part.0 == *last || part.1 == *last) {
        // "twenty fifth" is not a fraction.
        if let Some(value) = fraction(head, last == one, *below) {
            return Some(value);
        }
    }
    whole(words).or_else(|| ordinal(head, last)).map(|value| small(value, 1))
}

/// "third", "twenty first": the number of a place.
fn ordinal(head: &[&str], last: &str) -> Option<i64> {
    const IRREGULAR: [(&str, &str); 7] = [
        ("first", "one"),
        ("second", "two"),
        ("third", "three"),
        ("fifth", "five"),
        ("eighth", "eight"),
        ("ninth", "nine"),
        ("twelfth", "twelve"),
    ];
    let tens = last.strip_suffix("ieth").map(|stem| format!("{stem}y"));
    let irregular = IRREGULAR.iter().find(|pair| pair.0 == last).map(|pair| pair.1);
    let name = irregular.or(tens.as_deref()).or_else(|| last.strip_suffix("th"))?;
    let mut words = head.to_vec();
    words.push(name);
    whole(&words)
}

/// "two thirds", "half", "three and a half": the words before the part of a whole.
fn fraction(head: &[&str], single: bool, below: i64) -> Option<RBig> {
    let part = small(1, below);
    match head {
        [] if single && below == 2 => Some(part),
        [whole_words @ .., "and"] if single && below == 2 => {
            Some(small(whole(whole_words)?, 1) + part)
        }
        _ => {
            let above = whole(head)?;
            (above > 0 && (above == 1) == single).then(|| small(above, below))
        }
    }
}

/// An integer.
fn whole(words: &[&str]) -> Option<i64> {
    let (mut total, mut group) = (0i64, None::<i64>);
    // What the next scale must stay below, and whether "and" may be here.
    let (mut below, mut joined, mut open) = (i64::MAX, false, false);
    for word in words {
        if *word == "and" {
            if !joined || open {
                return None;
            }
            open = true;
            continue;
        }
        open = false;
        let index = |names: &[&str]| {
            names.iter().position(|name| name == word).and_then(|at| i64::try_from(at).ok())
        };
        if let Some(ones) = index(&ONES) {
            let fits = match group {
                None => total == 0 || ones > 0,
                Some(group) if group % 100 == 0 => group > 0 && ones > 0,
                Some(group) => group % 10 == 0 && group % 100 >= 20 && (1..10).contains(&ones),
            };
            group = fits.then(|| group.unwrap_or(0) + ones);
        } else if let Some(tens) = index(&TENS) {
            let fits = group.is_none_or(|group| group > 0 && group % 100 == 0);
            group = fits.then(|| group.unwrap_or(0) + 10 * (tens + 2));
        } else if *word == "hundred" {
            let count = group.unwrap_or(1);
            group = (1..100).contains(&count).then_some(100 * count);
        } else if let Some((_, size)) = BUNDLES.iter().find(|bundle| bundle.0 == *word) {
            // "a dozen", but no "score" without its count.
            let count = if *size == 20 { group } else { group.or(Some(1)) };
            group = count.filter(|count| total == 0 && (1..100).contains(count)).map(|n| size * n);
        } else {
            let scale = SCALES.iter().find(|scale| scale.0 == *word)?.1;
            let count = group.unwrap_or(1);
            if scale >= below || !(1..1000).contains(&count) || (group.is_none() && total > 0) {
                return None;
            }
            total += count * scale;
            (below, joined, group) = (scale, true, None);
            continue;
        }
        joined = *word == "hundred";
        group?;
    }
    let said = group.is_some() || joined;
    (said && !open).then(|| total + group.unwrap_or(0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_as_they_are_said() {
        let said = |text| number(text).map(|(value, _)| value);
        for (text, top, below) in [
            ("seventeen", 17, 1),
            ("one hundred and five", 105, 1),
            ("two thousand three hundred forty-five", 2345, 1),
            ("hundred", 100, 1),
            ("two thousand and one", 2001, 1),
            ("three million", 3_000_000, 1),
            ("two thirds", 2, 3),
            ("half", 1, 2),
            ("three and half", 7, 2),
            ("dozen", 12, 1),
            ("two dozen", 24, 1),
            ("minus twenty one", -21, 1),
            ("seven apples", 7, 1),
            ("two and half dozen", 30, 1),
            ("two gross", 288, 1),
            ("half million", 500_000, 1),
            ("three and three quarters", 15, 4),
            ("three hundredths", 3, 100),
            ("third", 3, 1),
            ("twenty fifth", 25, 1),
            ("thirtieth", 30, 1),
        ] {
            assert_eq!(said(text), Some(small(top, below)), "{text}");
        }
        for text in [
            "",
            "and",
            "one and",
            "two three",
            "twenty ten",
            "one of them",
            "one thirds",
            "thousand million",
            "one and two",
            "five hundred thousand thousand",
            "zero five",
            "yes",
            "sixty seventy",
        ] {
            assert_eq!(said(text), None, "{text}");
        }
    }
}
