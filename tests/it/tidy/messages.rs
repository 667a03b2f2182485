//! Errors are told apart by their codes: no code but that of tests looks into a message.

use quote::ToTokens as _;
use syn::visit::{self, Visit};

/// Methods that look into a text.
const LOOKS: [&str; 8] = [
    "contains",
    "ends_with",
    "find",
    "split_once",
    "rsplit_once",
    "starts_with",
    "strip_prefix",
    "strip_suffix",
];

/// What a sentence of an error is called.
const SENTENCES: [&str; 6] = ["message", "error", "err", "reason", "why", "told"];

#[derive(Default)]
struct Messages(Vec<String>);

impl<'ast> Visit<'ast> for Messages {
    fn visit_item_mod(&mut self, module: &'ast syn::ItemMod) {
        if module.ident != "tests" {
            visit::visit_item_mod(self, module);
        }
    }

    fn visit_expr_method_call(&mut self, call: &'ast syn::ExprMethodCall) {
        let is_literal = matches!(
            call.args.first(),
            Some(syn::Expr::Lit(syn::ExprLit { lit: syn::Lit::Str(_), .. }))
        );
        let of = call.receiver.to_token_stream().to_string();
        let mut words = of.split(|char: char| !(char.is_alphanumeric() || char == '_'));
        let last = words.rfind(|word| !["", "to_string", "as_str", "as_deref"].contains(word));
        let is_sentence = last.is_some_and(|word| SENTENCES.contains(&word));
        if is_literal && is_sentence && LOOKS.contains(&call.method.to_string().as_str()) {
            let literal = call.args.to_token_stream();
            self.0.push(format!("`{of}.{}({literal})`", call.method));
        }
        visit::visit_expr_method_call(self, call);
    }
}

/// The places of a file that read a message.
pub(super) fn read(file: &syn::File) -> Vec<String> {
    let mut messages = Messages::default();
    messages.visit_file(file);
    messages.0
}

#[test]
fn a_message_that_is_read_is_found() {
    let found = |code: &str| read(&syn::parse_str(code).unwrap()).len();
    assert_eq!(found("fn a(error: E) -> bool { error.to_string().contains(\"missing\") }"), 1);
    assert_eq!(found("fn a(error: E) -> bool { error.message.starts_with(\"missing\") }"), 1);
    assert_eq!(found("fn a(text: &str) -> bool { text.contains(\"missing\") }"), 0);
    assert_eq!(found("mod tests { fn a(why: &str) { assert!(why.contains(\"x\")); } }"), 0);
}
