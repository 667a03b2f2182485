//! `RewardBench`, both versions: right completions against wrong ones.

use std::collections::{BTreeMap, BTreeSet};

use assay::reward_models::benchmarks::{
    self, POOLED, Preference, PreferenceRule, PreferenceScores,
};
use assay::reward_models::model::Model;
use assay::reward_models::template::View;
use assay::verifiers::Message;
use serde_json::{Map, json};

use super::task::{Figures, Scored, Task, percent};
use crate::eval::rows::{Completions, Row, Rows};
use crate::exit::{Exit, Failure};
use crate::output;

/// The subset in which several completions are right.
const TIES: &str = "ties";

/// A prompt, and its completions.
struct Choice<'a> {
    row: &'a Row,
    subset: String,
    rule: PreferenceRule,
    messages: Vec<Message>,
    chosen: Vec<String>,
    rejected: Vec<String>,
}

pub(super) fn reward_bench(task: &Task<'_>) -> Result<Exit, Failure> {
    let rows = task.rows(&["prompt", "chosen", "rejected", "subset", "id"], "subset")?;
    let choices = rows.iter().map(choice).collect::<Result<Vec<Choice<'_>>, Failure>>()?;
    check_ties(&rows, &choices)?;
    let model = task.model(&rows)?;
    let mut views = Vec::new();
    let mut owners = Vec::new();
    for choice in &choices {
        for completion in choice.chosen.iter().chain(&choice.rejected) {
            let (steps, completion) = (model.step_texts(completion), completion.clone());
            views.push(View {
                steps,
                messages: choice.messages.clone(),
                completion,
                ..View::default()
            });
            owners.push((choice.row, choice.subset.as_str()));
        }
    }
    let Scored { scores, unjudged } = Scored::of(&model, &views, &owners, Model::score)?;
    let mut scores = scores.into_iter();
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    let mut cases = Vec::with_capacity(choices.len());
    for Choice { subset, rule, chosen, rejected, .. } in &choices {
        *counts.entry(subset).or_default() += 1;
        let mut next = |texts: &[String]| scores.by_ref().take(texts.len()).collect();
        let (chosen, rejected) = (next(chosen), next(rejected));
        cases.push(Preference { subset: subset.clone(), rule: *rule, chosen, rejected });
    }
    let found = benchmarks::preferences(&cases);
    let lines = lines(&found, &counts);
    let beside = Map::from_iter([
        ("mean".to_owned(), json!(found.mean)),
        ("pooled".to_owned(), json!(found.pooled)),
        ("sections".to_owned(), json!(found.sections)),
        ("rows".to_owned(), json!(counts)),
    ]);
    task.tell(&model, Figures { scores: json!(found.scores), beside, lines }, &unjudged)
}

fn choice(row: &Row) -> Result<Choice<'_>, Failure> {
    let (chosen, rejected) = (row.completions("chosen")?, row.completions("rejected")?);
    let messages = prompt(row, &chosen, &rejected)?;
    let subset = row.subset()?;
    let rule = if subset.eq_ignore_ascii_case(TIES) {
        let rule = row.id().as_deref().and_then(PreferenceRule::of_ties);
        rule.ok_or_else(|| row.wrong("id", "ref:N or tied:N, as all rows of the subset Ties have"))?
    } else if chosen.texts.len() > 1 {
        let expected = "one text; several are right in the subset Ties alone";
        return Err(row.wrong("chosen", expected));
    } else if chosen.is_list || rejected.is_list {
        PreferenceRule::BestOf
    } else {
        PreferenceRule::Pair
    };
    let (chosen, rejected) = (chosen.texts, rejected.texts);
    Ok(Choice { row, subset, rule, messages, chosen, rejected })
}

/// What was asked: what comes before both completions in their conversations, else the prompt.
fn prompt(
    row: &Row,
    chosen: &Completions,
    rejected: &Completions,
) -> Result<Vec<Message>, Failure> {
    if chosen.asked != rejected.asked {
        return Err(row.wrong("rejected", "a conversation that begins as that of chosen does"));
    }
    if chosen.asked.is_empty() { row.messages("prompt") } else { Ok(chosen.asked.clone()) }
}

/// The prompts of `Ties` come in two forms, each once. One that a limit cut would change the figure.
fn check_ties(rows: &Rows, choices: &[Choice<'_>]) -> Result<(), Failure> {
    let (mut single, mut several) = (BTreeSet::new(), BTreeSet::new());
    for Choice { row, rule, .. } in choices {
        let is_new = match rule {
            PreferenceRule::Reference(at) => single.insert(*at),
            PreferenceRule::Tied(at) => several.insert(*at),
            PreferenceRule::Pair | PreferenceRule::BestOf => true,
        };
        if !is_new {
            return Err(row.wrong("id", "an id of its own; another row of Ties has the same"));
        }
    }
    let alone: Vec<String> = single
        .symmetric_difference(&several)
        .map(|at| if single.contains(at) { format!("tied:{at}") } else { format!("ref:{at}") })
        .collect();
    let Some(first) = alone.first() else { return Ok(()) };
    if rows.is_cut {
        return Err(Failure::usage(format!(
            "--limit cuts prompts of the subset Ties in two: {first} is missing, and {} more; raise \
             --limit, or leave Ties out of the data",
            alone.len() - 1
        )));
    }
    let count = alone.len();
    output::note(&format!(
        "Ties: {count} prompts have one form alone ({first} is missing); they count for the accuracy, \
         as with the authors, and not for the margins"
    ));
    Ok(())
}

fn lines(found: &PreferenceScores, counts: &BTreeMap<&str, usize>) -> Vec<(String, String)> {
    let mut lines = Vec::new();
    for (subset, score) in found.scores.iter().filter(|(subset, _)| *subset != POOLED) {
        let rows = counts.get(subset.as_str()).copied().unwrap_or_default();
        lines.push((subset.clone(), format!("{} of {rows} rows", percent(*score))));
    }
    for (section, score) in &found.sections {
        lines.push((format!("section {section}"), percent(*score)));
    }
    lines.push(("mean of subsets".to_owned(), percent(found.mean)));
    if let Some(pooled) = found.pooled {
        let rows = counts.iter().filter(|(subset, _)| !subset.eq_ignore_ascii_case(TIES));
        let rows: usize = rows.map(|(_, rows)| rows).sum();
        lines.push(("all rows but Ties".to_owned(), format!("{} of {rows}", percent(pooled))));
    }
    lines
}
