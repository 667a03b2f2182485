//! What is wrong: its place in the configuration, and what to type.

use assay::ConfigError;
use assay::data::escape;
use serde::Serialize;

use crate::text::inline;

/// Characters of a line that are shown before and behind its place.
const AROUND_CHARS: usize = 60;

/// One thing that is wrong. The keys are part of the command-line contract.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Problem {
    /// The key, as `--set` names it.
    pub(super) key: String,
    /// The file, or the flag, in which it stands.
    file: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    line: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    column: Option<usize>,
    pub(super) message: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    help: Option<String>,
    #[serde(skip)]
    excerpt: Option<Excerpt>,
}

/// The line at fault, with what it is marked by.
#[derive(Clone, Debug)]
struct Excerpt {
    line: String,
    marks: String,
}

impl Problem {
    pub(super) fn new(key: impl Into<String>, error: ConfigError) -> Self {
        let place = error.span().and_then(|span| {
            let before = error.text().get(..span.start)?;
            let line = before.matches('\n').count() + 1;
            let start = before.rfind('\n').map_or(0, |end| end + 1);
            let column = error.text().get(start..span.start)?.chars().count() + 1;
            let whole = error.text().get(start..)?.lines().next().unwrap_or_default();
            Some((line, column, Excerpt::new(whole, span.start - start, span.len())))
        });
        let (line, column) = (place.as_ref().map(|one| one.0), place.as_ref().map(|one| one.1));
        Self {
            key: key.into(),
            file: error.name().to_owned(),
            line,
            column,
            excerpt: place.map(|(.., excerpt)| excerpt),
            message: error.message,
            help: error.help,
        }
    }

    /// The problem for people: `kind` is `error` or `warning`.
    pub(super) fn text(&self, kind: &str) -> String {
        let mut text = format!("{kind}: {}: {}\n", inline(&self.key), inline(&self.message));
        let file = inline(&self.file);
        match (self.line, self.column) {
            (Some(line), Some(column)) => text.push_str(&format!("  at {file}:{line}:{column}\n")),
            _ => text.push_str(&format!("  at {file}\n")),
        }
        if let Some(Excerpt { line, marks }) = &self.excerpt {
            text.push_str(&format!("   | {line}\n   | {marks}\n"));
        }
        if let Some(help) = &self.help {
            text.push_str(&format!("  help: {}\n", inline(help)));
        }
        text
    }
}

impl Excerpt {
    /// A line, with `length` bytes of it marked from `start` on.
    fn new(line: &str, start: usize, length: usize) -> Self {
        let (before, rest) = line.split_at_checked(start).unwrap_or((line, ""));
        let (marked, behind) = rest.split_at_checked(length).unwrap_or((rest, ""));
        let skipped = before.chars().count().saturating_sub(AROUND_CHARS);
        let before: String = before.chars().skip(skipped).collect();
        let behind: String = behind.chars().take(AROUND_CHARS).collect();
        let marked: String = marked.chars().take(2 * AROUND_CHARS).collect();
        let [before, marked, behind] = [before, marked, behind].map(|part| inline(&part));
        let marks =
            " ".repeat(before.chars().count()) + "^".repeat(marked.chars().count().max(1)).as_str();
        Self { line: format!("{before}{marked}{behind}"), marks }
    }
}

/// Names, as a message lists them.
pub(super) fn listed<'a>(names: impl IntoIterator<Item = &'a str>) -> String {
    /// The most names that are listed.
    const LISTED_MAX: usize = 12;
    let names: Vec<&str> = names.into_iter().collect();
    let shown: Vec<String> = names.iter().take(LISTED_MAX).map(|name| escape(name)).collect();
    let more = names.len().saturating_sub(LISTED_MAX);
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    shown.join(", ") + more.as_str()
}
