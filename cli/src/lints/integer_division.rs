//! A script of rhai divides whole numbers, and what is behind the point is dropped.
//!
//! Looks at divisions in the syntax tree whose sides are whole: literals, lengths, `step`, columns that hold whole
//! numbers in every row, and sums and products of these. A division that comes out even in every row is meant so, and so is one
//! within an index, a call or a comparison. Fix: 1.0 * a / b, or a literal such as 2.0.

use std::collections::BTreeSet;

use rhai::{ASTNode, Expr};
use serde_json::Value;

use super::look::{Finding, Place, Tested};
use super::script::path::spot_of;
use super::script::{Role, Script};

/// What whole numbers go into and still count as numbers.
const ARITHMETIC: [&str; 6] = ["+", "-", "*", "/", "min", "max"];

pub(super) fn find(tested: Tested<'_>) -> Vec<Finding> {
    let mut found = Vec::new();
    for (at, script) in tested.scripts.iter().enumerate() {
        let numbers = Numbers { tested, script };
        script.walk(|nodes| {
            if let Some(part) = numbers.division(nodes) {
                found.push(Finding::new(Place::Script(at, Some(part)), "divides"));
            }
        });
    }
    found
}

struct Numbers<'a> {
    tested: Tested<'a>,
    script: &'a Script,
}

impl Numbers<'_> {
    /// The place of a division that loses something.
    fn division(&self, nodes: &[ASTNode<'_>]) -> Option<std::ops::Range<usize>> {
        let (ASTNode::Expr(Expr::FnCall(call, at)), above) = nodes.split_last()? else {
            return None;
        };
        let [left, right] = call.args.as_slice() else { return None };
        if call.name != "/" || !above.iter().all(is_arithmetic) {
            return None;
        }
        let (left, right) = (self.whole(left)?, self.whole(right)?);
        let is_even = |own: &i64| right.iter().all(|other| own.checked_rem(*other) == Some(0));
        let is_known = !left.is_empty() && !right.is_empty();
        if is_known && left.iter().all(is_even) || right == [1].into() {
            return None;
        }
        Some(self.script.bytes(spot_of(&self.script.text, *at)?))
    }

    /// The whole numbers that an expression comes to in the rows, none where they are not known; `None` where it may be
    /// something else.
    fn whole(&self, expr: &Expr) -> Option<BTreeSet<i64>> {
        let is_len = |expr: &Expr| match expr {
            Expr::MethodCall(call, _) => call.name == "len",
            Expr::Property(own, _) => own.2 == "len",
            _ => false,
        };
        let is_whole = match expr {
            Expr::IntegerConstant(own, _) => return Some([*own].into()),
            Expr::Variable(own, ..) => {
                own.1 == "step" && !matches!(self.script.role, Role::Reward(_))
            }
            Expr::FnCall(call, _) if ARITHMETIC.contains(&call.name.as_str()) => {
                call.args.iter().all(|own| self.whole(own).is_some())
            }
            Expr::FnCall(call, _) => call.name == "len",
            Expr::Dot(both, ..) if is_len(&both.rhs) => true,
            Expr::Dot(..) | Expr::Index(..) => return self.column(expr),
            _ => false,
        };
        is_whole.then(BTreeSet::new)
    }

    /// What a column holds in the rows that have it, where it is whole in all of them.
    fn column(&self, expr: &Expr) -> Option<BTreeSet<i64>> {
        let start = spot_of(&self.script.text, expr.start_position())?;
        let mut paths = self.script.facts.paths.iter();
        let path = paths.find(|path| path.at.first() == Some(&Some(start)))?;
        let values = self.tested.look.rows.iter().filter_map(|row| path.value_in(&row.sample));
        let values = values.filter(|own| !own.is_null()).map(Value::as_i64);
        values.collect::<Option<BTreeSet<_>>>().filter(|own| !own.is_empty())
    }
}

/// Whether a number that goes in stays a number: of an index, a call or a comparison the whole number is meant.
fn is_arithmetic(node: &ASTNode<'_>) -> bool {
    match node {
        ASTNode::Expr(Expr::FnCall(call, _)) => ARITHMETIC.contains(&call.name.as_str()),
        ASTNode::Expr(own) => !matches!(own, Expr::MethodCall(..) | Expr::Index(..)),
        _ => true,
    }
}
