//! One sample against a baseline that is in its row.

use std::sync::Arc;

use assay_verifiers::stats::mean;
use assay_verifiers::{Components, Fault, Reward, Sample, Verdict};

use super::compared::{Compared, Pair};
use super::report::{Side, component, order_notes};
use super::request::PairRequests;
use super::settings::{Against, PairScore};
use crate::compare::points;
use crate::verifiers::shown::shown_reference;

/// Where the baseline of a sample stands.
pub(super) enum Baseline {
    /// It is the reference answer.
    Reference,
    /// In a column.
    Column(String),
}

impl Baseline {
    /// The baseline of these settings; `None` where they compare the samples of a group.
    pub(super) fn of(against: Against) -> Option<Self> {
        match against {
            Against::Group => None,
            Against::Reference => Some(Self::Reference),
            Against::Column(column) => Some(Self::Column(column)),
        }
    }

    /// The text of a sample's baseline, else the verdict on it.
    pub(super) fn text(&self, sample: &Sample) -> Result<String, Box<Verdict>> {
        let text = match self {
            Self::Reference => sample.reference().and_then(shown_reference),
            Self::Column(column) => sample.column(column).and_then(shown_reference),
        };
        text.ok_or_else(|| {
            Box::new(match self {
                Self::Reference => Verdict::no_reference(),
                Self::Column(column) => {
                    Verdict::abstained(format!("the sample has no text in its column \"{column}\""))
                }
            })
        })
    }

    /// The name of its component.
    fn name(&self) -> &str {
        match self {
            Self::Reference => "reference",
            Self::Column(column) => column,
        }
    }

    /// The verdict on a sample with this text of a baseline.
    pub(super) async fn verdict(
        &self,
        requests: Arc<PairRequests>,
        sample: &Sample,
        baseline: &str,
    ) -> Verdict {
        let own = requests.completion(sample);
        let draw = sample.digest().first_chunk().map_or(0, |bytes| u64::from_le_bytes(*bytes));
        let pair = Pair { sample, texts: [&own, baseline], draw };
        let compared = requests.compare(pair).await;
        let score = requests.settings.score;
        let verdict = match &compared.answers {
            Err(fault) => Verdict::failed(fault.clone()),
            Ok(_) => scored(&compared, score),
        };
        let ordered: Vec<_> =
            compared.answers.iter().flatten().map(|one| one.ordered(0, 1)).collect();
        let verdict = order_notes(verdict, &ordered)
            .with("calls", compared.calls)
            .with("judge", requests.judge.name.as_str());
        let mut components = Components::default();
        let side = Side { is_first: true, score };
        components.push(self.name().to_owned(), component(&requests.questions, &compared, side));
        Verdict { components, usage: compared.usage, ..verdict }
    }
}

fn scored(compared: &Compared, score: PairScore) -> Verdict {
    let answers = compared.answers.iter().flatten();
    let strengths: Vec<f64> = answers.filter_map(|answer| answer.strength).collect();
    let values: Vec<f64> = match score {
        PairScore::MeanStrength => strengths,
        _ => strengths.into_iter().map(points).collect(),
    };
    match mean(&values).map(Reward::new) {
        Some(Some(reward)) => Verdict::scored(reward),
        Some(None) => Verdict::failed(Fault::internal("the reward is not finite")),
        None => Verdict::abstained("the verdict of the judge changes with the order"),
    }
}
