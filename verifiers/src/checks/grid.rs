//! `grid`: a grid of cells, equal to that of the reference, or a sudoku that keeps its clues.

use assay_puzzles::grid::{Broken, boxes, equal_share, of_value, read, squared, sudoku};

use crate::prelude::*;
use crate::text_parts::{Place, share};

/// Right when the grid of the answer is that of the reference, or a filled sudoku.
///
/// A grid is a list of rows (JSON, or a list of Python), or lines of cells between blanks, commas or
/// bars, or lines of single characters. It is that of the last code fence or answer tag, or else the
/// last block of such lines in the completion. Two grids in one place are none.
#[derive(Debug, Deserialize, Serialize, JsonSchema, SmartDefault)]
#[serde(deny_unknown_fields, default)]
pub struct GridCheck {
    /// What makes a grid right.
    rule: GridRule,
    /// The column with the puzzle of a sudoku, where blank cells are 0, `.`, `_` or empty. Without it,
    /// the reference is the puzzle, or its solution.
    #[default = "puzzle"]
    clues: String,
    /// Rows and columns of a box of a sudoku. Without it, boxes are as square as can be.
    #[serde(rename = "box")]
    nook: Option<[usize; 2]>,
    /// Pay the share of equal cells. It goes with `rule = "equal"`.
    partial: bool,
}

/// What makes a grid right.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum GridRule {
    /// Every cell is that of the reference: grids of ARC.
    #[default]
    Equal,
    /// Each number comes once in each row, column and box, and the clues are kept.
    Sudoku,
}

impl Check for GridCheck {
    const ID: &'static str = "grid";

    fn load(&mut self, _: &dyn Files) -> Result<(), BuildError> {
        if self.partial && self.rule == GridRule::Sudoku {
            return Err(BuildError::new("partial", "it goes with `rule = \"equal\"`"));
        }
        Ok(())
    }

    fn check(&self, sample: &Sample, meter: &mut Meter<'_>) -> Result<Verdict, Fault> {
        let clues = sample.column(&self.clues).filter(|_| self.rule == GridRule::Sudoku);
        let Some(given) = clues.or_else(|| sample.reference()) else {
            return Ok(Verdict::no_reference());
        };
        meter.spend(20 * assay_puzzles::entry::weight(given))?;
        let wanted = self.cells(given);
        let wanted = wanted.ok_or_else(|| Fault::bad_reference("the reference is not a grid"))?;
        let (height, width) = (wanted.len(), wanted.first().map_or(0, Vec::len));
        let completion = sample.completion();
        meter.spend(20 * completion.len() as u64 + 300 * (height * width) as u64)?;
        let found = Place::Any.find(completion, &["json"]);
        let own = found.map(|span| read(&completion[span], &wanted));
        let own = match own {
            Ok(Some(own)) => own,
            Ok(None) => return Ok(Verdict::graded(false).because("other-size")),
            Err(reason) => return Ok(Verdict::graded(false).because(reason)),
        };
        if self.rule == GridRule::Equal {
            let same = equal_share(&own, &wanted);
            let right = own == wanted;
            let verdict = if self.partial { share(same) } else { Verdict::graded(right) };
            return Ok(verdict.with("cells", same).because(if right {
                "equal"
            } else {
                "unequal"
            }));
        }
        let nook = self.nook.map(|[rows, columns]| (rows, columns)).or_else(|| boxes(height));
        let nook = nook.filter(|(rows, columns)| {
            height == width && rows.checked_mul(*columns) == Some(height)
        });
        let nook =
            nook.ok_or_else(|| Fault::bad_reference("the puzzle is not a square of boxes"))?;
        let judged = sudoku(&own, &wanted, nook);
        Ok(Verdict::graded(judged.is_ok()).because(match judged {
            Ok(()) => "solved",
            Err(Broken::Clue) => "clue",
            Err(Broken::Symbol) => "symbol",
            Err(Broken::Row) => "row",
            Err(Broken::Column) => "column",
            Err(Broken::Box) => "box",
        }))
    }

    fn gold(&self, sample: &Sample) -> Option<Vec<String>> {
        let rows = self.cells(sample.reference()?)?;
        let blank = rows.iter().flatten().any(|cell| assay_puzzles::grid::is_blank(cell));
        let lines: Vec<String> = rows.iter().map(|row| row.join(" ")).collect();
        let unsolved = blank && self.rule == GridRule::Sudoku;
        Some(if unsolved { Vec::new() } else { vec![lines.join("\n")] })
    }
}

impl GridCheck {
    /// The grid of the row: a sudoku may be written as one line.
    fn cells(&self, value: &Value) -> Option<assay_puzzles::grid::Cells> {
        let cells = of_value(value)?;
        Some(if self.rule == GridRule::Sudoku { squared(cells) } else { cells })
    }
}
