//! Rules of reasoning-gym for answers that are grids and lists.

use serde_json::Value;

use super::words::contained_share;
use crate::entry::{Judged, Marked, Puzzle};
use crate::number::{count, float};

/// A list of Python or JSON.
fn listed(text: &str) -> Option<Vec<Value>> {
    let read = |text: &str| serde_json::from_str::<Vec<Value>>(text).ok();
    read(text).or_else(|| read(&text.replace('\'', "\"").replace('(', "[").replace(')', "]")))
}

/// A value as Python writes it.
fn shown(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

fn joined(values: &[Value], separator: &str) -> String {
    values.iter().map(shown).collect::<Vec<_>>().join(separator)
}

/// A list as its values with blanks, and lists in lists as lines.
fn as_lines(values: &[Value]) -> Option<String> {
    let rows: Option<Vec<String>> =
        values.iter().map(|row| Some(joined(row.as_array()?, " "))).collect();
    Some(rows?.join("\n"))
}

/// How a list is written.
#[derive(Clone, Copy)]
pub(super) enum Written {
    /// Lists in lists as lines.
    Lines,
    /// Values with blanks between them.
    Words,
    /// Values without anything between them.
    Joined,
}

/// Equal, or a list of equal values, which earns `share`.
pub(super) fn or_list(puzzle: &Puzzle<'_>, how: Written, share: f64) -> Judged {
    let gold = puzzle.gold()?;
    let trims = matches!(how, Written::Words);
    let (gold, answer) =
        if trims { (gold.trim(), puzzle.answer.trim()) } else { (&*gold, puzzle.answer) };
    if answer == gold {
        return Ok(Marked::exact(true));
    }
    let text = listed(answer).and_then(|values| match how {
        Written::Lines => as_lines(&values),
        Written::Words => Some(joined(&values, " ")),
        Written::Joined => Some(joined(&values, "")),
    });
    let right = text.is_some_and(|text| text == gold);
    Ok(Marked { published: if right { share } else { 0.0 }, right })
}

/// One of the boards of the data, or a list of its rows, which earns half.
pub(super) fn queens(puzzle: &Puzzle<'_>) -> Judged {
    let valid = puzzle.texts("valid_answers")?;
    if valid.contains(&puzzle.answer) {
        return Ok(Marked::exact(true));
    }
    let board = listed(puzzle.answer).and_then(|rows| as_lines(&rows));
    let right = board.is_some_and(|board| valid.contains(&board.as_str()));
    Ok(Marked { published: if right { 0.5 } else { 0.0 }, right })
}

/// A matrix, whatever the blanks between its numbers.
pub(super) fn matrix(puzzle: &Puzzle<'_>) -> Judged {
    let gold = puzzle.gold()?;
    let (gold, answer) = (gold.trim(), puzzle.answer.trim());
    let line = |line: &str| line.split_whitespace().collect::<Vec<_>>().join(" ");
    let answer: String = answer.split('\n').map(line).collect::<Vec<_>>().join("\n");
    let answer = answer.trim();
    if puzzle.answer.is_empty() || answer == gold {
        return Ok(Marked::exact(answer == gold));
    }
    Ok(Marked::wrong(contained_share(answer, gold)))
}

/// Whether two values are equal in Python, where 1, 1.0 and True are.
fn equal(one: &Value, two: &Value) -> bool {
    let number = |value: &Value| match value {
        Value::Bool(bit) => Some(f64::from(u8::from(*bit))),
        value => value.as_f64(),
    };
    match (number(one), number(two)) {
        (Some(one), Some(two)) => (one - two).abs() <= 0.0,
        _ => one == two,
    }
}

/// The share of equal cells.
pub(super) fn cells(puzzle: &Puzzle<'_>) -> Judged {
    let gold: Value = serde_json::from_str(&puzzle.gold()?).unwrap_or(Value::Null);
    let rows = gold.as_array().filter(|rows| !rows.is_empty());
    let rows = rows.ok_or("the reference is not a JSON list")?;
    let Ok(answer) = serde_json::from_str::<Value>(puzzle.answer) else {
        return Ok(Marked::wrong(0.0));
    };
    let (mut total, mut hits) = (0, 0);
    for (at, row) in rows.iter().enumerate() {
        let own = answer.get(at);
        let pairs: Vec<(Option<&Value>, &Value)> = match row {
            Value::Array(cells) => {
                let own = |at| own.and_then(|own: &Value| own.get(at));
                cells.iter().enumerate().map(|(at, cell)| (own(at), cell)).collect()
            }
            cell => vec![(own, cell)],
        };
        total += pairs.len();
        hits += pairs.iter().filter(|(own, cell)| own.is_some_and(|own| equal(own, cell))).count();
    }
    let size = |value: &Value| value.as_array().map(Vec::len);
    let shaped = size(&answer) == Some(rows.len())
        && rows.iter().enumerate().all(|(at, row)| answer.get(at).and_then(size) == size(row));
    let published = if total == 0 { 0.0 } else { count(hits) / count(total) };
    Ok(Marked { published, right: hits == total && total > 0 && shaped })
}

/// The digits from 1 to 9 of a line.
fn digits(line: &str) -> Vec<i64> {
    line.chars().filter_map(|c| c.to_digit(10)).filter(|d| *d > 0).map(i64::from).collect()
}

/// A board of digits: what is not verbatim earns nine tenths of the share of equal cells, and what is
/// longer than the published answer less.
pub(super) fn board(puzzle: &Puzzle<'_>) -> Judged {
    let (gold, solution) = (puzzle.gold()?, puzzle.grid("solution")?);
    let width = solution.first().map_or(1, Vec::len);
    let answer = puzzle.answer;
    if answer.is_empty() {
        return Ok(Marked::wrong(0.0));
    }
    let trimmed = |text: &str| text.split('\n').map(str::trim_end).collect::<Vec<_>>().join("\n");
    let rows: Vec<Vec<i64>> =
        answer.split('\n').map(digits).filter(|row| row.len() == width).collect();
    let hits = |pair: (&Vec<i64>, &Vec<i64>)| {
        pair.0.iter().zip(pair.1).filter(|(one, two)| one == two).count()
    };
    let verbatim = trimmed(answer) == trimmed(&gold);
    let mut published = if verbatim {
        1.0
    } else {
        count(solution.iter().zip(&rows).map(hits).sum()) / count(width * width) * 0.9
    };
    let (length, due) = (answer.chars().count(), gold.chars().count());
    if length > due {
        published *= count(due) / count(length);
    }
    Ok(Marked { published, right: verbatim || rows == solution })
}

/// Cells of 0 and 1 whose weighted sums are those of the rows and columns.
pub(super) fn kakurasu(puzzle: &Puzzle<'_>) -> Judged {
    let (rows, columns) = (puzzle.numbers("row_sums")?, puzzle.numbers("col_sums")?);
    let bits = |line: &str| -> Vec<i64> {
        line.bytes()
            .filter(|byte| matches!(byte, b'0' | b'1'))
            .map(|b| i64::from(b - b'0'))
            .collect()
    };
    let grid: Vec<Vec<i64>> = puzzle.answer.trim().lines().map(bits).collect();
    if grid.len() != rows.len() || grid.iter().any(|row| row.len() != columns.len()) {
        return Ok(Marked::wrong(0.0));
    }
    let mut across = Vec::new();
    let mut down = vec![0; columns.len()];
    for (row, height) in grid.iter().zip(1..) {
        across.push(row.iter().zip(1..).map(|(bit, weight)| bit * weight).sum::<i64>());
        down.iter_mut().zip(row).for_each(|(sum, bit)| *sum += bit * height);
    }
    Ok(Marked::exact(across == rows && down == columns))
}

/// A grid of whole numbers, whatever else is in its lines.
pub(super) fn survo(puzzle: &Puzzle<'_>) -> Judged {
    let solution = puzzle.grid("solution")?;
    let row = |line: &str| -> Vec<i64> {
        line.split_whitespace().filter_map(|word| word.parse().ok()).collect()
    };
    let grid: Vec<Vec<i64>> =
        puzzle.answer.split('\n').map(row).filter(|row: &Vec<i64>| !row.is_empty()).collect();
    Ok(Marked::exact(grid == solution))
}

/// A board of ARC: a board that is read earns 0.05.
pub(super) fn arc(puzzle: &Puzzle<'_>) -> Judged {
    let wanted = puzzle.grid("output")?;
    let cell = |cell: &str| match cell.as_bytes() {
        [digit] => char::from(*digit).to_digit(10).map(i64::from),
        _ => None,
    };
    let row = |line: &str| -> Option<Vec<i64>> {
        line.split(' ').map(str::trim).filter(|text| !text.is_empty()).map(cell).collect()
    };
    let lines: Vec<&str> = puzzle
        .answer
        .split('\n')
        .map(str::trim)
        .filter(|line| !line.starts_with("Shape: "))
        .collect();
    let grid: Option<Vec<Vec<i64>>> = lines.join("\n").trim().lines().map(row).collect();
    Ok(grid.map_or(Marked::wrong(0.0), |grid| Marked::floor(grid == wanted, 0.05)))
}

/// A matrix of numbers, each within a hundredth of its value. One of the same shape earns 0.1.
pub(super) fn pooled(puzzle: &Puzzle<'_>) -> Judged {
    let read = |text: &str| -> Option<Vec<Vec<f64>>> {
        let row = |line: &str| line.split_whitespace().map(float).collect::<Option<Vec<f64>>>();
        let lines = text.lines().filter(|line| !line.trim().is_empty());
        let rows: Vec<Vec<f64>> = lines.map(row).collect::<Option<_>>()?;
        let width = rows.first()?.len();
        rows.iter().all(|row| row.len() == width).then_some(rows)
    };
    // NumPy drops axes of length 1.
    let shape = |rows: &[Vec<f64>]| -> Vec<usize> {
        let axes = [rows.len(), rows.first().map_or(0, Vec::len)];
        axes.into_iter().filter(|axis| *axis != 1).collect()
    };
    let wanted = read(&puzzle.gold()?).ok_or("the reference is not a matrix")?;
    let own = read(puzzle.answer).filter(|own| shape(own) == shape(&wanted));
    let Some(own) = own else { return Ok(Marked::wrong(0.0)) };
    let is_near = |(one, two): (&f64, &f64)| (one - two).abs() <= 1e-8 + 1e-2 * two.abs();
    Ok(Marked::floor(wanted.iter().flatten().zip(own.iter().flatten()).all(is_near), 0.1))
}
