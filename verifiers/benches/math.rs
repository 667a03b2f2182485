//! The `math` check on labelled answers: how many it judges as the label does, and what a pair
//! costs on one thread, extraction included.
//! `cargo bench -p assay-verifiers --bench math [ROWS.jsonl[.gz] ...]`, with absolute paths.
//!
//! Each pair is judged a few times and its best time counts: noise only ever adds.

#![expect(clippy::disallowed_methods, reason = "a bench reads the clock")]
#![expect(clippy::print_stdout, reason = "a bench prints its figures")]
#![expect(clippy::unwrap_used, clippy::panic, reason = "a bench stops at what it does not expect")]
#![expect(clippy::cast_precision_loss, reason = "counts are far below 2^53")]

use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::time::Instant;

use assay_verifiers::{Earlier, Lane, Meter, NoFiles, Outcome, Reward, Sample, Verifier, registry};
use serde_json::{Value, json};

const ROUNDS: usize = 5;

fn main() {
    let mut paths: Vec<PathBuf> =
        std::env::args().skip(1).filter(|a| !a.starts_with('-')).map(PathBuf::from).collect();
    if paths.is_empty() {
        paths.push(
            Path::new(env!("CARGO_MANIFEST_DIR"))
                .join("../fixtures/datasets/gsm8k-openai.jsonl.gz"),
        );
    }
    let entry = registry::find("math").unwrap();
    let Lane::Compute(check) = (entry.build)(json!({}), &NoFiles).unwrap().lane else { panic!() };
    println!(
        "{:24}{:>7}{:>8}{:>8}{:>8}{:>7}{:>10}{:>10}{:>10}{:>12}",
        "rows",
        "pairs",
        "agree",
        "found",
        "false+",
        "faults",
        "p50 us",
        "p99 us",
        "max us",
        "a second"
    );
    for path in &paths {
        let rows = rows(path);
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        Tally::of(&*check, &rows).tell(name.trim_end_matches(".gz").trim_end_matches(".jsonl"));
    }
}

/// The labelled rows of a file.
fn rows(path: &Path) -> Vec<(String, Sample, bool)> {
    let bytes = std::fs::read(path).unwrap();
    let mut text = String::new();
    if path.extension().is_some_and(|end| end == "gz") {
        flate2::read::MultiGzDecoder::new(&*bytes).read_to_string(&mut text).unwrap();
    } else {
        text = String::from_utf8(bytes).unwrap();
    }
    text.lines().filter_map(|line| row(&serde_json::from_str(line).unwrap())).collect()
}

fn row(row: &Value) -> Option<(String, Sample, bool)> {
    let label = row.get("label").and_then(Value::as_bool)?;
    let text = |key: &str| row.get(key).and_then(Value::as_str);
    let completion = text("completion").or_else(|| text("response")).unwrap();
    let sample = Sample::builder(completion)
        .prompt(text("prompt").unwrap_or_default())
        .reference(row.get("reference").unwrap().clone())
        .build();
    Some((text("id").unwrap_or_default().to_owned(), sample, label))
}

/// What came of the pairs of one file.
#[derive(Default)]
struct Tally {
    right: usize,
    agree: usize,
    found: usize,
    false_accepts: usize,
    faults: usize,
    /// Microseconds, units of fuel and the id of each pair.
    costs: Vec<(f64, u64, String)>,
}

impl Tally {
    fn of(check: &dyn Verifier, rows: &[(String, Sample, bool)]) -> Self {
        let mut tally = Self::default();
        for (id, sample, label) in rows {
            let mut best = f64::INFINITY;
            let mut judged = None;
            let mut spent = 0;
            for _ in 0..ROUNDS {
                let mut meter = Meter::default();
                let start = Instant::now();
                let verdict = check.verify(sample, Earlier::default(), &mut meter);
                best = best.min(start.elapsed().as_secs_f64() * 1e6);
                spent = meter.spent();
                judged = Some(verdict.outcome);
            }
            let accepted = judged.as_ref().and_then(Outcome::reward) == Some(Reward::ONE);
            tally.right += usize::from(*label);
            tally.agree += usize::from(accepted == *label);
            tally.found += usize::from(accepted && *label);
            tally.false_accepts += usize::from(accepted && !*label);
            tally.faults += usize::from(matches!(judged, Some(Outcome::Failed(_))));
            tally.costs.push((best, spent, id.clone()));
        }
        tally
    }

    fn tell(mut self, name: &str) {
        self.costs.sort_by(|a, b| a.0.total_cmp(&b.0));
        let total: f64 = self.costs.iter().map(|(time, ..)| time).sum();
        let pairs = self.costs.len();
        let at = |share: usize| {
            self.costs.get((pairs - 1) * share / 100).map_or(f64::NAN, |cost| cost.0)
        };
        println!(
            "{name:24}{pairs:7}{:7.2}%{:7.2}%{:8}{:7}{:10.2}{:10.1}{:10.1}{:12.0}",
            100.0 * self.agree as f64 / pairs as f64,
            100.0 * self.found as f64 / self.right.max(1) as f64,
            self.false_accepts,
            self.faults,
            at(50),
            at(99),
            at(100),
            pairs as f64 / total * 1e6,
        );
        if std::env::var_os("ASSAY_BENCH_SLOWEST").is_some() {
            for (time, spent, id) in self.costs.iter().rev().take(25) {
                println!("  {time:10.1} us {spent:10} units  {id}");
            }
        }
    }
}
