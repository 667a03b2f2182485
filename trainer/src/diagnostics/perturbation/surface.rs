//! Changes that leave the meaning alone: phrases, capitals, white space, Markdown, and text after the
//! end.

use assay_verifiers::stats::SplitMix64;

use super::steps::Steps;

/// Phrases that say nothing.
const FILLER: [&str; 6] = [
    "Let me think about this carefully.",
    "Now we can continue.",
    "It is worth looking at this in detail.",
    "Proceeding step by step:",
    "With that in mind,",
    "As a next step, consider the following.",
];

/// A solved problem that has nothing to do with any other.
const ANOTHER_PROBLEM: &str = "Another problem: a train covers 120 km in 2 hours. \
    Its speed is 120 / 2 = 60 km per hour. The answer is 60.";

/// The text with another solved problem after it.
pub(super) fn with_another_problem(text: &str) -> String {
    let between = if text.is_empty() { "" } else { "\n\n" };
    format!("{text}{between}{ANOTHER_PROBLEM}")
}

/// The text with an empty phrase before each step but the last, which may be the answer alone.
#[expect(clippy::indexing_slicing, reason = "a number below the length is drawn")]
pub(super) fn with_filler(text: &str, random: &mut SplitMix64) -> String {
    let steps = Steps::of(text);
    let Some((last, others)) = steps.parts.split_last() else { return text.to_owned() };
    let mut phrase = || FILLER[random.scaled_below(FILLER.len())];
    let mut filled: Vec<String> =
        others.iter().map(|step| format!("{} {step}", phrase())).collect();
    filled.push(if others.is_empty() {
        format!("{} {last}", phrase())
    } else {
        (*last).to_owned()
    });
    steps.rejoined(&filled)
}

/// The text with a capital at the start of each word of four letters or more. Commands of LaTeX, code
/// between fences, and words with anything but letters stay.
pub(super) fn capitals(text: &str) -> String {
    outside_code(text, |part| {
        let changed = part.split_inclusive(char::is_whitespace).map(|word| {
            let own = word.trim_end();
            let letters = own.trim_end_matches([',', '.', ':', ';', '?', '!']);
            let is_word = letters.len() >= 4 && letters.bytes().all(|b| b.is_ascii_lowercase());
            let mut chars = word.chars();
            let first = chars.next().filter(|_| is_word);
            match first {
                Some(first) => format!("{}{}", first.to_ascii_uppercase(), chars.as_str()),
                None => word.to_owned(),
            }
        });
        changed.collect()
    })
}

/// The text with two spaces for one between words, outside of code.
pub(super) fn wide(text: &str) -> String {
    outside_code(text, |part| part.replace(' ', "  "))
}

/// The text with the first word of each step in bold, where it is made of letters.
pub(super) fn bold(text: &str) -> String {
    let steps = Steps::of(text);
    let change = |step: &&str| {
        let word = step.split_whitespace().next().unwrap_or_default();
        let is_word = !word.is_empty() && word.chars().all(char::is_alphabetic);
        let is_first = step.starts_with(word);
        match step.get(word.len()..) {
            Some(rest) if is_word && is_first => format!("**{word}**{rest}"),
            _ => (*step).to_owned(),
        }
    };
    let changed: Vec<String> = steps.parts.iter().map(change).collect();
    if changed == steps.parts {
        return text.to_owned();
    }
    steps.rejoined(&changed)
}

/// Changes what is not between fences.
fn outside_code(text: &str, change: impl Fn(&str) -> String) -> String {
    let parts = text.split("```").enumerate();
    let changed = parts.map(|(at, part)| if at % 2 == 0 { change(part) } else { part.to_owned() });
    changed.collect::<Vec<_>>().join("```")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_and_spaces() {
        assert_eq!(capitals(r"the apples, \frac{x}{y} sold"), r"the Apples, \frac{x}{y} Sold");
        assert_eq!(wide("a b\n```\nc d\n``` e f"), "a  b\n```\nc d\n```  e  f");
        assert_eq!(bold("So it is\n\n$x$ is 3\n\nThen"), "**So** it is\n\n$x$ is 3\n\n**Then**");
    }

    #[test]
    fn the_answer_stays_at_the_end() {
        let mut random = SplitMix64::new(0);
        let filled = with_filler("It is 3 + 4.\n\nThe answer is 7", &mut random);
        assert!(filled.ends_with("It is 3 + 4.\n\nThe answer is 7"), "{filled}");
        assert!(filled.len() > 40);
        assert!(with_filler("7", &mut random).ends_with(" 7"));
        assert!(with_another_problem("7").starts_with("7\n\nAnother problem"));
    }
}
