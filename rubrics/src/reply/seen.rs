//! Texts as they are seen.

/// Whether the material contains a text, whatever the white space.
pub(super) fn stands_in(text: &str, material: &[&str]) -> bool {
    let is_seen = |c: &char| !c.is_whitespace() && !is_invisible(*c);
    let dense = |text: &str| text.chars().filter(is_seen).collect::<String>();
    let text = dense(text);
    !text.is_empty() && material.iter().any(|one| dense(one).contains(&text))
}

/// The text without characters that are not seen.
pub(super) fn visible(text: &str) -> String {
    text.chars().filter(|c| !is_invisible(*c)).collect()
}

fn is_invisible(c: char) -> bool {
    matches!(c, '\u{200B}'..='\u{200F}' | '\u{202A}'..='\u{202E}' | '\u{2060}'..='\u{2069}' | '\u{FEFF}' | '\u{FE0F}')
}
