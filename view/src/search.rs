//! Text search: through the bytes of a file, chunk by chunk.

use std::fmt::Write as _;
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt as _;

use memchr::memmem::Finder;

const CHUNK_BYTES: usize = 1 << 20;

/// A text as JSON has it within its quotes: as it is, and with escapes for all that is not ASCII.
pub(crate) fn needles(text: &str) -> Vec<Vec<u8>> {
    let json = serde_json::Value::from(text).to_string();
    let own = json.get(1..json.len() - 1).unwrap_or(text);
    let mut ascii = String::new();
    let mut units = [0; 2];
    for char in own.chars() {
        if char.is_ascii() {
            ascii.push(char);
        } else {
            for unit in char.encode_utf16(&mut units) {
                let _ = write!(ascii, "\\u{unit:04x}");
            }
        }
    }
    let mut needles = vec![own.as_bytes().to_vec()];
    if ascii != own {
        needles.push(ascii.into_bytes());
    }
    needles
}

/// The lines of a file that hold one of the needles, by their places, in order. `offsets` are where lines
/// start, and where the last one ends. Two threads share the file.
pub(crate) fn lines_with(
    file: &File,
    offsets: &[u64],
    needles: &[Vec<u8>],
) -> io::Result<Vec<usize>> {
    let lines = offsets.len().saturating_sub(1);
    if needles.iter().all(Vec::is_empty) {
        return Ok(Vec::new());
    }
    let search = Search { file, offsets, needles };
    std::thread::scope(|scope| {
        let second = scope.spawn(|| search.part(lines / 2, lines));
        let mut found = search.part(0, lines / 2)?;
        let second =
            second.join().map_err(|_| io::Error::other("the search of a part panicked"))?;
        found.extend(second?);
        Ok(found)
    })
}

/// What is looked for, and where.
struct Search<'a> {
    file: &'a File,
    offsets: &'a [u64],
    needles: &'a [Vec<u8>],
}

impl Search<'_> {
    /// The lines from one to before another that hold a needle, in order.
    fn part(&self, first: usize, last: usize) -> io::Result<Vec<usize>> {
        let place = |line: usize| self.offsets.get(line).copied().unwrap_or_default();
        let (mut start, end) = (place(first), place(last));
        let finders: Vec<Finder<'_>> = self.needles.iter().map(Finder::new).collect();
        let longest = self.needles.iter().map(Vec::len).max().unwrap_or(0);
        let mut found = Vec::new();
        let mut buffer = vec![0; CHUNK_BYTES + longest];
        while start < end {
            let wanted = usize::try_from(end - start).unwrap_or(usize::MAX).min(buffer.len());
            let (bytes, _) = buffer.split_at_mut(wanted);
            self.file.read_exact_at(bytes, start)?;
            for finder in &finders {
                let mut at = 0;
                while let Some(hit) = bytes.get(at..).and_then(|rest| finder.find(rest)) {
                    let own = start + (at + hit) as u64;
                    let line =
                        self.offsets.partition_point(|offset| *offset <= own).saturating_sub(1);
                    found.push(line);
                    // One hit tells of a line: the next is looked for behind it.
                    let next = place(line + 1).saturating_sub(start);
                    at = usize::try_from(next).unwrap_or(usize::MAX).max(at + hit + 1);
                }
            }
            // A needle may lie across two chunks.
            start += CHUNK_BYTES as u64;
        }
        found.sort_unstable();
        found.dedup();
        Ok(found)
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use super::*;

    #[test]
    fn a_text_is_found_across_chunks_and_in_both_escapes() {
        let path = std::env::temp_dir().join(format!("assay-view-search-{}", std::process::id()));
        let mut text = "x".repeat(CHUNK_BYTES - 2);
        text.push_str("needle\n\"caf\\u00e9\"\ncaf\u{e9} \\\"q\\\"\n");
        let mut offsets = vec![0];
        offsets.extend(text.match_indices('\n').map(|(at, _)| at as u64 + 1));
        File::create(&path).unwrap().write_all(text.as_bytes()).unwrap();
        let file = File::open(&path).unwrap();
        for (wanted, lines) in
            [("needle", &[0][..]), ("café", &[1, 2]), ("\"q", &[2]), ("none", &[])]
        {
            assert_eq!(lines_with(&file, &offsets, &needles(wanted)).unwrap(), lines, "{wanted}");
        }
        assert!(lines_with(&file, &offsets, &needles("")).unwrap().is_empty());
        std::fs::remove_file(path).unwrap();
    }
}
