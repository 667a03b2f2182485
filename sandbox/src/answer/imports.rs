//! What a program of Python imports, as its lines say.

use std::collections::BTreeSet;

use super::language::Language;
use super::strings::Strings;

/// The outermost names of the modules that a program imports by a statement, wherever it stands; modules
/// beside its own (`from . import x`) are left out.
pub(crate) fn imports(source: &str) -> BTreeSet<&str> {
    let mut strings = Strings::of(&Language::PYTHON);
    let mut found = BTreeSet::new();
    for line in source.lines() {
        if !strings.inside() {
            let code = line.split('#').next().unwrap_or_default();
            // `try: import numpy` and `import numpy; import math`.
            for statement in code.split([';', ':']).map(str::trim_start) {
                if let Some(names) = after(statement, "import") {
                    found.extend(names.split(',').filter_map(root));
                } else if let Some(module) = after(statement, "from") {
                    found.extend(root(module));
                }
            }
        }
        strings.feed(line);
    }
    found
}

fn after<'a>(statement: &'a str, word: &str) -> Option<&'a str> {
    statement.strip_prefix(word).filter(|rest| rest.starts_with([' ', '\t']))
}

fn root(module: &str) -> Option<&str> {
    let module = module.trim_start();
    let end = module.find(|c: char| !(c.is_alphanumeric() || c == '_')).unwrap_or(module.len());
    module.get(..end).filter(|name| !name.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn statements_are_found_and_texts_are_not() {
        let source = "\
import numpy as np, pandas.core
from scipy.stats import norm
from . import near
text = \"\"\"
import torch
\"\"\"
# import jax
def f():
    try: import sympy; import yaml
    except ImportError: pass
important = from_x = 1
";
        let found: Vec<&str> = imports(source).into_iter().collect();
        assert_eq!(found, ["numpy", "pandas", "scipy", "sympy", "yaml"]);
    }
}
