//! A report: one page with the figures of all rows, and some of the rows.

use std::collections::BTreeMap;
use std::iter::Peekable;
use std::path::Path;

use serde_json::{Value, json};

use crate::drawn::{Drawing, DrawnRow, group_rows};
use crate::error::ViewError;
use crate::files::RunFiles;
use crate::line::{PlacedRow, RowHead, RowLine};
use crate::overview::Overview;
use crate::page::{escaped, page, policy};
use crate::row::{DataRows, RowText, ShownRow, ShownTexts, cut_line};
use crate::text::{Mark, ValueLimits, cut_text, cut_value, marks};
use crate::training::training;

/// A report is no larger, whatever the run.
pub const REPORT_BYTES_MAX: usize = 2_000_000;
/// What is said of the configuration may take so much, as it is written in the page.
const ABOUT_BYTES_MAX: usize = 200_000;
/// How long texts may be, from the first that fits.
const CUTS: [usize; 6] = [4096, 2048, 1024, 512, 256, 128];

/// The report of the run in `dir`, with the texts of `data`; `missing` says why there are none.
///
/// # Errors
/// A folder or data that cannot be read.
pub fn report_html(
    dir: &Path,
    data: Option<DataRows<'_>>,
    missing: Option<&str>,
) -> Result<String, ViewError> {
    let files = RunFiles::open(dir)?;
    let (mut overview, drawing) = read(&files)?;
    let mut groups = Vec::new();
    for (at, offset, rows) in overview.widest_groups() {
        groups.push(places(&files, at, offset, group_rows(rows))?);
    }
    let mut rows = rows(&files, drawing.rows(groups.into_iter()))?;
    if let Some(data) = data {
        add_texts(&files, &mut rows, data, &mut overview)?;
    }
    let about = about(&files);
    let config = about.get("config").cloned().unwrap_or(Value::Null);
    let overview = overview.json(&config);
    let title = format!("assay: {}", cut_text(&files.name(), 100));
    let policy = policy("");
    let empty = page(&title, &policy, "").len();
    let mut bytes = CUTS[0];
    loop {
        let head = json!({
            "kind": "report", "runs": [{ "about": about, "overview": overview, "training": training(dir) }],
            "cut": bytes, "missing": missing,
        });
        let mut head = escaped(&head.to_string());
        head.truncate(head.len() - 1);
        let room = REPORT_BYTES_MAX.saturating_sub(empty + head.len() + 100);
        let (rows, is_whole) = fitted(&rows, bytes, room)?;
        let next = CUTS.iter().find(|cut| **cut < bytes);
        match next {
            Some(next) if !is_whole => bytes = *next,
            _ => return Ok(page(&title, &policy, &format!("{head},\"rows\":[{rows}]}}"))),
        }
    }
}

/// The rows, each with its texts cut at `bytes`, as far as there is room; and whether all are there.
fn fitted(rows: &[ReportRow], bytes: usize, room: usize) -> Result<(String, bool), ViewError> {
    let mut all = String::new();
    for row in rows {
        let shown = ShownRow {
            at: row.drawn.at,
            number: row.number,
            us: row.us,
            why: row.drawn.why.clone(),
            line: cut_line(&row.line, bytes),
            texts: row.texts.iter().find(|(cut, _)| *cut == bytes).map(|(_, texts)| texts.clone()),
        };
        let json = serde_json::to_string(&shown).map_err(|why| ViewError::Data(Box::new(why)))?;
        let json = escaped(&json);
        if all.len() + json.len() + 1 > room {
            return Ok((all, false));
        }
        if !all.is_empty() {
            all.push(',');
        }
        all.push_str(&json);
    }
    Ok((all, true))
}

/// What is said of the run, cut until it has a size.
fn about(files: &RunFiles) -> Value {
    let mut about = files.about();
    for bytes in CUTS {
        if escaped(&about.to_string()).len() <= ABOUT_BYTES_MAX {
            break;
        }
        about = cut_value(&about, &ValueLimits { bytes, values: bytes / 4 });
    }
    about
}

/// A row that a report shows.
struct ReportRow {
    drawn: DrawnRow,
    number: u64,
    us: Option<u64>,
    line: Value,
    marks: Vec<Mark>,
    /// By where they are cut.
    texts: Vec<(usize, ShownTexts)>,
}

/// One pass over the rows.
fn read(files: &RunFiles) -> Result<(Overview, Drawing), ViewError> {
    let (mut overview, mut drawing) = (Overview::default(), Drawing::default());
    let (mut lines, mut timings) = (files.rows()?, files.timings());
    let mut at = 0;
    while let Some((offset, bytes)) = lines.next()? {
        let line: Result<RowLine<'_>, _> = serde_json::from_slice(bytes);
        let line = match line {
            Ok(line) => line,
            Err(why) => return Err(lines.wrong(why)),
        };
        let (number, us) = timings.next();
        let row = PlacedRow { at, offset, number, us, line };
        overview.add(&row);
        drawing.add(&row);
        at += 1;
    }
    overview.finish();
    Ok((overview, drawing))
}

/// Where the rows of a group start.
fn places(files: &RunFiles, at: u64, offset: u64, rows: u64) -> Result<Vec<(u64, u64)>, ViewError> {
    let mut lines = files.rows()?;
    lines.seek(offset)?;
    let mut places = Vec::new();
    for at in at..at + rows {
        let Some((offset, _)) = lines.next()? else { break };
        places.push((at, offset));
    }
    Ok(places)
}

/// The rows that were drawn, each with its line and its number.
fn rows(files: &RunFiles, drawn: Vec<DrawnRow>) -> Result<Vec<ReportRow>, ViewError> {
    let mut lines = files.rows()?;
    let mut rows = Vec::with_capacity(drawn.len());
    for drawn in drawn {
        lines.seek(drawn.offset)?;
        let Some((_, bytes)) = lines.next()? else { continue };
        let line: Result<Value, _> = serde_json::from_slice(bytes);
        let line = match line {
            Ok(line) => line,
            Err(why) => return Err(lines.wrong(why)),
        };
        let marks = line.get("verdicts").map(marks).unwrap_or_default();
        let (number, line) = (drawn.at, cut_line(&line, CUTS[0]));
        rows.push(ReportRow { drawn, number, us: None, line, marks, texts: Vec::new() });
    }
    let last = rows.iter().map(|row| row.drawn.at).max().map_or(0, |last| last + 1);
    let mut timings = files.timings();
    let mut by_place = by_place(&mut rows);
    for at in 0..last {
        let (number, us) = timings.next();
        if let Some(row) = by_place.get_mut(&at) {
            (row.number, row.us) = (number, us);
        }
    }
    drop(by_place);
    Ok(rows)
}

fn by_place(rows: &mut [ReportRow]) -> BTreeMap<u64, &mut ReportRow> {
    rows.iter_mut().map(|row| (row.drawn.at, row)).collect()
}

/// One pass over the data beside the rows of the run: the lengths of all, and the texts of those that were
/// drawn, cut.
fn add_texts(
    files: &RunFiles,
    rows: &mut [ReportRow],
    data: DataRows<'_>,
    overview: &mut Overview,
) -> Result<(), ViewError> {
    let (mut lines, mut timings) = (files.rows()?, files.timings());
    let mut data = data.peekable();
    let mut by_place = by_place(rows);
    let mut at = 0;
    while let Some((_, bytes)) = lines.next()? {
        let head: Result<RowHead<'_>, _> = serde_json::from_slice(bytes);
        let head = match head {
            Ok(head) => head,
            Err(why) => return Err(lines.wrong(why)),
        };
        let (number, _) = timings.next();
        if let Some(text) = row_of(&mut data, number)?.filter(|text| text.id == head.id) {
            overview.lengths.add(text.completion.chars().count() as u64, head.reward);
            if let Some(row) = by_place.get_mut(&at) {
                let shown = |bytes| (bytes, ShownTexts::new(&text, &row.marks, bytes));
                row.texts = CUTS.map(shown).into();
            }
        }
        at += 1;
    }
    Ok(())
}

/// The row of the data with this number. Rows that were left out, or that another shard scored, are passed
/// over.
fn row_of(data: &mut Peekable<DataRows<'_>>, number: u64) -> Result<Option<RowText>, ViewError> {
    while let Some(row) = data.next_if(|row| row.as_ref().map_or(true, |row| row.number <= number))
    {
        let row = row?;
        if row.number == number {
            return Ok(Some(row));
        }
    }
    Ok(None)
}

#[cfg(test)]
mod tests;
