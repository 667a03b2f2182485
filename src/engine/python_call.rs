//! Reward functions of Python that are written for other libraries, and how ours calls them.

use super::error::did_you_mean;

/// Names by which functions take the reference.
const REFERENCES: [&str; 5] = ["reference", "ground_truth", "gold", "target", "label"];

/// What a parameter stands for in the reward functions of TRL, verl and others; `others` are the names of all of
/// them.
pub fn python_argument(name: &str, others: &[&str]) -> Option<&'static str> {
    let has_reference = || others.iter().any(|own| REFERENCES.contains(own));
    Some(match name {
        "completion" | "response" | "text" | "output" | "solution_str" | "model_output"
        | "generation" | "prediction" => "sample[\"completion\"]",
        "solution" | "answer" if has_reference() => "sample[\"completion\"]",
        "completions" | "responses" | "outputs" => "[sample[\"completion\"]]",
        "prompt" | "question" => "sample[\"prompt\"]",
        "prompts" => "[sample[\"prompt\"]]",
        "solution" | "answer" => "sample[\"reference\"]",
        "data_source" => "sample[\"meta\"].get(\"data_source\")",
        "extra_info" => "sample[\"meta\"].get(\"extra_info\")",
        _ if REFERENCES.contains(&name) => "sample[\"reference\"]",
        _ => return None,
    })
}

/// A parameter of a function.
struct Parameter<'a> {
    name: &'a str,
    has_default: bool,
}

/// What to type where a script has no function of the name that is wanted. `why` says which, and which there are.
pub(super) fn advice(why: &str, script: Option<&str>) -> Option<String> {
    let (wanted, has) = why.strip_prefix("no function ")?.split_once("; has: ")?;
    let script = script.unwrap_or_default();
    let names: Vec<&str> = has.split(", ").map(str::trim).filter(|name| *name != "none").collect();
    let is_named = wanted != "reward or grade";
    if is_named {
        let near = did_you_mean(wanted, names.iter().copied());
        return Some(match (near, names.first()) {
            (Some(near), _) => format!("did you mean function = \"{near}\"?"),
            (None, Some(first)) => format!("write function = \"{first}\""),
            (None, None) => format!("write def {wanted}(sample): return 1.0"),
        });
    }
    let is_reward = |name: &&&str| ["reward", "score"].iter().any(|word| name.contains(word));
    let Some(name) = names.iter().find(is_reward).or_else(|| names.first()) else {
        return Some(of_class(script));
    };
    let Some(parameters) = parameters(script, &format!("def {name}(")) else {
        return Some(format!("write function = \"{name}\", where it takes one sample"));
    };
    Some(called(name, &parameters, script, true))
}

/// What to type for a script that has no function at all.
fn of_class(script: &str) -> String {
    let lines = || script.lines().filter_map(|line| line.strip_prefix("class "));
    let name = lines().find_map(|line| line.split(['(', ':']).next()).map(str::trim);
    let call = script.split_once("def __call__(").and_then(|_| parameters(script, "def __call__("));
    match (name, call) {
        (Some(name), Some(call)) => {
            called(&format!("{name}()"), call.get(1..).unwrap_or_default(), script, false)
        }
        _ => "write a function of one sample: def reward(sample): return 1.0".to_owned(),
    }
}

/// The function that calls `callee`, or the setting that names it.
fn called(callee: &str, all: &[Parameter<'_>], script: &str, is_function: bool) -> String {
    let names: Vec<&str> = all.iter().map(|own| own.name).collect();
    let required: Vec<&Parameter<'_>> = all.iter().filter(|own| !own.has_default).collect();
    let known = |own: &Parameter<'_>| python_argument(own.name, &names);
    let takes_sample = match required.as_slice() {
        [only] => known(only).is_none(),
        [only, item] => known(only).is_none() && item.name == "item",
        _ => false,
    };
    if takes_sample && is_function {
        return format!("write function = \"{callee}\"");
    }
    let given: Vec<&Parameter<'_>> =
        all.iter().filter(|own| !own.has_default || known(own).is_some()).collect();
    let is_batch = given.iter().any(|own| known(own).is_some_and(|own| own.starts_with('[')));
    // Conversations, as TRL has them.
    let is_messages =
        ["[0][\"content\"]", "[0]['content']"].iter().any(|part| script.contains(part));
    let value = |own: &Parameter<'_>| {
        let value = match known(own) {
            _ if takes_sample => "sample".to_owned(),
            Some("[sample[\"completion\"]]") if is_messages => {
                "[[{\"role\": \"assistant\", \"content\": sample[\"completion\"]}]]".to_owned()
            }
            Some(known) => known.to_owned(),
            None => format!("sample[\"meta\"][\"{}\"]", own.name),
        };
        if is_batch && !value.starts_with('[') { format!("[{value}]") } else { value }
    };
    let by_name = |own: &&Parameter<'_>| format!("{}={}", own.name, value(own));
    let arguments = match given.as_slice() {
        [only] => value(only),
        given => given.iter().map(by_name).collect::<Vec<_>>().join(", "),
    };
    let first = if is_batch { "[0]" } else { "" };
    format!(
        "add a function that calls yours, with its arguments, and returns one number: def reward(sample): return \
         {callee}({arguments}){first}"
    )
}

/// The parameters behind the words that begin a definition.
fn parameters<'a>(script: &'a str, begins: &str) -> Option<Vec<Parameter<'a>>> {
    let (_, rest) = script.split_once(begins)?;
    let (mut depth, mut start, mut parts) = (0_usize, 0, Vec::new());
    for (at, char) in rest.char_indices() {
        match char {
            '(' | '[' | '{' => depth += 1,
            ')' if depth == 0 => {
                parts.push(rest.get(start..at)?);
                break;
            }
            ')' | ']' | '}' => depth = depth.saturating_sub(1),
            ',' if depth == 0 => {
                parts.push(rest.get(start..at)?);
                start = at + 1;
            }
            _ => {}
        }
    }
    let read = |part: &'a str| {
        let part = part.trim();
        let name = part.split([':', '=']).next().map(str::trim)?;
        let is_name = !name.is_empty() && !name.starts_with('*') && name != "/";
        is_name.then(|| Parameter { name, has_default: part.contains('=') })
    };
    Some(parts.into_iter().filter_map(read).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn functions_of_others_are_called_with_what_they_take() {
        let none = "no function reward or grade; has: ";
        for (why, script, told) in [
            (
                format!("{none}compute_score"),
                "def compute_score(data_source, solution_str, ground_truth, extra_info=None):",
                "compute_score(data_source=sample[\"meta\"].get(\"data_source\"), \
                 solution_str=sample[\"completion\"], ground_truth=sample[\"reference\"], \
                 extra_info=sample[\"meta\"].get(\"extra_info\"))",
            ),
            (format!("{none}score"), "def score(sample):", "write function = \"score\""),
            (
                format!("{none}acc"),
                "def acc(completions, answer, **kwargs):",
                "acc(completions=[sample[\"completion\"]], answer=[sample[\"reference\"]])[0]",
            ),
            (
                format!("{none}acc"),
                "def acc(completions, **kwargs): completions[0][0][\"content\"]",
                "acc([[{\"role\": \"assistant\", \"content\": sample[\"completion\"]}]])[0]",
            ),
            (
                format!("{none}none"),
                "class Reward:\n    def __call__(self, sample):",
                "def reward(sample): return Reward()(sample)",
            ),
            ("no function scores; has: score".to_owned(), "", "did you mean function = \"score\"?"),
        ] {
            let help = advice(&why, Some(script)).unwrap_or_default();
            assert!(help.contains(told), "{help}");
        }
    }
}
