//! Which tools a completion called, for shapes that price calls.

use crate::prelude::*;
use crate::sample::{Message, MessageContent};

/// What counts as a call of a tool: settings of the shapes that count calls.
///
/// The calls of the messages of the assistant (`tool_calls`, or an item `function_call`) count, and
/// opening tags in its text where they are named.
#[derive(Debug, Default, Deserialize, Serialize, JsonSchema)]
#[serde(default)]
pub(crate) struct ToolUse {
    /// The tools whose calls count; by default all.
    tools: Option<Vec<String>>,
    /// Tags that are calls too: `search` counts each `<search>`.
    tags: Vec<String>,
}

/// The calls of one completion.
pub(crate) struct ToolCount {
    /// How many calls there are.
    pub(crate) calls: f64,
    /// How many different tools and tags they are of.
    pub(crate) kinds: usize,
}

impl ToolUse {
    /// Counts the calls of a completion.
    ///
    /// # Errors
    /// The meter runs out.
    pub(crate) fn count(&self, sample: &Sample, meter: &mut Meter<'_>) -> Result<ToolCount, Fault> {
        let mut names: Vec<&str> = Vec::new();
        match sample.completion_content().messages() {
            None => self.tagged(sample.completion(), &mut names, meter)?,
            Some(messages) => {
                for message in messages {
                    meter.spend(1 + message.tool_calls.len() as u64)?;
                    self.called(message, &mut names);
                    if message.role == "assistant" {
                        self.tagged(message.text(), &mut names, meter)?;
                    }
                }
            }
        }
        let calls = f64::from(u32::try_from(names.len()).unwrap_or(u32::MAX));
        names.sort_unstable();
        names.dedup();
        Ok(ToolCount { calls, kinds: names.len() })
    }

    fn called<'a>(&self, message: &'a Message, names: &mut Vec<&'a str>) {
        let item = matches!(message.content, MessageContent::Item(_))
            && message.other.get("type").and_then(Value::as_str) == Some("function_call");
        let item = item.then(|| message.other.get("name").and_then(Value::as_str)).flatten();
        let calls = message.tool_calls.iter().map(|call| call.name.as_str());
        names.extend(calls.chain(item).filter(|name| self.is_counted(name)));
    }

    fn is_counted(&self, name: &str) -> bool {
        self.tools.as_ref().is_none_or(|tools| tools.iter().any(|tool| tool == name))
    }

    fn tagged<'a>(
        &'a self,
        text: &str,
        names: &mut Vec<&'a str>,
        meter: &mut Meter<'_>,
    ) -> Result<(), Fault> {
        for tag in &self.tags {
            meter.spend(text.len() as u64)?;
            let found = text.matches(&format!("<{tag}>")).count();
            names.extend(std::iter::repeat_n(tag.as_str(), found));
        }
        Ok(())
    }
}
