//! The files of `assay eval`, one by one: each of them must have rows.

use std::path::{Path, PathBuf};

use assay::data::{Block, DataError, ReadLimits, Source};

use crate::exit::Failure;
use crate::output;

/// Whether more is wanted.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Next {
    Read,
    Stop,
}

/// Hands each block of each file to `take`, until it wants no more. A file without rows is an error,
/// and files that were not read are named.
pub(super) fn each_block(
    files: &[PathBuf],
    limits: &ReadLimits,
    mut take: impl FnMut(&Block) -> Result<Next, Failure>,
) -> Result<(), Failure> {
    let files: Vec<PathBuf> = Source::open(files, limits)?.names().map(Path::to_owned).collect();
    let mut left = files.iter();
    for file in left.by_ref() {
        let mut has_rows = false;
        for block in Source::open(std::slice::from_ref(file), limits)? {
            has_rows = true;
            if take(&block?)? == Next::Stop {
                say_unread(left.as_slice());
                return Ok(());
            }
        }
        if !has_rows {
            return Err(DataError::NoRows { files: vec![file.display().to_string()] }.into());
        }
    }
    Ok(())
}

fn say_unread(files: &[PathBuf]) {
    if let Some(first) = files.first() {
        let (first, count) = (first.display(), files.len());
        output::note(&format!("--limit was reached: {count} files were not read, from {first} on"));
    }
}
