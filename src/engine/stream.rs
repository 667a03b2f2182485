//! A dataset through the engine: blocks are parsed side by side, put in order, scored side by
//! side, and handed on in the order of the rows, with a bounded number in flight.
//!
//! A chunk of rows is handed to the pool twice: as a block that is parsed, and as samples that are
//! scored and written. Only what is awaited takes further turns. Where rows need neither their group
//! nor the lines of an earlier session, and nothing is awaited, a block is parsed, scored and written
//! in one go: what one thread allocates it also frees.

use std::sync::Arc;
use std::time::Duration;

use assay_verifiers::Scored;
use futures_util::future::{BoxFuture, FutureExt as _};
use futures_util::stream::{FuturesOrdered, StreamExt as _};
use serde_json::Value;
use tokio::runtime::Handle;
use tokio::sync::mpsc::{self, Receiver, Sender};
use tokio_util::sync::CancellationToken;
use tokio_util::task::AbortOnDropHandle;

use super::batch::{Batch, RowLabel};
use super::call::{Call, GiveUp, ScoreOptions};
use super::core::Core;
use super::groups::group_hash;
use super::lines::{TimingLines, verdict_line};
use super::score::{CHUNK_ROWS, Engine, block_on};
use super::sequence::{
    BlockRows, Chunk, PendingRow, RowSequencer, SequenceError, SingleBlocks, bad_row,
};
use super::shard::Shard;
use super::stream_spec::{Ended, Resume, StreamError, StreamSpec};
use crate::data::{Block, DataError};

/// How long rows that are under way may still take once a stream is to stop.
const STOP_GRACE: Duration = Duration::from_millis(500);
/// The most bytes of rows that are under way, unless a single chunk has more.
const IN_FLIGHT_BYTES_MAX: usize = 256 << 20;

impl Engine {
    /// Runs every row of `source` through the plan and hands the rows on in their order.
    ///
    /// Once `stop` is cancelled no more rows are handed out; those under way may take half a second
    /// more, and are then given up.
    ///
    /// # Errors
    /// What ended the stream early. Everything before that point was handed on.
    pub fn stream<E>(
        &self,
        source: impl Iterator<Item = Result<Block, DataError>> + Send + 'static,
        spec: StreamSpec,
        stop: &CancellationToken,
        sink: impl FnMut(Batch) -> Result<(), E>,
    ) -> Result<Ended, StreamError<E>> {
        let (sender, receiver) = mpsc::channel(2);
        let reader = std::thread::Builder::new().name("assay-read".to_owned());
        // Not waited for: a reader of standard input may never come back. It ends with the channel.
        let started = reader.spawn(move || read(source, &sender));
        started.map_err(|error| StreamError::Internal(error.to_string()))?;
        let options = ScoreOptions::at(spec.training.clone());
        let call = Arc::new(Call::new(&options, 0));
        let _give_up = GiveUp(Arc::clone(&call));
        let work = Work {
            core: Arc::clone(&self.core),
            call,
            timings: TimingLines::new(&self.plan().names),
            retry: spec.mode == Resume::RetryFaults,
            labels: self.plan().config.data.label.is_some(),
            is_sharded: spec.shard.is_some(),
            // Where groups are judged, every shard reads all rows to tell one group from the next.
            shard: spec.shard.filter(|_| !self.plan().needs_groups()),
        };
        let rows = if self.plan().is_slow() { 1 } else { CHUNK_ROWS };
        let mut arranger = RowSequencer::new(spec, self.plan().needs_groups(), rows);
        let flow = Flow {
            engine: self,
            work: Arc::new(work),
            fused: arranger.single_blocks().filter(|_| self.plan().is_cheap()),
            arranger,
            stop,
            in_flight_bytes: 0,
            ended: None,
        };
        block_on(flow.run(receiver, sink))
    }
}

fn read(
    source: impl Iterator<Item = Result<Block, DataError>>,
    sender: &Sender<Result<Block, DataError>>,
) {
    for block in source {
        // Sending fails once the other side wants no more.
        if sender.blocking_send(block).is_err() {
            return;
        }
    }
}

/// What the chunks of a stream share.
struct Work {
    core: Arc<Core>,
    call: Arc<Call>,
    timings: TimingLines,
    retry: bool,
    labels: bool,
    /// Timing lines say of which group a row is, for the figures of the merged run.
    is_sharded: bool,
    /// Which rows of a block are parsed; by default all of them.
    shard: Option<Shard>,
}

/// A stream under way.
struct Flow<'a> {
    engine: &'a Engine,
    work: Arc<Work>,
    /// Blocks need not be put in order before they are scored.
    fused: Option<SingleBlocks>,
    arranger: RowSequencer,
    stop: &'a CancellationToken,
    in_flight_bytes: usize,
    ended: Option<Ended>,
}

type Parsing = FuturesOrdered<BoxFuture<'static, Option<BlockRows>>>;
type Scoring = FuturesOrdered<BoxFuture<'static, Done>>;

/// What came of a chunk.
struct Done {
    /// The bytes of its rows.
    bytes: usize,
    /// `None` where the work was lost.
    batch: Option<Batch>,
    /// Why nothing may follow.
    error: Option<SequenceError>,
}

impl Flow<'_> {
    async fn run<E>(
        mut self,
        mut blocks: Receiver<Result<Block, DataError>>,
        mut sink: impl FnMut(Batch) -> Result<(), E>,
    ) -> Result<Ended, StreamError<E>> {
        let (mut parsing, mut scoring) = (Parsing::new(), Scoring::new());
        let (parse_window, window) = (self.engine.jobs + 1, self.engine.window());
        let (mut failure, mut open) = (None, true);
        let stop = self.stop;
        let core = Arc::clone(&self.work.core);
        let activity = &core.activity;
        let given_up = given_up(stop.clone(), self.work.core.handle.clone());
        let mut given_up = std::pin::pin!(given_up);
        loop {
            if stop.is_cancelled() {
                self.ended = Some(Ended::Stopped);
            }
            if !open && parsing.is_empty() && self.ended.is_none() && failure.is_none() {
                scoring.extend(self.arranger.flush().into_iter().map(|chunk| self.score(chunk)));
                self.ended = Some(Ended::EndOfData);
            }
            if self.ended.is_some() || failure.is_some() {
                blocks.close();
                parsing = Parsing::new();
                if scoring.is_empty() {
                    break;
                }
            }
            let reading = open && self.ended.is_none() && failure.is_none();
            let room = scoring.len() < window && self.in_flight_bytes < IN_FLIGHT_BYTES_MAX;
            let wanted = reading && parsing.len() < parse_window && (room || self.fused.is_none());
            tokio::select! {
                biased;
                () = &mut given_up => return Ok(Ended::Stopped),
                block = blocks.recv(), if wanted => match block {
                    Some(Ok(block)) => {
                        activity.add_read(block.len() as u64);
                        match self.fused {
                            Some(fused) => scoring.push_back(self.parse_and_score(block, fused)),
                            None => parsing.push_back(self.parse(block)),
                        }
                    }
                    Some(Err(error)) => failure = Some(error.into()),
                    None => open = false,
                },
                Some(rows) = parsing.next(), if room => {
                    let (chunks, error) = self.arrange(rows);
                    scoring.extend(chunks.into_iter().map(|chunk| self.score(chunk)));
                    failure = error;
                }
                Some(Done { bytes, batch, error }) = scoring.next() => {
                    self.in_flight_bytes -= bytes;
                    // Going on without a batch would give its place to the rows after it.
                    let lost = || StreamError::Internal("a batch was lost".to_owned());
                    sink(batch.ok_or_else(lost)?).map_err(StreamError::Sink)?;
                    if let Some(error) = error {
                        scoring.clear();
                        failure = Some(error.into());
                    }
                }
                () = stop.cancelled(), if self.ended != Some(Ended::Stopped) => {}
            }
        }
        match failure {
            Some(error) => Err(error),
            None => Ok(self.ended.unwrap_or(Ended::EndOfData)),
        }
    }

    fn parse(&self, block: Block) -> BoxFuture<'static, Option<BlockRows>> {
        let work = Arc::clone(&self.work);
        let own = Arc::clone(&work);
        async move { own.core.pool.run(move || work.rows(&block)).await }.boxed()
    }

    /// Puts rows in order. On an error, what came before it is still to be scored.
    fn arrange<E>(&mut self, rows: Option<BlockRows>) -> (Vec<Chunk>, Option<StreamError<E>>) {
        let Some(rows) = rows else {
            return (Vec::new(), Some(StreamError::Internal("a block was lost".to_owned())));
        };
        let chunks = self.arranger.push(rows);
        let error = self.arranger.take_error();
        if error.is_none() && self.arranger.is_done() {
            self.ended.get_or_insert(Ended::Limit);
        }
        (chunks, error.map(StreamError::from))
    }

    /// Parses a block, scores its rows and writes their lines, in one go.
    fn parse_and_score(&mut self, block: Block, fused: SingleBlocks) -> BoxFuture<'static, Done> {
        let (work, core, bytes) =
            (Arc::clone(&self.work), Arc::clone(&self.work.core), block.bytes());
        let rows = block.len() as u64;
        core.activity.begin(rows);
        self.in_flight_bytes += bytes;
        if fused.is_last(&block) {
            self.ended.get_or_insert(Ended::Limit);
        }
        let judged = move || {
            let (mut chunk, error) = fused.arrange(work.rows(&block));
            let samples = chunk.rows.iter_mut().filter_map(PendingRow::take_sample).collect();
            (work.write(chunk.rows, work.core.score_at_once(samples, &work.call)), error)
        };
        async move {
            let (batch, error) = core.pool.run(judged).await.unzip();
            core.activity.end(rows);
            Done { bytes, batch, error: error.flatten() }
        }
        .boxed()
    }

    /// Scores what needs it, and writes the lines of the batch.
    fn score(&mut self, mut chunk: Chunk) -> BoxFuture<'static, Done> {
        let (work, bytes) = (Arc::clone(&self.work), chunk.bytes);
        let rows = chunk.rows.len() as u64;
        work.core.activity.begin(rows);
        self.in_flight_bytes += bytes;
        async move {
            let samples = chunk.rows.iter_mut().filter_map(PendingRow::take_sample).collect();
            let own = Arc::clone(&work);
            let write = move |scored| own.write(chunk.rows, scored);
            let batch = work.core.run(samples, &work.call, write).await;
            work.core.activity.end(rows);
            Done { bytes, batch, error: None }
        }
        .boxed()
    }
}

/// Ends when rows that are under way are to be given up.
async fn given_up(stop: CancellationToken, handle: Handle) {
    stop.cancelled().await;
    // Timers live in the engine's own runtime. A runtime that is gone has given up already.
    let grace = async { tokio::time::sleep(STOP_GRACE).await };
    let _ = AbortOnDropHandle::new(handle.spawn(grace)).await;
}

impl Work {
    /// The rows of a block that are judged here.
    fn rows(&self, block: &Block) -> BlockRows {
        let is_judged = |row| self.shard.is_none_or(|shard| shard.owns_row(row));
        let rows = block.rows_where(&self.core.plan.config.data, is_judged);
        BlockRows { rows, end: block.index() + block.len() as u64 }
    }

    fn write(&self, rows: Vec<PendingRow>, scored: Vec<Scored>) -> Batch {
        let mut batch = Batch::default();
        let mut judged = scored.into_iter();
        for pending in rows {
            let PendingRow { row, old, rescore, skip } = pending;
            let group = row.sample.as_ref().map_or(0, group_hash);
            let fresh = match row.sample {
                _ if rescore => judged.next(),
                Ok(_) => None,
                Err(error) if skip => {
                    batch.skipped.push(error);
                    continue;
                }
                Err(error) => Some(bad_row(row.index, &error)),
            };
            match (old, fresh) {
                (Some(old), fresh) if !self.retry || fresh.is_none() => {
                    if self.retry {
                        batch.verdicts.extend_from_slice(&old.line);
                        batch.verdicts.push(b'\n');
                    }
                    batch.groups.push(group);
                    self.count(&mut batch, old.scored, row.index, row.label);
                }
                (_, Some(scored)) => {
                    verdict_line(&mut batch.verdicts, &scored);
                    let told = self.is_sharded.then_some(group);
                    self.timings.write(&mut batch.timings, row.index, told, &scored);
                    batch.scored += 1;
                    batch.groups.push(group);
                    batch.note_time(&scored, row.index);
                    self.count(&mut batch, scored, row.index, row.label);
                }
                (_, None) => {}
            }
        }
        batch
    }

    /// Leaves what is counted of a row. The rest of it is freed here, on the pool.
    fn count(&self, batch: &mut Batch, scored: Scored, row: u64, label: Option<Value>) {
        batch.count(&scored, self.core.plan.rewards.len());
        if self.labels {
            batch.labels.push(RowLabel { row, id: scored.id, label });
        }
    }
}
