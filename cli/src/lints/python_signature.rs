//! A function of Python takes its sample for a text: it is named as in TRL or verl, and nothing reads it as a dict.
//!
//! Looks at the names of parameters and at what the function reads of them. The function gets one dict, the sample; with a
//! second parameter that has no default, the row beside it. Fix: def reward(sample), and in the line below it what each
//! name stands for.

use assay::engine::python_argument;

use super::look::{Finding, Place, Tested};

pub(super) fn find(tested: Tested<'_>) -> Vec<Finding> {
    let found = tested.scripts.iter().enumerate().filter_map(|(at, script)| {
        let function = script.facts.function.as_ref()?;
        let names: Vec<&str> = function.parameters.iter().map(|own| own.name.as_str()).collect();
        let is_read = |name: &str| {
            let mut paths = script.facts.paths.iter().filter(|path| path.names.len() > 1);
            paths.any(|path| path.names.first().is_some_and(|own| own == name))
        };
        let meant = |name: &str| python_argument(name, &names);
        let mut given = function.parameters.iter().take(2).enumerate();
        let (_, wrong) = given.find(|(at, own)| {
            (*at == 0 || own.is_required) && meant(&own.name).is_some() && !is_read(&own.name)
        })?;
        let lines = names.iter().filter_map(|name| Some(format!("{name} = {}", meant(name)?)));
        let found = Finding::new(Place::Script(at, Some(script.bytes(wrong.at))), "text");
        let found = found.with("lines", lines.collect::<Vec<_>>().join("; "));
        Some(found.with("function", function.name.as_str()).with("parameter", wrong.name.as_str()))
    });
    found.collect()
}
