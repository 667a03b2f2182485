//! Chat templates: from a sample to the text that a model reads, by Jinja, with the positions of scores
//! marked in it.
//!
//! A mark, a cut and the border of a pair are noncharacters of Unicode while the template runs; no
//! sample can hold one, because they are replaced in its text first.
//!
//! A template comes with a model, from wherever that comes: [`jinja`] holds it to so many instructions, so many
//! bytes of values, and so much work on them.

use std::sync::Arc;
use std::thread;

use assay_verifiers::jinja::{self, BoundedTemplate};
use assay_verifiers::{Message, ToolCall};
use minijinja::syntax::SyntaxConfig;
use minijinja::value::{Kwargs, Serde, Value, ValueKind};
use minijinja::{Environment, Error, ErrorKind, State, context};
use serde_json::Value as Json;

use crate::error::ModelError;
use crate::special::SpecialTokens;

const MARK: char = '\u{FDD0}';
const CUT: char = '\u{FDD1}';
const PAIR: char = '\u{FDD2}';

/// What the template sees of a sample.
#[derive(Clone, Debug, Default)]
pub struct View {
    /// The messages of the prompt.
    pub messages: Vec<Message>,
    /// The text that is judged.
    pub completion: String,
    /// Its steps.
    pub steps: Vec<String>,
    /// The first and the second of a pair.
    pub pair: Option<(String, String)>,
    /// The reference.
    pub reference: String,
    /// What is asked of the completion: the criterion of a rubric.
    pub question: String,
}

/// A text with places in it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Text {
    /// Parts that are tokenised apart.
    pub parts: Vec<String>,
    /// Where the second text of a pair begins, as an index into `parts`.
    pub second: Option<usize>,
    /// Where scores are read: a part, and the bytes before the place in it.
    pub marks: Vec<(usize, usize)>,
}

/// A template, compiled.
pub struct Template {
    environment: Environment<'static>,
    program: BoundedTemplate,
    system: String,
    special: SpecialTokens,
}

impl Template {
    /// Compiles a template. `special` are the tokens that no sample may write.
    ///
    /// # Errors
    /// A template that does not parse; the message names the line.
    pub fn new(
        template: &str,
        chat: Option<&str>,
        system: &str,
        tokens: impl IntoIterator<Item = (String, String)>,
        special: SpecialTokens,
    ) -> Result<Self, ModelError> {
        let mut environment = jinja::environment();
        let refuse = |error: Error| ModelError::Input(format!("template: {error:#}").into());
        // As chat templates are written for.
        let syntax = SyntaxConfig::builder().trim_blocks(true).lstrip_blocks(true).build();
        let syntax = syntax.map_err(refuse)?;
        environment.add_filter("tojson", jinja::python_json);
        environment.add_function("raise_exception", |why: String| -> Result<String, Error> {
            Err(Error::new(ErrorKind::InvalidOperation, why))
        });
        for (name, sign) in [("mark", MARK), ("cut", CUT), ("pair", PAIR)] {
            environment.add_global(name, Value::from(sign.to_string()));
        }
        for (name, token) in tokens {
            environment.add_global(name, Value::from(token));
        }
        let chat = chat.map(|chat| compiled("chat", chat, &syntax));
        let chat = chat.transpose().map_err(refuse)?.map(Arc::new);
        environment.add_function(
            "chat",
            move |state: &mut State<'_, '_>, messages: Value, options: Kwargs| {
                chat_text(chat.as_deref(), state, &messages, &options)
            },
        );
        let program = compiled("template", template, &syntax).map_err(refuse)?;
        Ok(Self { environment, program, system: system.to_owned(), special })
    }

    /// The text of a sample.
    ///
    /// # Errors
    /// A template that fails on this sample.
    pub fn text(&self, view: &View) -> Result<Text, ModelError> {
        let rendered = jinja::within(view.bytes(), || {
            let scope = self.scope(view)?;
            let rendered = self.program.render(&self.environment, scope);
            rendered.map_err(|error| ModelError::Input(format!("template: {error:#}").into()))
        });
        Ok(parse(&rendered?.0))
    }

    /// What the template sees.
    fn scope(&self, view: &View) -> Result<Value, ModelError> {
        let (first, second) = view.pair.clone().unwrap_or_default();
        let messages: Result<Vec<Value>, ModelError> =
            view.messages.iter().map(|message| self.message(message)).collect();
        let prompt = view.messages.last().map(|message| self.tame(message.text())).transpose()?;
        let steps: Result<Vec<String>, ModelError> =
            view.steps.iter().map(|step| self.tame(step)).collect();
        Ok(context! {
            prompt => prompt.unwrap_or_default(),
            messages => Value::from(messages?),
            completion => self.tame(&view.completion)?,
            steps => steps?,
            first => self.tame(&first)?,
            second => self.tame(&second)?,
            reference => self.tame(&view.reference)?,
            question => self.tame(&view.question)?,
            system => self.system.clone(),
        })
    }

    /// Whether the template reads a variable.
    pub fn reads(&self, variable: &str) -> bool {
        self.program.reads(variable)
    }

    /// A message as chat templates expect it: text as its content, and those of the other members
    /// that it has. Arguments of a call are an object, also where they came as its JSON.
    fn message(&self, message: &Message) -> Result<Value, ModelError> {
        let text = |text: &str| self.tame(text).map(Value::from);
        let mut members = vec![("role", text(&message.role)?), ("content", text(message.text())?)];
        if !message.tool_calls.is_empty() {
            let calls = message.tool_calls.iter().map(|call| self.call(call));
            members.push(("tool_calls", Value::from(calls.collect::<Result<Vec<_>, _>>()?)));
        }
        let named = [
            ("tool_call_id", &message.tool_call_id),
            ("name", &message.name),
            ("reasoning_content", &message.reasoning_content),
        ];
        for (name, value) in named {
            if let Some(value) = value.as_deref() {
                members.push((name, text(value)?));
            }
        }
        Ok(Value::from_pairs(members))
    }

    fn call(&self, call: &ToolCall) -> Result<Value, ModelError> {
        let parsed = call.arguments.as_str().and_then(|text| serde_json::from_str(text).ok());
        let object = parsed.filter(|parsed: &Value| parsed.kind() == ValueKind::Map);
        let arguments = object.unwrap_or_else(|| Value::from(Serde(&call.arguments)));
        let member = |(name, value): (String, Json)| match value {
            Json::Object(function) if name == "function" => {
                let own = function.iter().filter(|(name, _)| *name != "arguments");
                let own = own.map(|(name, value)| (name.clone(), Value::from(Serde(value))));
                (name, Value::from_pairs(own.chain([("arguments".to_owned(), arguments.clone())])))
            }
            value => (name, Value::from(Serde(value))),
        };
        let Json::Object(members) = call.to_value() else { return Ok(Value::default()) };
        self.tame_all(&Value::from_pairs(members.into_iter().map(member)))
    }

    /// The same of every text within a value.
    fn tame_all(&self, value: &Value) -> Result<Value, ModelError> {
        let within = || value.try_iter().into_iter().flatten();
        Ok(match (value.kind(), value.as_str()) {
            (_, Some(text)) => Value::from(self.tame(text)?),
            (ValueKind::Seq, None) => {
                let items = within().map(|value| self.tame_all(&value));
                Value::from(items.collect::<Result<Vec<_>, _>>()?)
            }
            (ValueKind::Map, None) => {
                let member = |name: Value| {
                    let value = value.get_item(&name).unwrap_or_default();
                    Ok((self.tame_all(&name)?, self.tame_all(&value)?))
                };
                let members = within().map(member).collect::<Result<Vec<_>, ModelError>>()?;
                Value::from_pairs(members)
            }
            _ => value.clone(),
        })
    }

    /// The text of a sample, in which nothing reads as a sign of ours or as a special token.
    fn tame(&self, text: &str) -> Result<String, ModelError> {
        let text: String =
            text.chars().map(|c| if (MARK..=PAIR).contains(&c) { '\u{FFFD}' } else { c }).collect();
        self.special.taken_apart(text)
    }
}

impl View {
    /// The bytes of its texts.
    fn bytes(&self) -> usize {
        let call = |call: &ToolCall| call.name.len() + call.arguments.to_string().len();
        let message = |message: &Message| {
            let calls: usize = message.tool_calls.iter().map(call).sum();
            let reasoning = message.reasoning_content.as_ref().map_or(0, String::len);
            message.text().len() + calls + reasoning
        };
        let pair = self.pair.as_ref().map_or(0, |(first, second)| first.len() + second.len());
        let messages: usize = self.messages.iter().map(message).sum();
        let steps: usize = self.steps.iter().map(String::len).sum();
        let texts = [&self.completion, &self.reference, &self.question];
        messages + steps + pair + texts.map(String::len).iter().sum::<usize>()
    }
}

/// A template, compiled on a stack that is large enough for any.
fn compiled(
    name: &'static str,
    source: &str,
    syntax: &SyntaxConfig,
) -> Result<BoundedTemplate, Error> {
    let refuse = |why: String| Error::new(ErrorKind::InvalidOperation, why);
    thread::scope(|scope| {
        let work = || BoundedTemplate::new(name, source, syntax);
        let worker =
            thread::Builder::new().stack_size(jinja::STACK_BYTES).spawn_scoped(scope, work);
        let worker = worker.map_err(|error| refuse(error.to_string()))?;
        worker.join().unwrap_or_else(|_| Err(refuse("its compilation panicked".to_owned())))
    })
}

/// `chat(messages, add_generation_prompt=false)`: the tokenizer's own template.
fn chat_text(
    chat: Option<&BoundedTemplate>,
    state: &State<'_, '_>,
    messages: &Value,
    options: &Kwargs,
) -> Result<Value, Error> {
    let chat = chat.ok_or_else(|| {
        Error::new(ErrorKind::InvalidOperation, "chat() was called; the manifest names no `chat`")
    })?;
    let generate: bool = options.get::<Option<bool>>("add_generation_prompt")?.unwrap_or(false);
    options.assert_all_used()?;
    let scope = context! { messages, add_generation_prompt => generate };
    let (text, spent) = jinja::chatting(|| chat.render(state.env(), scope))?;
    // What it spent was on an account of its own.
    jinja::work(4 * usize::try_from(spent).unwrap_or(usize::MAX))?;
    Ok(Value::from_safe_string(text))
}

/// Takes the signs out of a text and notes where they stood.
fn parse(rendered: &str) -> Text {
    let mut text = Text { parts: vec![String::new()], ..Text::default() };
    for c in rendered.chars() {
        let (part, parts) = (text.parts.len() - 1, &mut text.parts);
        match c {
            MARK => text.marks.push((part, parts.last().map_or(0, String::len))),
            CUT => parts.push(String::new()),
            PAIR => {
                parts.push(String::new());
                text.second = Some(part + 1);
            }
            c => {
                if let Some(last) = parts.last_mut() {
                    last.push(c);
                }
            }
        }
    }
    text
}

#[cfg(test)]
mod tests;
