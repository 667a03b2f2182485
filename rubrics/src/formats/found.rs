//! A rubric found within a row: the value that holds it, and the objects around it.

use super::place::At;

/// The value that holds a rubric.
pub(crate) struct Found<'a> {
    /// The rubric itself.
    pub(crate) at: At<'a>,
    /// The objects around it, from the outside in.
    pub(crate) around: Vec<At<'a>>,
}

impl Found<'_> {
    /// The reference answer that is beside the rubric.
    pub(crate) fn reference(&self) -> Option<String> {
        const KEYS: &[&str] =
            &["reference_answer", "reference_response", "orig_reference_answer", "answer"];
        let beside = self.around.iter().rev().chain([&self.at]);
        let mut found = beside.filter_map(|at| at.any(KEYS)?.value.as_str());
        found.find(|text| !text.trim().is_empty()).map(str::to_owned)
    }

    /// A member of the rubric or of the objects around it.
    pub(crate) fn beside(&self, keys: &[&str]) -> Option<At<'_>> {
        self.at.any(keys).or_else(|| self.around.iter().rev().find_map(|at| at.any(keys)))
    }
}
