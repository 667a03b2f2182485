//! What the tests of the tree look for in a file. Parsing takes most of their time, so a file is parsed once.

use std::fs;
use std::path::Path;
use std::sync::LazyLock;

use syn::spanned::Spanned as _;
use syn::visit::{self, Visit};

use super::{assertions, defaults, messages, shown, sources};

const FUNCTION_LINES_MAX: usize = 70;

pub(super) struct Facts {
    pub(super) file: String,
    pub(super) lines: usize,
    pub(super) long: Vec<String>,
    pub(super) silent_tests: Vec<String>,
    pub(super) messages: Vec<String>,
    pub(super) defaults: Vec<String>,
    pub(super) literals: Vec<String>,
}

impl Facts {
    fn of(path: &Path) -> Self {
        let text = fs::read_to_string(path).unwrap();
        let code = syn::parse_file(&text).unwrap();
        let mut functions = Functions::default();
        functions.visit_file(&code);
        Self {
            file: shown(path),
            lines: text.lines().count(),
            long: functions.long,
            silent_tests: assertions::missing(&code),
            messages: messages::read(&code),
            defaults: defaults::silent(&code),
            literals: functions.literals,
        }
    }

    pub(super) fn is_production(&self) -> bool {
        !self.file.split('/').any(|part| part.contains("test") || part == "benches")
    }
}

/// Of every Rust file.
pub(super) static FACTS: LazyLock<Vec<Facts>> = LazyLock::new(|| {
    let sources = sources();
    assert!(sources.len() > 50, "only {} files were found", sources.len());
    sources.iter().map(|path| Facts::of(path)).collect()
});

/// Functions that are too long, and the literals outside modules that a feature or tests ask for.
#[derive(Default)]
struct Functions {
    long: Vec<String>,
    literals: Vec<String>,
    is_optional: bool,
}

impl Functions {
    fn measure(&mut self, name: &syn::Ident, block: &syn::Block) {
        let span = block.span();
        let lines = span.end().line - span.start().line + 1;
        if lines > FUNCTION_LINES_MAX {
            self.long.push(format!("`{name}` has {lines} lines"));
        }
    }
}

impl<'ast> Visit<'ast> for Functions {
    fn visit_item_fn(&mut self, function: &'ast syn::ItemFn) {
        self.measure(&function.sig.ident, &function.block);
        visit::visit_item_fn(self, function);
    }

    fn visit_impl_item_fn(&mut self, function: &'ast syn::ImplItemFn) {
        self.measure(&function.sig.ident, &function.block);
        visit::visit_impl_item_fn(self, function);
    }

    fn visit_item_mod(&mut self, item: &'ast syn::ItemMod) {
        let before = self.is_optional;
        self.is_optional |= item.attrs.iter().any(|own| own.path().is_ident("cfg"));
        visit::visit_item_mod(self, item);
        self.is_optional = before;
    }

    fn visit_lit_str(&mut self, literal: &'ast syn::LitStr) {
        if !self.is_optional {
            self.literals.push(literal.value());
        }
    }
}
