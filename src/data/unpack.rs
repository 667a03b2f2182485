//! What decompresses text. A build without the feature `compression` refuses it.

use std::io::{BufRead, Read};

use super::error::DataError;

/// The largest window that a zstd stream may ask for: what `zstd --ultra -22` writes.
#[cfg(feature = "compression")]
const ZSTD_WINDOW_LOG_MAX: u32 = 27;

/// The text of a gzip stream, of all its members.
#[cfg(feature = "compression")]
#[expect(clippy::unnecessary_wraps, reason = "a build without the feature has none")]
pub(super) fn gzip(
    packed: impl BufRead + Send + 'static,
    _: &str,
) -> Result<Box<dyn Read + Send>, DataError> {
    Ok(Box::new(flate2::bufread::MultiGzDecoder::new(packed)))
}

/// The bytes of a raw deflate stream.
#[cfg(feature = "compression")]
#[expect(clippy::unnecessary_wraps, reason = "a build without the feature has none")]
pub(super) fn deflate(
    packed: impl BufRead + Send + 'static,
    _: &str,
) -> Result<Box<dyn Read + Send>, DataError> {
    Ok(Box::new(flate2::bufread::DeflateDecoder::new(packed)))
}

/// The checksum of the files of an archive.
#[cfg(feature = "compression")]
pub(super) use flate2::Crc;

/// The text of a zstd stream.
#[cfg(feature = "compression")]
pub(super) fn zstd(
    packed: impl BufRead + Send + 'static,
    file: &str,
) -> Result<Box<dyn Read + Send>, DataError> {
    let read = |source| DataError::Read { file: file.to_owned(), source };
    let mut decoder = zstd::Decoder::with_buffer(packed).map_err(read)?;
    decoder.window_log_max(ZSTD_WINDOW_LOG_MAX).map_err(read)?;
    Ok(Box::new(decoder))
}

#[cfg(not(feature = "compression"))]
pub(super) fn gzip(
    _: impl BufRead + Send + 'static,
    file: &str,
) -> Result<Box<dyn Read + Send>, DataError> {
    Err(refused("gzip", file))
}

#[cfg(not(feature = "compression"))]
pub(super) fn deflate(
    _: impl BufRead + Send + 'static,
    file: &str,
) -> Result<Box<dyn Read + Send>, DataError> {
    Err(refused("deflate", file))
}

/// In place of the checksum: nothing is unpacked.
#[cfg(not(feature = "compression"))]
#[derive(Default)]
pub(super) struct Crc(());

#[cfg(not(feature = "compression"))]
impl Crc {
    #[expect(clippy::unused_self, reason = "as the checksum has it")]
    pub(super) fn update(&mut self, _: &[u8]) {}

    #[expect(clippy::unused_self, reason = "as the checksum has it")]
    pub(super) fn sum(&self) -> u32 {
        0
    }
}

#[cfg(not(feature = "compression"))]
pub(super) fn zstd(
    _: impl BufRead + Send + 'static,
    file: &str,
) -> Result<Box<dyn Read + Send>, DataError> {
    Err(refused("zstd", file))
}

#[cfg(not(feature = "compression"))]
fn refused(form: &str, file: &str) -> DataError {
    let what = format!("this build reads no {form}: built without the feature `compression`");
    DataError::Refused {
        file: file.to_owned(),
        code: assay_verifiers::code::Code::FeatureOff,
        what,
    }
}

#[cfg(all(test, not(feature = "compression")))]
mod tests {
    use std::io::empty;

    use super::*;

    #[test]
    fn the_feature_is_named() {
        for unpacked in [gzip(empty(), "a"), zstd(empty(), "a")] {
            let why = unpacked.err().map(|error| error.to_string()).unwrap_or_default();
            assert!(why.ends_with("built without the feature `compression`"), "{why}");
        }
    }
}
