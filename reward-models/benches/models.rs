//! How near the queue comes to the bare runtime, on texts of mixed lengths.
//!
//! `cargo bench -p assay-reward-models -- MODEL [ort|rten]` takes a model folder, such as the one of
//! `python -m assay.export.bench_model`. Everything runs on all cores, one thread a worker, in turns
//! within one run; each figure is beside the bound of that run: every length in batches of its
//! own length, at the batch size that is best for it.
//!
//! `-- MODEL criteria [TOKENS]` asks a judge about eight criteria of one text of some 512 tokens, and about one
//! criterion of each of eight. MODEL is one of preset `criterion-judge`.

#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::print_stdout,
    reason = "a benchmark stops at what it does not expect"
)]
#![expect(clippy::cast_precision_loss, reason = "counts are far below 2^53")]
#![expect(clippy::disallowed_methods, reason = "a benchmark reads the clock")]

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use assay_reward_models::backend::library::{self, LibraryPath};
use assay_reward_models::backend::ort::{Ort, ProviderSettings};
use assay_reward_models::backend::rten::Rten;
use assay_reward_models::backend::{Backend, GraphFile, Provider, Session};
use assay_reward_models::compatibility::Compatibility;
use assay_reward_models::forward::Forward;
use assay_reward_models::graph::GraphInfo;
use assay_reward_models::manifest::{Manifest, Role};
use assay_reward_models::models::{Models, OrtDiscovery, RunSettings};
use assay_reward_models::schedule::{Queue, QueueLimits};
use assay_reward_models::template::View;
use assay_reward_models::tokens::{Encoder, Tokens};
use assay_verifiers::Message;
use pollster::block_on;

/// Texts of the workload; lengths are log-uniform from 16 to 512.
const TEXTS: usize = 192;
/// Batch sizes among which the bound picks.
const SIZES: [usize; 6] = [1, 2, 4, 8, 16, 32];
/// Lengths at which the bound is measured.
const LENGTHS: [usize; 8] = [16, 26, 43, 70, 115, 188, 310, 512];

struct Bench {
    forward: Box<dyn Fn() -> Forward>,
    sessions: Box<dyn Fn() -> Vec<Box<dyn Session>>>,
    vocabulary: u32,
    cores: usize,
}

fn main() {
    let given: Vec<String> =
        std::env::args().skip(1).filter(|arg| !arg.starts_with("--")).collect();
    let Some(folder) = given.first().map(PathBuf::from) else {
        println!("no model folder was given; see the head of this file");
        return;
    };
    if given.get(1).is_some_and(|word| word == "criteria") {
        let words = given.get(2).map_or(512, |words| words.parse().unwrap());
        return criteria(&folder, words);
    }
    let bench = bench(&folder, given.get(1).map_or("ort", String::as_str));
    let texts = workload(&bench);
    let tokens: usize = texts.iter().map(|text| text.ids.len()).sum();
    println!("{TEXTS} texts, {tokens} tokens, {} workers", bench.cores);
    leaving(&bench);
    for turn in 0..2 {
        let bound = bound(&bench, &texts);
        println!("turn {turn}: bound {:.0} tokens/s", tokens as f64 / bound);
        for budget in [256, 512, 1_024] {
            let queue =
                Queue::start((bench.forward)(), (bench.sessions)(), limits(budget)).unwrap();
            let taken = timed(|| judged(&queue, texts.clone()));
            let share = 100.0 * bound / taken;
            println!("  budget {budget}: {:.0} tokens/s, {share:.1} %", tokens as f64 / taken);
        }
        callers(&bench, &texts, bound);
    }
}

/// Eight criteria of one text, and of eight texts as long that share nothing.
fn criteria(folder: &Path, words: usize) {
    let cores = std::thread::available_parallelism().unwrap();
    for (workers, threads) in [(1, Some(cores)), (0, None)] {
        let libraries = vec![assets()];
        let discovery = OrtDiscovery { libraries, cores: cores.get(), ..OrtDiscovery::default() };
        let run = RunSettings { workers, threads, ..RunSettings::default() };
        let model = Models::new(discovery).load(folder, &run).unwrap();
        let judged = |views: Vec<View>| {
            let mut tokens = 0;
            let seconds = timed(|| {
                let started: Vec<_> = views.iter().map(|view| model.start(view)).collect();
                tokens = started.into_iter().map(|one| block_on(one).unwrap().tokens).sum();
            });
            (seconds, tokens)
        };
        let (apart, tokens) = judged((0..8).map(|at| view(at, words, at)).collect());
        let (shared, _) = judged((0..8).map(|at| view(8, words, at)).collect());
        println!(
            "{} threads a worker, {tokens} tokens: {apart:.2} s of texts apart, {shared:.2} s of one text, {:.2} x",
            threads.map_or(1, usize::from),
            apart / shared
        );
    }
}

fn view(text: usize, words: usize, criterion: usize) -> View {
    let said = (0..words).map(|at| ["sum", "half", "two", "so", "five"][(at * 7 + text) % 5]);
    View {
        messages: vec![Message::new("user", format!("{text}: what is 2 + 3?"))],
        completion: said.collect::<Vec<_>>().join(" "),
        question: format!(
            "Does the answer meet demand {criterion}, that it is clear and complete?"
        ),
        ..View::default()
    }
}

fn assets() -> LibraryPath {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../target/assets/onnxruntime");
    LibraryPath { origin: "assets", path, demanded: true }
}

fn bench(folder: &Path, backend: &str) -> Bench {
    let manifest = Manifest::read(folder).unwrap();
    let graph = manifest.graph(Role::Model).unwrap().clone();
    let path = folder.join(&graph.file);
    let info = GraphInfo::read(&path).unwrap();
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let backend: Box<dyn Backend> = if backend == "rten" {
        Box::new(Rten)
    } else {
        let (found, _) = library::find(&[assets()]);
        let found = found.unwrap();
        let settings =
            ProviderSettings { providers: vec![Provider::Cpu], ..ProviderSettings::default() };
        Box::new(Ort::new(found.environment, found.version, settings))
    };
    println!("{} on {}", manifest.name, backend.identity());
    let tokenizer = std::fs::read(folder.join(&manifest.tokenizer.file)).unwrap();
    let vocabulary = Encoder::new(&tokenizer, &manifest.tokenizer).unwrap().vocabulary();
    let identity = backend.identity();
    let file = GraphFile::new(path, 1, &info);
    Bench {
        forward: Box::new(move || Forward::new(&manifest, &graph, &info, &identity)),
        sessions: Box::new(move || backend.load(&file, cores).unwrap()),
        vocabulary: u32::try_from(vocabulary).unwrap(),
        cores,
    }
}

fn text(length: usize, seed: usize, vocabulary: u32) -> Arc<Tokens> {
    let id = |at: usize| u32::try_from(at * 7_919 + seed * 104_729).unwrap() % vocabulary;
    Arc::new(Tokens {
        ids: (0..length).map(id).collect(),
        positions: vec![length - 1],
        ..Tokens::default()
    })
}

fn limits(batch_tokens: usize) -> QueueLimits {
    // Texts that come again are computed again.
    QueueLimits {
        batch_tokens,
        prefix_bytes: 0,
        memo_bytes: 0,
        compatibility: Compatibility::default(),
    }
}

/// Waits for all of the texts.
fn judged(queue: &Queue, texts: Vec<Arc<Tokens>>) {
    for ticket in queue.submit(texts) {
        block_on(ticket).unwrap();
    }
}

fn workload(bench: &Bench) -> Vec<Arc<Tokens>> {
    let length = |at: usize| {
        // A permutation, so that lengths come in no order.
        let share = (at * 89 % TEXTS) as f64 / (TEXTS - 1) as f64;
        (16.0 * 32.0_f64.powf(share)).round()
    };
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "16 to 512")]
    let one = |at| text(length(at) as usize, at, bench.vocabulary);
    (0..TEXTS).map(one).collect()
}

fn timed(run: impl FnOnce()) -> f64 {
    let start = Instant::now();
    run();
    start.elapsed().as_secs_f64()
}

/// Seconds that the texts take where each runs in batches of its own length.
fn bound(bench: &Bench, texts: &[Arc<Tokens>]) -> f64 {
    let forward = (bench.forward)();
    let mut sessions = (bench.sessions)();
    let mut costs = Vec::new();
    for length in LENGTHS {
        let mut least = f64::INFINITY;
        for size in SIZES.into_iter().filter(|size| size * length <= 2_048) {
            let batch: Vec<Arc<Tokens>> =
                (0..size).map(|at| text(length, at, bench.vocabulary)).collect();
            let batch: Vec<&Tokens> = batch.iter().map(|text| &**text).collect();
            let runs = (2_048 / (size * length)).clamp(2, 24);
            let mut once = || {
                std::thread::scope(|scope| {
                    for session in &mut sessions {
                        let (forward, batch) = (&forward, &batch);
                        scope.spawn(move || {
                            for _ in 0..runs {
                                forward.run(&mut **session, batch, None).unwrap();
                            }
                        });
                    }
                });
            };
            let best = (0..3).map(|_| timed(&mut once)).fold(f64::INFINITY, f64::min);
            least = least.min(best / (runs * size * length * bench.cores) as f64);
        }
        costs.push((length, least));
    }
    let seconds = |text: &Arc<Tokens>| {
        let length = text.ids.len();
        let above = costs.iter().position(|(at, _)| *at >= length).unwrap_or(costs.len() - 1);
        let (high, cost) = costs[above];
        let (low, before) = costs[above.saturating_sub(1)];
        let share = if high > low { (length - low) as f64 / (high - low) as f64 } else { 1.0 };
        (before + (cost - before) * share) * length as f64
    };
    texts.iter().map(seconds).sum()
}

/// A caller leaves while its longest texts run: how soon the next caller has its own short text.
fn leaving(bench: &Bench) {
    let queue = Queue::start((bench.forward)(), (bench.sessions)(), limits(512)).unwrap();
    let short = || judged(&queue, vec![text(16, 0, bench.vocabulary)]);
    short();
    let alone = timed(short);
    let waits = (0..20).map(|at| {
        let long = (0..8).map(|nth| text(512, at * 8 + nth, bench.vocabulary)).collect();
        let tickets = queue.submit(long);
        std::thread::sleep(Duration::from_millis(40 + 7 * at as u64));
        timed(|| {
            drop(tickets);
            short();
        })
    });
    let longest = waits.fold(alone, f64::max) - alone;
    println!("a batch of 512 tokens whose caller left is stopped in {:.1} ms", 1e3 * longest);
}

/// 64 callers of one text each.
fn callers(bench: &Bench, texts: &[Arc<Tokens>], bound: f64) {
    let queue = Queue::start((bench.forward)(), (bench.sessions)(), limits(512)).unwrap();
    let next = AtomicUsize::new(0);
    let taken = timed(|| {
        std::thread::scope(|scope| {
            for _ in 0..64 {
                scope.spawn(|| {
                    while let Some(text) = texts.get(next.fetch_add(1, Ordering::Relaxed)) {
                        judged(&queue, vec![Arc::clone(text)]);
                    }
                });
            }
        });
    });
    println!("  64 callers of one: {:.1} % of the bound", 100.0 * bound / taken);
}
