//! An engine from its parts.

use std::future::Future;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64};

use assay_verifiers::{Earlier, Files, Lane, NoFiles, Sample, Verdict};
use crossbeam_utils::CachePadded;
use smart_default::SmartDefault;
use tokio::runtime;
use tokio::sync::Semaphore;

use super::activity::Activity;
use super::cache::{Cache, CacheNotice};
use super::config::Config;
use super::core::{Admission, Core};
use super::document::Document;
use super::error::EngineError;
use super::plan::{Plan, Planned};
use super::pool::Pool;
use super::registry::{Builder, Registry};
use super::score::Engine;
use crate::clock::{Clock, Monotonic};
use crate::rubrics::judge::JudgeParts;

/// The most threads on which awaited work is polled: it waits more than it computes.
const IO_THREADS_MAX: usize = 2;
/// The most threads of the compute lane: a number with a zero too many stops the whole machine.
const JOBS_MAX: usize = 1024;
/// Samples that may be in flight at once, where nothing else is said.
const INTAKE_ROWS: usize = 16_384;

/// The parts of an engine. Only the configuration has no default.
///
/// Nothing of the environment is read here: [`Engine::open`] does that.
#[derive(SmartDefault)]
#[must_use]
pub struct EngineBuilder {
    document: Option<Document>,
    #[default(Registry::default_parts())]
    registry: Registry,
    #[default(Box::new(NoFiles))]
    files: Box<dyn Files>,
    jobs: Option<usize>,
    #[default(INTAKE_ROWS)]
    intake_rows: usize,
    #[default(Arc::new(Monotonic::start()))]
    clock: Arc<dyn Clock>,
    cache_dir: Option<PathBuf>,
    user_cache_dir: Option<PathBuf>,
    cache_notice: Option<CacheNotice>,
    #[default(true)]
    keeps: bool,
    judges: JudgeParts,
}

impl Engine {
    /// The parts of an engine, to be put together.
    pub fn builder() -> EngineBuilder {
        EngineBuilder::default()
    }
}

impl EngineBuilder {
    /// What to judge, and with which verifiers: a [`Config`], or a [`Document`] whose errors point
    /// into the text of a file.
    pub fn config(mut self, config: impl Into<Document>) -> Self {
        self.document = Some(config.into());
        self
    }

    /// The verifiers that the configuration may name, in place of those that this build brings.
    /// [`Registry::standard`] takes a sandbox and models that were set up otherwise.
    pub fn registry(mut self, registry: Registry) -> Self {
        self.registry = registry;
        self
    }

    /// Adds a verifier that is made of the settings of its reward.
    pub fn register(mut self, id: impl Into<String>, builder: Builder) -> Self {
        self.registry.register(id, builder);
        self
    }

    /// Adds a verifier that is a closure. It sees the sample and the verdicts of the rewards that are
    /// listed before its own.
    pub fn verifier<F>(mut self, id: impl Into<String>, judge: F) -> Self
    where
        F: Fn(&Sample, Earlier<'_>) -> Verdict + Send + Sync + 'static,
    {
        self.registry.register_fn(id, judge);
        self
    }

    /// Adds a verifier that is an async closure, of which at most `in_flight_max` calls are awaited
    /// at once. Its future is polled inside a tokio runtime.
    pub fn async_verifier<F, R>(
        mut self,
        id: impl Into<String>,
        in_flight_max: usize,
        judge: F,
    ) -> Self
    where
        F: Fn(Sample) -> R + Send + Sync + 'static,
        R: Future<Output = Verdict> + Send + 'static,
    {
        self.registry.register_async_fn(id, in_flight_max, judge);
        self
    }

    /// The files that settings may name; none by default.
    pub fn files(mut self, files: impl Files + 'static) -> Self {
        self.files = Box::new(files);
        self
    }

    /// What judges are made of beside their settings: keys, models, a store of replies. By default
    /// there are none.
    pub fn judges(mut self, parts: JudgeParts) -> Self {
        self.judges = parts;
        self
    }

    /// Adds a judge of the program's own, which rubrics ask by its name.
    #[cfg(feature = "rubrics")]
    pub fn judge(
        mut self,
        name: impl Into<String>,
        judge: impl crate::rubrics::Judge + 'static,
    ) -> Self {
        self.judges.judges.insert(name.into(), Arc::new(judge));
        self
    }

    /// Keeps what judges say in a store, or lets the store alone answer. Their verdicts are then not
    /// looked up in the cache: every question must reach the store.
    #[cfg(feature = "rubrics")]
    pub fn judge_store(mut self, store: Arc<crate::rubrics::judge::ReplyStore>) -> Self {
        self.judges.store = Some(store);
        self
    }

    /// Asks no judge, and counts what would be asked: the verdicts mean nothing.
    #[cfg(feature = "rubrics")]
    pub fn dry_judges(mut self) -> Self {
        self.judges.dry = true;
        self
    }

    /// Called once for each judge whose budget is spent. What is asked of it afterwards waits for
    /// ever, so that a run can be stopped in order; without this it is a fault.
    #[cfg(feature = "rubrics")]
    pub fn on_budget_spent(mut self, stop: impl Fn() + Send + Sync + 'static) -> Self {
        self.judges.stopped = Some(Arc::new(stop));
        self
    }

    /// Threads of the compute lane, 1 to 1,024; by default one a core.
    pub fn jobs(mut self, jobs: usize) -> Self {
        self.jobs = Some(jobs.clamp(1, JOBS_MAX));
        self
    }

    /// The most samples that are in flight at once, over all callers; 16,384 by default. Further
    /// calls wait, or are told `Overloaded`.
    pub fn intake_rows(mut self, rows: usize) -> Self {
        self.intake_rows = rows.clamp(1, Semaphore::MAX_PERMITS >> 1);
        self
    }

    /// The clock for timings and deadlines of the compute lane; by default the one of the machine.
    pub fn clock(mut self, clock: impl Clock + 'static) -> Self {
        self.clock = Arc::new(clock);
        self
    }

    /// Where verdicts are kept for the next run; by default in `cache.dir` of the configuration,
    /// else none are.
    pub fn cache_dir(mut self, dir: impl Into<Option<PathBuf>>) -> Self {
        self.cache_dir = dir.into();
        self
    }

    /// Neither looks up verdicts nor keeps them, whatever the configuration says.
    pub fn no_cache(mut self) -> Self {
        self.keeps = false;
        self
    }

    /// Where verdicts are kept if neither [`EngineBuilder::cache_dir`] nor the configuration says.
    pub fn user_cache_dir(mut self, dir: impl Into<Option<PathBuf>>) -> Self {
        self.user_cache_dir = dir.into();
        self
    }

    /// Told once where verdicts cannot be kept.
    pub fn cache_notice(mut self, notice: Option<CacheNotice>) -> Self {
        self.cache_notice = notice;
        self
    }

    /// Builds every verifier, and starts the threads.
    ///
    /// # Errors
    /// What is wrong with the configuration, or a thread that the operating system refuses.
    pub fn build(self) -> Result<Engine, EngineError> {
        let document = self.document.unwrap_or_else(|| Document::from(Config::default()));
        let plan = Plan::build(&document, &self.registry, &*self.files, &self.judges)?;
        let keeps = self.keeps && plan.rewards.iter().any(|reward| reward.cache_key.is_some());
        let named = plan.config.cache.dir.as_ref().map(PathBuf::from);
        let cache_dir = self.cache_dir.or(named).or(self.user_cache_dir).filter(|_| keeps);
        let cores = || std::thread::available_parallelism().map_or(1, usize::from);
        let jobs = self.jobs.unwrap_or_else(cores);
        let runtime = runtime::Builder::new_multi_thread()
            .worker_threads(jobs.min(IO_THREADS_MAX))
            .thread_name("assay-engine")
            .enable_all()
            .build()?;
        let core = Core {
            admissions: plan.rewards.iter().map(admission).collect(),
            activity: Arc::new(Activity::new(Arc::clone(&plan.names))),
            plan,
            pool: Pool::new(jobs).map_err(std::io::Error::other)?,
            handle: runtime.handle().clone(),
            cache: cache_dir.map(|dir| Cache::new(dir).with_notice(self.cache_notice)),
            clock: self.clock,
            closed: AtomicBool::new(false),
            row_ns: CachePadded::new(AtomicU64::new(0)),
        };
        Ok(Engine {
            core: Arc::new(core),
            runtime: Some(runtime),
            intake: Arc::new(Semaphore::new(self.intake_rows)),
            intake_rows: self.intake_rows,
            jobs,
        })
    }
}

/// How samples are let in to the verifier of a reward.
fn admission(reward: &Planned) -> Admission {
    let most = match &reward.built.lane {
        Lane::Awaited(verifier) => verifier.in_flight_max(),
        Lane::Compute(_) | Lane::Group(_) | Lane::AwaitedGroup(_) => None,
    };
    match most {
        Some(most) => {
            let permits = Semaphore::new(most.clamp(1, Semaphore::MAX_PERMITS));
            Admission::Permits(Arc::new(permits))
        }
        None => Admission::Queued(Arc::default()),
    }
}
