//! JSON lines that are of steps: a training that goes on cuts those of later steps.

use std::fs::{File, OpenOptions};
use std::io::{self, BufRead as _, BufReader, Seek as _, SeekFrom, Write as _};
use std::path::Path;

use serde::{Deserialize, Serialize};

/// Writes JSON lines, each of which has the member `step`.
pub(super) struct StepLines {
    file: File,
}

/// What a line is read for.
#[derive(Deserialize)]
struct LineStep {
    step: u64,
}

impl StepLines {
    /// Goes on in a file after the lines of a step, of which there are none where there is no step; a
    /// file that is not there is made.
    pub(super) fn after(path: &Path, step: Option<u64>) -> io::Result<Self> {
        let mut options = OpenOptions::new();
        let mut file = options.read(true).write(true).create(true).truncate(false).open(path)?;
        let kept = step.map_or(Ok(0), |step| kept(&file, step));
        let kept = kept.map_err(|error| named(path, &error))?;
        file.set_len(kept)?;
        file.seek(SeekFrom::Start(kept))?;
        Ok(Self { file })
    }

    /// Adds lines.
    pub(super) fn write<T: Serialize>(
        &mut self,
        lines: impl IntoIterator<Item = T>,
    ) -> io::Result<()> {
        let mut text = Vec::new();
        for line in lines {
            serde_json::to_writer(&mut text, &line)?;
            text.push(b'\n');
        }
        self.file.write_all(&text)
    }
}

/// The bytes of the lines up to a step; a last line that was not written to its end is not counted.
fn kept(file: &File, step: u64) -> io::Result<u64> {
    let (mut reader, mut line, mut kept) = (BufReader::new(file), Vec::new(), 0);
    loop {
        line.clear();
        let read = reader.read_until(b'\n', &mut line)?;
        if line.last() != Some(&b'\n') || serde_json::from_slice::<LineStep>(&line)?.step > step {
            return Ok(kept);
        }
        kept += read as u64;
    }
}

fn named(path: &Path, error: &io::Error) -> io::Error {
    io::Error::new(error.kind(), format!("{}: {error}", path.display()))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn lines_of_later_steps_are_cut() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("lines.jsonl");
        let read = || std::fs::read_to_string(&path).unwrap();
        let mut lines = StepLines::after(&path, None).unwrap();
        lines.write([json!({"step": 1}), json!({"step": 1})]).unwrap();
        lines.write([json!({"step": 2, "a": "b"})]).unwrap();
        lines.file.write_all(b"{\"step\":3").unwrap();
        let mut lines = StepLines::after(&path, Some(2)).unwrap();
        lines.write([json!({"step": 3})]).unwrap();
        assert_eq!(read(), "{\"step\":1}\n{\"step\":1}\n{\"a\":\"b\",\"step\":2}\n{\"step\":3}\n");
        drop(StepLines::after(&path, Some(1)).unwrap());
        assert_eq!(read(), "{\"step\":1}\n{\"step\":1}\n");
        std::fs::File::create(&path).unwrap().write_all(b"{}\n").unwrap();
        assert!(
            StepLines::after(&path, Some(1)).err().unwrap().to_string().contains("lines.jsonl")
        );
    }
}
