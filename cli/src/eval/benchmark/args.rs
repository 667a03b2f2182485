//! What the benchmarks of reward models are asked.

use std::path::PathBuf;

use clap::{Args as ClapArgs, ValueEnum};

/// The published protocols for reward models.
#[derive(Debug, ClapArgs)]
pub(in crate::eval) struct Args {
    /// The folder of the model
    pub(super) model: PathBuf,
    /// The files as their authors publish them: JSON lines, JSON, Parquet, folders
    #[arg(required = true)]
    pub(super) data: Vec<PathBuf>,
    /// A column that is called otherwise, as in `--column problem=prompt`
    #[arg(long = "column", value_name = "NAME=COLUMN")]
    pub(super) columns: Vec<String>,
    /// A step with a score below this is wrong
    #[arg(long, default_value_t = 0.5)]
    pub(super) threshold: f64,
    /// Stop after so many rows
    #[arg(long, value_name = "N")]
    pub(super) limit: Option<usize>,
    /// What runs the model
    #[arg(long, value_enum, default_value_t = Backend::Auto)]
    pub(super) backend: Backend,
    /// Print JSON
    #[arg(long)]
    pub(super) json: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum Backend {
    Auto,
    Ort,
    Rten,
}
