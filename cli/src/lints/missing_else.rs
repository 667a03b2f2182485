//! A script ends without a value on some rows, which abstain: `if` without `else`, a function of Python without `return`.
//!
//! Looks at the last statement in the syntax tree. A script that says itself that it gives nothing, as by () or `return
//! None`, means it. Fix: write else { 0.0 } behind an `if`, and the reward without `let` as the last line; `return` before the
//! reward of a function, in the place of `print`, and `return 0.0` at its end.

use rhai::{ASTNode, Expr, Position, Stmt};

use super::look::{Finding, Place, Tested};
use super::script::path::{Spot, spot_of};
use super::script::{Role, Script};

pub(super) fn find(tested: Tested<'_>) -> impl Iterator<Item = Finding> {
    tested.scripts.iter().enumerate().filter_map(move |(at, script)| {
        let (spot, what) = match &script.facts.function {
            Some(own) => (own.open_end?, format!("`{}` ends without `return`", own.name)),
            None => (open_if(script)?, "`if` without `else` gives ()".to_owned()),
        };
        let place = Place::Script(at, Some(script.bytes(spot)));
        let found = match script.role {
            Role::When(_) => Finding::new(place, "when"),
            Role::Combine => Finding::new(place, "combine"),
            Role::Reward(own) => {
                let tally = tested.rewards.get(own)?.rows.as_ref()?;
                let (silent, all) = (tally.abstained, tally.abstained + tally.scored);
                let is_some = silent > 0 && silent < all;
                let found = is_some.then(|| Finding::new(place, "reward").with("rows", silent));
                found?.with("of", all)
            }
        };
        Some(found.with("what", what))
    })
}

/// The `if` without `else` that a script ends with, where it does not say () itself.
fn open_if(script: &Script) -> Option<Spot> {
    let (mut says_nothing, mut last): (bool, Option<Position>) = (false, None);
    script.walk(|nodes| match nodes {
        [.., ASTNode::Expr(Expr::Unit(_))] => says_nothing = true,
        [ASTNode::Stmt(own)] => last = open(own),
        _ => {}
    });
    spot_of(&script.text, last.filter(|_| !says_nothing)?)
}

fn open(statement: &Stmt) -> Option<Position> {
    match statement {
        Stmt::If(own, at) if own.branch.is_empty() => Some(*at),
        Stmt::If(own, _) => {
            [&own.body, &own.branch].into_iter().find_map(|block| open(block.iter().last()?))
        }
        Stmt::Block(block) => open(block.iter().last()?),
        Stmt::Expr(own) => match &**own {
            Expr::Stmt(block) => open(block.iter().last()?),
            _ => None,
        },
        _ => None,
    }
}
