//! What a reward reads of a conversation is no answer of the policy: a message of another role, or calls of tools without
//! text.
//!
//! Looks at `turn` beside the roles, and at completions of calls alone in a quarter of the rows. Fix: `turn =
//! "last_assistant"`; end the conversation with an answer of the assistant; a function `grade(sample, item)` of `python_check`
//! has the calls in `sample["output_tools"]`.

use assay::engine::JudgedTurn;
use assay::verifiers::{Aspect, Turn};

use super::look::{Finding, Tested};
use crate::trial::read::Row;

/// A policy calls a tool at the end in fewer than one row in so many.
const SHARE: usize = 4;
/// Roles of what the policy wrote.
const OWN: [&str; 3] = ["assistant", "model", "gpt"];

pub(super) fn find(tested: Tested<'_>) -> Vec<Finding> {
    let found = tested.look.rewards().filter_map(|(at, _, config)| {
        let rows = tested.look.rows_of(at);
        match config.turn {
            JudgedTurn::Last => role(at, Turn::Last, &rows),
            JudgedTurn::At(place) => role(at, Turn::At(place), &rows),
            _ if config.turn == JudgedTurn::default() => calls(tested, at, &rows),
            _ => None,
        }
    });
    found.collect()
}

fn role(at: usize, turn: Turn, rows: &[&Row]) -> Option<Finding> {
    let role = |row: &Row| {
        let content = row.sample.completion_content();
        let is_own = |role: &str| OWN.contains(&role);
        let has_own = content.messages()?.iter().any(|message| is_own(&message.role));
        Some(content.message(turn)?.role.clone()).filter(|role| has_own && !is_own(role))
    };
    let with: Vec<&Row> = rows.iter().copied().filter(|row| role(row).is_some()).collect();
    let found = Finding::new((at, "turn"), "role").with("role", role(with.first()?)?);
    Some(found.with("rows", with.len()).with("row", with.first()?.number))
}

fn calls(tested: Tested<'_>, at: usize, rows: &[&Row]) -> Option<Finding> {
    let is_call = |row: &&&Row| row.has_calls() && row.is_blank();
    let with: Vec<&Row> = rows.iter().filter(is_call).copied().collect();
    let reads_text = !matches!(tested.look.aspect(at), Aspect::Other | Aspect::Output);
    let id = &tested.plan().rewards.get(at)?.built.spec.id;
    let is_many = with.len() * SHARE >= rows.len() && reads_text;
    let found = Finding::new((at, ""), "calls").with("verifier", id.as_ref());
    is_many.then_some(found.with("rows", with.len()).with("row", with.first()?.number))
}
