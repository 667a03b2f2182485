//! What is asked of the rows of a run: which a list shows, and in which order.

use serde::Deserialize;

use crate::error::ViewError;
use crate::line::OutcomeWord;
use crate::opened::OpenedRun;
use crate::search::with_text;

/// What a page asks for.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default)]
pub(crate) struct RowQuery {
    pub(crate) run: usize,
    pub(crate) at: Option<usize>,
    /// Two runs that are compared.
    pub(crate) a: usize,
    pub(crate) b: usize,
    pub(crate) offset: usize,
    pub(crate) limit: usize,
    outcome: Option<OutcomeWord>,
    part: String,
    fault: String,
    min: Option<f64>,
    max: Option<f64>,
    q: String,
    sort: String,
    desc: Option<u8>,
}

impl RowQuery {
    /// The same for all pages.
    pub(crate) fn without_page(&self) -> Self {
        Self { at: None, offset: 0, limit: 0, ..self.clone() }
    }

    /// The places of the rows, in their order.
    pub(crate) fn select(&self, run: &OpenedRun) -> Result<Vec<u32>, ViewError> {
        let index = &run.index;
        let candidates: Box<dyn Iterator<Item = usize>> = match self.q.as_str() {
            "" => Box::new(0..index.len()),
            text => Box::new(with_text(run, text)?.into_iter()),
        };
        let with_fault =
            (!self.fault.is_empty()).then(|| index.with_fault(&self.part, &self.fault));
        let reward = |at: usize| index.total.rewards.get(at).copied().unwrap_or(f64::NAN);
        let is_asked = |at: &usize| {
            self.outcome.is_none_or(|outcome| index.outcomes.get(*at) == Some(&outcome))
                && with_fault.as_ref().is_none_or(|with_fault| with_fault(*at))
                && self.min.is_none_or(|min| reward(*at) >= min)
                && self.max.is_none_or(|max| reward(*at) <= max)
        };
        let rows = candidates.filter(is_asked).filter_map(|at| u32::try_from(at).ok());
        let mut rows: Vec<u32> = rows.collect();
        self.sort(run, &mut rows);
        Ok(rows)
    }

    /// Rows whose number is not known come last, whichever way they are sorted.
    fn sort(&self, run: &OpenedRun, rows: &mut [u32]) {
        let is_falling = self.desc.unwrap_or(0) > 0;
        let column = match self.sort.as_str() {
            "reward" => &run.index.total.rewards[..],
            "time" => &run.index.us,
            "length" => run.from_data.get().map_or(&[][..], |found| &found.chars),
            _ if is_falling => return rows.reverse(),
            _ => return,
        };
        let key = |row: &u32| {
            let value = column.get(*row as usize).copied().filter(|value| value.is_finite());
            value.map_or(f64::INFINITY, |value| if is_falling { -value } else { value })
        };
        rows.sort_by(|a, b| key(a).total_cmp(&key(b)));
    }
}
