//! A text in pieces: words, commands, numbers, and single characters.

/// A piece of a text: a word, a command, a number, or one other character.
#[derive(Clone, Copy)]
pub(crate) struct Piece<'a> {
    pub(crate) text: &'a str,
    pub(crate) start: usize,
}

impl Piece<'_> {
    pub(crate) fn end(&self) -> usize {
        self.start + self.text.len()
    }

    pub(crate) fn is(&self, words: &[&str]) -> bool {
        words.iter().any(|word| self.text.eq_ignore_ascii_case(word))
    }
}

/// The pieces that carry meaning.
pub(crate) fn pieces(text: &str) -> Vec<Piece<'_>> {
    const MARKUP: &[&str] = &[
        "{", "}", "$", "\\", "\\text", "\\mathrm", "\\textrm", "\\textit", "\\mbox", "\\left",
        "\\right", "\\quad", "\\qquad", "\\mathbb", "\\mathbf", "\\,", "\\;", "\\ ", "\\:", "\\!",
        "~",
    ];
    let mut pieces = pieces_with_marks(text);
    pieces.retain(|piece| !MARKUP.contains(&piece.text));
    pieces
}

fn pieces_with_marks(text: &str) -> Vec<Piece<'_>> {
    let mut out = Vec::new();
    let mut at = 0;
    while let Some(rest) = text.get(at..).filter(|rest| !rest.is_empty()) {
        let first = rest.chars().next().unwrap_or(' ');
        let run = |skip: usize, of: fn(char) -> bool| {
            let tail = &rest[skip..];
            skip + tail.find(|c: char| !of(c)).unwrap_or(tail.len())
        };
        let length = match first {
            '\\' => {
                let command = run(1, |c| c.is_ascii_alphabetic());
                let next =
                    rest.get(1..).and_then(|tail| tail.chars().next()).map_or(0, char::len_utf8);
                command.max(1 + next)
            }
            '0'..='9' => run(0, |c| c.is_ascii_digit()),
            c if c.is_ascii_alphabetic() => run(0, |c| c.is_ascii_alphabetic()),
            c => c.len_utf8(),
        };
        let piece = &rest[..length];
        if !first.is_whitespace() {
            out.push(Piece { text: piece, start: at });
        }
        at += length.max(1);
    }
    out
}

pub(crate) fn letter(piece: &Piece<'_>) -> Option<String> {
    let single = piece.text.len() == 1 && piece.text.starts_with(|c: char| c.is_ascii_alphabetic());
    single.then(|| piece.text.to_owned())
}
