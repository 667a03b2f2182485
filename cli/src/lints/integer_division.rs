//! A script of rhai divides whole numbers, and what is behind the point is dropped.
//!
//! Looks at divisions in the syntax tree whose sides are whole: literals, lengths, `step`, columns that hold whole
//! numbers in every row, and what is made of these. A division that comes out even in every row, an index, a place in a
//! text, a remainder and a comparison with a whole number are meant so. Fix: 1.0 * a / b, or a literal such as 2.0.

use std::collections::BTreeMap;

use rhai::{ASTNode, Expr, Stmt};
use serde_json::Value;

use super::look::{Finding, Place, Tested};
use super::script::path::{Spot, spot_of};
use super::script::{Role, Script};

/// Functions that take a place in a text or a list, and operators beside which the whole number is meant.
const PLACES: [&str; 10] = [
    "sub_string",
    "crop",
    "truncate",
    "get",
    "extract",
    "pad",
    "remove",
    "insert",
    "range",
    "to_int",
];
const WHOLE: [&str; 6] = ["%", "==", "!=", "<", ">=", ".."];
/// How deep variables and brackets are followed.
const DEPTH_MAX: usize = 12;

/// The whole numbers that an expression comes to in the rows, where they are known.
type Whole = Option<Vec<i64>>;

pub(super) fn find(tested: Tested<'_>) -> Vec<Finding> {
    let mut found = Vec::new();
    for (place, script) in tested.scripts.iter().enumerate() {
        let mut numbers = Numbers { tested, script, given: BTreeMap::new() };
        script.walk(|nodes| numbers.note(nodes));
        script.walk(|nodes| found.extend(numbers.division(place, nodes)));
    }
    found
}

struct Numbers<'a> {
    tested: Tested<'a>,
    script: &'a Script,
    /// What variables are made of.
    given: BTreeMap<String, Vec<Expr>>,
}

impl Numbers<'_> {
    fn note(&mut self, nodes: &[ASTNode<'_>]) {
        let given = match nodes.last() {
            Some(ASTNode::Stmt(Stmt::Var(own, ..))) => Some((own.0.name.to_string(), &own.1)),
            Some(ASTNode::Stmt(Stmt::Assignment(own))) => match &own.1.lhs {
                Expr::Variable(name, ..) => Some((name.1.to_string(), &own.1.rhs)),
                _ => None,
            },
            _ => None,
        };
        if let Some((name, value)) = given {
            self.given.entry(name).or_default().push(value.clone());
        }
    }

    fn division(&self, place: usize, nodes: &[ASTNode<'_>]) -> Option<Finding> {
        let (ASTNode::Expr(Expr::FnCall(call, at)), above) = nodes.split_last()? else {
            return None;
        };
        let [left, right] = call.args.as_slice() else { return None };
        if call.name != "/" || is_meant(above) {
            return None;
        }
        let example = match (self.whole(left, 0)?, self.whole(right, 0)?) {
            (Some(one), Some(other)) => {
                let mut both = one.iter().zip(other.iter().cycle());
                let is_dropped = |(one, other): &(&i64, &i64)| one.checked_rem(**other) != Some(0);
                let (one, other) = both.find(is_dropped)?;
                format!(", so that {one} / {other} is {}", one.checked_div(*other)?)
            }
            (None, Some(other)) if other.iter().all(|own| *own == 1) => return None,
            _ => String::new(),
        };
        let message =
            format!("this divides whole numbers, and rhai drops what is behind the point{example}");
        let part = self.script.bytes(spot_of(&self.script.text, *at)?);
        let help = "write 1.0 * a / b, or one of the numbers with a point, as in 2.0";
        Some(Finding::new(Place::Script(place, Some(part)), message, help))
    }

    /// The whole numbers of an expression; `None` where it is something else.
    fn whole(&self, expr: &Expr, depth: usize) -> Option<Whole> {
        let all = |args: &[Expr]| args.iter().all(|own| self.whole(own, depth + 1).is_some());
        let is_call = |name: &str, known: &[&str]| known.contains(&name);
        match expr {
            _ if depth > DEPTH_MAX => None,
            Expr::IntegerConstant(own, _) => Some(Some(vec![*own])),
            Expr::Variable(own, ..) if own.1 == "step" => {
                (!matches!(self.script.role, Role::Reward(_))).then_some(None)
            }
            Expr::Variable(own, ..) if self.given.contains_key(own.1.as_str()) => {
                let given = self.given.get(own.1.as_str())?;
                match given.as_slice() {
                    [only] => self.whole(only, depth + 1),
                    given => all(given).then_some(None),
                }
            }
            Expr::FnCall(call, _)
                if is_call(&call.name, &["*", "+", "-", "/", "%", "min", "max"]) =>
            {
                all(&call.args).then_some(None)
            }
            Expr::FnCall(call, _) if is_call(&call.name, &["len", "parse_int", "to_int"]) => {
                Some(None)
            }
            Expr::Coalesce(parts, _) => {
                self.whole(parts.first()?, depth + 1).filter(|_| all(parts))
            }
            Expr::Dot(both, ..) => match &both.rhs {
                Expr::MethodCall(call, _) => {
                    is_call(&call.name, &["len", "index_of", "to_int"]).then_some(None)
                }
                Expr::Property(own, _) if own.2 == "len" => Some(None),
                _ => self.column(expr),
            },
            Expr::Index(..) | Expr::Variable(..) => self.column(expr),
            Expr::Stmt(block) => match (block.len(), block.iter().next()?) {
                (1, Stmt::Expr(own)) => self.whole(own, depth + 1),
                _ => None,
            },
            _ => None,
        }
    }

    /// What a column holds in the rows that have it, where it is whole in all of them.
    fn column(&self, expr: &Expr) -> Option<Whole> {
        let start = spot_of(&self.script.text, expr.start_position())?;
        let is_here =
            |at: &Option<Spot>| at.is_some_and(|own| own.0 == start.0 && own.1 == start.1);
        let path =
            self.script.facts.paths.iter().find(|path| path.at.first().is_some_and(is_here))?;
        let values = self.tested.look.rows.iter().filter_map(|row| path.value_in(&row.sample));
        let values: Vec<i64> =
            values.filter(|own| !own.is_null()).map(Value::as_i64).collect::<Option<_>>()?;
        (!values.is_empty()).then_some(Some(values))
    }
}

/// Whether the whole number is what was meant: a place, a remainder, a comparison that comes out the same.
fn is_meant(above: &[ASTNode<'_>]) -> bool {
    let is_place = |node: &ASTNode<'_>| match node {
        ASTNode::Expr(Expr::FnCall(call, _) | Expr::MethodCall(call, _)) => {
            PLACES.contains(&call.name.as_str())
        }
        ASTNode::Expr(Expr::Index(..)) => true,
        _ => false,
    };
    let is_beside = above.last().is_some_and(|node| match node {
        ASTNode::Expr(Expr::FnCall(call, _)) => WHOLE.contains(&call.name.as_str()),
        _ => false,
    });
    is_beside || above.iter().any(is_place)
}
