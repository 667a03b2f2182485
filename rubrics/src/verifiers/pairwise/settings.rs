//! The settings of the verifier `pairwise`.

use std::collections::BTreeMap;

use assay_verifiers::extract::Thinking;
use assay_verifiers::prelude::*;

use crate::compare::{OnFlip, PairSchedule};
use crate::verifiers::judge_choice::JudgeChoice;
use crate::votes::VoteBy;

/// What is asked by default.
const OVERALL: &str = "Which response is better overall: more correct, more useful to whoever wrote \
                       the task, and truer to what was asked?";

/// A judge compares the samples of a group with each other, or each sample with a baseline, and says
/// which is better.
///
/// Each pair is judged in both orders, because judges favour places. The two texts are shown within a
/// fence that they cannot foresee, and the verdict is the last structure of the reply that carries the
/// code of the fence: "A", "B" or "tie"; where `graded` is set "A>>B", "A>B", "A=B", "B>A" or "B>>A",
/// worth 3, 1, 0, -1 and -3. Texts that are equal tie, and nobody is asked. A comparison that failed
/// is a fault of both samples and no reward. Each sample has a component for each opponent, and the
/// evidence tells the position bias, the flips and the transitivity over the group. The usage of a
/// comparison is halved among its samples, the odd rest to the first, so that it sums up to what was
/// used. A group of one abstains.
#[derive(Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PairwiseVerifier {
    /// The judge: its name among `[judges]`, or its settings.
    pub(super) judge: JudgeChoice,
    /// What a sample is compared with: the `group` of samples of its prompt, its `reference`, or
    /// `column:NAME`, a text in its row.
    #[serde(default = "group")]
    pub(super) against: String,
    /// What is asked: a text, a list of texts, or texts by names. Each is asked on its own, and the
    /// score is the mean over them.
    #[serde(default)]
    pub(super) question: Questions,
    /// Ask by how much one is better.
    #[serde(default)]
    pub(super) graded: bool,
    /// Which pairs of the group are judged.
    #[serde(default)]
    pub(super) schedule: PairSchedule,
    /// Judge each pair twice, each sample shown first once. Else the order is drawn by the seed.
    #[serde(default = "yes")]
    pub(super) both_orders: bool,
    /// What two orders come to that prefer different samples.
    #[serde(default)]
    pub(super) on_flip: OnFlip,
    /// How comparisons become a reward.
    #[serde(default)]
    pub(super) score: PairScore,
    /// What becomes of the samples of a comparison that failed.
    #[serde(default)]
    pub(super) on_fault: OnPairFault,
    /// How often each question is asked, each time with another seed.
    #[serde(default = "one")]
    pub(super) votes: u32,
    /// How the votes become one strength.
    #[serde(default)]
    pub(super) vote_by: VoteBy,
    /// How often a question is asked again, with another seed, where no verdict can be read.
    #[serde(default)]
    pub(super) asks_again: u32,
    /// The most questions about one group. A larger group fails before the first.
    #[serde(default = "calls_max")]
    pub(super) calls_max: usize,
    /// Draws the order of what is shown, and the pairs of a schedule.
    #[serde(default)]
    pub(super) seed: u64,
    /// Show the judge the reference answer, where a sample has one.
    #[serde(default = "yes")]
    pub(super) show_reference: bool,
    /// What is done with the thinking of the completions.
    #[serde(default)]
    pub(super) thinking: Thinking,
    /// A template for the system message, in place of ours.
    #[serde(default)]
    pub(super) system_prompt: Option<String>,
    /// A template for the message of the user, in place of ours.
    #[serde(default)]
    pub(super) user_prompt: Option<String>,
}

/// What a judge is asked about a pair.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(untagged, expecting = "expected a text, a list of texts, or a table of texts")]
pub(super) enum Questions {
    /// One text; it is reported as `overall`.
    One(String),
    /// Texts, reported by their numbers from 1.
    Several(Vec<String>),
    /// Texts by names.
    Named(BTreeMap<String, String>),
}

/// How comparisons become a reward.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(super) enum PairScore {
    /// The share of the comparisons that are won, a tie counted half: 0 to 1.
    #[default]
    WinRate,
    /// The mean strength: -1 to 1, where `graded` -3 to 3.
    MeanStrength,
    /// The chance to beat a sample of average worth, by the model of Bradley and Terry with ties
    /// (Davidson): 0 to 1. The logarithm of the worth is in the evidence.
    BradleyTerry,
    /// The points expected against a sample at the rating of the start, by Elo ratings updated in the
    /// order of the schedule: 0 to 1. The rating is in the evidence.
    Elo,
    /// The place in a `knockout` or `swiss` tournament: 1 for the first, 0 for the last of the group.
    Placement,
    /// No pairs: the judge sees the whole group, in another order in each vote, and scores each sample
    /// from 1 to 10. The mean score over the votes, brought to 0 to 1; the sum is in the evidence.
    Listwise,
}

/// What becomes of the samples of a comparison that failed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(super) enum OnPairFault {
    /// They fail too.
    #[default]
    Fail,
    /// The comparison is left out; a sample of which none is left fails.
    Skip,
}

/// What samples are compared with.
pub(super) enum Against {
    /// Each other.
    Group,
    /// The reference answer.
    Reference,
    /// A text of the row.
    Column(String),
}

/// One question about a pair.
#[derive(Clone, Debug)]
pub(super) struct PairQuestion {
    /// Its name in reports.
    pub(super) name: String,
    /// What is asked.
    pub(super) text: String,
}

fn group() -> String {
    "group".to_owned()
}

fn yes() -> bool {
    true
}

fn one() -> u32 {
    1
}

fn calls_max() -> usize {
    10_000
}

impl Default for Questions {
    fn default() -> Self {
        Self::One(OVERALL.to_owned())
    }
}

impl Questions {
    /// The questions in the order in which they are reported.
    pub(super) fn list(&self) -> Vec<PairQuestion> {
        let question =
            |name: &str, text: &String| PairQuestion { name: name.to_owned(), text: text.clone() };
        match self {
            Self::One(text) => vec![question("overall", text)],
            Self::Several(texts) => {
                let numbered = texts.iter().zip(1..);
                numbered.map(|(text, number)| question(&format!("{number}"), text)).collect()
            }
            Self::Named(named) => named.iter().map(|(name, text)| question(name, text)).collect(),
        }
    }
}

impl PairwiseVerifier {
    /// What samples are compared with.
    pub(super) fn against(&self) -> Result<Against, BuildError> {
        match (self.against.as_str(), self.against.strip_prefix("column:")) {
            ("group", _) => Ok(Against::Group),
            ("reference", _) => Ok(Against::Reference),
            (_, Some(column)) if !column.is_empty() => Ok(Against::Column(column.to_owned())),
            (other, _) => {
                let why =
                    format!("\"{other}\": expected \"group\", \"reference\" or \"column:NAME\"");
                Err(BuildError::new("against", why))
            }
        }
    }

    /// Refuses settings out of range, or that do not go together.
    pub(super) fn check(&self) -> Result<Against, BuildError> {
        let refuse = |setting: &'static str, why: &'static str| Err(BuildError::new(setting, why));
        let questions = self.question.list();
        let alone = matches!(self.score, PairScore::WinRate | PairScore::MeanStrength);
        let is_tournament =
            matches!(self.schedule, PairSchedule::Knockout | PairSchedule::Swiss(_));
        let against = self.against()?;
        match &against {
            _ if !(1..=20).contains(&questions.len()) => refuse("question", "expected 1 to 20"),
            _ if questions.iter().any(|one| one.text.trim().is_empty()) => {
                refuse("question", "an empty text")
            }
            _ if !(1..=1_000).contains(&self.votes) => refuse("votes", "expected 1 to 1000"),
            _ if self.asks_again > 10 => refuse("asks_again", "expected at most 10"),
            _ if matches!(self.schedule, PairSchedule::Swiss(0) | PairSchedule::Sampled(0)) => {
                refuse("schedule", "expected at least 1")
            }
            _ if self.score == PairScore::Placement && !is_tournament => {
                refuse("score", "placement needs schedule = \"knockout\" or { swiss = ROUNDS }")
            }
            Against::Reference | Against::Column(_) if !alone => {
                refuse("score", "needs against = \"group\"; expected win_rate or mean_strength")
            }
            _ => Ok(against),
        }
    }
}
