//! `assay precompile`: guests of the sandbox, compiled ahead.

use std::path::PathBuf;

use assay::sandbox::runtime::precompile;
use clap::Args as ClapArgs;

use super::exit::{Exit, Failure};
use super::output;
use super::text::inline;

/// Compile the guests of the sandbox ahead, so that the first program starts at once. `make assets` and
/// the wheel did so already; an image whose guests lie elsewhere can.
#[derive(Debug, ClapArgs)]
pub(super) struct Args {
    /// The guests, such as share/assay/python.wasm: the compiled form is written beside each
    #[arg(required = true)]
    guests: Vec<PathBuf>,
}

pub(super) fn run(args: &Args) -> Result<Exit, Failure> {
    for guest in &args.guests {
        let compiled = precompile(guest).map_err(anyhow::Error::from)?;
        output::note(&inline(&compiled.display().to_string()));
    }
    Ok(Exit::Ok)
}
