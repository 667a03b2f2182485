//! Between parsing and scoring: rows in their order, matched with what an earlier session wrote,
//! cut into chunks that keep groups whole.

use std::collections::HashSet;
use std::hash::{BuildHasher as _, BuildHasherDefault, DefaultHasher};

use assay_verifiers::Sample;
use serde_json::Value;

use super::CHUNK_ROWS;
use super::row::VerdictRow;
use super::shared::group_key;
use super::stream::{BadRows, Earlier, StreamError, StreamSpec, bad_row_id};
use crate::data::{Row, RowError};

/// The largest group: it is held whole.
const GROUP_ROWS_MAX: usize = 65_536;

/// A line that an earlier session wrote.
pub struct OldRow {
    /// Its bytes, without the line end.
    pub line: Vec<u8>,
    /// What it says.
    pub row: VerdictRow,
}

/// A row on its way to be scored.
pub(super) struct Pending {
    pub(super) index: u64,
    pub(super) sample: Option<Sample>,
    pub(super) error: Option<RowError>,
    pub(super) label: Option<Value>,
    pub(super) old: Option<OldRow>,
    pub(super) rescore: bool,
    pub(super) skip: bool,
}

impl Pending {
    /// The sample, where it is to be scored.
    pub(super) fn take_sample(&mut self) -> Option<Sample> {
        if self.rescore { self.sample.take() } else { None }
    }

    fn id(&self) -> std::borrow::Cow<'_, str> {
        match &self.sample {
            Some(sample) => sample.id().into(),
            None => bad_row_id(self.index).into(),
        }
    }
}

/// Why rows cannot be put in order.
pub(super) enum ArrangeError {
    Row(RowError),
    Earlier(String),
    Group(String),
}

impl<E> From<ArrangeError> for StreamError<E> {
    fn from(error: ArrangeError) -> Self {
        match error {
            ArrangeError::Row(error) => Self::Row(error),
            ArrangeError::Earlier(why) => Self::Earlier(why),
            ArrangeError::Group(why) => Self::Group(why),
        }
    }
}

/// Takes parsed blocks in order and gives chunks in order.
pub(super) struct Arranger {
    spec: StreamSpec,
    grouped: bool,
    read: u64,
    /// The limit was reached, and with it the end of a group.
    done: bool,
    /// The group in hand.
    group: Vec<Pending>,
    /// Whole groups that wait for company: a chunk per group would cost more than judging it.
    ready: Vec<Pending>,
    key: String,
    seen: HashSet<u64, BuildHasherDefault<DefaultHasher>>,
    error: Option<ArrangeError>,
}

impl Arranger {
    pub(super) fn new(spec: StreamSpec, grouped: bool) -> Self {
        Self {
            spec,
            grouped,
            read: 0,
            done: false,
            group: Vec::new(),
            ready: Vec::new(),
            key: String::new(),
            seen: HashSet::default(),
            error: None,
        }
    }

    /// Whether the limit was reached. A group that it cuts is read to its end, so that going on
    /// later gives the rows of a run that was not limited.
    pub(super) fn is_done(&self) -> bool {
        self.done
    }

    fn reached_limit(&self) -> bool {
        self.spec.limit.is_some_and(|limit| self.read >= limit)
    }

    fn continues_group(&self, row: &Row) -> bool {
        let key = row.sample.as_ref().ok().map(group_key);
        self.grouped && !self.group.is_empty() && key == Some(self.key.as_str())
    }

    pub(super) fn take_error(&mut self) -> Option<ArrangeError> {
        self.error.take()
    }

    /// Takes the rows of a block. After an error or at the limit the rest of them is dropped.
    pub(super) fn push(&mut self, rows: Vec<Row>) -> Vec<Vec<Pending>> {
        let mut chunks = Vec::new();
        let mut chunk = Vec::with_capacity(rows.len());
        for row in rows {
            if self.reached_limit() && !self.continues_group(&row) {
                self.done = true;
                break;
            }
            self.read += 1;
            match self.take(row, &mut chunks) {
                Ok(Some(pending)) => chunk.push(pending),
                Ok(None) => {}
                Err(error) => {
                    self.error = Some(error);
                    break;
                }
            }
        }
        if !chunk.is_empty() {
            chunks.push(chunk);
        }
        self.done |= !self.grouped && self.reached_limit();
        // A group that was cut by an error is not judged in part.
        match self.error {
            Some(_) => chunks.extend(self.take_ready(1)),
            None if self.done => chunks.extend(self.flush()),
            None => {}
        }
        chunks
    }

    /// The groups that are left, the one in hand included.
    pub(super) fn flush(&mut self) -> Option<Vec<Pending>> {
        self.close_group();
        self.take_ready(1)
    }

    /// The group in hand is whole. Where one of its rows is to be judged, all of them are.
    fn close_group(&mut self) {
        let judged = self.group.iter().any(|pending| pending.rescore);
        for mut pending in self.group.drain(..) {
            pending.rescore = judged && pending.sample.is_some();
            self.ready.push(pending);
        }
    }

    fn take_ready(&mut self, at_least: usize) -> Option<Vec<Pending>> {
        (self.ready.len() >= at_least).then(|| std::mem::take(&mut self.ready))
    }

    /// Takes one row: into the group in hand, or back to the caller.
    fn take(
        &mut self,
        row: Row,
        chunks: &mut Vec<Vec<Pending>>,
    ) -> Result<Option<Pending>, ArrangeError> {
        let pending = self.pending(row)?;
        if !self.grouped {
            return Ok(Some(pending));
        }
        if let Some(sample) = &pending.sample {
            let key = group_key(sample);
            if self.group.is_empty() || key != self.key {
                let key = key.to_owned();
                if !self.seen.insert(self.seen.hasher().hash_one(&key)) {
                    return Err(ArrangeError::Group(format!(
                        "row {}: group {key:?} was already complete; the rows of a group must \
                         stand together",
                        pending.index + 1
                    )));
                }
                self.close_group();
                chunks.extend(self.take_ready(CHUNK_ROWS));
                self.key = key;
            }
        }
        if self.group.len() >= GROUP_ROWS_MAX {
            let why = format!("group {:?} has more than {GROUP_ROWS_MAX} rows", self.key);
            return Err(ArrangeError::Group(why));
        }
        self.group.push(pending);
        Ok(None)
    }

    fn pending(&mut self, row: Row) -> Result<Pending, ArrangeError> {
        let Row { index, label, sample, .. } = row;
        let (sample, error) = match sample {
            Ok(sample) => (Some(sample), None),
            Err(error) if self.spec.bad_rows == BadRows::Stop => {
                return Err(ArrangeError::Row(error));
            }
            Err(error) => (None, Some(error)),
        };
        let skip = error.is_some() && self.spec.bad_rows == BadRows::Skip;
        let rescore = sample.is_some();
        let mut pending = Pending { index, sample, error, label, old: None, rescore, skip };
        if !skip {
            pending.old = self.old(&pending)?;
        }
        if let Some(old) = &pending.old {
            let retry = self.spec.mode == Earlier::RetryFaults && old.row.has_fault();
            pending.rescore = rescore && retry;
        }
        Ok(pending)
    }

    /// The line that an earlier session wrote for this row.
    fn old(&mut self, pending: &Pending) -> Result<Option<OldRow>, ArrangeError> {
        let Some(old) = self.spec.earlier.next() else { return Ok(None) };
        let old = old.map_err(ArrangeError::Earlier)?;
        let id = pending.id();
        if old.row.id == id {
            return Ok(Some(old));
        }
        Err(ArrangeError::Earlier(format!(
            "row {} of the data has id {id:?}, but the run has {:?} there: it is a run of other data",
            pending.index + 1,
            old.row.id
        )))
    }
}
