//! The published protocols for reward models.

mod args;
mod preference;
mod steps;
mod task;

use assay::setup::Environment;

use crate::exit::{Exit, Failure};
pub(super) use args::Args;
use task::Task;

/// A protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Benchmark {
    Processbench,
    Rewardbench,
    Prmbench,
}

pub(super) fn run(
    benchmark: Benchmark,
    args: &Args,
    environment: &Environment,
) -> Result<Exit, Failure> {
    let task = |benchmark| Task { benchmark, args, environment };
    match benchmark {
        Benchmark::Processbench => steps::process_bench(&task("processbench")),
        Benchmark::Rewardbench => preference::reward_bench(&task("rewardbench")),
        Benchmark::Prmbench => steps::prm_bench(&task("prmbench")),
    }
}
