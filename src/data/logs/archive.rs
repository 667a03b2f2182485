//! A log that is a ZIP archive with a file for each sample, read as lines.
//!
//! Nothing in the archive is trusted: sizes and places are checked before they are used, what comes out is
//! bounded by what the archive has, and each file must have the length and the checksum that it promises.

use std::fs::File;
use std::io::{self, Read, Seek as _, SeekFrom};
use std::os::unix::fs::FileExt as _;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use assay_verifiers::code::Code;

use super::super::error::{DataError, escape_whole};
use super::super::limits::ReadLimits;
use super::super::unpack;
use super::samples::Slim;
use super::{LogFormat, is_sample, of_archive};

/// The first bytes of an archive.
pub(in super::super) const ZIP_MAGIC: &[u8] = b"PK\x03\x04";

const END: &[u8] = b"PK\x05\x06";
const END_BYTES: u64 = 22;
const END_64: &[u8] = b"PK\x06\x06";
const LOCATOR_64: &[u8] = b"PK\x06\x07";
const LOCATOR_BYTES: u64 = 20;
const ENTRY: &[u8] = b"PK\x01\x02";
const ENTRY_BYTES: usize = 46;
const LOCAL_BYTES: usize = 30;
/// The longest comment of an archive.
const COMMENT_BYTES_MAX: u64 = 0xffff;
/// What says that a number is among the extra fields.
const ELSEWHERE: u64 = 0xffff_ffff;
const ENCRYPTED: u64 = 1;

const STEP_BYTES: u64 = 64 << 10;

/// Where a sample is in the archive.
struct Entry {
    name: String,
    method: u64,
    flags: u64,
    crc: u64,
    packed: u64,
    bytes: u64,
    local: u64,
}

/// The samples of an archive, a line each, in the order of their names; the numbers in these by size.
pub(in super::super) struct Archive {
    file: File,
    file_bytes: u64,
    name: String,
    limits: ReadLimits,
    /// How much was read, for a progress bar.
    counter: Arc<AtomicU64>,
    entries: std::vec::IntoIter<Entry>,
    current: Option<Unpacked>,
    slim: Slim,
    /// Bytes of lines that are still to be read, from `at` on.
    ready: Vec<u8>,
    at: usize,
    out: u64,
    rows: u64,
}

/// A sample that is being read.
struct Unpacked {
    entry: Entry,
    stream: Box<dyn Read + Send>,
    crc: unpack::Crc,
    bytes: u64,
}

impl Archive {
    /// Reads the directory of an archive, and finds which log it is.
    ///
    /// # Errors
    /// An archive that is damaged, or is not a log.
    pub(in super::super) fn open(
        file: File,
        name: &str,
        limits: &ReadLimits,
        counter: Arc<AtomicU64>,
    ) -> Result<(Self, &'static LogFormat), DataError> {
        let read = |source| DataError::Read { file: name.to_owned(), source };
        let file_bytes = file.metadata().map_err(read)?.len();
        let damaged = |why: &str| damage(name, 0, why);
        let entries = entries(&file, file_bytes, limits).map_err(|why| damaged(&why))?;
        let format = entries.iter().find_map(|entry| of_archive(&entry.name)).ok_or_else(|| {
            let what = "a ZIP archive that is no log with samples (inspect_ai writes them as \
                        samples/*.json); unpack it (`unzip FILE`) and name a file of it";
            DataError::unread(name, what)
        })?;
        let is_own = |entry: &Entry| is_sample(&entry.name, &format.archive);
        let mut entries: Vec<Entry> = entries.into_iter().filter(is_own).collect();
        entries.sort_by_cached_key(|entry| order(&entry.name));
        let own = Self {
            file,
            file_bytes,
            name: name.to_owned(),
            limits: *limits,
            counter,
            entries: entries.into_iter(),
            current: None,
            slim: Slim::new(&format.drop),
            ready: Vec::new(),
            at: 0,
            out: 0,
            rows: 0,
        };
        Ok((own, format))
    }

    fn next_entry(&mut self) -> Result<bool, DataError> {
        let Some(entry) = self.entries.next() else { return Ok(false) };
        let told =
            |why: &str| damage(&self.name, self.rows, &format!("{}: {why}", shown(&entry.name)));
        if entry.flags & ENCRYPTED != 0 {
            return Err(told("it is encrypted"));
        }
        let mut local = [0; LOCAL_BYTES];
        let is_read = self.file.read_exact_at(&mut local, entry.local).is_ok();
        if !is_read || !local.starts_with(ZIP_MAGIC) {
            return Err(told("its place in the directory is wrong"));
        }
        let lengths = number(&local, 26, 2) + number(&local, 28, 2);
        let start = entry.local.saturating_add(LOCAL_BYTES as u64 + lengths);
        if start.saturating_add(entry.packed) > self.file_bytes {
            return Err(told("the archive ends within it"));
        }
        let read = |source| DataError::Read { file: self.name.clone(), source };
        let mut file = self.file.try_clone().map_err(read)?;
        file.seek(SeekFrom::Start(start)).map_err(read)?;
        let packed = io::BufReader::new(file.take(entry.packed));
        let stream = match entry.method {
            0 => Box::new(packed) as Box<dyn Read + Send>,
            8 => unpack::deflate(packed, &self.name)?,
            93 => unpack::zstd(packed, &self.name)?,
            other => {
                return Err(told(&format!("compressed by method {other}; 0, 8 and 93 are read")));
            }
        };
        self.current = Some(Unpacked { entry, stream, crc: unpack::Crc::default(), bytes: 0 });
        Ok(true)
    }

    /// Reads on in the current sample; false at the end of the archive.
    fn fill(&mut self) -> Result<bool, DataError> {
        self.ready.clear();
        self.at = 0;
        if self.current.is_none() && !self.next_entry()? {
            return Ok(false);
        }
        let Some(current) = &mut self.current else { return Ok(false) };
        let told = |why: &str| {
            damage(&self.name, self.rows, &format!("{}: {why}", shown(&current.entry.name)))
        };
        let mut bytes = Vec::new();
        let read = current.stream.by_ref().take(STEP_BYTES).read_to_end(&mut bytes);
        if let Err(why) = read {
            return Err(told(&why.to_string()));
        }
        current.bytes += bytes.len() as u64;
        self.out += bytes.len() as u64;
        let ReadLimits { inflate_ratio_max: ratio, inflate_free_bytes: free, .. } = self.limits;
        if self.out > self.file_bytes.saturating_mul(ratio).max(free) {
            let (out, all) = (self.out, self.file_bytes);
            let what = format!(
                "zip bomb: {out} bytes came out of {all}; at most {ratio} may come out of each"
            );
            return Err(DataError::Refused { file: self.name.clone(), code: Code::Limit, what });
        }
        current.crc.update(&bytes);
        if bytes.is_empty() {
            let entry = &current.entry;
            if current.bytes != entry.bytes || u64::from(current.crc.sum()) != entry.crc {
                return Err(told("its checksum is wrong"));
            }
            self.counter.fetch_add(entry.packed, Ordering::Relaxed);
            self.current = None;
            self.rows += 1;
            self.ready.push(b'\n');
            self.slim.restart();
            return Ok(true);
        }
        // Within JSON a line end is white space.
        for byte in &mut bytes {
            if *byte == b'\n' {
                *byte = b' ';
            }
        }
        self.slim.push(&bytes, &mut self.ready);
        Ok(true)
    }
}

impl Read for Archive {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        while self.at >= self.ready.len() {
            if !self.fill().map_err(io::Error::other)? {
                return Ok(0);
            }
        }
        let Some(mut ready) = self.ready.get(self.at..) else { return Ok(0) };
        let count = ready.read(buffer)?;
        self.at += count;
        Ok(count)
    }
}

fn damage(file: &str, rows: u64, why: &str) -> DataError {
    DataError::Damaged { file: file.to_owned(), form: "zip", rows, why: why.to_owned() }
}

fn shown(name: &str) -> String {
    escape_whole(name.chars())
}

/// What samples are sorted by: the repetitions of one stand together, as the samples of a prompt.
fn order(name: &str) -> (usize, String, usize, String) {
    let stem = name.strip_suffix(".json").unwrap_or(name);
    let (id, epoch) = stem.rsplit_once("_epoch_").unwrap_or((stem, ""));
    (id.len(), id.to_owned(), epoch.len(), epoch.to_owned())
}

/// A number of so many bytes, the lowest first; what is not there is zero.
fn number(bytes: &[u8], at: usize, length: usize) -> u64 {
    let value = |own: &[u8]| own.iter().rev().fold(0, |sum, byte| (sum << 8) | u64::from(*byte));
    bytes.get(at..at + length).map_or(0, value)
}

/// The directory of an archive.
fn entries(file: &File, file_bytes: u64, limits: &ReadLimits) -> Result<Vec<Entry>, String> {
    let cut = || {
        "the archive has no directory: it was cut, or is still written; `unzip -t FILE` tells"
            .to_owned()
    };
    let (start, length, count) = directory(file, file_bytes).ok_or_else(cut)?;
    if length > limits.footer_bytes_max {
        return Err(format!(
            "a directory of {length} bytes; at most {} are read",
            limits.footer_bytes_max
        ));
    }
    if start.saturating_add(length) > file_bytes {
        return Err(cut());
    }
    let bytes = read(file, start, length).ok_or_else(cut)?;
    let (mut entries, mut at) = (Vec::new(), 0);
    while let Some(own) = bytes.get(at..).filter(|own| own.starts_with(ENTRY)) {
        let lengths =
            [28, 30, 32].map(|place| usize::try_from(number(own, place, 2)).unwrap_or_default());
        let [name, extra, comment] = lengths;
        let text = own.get(ENTRY_BYTES..ENTRY_BYTES + name).ok_or_else(cut)?;
        let mut entry = Entry {
            name: String::from_utf8_lossy(text).into_owned(),
            flags: number(own, 8, 2),
            method: number(own, 10, 2),
            crc: number(own, 16, 4),
            packed: number(own, 20, 4),
            bytes: number(own, 24, 4),
            local: number(own, 42, 4),
        };
        let fields = own.get(ENTRY_BYTES + name..ENTRY_BYTES + name + extra).ok_or_else(cut)?;
        wide(fields, &mut entry);
        entries.push(entry);
        at += ENTRY_BYTES + name + extra + comment;
    }
    if entries.len() as u64 != count {
        return Err(format!("its directory promises {count} files and has {}", entries.len()));
    }
    Ok(entries)
}

/// Numbers of an archive beyond 4 GiB, which are among the extra fields.
fn wide(mut fields: &[u8], entry: &mut Entry) {
    while fields.len() >= 4 {
        let length = usize::try_from(number(fields, 2, 2)).unwrap_or_default();
        if number(fields, 0, 2) == 1 {
            let mut at = 4;
            for value in [&mut entry.bytes, &mut entry.packed, &mut entry.local] {
                if *value == ELSEWHERE {
                    *value = number(fields, at, 8);
                    at += 8;
                }
            }
        }
        let Some(rest) = fields.get(4 + length..) else { return };
        fields = rest;
    }
}

/// Where the directory starts, how long it is, and how many files it has.
fn directory(file: &File, file_bytes: u64) -> Option<(u64, u64, u64)> {
    let tail_bytes = file_bytes.min(END_BYTES + COMMENT_BYTES_MAX);
    let tail_start = file_bytes - tail_bytes;
    let tail = read(file, tail_start, tail_bytes)?;
    let found = memchr::memmem::rfind(&tail, END)?;
    let end = tail.get(found..)?;
    let own = (number(end, 16, 4), number(end, 12, 4), number(end, 10, 2));
    if own.0 != ELSEWHERE && own.1 != ELSEWHERE && own.2 != 0xffff {
        return Some(own);
    }
    let locator = (tail_start + found as u64).checked_sub(LOCATOR_BYTES)?;
    let locator = read(file, locator, LOCATOR_BYTES)?;
    let place = locator.starts_with(LOCATOR_64).then(|| number(&locator, 8, 8))?;
    let end = read(file, place, 56)?;
    end.starts_with(END_64).then(|| (number(&end, 48, 8), number(&end, 40, 8), number(&end, 32, 8)))
}

fn read(file: &File, start: u64, length: u64) -> Option<Vec<u8>> {
    let mut bytes = vec![0; usize::try_from(length).ok()?];
    file.read_exact_at(&mut bytes, start).ok()?;
    Some(bytes)
}
