//! Patterns that are hardly meant: captures that nothing compares, and marks of another language.

use std::sync::LazyLock;

use regex_syntax::ast::{Ast, Group, GroupKind, parse};

use crate::prelude::*;

/// Patterns as other languages write them: what is wrong, and the pattern that is meant.
static FOREIGN: LazyLock<Vec<(Pattern, &str, &str)>> = LazyLock::new(|| {
    let known = [
        (r"(?s)^/(.*)/[guy]*$", "the slashes belong to the pattern, and are looked for", "$1"),
        (
            r"(?s)^/(.*)/([ims]+)$",
            "the slashes belong to the pattern, and are looked for",
            "(?$2)$1",
        ),
        (
            r#"(?s)^r"(.*)"$|^r'(.*)'$"#,
            "the quotes and the `r` belong to the pattern, and are looked for",
            "$1$2",
        ),
        (
            r"(^|[^\\])((?:\\\\)*)\\boxed",
            r"`\b` is the border of a word: `\boxed` is looked for as `oxed`",
            r"$1$2\\boxed",
        ),
    ];
    let compiled = |(pattern, what, meant)| Some((Pattern::new(pattern).ok()?, what, meant));
    known.into_iter().filter_map(compiled).collect()
});

/// What is wrong with a pattern that finds something; `is_compared` where a group of it is compared.
pub(super) fn slips(pattern: &str, is_compared: bool, samples: &[&Sample]) -> Vec<Slip> {
    let slip =
        |code, message, help| Slip { code, setting: "pattern", samples: Vec::new(), message, help };
    let foreign = FOREIGN.iter().find(|(of, ..)| of.is_match(pattern)).map(|(of, what, meant)| {
        let meant = Value::from(of.replace(pattern, *meant)).to_string();
        slip("foreign_pattern", (*what).to_owned(), format!("write pattern = {meant}"))
    });
    let has_references = samples.iter().any(|sample| sample.reference().is_some());
    let parsed =
        parse::Parser::new().parse(pattern).ok().filter(|_| has_references && !is_compared);
    let group = parsed.as_ref().and_then(|ast| captured(ast, pattern));
    let capture = group.and_then(|group| {
        let text = pattern.get(group.span.start.offset..group.span.end.offset)?;
        let inner = pattern.get(group.ast.span().start.offset..group.span.end.offset)?;
        let name = match &group.kind {
            GroupKind::CaptureName { name, .. } => name.name.as_str(),
            _ => "1",
        };
        let message =
            format!("what `{text}` captures is not compared with the reference: any match is right");
        let help = format!(
            "write group = \"{name}\" to compare it, or (?:{inner} for a group that captures nothing"
        );
        Some(slip("uncompared_capture", message, help))
    });
    foreign.into_iter().chain(capture).collect()
}

/// The first group that captures what an answer may be: neither alternatives nor what is repeated.
fn captured<'a>(ast: &'a Ast, pattern: &str) -> Option<&'a Group> {
    match ast {
        Ast::Group(group) => {
            let text = pattern.get(group.span.start.offset..group.span.end.offset)?;
            let captures = !matches!(group.kind, GroupKind::NonCapturing(_));
            if captures && !text.contains('|') {
                Some(group)
            } else {
                captured(&group.ast, pattern)
            }
        }
        Ast::Repetition(repeated) => match &*repeated.ast {
            Ast::Group(group) => captured(&group.ast, pattern),
            _ => None,
        },
        Ast::Concat(all) => all.asts.iter().find_map(|ast| captured(ast, pattern)),
        Ast::Alternation(all) => all.asts.iter().find_map(|ast| captured(ast, pattern)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_that_are_hardly_meant_are_told() {
        let sample = Sample::builder("").reference(json!("1")).build();
        for (pattern, told) in [
            (r"the answer is (\d+)", r#"group = "1""#),
            (r"<answer>(?P<a>.*?)</answer>", r#"group = "a""#),
            (r"(?s)^<think>.*</think>", ""),
            (r"(?:yes|no) \(x\) [(a)]", ""),
            (r"(yes|no)", ""),
            (r"^(\w+ )+$", ""),
            ("/yes/i", r#"pattern = "(?i)yes""#),
            ("/usr/bin", ""),
            (r#"r"\d+""#, r#"pattern = "\\d+""#),
            (r"\boxed\{.*\}", r#"pattern = "\\\\boxed\\{.*\\}""#),
            (r"\\boxed", ""),
            (r"\bbox\b", ""),
        ] {
            let helps: Vec<String> =
                slips(pattern, false, &[&sample]).into_iter().map(|slip| slip.help).collect();
            assert_eq!(helps.is_empty(), told.is_empty(), "{pattern}: {helps:?}");
            assert!(helps.concat().contains(told), "{pattern}: {helps:?}");
        }
    }
}
