//! `PaperBench`: a tree of requirements, of which the leaves are graded.
//!
//! "`PaperBench`: Evaluating AI's Ability to Replicate AI Research", section on grading: the score
//! of a node is the mean of the scores below it by weight, and 0 where those weights are all 0. The
//! root is one criterion; its own weight has no meaning. Scores that a graded tree holds are not
//! read. An id that comes twice, as in copies with shortened ids, is numbered. [`prune`] gives the variant that looks at code alone.

use super::draft::Draft;
use super::found::Found;
use super::place::At;
use crate::rubric::{Criterion, DEPTH_MAX, Rubric, RubricError};

pub(super) fn read(found: &Found<'_>) -> Result<Rubric, RubricError> {
    let keys = &[
        ("points", "weight"),
        ("text", "requirements"),
        ("name", "id"),
        ("criterion", "sub_tasks"),
    ];
    let mut draft = Draft::new(&found.at, keys);
    let mut root = node(&mut draft, &found.at, 1)?;
    root.points = 1.0;
    draft.rubric.criteria.push(root);
    draft.finish()
}

fn node(draft: &mut Draft, at: &At<'_>, depth: usize) -> Result<Criterion, RubricError> {
    if depth > DEPTH_MAX {
        return Err(at.refuse(format!("the tree is deeper than {DEPTH_MAX}")));
    }
    let name = draft.made(at, at.need("id")?.text()?);
    let mut criterion = Criterion::new(name, at.need("requirements")?.text()?);
    criterion.points = at.need("weight")?.weight()?;
    if let Some(below) = at.key("sub_tasks") {
        for below in below.list()? {
            criterion.criteria.push(node(draft, &below, depth + 1)?);
        }
    }
    if !criterion.is_node() {
        for key in ["task_category", "category", "finegrained_task_category"] {
            if let Some(category) = at.key(key) {
                criterion.tags.push(category.text()?.to_owned());
            }
        }
    }
    Ok(criterion)
}

/// The rubric with only the leaves that have one of `tags`: nodes without such a leaf go too. With
/// the tag `Code Development` this is the variant of `PaperBench` that looks at code alone. `None`
/// where nothing is left.
pub fn prune(rubric: &Rubric, tags: &[&str]) -> Option<Rubric> {
    let kept = |criterion: &Criterion| pruned(criterion, tags);
    let criteria: Vec<Criterion> = rubric.criteria.iter().filter_map(kept).collect();
    (!criteria.is_empty()).then(|| Rubric { criteria, ..rubric.clone() })
}

fn pruned(criterion: &Criterion, tags: &[&str]) -> Option<Criterion> {
    if !criterion.is_node() {
        let has = criterion.tags.iter().any(|tag| tags.contains(&tag.as_str()));
        return has.then(|| criterion.clone());
    }
    let criteria: Vec<Criterion> =
        criterion.criteria.iter().filter_map(|below| pruned(below, tags)).collect();
    (!criteria.is_empty()).then(|| Criterion { criteria, ..criterion.clone() })
}
