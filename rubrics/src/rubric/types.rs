//! The types of a rubric: criteria, kinds of answers, answers.

use std::collections::BTreeMap;

use assay_verifiers::prelude::*;
use assay_verifiers::stats::float;
use serde_json::Map;

use super::aggregation::Aggregation;

/// Criteria, and how the answers to them become a reward.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Rubric {
    /// What the rubric is called.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub name: String,
    /// What the judge is told beside the criteria.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub instructions: String,
    /// A reference answer for the judge; without it that of the sample is shown, where it has one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reference: Option<String>,
    /// `instructions` and the `text` of each criterion are templates: `{{ item.NAME }}` stands for a
    /// column of the row, and is filled in before the judge is asked.
    #[serde(skip_serializing_if = "is_false")]
    pub templates: bool,
    /// How the answers become a reward.
    pub aggregate: Aggregation,
    /// The criteria, in the order in which they are reported.
    #[serde(rename = "criterion")]
    pub criteria: Vec<Criterion>,
}

/// One thing that is asked of a completion.
///
/// It is answered by the judge of the rubric, unless it names a `verifier` or a `reward`. A criterion
/// with criteria of its own is a node of a tree: its answer is the weighted mean of theirs.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[expect(clippy::struct_excessive_bools, reason = "each is a key of the file")]
pub struct Criterion {
    /// The name under which it is reported. Unique within its rubric.
    pub name: String,
    /// What is asked, in words.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub text: String,
    /// What a full answer earns, of any sign: a criterion with negative points describes a defect.
    /// In a tree it is the weight among the siblings.
    #[serde(default = "one")]
    pub points: f64,
    /// What answers there are: yes and no, ordered choices, or a scale of whole numbers.
    #[serde(default, skip_serializing_if = "AnswerKind::is_yes_no")]
    pub kind: AnswerKind,
    /// Words by which criteria are grouped in reports.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tags: Vec<String>,
    /// A gate: where its answer is below `pass`, the reward is the `floor` of the aggregate.
    #[serde(default, skip_serializing_if = "is_false")]
    pub essential: bool,
    /// A gate that describes what must not be: where its answer reaches `pass`, the reward is the
    /// `floor` of the aggregate.
    #[serde(default, skip_serializing_if = "is_false")]
    pub veto: bool,
    /// The least share, 0 to 1, at which the criterion counts as met; 0.5 by default, so that of yes
    /// and no it is yes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pass: Option<f64>,
    /// The criteria that must be met before this one is asked. Where one is not, this one is not
    /// met either.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub needs: Vec<String>,
    /// The judge must quote the completion for a yes; a quotation that is not there makes it a no.
    #[serde(default, skip_serializing_if = "is_false")]
    pub evidence: bool,
    /// Which message is judged where the completion is a conversation: the turn of the user that it
    /// answers, counted from 0. The whole conversation by default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub turn: Option<usize>,
    /// Answers that are known, for the judge to go by.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub examples: Vec<Example>,
    /// The id of the verifier that answers in place of the judge. Its reward is the share of the
    /// points that is earned.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub verifier: Option<String>,
    /// The settings of that verifier.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub config: Map<String, Value>,
    /// The reward, listed before that of the rubric, that answers in place of the judge.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reward: Option<String>,
    /// The opposite counts: 1 less the share that the `verifier` or the `reward` gave.
    #[serde(default, skip_serializing_if = "is_false")]
    pub negate: bool,
    /// The criteria below this one.
    #[serde(rename = "criterion", default, skip_serializing_if = "Vec::is_empty")]
    pub criteria: Vec<Criterion>,
}

/// What answers a criterion has.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum AnswerKind {
    /// Yes (a share of 1) or no (0).
    #[default]
    YesNo,
    /// Ordered choices, from the worst to the best.
    Choices(Vec<AnswerChoice>),
    /// A whole number.
    Scale(Scale),
}

/// One of the ordered choices of a criterion.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AnswerChoice {
    /// What the judge writes.
    pub label: String,
    /// When it is the right one.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub text: String,
    /// The share of the points that it earns; by default its rank over the highest rank.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub value: Option<f64>,
}

/// A scale of whole numbers. The share that a number earns is `(number - min) / (max - min)`.
///
/// ```
/// use assay_rubrics::rubric::{AnswerKind, Scale};
///
/// let rating = AnswerKind::Scale(Scale { continuous: true, max: 2, ..Scale::default() });
/// assert_eq!(rating.answer("1.25").map(|answer| answer.share), Some(0.25));
/// assert_eq!(rating.answer("7").map(|answer| answer.value), Some(2.0));
/// ```
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema, SmartDefault)]
#[serde(deny_unknown_fields)]
pub struct Scale {
    /// The least number.
    #[serde(default = "one_i64")]
    #[default(1)]
    pub min: i64,
    /// The greatest number.
    #[default(1)]
    pub max: i64,
    /// When each number is the right one, from `min` on; none or all of them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub levels: Vec<String>,
    /// The numbers between the whole ones are answers too, and a number beyond an end counts as
    /// that end.
    #[serde(default, skip_serializing_if = "is_false")]
    pub continuous: bool,
}

/// A completion whose answer is known.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Example {
    /// The completion, or a part of one.
    pub completion: String,
    /// The answer as the judge writes it: `yes`, `no`, the label of a choice, a number.
    pub answer: String,
    /// Why.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub reasons: String,
}

/// What is wrong with a rubric, and where.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{place}: {message}")]
pub struct RubricError {
    /// The place as a path, such as `criterion[3].needs[0]`, or the line and column of a text.
    pub place: String,
    /// Lower case, no final dot.
    pub message: String,
}

impl RubricError {
    /// What is wrong at a place.
    pub fn new(place: impl Into<String>, message: impl Into<String>) -> Self {
        Self { place: place.into(), message: message.into() }
    }
}

impl Rubric {
    /// Every criterion without criteria below it, in order.
    pub fn leaves(&self) -> Vec<&Criterion> {
        let mut leaves = Vec::new();
        self.criteria.iter().for_each(|criterion| criterion.collect_leaves(&mut leaves));
        leaves
    }

    /// The criterion called `name`, at any depth.
    pub fn find(&self, name: &str) -> Option<&Criterion> {
        self.criteria.iter().find_map(|criterion| criterion.find(name))
    }
}

impl Criterion {
    /// A criterion of yes and no, for one point.
    pub fn new(name: impl Into<String>, text: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            text: text.into(),
            points: one(),
            kind: AnswerKind::YesNo,
            tags: Vec::new(),
            essential: false,
            veto: false,
            pass: None,
            needs: Vec::new(),
            evidence: false,
            turn: None,
            examples: Vec::new(),
            verifier: None,
            config: Map::new(),
            reward: None,
            negate: false,
            criteria: Vec::new(),
        }
    }

    /// Whether it has criteria below it.
    pub fn is_node(&self) -> bool {
        !self.criteria.is_empty()
    }

    /// Every criterion below it without criteria of its own; itself where it has none.
    pub fn leaves(&self) -> Vec<&Criterion> {
        let mut leaves = Vec::new();
        self.collect_leaves(&mut leaves);
        leaves
    }

    fn find(&self, name: &str) -> Option<&Criterion> {
        if self.name == name {
            return Some(self);
        }
        self.criteria.iter().find_map(|criterion| criterion.find(name))
    }

    /// Whether the judge answers it.
    pub fn asks_judge(&self) -> bool {
        !self.is_node() && self.verifier.is_none() && self.reward.is_none()
    }

    /// Whether a share counts as met.
    pub fn is_met(&self, share: f64) -> bool {
        share >= self.pass.unwrap_or(Reward::RIGHT)
    }

    fn collect_leaves<'a>(&'a self, leaves: &mut Vec<&'a Criterion>) {
        if self.is_node() {
            self.criteria.iter().for_each(|criterion| criterion.collect_leaves(leaves));
        } else {
            leaves.push(self);
        }
    }
}

/// What a criterion was answered.
#[derive(Clone, Debug, PartialEq)]
pub struct Answer {
    /// The share of the points that is earned, 0 to 1 for answers of a judge.
    pub share: f64,
    /// The answer as a number: 1 and 0 for yes and no, the rank of a choice, the number of a scale.
    pub value: f64,
}

/// Answers by the names of their criteria; `None` where there is none.
pub type Answers = BTreeMap<String, Option<Answer>>;

impl AnswerKind {
    /// Whether the answers are yes and no.
    pub fn is_yes_no(&self) -> bool {
        matches!(self, Self::YesNo)
    }

    /// The answer that a judge's words stand for; `None` where they are no answer of this kind.
    pub fn answer(&self, words: &str) -> Option<Answer> {
        let words = words.trim();
        match self {
            Self::YesNo => {
                let yes = match words.to_ascii_lowercase().as_str() {
                    "yes" | "true" | "1" => 1.0,
                    "no" | "false" | "0" => 0.0,
                    _ => return None,
                };
                Some(Answer { share: yes, value: yes })
            }
            Self::Choices(choices) => {
                let same = |choice: &AnswerChoice| choice.label.eq_ignore_ascii_case(words);
                let rank = choices.iter().position(same)?;
                Some(Answer { share: Self::share_of_choice(choices, rank)?, value: float(rank) })
            }
            Self::Scale(scale) => {
                let value: f64 = words.parse().ok().filter(|value: &f64| value.is_finite())?;
                let (min, max) = scale.bounds();
                let value = if scale.continuous { value.clamp(min, max) } else { value };
                let whole = scale.continuous || value.fract() == 0.0;
                let fits = whole && (min..=max).contains(&value);
                fits.then(|| Answer { share: scale.share(value), value })
            }
        }
    }

    /// The number of an answer that is between answers, such as a mean of votes.
    pub fn value(&self, share: f64) -> f64 {
        match self {
            Self::YesNo | Self::Choices(_) => share,
            Self::Scale(scale) => {
                let (min, max) = scale.bounds();
                min + share * (max - min)
            }
        }
    }

    fn share_of_choice(choices: &[AnswerChoice], rank: usize) -> Option<f64> {
        let highest = choices.len().saturating_sub(1).max(1);
        Some(choices.get(rank)?.value.unwrap_or(float(rank) / float(highest)))
    }
}

impl Scale {
    /// The least and the greatest number.
    #[expect(clippy::cast_precision_loss, reason = "scales are far below 2^53")]
    pub fn bounds(&self) -> (f64, f64) {
        (self.min as f64, self.max as f64)
    }

    /// The share that a number earns.
    pub fn share(&self, value: f64) -> f64 {
        let (min, max) = self.bounds();
        (value - min) / (max - min)
    }
}

fn one() -> f64 {
    1.0
}

fn one_i64() -> i64 {
    1
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "the signature that serde asks for")]
fn is_false(value: &bool) -> bool {
    !value
}
