//! A completion, cut into steps.

use assay_verifiers::Pattern;

use crate::manifest::{Split, Steps};

/// Where steps end.
pub struct Splitter {
    split: Split,
    pattern: String,
    regex: Option<Pattern>,
}

impl Splitter {
    /// What a manifest asks for.
    ///
    /// # Errors
    /// A regular expression that does not compile.
    pub fn new(steps: &Steps) -> Result<Self, String> {
        let regex = match steps.split {
            Split::BlankLine => Some(Pattern::new(r"\n[ \t]*(?:\r?\n[ \t]*)+")?),
            Split::Newline => Some(Pattern::new(r"\r?\n")?),
            Split::Regex => Some(Pattern::new(&steps.pattern)?),
            Split::Separator => None,
        };
        Ok(Self { split: steps.split, pattern: steps.pattern.clone(), regex })
    }

    /// The steps of a completion, trimmed; empty ones are left out. Each with the bytes that it
    /// takes in the completion, end excluded.
    pub fn steps<'a>(&self, completion: &'a str) -> Vec<(&'a str, (usize, usize))> {
        let pieces: Vec<&str> = match &self.regex {
            Some(regex) => regex.split(completion).collect(),
            None if self.split == Split::Separator => completion.split(&self.pattern).collect(),
            None => vec![completion],
        };
        let trimmed = pieces.into_iter().map(str::trim).filter(|piece| !piece.is_empty());
        let span = |piece: &'a str| {
            let start = piece.as_ptr().addr() - completion.as_ptr().addr();
            (piece, (start, start + piece.len()))
        };
        trimmed.map(span).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn steps(split: Split, pattern: &str, text: &str) -> Vec<String> {
        let steps = Steps { split, pattern: pattern.to_owned() };
        let splitter = Splitter::new(&steps).unwrap();
        let found = splitter.steps(text);
        for (piece, (start, end)) in &found {
            assert_eq!(text.get(*start..*end), Some(*piece));
        }
        found.into_iter().map(|(piece, _)| piece.to_owned()).collect()
    }

    #[test]
    fn each_way_of_cutting() {
        assert_eq!(steps(Split::BlankLine, "", "a\nb\n\n \r\nc\n\n"), ["a\nb", "c"]);
        assert_eq!(steps(Split::Newline, "", "a\r\nb\n\nc"), ["a", "b", "c"]);
        assert_eq!(steps(Split::Separator, "<s>", "<s>a<s> b<s>"), ["a", "b"]);
        assert_eq!(steps(Split::Regex, r"Step \d+:", "Step 1: a Step 2: b"), ["a", "b"]);
        assert!(steps(Split::Newline, "", " \n ").is_empty());
    }
}
