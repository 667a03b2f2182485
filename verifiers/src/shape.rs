//! The trait that authors of shapes write: how the reward of one verifier is shaped after it judged.

pub(crate) mod formula;
pub(crate) mod group;
pub(crate) mod inputs;
pub(crate) mod length;
pub(crate) mod member;
pub(crate) mod prelude;
pub(crate) mod settings;
pub(crate) mod tool_use;

use std::borrow::Cow;
use std::sync::Arc;

use serde::de::DeserializeOwned;

use crate::canonical::Digest;
use crate::check::{self, RecordedFiles};
use crate::prelude::*;
use crate::training_state::TrainingState;
use crate::verifier::Earlier;

/// One kind of shaping: its settings are the fields of the type, read by serde.
///
/// The doc comment of the type is its manual page: the formula, its source and the range of what
/// comes out. Mark the type `#[serde(deny_unknown_fields)]`. A kind that takes members one at a time
/// writes [`Shape::shape_one`]; one that compares the samples of a prompt writes [`Shape::shape`] and
/// [`Shape::is_group`].
pub trait Shape: DeserializeOwned + Serialize + JsonSchema + Send + Sync + 'static {
    /// The word by which a configuration names the kind.
    const KIND: &'static str;

    /// Runs once, when the configuration is built: the place to read files and to refuse settings
    /// that contradict each other.
    ///
    /// # Errors
    /// What is wrong with the settings, naming the one at fault.
    fn load(&mut self, files: &dyn Files) -> Result<(), BuildError> {
        let _ = files;
        Ok(())
    }

    /// Names of the other rewards whose verdicts it reads, unshaped.
    fn reads(&self) -> Vec<&str> {
        Vec::new()
    }

    /// Names under which it reads [`TrainingState::moments`]: the rewards of that name are to be
    /// observed after each call.
    fn moments(&self) -> Vec<&str> {
        Vec::new()
    }

    /// Whether it compares the samples of a prompt; else members come one at a time.
    fn is_group(&self) -> bool {
        false
    }

    /// What becomes of each member of a group, in their order. Members without a reward are shown
    /// too, and what is said of them is ignored.
    ///
    /// # Errors
    /// A fault of every member.
    fn shape(
        &self,
        members: &[ShapeMember<'_>],
        state: &TrainingState,
        meter: &mut Meter<'_>,
    ) -> Result<Vec<Shaped>, Fault> {
        let _ = (members, state, meter);
        Err(Fault::internal(format!("shape {} takes no group", Self::KIND)))
    }

    /// What becomes of a member that has this reward.
    ///
    /// # Errors
    /// A fault of this member.
    fn shape_one(
        &self,
        member: &ShapeMember<'_>,
        reward: f64,
        state: &TrainingState,
        meter: &mut Meter<'_>,
    ) -> Result<Shaped, Fault> {
        let _ = (member, reward, state, meter);
        Err(Fault::internal(format!("shape {} takes no single member", Self::KIND)))
    }
}

/// One sample whose reward is shaped.
#[derive(Clone, Copy)]
pub struct ShapeMember<'a> {
    /// The sample.
    pub sample: &'a Sample,
    /// The verdict of this reward; reward and steps are as shaped so far.
    pub verdict: &'a Verdict,
    /// The verdicts of the other rewards, as judged.
    pub earlier: Earlier<'a>,
}

impl ShapeMember<'_> {
    /// The reward as shaped so far. `None` where the verdict has none.
    pub fn reward(&self) -> Option<f64> {
        self.verdict.outcome.reward().map(Reward::get)
    }

    /// The rewards of the steps, as shaped so far.
    pub fn steps(&self) -> Vec<f64> {
        self.verdict.steps.iter().map(|step| step.reward.get()).collect()
    }
}

/// What a shape makes of one member.
#[derive(Clone, Debug, PartialEq)]
pub struct Shaped {
    /// The reward. One that is not finite is a fault of this member alone.
    pub reward: f64,
    /// The rewards along the steps of the verdict, where they change.
    pub steps: Option<Vec<f64>>,
    /// What led to it, for the evidence.
    pub notes: Vec<(Cow<'static, str>, Value)>,
}

impl Shaped {
    /// A reward; the steps stay.
    pub fn new(reward: f64) -> Self {
        Self { reward, steps: None, notes: Vec::new() }
    }

    /// Of a member without a reward: whatever is said is ignored.
    pub fn ignored() -> Self {
        Self::new(0.0)
    }

    /// The reward as it was, because the shape does not apply.
    pub fn skipped(reward: f64, why: impl Into<String>) -> Self {
        Self::new(reward).with("skipped", why.into())
    }

    /// No reward: a fault of this member alone, in a group whose others are shaped.
    pub fn failed(why: impl Into<String>) -> Self {
        Self::new(f64::NAN).with("failed", why.into())
    }

    /// Adds a note.
    #[must_use]
    pub fn with(mut self, key: &'static str, value: impl Into<Value>) -> Self {
        self.notes.push((Cow::Borrowed(key), value.into()));
        self
    }

    /// Sets the rewards of the steps.
    #[must_use]
    pub fn with_steps(self, steps: Vec<f64>) -> Self {
        Self { steps: Some(steps), ..self }
    }
}

/// A shape that is ready to run.
#[derive(Clone)]
pub struct BuiltShape {
    /// The word by which a configuration names it.
    pub kind: &'static str,
    /// The settings with every default filled in, and the `kind`.
    pub settings: Value,
    /// Whether it compares the samples of a prompt; else each member is shaped alone.
    pub is_group: bool,
    /// Names of the other rewards whose verdicts it reads, unshaped.
    pub reads: Vec<String>,
    /// Names under which it reads running moments, see [`Shape::moments`].
    pub moments: Vec<String>,
    /// SHA-256 of every file that the settings name, by its name.
    pub files: Vec<(String, Digest)>,
    run: Arc<Run>,
}

/// [`BuiltShape::shape`].
type Run = dyn Fn(&[ShapeMember<'_>], &TrainingState, &mut Meter<'_>) -> Vec<Result<Shaped, Fault>>
    + Send
    + Sync;

impl BuiltShape {
    /// What becomes of each member, in their order: of one group, or of members of any, each with an
    /// equal part of the fuel.
    pub fn shape(
        &self,
        members: &[ShapeMember<'_>],
        state: &TrainingState,
        meter: &mut Meter<'_>,
    ) -> Vec<Result<Shaped, Fault>> {
        (self.run)(members, state, meter)
    }
}

/// What became of a group, as that of each member.
pub(crate) fn of_group(
    size: usize,
    shaped: Result<Vec<Shaped>, Fault>,
) -> Vec<Result<Shaped, Fault>> {
    match shaped {
        Ok(shaped) => shaped.into_iter().map(Ok).collect(),
        Err(fault) => vec![Err(fault); size],
    }
}

/// Builds a shape from its settings, without `kind`: fills in defaults, reads files.
///
/// # Errors
/// An unknown or ill-typed setting, or what [`Shape::load`] refuses.
pub fn build<S: Shape>(settings: Value, files: &dyn Files) -> Result<BuiltShape, BuildError> {
    let mut shape: S = check::settings(settings)?;
    let recorded = RecordedFiles::new(files, Vec::new());
    shape.load(&recorded)?;
    let mut settings = serde_json::to_value(&shape)
        .map_err(|error| BuildError::new("", format!("settings cannot be written: {error}")))?;
    if let Value::Object(members) = &mut settings {
        members.insert("kind".to_owned(), Value::from(S::KIND));
    }
    let names = |names: Vec<&str>| names.into_iter().map(str::to_owned).collect();
    Ok(BuiltShape {
        kind: S::KIND,
        settings,
        is_group: shape.is_group(),
        reads: names(shape.reads()),
        moments: names(shape.moments()),
        files: recorded.into_digests(),
        run: Arc::new(move |members, state, meter| {
            if shape.is_group() {
                return of_group(members.len(), shape.shape(members, state, meter));
            }
            let part = meter.part(members.len());
            let one = |member: &ShapeMember<'_>| match member.reward() {
                Some(reward) => shape.shape_one(member, reward, state, &mut part.clone()),
                None => Ok(Shaped::ignored()),
            };
            members.iter().map(one).collect()
        }),
    })
}
