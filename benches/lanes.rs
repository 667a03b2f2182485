//! Two lanes side by side: the rate of a run with a check and an awaited verifier of 1 ms (8 in
//! flight), beside the rate of the slower of them alone. `cargo bench --bench lanes [ROWS]`.

#![expect(clippy::disallowed_methods, reason = "a bench reads the clock")]
#![expect(clippy::print_stdout, reason = "a bench prints its figures")]
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a bench stops at what it does not expect"
)]
#![expect(clippy::cast_precision_loss, reason = "counts of rows are far below 2^53")]

#[allow(dead_code, reason = "the tests use all of it")]
#[path = "../tests/it/support.rs"]
mod support;

use std::io::Cursor;
use std::sync::Arc;
use std::time::Instant;

use assay::data::{ReadLimits, Source};
use support::{engine, lines, registry, rows};

/// Rows a second of a configuration with these verifiers.
fn rate(verifiers: &[&str], data: &str, count: usize) -> f64 {
    let reward = |id: &&str| format!("[[reward]]\nname = '{id}'\nverifier = '{id}'\n");
    let text: String = verifiers.iter().map(reward).collect();
    let engine = engine(&text, registry(&Arc::default()), 2);
    let source =
        Source::stream("bench", Cursor::new(data.to_owned()), &ReadLimits::default()).unwrap();
    let start = Instant::now();
    assert!(!lines(&engine, source).is_empty(), "nothing was judged");
    count as f64 / start.elapsed().as_secs_f64()
}

fn main() {
    let count = std::env::args().find_map(|arg| arg.parse().ok()).unwrap_or(20_000);
    let data = rows(count, 1000);
    let mut slowest = f64::INFINITY;
    for lane in ["busy", "awaited"] {
        let alone = rate(&[lane], &data, count);
        println!("{lane:<8} alone {alone:>10.0} rows/s");
        slowest = slowest.min(alone);
    }
    let mixed = rate(&["busy", "awaited"], &data, count);
    println!(
        "both           {mixed:>10.0} rows/s, {:.1} % of the slower alone",
        100.0 * mixed / slowest
    );
    println!("limit of the awaited lane: 8 in flight of 1 ms each, 8,000 rows/s");
}
