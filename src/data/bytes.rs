//! The bytes of a text file: as they lie, or decompressed under a guard against bombs.

use std::io::{self, BufReader, Cursor, Read};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use assay_verifiers::code::Code;

use super::error::DataError;
use super::kinds::wide;
use super::limits::ReadLimits;
use super::unpack;

/// The first bytes of a Parquet file.
pub(super) const PARQUET_MAGIC: &[u8] = b"PAR1";

const GZIP_MAGIC: &[u8] = &[0x1f, 0x8b];
const ZSTD_MAGIC: &[u8] = &[0x28, 0xb5, 0x2f, 0xfd];

/// How many bytes tell what a stream holds.
const HEAD_BYTES: usize = 4;

/// How much is decompressed in one go: a decoder that meets damage keeps what it had so far of it.
const STEP_BYTES: usize = 4 << 10;

/// How much a decoder gets at once.
const PACKED_BYTES: usize = 64 << 10;

/// A stream of bytes.
pub(super) struct Bytes {
    stream: Box<dyn Read + Send>,
    form: Form,
    /// How many bytes went into the decoder.
    packed: Arc<AtomicU64>,
    /// How many came out.
    out: u64,
    /// What stopped the last read, which first gave what came before.
    failure: Option<io::Error>,
    limits: ReadLimits,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Form {
    Plain,
    Gzip,
    Zstd,
}

impl Form {
    fn name(self) -> &'static str {
        match self {
            Self::Plain => "text",
            Self::Gzip => "gzip",
            Self::Zstd => "zstd",
        }
    }
}

impl Bytes {
    /// Finds out from the first bytes what a stream holds; what its name says
    /// counts only where they are no text.
    pub(super) fn open(
        mut raw: Box<dyn Read + Send>,
        file: &str,
        limits: &ReadLimits,
    ) -> Result<Self, DataError> {
        let read = |source: io::Error| match source.downcast::<DataError>() {
            Ok(error) => error,
            Err(source) => DataError::Read { file: file.to_owned(), source },
        };
        let mut head = Vec::with_capacity(HEAD_BYTES);
        raw.by_ref().take(HEAD_BYTES as u64).read_to_end(&mut head).map_err(read)?;
        let form = form(&head, file)?;
        let packed = Arc::new(AtomicU64::new(0));
        let whole = Cursor::new(head).chain(raw);
        let counted = Counted { raw: whole, count: Arc::clone(&packed) };
        let full = |raw| BufReader::with_capacity(PACKED_BYTES, Full(raw));
        let stream: Box<dyn Read + Send> = match form {
            Form::Plain => Box::new(counted),
            Form::Gzip => unpack::gzip(full(counted), file)?,
            Form::Zstd => unpack::zstd(full(counted), file)?,
        };
        Ok(Self { stream, form, packed, out: 0, failure: None, limits: *limits })
    }

    /// Reads on. `rows` were read before: a message says so.
    pub(super) fn read(
        &mut self,
        buffer: &mut [u8],
        file: &str,
        rows: u64,
    ) -> Result<usize, DataError> {
        if let Some(error) = self.failure.take() {
            return Err(self.failed(error, file, rows));
        }
        let mut filled = 0;
        let step = if self.form == Form::Plain { buffer.len() } else { STEP_BYTES };
        for part in buffer.chunks_mut(step.max(1)) {
            match self.fill(part) {
                Ok(count) => {
                    filled += count;
                    if count < part.len() {
                        break;
                    }
                }
                Err(error) if filled > 0 => {
                    self.failure = Some(error);
                    break;
                }
                Err(error) => return Err(self.failed(error, file, rows)),
            }
        }
        self.out += filled as u64;
        self.guard(file)?;
        Ok(filled)
    }

    /// Reads what is there; of a compressed stream, as much as fits.
    fn fill(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let mut filled = 0;
        while let Some(rest) = buffer.get_mut(filled..).filter(|rest| !rest.is_empty()) {
            match self.stream.read(rest) {
                Ok(0) => break,
                Ok(count) => filled += count,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) if filled == 0 => return Err(error),
                Err(error) => {
                    self.failure = Some(error);
                    break;
                }
            }
            // The first few bytes come by themselves, because they were looked at.
            if self.form == Form::Plain && filled > HEAD_BYTES {
                break;
            }
        }
        Ok(filled)
    }

    fn guard(&self, file: &str) -> Result<(), DataError> {
        let packed = self.packed.load(Ordering::Relaxed).max(1);
        let ReadLimits { inflate_ratio_max, inflate_free_bytes, .. } = self.limits;
        let most = packed.saturating_mul(inflate_ratio_max).max(inflate_free_bytes);
        if self.form == Form::Plain || self.out <= most {
            return Ok(());
        }
        let (form, out) = (self.form.name(), self.out);
        let what = format!(
            "{form} bomb: {out} bytes came out of {packed}; at most {inflate_ratio_max} may come out of each"
        );
        Err(DataError::Refused { file: file.to_owned(), code: Code::Limit, what })
    }

    fn failed(&self, source: io::Error, file: &str, rows: u64) -> DataError {
        // What an archive reports is an error already.
        let source = match source.downcast::<DataError>() {
            Ok(error) => return error,
            Err(source) => source,
        };
        let file = file.to_owned();
        // What the operating system reports has a code; what a decoder reports has none.
        if self.form == Form::Plain || source.raw_os_error().is_some() {
            return DataError::Read { file, source };
        }
        DataError::Damaged { file, form: self.form.name(), rows, why: source.to_string() }
    }
}

fn form(head: &[u8], file: &str) -> Result<Form, DataError> {
    if head.starts_with(GZIP_MAGIC) {
        return Ok(Form::Gzip);
    }
    if head.starts_with(ZSTD_MAGIC) {
        return Ok(Form::Zstd);
    }
    let refused = |what: &str| DataError::unread(file, what);
    if head == PARQUET_MAGIC {
        return Err(refused("Parquet cannot be read from a stream; save it to a file first"));
    }
    if let Some(what) = wide(head) {
        return Err(refused(what));
    }
    let damaged = |form| {
        let why = "the first bytes are not those of its format".to_owned();
        Err(DataError::Damaged { file: file.to_owned(), form, rows: 0, why })
    };
    // Some clients unpack what they download and keep the name, so text passes under any name.
    let text = head
        .iter()
        .all(|byte| (b' '..=b'~').contains(byte) || b"\r\n\t\xef\xbb\xbf".contains(byte));
    match file.rsplit_once('.') {
        Some((_, "gz")) if !text => damaged("gzip"),
        Some((_, "zst")) if !text => damaged("zstd"),
        _ => Ok(Form::Plain),
    }
}

/// Gives as much as was asked for: what a decoder has made when it meets damage depends on the
/// pieces that it was given, and a pipe must give the same rows as a file.
struct Full<R>(R);

impl<R: Read> Read for Full<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let mut filled = 0;
        while let Some(rest) = buffer.get_mut(filled..).filter(|rest| !rest.is_empty()) {
            match self.0.read(rest) {
                Ok(0) => break,
                Ok(count) => filled += count,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) if filled == 0 => return Err(error),
                // It comes again with the next read.
                Err(_) => break,
            }
        }
        Ok(filled)
    }
}

/// Counts the bytes that are read through it.
struct Counted<R> {
    raw: R,
    count: Arc<AtomicU64>,
}

impl<R: Read> Read for Counted<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.raw.read(buffer)?;
        self.count.fetch_add(count as u64, Ordering::Relaxed);
        Ok(count)
    }
}
