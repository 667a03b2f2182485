//! The formats that are known.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A format of rubrics.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize, Serialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum Format {
    /// Our own.
    Assay,
    /// `HealthBench`: criteria with points.
    Healthbench,
    /// `ResearchRubrics`: criteria with weights from -5 to 5.
    ResearchRubrics,
    /// Rubrics as Rewards: titles, descriptions and weights.
    RubricsAsRewards,
    /// `NeMo` Gym: criteria without weights.
    NemoGym,
    /// `PaperBench`: a tree of requirements.
    Paperbench,
    /// `Prometheus`: a criterion with five levels.
    Prometheus,
    /// `BiGGen-Bench`: the same, one for each prompt.
    Biggen,
    /// `WildBench`: a checklist, and a score from 1 to 10.
    Wildbench,
    /// The rubric judge of `verifiers`: ordered choices.
    Verifiers,
    /// `CM2`: a checklist for each turn of a dialogue.
    Cm2,
    /// The model-graded scorers of `inspect_ai`.
    Inspect,
    /// Assertions of `promptfoo`.
    Promptfoo,
    /// Graders of `OpenAI`.
    OpenaiGrader,
}

assay_verifiers::words! {
    Format, name:
    Assay "assay", Healthbench "healthbench", ResearchRubrics "research_rubrics",
    RubricsAsRewards "rubrics_as_rewards", NemoGym "nemo_gym", Paperbench "paperbench",
    Prometheus "prometheus", Biggen "biggen", Wildbench "wildbench", Verifiers "verifiers",
    Cm2 "cm2", Inspect "inspect", Promptfoo "promptfoo", OpenaiGrader "openai_grader",
}

impl Format {
    /// What tells it from the others.
    pub fn shape(self) -> &'static str {
        match self {
            Self::Assay => "`criterion`, a list",
            Self::Healthbench => "a list of `criterion` and `points`",
            Self::ResearchRubrics => "a list of `criterion` and `weight`",
            Self::RubricsAsRewards => "a list of `title`, `description` and `weight`",
            Self::NemoGym => "a list of `id` and `criteria`",
            Self::Paperbench => "`requirements`, `weight` and `sub_tasks`",
            Self::Prometheus => "`criterion` and `levels`, or `orig_criteria`",
            Self::Biggen => "`criteria` and `score1_description`",
            Self::Wildbench => "`checklist`, a list of questions",
            Self::Verifiers => "`criteria`, a list of `name`, `text` and `choices`",
            Self::Cm2 => "`turns`, a list of checklists",
            Self::Inspect => "the scorer `model_graded_qa` or `model_graded_fact`",
            Self::Promptfoo => "`assert`, a list of `type` and `value`",
            Self::OpenaiGrader => "`type`, such as `string_check` or `multi`",
        }
    }
}
