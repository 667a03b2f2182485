//! A place that a text or a list has not is a fault of ours: an empty text in its stead earns 0.

use quote::ToTokens as _;
use syn::visit::{self, Visit};

#[derive(Default)]
struct Defaults(Vec<String>);

/// Whether an expression is `text.get(a..b)`.
fn is_part(expression: &syn::Expr) -> bool {
    let syn::Expr::MethodCall(call) = expression else { return false };
    ["get", "get_mut"].iter().any(|name| call.method == name)
        && matches!(call.args.first(), Some(syn::Expr::Range(_)))
}

impl<'ast> Visit<'ast> for Defaults {
    fn visit_item_mod(&mut self, module: &'ast syn::ItemMod) {
        if module.ident != "tests" {
            visit::visit_item_mod(self, module);
        }
    }

    fn visit_expr_method_call(&mut self, call: &'ast syn::ExprMethodCall) {
        let default = call.args.to_token_stream().to_string();
        let is_empty = call.method == "unwrap_or_default"
            || call.method == "unwrap_or" && ["\"\"", "& []", "& mut []"].contains(&&*default);
        if is_empty && is_part(&call.receiver) {
            self.0.push(call.to_token_stream().to_string());
        }
        visit::visit_expr_method_call(self, call);
    }
}

/// The parts of texts and lists in a file that are empty where there are none.
pub(super) fn silent(file: &syn::File) -> Vec<String> {
    let mut defaults = Defaults::default();
    defaults.visit_file(file);
    defaults.0
}

#[test]
fn a_silent_default_is_found() {
    let found = |code: &str| silent(&syn::parse_str(code).unwrap()).len();
    assert_eq!(found("fn a(text: &str) -> &str { text.get(1..).unwrap_or_default().trim() }"), 1);
    assert_eq!(found("fn a(text: &str) -> &str { text.get(..2).unwrap_or(\"\") }"), 1);
    assert_eq!(
        found("fn a(list: &mut [u8]) -> &mut [u8] { list.get_mut(1..).unwrap_or(&mut []) }"),
        1
    );
    assert_eq!(found("fn a(text: &str) -> &str { text.get(..2).unwrap_or(text) }"), 0);
    assert_eq!(found("fn a(map: &Map) -> &str { map.get(\"key\").unwrap_or_default() }"), 0);
}
