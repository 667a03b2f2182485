//! Crosswords: shares of letters and of words that are right.

use crate::number::count;

/// A filled grid. A cell that is a wall is `#`, one that is empty `_`.
pub type Letters = Vec<Vec<char>>;

/// What is right of a crossword.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Shares {
    /// The share of letters.
    pub letters: f64,
    /// The share of words, across and down.
    pub words: f64,
    /// The whole.
    pub game: bool,
}

/// The grid of a reference: rows of letters; `#`, `.` and `■` are walls. `None` unless all rows have
/// the same length and there is a letter.
pub fn solution<'t>(rows: impl Iterator<Item = &'t str>) -> Option<Letters> {
    let grid: Letters = rows.map(row).collect();
    let width = grid.first()?.len();
    let has_letter = grid.iter().flatten().any(|cell| *cell != '#');
    (has_letter && grid.iter().all(|row| row.len() == width)).then_some(grid)
}

/// The cells of a line, in capitals, without blanks, commas and bars.
fn row(line: &str) -> Vec<char> {
    let cells = line.chars().filter(|c| !c.is_whitespace() && !",|[]\"'".contains(*c));
    let upper = cells.flat_map(char::to_uppercase);
    upper.map(|c| if matches!(c, '.' | '■') { '#' } else { c }).collect()
}

/// The last rows of a text, as many as there should be; a row of another length is empty. Linear.
pub fn read(text: &str, height: usize, width: usize) -> Letters {
    let rows: Letters = text.lines().map(row).filter(|row| !row.is_empty()).collect();
    let skip = rows.len().saturating_sub(height);
    let empty = || vec!['_'; width];
    let sized = |row: Vec<char>| if row.len() == width { row } else { empty() };
    let mut grid: Letters = rows.into_iter().skip(skip).map(sized).collect();
    grid.resize_with(height, empty);
    grid
}

/// The same as the tree-of-thought paper reads it: after the last `Output:`, the first letters of the
/// first lines, between single blanks; a line of more letters is empty. Linear.
pub fn read_official(text: &str, height: usize, width: usize) -> Letters {
    let text = text.rsplit("Output:\n").next().map_or("", str::trim);
    let lines: Vec<&str> = text.split('\n').collect();
    let line = |line: &&str| {
        let mut cells: Vec<char> =
            line.split(' ').take(width).collect::<String>().to_uppercase().chars().collect();
        if cells.len() > width {
            cells.clear();
        }
        cells.resize(width, '_');
        cells
    };
    let mut grid: Letters = lines.iter().take(height).map(line).collect();
    grid.resize_with(height, || vec!['_'; width]);
    grid
}

/// Compares a grid with the solution, whose size it has. A word is two or more letters between walls.
pub fn compare(own: &Letters, wanted: &Letters) -> Shares {
    let column = |grid: &Letters, at: usize| -> Vec<char> {
        grid.iter().filter_map(|row| row.get(at).copied()).collect()
    };
    let (mut letters, mut right, mut words, mut hits) = (0, 0, 0, 0);
    let width = wanted.first().map_or(0, Vec::len);
    let across = own.iter().cloned().zip(wanted.iter().cloned());
    let down = (0..width).map(|at| (column(own, at), column(wanted, at)));
    for (index, (own, line)) in across.chain(down).enumerate() {
        let pairs: Vec<(char, char)> = own.into_iter().zip(line).collect();
        for word in pairs.split(|(_, due)| *due == '#').filter(|word| !word.is_empty()) {
            let same = word.iter().filter(|(own, due)| own == due).count();
            // Rows come first: each letter is counted once.
            if index < wanted.len() {
                letters += word.len();
                right += same;
            }
            if word.len() > 1 {
                words += 1;
                hits += usize::from(same == word.len());
            }
        }
    }
    Shares {
        letters: count(right) / count(letters.max(1)),
        words: count(hits) / count(words.max(1)),
        game: right == letters,
    }
}
