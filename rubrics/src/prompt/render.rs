//! The messages of a request, by templates.

use std::thread;

use assay_verifiers::jinja::{self, BoundedTemplate};
use minijinja::syntax::SyntaxConfig;
use minijinja::value::Serde;
use minijinja::{Environment, Error, UndefinedBehavior, Value, context};
use serde::Serialize;

use super::escape::escaped;
use super::fence::Fence;
use crate::judge::ChatMessage;

/// Instructions that a template may take: thousands of criteria may be in one request.
const FUEL: u64 = 5_000_000;

/// The templates of the two messages that a judge is sent.
pub struct PromptTemplate {
    environment: Environment<'static>,
    system: BoundedTemplate,
    user: BoundedTemplate,
}

/// The texts of a request, as they came.
#[derive(Clone, Debug, Default)]
pub struct Material {
    /// What the completion answers.
    pub prompt: String,
    /// The reference answer; empty for none.
    pub reference: String,
    /// What is judged: one completion, or several in the order in which they are shown.
    pub completions: Vec<String>,
}

/// The texts of a request, and as a judge is shown them.
#[derive(Clone, Debug)]
pub struct ShownMaterial {
    /// As they came.
    pub given: Material,
    prompt: String,
    reference: String,
    completions: Vec<String>,
}

impl Material {
    /// All of its texts: what a careless judge might copy.
    pub fn texts(&self) -> Vec<&str> {
        let completions = self.completions.iter().map(String::as_str);
        completions.chain([self.prompt.as_str(), self.reference.as_str()]).collect()
    }

    /// With what is hidden in it as escapes: once for all requests about it.
    pub fn shown(self) -> ShownMaterial {
        let own = |text: &String| escaped(text).into_owned();
        ShownMaterial {
            prompt: own(&self.prompt),
            reference: own(&self.reference),
            completions: self.completions.iter().map(own).collect(),
            given: self,
        }
    }
}

/// The messages of a request, and the code that its reply must repeat.
#[derive(Clone, Debug)]
pub struct Rendered {
    /// The messages.
    pub messages: Vec<ChatMessage>,
    /// The code.
    pub code: String,
}

impl PromptTemplate {
    /// Compiles the templates of the system message and of the message of the user.
    ///
    /// Both see `prompt`, `reference`, `completion` (of a pair `first` and `second`; of several
    /// `completions`), escaped;
    /// `fenced(label, text)`; and what the caller adds. A system message that comes out empty is
    /// left out.
    ///
    /// # Errors
    /// A template that does not parse; the message names the line.
    pub fn new(system: &str, user: &str) -> Result<Self, String> {
        let mut environment = jinja::environment();
        environment.set_fuel(Some(FUEL));
        environment.set_undefined_behavior(UndefinedBehavior::SemiStrict);
        let (system, user) = compiled(system, user)?;
        Ok(Self { environment, system, user })
    }

    /// The messages about `material`. `words` are the other texts of the request, such as the
    /// criteria: the code depends on them too. `more` adds variables, given the code.
    ///
    /// # Errors
    /// A template that fails on it.
    pub fn render<M: Serialize>(
        &self,
        material: &ShownMaterial,
        words: &[&str],
        more: impl Fn(&str) -> M,
    ) -> Result<Rendered, String> {
        let ShownMaterial { prompt, reference, completions, .. } = material;
        let mut texts: Vec<&str> = vec![prompt, reference];
        texts.extend(completions.iter().map(String::as_str));
        texts.extend(words);
        let fence = Fence::of(&texts);
        let code = fence.code().to_owned();
        let around = move |label: &str, text: &str| {
            let fenced = Value::from(fence.around(label, text));
            jinja::fits(&fenced).map(|()| fenced)
        };
        let scope = context! {
            prompt => prompt,
            reference => reference,
            completion => completions.first(),
            first => completions.first(),
            second => completions.get(1),
            completions => completions.iter().map(|text| Value::from(&**text)).collect::<Value>(),
            code => code.clone(),
            fenced => Value::from_function(around),
            ..Value::from(Serde(more(&code))),
        };
        let bytes = texts.iter().map(|text| text.len()).sum();
        let render = |role: &'static str, program: &BoundedTemplate| {
            let done = jinja::within(bytes, || program.render(&self.environment, scope.clone()));
            let (content, _) =
                done.map_err(|error| format!("the prompt of the judge: {error:#}"))?;
            Ok::<_, String>(ChatMessage { role, content: content.trim().to_owned() })
        };
        let mut messages = vec![render("system", &self.system)?, render("user", &self.user)?];
        messages.retain(|message| !message.content.is_empty());
        Ok(Rendered { messages, code })
    }
}

/// The templates of both messages, compiled on a stack that is large enough for any.
fn compiled(system: &str, user: &str) -> Result<(BoundedTemplate, BoundedTemplate), String> {
    let syntax = SyntaxConfig::default();
    let one = |name, source| BoundedTemplate::new(name, source, &syntax);
    let work = || Ok((one("system", system)?, one("user", user)?));
    thread::scope(|scope| {
        let worker =
            thread::Builder::new().stack_size(jinja::STACK_BYTES).spawn_scoped(scope, work);
        let worker = worker.map_err(|error| error.to_string())?;
        let done = worker.join().map_err(|_| "its compilation panicked".to_owned())?;
        done.map_err(|error: Error| format!("{error:#}"))
    })
}
