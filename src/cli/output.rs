//! What people see: tables on stdout, notes on stderr.

use std::io::Write as _;

use comfy_table::{CellAlignment, Table, presets};
use serde::Serialize;

use super::exit::Failure;

/// Prints a line to stdout. A reader that went away is no failure of ours.
pub(super) fn line(text: &str) {
    let _ = writeln!(std::io::stdout().lock(), "{text}");
}

/// Prints a line to stderr.
pub(super) fn note(text: &str) {
    let _ = writeln!(std::io::stderr().lock(), "{text}");
}

/// Prints a value to stdout as JSON.
pub(super) fn json(value: &impl Serialize) -> Result<(), Failure> {
    line(&serde_json::to_string_pretty(value).map_err(anyhow::Error::from)?);
    Ok(())
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
}
