//! `assay precompile`: guests of the sandbox, compiled ahead.

use std::path::PathBuf;

use assay::sandbox::pack;
use assay::sandbox::runtime::precompile;
use assay::verifiers::code::Code;
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
    /// Write each guest and its compiled form into this folder, compressed: they are unpacked into the
    /// cache when they are first used
    #[arg(long, value_name = "DIR")]
    pack: Option<PathBuf>,
}

pub(super) fn run(args: &Args) -> Result<Exit, Failure> {
    for guest in &args.guests {
        let compiled = precompile(guest)
            .map_err(|error| Failure::outside(Code::UnreadableFile, error.to_string()))?;
        output::note(&inline(&compiled.display().to_string()));
        if let Some(folder) = &args.pack {
            pack(guest, folder)
                .map_err(|error| Failure::outside(Code::Unwritable, error.to_string()))?;
        }
    }
    Ok(Exit::Ok)
}
