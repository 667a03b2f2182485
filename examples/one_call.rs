//! One sample a call, as a trainer may ask: the median time of `Engine::score`.
//!
//! `cargo run --release --example one_call -- CONFIG DATA`

use std::error::Error;
use std::path::PathBuf;

use assay::Engine;
use assay::data::{ReadLimits, Source};
use assay::setup::Monotonic;

fn main() -> Result<(), Box<dyn Error>> {
    let paths: Vec<PathBuf> = std::env::args_os().skip(1).map(PathBuf::from).collect();
    let [config, data] = paths.as_slice() else {
        return Err("usage: one_call CONFIG DATA".into());
    };
    let engine = Engine::open(config)?;
    let mut microseconds = Vec::new();
    for block in Source::open(std::slice::from_ref(data), &ReadLimits::default())? {
        for row in block?.rows(&engine.plan().config.data) {
            let (sample, clock) = (row.sample?, Monotonic::start());
            engine.score([sample]);
            microseconds.push(clock.seconds() * 1e6);
        }
    }
    microseconds.sort_by(f64::total_cmp);
    let median = microseconds.get(microseconds.len() / 2).ok_or("no rows")?;
    #[expect(clippy::print_stdout, reason = "this is what it is for")]
    {
        println!("{median:.1}");
    }
    Ok(())
}
