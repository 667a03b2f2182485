//! A rubric with everything built that answers its criteria.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use assay_verifiers::{BuildError, Built, Digest, Fault, Lane, Sample, Verdict, canonical};
use serde_json::Value;

use crate::formats;
use crate::rubric::{Criterion, Rubric, RubricError};
use crate::verifiers::scope::BuildVerifier;

/// The most rubrics of rows that are kept built.
const KEPT_MAX: usize = 4_096;
/// The most verifiers that the rubric of a row may name, and that those which are kept may name in all: each
/// may have compiled a pattern of a megabyte.
const ROW_VERIFIERS_MAX: usize = 48;

/// A rubric, checked, and the verifiers of its criteria.
pub(super) struct PreparedRubric {
    pub(super) rubric: Arc<Rubric>,
    built: BTreeMap<String, Built>,
}

/// Where the rubric of a sample stands.
pub(super) enum Source {
    /// One for all.
    Fixed(Arc<PreparedRubric>),
    /// One in each row.
    Column(ColumnSource),
}

/// Rubrics that stand in a column.
pub(super) struct ColumnSource {
    column: String,
    build: Arc<BuildVerifier>,
    has_judge: bool,
    kept: Mutex<Kept>,
}

/// Rubrics of rows that are built, and the verifiers that they name in all.
#[derive(Default)]
struct Kept {
    rubrics: BTreeMap<Digest, Arc<PreparedRubric>>,
    verifiers: usize,
}

impl PreparedRubric {
    /// Builds the verifiers of a rubric.
    ///
    /// # Errors
    /// A verifier that cannot be built, or one that sees whole groups, and a criterion for a judge
    /// where there is none.
    pub(super) fn new(
        rubric: Rubric,
        has_judge: bool,
        build: &dyn Fn(&str, Value) -> Result<Built, BuildError>,
    ) -> Result<Self, RubricError> {
        let mut verifiers = BTreeMap::new();
        for leaf in rubric.leaves() {
            let refuse =
                |why: String| RubricError::new(format!("criterion \"{}\"", leaf.name), why);
            if leaf.asks_judge() && !has_judge {
                let why = "it is for a judge, and no `judge` is set: write [judges.NAME] with url and \
                           model, and judge = \"NAME\" here";
                return Err(refuse(why.to_owned()));
            }
            let Some(id) = &leaf.verifier else { continue };
            let own = build(id, Value::Object(leaf.config.clone())).map_err(|error| {
                let dot = if error.setting.is_empty() { "" } else { "." };
                refuse(format!("config{dot}{}: {id}: {}", error.setting, error.message))
            })?;
            if own.lane.is_group() {
                return Err(refuse(format!("{id} sees whole groups, not one sample")));
            }
            verifiers.insert(leaf.name.clone(), own);
        }
        Ok(Self { rubric: Arc::new(rubric), built: verifiers })
    }

    /// The lane of the verifier that answers a criterion.
    pub(super) fn lane(&self, criterion: &Criterion) -> Option<&Lane> {
        self.built.get(&criterion.name).map(|built| &built.lane)
    }

    /// The verifiers, by the names of their criteria.
    pub(super) fn built(&self) -> impl Iterator<Item = (&str, &Built)> {
        self.built.iter().map(|(name, built)| (name.as_str(), built))
    }

    /// The rewards that answer criteria.
    pub(super) fn rewards(&self) -> impl Iterator<Item = &str> {
        self.rubric.leaves().into_iter().filter_map(|leaf| leaf.reward.as_deref())
    }
}

impl Source {
    /// A rubric in each row.
    pub(super) fn column(column: String, build: Arc<BuildVerifier>, has_judge: bool) -> Self {
        Self::Column(ColumnSource { column, build, has_judge, kept: Mutex::default() })
    }

    /// How many criteria the judge answers; of rubrics in rows, 1.
    pub(super) fn criteria(&self) -> usize {
        match self {
            Self::Fixed(prepared) => {
                let leaves = prepared.rubric.leaves();
                leaves.iter().filter(|leaf| leaf.asks_judge()).count()
            }
            Self::Column(_) => 1,
        }
    }

    /// The rubric of a sample, else the verdict on it.
    pub(super) fn of(&self, sample: &Sample) -> Result<Arc<PreparedRubric>, Box<Verdict>> {
        match self {
            Self::Fixed(prepared) => Ok(Arc::clone(prepared)),
            Self::Column(source) => source.of(sample),
        }
    }
}

impl ColumnSource {
    fn of(&self, sample: &Sample) -> Result<Arc<PreparedRubric>, Box<Verdict>> {
        let column = &self.column;
        let own = if column == "reference" { sample.reference() } else { sample.column(column) };
        let Some(value) = own.filter(|value| !value.is_null()) else {
            let why = format!("the sample has no rubric in its column \"{column}\"");
            return Err(Box::new(Verdict::abstained(why)));
        };
        let digest = canonical::digest(value);
        let lock = || self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(kept) = lock().rubrics.get(&digest) {
            return Ok(Arc::clone(kept));
        }
        let mut verifiers = 0;
        let prepared = formats::read(value.clone()).and_then(|rubric| {
            let by_code = rubric.leaves().into_iter().filter(|leaf| leaf.verifier.is_some());
            verifiers = by_code.map(|leaf| 1 + leaf.config.values().map(named_in).sum::<usize>()).sum();
            if verifiers > ROW_VERIFIERS_MAX {
                let why = format!(
                    "a rubric of a row names at most {ROW_VERIFIERS_MAX} verifiers, found {verifiers}"
                );
                return Err(RubricError::new("criterion", why));
            }
            let prepared = PreparedRubric::new(rubric, self.has_judge, &*self.build)?;
            if prepared.rewards().next().is_some() {
                return Err(RubricError::new("criterion", "a rubric of a row names no `reward`"));
            }
            if prepared.built().any(|(_, built)| built.spec.reads_verdicts) {
                return Err(RubricError::new("criterion", "a rubric of a row reads no verdicts"));
            }
            Ok(Arc::new(prepared))
        });
        let prepared = prepared.map_err(|error| {
            Box::new(Verdict::failed(Fault::bad_input(format!("column \"{column}\": {error}"))))
        })?;
        let mut kept = lock();
        if kept.rubrics.len() >= KEPT_MAX || kept.verifiers + verifiers > ROW_VERIFIERS_MAX {
            *kept = Kept::default();
        }
        kept.verifiers += verifiers;
        kept.rubrics.insert(digest, Arc::clone(&prepared));
        Ok(prepared)
    }
}

/// The verifiers that a setting names, such as a rubric within a rubric.
fn named_in(value: &Value) -> usize {
    match value {
        Value::Array(values) => values.iter().map(named_in).sum(),
        Value::Object(members) => {
            usize::from(members.contains_key("verifier"))
                + members.values().map(named_in).sum::<usize>()
        }
        _ => 0,
    }
}
