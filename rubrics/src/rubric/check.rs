//! What a rubric must be before it is used: names, points, prerequisites, kinds.

use std::collections::{BTreeMap, BTreeSet};

use super::aggregation_check::check as check_aggregation;
use super::fill::is_template;
use super::types::{AnswerChoice, AnswerKind, Criterion, Rubric, RubricError, Scale};

/// The most criteria of a rubric, nodes included.
pub const CRITERIA_MAX: usize = 10_000;
/// The deepest tree.
pub const DEPTH_MAX: usize = 32;
/// The most prerequisites of a rubric, those that criteria have from nodes above them included.
const NEEDS_MAX: usize = 1_000;
/// The longest chain of prerequisites: a judge is asked once more for each link.
const CHAIN_MAX: usize = 100;
/// The longest scale.
const SCALE_MAX: i64 = 1_000;
/// The most choices.
const CHOICES_MAX: usize = 1_000;

/// A criterion with its place and its index in the order of the file.
struct Found<'a> {
    place: String,
    criterion: &'a Criterion,
    /// The criteria above it, by their indices.
    above: Vec<usize>,
}

impl Rubric {
    /// Checks the rubric: each name once and not empty, points that are finite, prerequisites that
    /// exist and have no cycle, choices and scales of at least two answers, and an aggregate whose
    /// sum of points is not zero.
    ///
    /// # Errors
    /// What is wrong, with its place.
    pub fn check(&self) -> Result<(), RubricError> {
        if self.criteria.is_empty() {
            return Err(RubricError::new("criterion", "a rubric needs at least one criterion"));
        }
        if self.templates {
            is_template("instructions", &self.instructions)?;
        }
        let mut found = Vec::new();
        collect(&self.criteria, "", &[], &mut found)?;
        let mut names: BTreeMap<&str, usize> = BTreeMap::new();
        for (at, one) in found.iter().enumerate() {
            let name = one.criterion.name.as_str();
            if name.trim().is_empty() {
                return Err(RubricError::new(format!("{}.name", one.place), "the name is empty"));
            }
            if let Some(first) = names.insert(name, at).and_then(|first| found.get(first)) {
                let why = format!("the name \"{name}\" is used twice, first in {}", first.place);
                return Err(RubricError::new(format!("{}.name", one.place), why));
            }
            one.check()?;
            if self.templates {
                is_template(&format!("{}.text", one.place), &one.criterion.text)?;
            }
        }
        no_cycles(&found, &names)?;
        check_aggregation(&self.aggregate, self)
    }
}

fn collect<'a>(
    criteria: &'a [Criterion],
    place_above: &str,
    above: &[usize],
    found: &mut Vec<Found<'a>>,
) -> Result<(), RubricError> {
    for (at, criterion) in criteria.iter().enumerate() {
        let place = format!("{place_above}criterion[{at}]");
        if above.len() >= DEPTH_MAX {
            return Err(RubricError::new(place, format!("the tree is deeper than {DEPTH_MAX}")));
        }
        if found.len() == CRITERIA_MAX {
            return Err(RubricError::new(place, format!("more than {CRITERIA_MAX} criteria")));
        }
        let own = [above, &[found.len()]].concat();
        found.push(Found { place: place.clone(), criterion, above: above.to_vec() });
        collect(&criterion.criteria, &format!("{place}."), &own, found)?;
    }
    Ok(())
}

impl Found<'_> {
    fn refuse(&self, key: &str, why: impl Into<String>) -> RubricError {
        RubricError::new(format!("{}.{key}", self.place), why)
    }

    fn check(&self) -> Result<(), RubricError> {
        let one = self.criterion;
        if !one.points.is_finite() {
            return Err(self.refuse("points", "not a finite number"));
        }
        if one.pass.is_some_and(|pass| !pass.is_finite()) {
            return Err(self.refuse("pass", "not a finite number"));
        }
        if one.essential && one.veto {
            return Err(self.refuse("veto", "a criterion is `essential` or a `veto`, not both"));
        }
        self.check_answerer()?;
        match &one.kind {
            AnswerKind::YesNo => Ok(()),
            AnswerKind::Choices(choices) => self.check_choices(choices),
            AnswerKind::Scale(scale) => self.check_scale(scale),
        }
    }

    fn check_answerer(&self) -> Result<(), RubricError> {
        let one = self.criterion;
        let by_code = one.verifier.is_some() || one.reward.is_some();
        if one.verifier.is_some() && one.reward.is_some() {
            return Err(self.refuse("reward", "either a `verifier` answers or a `reward`"));
        }
        if !one.config.is_empty() && one.verifier.is_none() {
            return Err(self.refuse("config", "there is no `verifier` to be set"));
        }
        if one.is_node() && by_code {
            return Err(self.refuse("criterion", "a criterion that is answered has none below it"));
        }
        if one.negate && !by_code {
            return Err(self.refuse("negate", "only answers of a `verifier` or a `reward`"));
        }
        if one.asks_judge() && one.text.trim().is_empty() {
            return Err(self.refuse("text", "the judge is asked nothing"));
        }
        Ok(())
    }

    fn check_choices(&self, choices: &[AnswerChoice]) -> Result<(), RubricError> {
        if choices.len() < 2 {
            return Err(self.refuse("kind.choices", "at least two choices are needed"));
        }
        if choices.len() > CHOICES_MAX {
            let why = format!("expected at most {CHOICES_MAX} choices, found {}", choices.len());
            return Err(self.refuse("kind.choices", why));
        }
        for (at, choice) in choices.iter().enumerate() {
            let key = format!("kind.choices[{at}]");
            let before = choices.iter().take(at);
            if choice.label.trim().is_empty() {
                return Err(self.refuse(&key, "the label is empty"));
            }
            if before.clone().any(|other| other.label.eq_ignore_ascii_case(&choice.label)) {
                let why = format!("the label \"{}\" is used twice", choice.label);
                return Err(self.refuse(&key, why));
            }
            if choice.value.is_some_and(|value| !value.is_finite()) {
                return Err(self.refuse(&key, "the value is not a finite number"));
            }
        }
        Ok(())
    }

    fn check_scale(&self, scale: &Scale) -> Result<(), RubricError> {
        let count = scale.max.saturating_sub(scale.min).saturating_add(1);
        if !(2..=SCALE_MAX).contains(&count) {
            let why = format!("expected 2 to {SCALE_MAX} numbers, found {count}");
            return Err(self.refuse("kind.scale", why));
        }
        let levels = i64::try_from(scale.levels.len()).unwrap_or(i64::MAX);
        if levels != 0 && levels != count {
            let why = format!("{levels} levels are described, of {count}");
            return Err(self.refuse("kind.scale.levels", why));
        }
        Ok(())
    }
}

/// Refuses prerequisites that are unknown, and cycles of them: a criterion waits for its prerequisites
/// and for those of the criteria above it, a node for the criteria below it.
fn no_cycles(found: &[Found<'_>], names: &BTreeMap<&str, usize>) -> Result<(), RubricError> {
    let mut needs: Vec<Vec<usize>> = Vec::with_capacity(found.len());
    for one in found {
        let mut own = Vec::with_capacity(one.criterion.needs.len());
        for (at, need) in one.criterion.needs.iter().enumerate() {
            let Some(&index) = names.get(need.as_str()) else {
                let why = format!("no criterion is called \"{need}\"");
                return Err(one.refuse(&format!("needs[{at}]"), why));
            };
            own.push(index);
        }
        needs.push(own);
    }
    #[expect(clippy::indexing_slicing, reason = "places are of `found`, for which all are pushed")]
    let of = |at: &usize| needs[*at].len();
    let mut total = 0;
    for (at, one) in found.iter().enumerate() {
        total += of(&at) + one.above.iter().map(of).sum::<usize>();
        if total > NEEDS_MAX {
            let why = format!("more than {NEEDS_MAX} prerequisites, with those of nodes above");
            return Err(one.refuse("needs", why));
        }
    }
    let mut waits = needs.clone();
    for (at, one) in found.iter().enumerate() {
        let inherited = one.above.iter().filter_map(|above| needs.get(*above)).flatten();
        if let Some(own) = waits.get_mut(at) {
            own.extend(inherited);
        }
        if let Some(node) = one.above.last().and_then(|node| waits.get_mut(*node)) {
            node.push(at);
        }
    }
    // Criteria whose prerequisites are all placed are placed next; a cycle leaves some over.
    let mut waiting: Vec<BTreeSet<usize>> =
        waits.into_iter().map(|own| own.into_iter().collect()).collect();
    let mut behind: Vec<Vec<usize>> = vec![Vec::new(); found.len()];
    for (at, own) in waiting.iter().enumerate() {
        for need in own {
            behind.get_mut(*need).into_iter().for_each(|all| all.push(at));
        }
    }
    let mut ready: Vec<usize> =
        (0..found.len()).filter(|at| waiting.get(*at).is_some_and(BTreeSet::is_empty)).collect();
    let (mut placed, mut links) = (vec![false; found.len()], 0);
    while !ready.is_empty() {
        let mut next = Vec::new();
        for at in ready {
            placed.get_mut(at).into_iter().for_each(|done| *done = true);
            for follower in behind.get(at).into_iter().flatten() {
                let Some(own) = waiting.get_mut(*follower) else { continue };
                own.remove(&at);
                if own.is_empty() {
                    next.push(*follower);
                }
            }
        }
        if let Some(one) = next.first().and_then(|at| found.get(*at)).filter(|_| links == CHAIN_MAX)
        {
            let why = format!("a chain of more than {CHAIN_MAX} prerequisites");
            return Err(one.refuse("needs", why));
        }
        (ready, links) = (next, links + 1);
    }
    let left = found.iter().zip(&placed).filter(|(_, placed)| !**placed).map(|(one, _)| one);
    let with_needs = left.clone().find(|one| !one.criterion.needs.is_empty());
    let wrong = with_needs.or_else(|| left.clone().next());
    wrong.map_or(Ok(()), |one| Err(one.refuse("needs", "the prerequisites form a cycle")))
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn place(criteria: &Value) -> String {
        let error = Rubric::from_value(&json!({ "criterion": criteria })).unwrap_err();
        format!("{}: {}", error.place, error.message)
    }

    #[test]
    fn cycles_lead_through_nodes_too() {
        let leaf = |name: &str, needs: &[&str]| json!({"name": name, "text": "x", "needs": needs});
        let node = |needs: &[&str], below: &[Value]| json!({"name": "node", "needs": needs, "criterion": below});
        let cycle = "the prerequisites form a cycle";
        for criteria in [
            json!([leaf("a", &["b"]), leaf("b", &["a"])]),
            json!([leaf("a", &["a"])]),
            json!([node(&[], &[leaf("a", &["node"])])]),
            json!([node(&["a"], &[leaf("a", &[])])]),
            json!([node(&["b"], &[leaf("a", &[])]), leaf("b", &["a"])]),
        ] {
            assert!(place(&criteria).ends_with(cycle), "{criteria}: {}", place(&criteria));
        }
        let chain = |length: usize| -> Value {
            let one = |at: usize| {
                let needs: Vec<String> =
                    (at > 0).then(|| (at - 1).to_string()).into_iter().collect();
                json!({"name": at.to_string(), "text": "x", "needs": needs})
            };
            (0..length).map(one).collect()
        };
        assert!(place(&chain(10_000)).contains("prerequisites"));
        assert!(place(&chain(CHAIN_MAX + 2)).ends_with("a chain of more than 100 prerequisites"));
        assert!(Rubric::from_value(&json!({ "criterion": chain(CHAIN_MAX) })).is_ok());
        let fine = json!({"criterion": [leaf("b", &["node"]), node(&["c"], &[leaf("a", &[])]), leaf("c", &[])]});
        assert!(Rubric::from_value(&fine).is_ok());
    }

    #[test]
    fn what_is_wrong_is_named_with_its_place() {
        for (criteria, told) in [
            (
                json!([{"name": "a", "text": "x"}, {"name": "a", "text": "y"}]),
                "criterion[1].name: the name \"a\" is used twice, first in criterion[0]",
            ),
            (
                json!([{"name": "a", "text": "x", "needs": ["b"]}]),
                "criterion[0].needs[0]: no criterion is called \"b\"",
            ),
            (
                json!([{"name": "a", "text": "x", "points": 0}]),
                "criterion: the points of the criteria add up to 0",
            ),
            (
                json!([{"name": "n", "criterion": [{"name": "a", "text": "x"}, {"name": "b", "text": "x", "points": -1}]}]),
                "criterion[0].criterion: the points of the criteria below it add up to 0",
            ),
            (
                json!([{"name": "a", "text": "x", "points": -2}, {"name": "b", "text": "x"}]),
                "criterion: the points of the criteria add up to -1, by which a weighted mean is divided: \
                 a sum below 0 turns rewards round; `how = \"positive_points\"` divides by the positive ones \
                 alone",
            ),
            (json!([{"name": "a"}]), "criterion[0].text: the judge is asked nothing"),
            (json!([{"name": " ", "text": "x"}]), "criterion[0].name: the name is empty"),
            (
                json!([{"name": "a", "text": "x", "kind": {"choices": [{"label": "A"}]}}]),
                "criterion[0].kind.choices: at least two choices are needed",
            ),
        ] {
            assert_eq!(place(&criteria), told);
        }
    }
}
