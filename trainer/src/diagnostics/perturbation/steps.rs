//! The steps of a text, and their order.

use assay_verifiers::stats::SplitMix64;

/// The text with two steps that differ in each other's place.
pub(super) fn swapped(text: &str, random: &mut SplitMix64) -> Option<String> {
    let mut steps = Steps::of(text);
    let count = steps.parts.len();
    let (first, second) =
        random.order(count, SplitMix64::scaled_below).into_iter().find_map(|first| {
            let own = steps.parts.get(first)?;
            let differs = |other: &usize| steps.parts.get(*other).is_some_and(|other| other != own);
            let others: Vec<usize> = (0..count).filter(differs).collect();
            Some((first, *others.get(random.scaled_below(others.len()))?))
        })?;
    steps.parts.swap(first, second);
    Some(steps.joined())
}

/// The text without one of its steps.
pub(super) fn without_one(text: &str, random: &mut SplitMix64) -> Option<String> {
    let mut steps = Steps::of(text);
    if steps.parts.len() < 2 {
        return None;
    }
    steps.parts.remove(random.scaled_below(steps.parts.len()));
    Some(steps.joined())
}

/// The text with one of its steps twice.
pub(super) fn with_one_twice(text: &str, random: &mut SplitMix64) -> Option<String> {
    let mut steps = Steps::of(text);
    let at = random.scaled_below(steps.parts.len());
    let step = *steps.parts.get(at)?;
    steps.parts.insert(at, step);
    Some(steps.joined())
}

/// The sentences of the text in another order.
pub(super) fn shuffled(text: &str, random: &mut SplitMix64) -> Option<String> {
    let parts = sentences(text);
    let order = random.order(parts.len(), SplitMix64::scaled_below);
    let moved: Vec<&str> = order.iter().filter_map(|at| parts.get(*at).copied()).collect();
    if moved != parts {
        return Some(moved.join(" "));
    }
    // The order that was drawn is the old one: the first sentence goes to the end.
    let (first, others) = parts.split_first()?;
    let moved: Vec<&str> = others.iter().chain([first]).copied().collect();
    (moved != parts).then(|| moved.join(" "))
}

/// The steps of a text: paragraphs, else lines, else sentences.
pub(super) struct Steps<'a> {
    pub(super) parts: Vec<&'a str>,
    between: &'static str,
}

impl<'a> Steps<'a> {
    pub(super) fn of(text: &'a str) -> Self {
        let filled = |parts: Vec<&'a str>| -> Vec<&'a str> {
            parts.into_iter().map(str::trim_end).filter(|part| !part.trim().is_empty()).collect()
        };
        for between in ["\n\n", "\n"] {
            let parts = filled(text.split(between).collect());
            if parts.len() > 1 {
                return Self { parts, between };
            }
        }
        Self { parts: sentences(text), between: " " }
    }

    pub(super) fn joined(&self) -> String {
        self.parts.join(self.between)
    }

    /// A text of other steps, with between them what was between these.
    pub(super) fn rejoined(&self, parts: &[String]) -> String {
        parts.join(self.between)
    }
}

/// Sentences end with a mark before white space and no lower-case letter.
fn sentences(text: &str) -> Vec<&str> {
    let mut parts = Vec::new();
    let mut start = 0;
    for (at, char) in text.char_indices() {
        let end = at + char.len_utf8();
        let after = &text[end..];
        let next = after.trim_start().chars().next();
        let ends = matches!(char, '.' | '!' | '?')
            && after.starts_with(char::is_whitespace)
            && next.is_some_and(|next| !next.is_lowercase());
        if ends {
            parts.extend(text.get(start..end));
            start = end;
        }
    }
    parts.extend(text.get(start..));
    parts.into_iter().map(str::trim).filter(|part| !part.is_empty()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_are_paragraphs_else_lines_else_sentences() {
        assert_eq!(Steps::of("a\nb\n\n\n\nc").parts, ["a\nb", "c"]);
        assert_eq!(Steps::of("a\n b\n").parts, ["a", " b"]);
        assert_eq!(Steps::of("It is 3.5, i.e. small. So 4! Yes").parts.len(), 3);
        assert_eq!(Steps::of(" ").parts, [""; 0]);
    }

    #[test]
    fn steps_move_come_and_go() {
        let text = "a\n\na\n\nb";
        for seed in 0..20 {
            let mut random = SplitMix64::new(seed);
            let swapped = swapped(text, &mut random).unwrap();
            assert!(["a\n\nb\n\na", "b\n\na\n\na"].contains(&&*swapped), "{swapped}");
            let shorter = without_one(text, &mut random).unwrap();
            assert_eq!(shorter.split("\n\n").count(), 2);
            let longer = with_one_twice(text, &mut random).unwrap();
            assert_eq!(longer.split("\n\n").count(), 4);
            assert_ne!(shuffled("A b. C d. E f.", &mut random).unwrap(), "A b. C d. E f.");
        }
        let mut random = SplitMix64::new(0);
        assert_eq!(swapped("a\n\na", &mut random), None);
        assert_eq!(without_one("a", &mut random), None);
        assert_eq!(shuffled("A b. A b.", &mut random), None);
    }
}
