//! Which rows a list shows, and in which order.

use serde::Deserialize;

use crate::error::ViewError;
use crate::opened::OpenedRun;

/// What is asked of the rows of a run.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default)]
pub(crate) struct RowQuery {
    pub(crate) run: usize,
    pub(crate) offset: usize,
    pub(crate) limit: usize,
    outcome: Option<String>,
    part: Option<String>,
    fault: Option<String>,
    min: Option<f32>,
    max: Option<f32>,
    q: Option<String>,
    sort: Option<String>,
    desc: Option<u8>,
}

impl RowQuery {
    /// The same for all pages.
    pub(crate) fn without_page(&self) -> Self {
        Self { offset: 0, limit: 0, ..self.clone() }
    }

    /// The places of the rows, in their order.
    pub(crate) fn select(&self, run: &OpenedRun) -> Result<Vec<u32>, ViewError> {
        let index = &run.index;
        let text = self.q.as_deref().filter(|text| !text.is_empty());
        let candidates: Box<dyn Iterator<Item = usize>> = match text {
            Some(text) => Box::new(run.with_text(text)?.into_iter()),
            None => Box::new(0..index.len()),
        };
        let fault = self.fault.as_deref().filter(|fault| !fault.is_empty());
        let part = self.part.as_deref().filter(|part| !part.is_empty());
        let fault = fault.map(|fault| index.fault_filter(part, fault));
        let reward = |at: usize| index.rewards.get(at).copied().unwrap_or(f32::NAN);
        let is_asked = |at: &usize| {
            self.outcome.as_ref().is_none_or(|outcome| index.has_outcome(*at, outcome))
                && fault.as_ref().is_none_or(|fault| index.has_fault(*at, fault))
                && self.min.is_none_or(|min| reward(*at) >= min)
                && self.max.is_none_or(|max| reward(*at) <= max)
        };
        let mut rows: Vec<u32> =
            candidates.filter(is_asked).filter_map(|at| u32::try_from(at).ok()).collect();
        self.sort(run, &mut rows);
        Ok(rows)
    }

    /// Rows whose number is not known come last, whichever way they are sorted.
    fn sort(&self, run: &OpenedRun, rows: &mut [u32]) {
        let sign = if self.desc.unwrap_or(0) > 0 { -1.0 } else { 1.0 };
        let key: Box<dyn Fn(usize) -> f32> = match self.sort.as_deref() {
            Some("reward") => Box::new(|at| run.index.rewards.get(at).copied().unwrap_or(f32::NAN)),
            Some("length") => {
                let all = run.all_chars();
                Box::new(move |at| {
                    all.get(at)
                        .copied()
                        .filter(|chars| *chars != u32::MAX)
                        .map_or(f32::NAN, rounded)
                })
            }
            Some("time") => Box::new(|at| run.index.us(at).map_or(f32::NAN, rounded)),
            _ => {
                if sign < 0.0 {
                    rows.reverse();
                }
                return;
            }
        };
        let key = |row: &u32| {
            let key = sign * key(*row as usize);
            if key.is_nan() { f32::INFINITY } else { key }
        };
        rows.sort_by(|a, b| key(a).total_cmp(&key(b)));
    }
}

#[expect(clippy::cast_precision_loss, reason = "to sort by")]
fn rounded(value: u32) -> f32 {
    value as f32
}
