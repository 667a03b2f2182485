//! `metrics.jsonl`: a JSON object for each step and each evaluation.

use std::collections::BTreeMap;
use std::fs::{File, OpenOptions};
use std::io::{self, Read as _, Seek as _, SeekFrom, Write as _};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::names::evaluation_metrics;
use crate::reports::{EvaluationReport, StepReport, TrainingObserver};

/// Writes measurements as JSON lines, each with `step` and the measurements by their names. One that
/// is not finite is `null`. A line is with the operating system before a call returns.
#[derive(Debug)]
pub struct JsonLines {
    path: PathBuf,
    file: File,
}

#[derive(Serialize)]
struct Line<'a> {
    step: u64,
    #[serde(flatten)]
    metrics: &'a BTreeMap<String, f64>,
}

/// What a line is read for.
#[derive(Deserialize)]
struct LineStep {
    step: u64,
}

impl JsonLines {
    /// A file without lines; one that is there is emptied.
    ///
    /// # Errors
    /// A file that cannot be written.
    pub fn create(path: &Path) -> io::Result<Self> {
        let file = File::create(path).map_err(|error| at(path, &error))?;
        Ok(Self { path: path.to_owned(), file })
    }

    /// Goes on in a file after a step: lines of later steps are cut off, and so is a last line that
    /// was not written to its end. A file that is not there is made.
    ///
    /// # Errors
    /// A file that cannot be read or written, or has a line that is not of this writer.
    pub fn resume(path: &Path, step: u64) -> io::Result<Self> {
        let mut options = OpenOptions::new();
        options.read(true).write(true).create(true).truncate(false);
        let file = options.open(path).map_err(|error| at(path, &error))?;
        let mut resumed = Self { path: path.to_owned(), file };
        resumed.cut(step).map_err(|error| at(path, &error))?;
        Ok(resumed)
    }

    fn cut(&mut self, step: u64) -> io::Result<()> {
        let mut bytes = Vec::new();
        self.file.read_to_end(&mut bytes)?;
        let mut kept = 0;
        for (number, line) in (1..).zip(bytes.split_inclusive(|byte| *byte == b'\n')) {
            if !line.ends_with(b"\n") {
                break;
            }
            let of_line = |error| io::Error::other(format!("line {number}: {error}"));
            if serde_json::from_slice::<LineStep>(line).map_err(of_line)?.step > step {
                break;
            }
            kept += line.len() as u64;
        }
        self.file.set_len(kept)?;
        self.file.seek(SeekFrom::Start(kept)).map(|_| ())
    }

    fn write(&mut self, step: u64, metrics: &BTreeMap<String, f64>) -> io::Result<()> {
        let mut line = serde_json::to_vec(&Line { step, metrics })?;
        line.push(b'\n');
        self.file.write_all(&line).map_err(|error| at(&self.path, &error))
    }
}

impl TrainingObserver for JsonLines {
    fn on_step(&mut self, report: &StepReport) -> io::Result<()> {
        self.write(report.step, &report.metrics)
    }

    fn on_evaluation(&mut self, report: &EvaluationReport) -> io::Result<()> {
        self.write(report.step, &evaluation_metrics(report))
    }
}

fn at(path: &Path, error: &io::Error) -> io::Error {
    io::Error::new(error.kind(), format!("{}: {error}", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn step(step: u64, loss: f64) -> StepReport {
        let metrics = [("reward".to_owned(), 0.5), ("loss".to_owned(), loss)].into();
        StepReport { step, metrics, ..StepReport::default() }
    }

    fn lines(path: &Path) -> String {
        std::fs::read_to_string(path).unwrap()
    }

    #[test]
    fn a_step_and_an_evaluation_are_a_line_each() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("metrics.jsonl");
        let mut writer = JsonLines::create(&path).unwrap();
        let evaluation = EvaluationReport { accuracy: 0.25, ..EvaluationReport::default() };
        writer.on_evaluation(&evaluation).unwrap();
        writer.on_step(&step(1, f64::NAN)).unwrap();
        let expected = "{\"step\":0,\"eval_accuracy\":0.25,\"eval_mean_length\":0.0}\n\
                        {\"step\":1,\"loss\":null,\"reward\":0.5}\n";
        assert_eq!(lines(&path), expected);
    }

    #[test]
    fn a_training_that_goes_on_cuts_what_was_after_its_checkpoint() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("metrics.jsonl");
        let mut whole = JsonLines::create(&path).unwrap();
        let mut expected = String::new();
        for at in 1..=4 {
            whole.on_step(&step(at, 0.5)).unwrap();
            whole.on_evaluation(&EvaluationReport { step: at, ..Default::default() }).unwrap();
            expected = lines(&path);
        }
        whole.file.write_all(b"{\"step\":5,\"lo").unwrap();
        let mut resumed = JsonLines::resume(&path, 4).unwrap();
        assert_eq!(lines(&path), expected);
        resumed.on_step(&step(5, 0.0)).unwrap();
        let mut resumed = JsonLines::resume(&path, 2).unwrap();
        for at in 3..=4 {
            resumed.on_step(&step(at, 0.5)).unwrap();
            resumed.on_evaluation(&EvaluationReport { step: at, ..Default::default() }).unwrap();
        }
        assert_eq!(lines(&path), expected);
        let fresh = folder.path().join("fresh.jsonl");
        JsonLines::resume(&fresh, 7).unwrap().on_step(&step(8, 0.0)).unwrap();
        assert_eq!(lines(&fresh), "{\"step\":8,\"loss\":0.0,\"reward\":0.5}\n");
    }

    #[test]
    fn faults_say_which_file_and_line() {
        let folder = tempfile::tempdir().unwrap();
        let error = JsonLines::create(folder.path()).unwrap_err();
        assert!(error.to_string().starts_with(&folder.path().display().to_string()));
        let path = folder.path().join("other.jsonl");
        File::create(&path).unwrap().write_all(b"{\"step\":1}\nhello\n").unwrap();
        let error = JsonLines::resume(&path, 3).unwrap_err().to_string();
        assert!(error.contains("other.jsonl: line 2: expected value"), "{error}");
        assert_eq!(lines(&path), "{\"step\":1}\nhello\n", "what is not ours is not cut");
    }
}
