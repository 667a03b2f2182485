//! The flags of `assay train`.

use std::path::PathBuf;

use clap::Args as ClapArgs;

use super::super::setup::{ConfigArgs, EngineArgs};

/// Train a policy by GRPO on the rewards of a configuration.
#[derive(Debug, ClapArgs)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of the command line")]
pub(crate) struct Args {
    #[command(flatten)]
    pub(super) config: ConfigArgs,
    /// The run folder
    #[arg(short, long, value_name = "RUN", value_parser = crate::run_files::folder_out)]
    pub(super) output: PathBuf,
    #[command(flatten)]
    pub(super) engine: EngineArgs,
    /// Start over, whatever the folder holds of an earlier training
    #[arg(long, conflicts_with = "resume")]
    pub(super) fresh: bool,
    /// Fail where the folder holds no training to go on with
    #[arg(long)]
    pub(super) resume: bool,
    /// From which everything random is drawn (`train.seed`)
    #[arg(long, value_name = "N")]
    pub(super) seed: Option<u64>,
    /// Steps to make, those of earlier sessions included (`train.steps`)
    #[arg(long, value_name = "N")]
    pub(super) steps: Option<u64>,
    /// Threads of the policy; by default one a core (`train.threads`)
    #[arg(long, value_name = "N")]
    pub(super) threads: Option<usize>,
    /// Warn of completions that this audit found to be paid (`train.monitor.attacks`)
    #[arg(long, value_name = "AUDIT")]
    pub(super) audit: Option<PathBuf>,
    /// Plain lines in place of the live view
    #[arg(long)]
    pub(super) plain: bool,
    /// Print the summary as JSON
    #[arg(long)]
    pub(super) json: bool,
    /// Tell nothing while it runs
    #[arg(short, long)]
    pub(super) quiet: bool,
}
