//! How much of a JSON Schema a value meets: the share of the paths that the schema declares.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::format::resolved;

/// The most paths that are counted.
const PATHS_MAX: usize = 10_000;
/// The most schemas that are looked at, for one value.
const STEPS_MAX: usize = 200_000;

/// The paths that a schema declares, and those that a value meets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Share {
    /// How many are met.
    pub met: usize,
    /// How many there are.
    pub all: usize,
}

/// The share of paths that a value meets, given the JSON pointers at which a validator found errors.
///
/// A path is the root, a property that is required or there, or the items of a list, which are one path
/// together: valid items do not outweigh a broken one. A path is met where the value has it and no error
/// is at it. Errors at other places count as further paths. `pay` takes one unit for each schema that is
/// applied, at most 200,000.
///
/// # Errors
/// What `pay` refuses.
pub fn share<E>(
    schema: &Value,
    value: &Value,
    errors: &[String],
    pay: &mut dyn FnMut(u64) -> Result<(), E>,
) -> Result<Share, E> {
    let broken: BTreeSet<String> = errors.iter().map(|at| pattern(value, at)).collect();
    let (mut paths, mut missing) = (BTreeSet::from([String::new()]), BTreeSet::new());
    let mut work = vec![(String::new(), schema, value)];
    let mut steps = 0;
    while let Some((at, part, value)) = work.pop() {
        pay(10 + at.len() as u64)?;
        steps += 1;
        if paths.len() >= PATHS_MAX || steps >= STEPS_MAX {
            break;
        }
        let part = resolved(part, schema);
        for all in part.get("allOf").and_then(Value::as_array).into_iter().flatten() {
            work.push((at.clone(), all, value));
        }
        let required = part.get("required").and_then(Value::as_array).into_iter().flatten();
        for name in required.filter_map(Value::as_str).filter(|name| value.get(name).is_none()) {
            let path = format!("{at}/{}", escaped(name));
            paths.insert(path.clone());
            missing.insert(path);
        }
        for (name, inner) in part.get("properties").and_then(Value::as_object).into_iter().flatten()
        {
            if let Some(member) = value.get(name) {
                let path = format!("{at}/{}", escaped(name));
                paths.insert(path.clone());
                work.push((path, inner, member));
            }
        }
        if let (Some(inner), Some(values)) = (part.get("items"), value.as_array()) {
            let path = format!("{at}/*");
            if !values.is_empty() {
                paths.insert(path.clone());
            }
            work.extend(values.iter().map(|value| (path.clone(), inner, value)));
        }
    }
    paths.extend(broken.iter().cloned());
    let is_met = |path: &&String| !broken.contains(*path) && !missing.contains(*path);
    Ok(Share { met: paths.iter().filter(is_met).count(), all: paths.len() })
}

fn escaped(name: &str) -> String {
    name.replace('~', "~0").replace('/', "~1")
}

/// A pointer into a value with `*` in the place of each index of a list.
fn pattern(value: &Value, pointer: &str) -> String {
    let (mut out, mut here) = (String::new(), Some(value));
    for token in pointer.split('/').skip(1) {
        let is_index = here.is_some_and(Value::is_array);
        out.push('/');
        out.push_str(if is_index { "*" } else { token });
        here = here.and_then(|value| value.pointer(&format!("/{token}")));
    }
    out
}
