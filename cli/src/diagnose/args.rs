//! The arguments of `assay diagnose`.

use std::path::PathBuf;

use assay::trainer::diagnostics::Resampling;
use clap::Args as ClapArgs;

use crate::exit::Failure;

/// Tell whether the rewards of a run can be trusted.
#[derive(Debug, ClapArgs)]
pub(crate) struct Args {
    /// Run folders, files of verdict lines, or `-` for verdict lines on standard input; several are
    /// the points of one training run, in their order
    #[arg(required = true, value_name = "RUN")]
    pub(super) runs: Vec<PathBuf>,
    /// The run that each is compared with, such as that of the base model or of another judge
    #[arg(long, value_name = "RUN")]
    pub(super) against: Option<PathBuf>,
    /// The rows that were scored, of all runs: prompts, lengths, texts, labels. Each run takes the
    /// files that its manifest names
    #[arg(long, value_name = "DATA")]
    pub(super) with: Vec<PathBuf>,
    /// The reward that says whether a completion is correct; by default the combined reward
    #[arg(long, value_name = "NAME")]
    pub(super) correct: Option<String>,
    /// A reward above this is correct
    #[arg(long, value_name = "X", default_value_t = 0.0, allow_negative_numbers = true)]
    pub(super) above: f64,
    /// A reward that is trusted, which the others are held against
    #[arg(long, value_name = "NAME", conflicts_with = "label")]
    pub(super) trusted: Option<String>,
    /// A column of the data that says right or wrong, and is trusted; by default that of the
    /// configuration
    #[arg(long, value_name = "COLUMN", requires = "with")]
    pub(super) label: Option<String>,
    /// A column of the data by which the quality of decisions is counted, such as the difficulty
    #[arg(long, value_name = "COLUMN", requires = "with")]
    pub(super) stratum: Option<String>,
    /// A reward that is the probability of being correct
    #[arg(long, value_name = "NAME")]
    pub(super) probability: Option<String>,
    /// The reward whose extracted answers are counted; by default the first that extracts any
    #[arg(long, value_name = "NAME")]
    pub(super) answers: Option<String>,
    /// So many rows, one after another, share a prompt; by default the group of the row, else the prompt
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub(super) group_size: Option<u64>,
    /// The k of pass@k, as in 1,8,64; by default powers of two
    #[arg(long, value_name = "K", value_delimiter = ',')]
    pub(super) k: Vec<usize>,
    /// An answer is in the support of a model if its share of the samples is above this
    #[arg(long, value_name = "SHARE", default_value_t = 0.0)]
    pub(super) support_above: f64,
    /// Points of training over which slopes are taken; by default all of them, at most 200
    #[arg(long, value_name = "N")]
    pub(super) window: Option<usize>,
    /// How often prompts are drawn again for an interval
    #[arg(long, value_name = "N", default_value_t = 1000)]
    pub(super) resamples: usize,
    /// The probability of the intervals
    #[arg(long, value_name = "P", default_value_t = 0.95)]
    pub(super) level: f64,
    /// The seed of the draws
    #[arg(long, default_value_t = 0)]
    pub(super) seed: u64,
    /// Write everything to this file, and nothing beside the runs
    #[arg(short, long, value_name = "FILE", value_parser = crate::run_files::file_out)]
    pub(super) output: Option<PathBuf>,
    /// Write no file
    #[arg(long, conflicts_with = "output")]
    pub(super) no_write: bool,
    /// Print JSON
    #[arg(long)]
    pub(super) json: bool,
}

impl Args {
    /// Fails where values are out of range.
    pub(super) fn check(&self) -> Result<(), Failure> {
        if !(self.level > 0.0 && self.level < 1.0) {
            let level = self.level;
            return Err(Failure::usage(format!("--level {level}: expected above 0 and below 1")));
        }
        if self.k.contains(&0) {
            return Err(Failure::usage("--k 0: expected 1 or more"));
        }
        if self.window.is_some_and(|window| window < 2) {
            return Err(Failure::usage("--window: expected 2 or more"));
        }
        Ok(())
    }

    /// Whether files are written into the run folders.
    pub(super) fn writes_beside(&self) -> bool {
        self.output.is_none() && !self.no_write
    }

    /// How intervals are found.
    pub(super) fn resampling(&self) -> Resampling {
        Resampling { resamples: self.resamples, level: self.level, seed: self.seed }
    }
}
