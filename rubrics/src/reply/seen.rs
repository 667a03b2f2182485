//! Texts as they are seen.

/// What others wrote, as it is seen: without white space.
pub(super) struct Material(Vec<String>);

impl Material {
    /// Reads the material once, for many questions.
    pub(super) fn of(material: &[&str]) -> Self {
        Self(material.iter().map(|text| dense(text)).collect())
    }

    /// Whether it contains a text.
    pub(super) fn contains(&self, text: &str) -> bool {
        let text = dense(text);
        !text.is_empty() && self.0.iter().any(|one| one.contains(&text))
    }
}

fn dense(text: &str) -> String {
    text.chars().filter(|c| !c.is_whitespace() && !is_invisible(*c)).collect()
}

/// The text without characters that are not seen.
pub(super) fn visible(text: &str) -> String {
    text.chars().filter(|c| !is_invisible(*c)).collect()
}

fn is_invisible(c: char) -> bool {
    matches!(c, '\u{200B}'..='\u{200F}' | '\u{202A}'..='\u{202E}' | '\u{2060}'..='\u{2069}' | '\u{FEFF}' | '\u{FE0F}')
}
