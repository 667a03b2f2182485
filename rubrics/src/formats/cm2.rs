//! CM2: a checklist for each turn of a dialogue, with items that need others.
//!
//! "CM2: Reinforcement Learning with Checklist Rewards for Multi-Turn and Multi-Step Agentic Tool
//! Use", section on the reward: an item is a yes or
//! no about a turn, met where any step of the turn meets it; the score of a turn is the sum of the
//! weights of its items that are met, which add up to 1; the reward is the mean over the turns, and
//! over the variants where a dialogue has several checklists. Reconstructed from a description of
//! the code: keys that it may spell in several ways are read in each.
//!
//! The items become criteria of a turn, the turns those of a variant; an item `C1` of turn 0 is
//! called `t0-C1`, or `v0-t0-C1` where there are variants.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use super::draft::Draft;
use super::found::Found;
use super::place::At;
use crate::rubric::{Criterion, Rubric, RubricError};

/// By how much the weights of a turn may miss 1.
const WEIGHTS_SLACK: f64 = 1e-6;

pub(super) fn read(found: &Found<'_>) -> Result<Rubric, RubricError> {
    let keys = &[("points", "weight"), ("text", "question"), ("name", "id"), ("needs", "")];
    let at = &found.at;
    let mut draft = Draft::new(at, keys);
    let variants = match at.key("checklists") {
        Some(variants) => variants.filled()?,
        None if at.value.is_array() => {
            let listed = at.filled()?;
            let is_variant = |one: &At<'_>| one.value.is_array() || one.key("turns").is_some();
            if listed.iter().any(is_variant) { listed } else { vec![at.clone()] }
        }
        None => vec![at.clone()],
    };
    if let [variant] = variants.as_slice() {
        let turns = turns(&mut draft, variant, "")?;
        draft.rubric.criteria = turns;
        return draft.finish();
    }
    for (number, variant) in variants.iter().enumerate() {
        let name = draft.made(variant, &format!("v{number}"));
        let mut node = Criterion::new(name, "");
        node.criteria = turns(&mut draft, variant, &format!("v{number}-"))?;
        draft.rubric.criteria.push(node);
    }
    draft.finish()
}

fn turns(draft: &mut Draft, at: &At<'_>, prefix: &str) -> Result<Vec<Criterion>, RubricError> {
    let listed = if at.value.is_array() { at.clone() } else { at.need("turns")? };
    let turn = |(number, turn): (usize, &At<'_>)| self::turn(draft, turn, prefix, number);
    listed.filled()?.iter().enumerate().map(turn).collect()
}

fn turn(
    draft: &mut Draft,
    at: &At<'_>,
    prefix: &str,
    number: usize,
) -> Result<Criterion, RubricError> {
    let number = match at.any(&["turn", "turn_index"]) {
        Some(told) => {
            let index = told.value.as_u64().and_then(|index| usize::try_from(index).ok());
            index.ok_or_else(|| told.refuse("expected a turn, counted from 0"))?
        }
        None => number,
    };
    let prefix = format!("{prefix}t{number}");
    let name = draft.named(at, at, prefix.clone())?;
    let mut node = Criterion::new(name, "");
    let list = at.need_any(&["items", "checklist"])?;
    let needs = needs(at)?;
    let items = list.filled()?;
    let weights = at.any(&["weights", "weight"]);
    let mut sum = 0.0;
    let mut ids = BTreeSet::new();
    for item in &items {
        let id = item.need("id")?;
        let name = draft.named(item, &id, format!("{prefix}-{}", id.text()?.trim()))?;
        let mut criterion = Criterion::new(name, question(item)?);
        criterion.turn = Some(number);
        criterion.points = match &weights {
            Some(weights) => weights.need(id.text()?)?.weight()?,
            None => item.need("weight")?.weight()?,
        };
        sum += criterion.points;
        if let Some(own) = needs.get(id.text()?) {
            let of_turn = |need: &String| format!("{prefix}-{need}");
            criterion.needs = own.iter().map(of_turn).collect();
        }
        ids.insert(id.text()?);
        node.criteria.push(criterion);
    }
    if (sum - 1.0).abs() > WEIGHTS_SLACK {
        let place = weights.unwrap_or(list);
        return Err(place.refuse(format!("the weights of a turn add up to {sum}, not to 1")));
    }
    known(at, &needs, &ids)?;
    Ok(node)
}

/// Refuses prerequisites of or from items that are not there; each item that is there must be a key.
fn known(
    at: &At<'_>,
    needs: &BTreeMap<String, Vec<String>>,
    ids: &BTreeSet<&str>,
) -> Result<(), RubricError> {
    let Some(place) = at.any(DEPENDENCE) else { return Ok(()) };
    let named = needs.iter().flat_map(|(id, own)| own.iter().chain([id]));
    if let Some(id) = named.into_iter().find(|id| !ids.contains(id.as_str())) {
        return Err(place.refuse(format!("no item is called \"{id}\"")));
    }
    match ids.iter().find(|id| !needs.contains_key(**id)) {
        Some(id) => Err(place.refuse(format!("the item \"{id}\" is missing"))),
        None => Ok(()),
    }
}

const DEPENDENCE: &[&str] = &["dependence", "dependencies", "depends_on"];

fn needs(at: &At<'_>) -> Result<BTreeMap<String, Vec<String>>, RubricError> {
    let Some(map) = at.any(DEPENDENCE) else { return Ok(BTreeMap::new()) };
    map.members()?.into_iter().map(|(id, own)| Ok((id.to_owned(), own.texts()?))).collect()
}

/// The question with everything that the judge goes by.
fn question(item: &At<'_>) -> Result<String, RubricError> {
    let mut text = item.need("question")?.text()?.trim().to_owned();
    let mut add = |title: &str, told: &str| {
        if !told.is_empty() {
            // Writing to a text does not fail.
            let _ = write!(text, "\n{title}: {told}");
        }
    };
    if let Some(focus) = item.any(&["focus_on", "focus"]) {
        add("Look at", &focus.texts()?.join(", "));
    }
    if let Some(pass) = item.key("pass_condition") {
        add("It is met when", pass.text()?);
    }
    if let Some(failures) = item.any(&["failure_examples", "failures"]) {
        add("It is not met in cases such as", &failures.texts()?.join("; "));
    }
    if let Some(evidence) = item.key("evidence") {
        add("It stems from", &snippets(&evidence)?.join("; "));
    }
    Ok(text)
}

/// Evidence: texts, or objects with a text and where it is.
fn snippets(at: &At<'_>) -> Result<Vec<String>, RubricError> {
    if at.value.is_string() {
        return at.texts();
    }
    let snippet = |one: &At<'_>| {
        if one.value.is_string() {
            return Ok(one.text()?.to_owned());
        }
        Ok(one.need_any(&["snippet", "text", "quote"])?.text()?.to_owned())
    };
    at.list()?.iter().map(snippet).collect()
}
