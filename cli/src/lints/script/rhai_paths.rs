//! The paths that a script of rhai names, by its syntax tree.

use std::collections::BTreeMap;

use rhai::{AST, ASTFlags, ASTNode, Expr, Position, Stmt};

use super::path::{Path, spot_of};

/// A path as far as it is known, with the place of each name.
type Known = (Vec<String>, Vec<Position>);

/// Paths from every variable on, also by a variable that stands for one.
pub(super) fn paths(text: &str, ast: &AST) -> Vec<Path> {
    let mut found = Found::default();
    ast.walk(&mut |nodes| {
        if let Some(node) = nodes.last() {
            found.note(node, nodes);
        }
        true
    });
    let path = |(names, at): &Known| Path {
        is_guarded: found.guarded.contains(names),
        at: at.iter().map(|at| spot_of(text, *at)).collect(),
        names: names.clone(),
    };
    found.paths.iter().map(path).collect()
}

#[derive(Default)]
struct Found {
    paths: Vec<Known>,
    guarded: Vec<Vec<String>>,
    /// Variables that stand for a path, or for something else.
    aliases: BTreeMap<String, Option<Known>>,
}

impl Found {
    fn note(&mut self, node: &ASTNode<'_>, nodes: &[ASTNode<'_>]) {
        match node {
            ASTNode::Stmt(Stmt::Var(own, ..)) => {
                let path = self.path(&own.1);
                self.aliases.insert(own.0.name.to_string(), path);
            }
            ASTNode::Stmt(Stmt::For(own, _)) => {
                self.aliases.insert(own.0.name.to_string(), None);
            }
            ASTNode::Expr(expr) => {
                let parent = nodes.len().checked_sub(2).and_then(|at| nodes.get(at));
                let is_whole = match parent {
                    // The first of a chain is of the path that the chain is.
                    Some(ASTNode::Expr(Expr::Dot(both, ..) | Expr::Index(both, ..))) => {
                        let is_head = std::ptr::eq(&raw const both.lhs, *expr);
                        matches!(expr, Expr::Variable(..)) && !is_head
                    }
                    _ => true,
                };
                if let Some(path) = self.path(expr).filter(|_| is_whole) {
                    if nodes.iter().any(is_guard) || is_optional(expr) {
                        self.guarded.push(path.0.clone());
                    }
                    self.paths.push(path);
                }
                self.guarded.extend(self.asked(expr));
            }
            _ => {}
        }
    }

    /// Names for whose presence an expression asks.
    fn asked(&self, expr: &Expr) -> Option<Vec<String>> {
        let (of, name) = match expr {
            Expr::FnCall(call, _) => match (call.name.as_str(), call.args.as_slice()) {
                // `"a" in meta` is `contains(meta, "a")`.
                ("contains" | "!in", [first, second]) => (first, Some(text(second)?)),
                ("==" | "!=", [first, Expr::Unit(_)]) | ("type_of", [first]) => (first, None),
                _ => return None,
            },
            Expr::Dot(both, ..) => match &both.rhs {
                Expr::MethodCall(call, _) if call.name == "contains" => {
                    (&both.lhs, Some(text(call.args.first()?)?))
                }
                _ => return None,
            },
            _ => return None,
        };
        let (mut names, _) = self.path(of)?;
        names.extend(name);
        Some(names)
    }

    /// The path that an expression is, up to what is called on it.
    fn path(&self, expr: &Expr) -> Option<Known> {
        match expr {
            Expr::Variable(own, _, at) => {
                let name = own.1.to_string();
                match self.aliases.get(&name) {
                    Some(path) => path.clone(),
                    None => Some((vec![name], vec![*at])),
                }
            }
            Expr::Dot(both, ..) | Expr::Index(both, ..) => {
                let mut path = self.path(&both.lhs)?;
                follow(&both.rhs, matches!(expr, Expr::Index(..)), &mut path);
                Some(path)
            }
            _ => None,
        }
    }
}

/// Follows what stands behind a point or in brackets: the right side of a chain nests.
fn follow(expr: &Expr, is_index: bool, path: &mut Known) -> bool {
    let step = match expr {
        Expr::Property(own, at) => Some((own.2.to_string(), *at)),
        Expr::StringConstant(own, at) if is_index => Some((own.to_string(), *at)),
        Expr::MethodCall(call, _) if call.name == "get" => {
            call.args.first().and_then(|own| Some((text(own)?, own.position())))
        }
        Expr::Dot(both, ..) | Expr::Index(both, ..) => {
            return follow(&both.lhs, is_index, path)
                && follow(&both.rhs, matches!(expr, Expr::Index(..)), path);
        }
        _ => None,
    };
    let Some((name, at)) = step else { return false };
    path.0.push(name);
    path.1.push(at);
    true
}

fn text(expr: &Expr) -> Option<String> {
    match expr {
        Expr::StringConstant(own, _) => Some(own.to_string()),
        _ => None,
    }
}

/// Whether what stands within may be absent: `a ?? b`, `try`.
fn is_guard(node: &ASTNode<'_>) -> bool {
    matches!(node, ASTNode::Expr(Expr::Coalesce(..)) | ASTNode::Stmt(Stmt::TryCatch(..)))
}

/// Whether a chain has `?.` or `.get` in it.
fn is_optional(expr: &Expr) -> bool {
    match expr {
        Expr::Dot(both, flags, _) | Expr::Index(both, flags, _) => {
            flags.intersects(ASTFlags::NEGATED) || is_optional(&both.lhs) || is_optional(&both.rhs)
        }
        Expr::MethodCall(call, _) => call.name == "get",
        _ => false,
    }
}
