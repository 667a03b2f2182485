//! `table_match`: the table of a completion has the cells of the reference.

use assay_structure::number::Tolerance;
use assay_structure::table::{self, Grid, Notation, Rules};

use crate::prelude::*;
use crate::text_parts::{Place, last_tag, share, shown};

/// Right when the last table of the completion has the cells of the reference.
///
/// Tables are read in Markdown, LaTeX, HTML and CSV, each side in its own notation, in an answer tag
/// before others; the reference may also be a list of rows. Cells are compared without markup, emphasis and case, and as numbers where
/// both are numbers: `50%` is not `50`, and `$5` not `€5`. The first row is the header.
#[derive(Debug, Default, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[expect(clippy::struct_excessive_bools, reason = "each is a setting of its own")]
pub struct TableMatch {
    /// The notation of the completion.
    notation: Name,
    /// The order of the rows below the header does not count.
    free_rows: bool,
    /// The order of the columns does not count: they are found by their headers.
    free_columns: bool,
    /// Case counts.
    case_counts: bool,
    /// How far numbers may be apart.
    absolute: f64,
    /// How far they may be apart, as a share of that of the reference.
    relative: f64,
    /// Pay the F1 of cells: cells that are missing and cells that are added cost alike.
    partial: bool,
}

#[derive(Clone, Copy, Debug, Default, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Name {
    #[default]
    Any,
    Markdown,
    Latex,
    Html,
    Csv,
}

impl Check for TableMatch {
    const ID: &'static str = "table_match";

    fn load(&mut self, _: &dyn Files) -> Result<(), BuildError> {
        for (name, tolerance) in [("absolute", self.absolute), ("relative", self.relative)] {
            if !(tolerance.is_finite() && tolerance >= 0.0) {
                return Err(BuildError::new(name, "a tolerance is zero or more"));
            }
        }
        Ok(())
    }

    fn check(&self, sample: &Sample, meter: &mut Meter<'_>) -> Result<Verdict, Fault> {
        let Some(reference) = sample.reference() else { return Ok(Verdict::no_reference()) };
        let wanted = wanted(reference, meter)?;
        meter.spend(100 * sample.completion().len() as u64)?;
        let text = shown(sample, meter)?;
        let tagged = last_tag(&text, &(0..text.len())).and_then(|tag| read(&text[tag], self.notation));
        let Some(given) = tagged.or_else(|| read(&text, self.notation)) else {
            return Ok(Verdict::graded(false).because("no-table"));
        };
        let rules = Rules {
            free_rows: self.free_rows,
            free_columns: self.free_columns,
            ignore_case: !self.case_counts,
            tolerance: Tolerance { absolute: self.absolute, relative: self.relative },
        };
        meter.spend(100 * given.iter().flatten().map(|cell| cell.len() as u64 + 1).sum::<u64>())?;
        let agreement = table::compare(&given, &wanted, rules, &mut |units| meter.spend(units))?;
        let is_right = agreement.is_whole();
        let f1 = agreement.f1();
        let reward = if is_right || self.partial { f1 } else { 0.0 };
        let verdict = share(reward).with("right", agreement.right).with("given", agreement.given);
        let verdict = verdict.with("wanted", agreement.wanted).with("f1", f1);
        Ok(verdict.because(if is_right { "equal" } else { "unequal" }))
    }

    /// A list of rows is no text.
    fn gold(&self, sample: &Sample) -> Option<Vec<String>> {
        let own = matches!(self.notation, Name::Any) && sample.reference()?.is_string();
        (!own).then(Vec::new)
    }
}

fn wanted(reference: &Value, meter: &mut Meter<'_>) -> Result<Grid, Fault> {
    let grid = match reference {
        Value::String(text) => {
            meter.spend(100 * text.len() as u64)?;
            read(text, Name::Any)
        }
        rows => serde_json::from_value::<Vec<Vec<Value>>>(rows.clone()).ok().map(|rows| {
            let cell = |cell: &Value| crate::sample::value_text(cell).into_owned();
            rows.iter().map(|row| row.iter().map(cell).collect()).collect()
        }),
    };
    let is_table = |grid: &Grid| grid.iter().any(|row| !row.is_empty());
    grid.filter(is_table).ok_or_else(|| Fault::bad_reference("the reference is no table"))
}

/// The last table in a notation; of any, the first one that has a table in the order HTML, LaTeX,
/// Markdown, CSV.
fn read(text: &str, name: Name) -> Option<Grid> {
    let csv = || {
        let span = Place::Any.find(text, &["csv"]).ok()?;
        table::read(text.get(span)?, Notation::Csv)
    };
    match name {
        Name::Markdown => table::read(text, Notation::Markdown),
        Name::Latex => table::read(text, Notation::Latex),
        Name::Html => table::read(text, Notation::Html),
        Name::Csv => csv(),
        Name::Any => [Notation::Html, Notation::Latex, Notation::Markdown]
            .into_iter()
            .find_map(|notation| table::read(text, notation))
            .or_else(csv),
    }
}
