//! Labels of outputs: what is inside a mark.

use assay_verifiers::language::judge;

use super::types::{PairReply, Winner};

/// What "slightly better" and "much better" are worth on the scale of -3 to 3.
const SLIGHT: f64 = 1.0;
const MUCH: f64 = 3.0;

/// Reads a text that is a label and nothing else: `A`, `Output (b)`, `A>>B`, `B++`, `tie`.
pub(super) fn read(text: &str) -> Option<PairReply> {
    let text = text.replace("\\text", " ").to_lowercase();
    let text = text.trim_matches(is_wrapping);
    let unnamed = text.split_whitespace().filter(|word| !judge::OUTPUTS.contains(word));
    let relation: String = unnamed.flat_map(str::chars).map(plain_relation).collect();
    relation_of(&relation).or_else(|| worded(text).map(PairReply::of))
}

/// Whether a text names two outputs as one label: "A or B", "A/B", "A, but B".
pub(super) fn is_hedge(text: &str) -> bool {
    let both = |between: &str| {
        let text = text.trim_matches(is_wrapping).to_lowercase();
        let parts = text.split(between).map(|part| {
            let part = part.trim_matches(is_wrapping);
            let part = part
                .strip_prefix("either ")
                .or_else(|| part.strip_prefix("maybe "))
                .unwrap_or(part);
            read(part).map(|reply| reply.winner)
        });
        let parts: Option<Vec<Winner>> = parts.collect();
        parts.is_some_and(|parts| parts.iter().any(|part| Some(part) != parts.first()))
    };
    text.len() < 80 && judge::BETWEEN.iter().any(|between| both(between))
}

/// Whether a text is as short as a label, or compares labels: then it should have been one.
pub(super) fn is_like_label(text: &str) -> bool {
    let text = text.trim_matches(is_wrapping);
    text.len() <= 2 || text.contains(['<', '>', '='])
}

/// Markup, quotation marks and brackets around a label.
pub(super) fn is_wrapping(c: char) -> bool {
    c.is_whitespace()
        || matches!(c, '*' | '_' | '`' | '"' | '\'' | '“' | '”' | '‘' | '’' | '.' | ',' | ':' | '!')
        || matches!(c, '(' | ')' | '[' | ']' | '{' | '}' | '<' | '>' | '$')
}

fn plain_relation(c: char) -> char {
    match c {
        '≫' => '»',
        '≪' => '«',
        '≈' | '~' => '=',
        _ => c,
    }
}

/// `A>>B`, `A>B`, `A=B`, `B<A`; `A++`, `B+`.
fn relation_of(text: &str) -> Option<PairReply> {
    let text = text.replace('»', ">>").replace('«', "<<").replace("==", "=");
    let reply = match text.as_str() {
        "a=b" | "b=a" | "1=2" | "2=1" => PairReply::graded(Winner::Tie, 0.0),
        "a>b" | "1>2" | "b<a" | "2<1" | "a+" => PairReply::graded(Winner::First, SLIGHT),
        "b>a" | "2>1" | "a<b" | "1<2" | "b+" => PairReply::graded(Winner::Second, SLIGHT),
        "a>>b" | "1>>2" | "b<<a" | "2<<1" | "a++" => PairReply::graded(Winner::First, MUCH),
        "b>>a" | "2>>1" | "a<<b" | "1<<2" | "b++" => PairReply::graded(Winner::Second, MUCH),
        _ => return None,
    };
    Some(reply)
}

/// `Output (b)`, `the first response`, `a tie`.
fn worded(text: &str) -> Option<Winner> {
    if judge::TIES.contains(&text) {
        return Some(Winner::Tie);
    }
    let mut words = text
        .split([' ', '_', '-', ':', '#'])
        .map(|word| word.trim_matches(is_wrapping))
        .filter(|word| {
            !word.is_empty()
                && !judge::OUTPUTS.contains(word)
                && *word != "better"
                && *word != "wins"
        });
    let label = words.next()?;
    // "The first one".
    if words.any(|word| word != "one") {
        return None;
    }
    // "output_1", "responseB".
    let bare = judge::OUTPUTS.iter().find_map(|noun| label.strip_prefix(noun)).unwrap_or(label);
    match bare {
        "a" | "1" | "first" | "one" => Some(Winner::First),
        "b" | "2" | "second" | "two" => Some(Winner::Second),
        tie if judge::TIES.contains(&tie) => Some(Winner::Tie),
        _ => None,
    }
}
