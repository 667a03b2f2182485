//! What a reply answers, and what was read of it.

use crate::rubric::{Answer, Criterion};

/// What a reply answers.
pub struct AskedCriteria<'a> {
    /// The criteria, in the order in which they were asked.
    pub criteria: &'a [&'a Criterion],
    /// The code that the reply must repeat.
    pub code: &'a str,
    /// The texts that a careless judge might copy.
    pub material: &'a [&'a str],
}

/// What a judge said of one criterion.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CriterionVerdict {
    /// The answer; `None` where the judge could not tell.
    pub answer: Option<Answer>,
    /// Why.
    pub reasons: String,
    /// What it quoted of the completion.
    pub quote: Option<String>,
    /// The expected share by the probabilities of the answers, where they are known. Source:
    /// "G-Eval: NLG Evaluation using GPT-4 with Better Human Alignment", scoring function.
    pub expected: Option<f64>,
}

/// What words stand for.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Told {
    /// An answer.
    Answer(Answer),
    /// The judge cannot tell.
    CannotTell,
}

impl Told {
    /// The answer, where there is one.
    pub(super) fn known(self) -> Option<Answer> {
        match self {
            Self::Answer(answer) => Some(answer),
            Self::CannotTell => None,
        }
    }
}
