//! Strips what surrounds a program without fences: prose, and an indentation of all lines.

use std::ops::Range;

use super::outline::{Outline, assigned, blanked, function, imported, name};
use super::pick::Asked;

/// The part of `text` from the first line of code to the last, where it defines what is asked for
/// and has prose around it.
pub(super) fn without_prose(text: &str, asked: &Asked<'_>) -> Option<Range<usize>> {
    let outline = [Outline::of(text)];
    let names = asked.names(&outline);
    if !outline.iter().any(|outline| names.iter().any(|name| outline.defines(name))) {
        return None;
    }
    let code = blanked(text);
    let mut at = 0;
    let (mut found, mut is_prose) = (None::<Range<usize>>, false);
    for line in code.split_inclusive('\n') {
        let is_indented = line.starts_with([' ', '\t']) && found.is_some();
        let of = |at: usize| at..at + line.len();
        match found.as_mut() {
            _ if line.trim().is_empty() => {}
            Some(found) if is_indented || is_code(line.trim_end()) => found.end = of(at).end,
            None if is_code(line.trim_end()) => found = Some(of(at)),
            _ => is_prose = true,
        }
        at += line.len();
    }
    found.filter(|_| is_prose)
}

/// Where the code begins that is before the byte `end` of blanked code, without the prose before
/// it.
pub(crate) fn without_prose_before(code: &str, end: usize) -> usize {
    let mut start = 0;
    let mut at = 0;
    for line in code[..end].split_inclusive('\n') {
        at += line.len();
        let is_blank = line.trim().is_empty() && start == at - line.len();
        if is_blank || !line.starts_with([' ', '\t', '\n', '\r']) && !is_code(line.trim_end()) {
            start = at;
        }
    }
    start
}

/// Whether a line at the margin, strings and comments blanked, is code and no sentence.
fn is_code(line: &str) -> bool {
    let clause = [
        "if ", "elif ", "else:", "for ", "while ", "with ", "try:", "except", "finally:", "async ",
        "match ",
    ];
    let statement = ["assert ", "return ", "raise ", "del ", "global ", "@", "\"", ")", "]", "}"];
    let word = name(line);
    let rest = &line[word.len()..];
    let is_call = !word.is_empty()
        && (rest.starts_with('(') || rest.starts_with('.'))
        && line.ends_with([')', '(', ',', '[', '{', ']', '}']);
    let is_single = |mut names: Box<dyn Iterator<Item = &str> + '_>| {
        names.all(|name| !name.is_empty()) && !line.ends_with(['.', ':'])
    };
    function(line).is_some()
        || line.starts_with("class ") && line.ends_with(':')
        || imported(line).is_some_and(|names| is_single(Box::new(names)))
        || clause.iter().any(|start| line.starts_with(start)) && line.ends_with(':')
        || statement.iter().any(|start| line.starts_with(start))
        || matches!(line, "pass" | "else:" | "try:" | "finally:")
        || assigned(line).is_some()
        || is_call
}

/// The program without the blanks before all of its lines, where it then defines what is asked
/// for: at its margin it would be the body of something.
pub(super) fn dedented(source: &str, asked: &Asked<'_>) -> Option<String> {
    let mut lines = source.lines().filter(|line| !line.trim().is_empty());
    let first = lines.next()?;
    let margin = first.get(..first.len() - first.trim_start().len())?;
    if margin.is_empty() || !lines.all(|line| line.starts_with(margin)) {
        return None;
    }
    let dedented: String = source
        .split_inclusive('\n')
        .map(|line| line.strip_prefix(margin).unwrap_or(line))
        .collect();
    let pieces = [Outline::of(&dedented)];
    let names = asked.names(&pieces);
    let defines = pieces.iter().any(|piece| names.iter().any(|name| piece.defines(name)));
    defines.then_some(dedented)
}

#[cfg(test)]
mod tests {
    use super::*;

    const ASKED: Asked<'static> = Asked { entry_point: Some("f"), tests: None };

    #[test]
    fn prose_around_a_program() {
        let program = "import re, os\nfrom a import b\n\n@cache\ndef f(x):\n    return x\n\nK = 3\nprint(f(1))\n";
        assert_eq!(without_prose(program, &ASKED), None);
        let text =
            format!("Here's the code (short):\n\n{program}\nIt doubles x. From here, done.\n");
        let range = without_prose(&text, &ASKED).unwrap();
        assert_eq!(text.get(range), Some(program));
        assert_eq!(without_prose("Prose only about f.", &ASKED), None);
        assert_eq!(without_prose(&text, &Asked::default()), None);
    }

    #[test]
    fn a_margin_of_blanks() {
        let source = "    def f(x):\n\n        return x\n";
        assert_eq!(dedented(source, &ASKED).as_deref(), Some("def f(x):\n\n    return x\n"));
        assert_eq!(
            dedented("    def helper(x):\n        return x\n    return helper(y)\n", &ASKED),
            None
        );
        assert_eq!(dedented("    return x\n", &ASKED), None);
        assert_eq!(dedented("def f(x): return x\n", &ASKED), None);
    }
}
