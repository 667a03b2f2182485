//! The traits by which the engine runs verifiers, in two lanes.
//!
//! Authors of rule checks write [`crate::Check`]; the engine holds [`Built`] verifiers and never
//! depends on their type. Identity ([`Spec`]) is data beside the behaviour, so a trait has one
//! method and is easy to implement for a test, a script or a model.

use std::borrow::Cow;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use serde::Deserialize;
use serde_json::Value;

use crate::canonical::{self, Digest};
use crate::meter::Meter;
use crate::sample::Sample;
use crate::verdict::Verdict;

/// Compute lane: judges one sample on a thread of the pool.
pub trait Verifier: Send + Sync {
    /// Judges `sample`, given the verdicts that came before. Never panics, never blocks past its
    /// meter; a fault is a verdict too.
    fn verify(&self, sample: &Sample, earlier: Earlier<'_>, meter: &mut Meter<'_>) -> Verdict;

    /// See [`crate::Check::trivial`].
    fn trivial(&self, sample: &Sample) -> Option<Trivial> {
        let _ = sample;
        None
    }

    /// See [`crate::Check::gold`].
    fn gold(&self, sample: &Sample) -> Option<Vec<String>> {
        let _ = sample;
        None
    }

    /// See [`crate::Check::slips`].
    fn slips(&self, samples: &[&Sample]) -> Vec<Slip> {
        let _ = samples;
        Vec::new()
    }

    /// See [`crate::Check::aspect`].
    fn aspect(&self) -> Aspect {
        Aspect::Other
    }

    /// See [`crate::Check::range`].
    fn range(&self) -> [f64; 2] {
        [0.0, 1.0]
    }
}

/// What of an answer a verifier judges, and by what.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Aspect {
    /// Something else: what a script, a program or a model makes of it.
    #[default]
    Other,
    /// Its form alone: no reference is read.
    Form,
    /// Its text, which the reference has too.
    Text,
    /// The value that it states, such as a number, which the reference has too.
    Value,
    /// How much it is like the reference.
    Likeness,
    /// Its JSON, beside that of the reference.
    Json,
    /// What a program gives, which it predicts.
    Output,
    /// What it prints, as a program.
    Printed,
}

impl Aspect {
    /// Whether an answer that says what the reference says is right.
    pub fn is_answer(self) -> bool {
        matches!(self, Self::Text | Self::Value)
    }
}

/// The verdicts on a sample that were there before a verifier ran.
///
/// A verifier sees those of every reward that the configuration lists before its own, if its
/// [`Spec`] says that it reads them; else none.
#[derive(Clone, Copy, Debug, Default)]
pub struct Earlier<'a> {
    names: &'a [String],
    verdicts: &'a [Option<Verdict>],
}

impl<'a> Earlier<'a> {
    /// Verdicts along the names of their rewards; `None` where there is none yet.
    pub fn new(names: &'a [String], verdicts: &'a [Option<Verdict>]) -> Self {
        Self { names, verdicts }
    }

    /// The verdict of the reward called `name`, where there is one already.
    pub fn get(&self, name: &str) -> Option<&'a Verdict> {
        self.iter().find(|(have, _)| *have == name).map(|(_, verdict)| verdict)
    }

    /// Every verdict with the name of its reward, in order.
    pub fn iter(&self) -> impl Iterator<Item = (&'a str, &'a Verdict)> + use<'a> {
        let named = self.names.iter().zip(self.verdicts);
        named.filter_map(|(name, verdict)| Some((name.as_str(), verdict.as_ref()?)))
    }
}

/// Completions that solve nothing, made for the tests of one sample.
pub struct Trivial {
    /// An identifier of the tests: samples that share them need not be tried twice.
    pub tests: Digest,
    /// Each with what is said of it.
    pub completions: Vec<(String, String)>,
}

/// What is most likely not meant in the samples of a dataset.
pub struct Slip {
    /// What it is called: a noun in snake case.
    pub code: &'static str,
    /// The setting that it is about; empty where it is none.
    pub setting: &'static str,
    /// The places of the samples that have it, among those that were given; none where it is the setting.
    pub samples: Vec<usize>,
    /// Lower case, no final dot.
    pub message: String,
    /// What to type.
    pub help: String,
}

/// A future of pending work: dropping it cancels the work. Boxed, so that this crate is independent
/// of a runtime.
pub type Pending<T> = Pin<Box<dyn Future<Output = T> + Send>>;

/// Awaited lane: judges one sample by waiting for a service, such as the scheduler of a model or an
/// HTTP endpoint.
pub trait AsyncVerifier: Send + Sync {
    /// How many samples may be awaited at once; `None` where the service queues them itself.
    fn in_flight_max(&self) -> Option<usize>;

    /// See [`crate::Check::aspect`].
    fn aspect(&self) -> Aspect {
        Aspect::Other
    }

    /// How many deadlines a verdict may take: more than one where it is made of many calls.
    fn deadlines(&self) -> u32 {
        1
    }

    /// Starts to judge `sample`. The call runs on a thread of the pool, within `meter`: what takes
    /// computing (a prompt, its tokens) is done here. The future only waits; it is polled inside a
    /// tokio runtime, and dropping it gives the work up.
    fn verify(
        self: Arc<Self>,
        sample: &Sample,
        earlier: Earlier<'_>,
        meter: &mut Meter<'_>,
    ) -> Pending<Verdict>;
}

/// Sees all completions of one prompt at once, after their own verdicts: agreement, relative
/// length, diversity. Compute lane.
pub trait GroupVerifier: Send + Sync {
    /// Judges `group`: one verdict for each member, in their order.
    fn verify_group(&self, group: &Group<'_>, meter: &mut Meter<'_>) -> Vec<Verdict>;
}

/// The same in the awaited lane, such as a tournament of judges.
pub trait AsyncGroupVerifier: Send + Sync {
    /// Starts to judge `group`: one verdict for each member, in their order. What is said of
    /// [`AsyncVerifier::verify`] holds here too.
    fn verify_group(
        self: Arc<Self>,
        group: &Group<'_>,
        meter: &mut Meter<'_>,
    ) -> Pending<Vec<Verdict>>;
}

/// The samples of one prompt, with what is known of each. Members that a gate or a `when` ruled out
/// are not among them.
pub struct Group<'a> {
    /// The members, in the order of the rows.
    pub members: Vec<Member<'a>>,
}

/// One sample of a group.
#[derive(Clone, Copy)]
pub struct Member<'a> {
    /// The sample.
    pub sample: &'a Sample,
    /// The verdicts so far.
    pub earlier: Earlier<'a>,
}

/// How a verifier's work runs.
pub enum Lane {
    /// One sample, on the thread pool.
    Compute(Box<dyn Verifier>),
    /// One sample, awaited, many in flight.
    Awaited(Arc<dyn AsyncVerifier>),
    /// All samples of a prompt, after their own verdicts, on the thread pool.
    Group(Box<dyn GroupVerifier>),
    /// All samples of a prompt, after their own verdicts, awaited.
    AwaitedGroup(Arc<dyn AsyncGroupVerifier>),
}

impl Lane {
    /// Whether the work is awaited.
    pub fn is_awaited(&self) -> bool {
        matches!(self, Self::Awaited(_) | Self::AwaitedGroup(_))
    }

    /// Whether the verifier sees whole groups.
    pub fn is_group(&self) -> bool {
        matches!(self, Self::Group(_) | Self::AwaitedGroup(_))
    }
}

/// The identity of a verifier: it tells whether two verdicts came from the same judge.
#[derive(Clone, Debug, PartialEq)]
pub struct Spec {
    /// The id by which a configuration names it.
    pub id: Cow<'static, str>,
    /// Raised whenever the same sample may get another verdict.
    pub version: u32,
    /// The settings with every default filled in.
    pub settings: Value,
    /// SHA-256 of every file that the settings name, by its name.
    pub files: Vec<(String, Digest)>,
    /// Whether it reads the verdicts of the rewards listed before it: it then runs after them.
    pub reads_verdicts: bool,
    /// The columns of metadata that settings name: the setting, and the column. No part of the digest.
    pub columns: Vec<(&'static str, String)>,
    /// The other rewards that settings name: the setting, and the reward. No part of the digest.
    pub rewards: Vec<(&'static str, String)>,
}

impl Spec {
    /// A verifier of these settings, which reads no files and no other verdicts.
    pub fn new(id: impl Into<Cow<'static, str>>, version: u32, settings: Value) -> Self {
        Self {
            id: id.into(),
            version,
            settings,
            files: Vec::new(),
            reads_verdicts: false,
            columns: Vec::new(),
            rewards: Vec::new(),
        }
    }

    /// The digest of all of it: part of every cache key.
    pub fn digest(&self) -> Digest {
        let settings = canonical::to_bytes(&self.settings);
        let version = self.version.to_le_bytes();
        let mut parts: Vec<&[u8]> = vec![b"spec", self.id.as_bytes(), &version, &settings];
        for (name, digest) in &self.files {
            parts.push(name.as_bytes());
            parts.push(digest);
        }
        canonical::digest_parts(&parts)
    }
}

/// A verifier that is ready to run.
pub struct Built {
    /// What it is.
    pub spec: Spec,
    /// How it runs.
    pub lane: Lane,
    /// Whether one verdict takes a millisecond or more: such rows are handed out one by one, so
    /// that each is written and shown as soon as it is done. What is awaited is always slow.
    pub slow: bool,
}

impl Built {
    /// A verifier that takes microseconds, or one that is awaited.
    pub fn new(spec: Spec, lane: Lane) -> Self {
        let slow = lane.is_awaited();
        Self { spec, lane, slow }
    }
}
