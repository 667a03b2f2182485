//! What `when` costs: the time of a row of 250 rewards of which each has a `when`, beside the same plan
//! where one has, and the same without. `cargo bench --bench conditions [ROWS]`.

#![expect(clippy::disallowed_methods, reason = "a bench reads the clock")]
#![expect(clippy::print_stdout, reason = "a bench prints its figures")]
#![expect(clippy::unwrap_used, reason = "a bench stops at what it does not expect")]
#![expect(clippy::cast_precision_loss, reason = "counts of rows are far below 2^53")]

use std::fmt::Write as _;
use std::time::Instant;

use assay::engine::Document;
use assay::{Engine, Sample};

/// As the command has it.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

const REWARDS: usize = 250;

/// The expression of a reward, by its place.
type Form = fn(usize) -> String;

fn engine(when: impl Fn(usize) -> Option<String>) -> Engine {
    let mut text = String::from("version = 1\n");
    for at in 0..REWARDS {
        writeln!(text, "[[reward]]\nname = 'r{at}'\nverifier = 'exact'").unwrap();
        if let Some(when) = when(at) {
            writeln!(text, "when = {when:?}").unwrap();
        }
    }
    let document = Document::parse("bench.toml", &text).unwrap();
    Engine::builder().config(document).jobs(1).build().unwrap()
}

/// Rows of about 1 kB.
fn samples(rows: usize) -> Vec<Sample> {
    let row = |at: usize| {
        let sample = Sample::builder("the sum of both is twelve ".repeat(40)).prompt("What is it?");
        let sample = sample.id(format!("s{at}")).reference("12");
        let meta = serde_json::json!({ "source": "bench", "level": at % 7 });
        sample.meta(meta.as_object().unwrap().clone()).build()
    };
    (0..rows).map(row).collect()
}

/// Microseconds for one row: the best of five runs, as noise only ever adds.
fn best(engine: &Engine, samples: &[Sample]) -> f64 {
    let time = |()| {
        let samples = samples.to_vec();
        let start = Instant::now();
        assert!(!engine.score(samples).is_empty());
        start.elapsed().as_secs_f64()
    };
    let seconds = [(); 5].map(time).into_iter().fold(f64::INFINITY, f64::min);
    seconds * 1e6 / samples.len() as f64
}

fn main() {
    let rows = std::env::args().find_map(|arg| arg.parse().ok()).unwrap_or(400);
    let samples = samples(rows);
    let without = best(&engine(|_| None), &samples);
    let forms: [(&str, Form); 5] = [
        ("the same column", |_| "meta.source == \"bench\"".to_owned()),
        ("a column, each another number", |at| format!("meta.level != {}", at + 100)),
        ("two columns, each another number", |at| {
            format!("meta.source == \"bench\" && meta.level < {}", at + 100)
        }),
        ("a call, each another number", |at| format!("completion.len() > {at}")),
        ("the reward before", |at| match at {
            0 => "true".to_owned(),
            _ => format!("rewards.r0 < {}.5", at + 1),
        }),
    ];
    println!("{REWARDS} rewards, none with `when`: {without:.1} us a row");
    for (name, form) in forms {
        let one = best(&engine(|at| (at == 1).then(|| form(at))), &samples);
        let all = best(&engine(|at| Some(form(at))), &samples);
        println!("{name:<34} one {one:>7.1} us, {REWARDS} {all:>7.1} us: {:.2} x", all / one);
    }
}
