//! `teds`: the tree of an HTML table against that of the reference.

use assay_metrics::table_tree::{TableReader, TableTree};
use assay_metrics::teds::teds;

use crate::likeness::{self, Measured};
use crate::prelude::*;
use crate::text_parts::{Place, visible};

/// TEDS of the table of a completion, from 0 to 1, as the scorer of `PubTabNet` has it.
///
/// It is 1 less the tree edit distance over the elements of the larger table. A cell that differs costs
/// the share of its characters and tags that differ, a name or a span that differs costs 1. The first
/// table of the last code fence of HTML counts, or else of the last answer tag, or else of the
/// completion; it needs no `html` and `body` around it. Headers are compared by `th` alone.
#[derive(Debug, Default, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Teds {
    /// The content of cells does not count (TEDS-Struct).
    structure_only: bool,
    /// Elements whose tags do not count, such as `["b", "i"]`.
    ignore: Vec<String>,
    /// The reward is 1 from this score on and 0 below, in place of the score.
    #[serde(skip_serializing_if = "Option::is_none")]
    threshold: Option<f64>,
}

impl Check for Teds {
    const ID: &'static str = "teds";
    const SLOW: bool = true;
    const ASPECT: Aspect = Aspect::Likeness;

    fn load(&mut self, _: &dyn Files) -> Result<(), BuildError> {
        let is_name = |name: &String| {
            name != "table"
                && !name.is_empty()
                && name.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit())
        };
        if !self.ignore.iter().all(is_name) {
            return Err(BuildError::new("ignore", "expected names of elements other than table"));
        }
        likeness::check_threshold(self.threshold)
    }

    fn check(&self, sample: &Sample, meter: &mut Meter<'_>) -> Result<Verdict, Fault> {
        let Some(reference) = sample.reference() else { return Ok(Verdict::no_reference()) };
        let bad = || Fault::bad_reference("the reference is no HTML table with cells");
        let reference = reference.as_str().ok_or_else(bad)?;
        let mut reader = TableReader::new(&self.ignore, self.structure_only);
        let wanted =
            read(&mut reader, reference, meter)?.filter(TableTree::has_cells).ok_or_else(bad)?;
        let Some((text, start)) = visible(sample, meter)? else {
            return Ok(Verdict::graded(false).because("no-answer"));
        };
        let span = match Place::around(&text, &["html"]) {
            Ok(span) => start + span.start..start + span.end,
            Err(why) => return Ok(Verdict::graded(false).because(why)),
        };
        let Some(given) = read(&mut reader, &sample.completion()[span], meter)? else {
            return Ok(Verdict::graded(false).because("no-table"));
        };
        let score = teds(&given, &wanted, &reader, &mut |units| meter.spend(units))?;
        let parts = vec![("teds", score.into()), ("elements", given.elements().into())];
        Ok(likeness::earned(Measured { score, parts }, self.threshold))
    }
}

fn read(
    reader: &mut TableReader,
    html: &str,
    meter: &mut Meter<'_>,
) -> Result<Option<TableTree>, Fault> {
    meter.spend(100 * html.len() as u64)?;
    Ok(reader.read(html))
}
