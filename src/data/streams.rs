//! What came out of inputs that are read once: their digests, taken while they are read.

use std::collections::BTreeMap;
use std::io::{self, Read};
use std::sync::{Arc, Mutex, PoisonError};

use assay_verifiers::canonical;
use sha2::{Digest as _, Sha256};

/// The digests of the streams among the inputs of a [`Source`](super::Source), by their place.
#[derive(Default)]
pub struct StreamNotes(Mutex<BTreeMap<usize, Note>>);

#[derive(Default)]
struct Note {
    sha256: Sha256,
    bytes: u64,
    ended: bool,
}

impl StreamNotes {
    /// The SHA-256 and the size of the input number `input`, counted from 0. `None` where it was not
    /// read to its end.
    pub fn digest(&self, input: usize) -> Option<(String, u64)> {
        let notes = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let note = notes.get(&input).filter(|note| note.ended)?;
        Some((canonical::hex(&note.sha256.clone().finalize()), note.bytes))
    }

    fn add(&self, input: usize, bytes: &[u8]) {
        let mut notes = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let note = notes.entry(input).or_default();
        note.sha256.update(bytes);
        note.bytes += bytes.len() as u64;
        note.ended = bytes.is_empty();
    }
}

/// A stream that is noted as it is read.
pub(super) struct Noted<R> {
    pub(super) raw: R,
    pub(super) input: usize,
    pub(super) notes: Arc<StreamNotes>,
}

impl<R: Read> Read for Noted<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.raw.read(buffer)?;
        if !buffer.is_empty() {
            self.notes.add(self.input, buffer.split_at(read).0);
        }
        Ok(read)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_digest_is_known_once_the_end_was_read() {
        let notes = Arc::new(StreamNotes::default());
        let mut stream = Noted { raw: &b"abc"[..], input: 2, notes: Arc::clone(&notes) };
        let mut buffer = [0; 3];
        assert_eq!(stream.read(&mut buffer).unwrap(), 3);
        assert_eq!(notes.digest(2), None);
        assert_eq!(stream.read(&mut buffer).unwrap(), 0);
        let (sha256, bytes) = notes.digest(2).unwrap();
        assert!(sha256.starts_with("ba7816bf"), "{sha256}");
        assert_eq!((bytes, notes.digest(0)), (3, None));
    }
}
