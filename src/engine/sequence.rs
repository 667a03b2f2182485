//! Between parsing and scoring: rows in their order, matched with what an earlier session wrote,
//! cut into chunks that keep groups whole.

use std::iter::Peekable;

use assay_verifiers::{Fault, Sample, Scored, TrainingState};

use super::groups::{GROUP_ROWS_MAX, GroupOrder, group_key};
use super::shard::Shard;
use super::stream_spec::{BadRows, OldRow, Resume, StreamError, StreamSpec};
use crate::data::{Block, Row, RowError};

/// A row on its way to be scored.
pub(super) struct PendingRow {
    pub(super) row: Row,
    pub(super) old: Option<OldRow>,
    pub(super) rescore: bool,
    pub(super) skip: bool,
}

/// Rows of a block: all of them, or those of a shard.
pub(super) struct BlockRows {
    pub(super) rows: Vec<Row>,
    /// The number of the row after the block.
    pub(super) end: u64,
}

/// Rows that travel together.
pub(super) struct Chunk {
    pub(super) rows: Vec<PendingRow>,
    /// The bytes of their samples.
    pub(super) bytes: usize,
}

impl From<Vec<PendingRow>> for Chunk {
    fn from(rows: Vec<PendingRow>) -> Self {
        let bytes = rows.iter().map(|pending| pending.row.bytes).sum();
        Self { rows, bytes }
    }
}

impl PendingRow {
    /// The sample, where it is to be scored.
    pub(super) fn take_sample(&mut self) -> Option<Sample> {
        self.row.sample.as_ref().ok().filter(|_| self.rescore).cloned()
    }

    fn id(&self) -> std::borrow::Cow<'_, str> {
        match &self.row.sample {
            Ok(sample) => sample.id().into(),
            Err(_) => bad_row_id(self.row.index).into(),
        }
    }
}

/// Blocks whose rows are arranged without those before them.
#[derive(Clone, Copy)]
pub(super) struct SingleBlocks {
    bad_rows: BadRows,
    limit: Option<u64>,
}

impl SingleBlocks {
    /// Whether the limit is in this block, or at its end.
    pub(super) fn is_last(&self, block: &Block) -> bool {
        self.limit.is_some_and(|limit| block.index() + block.len() as u64 >= limit)
    }

    /// Arranges the rows of one block. On an error, what came before it is still to be scored.
    pub(super) fn arrange(&self, rows: BlockRows) -> (Chunk, Option<SequenceError>) {
        let spec = StreamSpec {
            bad_rows: self.bad_rows,
            limit: self.limit,
            shard: None,
            training: TrainingState::default(),
            earlier: Box::new(std::iter::empty()),
            mode: Resume::KeepLines,
        };
        let mut arranger = RowSequencer::new(spec, false, usize::MAX);
        let chunk = arranger.push(rows).pop().unwrap_or_else(|| Vec::new().into());
        (chunk, arranger.take_error())
    }
}

/// Why rows cannot be put in order.
pub(super) enum SequenceError {
    Row(RowError),
    Earlier(String),
    Group(String),
}

impl<E> From<SequenceError> for StreamError<E> {
    fn from(error: SequenceError) -> Self {
        match error {
            SequenceError::Row(error) => Self::Row(error),
            SequenceError::Earlier(why) => Self::Earlier(why),
            SequenceError::Group(why) => Self::Group(why),
        }
    }
}

/// Takes parsed blocks in order and gives chunks in order.
pub(super) struct RowSequencer {
    bad_rows: BadRows,
    limit: Option<u64>,
    earlier: Peekable<Box<dyn Iterator<Item = Result<OldRow, String>> + Send>>,
    mode: Resume,
    grouped: bool,
    /// Which groups are judged. Rows that are not judged with their group come sharded.
    shard: Option<Shard>,
    /// Rows that make a chunk; 1 hands out each row or group by itself.
    chunk_rows: usize,
    /// Rows of the input that were read, those of other shards included.
    read: u64,
    /// The limit was reached, and with it the end of a group.
    done: bool,
    /// The group in hand, where it is judged.
    group: Vec<PendingRow>,
    /// How many rows the group in hand has; 0 before the first group.
    group_rows: usize,
    /// How many groups came before the one in hand.
    groups: u64,
    /// Whole groups that wait for company: a chunk per group would cost more than judging it.
    ready: Vec<PendingRow>,
    order: GroupOrder,
    error: Option<SequenceError>,
}

impl RowSequencer {
    pub(super) fn new(spec: StreamSpec, grouped: bool, chunk_rows: usize) -> Self {
        let StreamSpec { bad_rows, limit, shard, training: _, earlier, mode } = spec;
        Self {
            bad_rows,
            limit,
            earlier: earlier.peekable(),
            mode,
            grouped,
            shard: shard.filter(|_| grouped),
            chunk_rows,
            read: 0,
            done: false,
            group: Vec::new(),
            group_rows: 0,
            groups: 0,
            ready: Vec::new(),
            order: GroupOrder::default(),
            error: None,
        }
    }

    /// How blocks are arranged each by itself, where rows need neither their group nor an earlier
    /// line.
    pub(super) fn single_blocks(&mut self) -> Option<SingleBlocks> {
        let is_single = !self.grouped && self.earlier.peek().is_none();
        is_single.then_some(SingleBlocks { bad_rows: self.bad_rows, limit: self.limit })
    }

    /// Whether the limit was reached. A group that it cuts is read to its end, so that going on
    /// later gives the rows of a run that was not limited.
    pub(super) fn is_done(&self) -> bool {
        self.done
    }

    /// Whether no further row is wanted. Rows that an earlier session wrote, under a higher limit, are
    /// read in any case: they are part of the run.
    fn reached_limit(&mut self) -> bool {
        self.limit.is_some_and(|limit| self.read >= limit) && self.earlier.peek().is_none()
    }

    fn continues_group(&self, row: &Row) -> bool {
        let key = row.sample.as_ref().ok().map(group_key);
        self.grouped && self.group_rows > 0 && key == self.order.key.as_deref()
    }

    pub(super) fn take_error(&mut self) -> Option<SequenceError> {
        self.error.take()
    }

    /// Takes the rows of a block. After an error or at the limit the rest of them is dropped.
    pub(super) fn push(&mut self, block: BlockRows) -> Vec<Chunk> {
        let BlockRows { rows, end } = block;
        let mut chunks: Vec<Chunk> = Vec::new();
        let mut chunk = Vec::with_capacity(rows.len());
        for row in rows {
            self.read = row.index;
            if self.reached_limit() && !self.continues_group(&row) {
                self.done = true;
                break;
            }
            self.read = row.index + 1;
            match self.take(row, &mut chunks) {
                Ok(Some(pending)) if self.chunk_rows == 1 => chunks.push(vec![pending].into()),
                Ok(Some(pending)) => chunk.push(pending),
                Ok(None) => {}
                Err(error) => {
                    self.error = Some(error);
                    break;
                }
            }
        }
        if !chunk.is_empty() {
            chunks.push(chunk.into());
        }
        if !self.done && self.error.is_none() {
            self.read = end;
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
    pub(super) fn flush(&mut self) -> Option<Chunk> {
        self.close_group();
        self.take_ready(1)
    }

    /// The group in hand is whole. Where one of its rows is to be judged, all of them are.
    fn close_group(&mut self) {
        self.groups += u64::from(self.group_rows > 0);
        self.group_rows = 0;
        let judged = self.group.iter().any(|pending| pending.rescore);
        for mut pending in self.group.drain(..) {
            pending.rescore = judged && pending.row.sample.is_ok();
            self.ready.push(pending);
        }
    }

    fn take_ready(&mut self, at_least: usize) -> Option<Chunk> {
        (self.ready.len() >= at_least).then(|| std::mem::take(&mut self.ready).into())
    }

    /// Takes one row: into the group in hand, or back to the caller.
    fn take(
        &mut self,
        row: Row,
        chunks: &mut Vec<Chunk>,
    ) -> Result<Option<PendingRow>, SequenceError> {
        if !self.grouped {
            return self.pending(row).map(Some);
        }
        if let Ok(sample) = &row.sample {
            let begins = self.order.begins(sample);
            let wrong = |why| SequenceError::Group(format!("row {}: {why}", row.index + 1));
            if begins.map_err(wrong)? {
                self.close_group();
                chunks.extend(self.take_ready(self.chunk_rows));
            }
        }
        if self.group_rows >= GROUP_ROWS_MAX {
            return Err(SequenceError::Group(self.order.too_many()));
        }
        self.group_rows += 1;
        if self.shard.is_none_or(|shard| shard.owns_group(self.groups)) {
            let pending = self.pending(row)?;
            self.group.push(pending);
        }
        Ok(None)
    }

    fn pending(&mut self, row: Row) -> Result<PendingRow, SequenceError> {
        let row = match row {
            Row { sample: Err(error), .. } if self.bad_rows == BadRows::Stop => {
                return Err(SequenceError::Row(error));
            }
            row => row,
        };
        let (is_bad, rescore) = (row.sample.is_err(), row.sample.is_ok());
        let skip = is_bad && self.bad_rows == BadRows::Skip;
        let mut pending = PendingRow { row, old: None, rescore, skip };
        if !skip {
            pending.old = self.old(&pending)?;
        }
        if let Some(old) = &pending.old {
            let retry = self.mode == Resume::RetryFaults && old.scored.has_fault();
            pending.rescore = rescore && retry;
        }
        Ok(pending)
    }

    /// The line that an earlier session wrote for this row.
    fn old(&mut self, pending: &PendingRow) -> Result<Option<OldRow>, SequenceError> {
        let Some(old) = self.earlier.next() else { return Ok(None) };
        let old = old.map_err(SequenceError::Earlier)?;
        let id = pending.id();
        if old.scored.id == id {
            return Ok(Some(old));
        }
        Err(SequenceError::Earlier(format!(
            "row {} of the data has id {id:?}, but the run has {:?} there: it is a run of other data",
            pending.row.index + 1,
            old.scored.id
        )))
    }
}

/// The id of a row that could not be read: its number over the whole input, from 1.
pub(super) fn bad_row_id(index: u64) -> String {
    format!("row-{}", index + 1)
}

/// What becomes of a row that could not be read. Its number is told, not its file: the same rows give
/// the same bytes from whatever files they come.
pub(super) fn bad_row(index: u64, error: &RowError) -> Scored {
    unread(index, &error.message())
}

/// The same, of a row that is in no file.
pub(super) fn unread(index: u64, why: &str) -> Scored {
    Scored::failed(bad_row_id(index), Fault::bad_input(format!("row {}: {why}", index + 1)))
}
