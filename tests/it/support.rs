//! What integration tests share: plans from text, test verifiers for each lane, and synthetic rows.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test stops at what it does not expect"
)]

use std::fmt::Write as _;
use std::path::Path;
use std::process::Child;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use assay::data::Source;
use assay::engine::{BadRows, Document, Earlier, Ended, Options, StreamSpec};
use assay::verifiers::verifier::Judged;
use assay::verifiers::{
    Backstop, BatchVerifier, Built, Files, Group, GroupVerifier, Lane, Meter, NoFiles,
    RemoteVerifier, Reward, Sample, Spec, Verdict, Verifier,
};
use assay::{Engine, Plan, Registry};

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

/// A plan from a configuration's text, without its `version` line.
pub(crate) fn plan(text: &str, registry: &Registry) -> Plan {
    let document = Document::parse("test.toml", &format!("version = 1\n{text}")).unwrap();
    Plan::build(&document, registry, &NoFiles).unwrap()
}

/// An engine with `jobs` threads.
pub(crate) fn engine(text: &str, registry: &Registry, jobs: usize) -> Engine {
    Engine::start(plan(text, registry), Options::new(jobs)).unwrap()
}

/// Reads everything, with no earlier session.
fn whole() -> StreamSpec {
    StreamSpec {
        bad_rows: BadRows::Stop,
        limit: None,
        earlier: Box::new(std::iter::empty()),
        mode: Earlier::Stand,
    }
}

/// Every verdict line of `source`.
pub(crate) fn lines(engine: &Engine, source: Source) -> Vec<u8> {
    let mut lines = Vec::new();
    let ended = engine.stream(source, whole(), &AtomicBool::new(false), |batch| {
        lines.extend_from_slice(&batch.verdicts);
        Ok::<(), std::io::Error>(())
    });
    assert_eq!(ended.unwrap(), Ended::EndOfData);
    lines
}

/// What test verifiers saw.
#[derive(Default)]
pub(crate) struct Seen {
    /// The ids of every batch.
    pub(crate) batches: Mutex<Vec<Vec<String>>>,
    /// The sizes of the groups.
    pub(crate) groups: Mutex<Vec<usize>>,
    /// Remote calls under way, and the most at once.
    pub(crate) in_flight: AtomicUsize,
    pub(crate) in_flight_most: AtomicUsize,
    /// Calls of the compute verifier.
    pub(crate) computed: AtomicUsize,
}

/// The standard registry with `busy` (compute), `batched` (model), `slow` (remote, 20 ms, 64 in
/// flight), `panics` (compute) and `longest` (group), all of which note what they see.
pub(crate) fn registry(seen: &Arc<Seen>) -> Registry {
    let mut registry = Registry::standard(&Arc::default(), &Arc::default());
    register(&mut registry, seen, "busy", |seen| Lane::Compute(Box::new(Busy(seen))));
    register(&mut registry, seen, "batched", |seen| Lane::Model(Box::new(Batched(seen))));
    register(&mut registry, seen, "slow", |seen| Lane::Remote(Box::new(Slow(seen))));
    register(&mut registry, seen, "panics", |_| Lane::Compute(Box::new(Panics)));
    register(&mut registry, seen, "longest", |seen| Lane::Group(Box::new(Longest(seen))));
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
        let spec = Spec { id: id.into(), version: 1, settings, files: Vec::new() };
        Ok(Built { spec, lane: lane(Arc::clone(&seen)) })
    };
    registry.register(id, Box::new(build));
}

fn length(sample: &Sample) -> Verdict {
    let length = u32::try_from(sample.completion().len()).unwrap();
    Verdict::scored(Reward::new(f64::from(length)).unwrap())
}

struct Busy(Arc<Seen>);

impl Verifier for Busy {
    fn verify(&self, sample: &Sample, meter: &mut Meter<'_>) -> Verdict {
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

struct Batched(Arc<Seen>);

impl BatchVerifier for Batched {
    fn batch_max(&self) -> usize {
        32
    }

    fn verify_batch(&self, samples: &[&Sample], _: &dyn Backstop) -> Vec<Verdict> {
        std::thread::sleep(Duration::from_millis(1));
        let ids = samples.iter().map(|sample| sample.id().to_owned()).collect();
        self.0.batches.lock().unwrap().push(ids);
        samples.iter().map(|sample| length(sample)).collect()
    }
}

struct Slow(Arc<Seen>);

impl RemoteVerifier for Slow {
    fn in_flight_max(&self) -> usize {
        64
    }

    fn verify<'a>(&'a self, sample: &'a Sample) -> Judged<'a> {
        Box::pin(async move {
            let now = self.0.in_flight.fetch_add(1, Ordering::SeqCst) + 1;
            self.0.in_flight_most.fetch_max(now, Ordering::SeqCst);
            tokio::time::sleep(Duration::from_millis(20)).await;
            self.0.in_flight.fetch_sub(1, Ordering::SeqCst);
            length(sample)
        })
    }
}

struct Panics;

impl Verifier for Panics {
    fn verify(&self, sample: &Sample, _: &mut Meter<'_>) -> Verdict {
        assert!(!sample.completion().contains("boom"), "it went boom");
        Verdict::graded(true)
    }
}

struct Longest(Arc<Seen>);

impl GroupVerifier for Longest {
    fn verify_group(&self, group: &Group<'_>, _: &mut Meter<'_>) -> Vec<Verdict> {
        self.0.groups.lock().unwrap().push(group.members.len());
        let lengths: Vec<usize> =
            group.members.iter().map(|member| member.sample.completion().len()).collect();
        let most = lengths.iter().max().copied().unwrap_or_default();
        lengths.iter().map(|length| Verdict::graded(*length == most)).collect()
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
