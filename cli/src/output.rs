//! What people see: tables on stdout, notes on stderr. Whoever wrote what is in it, names, paths, settings
//! or ids, a terminal obeys nothing of it: what it would obey is written as an escape, here.

use std::borrow::Cow;
use std::io::Write as _;
use std::sync::OnceLock;

use assay::data::escape;
use comfy_table::{CellAlignment, Table, presets};
use serde::Serialize;

/// Why standard output did not take something, the first time.
static REFUSED: OnceLock<String> = OnceLock::new();

/// Prints a line to stdout.
pub(super) fn line(text: &str) {
    put(&shown(text, Styles::None));
    put("\n");
}

fn put(text: &str) {
    take_note(std::io::stdout().lock().write_all(text.as_bytes()));
}

/// Takes note of what came of writing to stdout.
pub(super) fn take_note(written: std::io::Result<()>) {
    if let Err(error) = written {
        let _ = REFUSED.set(error.to_string());
    }
}

/// Ends what is printed to stdout; why it is not all there.
pub(super) fn finish() -> Option<&'static str> {
    take_note(std::io::stdout().lock().flush());
    REFUSED.get().map(String::as_str)
}

/// Prints a line to stderr.
pub(super) fn note(text: &str) {
    let _ = writeln!(std::io::stderr().lock(), "{}", shown(text, Styles::None));
}

/// Prints lines to stderr whose colours are ours. What others wrote in them is escaped already.
pub(super) fn styled_note(text: &str) {
    let _ = writeln!(std::io::stderr().lock(), "{}", shown(text, Styles::Colours));
}

/// Prints text that brings its own line ends to stdout.
pub(super) fn text(text: &str) {
    put(&shown(text, Styles::None));
}

/// The same, for text with our marks in it. What others wrote in it is escaped already.
pub(super) fn marked(text: &str) {
    put(&shown(text, Styles::Colours));
}

/// Writes to stdout what another program reads, byte for byte.
pub(super) fn data(text: &str) {
    put(text);
}

/// The text with an escape for all that a terminal obeys, line ends and tabs aside.
pub(super) fn plain(text: &str) -> String {
    shown(text, Styles::None).into_owned()
}

/// Which of the sequences that a terminal obeys stay in a text.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Styles {
    None,
    /// `ESC [ ... m` alone.
    Colours,
}

/// The text as it may reach a terminal: line ends and tabs stay, and every other character that a
/// terminal obeys or that deceives the eye is written as an escape.
fn shown(text: &str, styles: Styles) -> Cow<'_, str> {
    if text
        .bytes()
        .all(|byte| byte == b'\n' || byte == b'\t' || byte == b' ' || byte.is_ascii_graphic())
    {
        return Cow::Borrowed(text);
    }
    let (mut shown, mut rest) = (String::with_capacity(text.len()), text);
    while let Some(char) = rest.chars().next() {
        let colour = if styles == Styles::Colours { colour(rest) } else { 0 };
        let (taken, behind) = rest.split_at(colour.max(char.len_utf8()));
        if colour > 0 || matches!(char, '\n' | '\t') {
            shown.push_str(taken);
        } else {
            shown.push_str(&escape(taken));
        }
        rest = behind;
    }
    Cow::Owned(shown)
}

/// The bytes of the colour with which a text starts; 0 where it starts with none.
fn colour(text: &str) -> usize {
    let Some(numbers) = text.strip_prefix("\u{1b}[") else { return 0 };
    let end = numbers.find(|char: char| !(char.is_ascii_digit() || char == ';'));
    end.filter(|end| numbers.get(*end..).is_some_and(|rest| rest.starts_with('m')))
        .map_or(0, |end| end + 3)
}

/// Prints a value to stdout as JSON. What a terminal would obey is written as `\\u` escapes.
pub(super) fn json(value: &impl Serialize) -> anyhow::Result<()> {
    line(&plain_json(&serde_json::to_string_pretty(value)?));
    Ok(())
}

/// Outside of strings JSON is ASCII, and in strings every character may be an escape.
fn plain_json(json: &str) -> String {
    let mut plain = String::with_capacity(json.len());
    for char in json.chars() {
        let shown = escape(char.encode_utf8(&mut [0; 4]));
        if char == '\n' || shown.starts_with(char) {
            plain.push(char);
        } else {
            for unit in char.encode_utf16(&mut [0; 2]) {
                plain.push_str(&format!("\\u{unit:04x}"));
            }
        }
    }
    plain
}

/// A table whose first column is text and whose others are numbers.
pub(super) fn table<const N: usize>(header: [&str; N], rows: &[[String; N]]) -> String {
    let mut table = Table::new();
    table.load_style(presets::NOTHING).set_header(header);
    table.add_rows(rows);
    for column in table.column_iter_mut().skip(1) {
        column.set_cell_alignment(CellAlignment::Right);
    }
    let text = table.to_string();
    let trimmed: Vec<&str> = text.lines().map(str::trim_end).collect();
    trimmed.join("\n")
}

/// A share as people read it.
pub(super) fn percent(share: f64) -> String {
    format!("{:.2} %", share * 100.0)
}

/// An amount with thousands marked.
pub(super) fn count(amount: u64) -> String {
    let digits = amount.to_string();
    let mut shown = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            shown.push(',');
        }
        shown.push(digit);
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thousands_are_marked() {
        assert_eq!(count(0), "0");
        assert_eq!(count(999), "999");
        assert_eq!(count(1_234_567), "1,234,567");
    }

    #[test]
    fn a_terminal_obeys_our_colours_alone() {
        let text = "a\tb\n\u{1b}[1;31mred\u{1b}[0m\u{1b}]0;x\u{7}\u{9b}2J\u{202e}\u{1b}[2J\ré";
        let none = shown(text, Styles::None);
        assert_eq!(
            none,
            "a\tb\n\\u{1b}[1;31mred\\u{1b}[0m\\u{1b}]0;x\\u{7}\\u{9b}2J\\u{202e}\\u{1b}[2J\\ré"
        );
        let styled = shown(text, Styles::Colours);
        assert!(styled.starts_with("a\tb\n\u{1b}[1;31mred\u{1b}[0m\\u{1b}]0;x"), "{styled}");
        assert_eq!(styled.matches('\u{1b}').count(), 2, "{styled}");
        assert!(matches!(shown("plain\n", Styles::None), Cow::Borrowed(_)));
    }

    #[test]
    fn json_holds_nothing_that_a_terminal_obeys() {
        let value = serde_json::json!({"a": "\u{1b}[1m\u{9b}\u{202e}\u{7f}\u{e0041}é\\"});
        let plain = plain_json(&serde_json::to_string_pretty(&value).unwrap());
        assert!(plain.chars().all(|char| char == '\n' || !char.is_control()), "{plain}");
        assert!(!plain.contains(['\u{202e}', '\u{e0041}']), "{plain}");
        assert_eq!(serde_json::from_str::<serde_json::Value>(&plain).unwrap(), value);
    }
}
