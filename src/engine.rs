//! The engine: builds a configuration into a plan, runs it over samples, and keeps what it found.

mod arrange;
pub mod cache;
mod chunk;
mod clock;
mod combine;
mod condition;
pub mod config;
mod document;
mod error;
mod files;
mod lanes;
mod plan;
mod registry;
mod row;
pub mod runs;
mod session;
mod shared;
mod stream;
mod summary;

use std::path::PathBuf;
use std::sync::{Arc, mpsc};

use assay_verifiers::Sample;
use tokio::runtime::{self, Runtime};

pub use cache::{Cache, CacheCounts, CacheStats};
pub use chunk::Scored;
pub use clock::{Clock, NoClock};
pub use combine::Combiner;
pub use config::Config;
pub use document::Document;
pub use error::{ConfigError, did_you_mean};
pub use files::ConfigFolder;
pub use plan::{Plan, Planned};
pub use registry::{Builder, Registry};
pub use row::{RowWriter, VerdictEntry, VerdictRow};
pub use session::{Report, Session};
pub use stream::{BadRows, Batch, Counted, Earlier, Ended, StreamError, StreamSpec};
pub use summary::{Agreement, Disagreement, NamedTally, Summary, Tally};

use lanes::{Permits, Pool, Queue};
use shared::Shared;

/// Samples that travel together when nothing needs them apart or together.
const CHUNK_ROWS: usize = 256;

/// What an engine runs on.
pub struct Options {
    /// Threads of the compute lane.
    pub jobs: usize,
    /// The clock for timings and deadlines.
    pub clock: Arc<dyn Clock>,
    /// Where verdicts are kept for the next run; `None` keeps none.
    pub cache_dir: Option<PathBuf>,
}

impl Options {
    /// `jobs` threads, no clock, no cache.
    pub fn new(jobs: usize) -> Self {
        Self { jobs: jobs.max(1), clock: Arc::new(NoClock), cache_dir: None }
    }
}

/// A plan at work. Cheap to share: every caller's samples meet in the same lanes.
pub struct Engine {
    shared: Arc<Shared>,
    runtime: Runtime,
    jobs: usize,
}

impl Engine {
    /// Starts the threads, queues and permits that `plan` needs.
    ///
    /// # Errors
    /// When the operating system refuses a thread.
    pub fn start(plan: Plan, options: Options) -> std::io::Result<Self> {
        let plan = Arc::new(plan);
        let clock = options.clock;
        let queue = |at| Queue::start(&plan, at, &clock);
        let queues = (0..plan.rewards.len()).map(queue).collect::<Result<_, _>>()?;
        let permits = plan.rewards.iter().map(Permits::of).collect();
        let pool = Pool::new(options.jobs).map_err(std::io::Error::other)?;
        let cache = options.cache_dir.map(Cache::new);
        let runtime = runtime::Builder::new_multi_thread()
            .worker_threads(1)
            .thread_name("assay-engine")
            .enable_time()
            .build()?;
        Ok(Self {
            shared: Arc::new(Shared { plan, pool, cache, clock, queues, permits }),
            runtime,
            jobs: options.jobs,
        })
    }

    /// The plan that is at work.
    pub fn plan(&self) -> &Plan {
        &self.shared.plan
    }

    /// How the cache fared so far; `None` where nothing is kept.
    pub fn cache_counts(&self) -> Option<CacheCounts> {
        self.shared.cache.as_ref().map(Cache::counts)
    }

    /// Judges samples and waits for them: one [`Scored`] each, in their order. Samples of one
    /// group may stand anywhere among them.
    pub fn score(&self, samples: Vec<Sample>) -> Vec<Scored> {
        let (sender, receiver) = mpsc::channel();
        let size = if self.plan().needs_groups() { samples.len() } else { CHUNK_ROWS };
        let mut rest = samples.into_iter();
        for at in 0.. {
            let chunk: Vec<Sample> = rest.by_ref().take(size).collect();
            if chunk.is_empty() {
                break;
            }
            let (shared, sender) = (Arc::clone(&self.shared), sender.clone());
            self.runtime.spawn(async move {
                // The receiver outlives every sender: it is drained below.
                let _ = sender.send((at, shared.score(Arc::new(chunk)).await));
            });
        }
        drop(sender);
        let mut scored: Vec<(usize, Vec<Scored>)> = receiver.iter().collect();
        scored.sort_by_key(|(at, _)| *at);
        scored.into_iter().flat_map(|(_, scored)| scored).collect()
    }
}
