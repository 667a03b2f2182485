//! The traits by which the engine runs verifiers, one a lane.
//!
//! Authors of rule checks write [`crate::Check`]; the engine holds [`Built`] verifiers and never
//! asks what is inside. Identity ([`Spec`]) is data beside the behaviour, so a trait asks for one
//! method and stays easy to implement for a test, a script or a model.

use std::borrow::Cow;
use std::future::Future;
use std::pin::Pin;

use serde_json::Value;

use crate::canonical::{self, Digest};
use crate::meter::{Backstop, Meter};
use crate::sample::Sample;
use crate::verdict::Verdict;

/// Compute lane: judges one sample on a thread of the pool.
pub trait Verifier: Send + Sync {
    /// Judges `sample`. Never panics, never blocks past its meter; a fault is a verdict too.
    fn verify(&self, sample: &Sample, meter: &mut Meter<'_>) -> Verdict;

    /// See [`crate::Check::trivial`].
    fn trivial(&self, sample: &Sample) -> Option<Trivial> {
        let _ = sample;
        None
    }
}

/// Completions that solve nothing, made for the tests of one sample.
pub struct Trivial {
    /// Which tests these are: samples that share them need not be asked twice.
    pub tests: Digest,
    /// Each with what is said of it.
    pub completions: Vec<(String, String)>,
}

/// Model lane: judges many samples, from all callers, at once.
pub trait BatchVerifier: Send + Sync {
    /// The most samples that one call takes.
    fn batch_max(&self) -> usize;

    /// How many calls may run at once, so that a model does not wait for its next batch.
    fn calls_max(&self) -> usize {
        1
    }

    /// Judges `samples`: one verdict for each, in their order. Nobody waits once `backstop` has
    /// expired: work that goes on is stopped, and what is not judged by then is a
    /// [`FaultKind::Timeout`](crate::FaultKind::Timeout).
    fn verify_batch(&self, samples: &[&Sample], backstop: &dyn Backstop) -> Vec<Verdict>;
}

/// A future that borrows what it judges. Boxed, so that this crate need not know a runtime.
pub type Judged<'a> = Pin<Box<dyn Future<Output = Verdict> + Send + 'a>>;

/// Remote lane: judges one sample by waiting for somebody else.
pub trait RemoteVerifier: Send + Sync {
    /// How many samples may be in flight at once.
    fn in_flight_max(&self) -> usize;

    /// Judges `sample`.
    fn verify<'a>(&'a self, sample: &'a Sample) -> Judged<'a>;
}

/// Sees all completions of one prompt at once, after their own verdicts: agreement, relative
/// length, diversity.
pub trait GroupVerifier: Send + Sync {
    /// Judges `group`: one verdict for each member, in their order.
    fn verify_group(&self, group: &Group<'_>, meter: &mut Meter<'_>) -> Vec<Verdict>;
}

/// The samples of one prompt, with what is known of each.
pub struct Group<'a> {
    /// The members, in the order of the rows.
    pub members: Vec<Member<'a>>,
}

/// One sample of a group.
#[derive(Clone, Copy)]
pub struct Member<'a> {
    /// The sample.
    pub sample: &'a Sample,
    /// The names of the rewards, in the order of `verdicts`.
    pub names: &'a [String],
    /// The verdicts so far; `None` for rewards that are judged later.
    pub verdicts: &'a [Option<Verdict>],
}

impl Member<'_> {
    /// The verdict of the reward called `name`, where there is one already.
    pub fn verdict(&self, name: &str) -> Option<&Verdict> {
        let at = self.names.iter().position(|have| have == name)?;
        self.verdicts.get(at)?.as_ref()
    }
}

/// How a verifier's work runs.
pub enum Lane {
    /// One sample, on the thread pool.
    Compute(Box<dyn Verifier>),
    /// Many samples, through one queue a model.
    Model(Box<dyn BatchVerifier>),
    /// One sample, awaited, many in flight.
    Remote(Box<dyn RemoteVerifier>),
    /// All samples of a prompt, after their own verdicts.
    Group(Box<dyn GroupVerifier>),
}

/// What a verifier is: enough to know whether two verdicts came from the same judge.
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
}

impl Spec {
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
}
