//! The trait that authors of rule checks write.

use std::cell::RefCell;
use std::path::PathBuf;

use schemars::JsonSchema;
use serde::{Serialize, de::DeserializeOwned};
use serde_json::Value;
use sha2::{Digest as _, Sha256};

use crate::build_error::BuildError;
use crate::canonical::Digest;
use crate::code::Code;
use crate::fault::Fault;
use crate::from_value;
use crate::meter::Meter;
use crate::sample::Sample;
use crate::verdict::Verdict;
use crate::verifier::{Aspect, Built, Earlier, Lane, Slip, Spec, Trivial, Verifier};

/// A rule-based verifier: its settings are the fields of the type, read by serde.
///
/// The doc comment of the type is its manual page, and those of its fields document the settings.
/// Mark the type `#[serde(deny_unknown_fields)]`, so that a misspelt setting is an error.
pub trait Check: DeserializeOwned + Serialize + JsonSchema + Send + Sync + 'static {
    /// The id by which a configuration names the check.
    const ID: &'static str;

    /// Raised whenever the same sample may get another verdict.
    const VERSION: u32 = 1;

    /// Whether one verdict takes a millisecond or more.
    const SLOW: bool = false;

    /// See [`Check::aspect`]; what it is whatever the settings say.
    const ASPECT: Aspect = Aspect::Other;

    /// Whether no right answer can be made of any reference; see [`Check::gold`].
    const NO_GOLD: bool = matches!(Self::ASPECT, Aspect::Form);

    /// Runs once, when the configuration is built: the place to read files and to refuse settings
    /// that contradict each other.
    ///
    /// # Errors
    /// What is wrong with the settings, naming the one at fault.
    fn load(&mut self, files: &dyn Files) -> Result<(), BuildError> {
        let _ = files;
        Ok(())
    }

    /// Judges one sample. Every loop over input pays the meter.
    ///
    /// # Errors
    /// A fault: whatever stopped the check from judging.
    fn check(&self, sample: &Sample, meter: &mut Meter<'_>) -> Result<Verdict, Fault>;

    /// Whether the check reads the verdicts of the rewards listed before it. One that does writes
    /// [`Check::check_after`].
    fn reads_verdicts(&self) -> bool {
        !self.rewards().is_empty()
    }

    /// The other rewards that settings name: the setting, and the reward.
    fn rewards(&self) -> Vec<(&'static str, String)> {
        Vec::new()
    }

    /// Judges one sample, given the verdicts of the rewards listed before it.
    ///
    /// # Errors
    /// See [`Check::check`].
    fn check_after(
        &self,
        sample: &Sample,
        earlier: Earlier<'_>,
        meter: &mut Meter<'_>,
    ) -> Result<Verdict, Fault> {
        let _ = earlier;
        self.check(sample, meter)
    }

    /// For checks whose reference is tests: completions that solve nothing. Tests that one of them
    /// passes are weak, and `assay validate` says so. `None` where there are no tests.
    fn trivial(&self, sample: &Sample) -> Option<Trivial> {
        let _ = sample;
        None
    }

    /// Right answers, as completions write them: `assay validate` tries them. `None` where the
    /// reference as text is one; an empty list where none can be made of it, such as where what must
    /// be there does not make a document by itself: see [`Check::NO_GOLD`].
    fn gold(&self, sample: &Sample) -> Option<Vec<String>> {
        let _ = sample;
        Self::NO_GOLD.then(Vec::new)
    }

    /// What is most likely not meant in the samples of a dataset, though each of them can be judged:
    /// `assay validate` warns of it.
    fn slips(&self, samples: &[&Sample]) -> Vec<Slip> {
        let _ = samples;
        Vec::new()
    }

    /// What of an answer the check judges, and by what: lints of `assay validate` ask.
    fn aspect(&self) -> Aspect {
        Self::ASPECT
    }

    /// The least and the greatest reward.
    fn range(&self) -> [f64; 2] {
        [0.0, 1.0]
    }

    /// The columns of metadata that settings name: the setting, and the column.
    fn columns(&self) -> Vec<(&'static str, String)> {
        Vec::new()
    }
}

impl<C: Check> Verifier for C {
    fn verify(&self, sample: &Sample, earlier: Earlier<'_>, meter: &mut Meter<'_>) -> Verdict {
        let verdict = Verdict::from(self.check_after(sample, earlier, meter));
        verdict.with_unread(sample.completion_message())
    }

    fn trivial(&self, sample: &Sample) -> Option<Trivial> {
        Check::trivial(self, sample)
    }

    fn gold(&self, sample: &Sample) -> Option<Vec<String>> {
        Check::gold(self, sample)
    }

    fn slips(&self, samples: &[&Sample]) -> Vec<Slip> {
        Check::slips(self, samples)
    }

    fn aspect(&self) -> Aspect {
        Check::aspect(self)
    }

    fn range(&self) -> [f64; 2] {
        Check::range(self)
    }
}

/// The files that settings may name. The crate does no I/O: the caller that builds a check passes this in.
pub trait Files {
    /// The bytes of the file called `name`.
    ///
    /// # Errors
    /// Why it cannot be read, or may not be.
    fn read(&self, name: &str) -> Result<Vec<u8>, String>;

    /// The text of the file called `name`, which a setting names.
    ///
    /// # Errors
    /// The same, or bytes that are no text.
    fn text(&self, setting: &str, name: &str) -> Result<String, BuildError> {
        let bytes = self.read(name).map_err(|why| BuildError::unreadable(setting, why))?;
        String::from_utf8(bytes).map_err(|_| {
            BuildError::new(setting, format!("file \"{name}\" is not UTF-8")).code(Code::Encoding)
        })
    }

    /// Where the folder called `name` lies, for what is too large to hand over as bytes.
    ///
    /// # Errors
    /// Why there is none, or why it may not be used.
    fn folder(&self, name: &str) -> Result<PathBuf, String> {
        Err(format!("folder \"{name}\": no folders can be used here"))
    }
}

/// No files at all.
pub struct NoFiles;

impl Files for NoFiles {
    fn read(&self, name: &str) -> Result<Vec<u8>, String> {
        Err(format!("file \"{name}\": no files can be read here"))
    }
}

/// Builds a check from settings: fills in defaults, reads files, compiles patterns.
///
/// # Errors
/// An unknown or ill-typed setting, or what [`Check::load`] refuses.
pub fn build<C: Check>(settings: Value, files: &dyn Files) -> Result<Built, BuildError> {
    build_with(settings, files, |_: &mut C| Ok(Vec::new()))
}

/// Builds a check that needs more than settings and files: `prepare` hands it over before
/// [`Check::load`], and gives what belongs to its identity, by name.
///
/// # Errors
/// What [`build`] or `prepare` refuses.
pub fn build_with<C: Check>(
    settings: Value,
    files: &dyn Files,
    prepare: impl FnOnce(&mut C) -> Result<Vec<(String, Digest)>, BuildError>,
) -> Result<Built, BuildError> {
    let mut check: C = self::settings(settings)?;
    let recorded = RecordedFiles::new(files, prepare(&mut check)?);
    check.load(&recorded)?;
    let reads_verdicts = check.reads_verdicts();
    let (columns, rewards) = (check.columns(), check.rewards());
    let spec =
        Spec { reads_verdicts, columns, rewards, ..recorded.spec(C::ID, C::VERSION, &check)? };
    Ok(Built { spec, lane: Lane::Compute(Box::new(check)), slow: C::SLOW })
}

/// Reads settings.
///
/// # Errors
/// The setting that is unknown or of another type.
#[expect(
    clippy::needless_pass_by_value,
    reason = "who builds from settings has no more use for them"
)]
pub fn settings<T: DeserializeOwned + JsonSchema>(given: Value) -> Result<T, BuildError> {
    from_value::read(&given)
}

/// Notes the digest of every file that is read, so that it becomes part of an identity.
pub(crate) struct RecordedFiles<'a> {
    files: &'a dyn Files,
    seen: RefCell<Vec<(String, Digest)>>,
}

impl<'a> RecordedFiles<'a> {
    /// Reads from `files`; `seen` comes first among the digests.
    pub(crate) fn new(files: &'a dyn Files, seen: Vec<(String, Digest)>) -> Self {
        Self { files, seen: RefCell::new(seen) }
    }

    /// What was read, with its SHA-256, in order.
    pub(crate) fn into_digests(self) -> Vec<(String, Digest)> {
        self.seen.into_inner()
    }

    /// The identity of a verifier that has read its files.
    pub(crate) fn spec(
        self,
        id: &'static str,
        version: u32,
        settings: &impl Serialize,
    ) -> Result<Spec, BuildError> {
        let settings = serde_json::to_value(settings)
            .map_err(|error| BuildError::new("", format!("settings cannot be written: {error}")))?;
        Ok(Spec { files: self.into_digests(), ..Spec::new(id, version, settings) })
    }
}

impl Files for RecordedFiles<'_> {
    fn read(&self, name: &str) -> Result<Vec<u8>, String> {
        let bytes = self.files.read(name)?;
        self.seen.borrow_mut().push((name.to_owned(), Sha256::digest(&bytes).into()));
        Ok(bytes)
    }

    fn folder(&self, name: &str) -> Result<PathBuf, String> {
        self.files.folder(name)
    }
}
