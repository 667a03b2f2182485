//! What integration tests share: plans from text, test verifiers for each lane, and synthetic rows.

use std::fmt::Write as _;
use std::path::Path;
use std::process::Child;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use assay::data::{Block, DataError};
use assay::engine::{BadRows, CancellationToken, Document, Ended, EngineBuilder, StreamSpec};
use assay::verifiers::{
    AsyncGroupVerifier, AsyncVerifier, Built, Earlier, Files, Group, GroupVerifier, Lane, Meter,
    Pending, Reward, Sample, Spec, Verdict, Verifier,
};
use assay::{Engine, Registry};
use tokio::sync::Notify;

/// Waits until a file has something in it, or the process ended.
pub(crate) fn wait_for(path: &Path, child: &mut Child) {
    for _ in 0..6000 {
        let filled = std::fs::metadata(path).is_ok_and(|meta| meta.len() > 0);
        if filled || child.try_wait().unwrap().is_some() {
            return;
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    panic!("{} was not written", path.display());
}

/// The parts of an engine of a configuration's text, without its `version` line.
pub(crate) fn builder(text: &str, registry: Registry) -> EngineBuilder {
    let document = Document::parse("test.toml", &format!("version = 1\n{text}")).unwrap();
    Engine::builder().config(document).registry(registry)
}

/// An engine with `jobs` threads.
pub(crate) fn engine(text: &str, registry: Registry, jobs: usize) -> Engine {
    builder(text, registry).jobs(jobs).build().unwrap()
}

/// Reads everything, with no earlier session.
pub(crate) fn whole() -> StreamSpec {
    StreamSpec {
        bad_rows: BadRows::Stop,
        limit: None,
        shard: None,
        training: assay::TrainingState::default(),
        earlier: Box::new(std::iter::empty()),
        mode: assay::engine::Resume::KeepLines,
    }
}

/// Every verdict line of `source`.
pub(crate) fn lines(
    engine: &Engine,
    source: impl Iterator<Item = Result<Block, DataError>> + Send + 'static,
) -> Vec<u8> {
    let mut lines = Vec::new();
    let ended = engine.stream(source, whole(), &CancellationToken::new(), |batch| {
        lines.extend_from_slice(&batch.verdicts);
        Ok::<(), std::io::Error>(())
    });
    assert_eq!(ended.unwrap(), Ended::EndOfData);
    lines
}

/// What test verifiers saw.
#[derive(Default)]
pub(crate) struct Seen {
    /// The ids of the members of every group.
    pub(crate) groups: Mutex<Vec<Vec<String>>>,
    /// Awaited calls under way, and the most at once.
    pub(crate) in_flight: AtomicUsize,
    pub(crate) in_flight_most: AtomicUsize,
    /// Awaited calls that ended, and those that were given up.
    pub(crate) awaited: AtomicUsize,
    pub(crate) given_up: AtomicUsize,
    /// Calls of the compute verifiers.
    pub(crate) computed: AtomicUsize,
    /// Threads that are inside `endless`.
    pub(crate) spinning: AtomicUsize,
    /// Lets `held` answer.
    pub(crate) release: Notify,
}

/// Calls of `awaited` that may be in flight at once.
pub(crate) const PERMITS: usize = 8;

/// The standard registry with verifiers that note what they see: `busy` and `endless` (compute),
/// `awaited` (awaited, under [`PERMITS`]), `held` (awaited; answers when it is released), `panics`,
/// `panics_awaited`, and `longest` and `longest_awaited` (groups, in either lane).
pub(crate) fn registry(seen: &Arc<Seen>) -> Registry {
    let mut registry = Registry::standard(&Arc::default(), &Arc::default());
    register(&mut registry, seen, "busy", |seen| Lane::Compute(Box::new(Busy(seen))));
    register(&mut registry, seen, "endless", |seen| Lane::Compute(Box::new(Endless(seen))));
    register(&mut registry, seen, "awaited", |seen| {
        Lane::Awaited(Arc::new(Awaited { seen, held: false, in_flight_max: Some(PERMITS) }))
    });
    register(&mut registry, seen, "held", |seen| {
        Lane::Awaited(Arc::new(Awaited { seen, held: true, in_flight_max: None }))
    });
    register(&mut registry, seen, "panics", |_| Lane::Compute(Box::new(Panics)));
    register(&mut registry, seen, "panics_awaited", |_| Lane::Awaited(Arc::new(Panics)));
    register(&mut registry, seen, "longest", |seen| Lane::Group(Box::new(Longest(seen))));
    register(&mut registry, seen, "longest_awaited", |seen| {
        Lane::AwaitedGroup(Arc::new(Longest(seen)))
    });
    registry
}

fn register(
    registry: &mut Registry,
    seen: &Arc<Seen>,
    id: &'static str,
    lane: fn(Arc<Seen>) -> Lane,
) {
    let seen = Arc::clone(seen);
    let build = move |settings, _: &dyn Files| {
        let slow = id == "endless";
        Ok(Built { slow, ..Built::new(Spec::new(id, 1, settings), lane(Arc::clone(&seen))) })
    };
    registry.register(id, Box::new(build));
}

fn length(sample: &Sample) -> Verdict {
    let length = u32::try_from(sample.completion().len()).unwrap();
    Verdict::scored(Reward::new(f64::from(length)).unwrap())
}

struct Busy(Arc<Seen>);

impl Verifier for Busy {
    fn verify(&self, sample: &Sample, _: Earlier<'_>, meter: &mut Meter<'_>) -> Verdict {
        self.0.computed.fetch_add(1, Ordering::Relaxed);
        let mut hash = 0xcbf2_9ce4_8422_2325_u64;
        for _ in 0..20 {
            for byte in sample.completion().bytes() {
                hash = (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
            }
        }
        if let Err(fault) = meter.spend(20 * sample.completion().len() as u64) {
            return Verdict::failed(fault);
        }
        Verdict::graded(hash & 1 == 0)
    }
}

struct Endless(Arc<Seen>);

impl Verifier for Endless {
    /// Spins until the meter says that it is over, for at most a minute of fuel.
    fn verify(&self, _: &Sample, _: Earlier<'_>, meter: &mut Meter<'_>) -> Verdict {
        self.0.computed.fetch_add(1, Ordering::SeqCst);
        self.0.spinning.fetch_add(1, Ordering::SeqCst);
        let mut left = 60_000_u32;
        while !meter.expired() && left > 0 {
            std::thread::sleep(Duration::from_millis(1));
            left -= 1;
        }
        self.0.spinning.fetch_sub(1, Ordering::SeqCst);
        Verdict::failed(assay::verifiers::Fault::new(
            assay::verifiers::FaultKind::Timeout,
            "it would have gone on",
        ))
    }
}

/// A call that is under way; one that is dropped before its end was given up.
struct Under(Arc<Seen>, bool);

impl Drop for Under {
    fn drop(&mut self) {
        self.0.in_flight.fetch_sub(1, Ordering::SeqCst);
        let count = if self.1 { &self.0.awaited } else { &self.0.given_up };
        count.fetch_add(1, Ordering::SeqCst);
    }
}

struct Awaited {
    seen: Arc<Seen>,
    held: bool,
    in_flight_max: Option<usize>,
}

impl AsyncVerifier for Awaited {
    fn in_flight_max(&self) -> Option<usize> {
        self.in_flight_max
    }

    fn verify(
        self: Arc<Self>,
        sample: &Sample,
        _: Earlier<'_>,
        _: &mut Meter<'_>,
    ) -> Pending<Verdict> {
        let verdict = length(sample);
        Box::pin(async move {
            let now = self.seen.in_flight.fetch_add(1, Ordering::SeqCst) + 1;
            self.seen.in_flight_most.fetch_max(now, Ordering::SeqCst);
            let mut under = Under(Arc::clone(&self.seen), false);
            if self.held {
                self.seen.release.notified().await;
            } else {
                tokio::time::sleep(Duration::from_millis(1)).await;
            }
            under.1 = true;
            verdict
        })
    }
}

struct Panics;

fn boom(sample: &Sample) -> Verdict {
    assert!(!sample.completion().contains("boom"), "it went boom");
    Verdict::graded(true)
}

impl Verifier for Panics {
    fn verify(&self, sample: &Sample, _: Earlier<'_>, _: &mut Meter<'_>) -> Verdict {
        boom(sample)
    }
}

impl AsyncVerifier for Panics {
    fn in_flight_max(&self) -> Option<usize> {
        None
    }

    /// Panics in the call, or in the future.
    fn verify(
        self: Arc<Self>,
        sample: &Sample,
        _: Earlier<'_>,
        _: &mut Meter<'_>,
    ) -> Pending<Verdict> {
        if sample.prompt() == "at once" {
            let verdict = boom(sample);
            return Box::pin(async { verdict });
        }
        let sample = sample.clone();
        Box::pin(async move { boom(&sample) })
    }
}

struct Longest(Arc<Seen>);

impl Longest {
    fn judge(&self, group: &Group<'_>) -> Vec<Verdict> {
        let ids = group.members.iter().map(|member| member.sample.id().to_owned()).collect();
        self.0.groups.lock().unwrap().push(ids);
        let lengths: Vec<usize> =
            group.members.iter().map(|member| member.sample.completion().len()).collect();
        let most = lengths.iter().max().copied().unwrap_or_default();
        lengths.iter().map(|length| Verdict::graded(*length == most)).collect()
    }
}

impl GroupVerifier for Longest {
    fn verify_group(&self, group: &Group<'_>, _: &mut Meter<'_>) -> Vec<Verdict> {
        self.judge(group)
    }
}

impl AsyncGroupVerifier for Longest {
    fn verify_group(
        self: Arc<Self>,
        group: &Group<'_>,
        _: &mut Meter<'_>,
    ) -> Pending<Vec<Verdict>> {
        let verdicts = self.judge(group);
        Box::pin(async move { verdicts })
    }
}

/// `count` rows of JSON lines, about `bytes` long each.
pub(crate) fn rows(count: usize, bytes: usize) -> String {
    let filler = "the quick brown fox jumps over the lazy dog, ".repeat(bytes / 45 + 1);
    let mut rows = String::new();
    for at in 0..count {
        let text = &filler[at % 40..bytes.saturating_sub(60) + at % 40];
        let (answer, reference, prompt) = (at % 10, at % 7, at / 4);
        let kind = if at % 2 == 0 { "math" } else { "code" };
        // Writing to a text cannot fail.
        let _ = writeln!(
            rows,
            "{{\"id\":\"s{at}\",\"prompt_id\":\"p{prompt}\",\"completion\":\"{text}\\n{answer}\",\
             \"reference\":\"{reference}\",\"kind\":\"{kind}\"}}"
        );
    }
    rows
}
