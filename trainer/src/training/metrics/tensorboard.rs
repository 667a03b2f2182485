//! Events that `TensorBoard` reads.

use std::fmt;
use std::fs::{self, File};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use super::names::evaluation_metrics;
use super::tensorboard_wire::{EventContent, event, record};
use crate::reports::{EvaluationReport, StepReport, TrainingObserver};

/// Says what time it is: seconds since 1970.
pub type EventClock = Box<dyn FnMut() -> f64 + Send>;

/// Writes measurements as the scalars of an event file, `events.out.tfevents.SECONDS.HOST` (with a
/// number after it where two have one name).
///
/// The tags are those of transformers: `train/reward` for a measurement `reward` of a step, and
/// `eval/accuracy` for `eval_accuracy`. An event is with the operating system before a call returns.
pub struct TensorBoard {
    path: PathBuf,
    file: File,
    clock: EventClock,
}

impl TensorBoard {
    /// A new file in `folder`, which is made where it is not there. `host` is a part of its name.
    ///
    /// # Errors
    /// A file that cannot be written.
    pub fn create(folder: &Path, host: &str, mut clock: EventClock) -> io::Result<Self> {
        let time = clock();
        let host: String =
            host.chars().map(|letter| if is_plain(letter) { letter } else { '_' }).collect();
        let name = format!("events.out.tfevents.{:010.0}.{host}", time.floor());
        fs::create_dir_all(folder).map_err(|error| at(folder, &error))?;
        let (path, file) = create_new(folder, &name)?;
        let mut created = Self { path, file, clock };
        created.write(time, 0, &EventContent::Version)?;
        Ok(created)
    }

    /// A new file for a training that goes on after a step: `TensorBoard` forgets what older files of the
    /// folder say of later steps.
    ///
    /// # Errors
    /// As for [`Self::create`].
    pub fn resume(folder: &Path, host: &str, step: u64, clock: EventClock) -> io::Result<Self> {
        let mut resumed = Self::create(folder, host, clock)?;
        let time = (resumed.clock)();
        resumed.write(time, step + 1, &EventContent::Restart)?;
        Ok(resumed)
    }

    /// The file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    fn write_scalars<'a>(
        &mut self,
        step: u64,
        metrics: impl IntoIterator<Item = (&'a String, &'a f64)>,
    ) -> io::Result<()> {
        let scalars: Vec<(String, f64)> =
            metrics.into_iter().map(|(name, value)| (tag(name), *value)).collect();
        let time = (self.clock)();
        self.write(time, step, &EventContent::Scalars(&scalars))
    }

    fn write(&mut self, time: f64, step: u64, content: &EventContent<'_>) -> io::Result<()> {
        let bytes = record(&event(time, step, content));
        self.file.write_all(&bytes).map_err(|error| at(&self.path, &error))
    }
}

impl fmt::Debug for TensorBoard {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("TensorBoard").field("path", &self.path).finish_non_exhaustive()
    }
}

impl TrainingObserver for TensorBoard {
    fn on_step(&mut self, report: &StepReport) -> io::Result<()> {
        self.write_scalars(report.step, &report.metrics)
    }

    fn on_evaluation(&mut self, report: &EvaluationReport) -> io::Result<()> {
        self.write_scalars(report.step, &evaluation_metrics(report))
    }
}

/// A file that was not there, by this name or with a number after it.
fn create_new(folder: &Path, name: &str) -> io::Result<(PathBuf, File)> {
    let mut path = folder.join(name);
    for number in 1_u64.. {
        match File::create_new(&path) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                path = folder.join(format!("{name}.{number}"));
            }
            Err(error) => return Err(at(&path, &error)),
            Ok(file) => return Ok((path, file)),
        }
    }
    Err(io::ErrorKind::AlreadyExists.into())
}

fn tag(name: &str) -> String {
    match name.strip_prefix("eval_") {
        Some(name) => format!("eval/{name}"),
        None => format!("train/{name}"),
    }
}

/// Whether a letter of a host name may be in a file name.
fn is_plain(letter: char) -> bool {
    letter.is_ascii_alphanumeric() || matches!(letter, '-' | '.' | '_')
}

fn at(path: &Path, error: &io::Error) -> io::Error {
    io::Error::new(error.kind(), format!("{}: {error}", path.display()))
}
