//! Unfinished answers: unsolved relations and unevaluated arithmetic.

use dashu_ratio::RBig;

use crate::number::whole;
use crate::syntax::{Id, Node, Rel, Tree};

/// Unknowns of equations; of a complex number or a vector, the absolute value is asked for.
const UNKNOWNS: [&str; 6] = ["x", "y", "n", "t", "k", "m"];

/// What an equation between a function of an unknown and a value may state.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stated {
    /// Nothing: it is to be solved.
    Nothing,
    /// The value of the function, where the function may be what is asked.
    Unasked,
    /// The value of the function, which the question asks for.
    Anything,
}

/// Whether an equation or inequality in one variable is not solved for it. `value` says whether what
/// a function comes to may be what is asked.
pub(crate) fn is_unsolved(tree: &Tree, id: Id, value: Stated) -> bool {
    let Ok(node) = tree.get(id) else { return false };
    match node {
        Node::Chain(sides, signs) => {
            let related = !signs.iter().any(|sign| matches!(sign, Rel::In | Rel::To));
            let stated = if signs.as_slice() == [Rel::Equal] { value } else { Stated::Nothing };
            related && !is_solved(tree, sides, stated)
        }
        Node::Builder(parts) => parts.last().is_some_and(|last| is_unsolved(tree, *last, value)),
        Node::Seq(items, _) | Node::Set(items) | Node::Group { items, .. } => {
            items.iter().any(|item| is_unsolved(tree, *item, value))
        }
        Node::Union(left, right) | Node::Intersection(left, right) | Node::Without(left, right) => {
            [left, right].into_iter().any(|side| is_unsolved(tree, *side, value))
        }
        Node::Labelled(_, inner) => is_unsolved(tree, *inner, value),
        _ => false,
    }
}

fn is_solved(tree: &Tree, sides: &[Id], value: Stated) -> bool {
    let mut names: Vec<(usize, &str)> = Vec::new();
    for (at, side) in sides.iter().enumerate() {
        let bound = bound_names(tree, *side);
        tree.visit(*side, &mut |node| match node {
            Node::Var(name)
                if !matches!(name.as_str(), "e" | "i") && !bound.contains(&name.as_str()) =>
            {
                names.push((at, name));
            }
            _ => {}
        });
    }
    let Some((_, name)) = names.first() else { return true };
    if names.iter().any(|(_, other)| other != name) {
        return true;
    }
    let lone = |at: usize, side: Id| match tree.get(side) {
        Ok(Node::Var(_)) => names.iter().all(|(place, _)| *place == at),
        Ok(Node::Call(..) | Node::Words(_)) => true,
        Ok(Node::Fun(function, _)) => match value {
            Stated::Nothing => false,
            Stated::Anything => true,
            Stated::Unasked => !is_equation(function, name, &others(tree, sides, at)),
        },
        // Of a sum up to n, another function of n is the value, and a number is none.
        Ok(Node::Operator(_)) => {
            let varies = names.iter().any(|(place, _)| *place + 1 == sides.len());
            value != Stated::Nothing && (varies || !UNKNOWNS.contains(name))
        }
        Ok(Node::Pow(base, _)) => is_matrix_named(tree, *base, &others(tree, sides, at)),
        _ => false,
    };
    sides.iter().enumerate().any(|(at, side)| lone(at, *side))
}

/// Whether a function that equals one of `others` makes an equation for an unknown called `name`:
/// `|x| = 5`, `\\log x = 5`. The sine of an angle is more often a value than an equation, unless it
/// is none of a sine.
fn is_equation(function: &str, name: &str, others: &[&Node]) -> bool {
    let beyond_one = |node: &&&Node| matches!(node, Node::Num(value, _) if *value > RBig::ONE);
    UNKNOWNS.contains(&name)
        && match function {
            "abs" | "floor" | "ceil" | "log" | "ln" | "lg" | "exp" | "tan" | "cot" | "gcd"
            | "lcm" | "mod" => true,
            "sin" | "cos" => others.iter().any(|node| beyond_one(&node)),
            _ => false,
        }
}

/// The variables of the sums, products, definite integrals and limits at a node. A derivative is a
/// function of its variable.
fn bound_names(tree: &Tree, id: Id) -> Vec<&str> {
    let mut bound = Vec::new();
    tree.visit(id, &mut |node| match node {
        Node::Operator(operator) if operator.from.is_some() => {
            bound.extend(operator.variable.as_deref());
        }
        _ => {}
    });
    bound
}

/// Whether a node is the name of a matrix, and another side of the equation is a matrix: the
/// inverse of A is asked for as often as A. X is an unknown.
fn is_matrix_named(tree: &Tree, id: Id, others: &[&Node]) -> bool {
    let object = matches!(tree.get(id), Ok(Node::Var(name)) if matches!(name.as_str(), "A" | "B" | "C" | "M" | "P" | "Q"));
    object && others.iter().any(|node| matches!(node, Node::Matrix(_)))
}

fn others<'t>(tree: &'t Tree, sides: &[Id], besides: usize) -> Vec<&'t Node> {
    let sides = sides.iter().enumerate().filter(|(at, _)| *at != besides);
    sides.filter_map(|(_, side)| tree.get(*side).ok()).collect()
}

fn is_plain_number(tree: &Tree, id: Id) -> bool {
    match tree.get(id) {
        Ok(Node::Num(..)) => true,
        Ok(Node::Neg(inner) | Node::Percent(inner) | Node::Quantity(inner, _)) => {
            is_plain_number(tree, *inner)
        }
        _ => false,
    }
}

/// `\frac{20}{100}` as well as `0.2`.
fn is_number_or_quotient(tree: &Tree, id: Id) -> bool {
    match tree.get(id) {
        Ok(Node::Div(top, below)) => [top, below].iter().all(|id| is_plain_number(tree, **id)),
        _ => is_plain_number(tree, id),
    }
}

/// The integer at a node.
fn whole_at(tree: &Tree, id: Id) -> Option<i64> {
    match tree.get(id) {
        Ok(Node::Num(value, None)) => whole(value),
        _ => None,
    }
}

/// Whether numbers are left to be added, multiplied, divided, squared or cubed, or their roots to
/// be taken. Of a chain the last side says what it comes to.
pub(crate) fn has_arithmetic(tree: &Tree, root: Id) -> bool {
    let last = match tree.get(root) {
        Ok(Node::Chain(sides, _)) => sides.last().copied().unwrap_or(root),
        _ => root,
    };
    let two = |ids: &[Id]| ids.iter().filter(|id| is_plain_number(tree, **id)).nth(1).is_some();
    let mut found = false;
    tree.visit(last, &mut |node| {
        found |= match node {
            Node::Add(terms) => two(terms),
            Node::Mul(factors) => {
                factors.iter().filter(|id| is_number_or_quotient(tree, **id)).nth(1).is_some()
            }
            Node::Pow(base, exponent) => {
                is_plain_number(tree, *base)
                    && whole_at(tree, *base) != Some(10)
                    && matches!(whole_at(tree, *exponent), Some(2 | 3))
            }
            Node::Div(top, below) => match (whole_at(tree, *top), whole_at(tree, *below)) {
                (Some(top), Some(below)) => below > 1 && top % below == 0,
                // `17 / (1 / 24)` is a product.
                (Some(_), None) => matches!(tree.get(*below), Ok(Node::Div(..))),
                _ => false,
            },
            Node::Root(of, index) => {
                let root = whole_at(tree, *of).and_then(|of| u64::try_from(of).ok());
                whole_at(tree, *index) == Some(2) && root.is_some_and(|of| of.isqrt().pow(2) == of)
            }
            _ => false,
        };
    });
    found
}

/// Whether there is a function that is never a result: a greatest common divisor, a remainder or
/// a rounding of numbers, a determinant, arithmetic of matrices.
pub(crate) fn has_unfinished(tree: &Tree, root: Id) -> bool {
    let matrix = |id: &Id| matches!(tree.get(*id), Ok(Node::Matrix(_)));
    let unknown =
        |node: &Node| matches!(node, Node::Var(name) if UNKNOWNS.contains(&name.as_str()));
    // det(A - xI) = 0 is an equation.
    let mut equates = false;
    tree.visit(root, &mut |node| {
        if let Node::Fun("det", args) = node {
            equates |= args.iter().any(|arg| tree.any_below(*arg, unknown));
        }
    });
    equates
        || tree.any_below(tree.result(root), |node| match node {
            Node::Fun("det", _) => true,
            Node::Fun("gcd" | "lcm" | "mod" | "floor" | "ceil" | "min" | "max", args) => {
                args.iter().all(|arg| is_plain_number(tree, *arg))
            }
            Node::Pow(base, _) => matrix(base),
            Node::Add(parts) | Node::Mul(parts) => {
                parts.iter().filter(|part| matrix(part)).count() > 1
            }
            _ => false,
        })
}

/// Whether there is a complex number in polar form.
pub(crate) fn is_polar(tree: &Tree, root: Id) -> bool {
    let root = tree.result(root);
    let imaginary = tree.any_below(root, |node| matches!(node, Node::Var(name) if name == "i"));
    let turned = tree.any_below(root, |node| match node {
        Node::Fun("sin" | "cos", _) => true,
        Node::Pow(base, _) => matches!(tree.get(*base), Ok(Node::Var(name)) if name == "e"),
        _ => false,
    });
    imaginary && turned
}
