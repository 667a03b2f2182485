//! Step segmentation: a completion, cut into reasoning steps.

use assay_verifiers::Pattern;

use crate::manifest::{Split, Steps};

/// Words at the beginning of a sentence that turns to another thought.
///
/// Source: "Thoughts Are All Over the Place: On the Underthinking of o1-Like LLMs", which tells
/// thoughts apart by such words.
const TURNS: [&str; 12] = [
    "wait",
    "alternatively",
    "hmm+",
    "hold on",
    "however",
    "actually",
    "maybe",
    "another (?:way|approach|idea|thought|option)",
    "on second thought",
    "on the other hand",
    r"let me (?:re\w*|try|double|check|verify|think)",
    "let's (?:try|check|verify)",
];

/// Finds a turn; its first group begins where the thought does.
fn turn() -> Result<Pattern, String> {
    let turns = TURNS.join("|");
    Pattern::new(&format!(r"(?i)(?:\A|\n|[.!?]\s)\s*((?:(?:but|or|so|and) )?(?:{turns})\b)"))
}

/// The thoughts of a text: each begins at a word that turns to it.
fn thoughts<'a>(turn: &Pattern, text: &'a str) -> Vec<&'a str> {
    let turns = turn.captures_iter(text).filter_map(|found| Some(found.get(1)?.start()));
    let mut pieces = Vec::new();
    let mut start = 0;
    for at in turns.chain([text.len()]) {
        pieces.extend(text.get(start..at));
        start = at;
    }
    pieces
}

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
            Split::Thoughts => Some(turn()?),
            Split::Separator => None,
        };
        Ok(Self { split: steps.split, pattern: steps.pattern.clone(), regex })
    }

    /// The steps of a completion, trimmed; empty ones are left out. Each with the bytes that it
    /// takes in the completion, end excluded.
    pub fn steps<'a>(&self, completion: &'a str) -> Vec<(&'a str, (usize, usize))> {
        let pieces: Vec<&str> = match &self.regex {
            Some(regex) if self.split == Split::Thoughts => thoughts(regex, completion),
            Some(regex) => regex.split(completion).collect(),
            None => completion.split(&self.pattern).collect(),
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
        let text = "First, 2 + 3 is 6. Wait, it is 5.\n\nSo the sum is 5.\nAlternatively, count. No awaiting.";
        let thoughts = [
            "First, 2 + 3 is 6.",
            "Wait, it is 5.\n\nSo the sum is 5.",
            "Alternatively, count. No awaiting.",
        ];
        assert_eq!(steps(Split::Thoughts, "", text), thoughts);
        assert!(steps(Split::Newline, "", " \n ").is_empty());
    }
}
