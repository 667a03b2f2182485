//! What the words around a statement make of it.

use std::sync::LazyLock;

use assay_verifiers::Pattern;

/// How many bytes before and after a statement are looked at.
const NEAR: usize = 160;

/// How far the bounds of a sentence are looked for, in bytes.
const SENTENCE_MAX: usize = 2000;

/// The patterns of this file.
struct Patterns {
    denied: Pattern,
    reported: Pattern,
    option_before: Pattern,
    option_after: Pattern,
    condition_before: Pattern,
    condition_after: Pattern,
    choice: Pattern,
    conceded: Pattern,
    conclusion: Pattern,
}

static PATTERNS: LazyLock<Option<Patterns>> = LazyLock::new(|| patterns().ok());

fn patterns() -> Result<Patterns, String> {
    let before = |words: &str| Pattern::new(&format!(r#"(?ix)(?:{words})[\s"'“‘`*_(]*$"#));
    let few_words = r"(?:\s+\w+){0,3}";
    Ok(Patterns {
        denied: before(&format!(
            r"(?:\b(?:not|never|cannot|hardly|neither|nor|rather\ than|instead\ of|
                no\ (?:evidence|reason|indication|guarantee))|n['’]t){few_words}"
        ))?,
        reported: before(
            r"\b(?:assistants?|evaluators?|critics?|judges?|debaters?|annotators?|he|she|they|you|one|
                some|someone|others|people|users?|readers)\b(?:\s*\(?[ab12]\)?)?
            (?:'s\ (?:claim|argument|view|opinion|evaluation))?(?:,[^,\n]*,)?\s*
            (?:\w+\s+){0,3}?
            (?:argu|claim|sa(?:y|id)|stat|suggest|believ|think|thought|assert|mention|contend|conclud|
                prefer|find|feel|maintain)\w*\s*(?:that\s*)?(?:because\s*)?",
        )?,
        option_before: before(
            r#"(?:\bor|\beither|\bwhether|\be\.g\.,?|\bsuch\ as|\bfor\ example,?|\bsay|\bformat:?|/)
            (?:[\s"'“‘`*_(]*(?:therefore|that|with|just|simply|answer|output|respond\ with),?)?"#,
        )?,
        option_after: Pattern::new(
            r#"(?ix)^(?:\s*(?:is|are)\ better)?["'”’`*_.,;:)\s]*
            (?:or\b|/\s*\S|(?:if|when|for|means|otherwise|unless)\b)"#,
        )?,
        condition_before: before(&format!(
            r"\b(?:if|whether|unless|why|when|suppose|assuming|assume|wonder(?:ing)?)\b{few_words}"
        ))?,
        condition_after: Pattern::new(
            r#"(?i)^["'”’`*_\s]*(?:,?\s*(?:or\b|if\b|unless\b|provided\b)|\?)"#,
        )?,
        conceded: Pattern::new(r"(?i)\b(?:but|however|although|though|yet|except)\b")?,
        choice: Pattern::new(
            r"(?i)\bwhich (?:of|one|outputs?|responses?|assistants?|answers?)\b[^,;:]*$",
        )?,
        conclusion: Pattern::new(
            r"(?ix)(?:^|[.!?\n\#*:]\s*)[\s*\#]*(?:therefore|thus|hence|so|overall|in\ conclusion|
                to\ conclude|in\ summary|to\ summarize|to\ sum\ up|in\ short|ultimately|in\ the\ end|
                all\ in\ all|finally|as\ a\ result|consequently|based\ on|
                given\ (?:the|this|these|that)|taking|
                (?:my\ |the\ )?(?:final\ )?
                    (?:verdict|decision|judge?ment|answer|conclusion|assessment))\b[^\n]*$",
        )?,
    })
}

/// Whether the words before a statement deny it: "I do not think that".
pub(in crate::reply) fn is_denied(before: &str) -> bool {
    holds(|patterns| patterns.denied.is_match(end(before)))
}

/// Whether the words before a statement say that it is the opinion of somebody else: "Assistant (a)
/// argues that".
pub(in crate::reply) fn is_reported(before: &str) -> bool {
    holds(|patterns| patterns.reported.is_match(end(before)))
}

/// Whether the words around a statement say that it is one of the answers that may be given: "A if
/// ..., B if ...", "A or B".
pub(in crate::reply) fn is_option(before: &str, after: &str) -> bool {
    holds(|patterns| {
        patterns.option_before.is_match(end(before)) || patterns.option_after.is_match(start(after))
    })
}

/// Whether a statement is asked, or depends on a condition.
pub(in crate::reply) fn is_conditional(before: &str, after: &str) -> bool {
    holds(|patterns| {
        patterns.condition_before.is_match(end(before))
            || patterns.condition_after.is_match(start(after))
    })
}

/// Whether the start of a sentence says that there is a choice: "which of Output (a) and".
pub(in crate::reply) fn is_choice(lead: &str) -> bool {
    holds(|patterns| patterns.choice.is_match(lead))
}

/// Whether the rest of a sentence takes back its beginning: "equally clear, but".
pub(in crate::reply) fn is_conceded(rest: &str) -> bool {
    holds(|patterns| patterns.conceded.is_match(rest))
}

/// Whether a sentence that begins with this text draws a conclusion: "Therefore,".
pub(in crate::reply) fn is_conclusion(before: &str) -> bool {
    holds(|patterns| patterns.conclusion.is_match(before))
}

/// The bounds of the sentence around a range: at line ends, and at `.`, `!` or `?` with space behind.
pub(in crate::reply) fn bounds(text: &str, start: usize, end: usize) -> (usize, usize) {
    let first = text.ceil_char_boundary(start.saturating_sub(SENTENCE_MAX));
    let last = text.floor_char_boundary(end.saturating_add(SENTENCE_MAX));
    let before = &text[first..start];
    let after = &text[end..last];
    let from = [". ", "! ", "? ", "\n"]
        .iter()
        .filter_map(|stop| Some(first + before.rfind(stop)? + stop.len()))
        .max()
        .unwrap_or(first);
    let to = [". ", "! ", "? ", "\n", "?\n", ".\n"]
        .iter()
        .filter_map(|stop| Some(end + after.find(stop)? + 1))
        .min()
        .unwrap_or(last);
    (from, to)
}

fn holds(test: impl Fn(&Patterns) -> bool) -> bool {
    PATTERNS.as_ref().is_some_and(test)
}

fn start(text: &str) -> &str {
    &text[..text.floor_char_boundary(NEAR)]
}

/// The end of a text, within its sentence.
fn end(text: &str) -> &str {
    let near = &text[text.ceil_char_boundary(text.len().saturating_sub(NEAR))..];
    let from = [". ", "! ", "? ", "\n"].iter().filter_map(|stop| Some(near.rfind(stop)? + 1)).max();
    &near[from.unwrap_or(0)..]
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_patterns_compile() {
        assert_eq!(super::patterns().err(), None);
    }
}
