//! Blocks that a program holds through the engine: what [`Engine::stream`] is for datasets, for the rows
//! of one call.
//!
//! Where rows need neither their group nor anything awaited, a block is parsed, scored and finished in
//! one go on one thread of the pool.

use std::convert::Infallible;
use std::future::Future;
use std::sync::Arc;

use assay_verifiers::{Sample, Scored};
use futures_util::stream::{self as futures, StreamExt as _};
use tokio::task::unconstrained;

use super::call::{Call, GiveUp, ScoreOptions};
use super::score::Engine;
use super::sequence::bad_row;
use super::stream_spec::{BadRows, StreamError};
use crate::data::{Block, Row};

type BlockError = StreamError<Infallible>;

/// The rows of a block: samples, and what became of the rows between them that are none.
struct Parsed {
    samples: Vec<Sample>,
    /// Along the rows: `None` where there is a sample.
    bad: Vec<Option<Scored>>,
}

impl Parsed {
    fn new(rows: Vec<Row>, bad_rows: BadRows) -> Result<Self, BlockError> {
        let mut parsed =
            Self { samples: Vec::with_capacity(rows.len()), bad: Vec::with_capacity(rows.len()) };
        for row in rows {
            match (row.sample, bad_rows) {
                (Ok(sample), _) => {
                    parsed.samples.push(sample);
                    parsed.bad.push(None);
                }
                (Err(error), BadRows::Stop) => return Err(StreamError::Row(error)),
                (Err(error), BadRows::Fault) => parsed.bad.push(Some(bad_row(row.index, &error))),
                (Err(_), BadRows::Skip) => {}
            }
        }
        Ok(parsed)
    }
}

/// The rows in their order: those that were bad, and those that were scored.
fn merged(bad: Vec<Option<Scored>>, scored: Vec<Scored>) -> Vec<Scored> {
    let mut scored = scored.into_iter();
    bad.into_iter().filter_map(|bad| bad.or_else(|| scored.next())).collect()
}

fn lost() -> BlockError {
    StreamError::Internal("a block was lost".to_owned())
}

impl Engine {
    /// Scores the rows of blocks, and takes those of each block through `finish`, on the threads of
    /// the engine: a result for each block, in their order. Samples of one group may stand anywhere
    /// among the blocks. Dropping the future gives the work up.
    ///
    /// # Errors
    /// The first row that cannot be read, where bad rows stop the call; a defect of ours.
    pub fn score_blocks<T: Send + 'static>(
        &self,
        blocks: Vec<Block>,
        bad_rows: BadRows,
        options: ScoreOptions,
        finish: impl Fn(Vec<Scored>) -> T + Send + Sync + 'static,
    ) -> impl Future<Output = Result<Vec<T>, StreamError<Infallible>>> + Send {
        let finish = Arc::new(finish);
        let plan = self.plan();
        // A call that may end early is scored sample by sample: what was not judged is a fault.
        let whole = options.wait && options.deadline.is_none();
        let at_once = whole && plan.is_cheap() && !plan.needs_groups();
        // Another executor inside a tokio task has no budget of polls to give back.
        unconstrained(async move {
            if at_once {
                self.score_each(blocks, bad_rows, options, finish).await
            } else {
                self.score_together(blocks, bad_rows, options, finish).await
            }
        })
    }

    /// Each block by itself.
    async fn score_each<T: Send + 'static>(
        &self,
        blocks: Vec<Block>,
        bad_rows: BadRows,
        options: ScoreOptions,
        finish: Arc<impl Fn(Vec<Scored>) -> T + Send + Sync + 'static>,
    ) -> Result<Vec<T>, BlockError> {
        let room: usize = blocks.iter().map(Block::len).sum();
        let room = u32::try_from(room.min(self.intake_rows)).unwrap_or(u32::MAX);
        let closed = |_| StreamError::Internal("the engine was dropped".to_owned());
        let _room = self.intake.acquire_many(room).await.map_err(closed)?;
        let call = Arc::new(Call::new(&options, self.core.clock.now_ns()));
        let _give_up = GiveUp(Arc::clone(&call));
        let judge = |block: Block| {
            let (core, call, finish) =
                (Arc::clone(&self.core), Arc::clone(&call), Arc::clone(&finish));
            self.core.pool.run(move || {
                let Parsed { samples, bad } =
                    Parsed::new(block.rows(&core.plan.config.data), bad_rows)?;
                Ok::<_, BlockError>(finish(merged(bad, core.score_at_once(samples, &call))))
            })
        };
        let mut judged = futures::iter(blocks.into_iter().map(judge)).buffered(self.window());
        let mut finished = Vec::new();
        while let Some(block) = judged.next().await {
            finished.push(block.ok_or_else(lost)??);
        }
        Ok(finished)
    }

    /// All rows as one call of [`Engine::score_async`].
    async fn score_together<T: Send + 'static>(
        &self,
        blocks: Vec<Block>,
        bad_rows: BadRows,
        options: ScoreOptions,
        finish: Arc<impl Fn(Vec<Scored>) -> T + Send + Sync + 'static>,
    ) -> Result<Vec<T>, BlockError> {
        let parse = |block: Block| {
            let core = Arc::clone(&self.core);
            self.core.pool.run(move || Parsed::new(block.rows(&core.plan.config.data), bad_rows))
        };
        let mut parsing = futures::iter(blocks.into_iter().map(parse)).buffered(self.window());
        let (mut samples, mut blocks) = (Vec::new(), Vec::new());
        while let Some(block) = parsing.next().await {
            let block = block.ok_or_else(lost)??;
            blocks.push((block.samples.len(), block.bad));
            samples.extend(block.samples);
        }
        let mut scored = self.score_async(samples, options).await.into_iter();
        let finishing = blocks.into_iter().map(|(count, bad)| {
            let (own, finish) = (scored.by_ref().take(count).collect(), Arc::clone(&finish));
            self.core.pool.run(move || finish(merged(bad, own)))
        });
        let mut finishing = futures::iter(finishing).buffered(self.window());
        let mut finished = Vec::new();
        while let Some(block) = finishing.next().await {
            finished.push(block.ok_or_else(lost)?);
        }
        Ok(finished)
    }
}

#[cfg(feature = "parquet")]
#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use arrow_array::{ArrayRef, RecordBatch, StringArray};

    use super::*;
    use crate::Config;
    use crate::data::ReadLimits;

    fn engine(rest: &str) -> Engine {
        let text = format!("version = 1\n[[reward]]\nname = 'r'\nverifier = 'exact'\n{rest}");
        let config = Config::parse("test.toml", &text).unwrap();
        Engine::builder().config(config).jobs(2).build().unwrap()
    }

    fn blocks(completions: &[Option<&str>]) -> Vec<Block> {
        let texts: ArrayRef = Arc::new(completions.iter().copied().collect::<StringArray>());
        let gold: ArrayRef = Arc::new(StringArray::from(vec!["a"; completions.len()]));
        let columns = [("completion", texts), ("reference", gold)];
        let batch = RecordBatch::try_from_iter(columns).unwrap();
        Block::of_batch("table", 0, &batch, &ReadLimits::default()).unwrap()
    }

    fn scored(
        engine: &Engine,
        completions: &[Option<&str>],
        bad_rows: BadRows,
        options: ScoreOptions,
    ) -> Result<Vec<Vec<Scored>>, BlockError> {
        pollster::block_on(engine.score_blocks(
            blocks(completions),
            bad_rows,
            options,
            std::convert::identity,
        ))
    }

    #[test]
    fn rows_keep_their_order_whatever_way_they_take() {
        let texts: Vec<Option<&str>> =
            (0..1000).map(|at| [Some("a"), Some("b"), None][at % 3]).collect();
        let deadline = Some(std::time::Duration::from_hours(1));
        let ways = [
            (engine(""), ScoreOptions::default()),
            (engine(""), ScoreOptions { deadline, ..ScoreOptions::default() }),
            (engine("[combine]\non_fault = 'drop_group'"), ScoreOptions::default()),
        ];
        for (engine, options) in ways {
            let found = scored(&engine, &texts, BadRows::Fault, options.clone()).unwrap();
            assert_eq!(found.iter().map(Vec::len).collect::<Vec<_>>(), [256, 256, 256, 232]);
            for (at, one) in found.iter().flatten().enumerate() {
                assert_eq!(one.reward(), [Some(1.0), Some(0.0), None][at % 3], "row {at}");
            }
            assert_eq!(found[3][231].id, found[0][0].id);
            assert_eq!(found[0][2].id, "row-3");
            let stopped =
                scored(&engine, &texts, BadRows::Stop, options.clone()).unwrap_err().to_string();
            assert!(stopped.starts_with("table:3: completion: missing"), "{stopped}");
            let fewer = scored(&engine, &texts, BadRows::Skip, options).unwrap();
            assert_eq!(fewer.iter().map(Vec::len).sum::<usize>(), 667);
        }
    }
}
