//! The power of what has a sign: `-x ** 2` is `-(x ** 2)` in mathematics and in Python, and `(-x) ** 2` in rhai.

use std::ops::Range;

use rhai::{AST, ASTNode, Expr, FnCallExpr, Position, Stmt};

/// The sign of the first base of a power that has one without brackets.
pub(super) fn of_a_power(
    source: &str,
    ast: &AST,
    place: impl Fn(Position) -> Option<Range<usize>>,
) -> Option<Range<usize>> {
    let mut found = None;
    ast.walk(&mut |nodes| {
        let base = match nodes.last() {
            Some(ASTNode::Expr(Expr::FnCall(call, _)) | ASTNode::Stmt(Stmt::FnCall(call, _))) => {
                base(call)
            }
            _ => None,
        };
        let sign = base.and_then(|base| place(base.start_position()));
        found = sign.filter(|sign| !is_in_brackets(source, sign.start));
        found.is_none()
    });
    found
}

/// The base of a power, where it has a sign.
fn base(call: &FnCallExpr) -> Option<&Expr> {
    let [base, _] = call.args.as_slice() else { return None };
    let has_sign = match base {
        Expr::FnCall(inner, _) => inner.args.len() == 1 && inner.name == "-",
        Expr::IntegerConstant(number, _) => *number < 0,
        Expr::FloatConstant(number, _) => **number < 0.0,
        _ => false,
    };
    (call.name == "**" && has_sign).then_some(base)
}

/// Whether the brackets around a sign end before the power: `(-x) ** 2`.
fn is_in_brackets(source: &str, sign: usize) -> bool {
    let (mut before, mut rest) = source.split_at(sign);
    while let Some(outside) = before.trim_end().strip_suffix('(') {
        let Some(end) = end_of_brackets(rest) else { return false };
        (before, rest) = (outside, rest[end + 1..].trim_start());
        if rest.starts_with("**") {
            return true;
        }
    }
    false
}

/// Where the brackets close that are open before a text.
fn end_of_brackets(text: &str) -> Option<usize> {
    let mut open = 0_usize;
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            b'(' => open += 1,
            b')' if open == 0 => return Some(at),
            b')' => open -= 1,
            _ => {}
        }
    }
    None
}
