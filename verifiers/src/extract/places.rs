//! Digits of other scripts as ASCII, and the places in the completion that the text then has.

use std::borrow::Cow;

use super::grouped;
use crate::language::sentences::foreign_digit;

/// Where a text lies in a completion of which it is a part, and from which it was shortened.
#[derive(Clone, Debug, Default)]
pub(super) struct Places {
    from: usize,
    /// Of each time that it was shortened: from a byte of the new text on, so many bytes are gone.
    lost: Vec<Vec<(usize, usize)>>,
}

impl Places {
    pub(super) fn new(from: usize) -> Self {
        Self { from, lost: Vec::new() }
    }

    /// The byte of the completion.
    pub(super) fn outside(&self, at: usize) -> usize {
        self.from
            + self
                .lost
                .iter()
                .rev()
                .fold(at, |at, lost| at + last(lost, lost.partition_point(|(from, _)| *from <= at)))
    }

    /// The byte of the text.
    pub(super) fn inside(&self, place: usize) -> usize {
        self.lost.iter().fold(place.saturating_sub(self.from), |at, lost| {
            at - last(lost, lost.partition_point(|(from, lost)| from + lost <= at))
        })
    }

    /// The text with digits and their separators in ASCII.
    pub(super) fn with_plain_digits<'a>(&mut self, text: Cow<'a, str>) -> Cow<'a, str> {
        if text.is_ascii() || !text.contains(|c| foreign_digit(c).is_some()) {
            return text;
        }
        let mut out = String::with_capacity(text.len());
        let (mut lost, mut gone) = (Vec::new(), 0);
        let mut before = ' ';
        let mut chars = text.chars().peekable();
        while let Some(c) = chars.next() {
            let next = chars.peek().copied();
            match foreign_digit(c).or_else(|| separator(c, before, next)) {
                Some(plain) => {
                    out.push(plain);
                    gone += c.len_utf8() - 1;
                    lost.push((out.len(), gone));
                }
                None => out.push(c),
            }
            before = c;
        }
        self.lost.push(lost);
        Cow::Owned(out)
    }

    /// The text without the dots between its thousands.
    pub(super) fn without_dots<'a>(&mut self, text: Cow<'a, str>) -> Cow<'a, str> {
        let dots = grouped::dots(&text);
        if dots.is_empty() {
            return text;
        }
        let mut out = String::with_capacity(text.len());
        let (mut lost, mut from) = (Vec::new(), 0);
        for (nth, dot) in dots.iter().enumerate() {
            out.push_str(&text[from..*dot]);
            from = dot + 1;
            lost.push((out.len(), nth + 1));
        }
        out.push_str(&text[from..]);
        self.lost.push(lost);
        Cow::Owned(out)
    }
}

/// How many bytes are gone before the one at `next` of the list.
fn last(lost: &[(usize, usize)], next: usize) -> usize {
    next.checked_sub(1).and_then(|last| lost.get(last)).map_or(0, |one| one.1)
}

/// A separator of another script between digits.
fn separator(c: char, before: char, next: Option<char>) -> Option<char> {
    let ascii = match c {
        '٫' | '．' => '.',
        '٬' | '，' => ',',
        _ => return None,
    };
    (foreign_digit(before).is_some() && next.and_then(foreign_digit).is_some()).then_some(ascii)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_lead_there_and_back() {
        let text = "答案是１,２６０．";
        let mut places = Places::new(7);
        let plain = places.with_plain_digits(Cow::Borrowed(text)).into_owned();
        assert_eq!(plain, "答案是1,260．");
        let (from, to) = (plain.find('1').unwrap(), plain.find('0').unwrap() + 1);
        let (start, end) = (places.outside(from), places.outside(to));
        assert_eq!(&text[start - 7..end - 7], "１,２６０");
        assert_eq!((places.inside(start), places.inside(end)), (from, to));
        assert_eq!((places.outside(0), places.inside(7)), (7, 0));

        let text =
            "Die Antwort ist also １.260.000 und nicht 4.000 oder so, weil das die Summe ist.";
        let mut places = Places::default();
        let plain = places.with_plain_digits(Cow::Borrowed(text));
        let plain = places.without_dots(plain).into_owned();
        assert!(plain.contains("also 1260000 und nicht 4000 oder"), "{plain}");
        for word in ["also", "und", "oder", "ist."] {
            let (inner, outer) = (plain.find(word).unwrap(), text.find(word).unwrap());
            assert_eq!((places.outside(inner), places.inside(outer)), (outer, inner), "{word}");
        }
    }
}
