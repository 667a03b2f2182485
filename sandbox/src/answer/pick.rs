//! Which of several pieces are the program: the one that defines what is asked for, with those that
//! define what it needs, and not the example that uses it.

use std::collections::BTreeSet;

use super::outline::{Outline, used};

/// What the tests of a task ask a program for.
#[derive(Clone, Copy, Debug, Default)]
pub struct Asked<'a> {
    /// The function (or class) to write.
    pub entry_point: Option<&'a str>,
    /// Tests that call what they are about by name.
    pub tests: Option<&'a str>,
}

impl<'a> From<Option<&'a str>> for Asked<'a> {
    fn from(entry_point: Option<&'a str>) -> Self {
        Self { entry_point, tests: None }
    }
}

impl Asked<'_> {
    /// The names that may be asked for: the one to write, or all that the tests use.
    pub(crate) fn words(&self) -> Vec<String> {
        match self.entry_point {
            Some(name) => vec![name.to_owned()],
            None => self.tests.map(used).unwrap_or_default().into_iter().collect(),
        }
    }

    /// The names that are asked for and that a piece of the answer has.
    pub(super) fn names(&self, pieces: &[Outline]) -> BTreeSet<String> {
        let defines = |name: &String| {
            pieces.iter().any(|piece| piece.defines(name) || piece.bound.contains(name))
        };
        self.words().into_iter().filter(defines).collect()
    }
}

/// The places of the pieces that are the program, in their order.
pub(super) fn pick(pieces: &[Outline], asked: &Asked<'_>) -> BTreeSet<usize> {
    let names = asked.names(pieces);
    // What only repeats a signature is not a later version.
    let mut taken = covering(pieces, &names, Outline::implements);
    if taken.is_empty() {
        taken = covering(pieces, &names, Outline::defines);
    }
    if taken.is_empty() {
        taken = covering(pieces, &names, |piece, name| piece.bound.contains(name));
    }
    let is_asked = !taken.is_empty();
    if !is_asked {
        taken.extend(last(pieces));
    }
    for (at, piece) in pieces.iter().enumerate().rev() {
        // A program that does something by itself would do it twice.
        if (is_asked || !piece.acts) && is_needed(pieces, &taken, at) {
            taken.insert(at);
        }
    }
    taken
}

/// The last of the pieces that have most of the names, and for the names that it lacks the last
/// piece that has them.
fn covering(
    pieces: &[Outline],
    names: &BTreeSet<String>,
    has: impl Fn(&Outline, &str) -> bool,
) -> BTreeSet<usize> {
    let count = |piece: &Outline| names.iter().filter(|name| has(piece, name)).count();
    let best = pieces.iter().enumerate().max_by_key(|(_, piece)| count(piece));
    let Some((best, most)) = best.filter(|(_, piece)| count(piece) > 0) else {
        return BTreeSet::new();
    };
    let last = |name: &String| pieces.iter().rposition(|piece| has(piece, name));
    let lacks = |name: &&String| !has(most, name);
    names.iter().filter(lacks).filter_map(last).chain([best]).collect()
}

/// The last piece that is not a mere example of what an earlier one defines.
fn last(pieces: &[Outline]) -> Option<usize> {
    let mut at = pieces.len().checked_sub(1)?;
    loop {
        let piece = pieces.get(at)?;
        let shows = |earlier: &Outline| {
            earlier.acts && earlier.defined.iter().any(|name| piece.used.contains(name))
        };
        let earlier = pieces.get(..at)?.iter().rposition(shows);
        match earlier.filter(|_| piece.defined.is_empty()) {
            Some(earlier) => at = earlier,
            None => return Some(at),
        }
    }
}

/// Whether the piece defines what a later one that is taken uses and none that is taken defines.
fn is_needed(pieces: &[Outline], taken: &BTreeSet<usize>, at: usize) -> bool {
    let Some(piece) = pieces.get(at).filter(|_| !taken.contains(&at)) else { return false };
    let of_taken = || taken.iter().filter_map(|at| pieces.get(*at));
    let is_missing = |name: &String| {
        of_taken().all(|taken| !taken.defined.contains(name) && !taken.bound.contains(name))
    };
    let users = || taken.range(at..).filter_map(|at| pieces.get(*at));
    piece
        .defined
        .iter()
        .any(|name| users().any(|user| user.used.contains(name)) && is_missing(name))
}

#[cfg(test)]
mod tests;
