//! Tables in Markdown, LaTeX, HTML and CSV, and how many of their cells agree.

use std::collections::BTreeMap;

use crate::fold::fold;
use crate::latex::{self, Token, tokens};
use crate::markup::{self, Piece, Tag};
use crate::number::{self, Tolerance};
use crate::{assignment, csv, has_word, markdown};

/// Cells as text, row by row. The first row is the header.
pub type Grid = Vec<Vec<String>>;

/// The most cells of a table, those of spans included.
pub const CELLS_MAX: usize = 100_000;

/// How a table is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Notation {
    /// A pipe table of Markdown.
    Markdown,
    /// A `tabular` or `array` of LaTeX.
    Latex,
    /// A `table` of HTML.
    Html,
    /// CSV, rows of one length.
    Csv,
}

/// The last table of a text in a notation. Cells that span several places stand in each of them.
/// `None` where there is none, or it breaks its notation. Linear in the text and [`CELLS_MAX`].
pub fn read(text: &str, notation: Notation) -> Option<Grid> {
    let grid = match notation {
        Notation::Markdown => markdown::tables(&unfenced(text)).pop(),
        Notation::Latex => tabular(text),
        Notation::Html => html(text),
        Notation::Csv => {
            csv::read(text.trim(), ',').ok().filter(|grid| grid.iter().any(|row| row.len() > 1))
        }
    };
    grid.filter(|grid| !grid.is_empty())
}

/// A text without the marks of fences that hold Markdown, or do not say what they hold.
fn unfenced(text: &str) -> String {
    let (mut out, mut open) = (String::with_capacity(text.len()), None);
    for line in text.lines() {
        let info = line.trim_start().strip_prefix("```").map(|info| info.trim_matches(['`', ' ']));
        let is_mark = info.is_some_and(|info| {
            let is_text = ["", "markdown", "md"].iter().any(|own| info.eq_ignore_ascii_case(own));
            let closes = open.take();
            open = if closes.is_none() { Some(is_text) } else { None };
            closes.unwrap_or(is_text)
        });
        out.extend([if is_mark { "" } else { line }, "\n"]);
    }
    out
}

/// Rows and columns that grow as cells with spans are placed.
#[derive(Default)]
struct Builder {
    grid: Grid,
    /// For each column, a text that goes on below it, and for how many rows.
    below: BTreeMap<usize, (String, usize)>,
    cells: usize,
}

impl Builder {
    fn row(&mut self) {
        self.grid.push(Vec::new());
    }

    /// Adds a cell behind those that reach into the row from above.
    fn cell(&mut self, text: &str, across: usize, down: usize) -> Option<()> {
        self.fill()?;
        let row = self.grid.last_mut()?;
        let (across, down) = (across.clamp(1, 1000), down.clamp(1, 1000));
        for _ in 0..across {
            self.cells += 1;
            if down > 1 {
                self.below.insert(row.len(), (text.to_owned(), down - 1));
            }
            row.push(text.to_owned());
        }
        (self.cells <= CELLS_MAX).then_some(())
    }

    /// Adds the cells that reach into the row at its end.
    fn fill(&mut self) -> Option<()> {
        let row = self.grid.last_mut()?;
        while let Some((text, rows)) = self.below.get_mut(&row.len()) {
            self.cells += 1;
            let column = row.len();
            row.push(text.clone());
            *rows -= 1;
            if *rows == 0 {
                self.below.remove(&column);
            }
        }
        (self.cells <= CELLS_MAX).then_some(())
    }
}

fn html(text: &str) -> Option<Grid> {
    let lower = text.to_ascii_lowercase();
    let start = lower.rfind("<table")?;
    let end = start + lower.get(start..)?.find("</table>")? + "</table>".len();
    let pieces = markup::html(text.get(start..end)?).ok()?;
    let span = |tag: &Tag<'_>, name: &str| {
        tag.attribute(name).and_then(|span| span.trim().parse().ok()).unwrap_or(1)
    };
    let mut builder = Builder::default();
    let (mut open, mut cell): (Vec<&Tag<'_>>, Option<String>) = (Vec::new(), None);
    for piece in &pieces {
        match piece {
            Piece::Open(tag) => {
                match tag.name.as_ref() {
                    "tr" => builder.row(),
                    "td" | "th" => cell = Some(String::new()),
                    "br" => cell.iter_mut().for_each(|cell| cell.push(' ')),
                    _ => {}
                }
                open.push(tag);
            }
            Piece::Text(text) => cell.iter_mut().for_each(|cell| cell.push_str(text)),
            Piece::Close => {
                let tag = open.pop()?;
                if let Some(text) = cell.take_if(|_| ["td", "th"].contains(&tag.name.as_ref())) {
                    builder.cell(&text, span(tag, "colspan"), span(tag, "rowspan"))?;
                } else if tag.name == "tr" {
                    builder.fill()?;
                }
            }
        }
    }
    Some(builder.grid)
}

/// The body of the last environment that is a table.
fn environment(text: &str) -> Option<&str> {
    const NAMES: [&str; 6] = ["tabular", "tabular*", "tabularx", "longtable", "array", "tabulary"];
    let places = NAMES.iter().filter_map(|name| {
        let (open, close) = (format!("\\begin{{{name}}}"), format!("\\end{{{name}}}"));
        let start = text.rfind(&open)?;
        let length = text.get(start..)?.find(&close)?;
        Some((
            start,
            text.get(start + open.len()..start + length)?,
            name.ends_with(['*', 'x', 'y']),
        ))
    });
    let (_, inner, has_width) = places.max_by_key(|(start, ..)| *start)?;
    let mut body = inner;
    for _ in 0..=usize::from(has_width) {
        body = behind_group(body.trim_start())?;
    }
    Some(body)
}

fn tabular(text: &str) -> Option<Grid> {
    let body = environment(text)?;
    let mut builder = Builder::default();
    let mut cell = LatexCell { across: 1, down: 1, ..LatexCell::default() };
    let mut is_new = true;
    let mut depth = 0_usize;
    let mut tokens = latex::tokens(body);
    while let Some((token, span)) = tokens.next() {
        match token {
            Token::Command("hline" | "toprule" | "midrule" | "bottomrule") => continue,
            Token::Command("cline" | "cmidrule" | "addlinespace" | "rowcolor") => {
                let rest = tokens.rest();
                let option = rest.strip_prefix(['(', '[']).and_then(|inner| inner.find([')', ']']));
                tokens.pass(option.map_or(0, |end| end + 2));
                tokens.group();
                continue;
            }
            Token::Command("\\" | "tabularnewline") | Token::Sign('&') if depth == 0 => {
                if std::mem::take(&mut is_new) {
                    builder.row();
                }
                cell.end(&mut builder)?;
                if token != Token::Sign('&') {
                    builder.fill()?;
                    is_new = true;
                    let gap =
                        tokens.rest().trim_start().strip_prefix('[').and_then(|gap| gap.find(']'));
                    let blank = tokens.rest().len() - tokens.rest().trim_start().len();
                    tokens.pass(gap.map_or(0, |end| blank + end + 2));
                }
                continue;
            }
            Token::Command("multicolumn") => {
                cell.across = tokens.group()?.parse().ok()?;
                tokens.group();
                continue;
            }
            Token::Command("multirow") => {
                cell.down = tokens.group()?.parse().ok()?;
                tokens.group();
                continue;
            }
            Token::Open => depth += 1,
            Token::Close => depth = depth.checked_sub(1)?,
            _ => {}
        }
        cell.text.push_str(body.get(span)?);
    }
    if !is_new || !cell.text.trim().is_empty() {
        if is_new {
            builder.row();
        }
        cell.end(&mut builder)?;
        builder.fill()?;
    }
    Some(builder.grid)
}

/// The text behind the group at the start.
fn behind_group(text: &str) -> Option<&str> {
    let mut depth = 0_usize;
    let text = match text.strip_prefix('[') {
        Some(option) => option.split_once(']')?.1,
        None => text,
    };
    for (token, span) in tokens(text) {
        match token {
            Token::Open => depth += 1,
            Token::Close => depth = depth.checked_sub(1)?,
            _ => {}
        }
        if depth == 0 {
            return text.get(span.end..);
        }
    }
    None
}

#[derive(Default)]
struct LatexCell {
    text: String,
    across: usize,
    down: usize,
}

impl LatexCell {
    fn end(&mut self, builder: &mut Builder) -> Option<()> {
        let text = std::mem::take(&mut self.text);
        let spans = (std::mem::replace(&mut self.across, 1), std::mem::replace(&mut self.down, 1));
        builder.cell(&text, spans.0, spans.1)
    }
}

/// A cell as it is compared: markup, formula signs and emphasis left out, blanks and case folded.
/// Linear in the cell.
pub fn normalised(cell: &str, ignore_case: bool) -> String {
    let mut plain = String::with_capacity(cell.len());
    for (token, span) in tokens(&cell.replace("\\%", "%").replace('%', "\\%")) {
        match token {
            Token::Command(name @ ("%" | "&" | "#" | "_" | "$" | "{" | "}")) => {
                plain.push_str(name);
            }
            Token::Command("\\" | "," | " " | ";" | "quad" | "newline")
            | Token::Space
            | Token::Paragraph => plain.push(' '),
            Token::Sign('*' | '`' | '~') | Token::Open | Token::Close | Token::Dollar(_) => {}
            Token::Command(name) if has_word(STYLES, name) => {}
            Token::Command(name) => {
                plain.push('\\');
                plain.push_str(name);
            }
            Token::Sign(sign) => plain.push(sign),
        }
        let _ = span;
    }
    let folded = if ignore_case { fold(&plain, true) } else { plain };
    folded.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Commands that set a cell in another style.
const STYLES: &str = "textbf textit texttt text emph mathbf mathrm bf it bfseries centering \
     underline makecell";

/// How tables are compared.
#[derive(Clone, Copy, Debug, Default)]
pub struct Rules {
    /// Rows below the header may come in any order.
    pub free_rows: bool,
    /// Columns are found by their headers, in any order.
    pub free_columns: bool,
    /// Case and composition of letters do not count.
    pub ignore_case: bool,
    /// How close numbers must be.
    pub tolerance: Tolerance,
}

/// How many cells agree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Agreement {
    /// Cells that are where they are wanted.
    pub right: usize,
    /// Cells of the answer.
    pub given: usize,
    /// Cells of the reference.
    pub wanted: usize,
}

impl Agreement {
    /// Whether all cells agree, and there are no others.
    pub fn is_whole(self) -> bool {
        self.right == self.given && self.right == self.wanted && self.wanted > 0
    }

    /// The harmonic mean of precision and recall of cells, from 0 to 1.
    #[expect(clippy::cast_precision_loss, reason = "a table has at most 100,000 cells")]
    pub fn f1(self) -> f64 {
        match self.given + self.wanted {
            0 => 0.0,
            all => 2.0 * self.right as f64 / all as f64,
        }
    }
}

/// A cell, the number that it is, and the currency or percent sign beside that.
type Cell = (String, Option<f64>, Option<char>);

/// Compares a table with the one that is wanted. Rows are assigned to each other so that most cells
/// agree: in their order, or in any with `free_rows`. The header is compared with the header. Pays a unit
/// for each pair of cells that is compared; with `free_rows` that is cubic in the rows that differ.
///
/// # Errors
/// What `pay` refuses.
pub fn compare<E>(
    given: &Grid,
    wanted: &Grid,
    rules: Rules,
    pay: &mut dyn FnMut(u64) -> Result<(), E>,
) -> Result<Agreement, E> {
    let (mut given, wanted) = (cells(given, rules), cells(wanted, rules));
    let count = |rows: &[Vec<Cell>]| rows.iter().map(Vec::len).sum::<usize>();
    let mut agreement = Agreement { right: 0, given: count(&given), wanted: count(&wanted) };
    let (Some(header), Some(wanted_header)) = (given.first(), wanted.first()) else {
        return Ok(agreement);
    };
    if rules.free_columns {
        pay((header.len() as u64).saturating_mul(wanted_header.len() as u64))?;
        let order = columns(header, wanted_header);
        pay(agreement.given as u64)?;
        for row in &mut given {
            let moved = order
                .iter()
                .map(|at| at.and_then(|at| row.get(at)).cloned().unwrap_or_else(nothing));
            *row = moved.collect();
        }
    }
    // A currency may be left out, a percent sign not.
    let fits = |one: Option<char>, two: Option<char>| match (one, two) {
        (Some(one), Some(two)) => one == two,
        (one, two) => one != Some('%') && two != Some('%'),
    };
    let equal = |one: &Cell, two: &Cell| {
        let near = |(number, wanted)| rules.tolerance.accepts(number, wanted);
        one.0 == two.0 && !one.0.starts_with('\0')
            || fits(one.2, two.2) && one.1.zip(two.1).is_some_and(near)
    };
    let agree = |one: &[Cell], two: &[Cell]| {
        one.iter().zip(two).filter(|(one, two)| equal(one, two)).count()
    };
    let (Some((header, given)), Some((wanted_header, wanted))) =
        (given.split_first(), wanted.split_first())
    else {
        return Ok(agreement);
    };
    agreement.right = agree(header, wanted_header);
    let width = 1 + wanted_header.len() as u64;
    pay((4 * width).saturating_mul(given.len() as u64).saturating_mul(wanted.len() as u64))?;
    #[expect(clippy::cast_precision_loss, reason = "a row has at most 100,000 cells")]
    let weights: Vec<f64> =
        given.iter().flat_map(|one| wanted.iter().map(|two| agree(one, two) as f64)).collect();
    #[expect(clippy::indexing_slicing, reason = "the assignment asks for rows below both counts")]
    let weight = |row: usize, column: usize| weights[row * wanted.len() + column];
    let pairs = if rules.free_rows {
        assignment::best(given.len(), wanted.len(), &weight, pay)?
    } else {
        assignment::in_order(given.len(), wanted.len(), &weight, pay)?
    };
    for (row, column) in
        pairs.into_iter().enumerate().filter_map(|(row, column)| Some((row, column?)))
    {
        if let (Some(one), Some(two)) = (given.get(row), wanted.get(column)) {
            agreement.right += agree(one, two);
        }
    }
    Ok(agreement)
}

/// The cells of a table as they are compared.
fn cells(grid: &Grid, rules: Rules) -> Vec<Vec<Cell>> {
    let cell = |cell: &String| {
        let text = normalised(&latex::with_money(cell), rules.ignore_case);
        let bare = text.strip_prefix('+').filter(|bare| !bare.starts_with(['+', '-', '−']));
        let number = number::whole(bare.unwrap_or(&text));
        let sign = text.chars().find(|c| "$€£¥₹%".contains(*c));
        (text, number, sign)
    };
    grid.iter().map(|row| row.iter().map(cell).collect()).collect()
}

/// A cell in the place of a column that is not there: it equals none.
fn nothing() -> Cell {
    ("\0".to_owned(), None, None)
}

/// For each wanted column, the first given one with its header that is not taken.
fn columns(given: &[Cell], wanted: &[Cell]) -> Vec<Option<usize>> {
    let mut free: Vec<Option<&str>> = given.iter().map(|cell| Some(cell.0.as_str())).collect();
    let mut find = |name: &str| {
        let at = free.iter().position(|have| *have == Some(name))?;
        if let Some(slot) = free.get_mut(at) {
            *slot = None;
        }
        Some(at)
    };
    wanted.iter().map(|cell| find(&cell.0)).collect()
}
