//! Names of files in prose.

/// The path that a line names: alone, or behind `File:` and signs of Markdown.
pub(crate) fn path_in(line: &str) -> Option<String> {
    let is_sign = |c: char| matches!(c, '#' | '*' | '`' | ':' | '<' | '>' | '[' | ']') || c == ' ';
    let line = line.trim().trim_matches(is_sign);
    let line = match line.split_once(':') {
        Some((word, rest)) if is_label(word) => rest.trim_matches(is_sign),
        _ => line,
    };
    bare_path(line).map(str::to_owned)
}

fn is_label(word: &str) -> bool {
    let word = word.trim_end_matches('*').to_ascii_lowercase();
    matches!(word.as_str(), "file" | "filename" | "path" | "filepath" | "file path" | "file name")
}

/// A word that looks like a path: it has an ending, or folders, and nothing that prose has.
pub(crate) fn bare_path(word: &str) -> Option<&str> {
    let is_char = |c: char| c.is_alphanumeric() || matches!(c, '.' | '/' | '_' | '-' | '+' | '@');
    let name = word.rsplit('/').next().unwrap_or(word);
    let has_ending = name.rsplit_once('.').is_some_and(|(_, ending)| {
        (1..=6).contains(&ending.len()) && ending.chars().all(|c| c.is_ascii_alphanumeric())
    });
    let is_path = word.chars().all(is_char) && (has_ending || word.contains('/'));
    (is_path && !name.is_empty()).then_some(word)
}
