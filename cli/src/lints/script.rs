//! The scripts of a configuration, and what their syntax trees name: rhai by its own parser, Python by `ast` in the
//! sandbox.

pub(crate) mod members;
pub(crate) mod path;
mod rhai_paths;

use std::ops::Range;

use assay::engine::{ConfigFolder, Document};
use assay::setup::Environment;
use assay::verifiers::Files as _;
use assay::verifiers::script::shared_engine;
use assay::{ConfigError, Plan};
use path::{Path, Spot, spot_at};
use rhai::{AST, ASTNode};
use serde::Deserialize;
use serde_json::Value;

/// What a script decides.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    /// Whether the reward at this place applies.
    When(usize),
    /// What the rewards come to.
    Combine,
    /// The reward at this place.
    Reward(usize),
}

/// A script, and where it stands.
pub(crate) struct Script {
    pub(crate) role: Role,
    pub(crate) text: String,
    pub(crate) facts: Facts,
    /// The key, as people name it.
    pub(crate) key: String,
    /// Its tree, where it is rhai.
    ast: Option<AST>,
    /// The key in the document, or the file that holds the script.
    path: String,
    is_file: bool,
}

/// What a script names.
#[derive(Default, Deserialize)]
pub(crate) struct Facts {
    /// Paths such as `meta.kind`, from what the script is given on.
    pub(crate) paths: Vec<Path>,
    /// Packages of Python.
    pub(crate) imports: Vec<(String, Spot)>,
    /// The function of Python that decides.
    pub(crate) function: Option<Function>,
}

#[derive(Deserialize)]
pub(crate) struct Function {
    pub(crate) name: String,
    pub(crate) parameters: Vec<Parameter>,
    /// The statement behind which it ends without `return`, where it does not say itself that it gives nothing.
    pub(crate) open_end: Option<Spot>,
}

#[derive(Deserialize)]
pub(crate) struct Parameter {
    pub(crate) name: String,
    pub(crate) at: Spot,
    pub(crate) is_required: bool,
}

impl Script {
    pub(crate) fn is_rhai(&self) -> bool {
        self.ast.is_some()
    }

    /// What people call it.
    pub(crate) fn called(&self) -> &'static str {
        match self.role {
            Role::When(_) => "`when`",
            Role::Combine => "`expression`",
            Role::Reward(_) => "the script",
        }
    }

    /// Whether it names a reward.
    pub(crate) fn names_reward(&self, name: &str) -> bool {
        self.facts.paths.iter().any(|path| path.names.iter().take(2).any(|own| own == name))
    }

    /// Shows every node of the tree, behind those that it is in.
    pub(crate) fn walk(&self, mut node: impl FnMut(&[ASTNode<'_>])) {
        if let Some(ast) = &self.ast {
            ast.walk(&mut |nodes| {
                node(nodes);
                true
            });
        }
    }

    pub(crate) fn error(
        &self,
        document: &Document,
        part: Option<Range<usize>>,
        message: String,
    ) -> ConfigError {
        match part {
            part if self.is_file => ConfigError::new(&self.path, &self.text, message).at(part),
            Some(part) => document.error_in(&self.path, part, message),
            None => document.error(&self.path, message),
        }
    }

    /// The bytes of the word at a line and a character, both from 1; of the whole line where the character is 0.
    pub(crate) fn word_at(&self, (line, column): (usize, usize)) -> Option<Range<usize>> {
        let text = self.text.lines().nth(line.checked_sub(1)?)?;
        Some(self.bytes(match column {
            0 => (line, text.len() - text.trim_start().len(), text.trim_end().len()),
            column => spot_at(&self.text, line, column)?,
        }))
    }

    pub(crate) fn bytes(&self, (line, from, to): Spot) -> Range<usize> {
        let before = self.text.split_inclusive('\n').take(line.saturating_sub(1));
        let start: usize = before.map(str::len).sum();
        start + from..start + to
    }
}

/// Every script of the plan, in the order of the rewards.
pub(crate) fn scripts(plan: &Plan, files: &ConfigFolder, environment: &Environment) -> Vec<Script> {
    let script = |role, text: &str, ast: Option<AST>, key: String, path: String| {
        let paths = ast.as_ref().map(|ast| rhai_paths::paths(text, ast)).unwrap_or_default();
        let facts = Facts { paths, ..Facts::default() };
        Script { role, text: text.to_owned(), facts, key, ast, path, is_file: false }
    };
    let expression = |text: &str| shared_engine().compile_expression(text).ok();
    let mut found = Vec::new();
    for (at, (reward, planned)) in plan.config.rewards.iter().zip(&plan.rewards).enumerate() {
        let (name, role) = (&reward.name, Role::Reward(at));
        if let Some(when) = &reward.when {
            let (key, path) = (format!("reward.{name}.when"), format!("reward[{at}].when"));
            found.push(script(Role::When(at), when, expression(when), key, path));
        }
        let setting = |key: &str| reward.config.get(key).and_then(Value::as_str);
        let (key, path, text) = match (setting("script"), setting("file")) {
            (Some(text), None) => {
                ("script", format!("reward[{at}].config.script"), Some(text.to_owned()))
            }
            (None, Some(file)) => ("file", file.to_owned(), files.text("file", file).ok()),
            _ => continue,
        };
        let Some(text) = text else { continue };
        // Only Python is slow.
        let ast = shared_engine().compile(&text).ok().filter(|_| !planned.built.slow);
        let mut own = script(role, &text, ast, format!("reward.{name}.config.{key}"), path);
        own.is_file = key == "file";
        if own.ast.is_none() {
            own.facts = python(&text, setting("function"), environment).unwrap_or_default();
        }
        found.push(own);
    }
    if let Some(text) = &plan.config.combine.expression {
        let key = "combine.expression".to_owned();
        found.push(script(Role::Combine, text, expression(text), key.clone(), key));
    }
    found
}

/// What the syntax tree of Python says; `None` where there is no guest, and where the script does not parse.
#[cfg(feature = "sandbox")]
fn python(source: &str, function: Option<&str>, environment: &Environment) -> Option<Facts> {
    use assay::sandbox::execute::{Executor, Written};
    use assay::sandbox::runtime::Limits;
    use assay::verifiers::Meter;

    let sandbox = std::sync::Arc::new(environment.sandbox());
    let executor = Executor::of(&sandbox, &Written::Python).ok()?;
    let meter = Meter::default();
    let program = executor.compile(include_str!("script/facts.py"), &meter).ok()?;
    let request = serde_json::json!({"source": source, "function": function}).to_string();
    let ran = program.run(request.as_str().into(), &Limits::default(), &meter);
    serde_json::from_slice(&ran.used.stdout).ok()
}

/// In place of the sandbox, which this build is without.
#[cfg(not(feature = "sandbox"))]
fn python(_: &str, _: Option<&str>, _: &Environment) -> Option<Facts> {
    None
}
