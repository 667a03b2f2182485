//! `assay eval`: how good a reward model or a judge is.

#[cfg(feature = "models")]
mod benchmark;
#[cfg(any(feature = "models", feature = "rubrics"))]
mod files;
#[cfg(feature = "rubrics")]
mod judge;
#[cfg(feature = "models")]
mod rows;

use assay::setup::Environment;
use clap::{Args as ClapArgs, Subcommand};

use super::exit::{Exit, Failure};
#[cfg(feature = "models")]
use benchmark::Benchmark;

/// How good a reward model or a judge is.
#[derive(Debug, ClapArgs)]
pub(super) struct Args {
    #[command(subcommand)]
    measure: Measure,
}

#[derive(Debug, Subcommand)]
enum Measure {
    /// The first wrong step; F1 by subset. Columns: problem, steps, label (-1: none)
    #[cfg(feature = "models")]
    Processbench(benchmark::Args),
    /// The best of several completions, and ties. Columns: prompt, chosen, rejected, subset, id
    #[cfg(feature = "models")]
    Rewardbench(benchmark::Args),
    /// Valid and invalid steps. Columns: question, process, `error_steps` (from 1), classification
    #[cfg(feature = "models")]
    Prmbench(benchmark::Args),
    /// How far a judge agrees with the labels of people, and with itself
    #[cfg(feature = "rubrics")]
    Judge(Box<judge::Args>),
}

pub(super) fn run(args: &Args, environment: &Environment) -> Result<Exit, Failure> {
    match &args.measure {
        #[cfg(feature = "models")]
        Measure::Processbench(args) => benchmark::run(Benchmark::Processbench, args, environment),
        #[cfg(feature = "models")]
        Measure::Rewardbench(args) => benchmark::run(Benchmark::Rewardbench, args, environment),
        #[cfg(feature = "models")]
        Measure::Prmbench(args) => benchmark::run(Benchmark::Prmbench, args, environment),
        #[cfg(feature = "rubrics")]
        Measure::Judge(args) => judge::run(args, environment),
    }
}
