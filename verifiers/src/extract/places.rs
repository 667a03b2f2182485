//! Digits of other scripts as ASCII, and the places in the completion that the text then has.

use std::borrow::Cow;

/// Where a text lies in a completion of which it is a part, with digits of fewer bytes.
#[derive(Clone, Debug, Default)]
pub(super) struct Places {
    from: usize,
    /// From a byte of the text on, so many bytes of the completion are not in it.
    lost: Vec<(usize, usize)>,
}

impl Places {
    pub(super) fn new(from: usize) -> Self {
        Self { from, lost: Vec::new() }
    }

    /// The byte of the completion.
    pub(super) fn outside(&self, at: usize) -> usize {
        let next = self.lost.partition_point(|(from, _)| *from <= at);
        self.from + at + next.checked_sub(1).and_then(|last| self.lost.get(last)).map_or(0, |one| one.1)
    }

    /// The byte of the text.
    pub(super) fn inside(&self, place: usize) -> usize {
        let at = place.saturating_sub(self.from);
        let next = self.lost.partition_point(|(from, lost)| from + lost <= at);
        at - next.checked_sub(1).and_then(|last| self.lost.get(last)).map_or(0, |one| one.1)
    }

    /// The text with digits and their separators in ASCII.
    pub(super) fn with_plain_digits<'a>(&mut self, text: Cow<'a, str>) -> Cow<'a, str> {
        if text.is_ascii() || !text.contains(|c| plain(c).is_some()) {
            return text;
        }
        let mut out = String::with_capacity(text.len());
        let mut lost = 0;
        let mut before = ' ';
        let mut chars = text.chars().peekable();
        while let Some(c) = chars.next() {
            let next = chars.peek().copied();
            match plain(c).or_else(|| separator(c, before, next)) {
                Some(plain) => {
                    out.push(plain);
                    lost += c.len_utf8() - 1;
                    self.lost.push((out.len(), lost));
                }
                None => out.push(c),
            }
            before = c;
        }
        Cow::Owned(out)
    }
}

/// A digit of another script.
fn plain(c: char) -> Option<char> {
    const ZEROS: [char; 7] = ['٠', '۰', '०', '০', '๐', '０', '௦'];
    ZEROS.into_iter().find_map(|zero| {
        let value = (c as u32).checked_sub(zero as u32).filter(|value| *value < 10)?;
        char::from_digit(value, 10)
    })
}

/// A separator of another script between digits.
fn separator(c: char, before: char, next: Option<char>) -> Option<char> {
    let ascii = match c {
        '٫' | '．' => '.',
        '٬' | '，' => ',',
        _ => return None,
    };
    (plain(before).is_some() && next.and_then(plain).is_some()).then_some(ascii)
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
    }
}
