//! The command line: one file a verb. Data go to stdout, everything else to stderr.

mod check;
mod exit;
mod explain;
mod output;
mod progress;
mod score;
mod setup;
mod text;
mod verdict;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

use exit::Exit;

/// Turns model outputs into rewards that can be trusted.
#[derive(Debug, Parser)]
#[command(name = "assay", version, max_term_width = 100)]
struct Cli {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Debug, Subcommand)]
enum Verb {
    /// Score a dataset into a run folder; goes on by itself where an earlier session stopped
    Score(score::Args),
    /// Show how one row came by its reward
    Explain(explain::Args),
    /// Judge one completion with one verifier
    Check(check::Args),
}

/// Runs the command that the process was started with.
pub(crate) fn main() -> ExitCode {
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => {
            // A pipe that was closed early is no reason to say more.
            let _ = error.print();
            return if error.use_stderr() { Exit::Usage.into() } else { Exit::Ok.into() };
        }
    };
    let exit = match cli.verb {
        Verb::Score(args) => score::run(&args),
        Verb::Explain(args) => explain::run(&args),
        Verb::Check(args) => check::run(&args),
    };
    match exit {
        Ok(exit) => exit.into(),
        Err(failure) => failure.report().into(),
    }
}
