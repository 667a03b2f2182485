//! Text search: through the bytes of a file, chunk by chunk.

use std::io;
use std::os::unix::fs::FileExt as _;

use memchr::memmem::Finder;

use crate::error::ViewError;
use crate::lines::{LinesFile, joined};
use crate::opened::OpenedRun;
use crate::page::with_escapes;

const CHUNK_BYTES: usize = 1 << 20;

/// A text as JSON has it within its quotes: as it is, and with escapes for all that is not ASCII.
fn needles(text: &str) -> Vec<String> {
    let json = serde_json::Value::from(text).to_string();
    let own = json.get(1..json.len() - 1).unwrap_or(text);
    let mut needles = vec![own.to_owned(), with_escapes(own, |char| !char.is_ascii())];
    needles.dedup();
    needles
}

/// The rows whose line or whose data hold a text. One thread searches the data, and one the run.
pub(crate) fn with_text(run: &OpenedRun, text: &str) -> Result<Vec<usize>, ViewError> {
    let io = |source| ViewError::Io("search".to_owned(), source);
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
fn lines_with(file: &LinesFile, needles: &[String]) -> io::Result<Vec<usize>> {
    let LinesFile { file, offsets, .. } = file;
    let (Some(first), Some(end)) = (offsets.first(), offsets.last()) else { return Ok(Vec::new()) };
    let finders: Vec<Finder<'_>> = needles.iter().map(Finder::new).collect();
    let longest = needles.iter().map(String::len).max().unwrap_or(0);
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
mod tests;
