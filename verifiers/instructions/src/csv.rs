//! Rows as Python's `csv.reader` reads them, when it is not strict.

/// What was read of a field.
#[derive(Clone, Copy, PartialEq)]
enum State {
    Start,
    Plain,
    Quoted,
    /// A quote within quotes: the end, or the first of two.
    Quote,
    /// After a carriage return.
    Return,
}

/// The rows of a text; `None` where the reader raises: on a carriage return within a line, and on a
/// field of more than 131,072 characters.
pub(crate) fn rows(text: &str, delimiter: char) -> Option<Vec<Vec<String>>> {
    let (mut rows, mut row, mut field) = (Vec::new(), Vec::new(), String::new());
    let mut state = State::Start;
    // Whether the row has begun.
    let mut begun = false;
    let mut length = 0;
    for c in text.chars() {
        match (state, c) {
            (State::Quoted, '"') => state = State::Quote,
            (State::Quoted, _) => field.push(c),
            (State::Quote, '"') => {
                field.push('"');
                state = State::Quoted;
            }
            (State::Return, '\r') => (),
            (_, '\n' | '\r') => {
                if begun {
                    row.push(std::mem::take(&mut field));
                }
                begun = false;
                state = if c == '\r' { State::Return } else { State::Start };
                if c == '\n' {
                    rows.push(std::mem::take(&mut row));
                }
            }
            (State::Return, _) => return None,
            (_, c) if c == delimiter => {
                row.push(std::mem::take(&mut field));
                begun = true;
                state = State::Start;
            }
            (State::Start, '"') => {
                begun = true;
                state = State::Quoted;
            }
            _ => {
                begun = true;
                field.push(c);
                state = State::Plain;
            }
        }
        length = if field.is_empty() { 0 } else { length + 1 };
        if length > 131_072 {
            return None;
        }
    }
    if begun {
        row.push(field);
    }
    if begun || state == State::Return {
        rows.push(row);
    }
    Some(rows)
}
