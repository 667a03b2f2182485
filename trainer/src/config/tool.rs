//! The table `[train.tool]`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use smart_default::SmartDefault;

/// A tool that the policy calls within a completion: generation stops after a call, a program answers
/// it in the sandbox, and generation goes on after the result, which is not trained on.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema, SmartDefault)]
#[serde(deny_unknown_fields, default)]
pub struct ToolConfig {
    /// What the program is written in.
    pub language: ToolLanguage,
    /// The program: it reads the text of a call from standard input, and what it prints is the result.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
    /// The file of the program, in place of `source`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// The name of the tool in messages.
    #[default = "tool"]
    pub name: String,
    /// What the policy writes before and after a call.
    #[default(["<tool_call>", "</tool_call>"].map(str::to_owned))]
    pub call: [String; 2],
    /// What is put before and after a result.
    #[default(["<tool_response>", "</tool_response>"].map(str::to_owned))]
    pub result: [String; 2],
    /// Calls of a completion that are answered, as TRL counts them; a further one ends it. By default
    /// `generation.max_new_tokens` is the only limit, which counts the tokens of results too.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_tool_calling_iterations: Option<u64>,
    /// The most characters of a result, as verl counts them; the rest is cut off.
    #[default(256)]
    pub max_tool_response_length: usize,
    /// Fuel of a call: about one unit an instruction; 1e10 is half a second to a second.
    #[default(3_200_000_000)]
    pub fuel: u64,
}

/// What a tool is written in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum ToolLanguage {
    /// Python.
    #[default]
    Python,
    /// JavaScript.
    JavaScript,
}

impl ToolConfig {
    /// The first call of a text: what is before it, and what is in it.
    pub fn first_call<'t>(&self, text: &'t str) -> Option<(&'t str, &'t str)> {
        let [open, close] = &self.call;
        let (before, rest) = text.split_once(open.as_str())?;
        Some((before, rest.split_once(close.as_str())?.0))
    }

    /// The parts of a text that are tokenized by themselves, and whether each is of a result.
    pub fn parts<'t>(&'t self, text: &'t str) -> Vec<(&'t str, bool)> {
        let [open, close] = &self.result;
        let (mut parts, mut rest) = (Vec::new(), text);
        while let Some((before, after)) = rest.split_once(open.as_str())
            && let Some((result, next)) = after.split_once(close.as_str())
        {
            parts.extend([(before, false), (open, true), (result, true), (close, true)]);
            rest = next;
        }
        parts.push((rest, false));
        parts
    }
}
