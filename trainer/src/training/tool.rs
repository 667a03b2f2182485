//! Completions of several turns: generation stops after a call, a tool answers it, and generation goes on.

use assay_verifiers::{Message, ToolCall};
use serde_json::json;

use super::error::TrainingError;
use super::seeds::{Purpose, seed};
use crate::config::ToolConfig;
use crate::policy::{FinishReason, Generated, GenerationConfig, PolicyModel, TextTokenizer};
use crate::prelude::*;

/// What a tool says to a call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ToolReply {
    /// The result, or what is wrong with the call.
    pub text: String,
    /// Whether the call failed.
    pub is_error: bool,
}

/// A tool.
pub trait Tool: Send + Sync {
    /// The replies to calls, in their order. Equal calls have equal replies.
    ///
    /// # Errors
    /// Why there are none, where the calls are not at fault: the training stops.
    fn answer(&self, calls: &[&str]) -> Result<Vec<ToolReply>, String>;
}

/// The tokens of a completion that a tool wrote.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Observation {
    pub(super) start: usize,
    pub(super) end: usize,
    pub(super) is_error: bool,
}

/// A completion, and what a tool wrote in it.
pub(super) struct Answered {
    pub(super) generated: Generated,
    pub(super) observations: Vec<Observation>,
}

/// What turns are generated with.
pub(super) struct Turns<'a, P> {
    pub(super) policy: &'a P,
    pub(super) tokenizer: &'a dyn TextTokenizer,
    pub(super) generation: &'a GenerationConfig,
    pub(super) tool: &'a ToolUse,
}

/// A tool, and how the policy calls it.
pub(super) struct ToolUse {
    config: ToolConfig,
    tool: Box<dyn Tool>,
    /// What is before and after a result: text and tokens.
    result: [(String, Vec<u32>); 2],
}

impl ToolUse {
    /// A tool for policies with this tokenizer.
    ///
    /// # Errors
    /// What marks a call or a result is not of the tokens of the policy, or a call not text of them.
    pub(super) fn new(
        config: ToolConfig,
        tool: Box<dyn Tool>,
        tokenizer: &dyn TextTokenizer,
    ) -> Result<Self, TrainerError> {
        let mark = |tag: &String| match tokenizer.encode(tag) {
            Ok(tokens) => Ok((tokenizer.decode(&tokens), tokens)),
            Err(error) => Err(TrainerError::setting("tool", format!("{tag:?}: {error}"))),
        };
        for tag in &config.call {
            if mark(tag)?.0 != *tag {
                let why = format!("{tag:?}: the tokenizer has it as a special token, not as text");
                return Err(TrainerError::setting("tool.call", why));
            }
        }
        let [open, close] = &config.result;
        let result = [mark(open)?, mark(close)?];
        Ok(Self { config, tool, result })
    }

    /// Whether tokens end with a call.
    fn is_call(&self, tokenizer: &dyn TextTokenizer, tokens: &[u32]) -> bool {
        let last = tokenizer.decode(tokens.split_at(tokens.len().saturating_sub(1)).1);
        let [_, close] = &self.config.call;
        // A token may hold a part of a character.
        let may_end = close.ends_with(|end| last.contains([end, char::REPLACEMENT_CHARACTER]));
        may_end && self.config.first_call(&tokenizer.decode(tokens)).is_some()
    }

    /// The tokens of a result. What it says is never a special token; characters without a token are
    /// left out.
    fn tokens(&self, tokenizer: &dyn TextTokenizer, text: &str) -> Vec<u32> {
        let [(_, open), (_, close)] = &self.result;
        let whole = tokenizer.encode(text).ok();
        let whole = whole.filter(|tokens| tokenizer.decode(tokens) == text).unwrap_or_else(|| {
            let one = |char: char| tokenizer.encode(char.encode_utf8(&mut [0; 4])).ok();
            text.chars().filter_map(one).flatten().collect()
        });
        [open.as_slice(), &whole, close].concat()
    }

    /// A completion as messages, each with the byte of the completion at which it begins. A call is no
    /// part of the text of its message.
    #[expect(clippy::indexing_slicing, reason = "observations are of the tokens")]
    pub(super) fn messages(
        &self,
        tokenizer: &dyn TextTokenizer,
        tokens: &[u32],
        observations: &[Observation],
    ) -> Vec<(usize, Message)> {
        let ends = tokenizer.ends(tokens);
        let byte = |token: usize| if token == 0 { 0 } else { ends[token - 1] };
        let text = |from: usize, to: usize| tokenizer.decode(&tokens[from..to]);
        let (mut messages, mut from) = (Vec::new(), 0);
        for seen in observations {
            messages.push((byte(from), self.said(&text(from, seen.start))));
            let [(open, _), (close, _)] = &self.result;
            let whole = text(seen.start, seen.end);
            let told = whole.strip_prefix(open.as_str()).unwrap_or(&whole);
            let told = told.strip_suffix(close.as_str()).unwrap_or(told);
            let name = Some(self.config.name.clone());
            messages.push((byte(seen.start), Message { name, ..Message::new("tool", told) }));
            from = seen.end;
        }
        messages.push((byte(from), self.said(&text(from, tokens.len()))));
        messages
    }

    /// A message of the policy.
    fn said(&self, text: &str) -> Message {
        let Some((before, call)) = self.config.first_call(text) else {
            return Message::new("assistant", text);
        };
        let (name, arguments) = (self.config.name.clone(), json!({ "input": call }));
        let call = ToolCall { name, arguments, ..ToolCall::default() };
        Message { tool_calls: vec![call], ..Message::new("assistant", before) }
    }
}

impl Answered {
    /// The tokens since the last result.
    fn last_turn(&self) -> &[u32] {
        let start = self.observations.last().map_or(0, |last| last.end);
        self.generated.tokens.split_at(start).1
    }

    fn observe(&mut self, tokens: &[u32], is_error: bool) {
        let Generated { tokens: own, log_probs, .. } = &mut self.generated;
        let start = own.len();
        own.extend(tokens);
        log_probs.resize(own.len(), 0.0);
        self.observations.push(Observation { start, end: own.len(), is_error });
    }

    fn go_on(&mut self, turn: Generated) {
        self.generated.tokens.extend(turn.tokens);
        self.generated.log_probs.extend(turn.log_probs);
        self.generated.finish = turn.finish;
    }
}

impl From<Generated> for Answered {
    fn from(generated: Generated) -> Self {
        Self { generated, observations: Vec::new() }
    }
}

#[expect(clippy::indexing_slicing, reason = "places are those of completions")]
impl<P: PolicyModel> Turns<'_, P> {
    /// Generates as [`PolicyModel::generate`] does, with results of calls. Each turn of a completion has
    /// a seed of its own; the first has that of the completion.
    pub(super) fn generate(
        &self,
        prompts: &Ragged<u32>,
        seeds: &[u64],
    ) -> Result<Vec<Answered>, TrainingError> {
        let each = (seeds.len() / prompts.rows().max(1)).max(1);
        let prompt = |at: usize| prompts.row(at / each);
        let first = self.turn(prompts, seeds, &vec![0; seeds.len()])?;
        let mut all: Vec<Answered> = first.into_iter().map(Answered::from).collect();
        let mut open: Vec<usize> = (0..all.len()).collect();
        for turn in 1..=self.tool.config.max_tool_calling_iterations.unwrap_or(u64::MAX) {
            let positions = |at| self.policy.positions_max().saturating_sub(prompt(at).len());
            open = self
                .answer(&open, &mut all, |at| self.generation.max_new_tokens.min(positions(at)))?;
            if open.is_empty() {
                break;
            }
            let so_far = |at: &usize| all[*at].generated.tokens.as_slice();
            let contexts = open.iter().map(|at| [prompt(*at), so_far(at)].concat()).collect();
            let own = |at: &usize| seed(seeds[*at], Purpose::Completion, turn, 0);
            let used: Vec<usize> = open.iter().map(|at| so_far(at).len()).collect();
            let made = self.turn(&contexts, &open.iter().map(own).collect::<Vec<_>>(), &used)?;
            for (at, generated) in open.iter().zip(made) {
                all[*at].go_on(generated);
            }
        }
        Ok(all)
    }

    /// A turn of completions that have `used` so many tokens.
    fn turn(
        &self,
        contexts: &Ragged<u32>,
        seeds: &[u64],
        used: &[usize],
    ) -> Result<Vec<Generated>, TrainingError> {
        let most = self.generation.max_new_tokens;
        let ends = |row: usize, tokens: &[u32]| {
            used[row] + tokens.len() >= most || self.tool.is_call(self.tokenizer, tokens)
        };
        Ok(self.policy.generate_until(contexts, self.generation, seeds, &ends)?)
    }

    /// Puts results after the calls that completions end with, and gives those that go on. One that
    /// would leave no room for a token after it is not put there.
    fn answer(
        &self,
        open: &[usize],
        all: &mut [Answered],
        room: impl Fn(usize) -> usize,
    ) -> Result<Vec<usize>, TrainingError> {
        let ended = |at: &usize| all[*at].generated.finish == FinishReason::Stop;
        let texts = open.iter().filter(|at| !ended(at));
        let texts = texts.map(|at| (*at, self.tokenizer.decode(all[*at].last_turn())));
        let texts: Vec<(usize, String)> = texts.collect();
        let call = |text| self.tool.config.first_call(text).map(|(_, call)| call);
        let calls = texts.iter().filter_map(|(at, text)| Some((*at, call(text)?)));
        let calls: Vec<(usize, &str)> = calls.collect();
        if calls.is_empty() {
            return Ok(Vec::new());
        }
        let asked: Vec<&str> = calls.iter().map(|(_, call)| *call).collect();
        let replies = self.tool.tool.answer(&asked).map_err(TrainingError::Tool)?;
        let mut open = Vec::new();
        for ((at, _), reply) in calls.iter().zip(replies) {
            let tokens = self.tool.tokens(self.tokenizer, &reply.text);
            if all[*at].generated.tokens.len() + tokens.len() < room(*at) {
                all[*at].observe(&tokens, reply.is_error);
                open.push(*at);
            }
        }
        Ok(open)
    }
}
