//! What can run at all, and what it writes.

use std::collections::BTreeSet;

use wasmparser::{ConstExpr, ElementItems, FunctionBody, Operator};

use super::core::Core;
use super::error::JoinError;

/// Functions that something reaches, and globals that one of those writes, by their new indices.
pub(super) struct Reached {
    functions: Vec<bool>,
    written: BTreeSet<u32>,
}

/// A function that a joined module brings: its body, and the indices of its module.
pub(super) struct Function<'m, 'a> {
    pub(super) body: &'m FunctionBody<'a>,
    pub(super) indices: Indices<'m>,
}

/// Where the functions and globals of a module went.
#[derive(Clone, Copy)]
pub(super) struct Indices<'m> {
    pub(super) functions: &'m [u32],
    pub(super) globals: &'m [u32],
}

impl Indices<'_> {
    fn function(self, index: u32) -> Option<u32> {
        self.functions.get(index as usize).copied()
    }
}

impl Reached {
    /// Follows calls and references from `roots`. `functions` are those with a body, which come
    /// after `imports` in the index space.
    pub(super) fn from(
        mut roots: Vec<u32>,
        imports: u32,
        functions: &[Function<'_, '_>],
    ) -> Result<Self, JoinError> {
        let mut reached =
            Self { functions: vec![false; functions.len()], written: BTreeSet::new() };
        while let Some(index) = roots.pop() {
            let Some(at) = index.checked_sub(imports).map(|at| at as usize) else { continue };
            let (Some(seen), Some(function)) = (reached.functions.get_mut(at), functions.get(at))
            else {
                continue;
            };
            if !std::mem::replace(seen, true) {
                let indices = function.indices;
                for operator in function.body.get_operators_reader()? {
                    match operator? {
                        Operator::Call { function_index }
                        | Operator::ReturnCall { function_index }
                        | Operator::RefFunc { function_index } => {
                            roots.extend(indices.function(function_index));
                        }
                        Operator::GlobalSet { global_index } => {
                            let global = indices.globals.get(global_index as usize);
                            reached.written.extend(global);
                        }
                        _ => {}
                    }
                }
            }
        }
        Ok(reached)
    }

    /// Whether the function with the body at this place can run.
    pub(super) fn runs(&self, at: usize) -> bool {
        self.functions.get(at).copied().unwrap_or(true)
    }

    pub(super) fn writes(&self, global: u32) -> bool {
        self.written.contains(&global)
    }
}

/// The functions that a module refers to outside of its functions.
pub(super) fn roots(core: &Core<'_>, indices: Indices<'_>) -> Result<Vec<u32>, JoinError> {
    let mut roots = Vec::new();
    roots.extend(core.start.and_then(|start| indices.function(start)));
    for global in core.globals.iter().cloned().flatten() {
        roots.extend(referred(&global?.init_expr, indices)?);
    }
    for element in core.elements.iter().cloned().flatten() {
        match element?.items {
            ElementItems::Functions(functions) => {
                for function in functions {
                    roots.extend(indices.function(function?));
                }
            }
            ElementItems::Expressions(_, expressions) => {
                for expression in expressions {
                    roots.extend(referred(&expression?, indices)?);
                }
            }
        }
    }
    Ok(roots)
}

fn referred(expression: &ConstExpr<'_>, indices: Indices<'_>) -> Result<Option<u32>, JoinError> {
    let mut found = None;
    for operator in expression.get_operators_reader() {
        if let Operator::RefFunc { function_index } = operator? {
            found = indices.function(function_index);
        }
    }
    Ok(found)
}
