//! A dataset through the engine: blocks are parsed side by side, put in order, scored side by
//! side, and handed on in the order of the rows, with a bounded number in flight.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll};
use std::time::Duration;

use assay_verifiers::{Fault, Lane, Sample};
use futures_util::stream::{FuturesOrdered, StreamExt as _};
use serde_json::Value;
use tokio::sync::mpsc::{self, Receiver, Sender};
use tokio::task::{JoinError, JoinHandle};

use super::arrange::{Arranger, OldRow, Pending};
use super::chunk::Scored;
use super::row::{RowWriter, VerdictRow};
use super::shared::Shared;
use super::{CHUNK_ROWS, Engine};
use crate::data::{Block, DataError, Row, RowError};

/// How often a stream that waits for a model looks whether it is to stop.
const LOOK_EVERY: Duration = Duration::from_millis(5);

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
#[derive(Default)]
pub struct Batch {
    /// Lines for `verdicts.jsonl`.
    pub verdicts: Vec<u8>,
    /// Lines for `timings.jsonl`.
    pub timings: Vec<u8>,
    /// Every row of the batch, in order.
    pub rows: Vec<Counted>,
    /// Rows that were left out because they could not be read.
    pub skipped: Vec<RowError>,
}

/// A row, for whoever counts.
pub enum Counted {
    /// One that was scored now.
    New {
        /// The id of the sample.
        id: String,
        /// Its label, where there is one.
        label: Option<Value>,
        /// What it came to.
        scored: Scored,
    },
    /// One that an earlier session scored.
    Old {
        /// The line as it was read back.
        row: VerdictRow,
        /// Its label, where there is one.
        label: Option<Value>,
    },
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
    /// # Errors
    /// What ended the stream early. Everything before that point was handed on.
    pub fn stream<E>(
        &self,
        source: impl Iterator<Item = Result<Block, DataError>> + Send,
        spec: StreamSpec,
        stop: &AtomicBool,
        sink: impl FnMut(Batch) -> Result<(), E>,
    ) -> Result<Ended, StreamError<E>> {
        let (sender, receiver) = mpsc::channel(2);
        std::thread::scope(|scope| {
            let reader = std::thread::Builder::new().name("assay-read".to_owned());
            // The sender goes with the thread: once that ends, so does the channel.
            let started = reader.spawn_scoped(scope, move || read(source, &sender, stop));
            started.map_err(|error| StreamError::Internal(error.to_string()))?;
            let retry = spec.mode == Earlier::RetryFaults;
            let flow = Flow {
                engine: self,
                work: Arc::new(Work {
                    shared: Arc::clone(&self.shared),
                    writer: RowWriter::new(&self.plan().names),
                    retry,
                }),
                arranger: Arranger::new(spec, self.plan().needs_groups()),
                stop,
                ended: None,
            };
            self.runtime.block_on(flow.run(receiver, sink))
        })
    }

    /// Whether rows wait for a model. What is in flight may take minutes then: a stream that is to
    /// stop gives it up.
    fn asks_models(&self) -> bool {
        self.plan().rewards.iter().any(|reward| matches!(reward.built.lane, Lane::Model(_)))
    }

    /// How many chunks are scored at once: enough to keep every lane busy.
    fn window(&self) -> usize {
        let lane_rows = |lane: &Lane| match lane {
            Lane::Compute(_) | Lane::Group(_) => 0,
            Lane::Model(verifier) => 2 * verifier.batch_max(),
            Lane::Remote(verifier) => 2 * verifier.in_flight_max(),
        };
        let rows: usize = self.plan().rewards.iter().map(|r| lane_rows(&r.built.lane)).sum();
        2 * self.jobs + 2 + rows.div_ceil(CHUNK_ROWS)
    }
}

fn read(
    source: impl Iterator<Item = Result<Block, DataError>>,
    sender: &Sender<Result<Block, DataError>>,
    stop: &AtomicBool,
) {
    for block in source {
        // Sending fails once the other side wants no more.
        if stop.load(Ordering::Relaxed) || sender.blocking_send(block).is_err() {
            return;
        }
    }
}

/// What the tasks of a stream share.
struct Work {
    shared: Arc<Shared>,
    writer: RowWriter,
    retry: bool,
}

/// A stream under way.
struct Flow<'a> {
    engine: &'a Engine,
    work: Arc<Work>,
    arranger: Arranger,
    stop: &'a AtomicBool,
    ended: Option<Ended>,
}

type Parsing = FuturesOrdered<Task<Option<Vec<Row>>>>;
type Scoring = FuturesOrdered<Task<Option<Batch>>>;

/// A task that ends where nobody wants its result any more.
struct Task<T>(JoinHandle<T>);

impl<T> Future for Task<T> {
    type Output = Result<T, JoinError>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        Pin::new(&mut self.0).poll(context)
    }
}

impl<T> Drop for Task<T> {
    fn drop(&mut self) {
        self.0.abort();
    }
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
        let models = self.engine.asks_models();
        loop {
            if self.stop.load(Ordering::Relaxed) {
                if models {
                    return Ok(Ended::Stopped);
                }
                self.ended = Some(Ended::Stopped);
            }
            if !open && parsing.is_empty() && self.ended.is_none() && failure.is_none() {
                scoring.extend(self.arranger.flush().into_iter().map(|chunk| self.score(chunk)));
                self.ended = Some(Ended::EndOfData);
            }
            if self.ended.is_some() || failure.is_some() {
                blocks.close();
                parsing = Parsing::new();
            }
            let reading = open && self.ended.is_none() && failure.is_none();
            tokio::select! {
                biased;
                Some(batch) = scoring.next() => {
                    // Going on without a batch would give its place to the rows behind it.
                    let lost = || StreamError::Internal("a batch was lost".to_owned());
                    let batch = batch.ok().flatten().ok_or_else(lost)?;
                    sink(batch).map_err(StreamError::Sink)?;
                }
                Some(rows) = parsing.next(), if scoring.len() < window => {
                    let (chunks, error) = self.arrange(rows.ok().flatten());
                    scoring.extend(chunks.into_iter().map(|chunk| self.score(chunk)));
                    failure = error;
                }
                block = blocks.recv(), if reading && parsing.len() < parse_window => match block {
                    Some(Ok(block)) => parsing.push_back(self.parse(block)),
                    Some(Err(error)) => failure = Some(error.into()),
                    None => open = false,
                },
                () = tokio::time::sleep(LOOK_EVERY), if models && !scoring.is_empty() => {}
                else => break,
            }
        }
        match failure {
            Some(error) => Err(error),
            None => Ok(self.ended.unwrap_or(Ended::EndOfData)),
        }
    }

    fn spawn<T: Send + 'static>(&self, task: impl Future<Output = T> + Send + 'static) -> Task<T> {
        Task(self.engine.runtime.spawn(task))
    }

    fn parse(&self, block: Block) -> Task<Option<Vec<Row>>> {
        let shared = Arc::clone(&self.work.shared);
        self.spawn(async move {
            let plan = Arc::clone(&shared.plan);
            shared.pool.run(move || block.rows(&plan.config.data)).await
        })
    }

    /// Puts rows in order. On an error, what came before it is still to be scored.
    fn arrange<E>(
        &mut self,
        rows: Option<Vec<Row>>,
    ) -> (Vec<Vec<Pending>>, Option<StreamError<E>>) {
        let Some(rows) = rows else {
            return (Vec::new(), Some(StreamError::Internal("a block was lost".to_owned())));
        };
        let chunks = self.arranger.push(rows);
        let error = self.arranger.take_error();
        if error.is_none() && self.arranger.is_done() {
            self.ended = Some(Ended::Limit);
        }
        (chunks, error.map(StreamError::from))
    }

    fn score(&self, chunk: Vec<Pending>) -> Task<Option<Batch>> {
        let work = Arc::clone(&self.work);
        self.spawn(async move { work.score(chunk).await })
    }
}

impl Work {
    /// Scores what needs it, and writes the lines of the batch. `None` where that panicked.
    async fn score(self: Arc<Self>, mut chunk: Vec<Pending>) -> Option<Batch> {
        let samples: Vec<Sample> = chunk.iter_mut().filter_map(Pending::take_sample).collect();
        let samples = Arc::new(samples);
        let scored = if samples.is_empty() {
            Vec::new()
        } else {
            Arc::clone(&self.shared).score(Arc::clone(&samples)).await
        };
        let work = Arc::clone(&self);
        self.shared.pool.run(move || work.write(chunk, &samples, scored)).await
    }

    fn write(&self, chunk: Vec<Pending>, samples: &[Sample], scored: Vec<Scored>) -> Batch {
        let mut batch = Batch::default();
        let mut judged = samples.iter().zip(scored);
        for pending in chunk {
            let fresh = match pending.error {
                None if pending.rescore => {
                    judged.next().map(|(sample, scored)| (sample.id().to_owned(), scored))
                }
                None => None,
                Some(error) if pending.skip => {
                    batch.skipped.push(error);
                    continue;
                }
                Some(error) => {
                    // The number of the row, not its file: the same rows give the same bytes
                    // from whatever files they come.
                    let why = format!("row {}: {}", pending.index + 1, error.message());
                    let fault = Fault::bad_input(why);
                    Some((bad_row_id(pending.index), Scored::failed(fault)))
                }
            };
            let label = pending.label;
            match (pending.old, fresh) {
                (Some(old), fresh) if !self.retry || fresh.is_none() => {
                    if self.retry {
                        batch.verdicts.extend_from_slice(&old.line);
                        batch.verdicts.push(b'\n');
                    }
                    batch.rows.push(Counted::Old { row: old.row, label });
                }
                (_, Some((id, scored))) => {
                    self.writer.verdict_line(&mut batch.verdicts, &id, &scored);
                    self.writer.timing_line(&mut batch.timings, pending.index, &scored);
                    batch.rows.push(Counted::New { id, label, scored });
                }
                (_, None) => {}
            }
        }
        batch
    }
}

/// The id of a row that could not be read: its number over the whole input, from 1.
pub(super) fn bad_row_id(index: u64) -> String {
    format!("row-{}", index + 1)
}
