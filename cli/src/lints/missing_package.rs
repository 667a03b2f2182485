//! A script of Python imports a package that is not part of Python.
//!
//! Looks at imports in its syntax tree, also where their failure is caught. Fix: scripts have the standard library of Python
//! alone; the verifiers `math`, `number`, `json` and others do much of what packages are for.

use super::look::{Finding, Place, Tested};

/// Packages that reward functions import.
const PACKAGES: &str = " datasets evaluate jsonschema latex2sympy2 latex2sympy2_extended math_verify nltk numpy openai open_r1 \
    pandas pydantic rapidfuzz regex requests rouge_score scipy sklearn sympy torch transformers verl ";

pub(super) fn find(tested: Tested<'_>) -> Vec<Finding> {
    let found = tested.scripts.iter().enumerate().filter_map(|(at, script)| {
        let mut imports = script.facts.imports.iter();
        let (name, spot) = imports.find(|(name, _)| PACKAGES.contains(&format!(" {name} ")))?;
        let message = format!("the script imports `{name}`, which is not there");
        let help = "scripts have the standard library of Python alone; the verifiers `math`, `number`, `json` and others do \
                    much of what packages are for";
        let part = Some(script.bytes(*spot));
        Some(Finding::new(Place::Script(at, part), message, help).with("package", name.as_str()))
    });
    found.collect()
}
