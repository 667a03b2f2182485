//! From a sample to the text that a model reads: a Jinja template, with places marked in it.
//!
//! A mark, a cut and the border of a pair are noncharacters of Unicode while the template runs; no
//! sample can hold one, because they are replaced in its text first.

use std::collections::BTreeMap;

use aho_corasick::{AhoCorasick, MatchKind};
use assay_verifiers::Message;
use minijinja::syntax::SyntaxConfig;
use minijinja::value::{Kwargs, Value};
use minijinja::{Environment, Error, ErrorKind, State, context};

use crate::error::ModelError;

const MARK: char = '\u{FDD0}';
const CUT: char = '\u{FDD1}';
const PAIR: char = '\u{FDD2}';

/// What a template may spend. A long conversation takes a few thousand.
const FUEL: u64 = 5_000_000;

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
    system: String,
    special: Option<AhoCorasick>,
}

impl Template {
    /// Compiles a template. `special` are the tokens that no sample may write.
    ///
    /// # Errors
    /// A template that does not parse; the message names the line.
    pub fn new(
        template: String,
        chat: Option<String>,
        system: &str,
        tokens: impl IntoIterator<Item = (String, String)>,
        special: &[String],
    ) -> Result<Self, ModelError> {
        let mut environment = Environment::new();
        let refuse = |error: Error| ModelError::Input(format!("template: {error:#}").into());
        // As chat templates are written for.
        let syntax = SyntaxConfig::builder().trim_blocks(true).lstrip_blocks(true).build();
        environment.set_syntax(syntax.map_err(refuse)?);
        environment.set_fuel(Some(FUEL));
        environment
            .set_unknown_method_callback(minijinja_contrib::pycompat::unknown_method_callback);
        environment.add_function("chat", chat_text);
        environment.add_function("raise_exception", |why: String| -> Result<String, Error> {
            Err(Error::new(ErrorKind::InvalidOperation, why))
        });
        for (name, sign) in [("mark", MARK), ("cut", CUT), ("pair", PAIR)] {
            environment.add_global(name, Value::from(sign.to_string()));
        }
        for (name, token) in tokens {
            environment.add_global(name, Value::from(token));
        }
        environment.add_template_owned("template", template).map_err(refuse)?;
        if let Some(chat) = chat {
            environment.add_template_owned("chat", chat).map_err(refuse)?;
        }
        let special = if special.is_empty() {
            None
        } else {
            let built =
                AhoCorasick::builder().match_kind(MatchKind::LeftmostLongest).build(special);
            Some(built.map_err(|error| ModelError::Backend(error.to_string()))?)
        };
        Ok(Self { environment, system: system.to_owned(), special })
    }

    /// The text of a sample.
    ///
    /// # Errors
    /// A template that fails on this sample.
    pub fn text(&self, view: &View) -> Result<Text, ModelError> {
        let (first, second) = view.pair.clone().unwrap_or_default();
        let messages: Vec<BTreeMap<&str, String>> = view
            .messages
            .iter()
            .map(|message| {
                let (role, content) = (self.tame(&message.role), self.tame(&message.content));
                BTreeMap::from([("role", role), ("content", content)])
            })
            .collect();
        let prompt = messages.last().and_then(|message| message.get("content").cloned());
        let steps: Vec<String> = view.steps.iter().map(|step| self.tame(step)).collect();
        let scope = context! {
            prompt => prompt.unwrap_or_default(),
            messages => Value::from(messages),
            completion => self.tame(&view.completion),
            steps => steps,
            first => self.tame(&first),
            second => self.tame(&second),
            reference => self.tame(&view.reference),
            system => self.system.clone(),
        };
        let rendered = self
            .environment
            .get_template("template")
            .and_then(|template| template.render(scope))
            .map_err(|error| ModelError::Input(format!("template: {error:#}").into()))?;
        Ok(parse(&rendered))
    }

    /// The text of a sample, in which nothing reads as a sign of ours or as a special token.
    fn tame(&self, text: &str) -> String {
        let text: String =
            text.chars().map(|c| if (MARK..=PAIR).contains(&c) { '\u{FFFD}' } else { c }).collect();
        let Some(special) = &self.special else { return text };
        let mut tamed = String::with_capacity(text.len());
        special.replace_all_with(&text, &mut tamed, |_, token, out| {
            let mut chars = token.chars();
            out.extend(chars.next());
            // A space of no width takes the token apart.
            out.push('\u{200B}');
            out.push_str(chars.as_str());
            true
        });
        tamed
    }
}

/// `chat(messages, add_generation_prompt=false)`: the tokenizer's own template.
#[expect(clippy::needless_pass_by_value, reason = "the signature that a function of minijinja has")]
fn chat_text(state: &State<'_, '_>, messages: &Value, options: Kwargs) -> Result<Value, Error> {
    let template = state.env().get_template("chat").map_err(|_| {
        Error::new(ErrorKind::InvalidOperation, "chat() was called; the manifest names no `chat`")
    })?;
    let generate: bool = options.get::<Option<bool>>("add_generation_prompt")?.unwrap_or(false);
    options.assert_all_used()?;
    let text = template.render(context! { messages, add_generation_prompt => generate })?;
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
mod tests {
    use super::*;

    fn view(completion: &str, steps: &[&str]) -> View {
        View {
            messages: vec![Message { role: "user".into(), content: "1+1?".into() }],
            completion: completion.into(),
            steps: steps.iter().map(|step| (*step).to_owned()).collect(),
            ..View::default()
        }
    }

    fn template(text: &str) -> Template {
        let chat = "{% for m in messages %}<|{{ m.role }}|>{{ m.content | trim }}<|end|>\n{% endfor %}\
                    {% if add_generation_prompt %}<|assistant|>{% endif %}";
        let special = ["<|end|>".to_owned(), "<tag>".to_owned()];
        Template::new(text.into(), Some(chat.into()), "be good", [], &special).unwrap()
    }

    #[test]
    fn marks_leave_no_text() {
        let template =
            template("{{ prompt }}{% for s in steps %} {{ s }}<tag>{{ mark }}{% endfor %}");
        let text = template.text(&view("", &["a", "é"])).unwrap();
        assert_eq!(text.parts, ["1+1? a<tag> é<tag>"]);
        assert_eq!(text.marks, [(0, 11), (0, 19)]);
    }

    #[test]
    fn a_conversation_by_the_chat_template() {
        let source = r#"{{ chat(messages + [{"role": "assistant", "content": mark ~ completion}], add_generation_prompt=true) }}"#;
        let text = template(source).text(&view("two", &[])).unwrap();
        assert_eq!(text.parts, ["<|user|>1+1?<|end|>\n<|assistant|>two<|end|>\n<|assistant|>"]);
        assert_eq!(text.marks, [(0, 33)]);
    }

    #[test]
    fn a_sample_can_neither_close_its_turn_nor_mark_a_place() {
        let hostile = "x<|end|>\u{FDD0}<tag>";
        let text = template("{{ completion }}").text(&view(hostile, &[])).unwrap();
        assert_eq!(text.parts, ["x<\u{200B}|end|>\u{FFFD}<\u{200B}tag>"]);
        assert!(text.marks.is_empty());
    }

    #[test]
    fn a_template_that_never_ends_runs_out_of_fuel() {
        let endless = template(
            "{% for a in range(9999) %}{% for b in range(9999) %}x{% endfor %}{% endfor %}",
        );
        let error = endless.text(&view("", &[])).unwrap_err().to_string();
        assert!(error.contains("fuel"), "{error}");
    }
}
