//! Rows a second: the engine alone, and from JSON lines to a run folder, beside plain parsing of the
//! same bytes in the same run. `cargo bench --bench throughput [ROWS]`.

#![expect(clippy::disallowed_methods, reason = "a bench reads the clock")]
#![expect(clippy::print_stdout, reason = "a bench prints its figures")]
#![expect(clippy::unwrap_used, reason = "a bench stops at what it does not expect")]
#![expect(clippy::cast_precision_loss, reason = "counts of rows are far below 2^53")]

use std::io::{BufRead as _, BufReader, Write as _};
use std::path::Path;
use std::time::Instant;

use assay::data::{ReadLimits, Source};
use assay::engine::runs::{DiskStore, RunFolder, RunInputs};
use assay::engine::{BadRows, CancellationToken, Document, RunSession};
use assay::{Engine, Sample};

/// As the command has it.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

const CONFIG: &str = r#"
version = 1
[[reward]]
name = "correct"
verifier = "exact"
[[reward]]
name = "format"
verifier = "regex"
weight = 0.1
config = { pattern = '(?s)^<think>.*</think>\s*\S' }
[[reward]]
name = "length"
verifier = "length"
weight = 0.0
config = { unit = "characters", max = 4000 }
"#;

fn engine(jobs: usize) -> Engine {
    let document = Document::parse("bench.toml", CONFIG).unwrap();
    Engine::builder().config(document).jobs(jobs).build().unwrap()
}

/// A row of about 1 kB.
fn row(at: usize) -> String {
    let words = ["the", "sum", "of", "both", "numbers", "is", "therefore", "twelve", "and", "then"];
    let word = |i: usize| words.get((at * 31 + i * i) % words.len()).copied();
    let text: Vec<&str> = (0..150).filter_map(word).collect();
    format!(
        "{{\"id\":\"s{at}\",\"prompt\":\"What is the sum?\",\"completion\":\"<think>{}</think>\\n{}\",\
         \"reference\":\"{}\",\"source\":\"bench\"}}\n",
        text.join(" "),
        at % 100,
        (at * 7) % 100
    )
}

/// The best of three runs, in seconds: noise only ever adds.
fn best(mut run: impl FnMut()) -> f64 {
    let time = |()| {
        let start = Instant::now();
        run();
        start.elapsed().as_secs_f64()
    };
    [(), (), ()].map(time).into_iter().fold(f64::INFINITY, f64::min)
}

fn score(data: &Path, dir: &Path, engine: &Engine) {
    let mut session = RunSession {
        engine,
        folder: RunFolder::open(dir, 1).unwrap(),
        store: Box::new(DiskStore::new(dir).unwrap()),
        inputs: RunInputs::find(&[data.to_owned()], &ReadLimits::default()).unwrap(),
        bad_rows: BadRows::Stop,
        limit: None,
        shard: None,
        training: assay::TrainingState::default(),
        fresh: true,
        retry_faults: false,
    };
    let open = || Source::open(&[data.to_owned()], &ReadLimits::default());
    session.run(&open, &CancellationToken::new(), &mut |_, _| {}).unwrap();
}

fn main() {
    let rows = std::env::args().find_map(|arg| arg.parse().ok()).unwrap_or(200_000);
    let temp = tempfile::tempdir().unwrap();
    let data = temp.path().join("data.jsonl");
    let mut file = std::io::BufWriter::new(std::fs::File::create(&data).unwrap());
    for at in 0..rows {
        file.write_all(row(at).as_bytes()).unwrap();
    }
    file.into_inner().unwrap().sync_all().unwrap();
    let rate = |seconds: f64| rows as f64 / seconds;

    let parse = best(|| {
        let reader = BufReader::with_capacity(1 << 20, std::fs::File::open(&data).unwrap());
        for line in reader.split(b'\n') {
            let value: serde_json::Value = serde_json::from_slice(&line.unwrap()).unwrap();
            assert!(value.is_object());
        }
    });
    println!("read and parse with serde_json, 1 thread  {:>10.0} rows/s", rate(parse));

    let plan = engine(1);
    let samples: Vec<Sample> = Source::open(std::slice::from_ref(&data), &ReadLimits::default())
        .unwrap()
        .flat_map(|block| block.unwrap().rows(&plan.plan().config.data))
        .map(|row| row.sample.unwrap())
        .collect();
    let alone = (0..3)
        .map(|_| {
            let samples = samples.clone();
            let start = Instant::now();
            assert_eq!(plan.score(samples).len(), rows);
            start.elapsed().as_secs_f64()
        })
        .fold(f64::INFINITY, f64::min);
    println!("engine alone, 1 thread                    {:>10.0} rows/s", rate(alone));

    for jobs in [1, 2] {
        let engine = engine(jobs);
        let seconds = best(|| score(&data, &temp.path().join("run"), &engine));
        println!(
            "data to run folder, {jobs} thread(s)           {:>10.0} rows/s, {:.2} x the time of parsing",
            rate(seconds),
            seconds / parse
        );
    }
}
