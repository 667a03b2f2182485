//! A run folder that is only read.

use std::io::{BufReader, Read as _};
use std::path::{Path, PathBuf};

use assay::data::open_regular;
use assay::engine::runs::{CONFIG, RunManifest, VERDICTS, VerdictRows, verdict_rows};
use serde_json::Value;

use crate::exit::Failure;
use crate::run_files::{json, verdicts_manifest};

pub(super) struct Run {
    dir: PathBuf,
    pub(super) manifest: RunManifest,
    pub(super) config: Value,
}

impl Run {
    pub(super) fn open(dir: &Path) -> Result<Self, Failure> {
        let manifest = verdicts_manifest(dir)?;
        Ok(Self { dir: dir.to_owned(), manifest, config: json(dir, CONFIG)? })
    }

    pub(super) fn rows(&self) -> Result<VerdictRows, Failure> {
        Ok(verdict_rows(&self.dir)?)
    }
}

/// Whether both runs hold the same lines: read, not believed.
pub(super) fn same_bytes(a: &Run, b: &Run) -> Result<bool, Failure> {
    let (Ok(a), Ok(b)) = (open_regular(&a.dir.join(VERDICTS)), open_regular(&b.dir.join(VERDICTS)))
    else {
        return Ok(false);
    };
    if a.metadata()?.len() != b.metadata()?.len() {
        return Ok(false);
    }
    let (mut a, mut b) =
        (BufReader::with_capacity(1 << 20, a), BufReader::with_capacity(1 << 20, b));
    let (mut left, mut right) = (vec![0; 1 << 16], vec![0; 1 << 16]);
    loop {
        let read = a.read(&mut left)?;
        if read == 0 {
            return Ok(true);
        }
        let (left, right) = (left.get(..read), right.get_mut(..read));
        let Some(right) = right else { return Ok(false) };
        b.read_exact(right)?;
        if left != Some(&*right) {
            return Ok(false);
        }
    }
}
