//! Reward functions of Python that are written for other libraries, and how ours calls them.

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
