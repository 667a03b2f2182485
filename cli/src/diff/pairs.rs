//! Rows of two runs, brought together: in step while their ids agree, else by id.

use std::collections::{BTreeMap, VecDeque};

use assay::engine::runs::VerdictRows;
use assay::verifiers::Scored;
use assay::verifiers::code::Code;

use crate::exit::Failure;

/// Rows that may wait for their counterpart at one time.
const WAITING_MAX: usize = 1_000_000;

/// A row of both runs, or of one.
pub(super) enum Pair {
    Both(Box<(Scored, Scored)>),
    OnlyA(Scored),
    OnlyB(Scored),
}

/// The rows of two runs.
pub(super) struct Pairs {
    a: RunSide,
    b: RunSide,
    ready: VecDeque<Pair>,
    by_id: bool,
}

/// One run: what is still to be read, and rows that wait for those of the other.
struct RunSide {
    rows: VerdictRows,
    read: u64,
    waiting: BTreeMap<String, VecDeque<Scored>>,
    held: usize,
}

impl Pairs {
    pub(super) fn new(a: VerdictRows, b: VerdictRows) -> Self {
        Self { a: RunSide::new(a), b: RunSide::new(b), ready: VecDeque::new(), by_id: false }
    }

    /// Whether any two rows were not in step.
    pub(super) fn by_id(&self) -> bool {
        self.by_id
    }

    /// Rows read from each.
    pub(super) fn rows(&self) -> (u64, u64) {
        (self.a.read, self.b.read)
    }

    fn pair(&mut self) -> Result<Option<Pair>, Failure> {
        loop {
            if let Some(pair) = self.ready.pop_front() {
                return Ok(Some(pair));
            }
            let (a, b) = (self.a.next()?, self.b.next()?);
            match (a, b) {
                (None, None) => {
                    let left = self.a.left().map(Pair::OnlyA);
                    return Ok(left.or_else(|| self.b.left().map(Pair::OnlyB)));
                }
                (Some(a), Some(b)) if a.id == b.id && !self.waits(&a.id) => {
                    return Ok(Some(both(a, b)));
                }
                (a, b) => {
                    self.by_id |= a.is_some() && b.is_some();
                    self.match_by_id(a, b)?;
                }
            }
        }
    }

    fn waits(&self, id: &str) -> bool {
        self.a.waiting.contains_key(id) || self.b.waiting.contains_key(id)
    }

    fn match_by_id(&mut self, a: Option<Scored>, b: Option<Scored>) -> Result<(), Failure> {
        if let Some(a) = a {
            match self.b.take(&a.id) {
                Some(b) => self.ready.push_back(both(a, b)),
                None => self.a.wait(a),
            }
        }
        if let Some(b) = b {
            match self.a.take(&b.id) {
                Some(a) => self.ready.push_back(both(a, b)),
                None => self.b.wait(b),
            }
        }
        if self.a.held + self.b.held > WAITING_MAX {
            let why = format!(
                "the runs have too little in common: {WAITING_MAX} rows wait for one of their id"
            );
            return Err(Failure::outside(Code::Limit, why));
        }
        Ok(())
    }
}

impl Iterator for &mut Pairs {
    type Item = Result<Pair, Failure>;

    fn next(&mut self) -> Option<Self::Item> {
        self.pair().transpose()
    }
}

impl RunSide {
    fn new(rows: VerdictRows) -> Self {
        Self { rows, read: 0, waiting: BTreeMap::new(), held: 0 }
    }

    fn next(&mut self) -> Result<Option<Scored>, Failure> {
        let row = self.rows.next().transpose()?;
        self.read += u64::from(row.is_some());
        Ok(row)
    }

    fn wait(&mut self, row: Scored) {
        self.held += 1;
        self.waiting.entry(row.id.clone()).or_default().push_back(row);
    }

    /// The first row of this id that waits.
    fn take(&mut self, id: &str) -> Option<Scored> {
        let rows = self.waiting.get_mut(id)?;
        let row = rows.pop_front();
        if rows.is_empty() {
            self.waiting.remove(id);
        }
        self.held -= usize::from(row.is_some());
        row
    }

    /// Any row that still waits.
    fn left(&mut self) -> Option<Scored> {
        let id = self.waiting.keys().next()?.clone();
        self.take(&id)
    }
}

fn both(a: Scored, b: Scored) -> Pair {
    Pair::Both(Box::new((a, b)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pairs(a: &str, b: &str) -> (String, bool) {
        let rows = |ids: &str| -> VerdictRows {
            let line = |id: char| {
                let text = format!(
                    r#"{{"id":"{id}","outcome":"abstained","reward":null,"why":"x","verdicts":{{}}}}"#
                );
                Ok(serde_json::from_str::<Scored>(&text).unwrap())
            };
            Box::new(ids.chars().map(line).collect::<Vec<_>>().into_iter())
        };
        let mut pairs = Pairs::new(rows(a), rows(b));
        let shown = (&mut pairs).map(|pair| match pair.unwrap() {
            Pair::Both(both) => format!("{}{} ", both.0.id, both.1.id),
            Pair::OnlyA(row) => format!("{}- ", row.id),
            Pair::OnlyB(row) => format!("-{} ", row.id),
        });
        (shown.collect::<String>().trim_end().to_owned(), pairs.by_id())
    }

    #[test]
    fn rows_meet_in_step_or_by_id() {
        assert_eq!(pairs("abc", "abc"), ("aa bb cc".to_owned(), false));
        assert_eq!(pairs("abc", "ab"), ("aa bb c-".to_owned(), false));
        assert_eq!(pairs("abcd", "xbcd"), ("bb cc dd a- -x".to_owned(), true));
        assert_eq!(pairs("abcd", "bcd"), ("bb cc dd a-".to_owned(), true));
        assert_eq!(pairs("aab", "baa"), ("aa bb aa".to_owned(), true));
        assert_eq!(pairs("", "a"), ("-a".to_owned(), false));
    }
}
