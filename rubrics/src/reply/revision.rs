//! Words by which a judge takes back what it said.

use std::sync::LazyLock;

use assay_verifiers::Pattern;

static WORDS: LazyLock<Option<Pattern>> = LazyLock::new(|| {
    Pattern::new(
        r"(?ix)\b(?:wait|at\ first(?:\ (?:sight|glance|reading))?|initially|correction|correcting|actually|
        scratch\ that|on\ (?:second\ thoughts?|reflection|reconsideration|a\ closer\ look|closer\ inspection|closer\ reading)|upon\ (?:reflection|closer|further|
        re-?\w+)|reconsider\w*|re-?evaluat\w*|re-?assess\w*|re-?check\w*|re-?vis\w+|re-?think\w*|
        chang(?:e|ed|ing)\ my\ (?:mind|verdict|answer)|i\ was\ (?:wrong|mistaken)|my\ mistake|sorry|
        let\ me\ (?:correct|fix|re\w+)|i\ (?:take|took)\ (?:that|it)\ back|i\ made\ an?\ (?:error|mistake)|
        no,\ that\ is\ wrong|looking\ (?:again|closer|more\ closely)|
        amended|corrected|updated)\b|(?:[.!?–—-]|\n)\s*no,|修正|更正|重新|等等",
    )
    .ok()
});

/// Whether the words between two verdicts take back the first.
pub(super) fn takes_back(between: &str) -> bool {
    WORDS.as_ref().is_some_and(|words| words.is_match(between))
}
