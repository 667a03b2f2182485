//! Grids of cells: read from text, compared, and held to the rules of sudoku.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::number::count;

/// Rows of cells, each as text.
pub type Cells = Vec<Vec<String>>;

/// The grid that a value holds: a list of rows, which are lists or texts, or a text of lines. `None`
/// unless all rows have the same length, which is not 0. Linear.
pub fn of_value(value: &Value) -> Option<Cells> {
    let cell = |cell: &Value| match cell {
        Value::Null => String::new(),
        Value::String(text) => text.trim().to_owned(),
        other => other.to_string(),
    };
    let row = |row: &Value| match row {
        Value::Array(cells) => Some(cells.iter().map(cell).collect()),
        Value::String(text) => Some(spread(text)),
        _ => None,
    };
    let rows: Cells = match value {
        Value::Array(rows) => rows.iter().map(row).collect::<Option<_>>()?,
        Value::String(text) => match list_in(text) {
            Some(inner) => return of_value(&inner),
            None => text.lines().map(spread).filter(|row| !row.is_empty()).collect(),
        },
        _ => return None,
    };
    let width = rows.first().map(Vec::len).filter(|width| *width > 0)?;
    rows.iter().all(|row| row.len() == width).then_some(rows)
}

/// The rows of a square that is written as one line, as a puzzle of sudoku may be; any other grid as it is.
pub fn squared(cells: Cells) -> Cells {
    match cells.as_slice() {
        [line] if line.len() > 3 && line.len().isqrt().pow(2) == line.len() => {
            line.chunks(line.len().isqrt()).map(<[String]>::to_vec).collect()
        }
        _ => cells,
    }
}

fn list_in(text: &str) -> Option<Value> {
    let text = text.trim();
    let read = |text: &str| serde_json::from_str(text).ok().filter(Value::is_array);
    read(text).or_else(|| read(&text.replace('\'', "\"").replace('(', "[").replace(')', "]")))
}

/// The cells of a line: between blanks, commas and bars, or else its characters.
fn spread(line: &str) -> Vec<String> {
    let is_frame = |c: char| c.is_whitespace() || ",;|[]\"'".contains(c);
    let cells: Vec<String> =
        line.split(is_frame).filter(|cell| !cell.is_empty()).map(str::to_owned).collect();
    match cells.as_slice() {
        [one] if one.chars().count() > 1 => one.chars().map(String::from).collect(),
        _ => cells,
    }
}

/// The grid that a text holds, of the size of another one: a list, or the last block of lines with as
/// many cells each. Blank lines and rules (`---+---`) may be among them, and words are no cells unless
/// the other grid has some. `None` where the block has another height. Linear.
pub fn read(text: &str, like: &Cells) -> Option<Cells> {
    let width = like.first().map_or(0, Vec::len);
    if let Some(list) = list_in(text) {
        let is_like = |rows: &Cells| {
            rows.len() == like.len() && rows.first().is_some_and(|row| row.len() == width)
        };
        return of_value(&list).filter(is_like);
    }
    let is_short = |cell: &String| cell.chars().count() == 1 || cell.parse::<f64>().is_ok();
    let has_words = !like.iter().flatten().all(|cell| cell.is_empty() || is_short(cell));
    let mut rows: Cells = Vec::new();
    for line in text.lines().rev() {
        if line.chars().all(|c| c.is_whitespace() || "-+=|─┼━│╋".contains(c)) {
            continue;
        }
        let cells = spread(line);
        if cells.len() == width && (has_words || cells.iter().all(is_short)) {
            rows.push(cells);
        } else if !rows.is_empty() {
            break;
        }
    }
    rows.reverse();
    (rows.len() == like.len()).then_some(rows)
}

/// The share of cells that are equal in two grids of one size.
pub fn equal_share(own: &Cells, wanted: &Cells) -> f64 {
    let pairs = own.iter().flatten().zip(wanted.iter().flatten());
    let same = pairs.filter(|(one, two)| one == two).count();
    count(same) / count(wanted.iter().map(Vec::len).sum::<usize>().max(1))
}

/// Whether a cell of a puzzle is to be filled.
pub fn is_blank(cell: &str) -> bool {
    matches!(cell, "" | "0" | "." | "_" | "-" | "*" | "?")
}

/// Which rule of sudoku a grid breaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Broken {
    /// A clue was changed.
    Clue,
    /// A cell is not one of the numbers from 1 to the size, or of its letters.
    Symbol,
    /// A symbol comes twice in a row.
    Row,
    /// A symbol comes twice in a column.
    Column,
    /// A symbol comes twice in a box.
    Box,
}

/// The first rule of sudoku that a square grid breaks, whose size `clues` has. Boxes have `rows` rows
/// and `columns` columns, and `rows * columns` is the size. Linear in the cells.
pub fn sudoku(own: &Cells, clues: &Cells, (rows, columns): (usize, usize)) -> Result<(), Broken> {
    let size = clues.len();
    let pairs = own.iter().flatten().zip(clues.iter().flatten());
    for (cell, clue) in pairs {
        if !is_blank(clue) && cell != clue {
            return Err(Broken::Clue);
        }
    }
    let symbol = |cell: &String| -> Option<usize> {
        let letter = cell.parse().ok().or_else(|| {
            let byte = cell.as_bytes().first().filter(|_| cell.len() == 1)?;
            byte.is_ascii_alphabetic().then(|| usize::from(byte.to_ascii_uppercase() - b'A') + 10)
        });
        letter.filter(|own| (1..=size).contains(own))
    };
    let mut seen = BTreeSet::new();
    for (y, row) in own.iter().enumerate() {
        for (x, cell) in row.iter().enumerate() {
            let symbol = symbol(cell).ok_or(Broken::Symbol)?;
            let nook = y / rows.max(1) * size + x / columns.max(1);
            for (kind, at, broken) in
                [(0, y, Broken::Row), (1, x, Broken::Column), (2, nook, Broken::Box)]
            {
                if !seen.insert((kind, at, symbol)) {
                    return Err(broken);
                }
            }
        }
    }
    Ok(())
}

/// The usual boxes of a size: as square as can be, and wider than high. `None` for 0.
pub fn boxes(size: usize) -> Option<(usize, usize)> {
    let rows = (1..=size.isqrt()).rev().find(|rows| size.is_multiple_of(*rows))?;
    Some((rows, size / rows))
}
