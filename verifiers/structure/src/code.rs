//! Programs, by the grammars of tree-sitter.

use std::ops::ControlFlow;

use tree_sitter::{Language, Node, ParseOptions, ParseState, Parser, Tree};

use crate::Break;

/// A programming language.
pub struct CodeLanguage {
    /// How it is called, in settings and after the marks of a fence.
    pub names: &'static [&'static str],
    grammar: fn() -> Language,
}

/// Every language.
pub static CODE_LANGUAGES: [CodeLanguage; 10] = [
    CodeLanguage { names: &["bash", "sh", "shell"], grammar: || tree_sitter_bash::LANGUAGE.into() },
    CodeLanguage { names: &["c"], grammar: || tree_sitter_c::LANGUAGE.into() },
    CodeLanguage {
        names: &["cpp", "c++", "cc", "cxx"],
        grammar: || tree_sitter_cpp::LANGUAGE.into(),
    },
    CodeLanguage { names: &["go", "golang"], grammar: || tree_sitter_go::LANGUAGE.into() },
    CodeLanguage { names: &["java"], grammar: || tree_sitter_java::LANGUAGE.into() },
    CodeLanguage {
        names: &["javascript", "js", "jsx"],
        grammar: || tree_sitter_javascript::LANGUAGE.into(),
    },
    CodeLanguage {
        names: &["python", "py", "python3"],
        grammar: || tree_sitter_python::LANGUAGE.into(),
    },
    CodeLanguage { names: &["rust", "rs"], grammar: || tree_sitter_rust::LANGUAGE.into() },
    CodeLanguage { names: &["tsx"], grammar: || tree_sitter_typescript::LANGUAGE_TSX.into() },
    CodeLanguage {
        names: &["typescript", "ts"],
        grammar: || tree_sitter_typescript::LANGUAGE_TYPESCRIPT.into(),
    },
];

/// What 100 steps of a parser cost: it asks after as many whether it may go on.
const STEPS: u64 = 20_000;
/// The most tokens that are said to be expected.
const EXPECTED_MAX: usize = 8;

impl CodeLanguage {
    /// The language of a name, whatever its case.
    pub fn named(name: &str) -> Option<&'static Self> {
        let name = name.to_ascii_lowercase();
        CODE_LANGUAGES.iter().find(|language| language.names.contains(&name.as_str()))
    }

    /// Reads a program; a comment is none. Says where one breaks the grammar, and what may stand there.
    ///
    /// # Errors
    /// What `pay` refuses.
    pub fn read<E>(
        &self,
        text: &str,
        pay: &mut dyn FnMut(u64) -> Result<(), E>,
    ) -> Result<Result<(), Break>, E> {
        let grammar = (self.grammar)();
        let mut parser = Parser::new();
        let mut refused = None;
        let mut go_on = |_: &ParseState| match pay(STEPS) {
            Ok(()) => ControlFlow::Continue(()),
            Err(error) => {
                refused = Some(error);
                ControlFlow::Break(())
            }
        };
        let options = ParseOptions::new().progress_callback(&mut go_on);
        let mut rest = |at: usize, _| text.as_bytes().split_at(at.min(text.len())).1;
        let tree = match parser.set_language(&grammar) {
            Ok(()) => parser.parse_with_options(&mut rest, None, Some(options)),
            Err(_) => None,
        };
        Ok(match (refused, tree) {
            (Some(error), _) => return Err(error),
            (None, Some(tree)) => judged(&tree, &grammar),
            (None, None) => Err(Break::new("unreadable", "", 0..text.len())),
        })
    }
}

fn judged(tree: &Tree, grammar: &Language) -> Result<(), Break> {
    let root = tree.root_node();
    if let Some(node) = first_error(root) {
        let span = node.byte_range();
        if node.is_missing() {
            return Err(Break::new("missing-token", node.kind(), span));
        }
        return Err(Break::new("syntax-error", expected(node, grammar), span));
    }
    let mut cursor = root.walk();
    let is_program = root.named_children(&mut cursor).any(|node| !node.is_extra());
    if is_program { Ok(()) } else { Err(Break::new("no-code", "", 0..0)) }
}

/// The innermost first node that is an error, or that the parser put in.
fn first_error(root: Node<'_>) -> Option<Node<'_>> {
    let mut cursor = root.walk();
    let (mut found, is_bad) = (None, |node: Node<'_>| node.has_error() || node.is_missing());
    while is_bad(cursor.node()) {
        let node = cursor.node();
        if node.is_error() || node.is_missing() {
            found = Some(node);
        }
        if !cursor.goto_first_child() {
            break;
        }
        while !is_bad(cursor.node()) && cursor.goto_next_sibling() {}
    }
    found
}

/// The shortest tokens that may stand where an error begins.
fn expected(error: Node<'_>, grammar: &Language) -> String {
    let mut leaf = error;
    while let Some(child) = leaf.child(0) {
        leaf = child;
    }
    let Some(mut ahead) = grammar.lookahead_iterator(leaf.parse_state()) else {
        return String::new();
    };
    let mut names: Vec<&str> = ahead.iter_names().filter(|name| !name.starts_with('_')).collect();
    names.sort_unstable_by_key(|name| (name.len(), *name));
    names.dedup();
    names.truncate(EXPECTED_MAX);
    if names.is_empty() { String::new() } else { format!("expected {}", names.join(" ")) }
}
