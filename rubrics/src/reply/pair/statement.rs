//! Verdicts in sentences: "Output (b) is better", "Winner: A", "it is a tie".

use super::label;
use super::sentence;
use super::shapes::{SHAPES, Says, Shape};
use super::types::Winner;

/// A sentence that states a verdict.
struct Statement {
    at: usize,
    winner: Winner,
    /// Whether it is plain; a hedged one counts only as a conclusion.
    is_plain: bool,
    is_conclusion: bool,
    /// Whether it is the last sentence of the text, which makes it a conclusion too.
    is_last: bool,
}

/// The verdict of the last statement of a text.
pub(super) fn last(text: &str) -> Option<Winner> {
    let mut statements: Vec<Statement> = SHAPES
        .iter()
        .flat_map(|shape| of_shape(shape, text))
        .chain(alone(text))
        .filter(|one| one.is_plain || one.is_conclusion || one.is_last)
        .collect();
    statements.sort_by_key(|one| one.at);
    let plain = statements.iter().rev().find(|one| one.is_plain);
    // A tie as a conclusion takes back what was said before it.
    let tie = statements.last().filter(|one| one.winner == Winner::Tie && one.is_conclusion);
    Some(tie.or(plain).or(statements.last())?.winner)
}

/// The statements of one shape.
fn of_shape(shape: &Shape, text: &str) -> Vec<Statement> {
    let mut found = Vec::new();
    for captures in shape.pattern.captures_iter(text) {
        let Some(whole) = captures.get(0) else { continue };
        let named = ["n", "m", "o", "l"].iter().find_map(|name| captures.name(name));
        let label = named.and_then(|found| label::read(found.as_str()));
        let winner = match (shape.says, label) {
            (Says::Tie, _) => Winner::Tie,
            (Says::Better, Some(label)) => label.winner,
            (Says::Worse, Some(label)) => label.winner.swapped(),
            (_, None) => continue,
        };
        let at = match named {
            Some(named) if shape.says != Says::Tie => named.start(),
            _ => whole.start(),
        };
        let hedges = ["hedge", "hedge2", "aspect"];
        let is_hedged = hedges.iter().any(|name| captures.name(name).is_some());
        let is_plain = shape.says != Says::Tie && !is_hedged;
        let place = Place { start: whole.start(), at, end: whole.end() };
        found.extend(statement(text, &place, winner, is_plain));
    }
    found
}

/// Where a statement stands: its bounds, and the label in it.
struct Place {
    start: usize,
    at: usize,
    end: usize,
}

/// The statement at a place, unless the words around it take it back.
fn statement(
    text: &str,
    &Place { start, at, end }: &Place,
    winner: Winner,
    is_plain: bool,
) -> Option<Statement> {
    let before = text.get(..start)?;
    let (from, to) = sentence::bounds(text, start, end);
    let after = text.get(end..)?;
    let unsaid = sentence::is_denied(before)
        || sentence::is_reported(before)
        || sentence::is_conditional(before, after)
        || is_one_of_several(before, after)
        || sentence::is_choice(text.get(from..start)?)
        || text.get(start..to)?.trim_end().ends_with('?');
    let is_last = text.get(to..)?.trim_matches(label::is_wrapping).is_empty();
    let lead = text.get(from..end)?;
    let is_conclusion = sentence::is_conclusion(lead);
    let statement = Statement { at, winner, is_plain, is_conclusion, is_last };
    let is_conceded = winner == Winner::Tie && sentence::is_conceded(text.get(end..to)?);
    (!unsaid && !is_conceded).then_some(statement)
}

/// Whether a statement is one of the answers on offer.
fn is_one_of_several(before: &str, after: &str) -> bool {
    let after = after.trim_start_matches(['"', '\'', '”', '*', '`', '.', ',', ' ']);
    let offered = after.get(..3).is_some_and(|word| word.eq_ignore_ascii_case("or "));
    offered || sentence::is_option(before, "")
}

/// A label that is a whole text, its last line, or its first one where no other line is a label. Lines
/// of different labels and nothing else are a list.
fn alone(text: &str) -> Option<Statement> {
    let mut offset = 0;
    let lines: Vec<(usize, &str)> = text
        .split_inclusive('\n')
        .map(|line| {
            offset += line.len();
            (offset - line.len(), line.trim())
        })
        .filter(|(_, line)| !line.is_empty())
        .collect();
    let is_heading = |line: &str| line.ends_with(':') || line.starts_with('#');
    let labels: Vec<(usize, Winner)> = lines
        .iter()
        .filter(|(_, line)| !is_heading(line))
        .filter_map(|(at, line)| Some((*at, label::read(line)?.winner)))
        .collect();
    let (at, winner) = *labels.last()?;
    let are_several =
        labels.len() == lines.len() && labels.iter().any(|(_, other)| *other != winner);
    let is_at = |line: Option<&(usize, &str)>| line.is_some_and(|(place, _)| *place == at);
    let counts = is_at(lines.last()) || (labels.len() == 1 && is_at(lines.first()));
    let (is_plain, is_conclusion, is_last) = (true, true, true);
    (counts && !are_several).then_some(Statement { at, winner, is_plain, is_conclusion, is_last })
}
