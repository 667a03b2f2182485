//! Which tests of a file assert something, by themselves or in a function of the file that they call.

use std::collections::BTreeSet;

use quote::ToTokens as _;
use syn::visit::{self, Visit};

/// What an assertion is called. `assert` stands for all macros with it in their names.
const ASSERTIONS: [&str; 5] = ["assert", "panic !", "unreachable !", "unwrap_err", "expect_err"];

/// The functions of a file: name, whether it is a test, and its code.
#[derive(Default)]
struct Functions(Vec<(String, bool, String)>);

impl<'ast> Visit<'ast> for Functions {
    fn visit_item_fn(&mut self, function: &'ast syn::ItemFn) {
        let is_test = function.attrs.iter().any(|attribute| attribute.path().is_ident("test"));
        let code = function.block.to_token_stream().to_string();
        self.0.push((function.sig.ident.to_string(), is_test, code));
        visit::visit_item_fn(self, function);
    }

    fn visit_impl_item_fn(&mut self, function: &'ast syn::ImplItemFn) {
        let code = function.block.to_token_stream().to_string();
        self.0.push((function.sig.ident.to_string(), false, code));
    }
}

/// The tests of a file that cannot fail but by a panic of what they call.
pub(super) fn missing(file: &syn::File) -> Vec<String> {
    let mut functions = Functions::default();
    functions.visit_file(file);
    let direct = |code: &str| ASSERTIONS.iter().any(|assertion| code.contains(assertion));
    let mut asserting: BTreeSet<&str> = BTreeSet::new();
    loop {
        let before = asserting.len();
        for (name, _, code) in &functions.0 {
            let mut words = code.split(|char: char| !(char.is_alphanumeric() || char == '_'));
            if direct(code) || words.any(|word| asserting.contains(word)) {
                asserting.insert(name);
            }
        }
        if asserting.len() == before {
            break;
        }
    }
    let silent =
        functions.0.iter().filter(|(name, is_test, _)| *is_test && !asserting.contains(&**name));
    silent.map(|(name, _, _)| name.clone()).collect()
}
