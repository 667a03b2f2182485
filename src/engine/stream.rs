//! A dataset through the engine: blocks are parsed side by side, put in order, scored side by
//! side, and handed on in the order of the rows, with a bounded number in flight.
//!
//! A chunk of rows is handed to the pool twice: as a block that is parsed, and as samples that are
//! scored and written. Only what is awaited takes further turns.

use std::sync::Arc;
use std::time::Duration;

use assay_verifiers::{Fault, FaultKind, Outcome, Scored};
use futures_util::future::{BoxFuture, FutureExt as _};
use futures_util::stream::{FuturesOrdered, StreamExt as _};
use serde_json::Value;
use tokio::runtime::Handle;
use tokio::sync::mpsc::{self, Receiver, Sender};
use tokio_util::sync::CancellationToken;
use tokio_util::task::AbortOnDropHandle;

use super::Engine;
use super::arrange::{Arranger, Chunk, OldRow, Pending};
use super::call::{Call, GiveUp, ScoreOptions};
use super::core::Core;
use super::lines::{TimingLines, verdict_line};
use crate::data::{Block, DataError, Row, RowError};

/// How long rows that are under way may still take once a stream is to stop.
const STOP_GRACE: Duration = Duration::from_millis(500);
/// The most bytes of rows that are under way, unless a single chunk has more.
const IN_FLIGHT_BYTES_MAX: usize = 256 << 20;

/// What becomes of a row that cannot be read as a sample.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum BadRows {
    /// The run stops there; rows before it are kept.
    #[default]
    Stop,
    /// The row is left out and counted.
    Skip,
    /// The row is reported as failed with `BadInput`.
    Fault,
}

/// What to do with lines that an earlier session wrote.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Earlier {
    /// They stand: go on after them.
    Stand,
    /// Write all lines anew, and judge again those with a fault.
    RetryFaults,
}

/// How a dataset is to be read.
pub struct StreamSpec {
    /// What becomes of rows that cannot be read.
    pub bad_rows: BadRows,
    /// The most rows of input that are read.
    pub limit: Option<u64>,
    /// The lines that an earlier session wrote, in order.
    pub earlier: Box<dyn Iterator<Item = Result<OldRow, String>> + Send>,
    /// What to do with them.
    pub mode: Earlier,
}

/// Some rows, done: the bytes to append, and what to count.
#[derive(Debug, Default)]
pub struct Batch {
    /// Lines for `verdicts.jsonl`.
    pub verdicts: Vec<u8>,
    /// Lines for `timings.jsonl`.
    pub timings: Vec<u8>,
    /// Rows of the output.
    pub rows: usize,
    /// Those of them that were scored now, and not by an earlier session.
    pub scored: usize,
    /// What each row came to: its own outcome, then those of its rewards; one row after the other.
    pub outcomes: Vec<Tallied>,
    /// The id and the label of each row, where the configuration names a column of labels.
    pub labels: Vec<(String, Option<Value>)>,
    /// Rows that were left out because they could not be read.
    pub skipped: Vec<RowError>,
}

/// An outcome, for whoever counts.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Tallied {
    /// With its reward.
    Scored(f64),
    /// Without a reward.
    Abstained,
    /// Without a reward, for a fault.
    Failed(FaultKind),
    /// There is no verdict, because the row could not be read.
    Missing,
}

impl From<&Outcome> for Tallied {
    fn from(outcome: &Outcome) -> Self {
        match outcome {
            Outcome::Scored(reward) => Self::Scored(reward.get()),
            Outcome::Abstained(_) => Self::Abstained,
            Outcome::Failed(fault) => Self::Failed(fault.kind),
        }
    }
}

/// Why a stream ended early. Rows before the end were handed on.
#[derive(Debug, thiserror::Error)]
pub enum StreamError<E> {
    /// The data cannot be read on.
    #[error(transparent)]
    Data(#[from] DataError),
    /// A row cannot be read, and bad rows stop the run.
    #[error("{0}")]
    Row(RowError),
    /// The lines of the earlier session do not belong to these data.
    #[error("{0}")]
    Earlier(String),
    /// A group that cannot be judged in one piece.
    #[error("{0}")]
    Group(String),
    /// Whoever takes the batches failed.
    #[error(transparent)]
    Sink(E),
    /// A defect of ours.
    #[error("internal: {0}")]
    Internal(String),
}

/// How a stream ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ended {
    /// Every row was read.
    EndOfData,
    /// The limit was reached.
    Limit,
    /// It was asked to stop.
    Stopped,
}

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
        let call = Arc::new(Call::new(&ScoreOptions::default(), 0));
        let _give_up = GiveUp(Arc::clone(&call));
        let work = Work {
            core: Arc::clone(&self.core),
            call,
            timings: TimingLines::new(&self.plan().names),
            retry: spec.mode == Earlier::RetryFaults,
            labels: self.plan().config.data.label.is_some(),
        };
        let rows = if self.plan().is_slow() { 1 } else { super::CHUNK_ROWS };
        let flow = Flow {
            engine: self,
            work: Arc::new(work),
            arranger: Arranger::new(spec, self.plan().needs_groups(), rows),
            stop,
            in_flight_bytes: 0,
            ended: None,
        };
        super::block_on(flow.run(receiver, sink))
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
}

/// A stream under way.
struct Flow<'a> {
    engine: &'a Engine,
    work: Arc<Work>,
    arranger: Arranger,
    stop: &'a CancellationToken,
    in_flight_bytes: usize,
    ended: Option<Ended>,
}

type Parsing = FuturesOrdered<BoxFuture<'static, Option<Vec<Row>>>>;
/// Batches, each with the bytes of its rows.
type Scoring = FuturesOrdered<BoxFuture<'static, (usize, Option<Batch>)>>;

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
            tokio::select! {
                biased;
                () = &mut given_up => return Ok(Ended::Stopped),
                block = blocks.recv(), if reading && parsing.len() < parse_window => match block {
                    Some(Ok(block)) => parsing.push_back(self.parse(block)),
                    Some(Err(error)) => failure = Some(error.into()),
                    None => open = false,
                },
                Some(rows) = parsing.next(), if room => {
                    let (chunks, error) = self.arrange(rows);
                    scoring.extend(chunks.into_iter().map(|chunk| self.score(chunk)));
                    failure = error;
                }
                Some((bytes, batch)) = scoring.next() => {
                    self.in_flight_bytes -= bytes;
                    // Going on without a batch would give its place to the rows behind it.
                    let lost = || StreamError::Internal("a batch was lost".to_owned());
                    sink(batch.ok_or_else(lost)?).map_err(StreamError::Sink)?;
                }
                () = stop.cancelled(), if self.ended != Some(Ended::Stopped) => {}
            }
        }
        match failure {
            Some(error) => Err(error),
            None => Ok(self.ended.unwrap_or(Ended::EndOfData)),
        }
    }

    fn parse(&self, block: Block) -> BoxFuture<'static, Option<Vec<Row>>> {
        let core = Arc::clone(&self.work.core);
        let own = Arc::clone(&core);
        async move { own.pool.run(move || block.rows(&core.plan.config.data)).await }.boxed()
    }

    /// Puts rows in order. On an error, what came before it is still to be scored.
    fn arrange<E>(&mut self, rows: Option<Vec<Row>>) -> (Vec<Chunk>, Option<StreamError<E>>) {
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

    /// Scores what needs it, and writes the lines of the batch.
    fn score(&mut self, mut chunk: Chunk) -> BoxFuture<'static, (usize, Option<Batch>)> {
        let (work, bytes) = (Arc::clone(&self.work), chunk.bytes);
        self.in_flight_bytes += bytes;
        async move {
            let samples = chunk.rows.iter_mut().filter_map(Pending::take_sample).collect();
            let own = Arc::clone(&work);
            let write = move |scored| own.write(chunk.rows, scored);
            (bytes, work.core.run(samples, &work.call, write).await)
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
    fn write(&self, rows: Vec<Pending>, scored: Vec<Scored>) -> Batch {
        let mut batch = Batch::default();
        let mut judged = scored.into_iter();
        for pending in rows {
            let Pending { row, old, rescore, skip } = pending;
            let fresh = match row.sample {
                _ if rescore => judged.next(),
                Ok(_) => None,
                Err(error) if skip => {
                    batch.skipped.push(error);
                    continue;
                }
                Err(error) => {
                    // The number of the row, not its file: the same rows give the same bytes
                    // from whatever files they come.
                    let why = format!("row {}: {}", row.index + 1, error.message());
                    Some(Scored::failed(bad_row_id(row.index), Fault::bad_input(why)))
                }
            };
            match (old, fresh) {
                (Some(old), fresh) if !self.retry || fresh.is_none() => {
                    if self.retry {
                        batch.verdicts.extend_from_slice(&old.line);
                        batch.verdicts.push(b'\n');
                    }
                    self.count(&mut batch, old.scored, row.label);
                }
                (_, Some(scored)) => {
                    verdict_line(&mut batch.verdicts, &scored);
                    self.timings.write(&mut batch.timings, row.index, &scored);
                    batch.scored += 1;
                    self.count(&mut batch, scored, row.label);
                }
                (_, None) => {}
            }
        }
        batch
    }

    /// Leaves what is counted of a row. The rest of it is freed here, on the pool.
    fn count(&self, batch: &mut Batch, scored: Scored, label: Option<Value>) {
        batch.rows += 1;
        batch.outcomes.push(Tallied::from(&scored.outcome));
        let verdicts = scored.verdicts.as_slice();
        for at in 0..self.core.plan.rewards.len() {
            let verdict = verdicts.get(at).map(|verdict| Tallied::from(&verdict.outcome));
            batch.outcomes.push(verdict.unwrap_or(Tallied::Missing));
        }
        if self.labels {
            batch.labels.push((scored.id, label));
        }
    }
}

/// The id of a row that could not be read: its number over the whole input, from 1.
pub(super) fn bad_row_id(index: u64) -> String {
    format!("row-{}", index + 1)
}
