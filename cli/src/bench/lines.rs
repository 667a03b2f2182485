//! The lines of the input, in memory: what the yardstick parses.

use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};

use assay::data::{ReadLimits, Source};
use flate2::read::MultiGzDecoder;

use crate::exit::Failure;

/// The most bytes that are held.
const BYTES_MAX: usize = 1 << 30;

pub(super) struct Lines {
    pub(super) bytes: Vec<u8>,
}

impl Lines {
    /// The first lines of the input; `None` where it is Parquet or standard input.
    pub(super) fn read(
        data: &[PathBuf],
        limit: u64,
        limits: &ReadLimits,
    ) -> Result<Option<Self>, Failure> {
        let source = Source::open(data, limits)?;
        let mut bytes = Vec::new();
        let mut left = limit;
        for path in source.paths() {
            let Some(mut lines) = path.and_then(open) else { return Ok(None) };
            while left > 0 && bytes.len() < BYTES_MAX {
                let start = bytes.len();
                if lines.read_until(b'\n', &mut bytes)? == 0 {
                    break;
                }
                if bytes.last() != Some(&b'\n') {
                    bytes.push(b'\n');
                }
                let blank = bytes.split_at(start).1.trim_ascii().is_empty();
                left -= u64::from(!blank);
            }
        }
        Ok(Some(Self { bytes }))
    }

    /// Each line.
    pub(super) fn iter(&self) -> impl Iterator<Item = &[u8]> {
        self.bytes.split(|byte| *byte == b'\n').filter(|line| !line.trim_ascii().is_empty())
    }
}

/// The bytes of a text file, unpacked; `None` for other files.
fn open(path: &Path) -> Option<Box<dyn BufRead>> {
    let mut file = BufReader::with_capacity(1 << 18, File::open(path).ok()?);
    let head = file.fill_buf().ok()?;
    let unpacked: Box<dyn Read> = if head.starts_with(b"PAR1") {
        return None;
    } else if head.starts_with(&[0x1f, 0x8b]) {
        Box::new(MultiGzDecoder::new(file))
    } else if head.starts_with(&[0x28, 0xb5, 0x2f, 0xfd]) {
        Box::new(zstd::Decoder::with_buffer(file).ok()?)
    } else {
        return Some(Box::new(file));
    };
    Some(Box::new(BufReader::with_capacity(1 << 18, unpacked)))
}
