//! CSV (RFC 4180), read strictly: quotes where the standard has them, and rows of one length.

use crate::Break;

/// The records of a CSV text, fields unquoted. The line ends behind the last record are no records; a
/// blank line within the text is one field. Linear in the text.
///
/// # Errors
/// A quotation mark in a bare field, text behind a closing one, a field that is not closed, and a
/// record of another length than the first.
pub fn read(text: &str, delimiter: char) -> Result<Vec<Vec<String>>, Break> {
    let mut text = text.trim_start_matches('\u{feff}');
    // Blank lines at the end are no records.
    while let Some((head, last)) = text.rsplit_once('\n')
        && last.trim_matches([' ', '\r']).is_empty()
    {
        text = head.strip_suffix('\r').unwrap_or(head);
    }
    let (mut records, mut record): (Vec<Vec<String>>, Vec<String>) = (Vec::new(), Vec::new());
    let mut rest = text;
    let mut start = 0;
    while !rest.is_empty() || !record.is_empty() {
        let at = text.len() - rest.len();
        if record.is_empty() {
            start = at;
        }
        let (field, behind) = if let Some(inner) = rest.strip_prefix('"') {
            quoted(inner).ok_or_else(|| Break::new("unclosed-quote", "", at..text.len()))?
        } else {
            let end = rest.find([delimiter, '\n', '\r']).unwrap_or(rest.len());
            let field = &rest[..end];
            if let Some(mark) = field.find('"') {
                return Err(Break::new(
                    "stray-quote",
                    field_shown(field),
                    at + mark..at + mark + 1,
                ));
            }
            (field.to_owned(), &rest[end..])
        };
        record.push(field);
        let at = text.len() - behind.len();
        if let Some(next) = behind.strip_prefix(delimiter) {
            rest = next;
            if next.is_empty() {
                record.push(String::new());
            } else {
                continue;
            }
        } else if let Some(next) =
            behind.strip_prefix("\r\n").or_else(|| behind.strip_prefix(['\n', '\r']))
        {
            rest = next;
        } else if behind.is_empty() {
            rest = behind;
        } else {
            return Err(Break::new("text-after-quote", field_shown(behind), at..at + 1));
        }
        if records.first().is_some_and(|first| first.len() != record.len()) {
            let what = format!("{} fields", record.len());
            return Err(Break::new("record-length", what, start..at));
        }
        records.push(std::mem::take(&mut record));
    }
    if records.is_empty() { Err(Break::new("no-record", "", 0..0)) } else { Ok(records) }
}

fn field_shown(field: &str) -> String {
    field.chars().take(40).collect()
}

/// The field up to its closing mark, and what follows. Two marks are one.
fn quoted(inner: &str) -> Option<(String, &str)> {
    let mut field = String::new();
    let mut rest = inner;
    loop {
        let (part, behind) = rest.split_once('"')?;
        field.push_str(part);
        match behind.strip_prefix('"') {
            Some(next) => {
                field.push('"');
                rest = next;
            }
            None => return Some((field, behind)),
        }
    }
}
