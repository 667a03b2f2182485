//! Text search: through the bytes of a file, chunk by chunk.

use std::fmt::Write as _;
use std::io;
use std::os::unix::fs::FileExt as _;

use memchr::memmem::Finder;

use crate::error::ViewError;
use crate::lines::{LinesFile, joined};
use crate::opened::OpenedRun;

const CHUNK_BYTES: usize = 1 << 20;

/// A text as JSON has it within its quotes: as it is, and with escapes for all that is not ASCII.
fn needles(text: &str) -> Vec<Vec<u8>> {
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

/// The rows whose line or whose data hold a text. One thread searches the data, and one the run.
pub(crate) fn with_text(run: &OpenedRun, text: &str) -> Result<Vec<usize>, ViewError> {
    let io = |source| ViewError::Io { file: "search".to_owned(), source };
    let needles = needles(text);
    let of_data = || -> io::Result<Vec<usize>> {
        let mut rows = Vec::new();
        for (first, file) in &run.data_files {
            let found = lines_with(file, &needles)?.into_iter();
            rows.extend(found.filter_map(|at| run.index.place(first + at as u64)));
        }
        Ok(rows)
    };
    let (own, of_data) = std::thread::scope(|scope| {
        let of_data = scope.spawn(of_data);
        let own = lines_with(&run.file, &needles);
        (own, joined(of_data))
    });
    let mut rows = own.map_err(io)?;
    rows.extend(of_data.map_err(io)?);
    rows.sort_unstable();
    rows.dedup();
    Ok(rows)
}

/// The rows of a file that hold one of the needles, in no order, some twice. No line is parsed.
fn lines_with(file: &LinesFile, needles: &[Vec<u8>]) -> io::Result<Vec<usize>> {
    let LinesFile { file, offsets, .. } = file;
    let (Some(first), Some(end)) = (offsets.first(), offsets.last()) else { return Ok(Vec::new()) };
    let finders: Vec<Finder<'_>> = needles.iter().map(Finder::new).collect();
    let longest = needles.iter().map(Vec::len).max().unwrap_or(0);
    let mut found = Vec::new();
    let mut buffer = vec![0; CHUNK_BYTES + longest];
    let mut start = *first;
    while start < *end {
        let wanted = usize::try_from(end - start).unwrap_or(usize::MAX).min(buffer.len());
        let (bytes, _) = buffer.split_at_mut(wanted);
        file.read_exact_at(bytes, start)?;
        for finder in &finders {
            let mut at = 0;
            while let Some(hit) = bytes.get(at..).and_then(|rest| finder.find(rest)) {
                let own = start + (at + hit) as u64;
                let after = offsets.partition_point(|offset| *offset <= own);
                found.push(after.saturating_sub(1));
                // One hit tells of a line: the next is looked for behind it.
                let next = offsets.get(after).map_or(u64::MAX, |next| next - start);
                at = usize::try_from(next).unwrap_or(usize::MAX).max(at + hit + 1);
            }
        }
        // A needle may lie across two chunks.
        start += CHUNK_BYTES as u64;
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use std::fs::File;
    use std::io::Write as _;

    use super::*;

    #[test]
    fn a_text_is_found_across_chunks_and_in_both_escapes() {
        let path = std::env::temp_dir().join(format!("assay-view-search-{}", std::process::id()));
        let mut text = "x".repeat(CHUNK_BYTES - 2);
        text.push_str("needle\n\"caf\\u00e9\"\ncaf\u{e9} \\\"q\\\"\n");
        File::create(&path).unwrap().write_all(text.as_bytes()).unwrap();
        let mut file = LinesFile::open(&path).unwrap();
        file.offsets = vec![0];
        file.offsets.extend(text.match_indices('\n').map(|(at, _)| at as u64 + 1));
        for (wanted, lines) in
            [("needle", &[0][..]), ("café", &[1, 2]), ("\"q", &[2]), ("none", &[])]
        {
            let mut found = lines_with(&file, &needles(wanted)).unwrap();
            found.sort_unstable();
            assert_eq!(found, lines, "{wanted}");
        }
        std::fs::remove_file(path).unwrap();
    }
}
