//! Microseconds for a pair of texts, for `benches/peers/metrics.py`: `cargo bench -p assay-metrics --bench texts
//! -- PAIRS.jsonl`. A pair has a `response` and a `reference`. A line has a metric, the sum of its values, and
//! the time of a pair by one thread, by two, and where eight texts in a row have the same reference.

#![expect(clippy::disallowed_methods, reason = "a bench reads the clock")]
#![expect(clippy::print_stdout, reason = "a bench prints its figures")]
#![expect(
    clippy::indexing_slicing,
    clippy::unwrap_used,
    reason = "a bench stops at what it does not expect"
)]
#![expect(clippy::cast_precision_loss, reason = "counts of pairs are far below 2^53")]

use std::time::Instant;

use assay_metrics::bleu::{BleuReferences, BleuRules, Smoothing};
use assay_metrics::chrf::{ChrfReferences, ChrfRules};
use assay_metrics::rouge::{RougeKind, RougeReference};
use assay_metrics::tokens::WordSplit;

/// As the command has it.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// Each metric is timed so many times; the least time counts, as noise only ever adds.
const PASSES: usize = 51;
/// Texts in a row that have the same reference.
const SHARED: usize = 8;

/// A text, or several, and their reference.
type Group = (Vec<String>, String);

/// The sum of the values of a metric.
fn sum(name: &str, (texts, reference): &Group) -> f64 {
    let texts = texts.iter();
    let rouge = |kind| {
        let reference = RougeReference::new(reference, kind, name.ends_with("stem"));
        let pay = &mut |_| Ok::<_, ()>(());
        texts.clone().map(|text| reference.score(text, pay).unwrap().f1()).sum()
    };
    let chrf = |words| {
        let rules = ChrfRules { words, beta: 2.0, ignore_case: false };
        let reference = ChrfReferences::new(&[reference], &rules);
        texts.clone().map(|text| reference.score(text)).sum()
    };
    match name.trim_end_matches("-stem") {
        "rouge1" => rouge(RougeKind::Grams(1)),
        "rouge2" => rouge(RougeKind::Grams(2)),
        "rougeL" => rouge(RougeKind::Longest),
        "rougeLsum" => rouge(RougeKind::Lines),
        "chrf" => chrf(0),
        "chrf++" => chrf(2),
        _ => {
            let (tokens, smoothing) = (WordSplit::Mteval13a, Smoothing::Exponential);
            let rules = BleuRules { tokens, smoothing, ignore_case: false, effective_order: true };
            let reference = BleuReferences::new(&[reference], &rules);
            texts.clone().map(|text| reference.score(text).score).sum()
        }
    }
}

/// The time of a text in microseconds, by so many threads.
fn time(name: &str, groups: &[Group], threads: usize) -> f64 {
    let texts: usize = groups.iter().map(|(texts, _)| texts.len()).sum();
    let pass = |_| {
        let start = Instant::now();
        std::thread::scope(|scope| {
            for part in groups.chunks(groups.len().div_ceil(threads)) {
                scope.spawn(move || {
                    std::hint::black_box(part.iter().map(|group| sum(name, group)).sum::<f64>())
                });
            }
        });
        start.elapsed().as_secs_f64()
    };
    1e6 * (0..PASSES).map(pass).fold(f64::INFINITY, f64::min) / texts as f64
}

/// A text with so many eighths of its words moved from its start to its end.
fn rotated(text: &str, eighths: usize) -> String {
    let words: Vec<&str> = text.split(' ').collect();
    let (start, end) = words.split_at(words.len() * eighths / SHARED);
    [end, start].concat().join(" ")
}

fn main() {
    let path = std::env::args().skip(1).find(|arg| !arg.starts_with('-')).unwrap();
    let pairs: Vec<serde_json::Value> = std::fs::read_to_string(path)
        .unwrap()
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let member = |pair: &serde_json::Value, name| pair[name].as_str().unwrap().to_owned();
    let alone: Vec<Group> = pairs
        .iter()
        .map(|pair| (vec![member(pair, "response")], member(pair, "reference")))
        .collect();
    let shared: Vec<Group> = alone
        .iter()
        .map(|(texts, reference)| {
            ((0..SHARED).map(|at| rotated(&texts[0], at)).collect(), reference.clone())
        })
        .collect();
    for name in [
        "bleu",
        "chrf",
        "chrf++",
        "rouge1",
        "rouge2",
        "rougeL",
        "rougeLsum",
        "rouge1-stem",
        "rouge2-stem",
        "rougeL-stem",
        "rougeLsum-stem",
    ] {
        let total: f64 = alone.iter().map(|group| sum(name, group)).sum();
        let times = [time(name, &alone, 1), time(name, &alone, 2), time(name, &shared, 1)];
        println!("{name} {total} {} {} {}", times[0], times[1], times[2]);
    }
}
