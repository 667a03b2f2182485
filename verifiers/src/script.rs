//! Scripts: rhai within bounds, and the view of a sample that scripts get.
//!
//! rhai sets almost no limit by itself, so [`bounded_engine`] is the only way to make an engine.

mod account;
mod functions;
mod limits;
mod signs;
mod value;

use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, LazyLock};

use rhai::{
    AST, Dynamic, Engine, EvalAltResult, Map, OptimizationLevel, ParseError, ParseErrorType,
    Position, Scope,
};

use crate::fault::{Fault, FaultKind};
use crate::meter::Meter;
use crate::sample::Sample;
use crate::verdict::Verdict;
use account::Ended;
use limits::{CALL_LEVELS_MAX, FUEL_PER_OPERATION};
pub use limits::{
    ELEMENTS_MAX, LIVE_BYTES_MAX, OPERATIONS_MAX, RUN_FUEL_MAX, SOURCE_BYTES_MAX, STRING_BYTES_MAX,
};
pub use value::to_dynamic;

/// An engine with every limit set, and without `eval`, `import`, `this`, time or output.
///
/// Its scripts run within [`Script::run`] alone: elsewhere they have no fuel.
pub fn bounded_engine() -> Engine {
    let mut engine = Engine::new_raw();
    functions::register(&mut engine);
    account::attach(&mut engine);
    engine
        .set_optimization_level(OptimizationLevel::None)
        .set_max_operations(OPERATIONS_MAX)
        .set_max_call_levels(CALL_LEVELS_MAX)
        .set_max_expr_depths(64, 32)
        .set_max_string_size(STRING_BYTES_MAX)
        .set_max_array_size(ELEMENTS_MAX)
        .set_max_map_size(ELEMENTS_MAX)
        .set_max_variables(128)
        .set_max_functions(128)
        .set_max_modules(0)
        .set_max_strings_interned(0)
        .disable_symbol("eval")
        .disable_symbol("import")
        .disable_symbol("this")
        .on_print(|_| {})
        .on_debug(|_, _, _| {});
    engine.set_module_resolver(rhai::module_resolvers::DummyModuleResolver::new());
    engine
}

/// A script that was compiled when the configuration was built.
pub struct Script {
    ast: AST,
    source: String,
}

/// Why a script does not compile.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct ScriptError {
    /// What the parser says, with line and position.
    pub message: String,
    /// The bytes at which it stopped: a word, or one character.
    pub place: Option<Range<usize>>,
}

impl ScriptError {
    fn of(source: &str, error: &ParseError) -> Self {
        // What is missing at the end is missing behind the last character.
        let last = || source.trim_end().char_indices().next_back();
        let end = || last().map(|(at, last)| at..at + last.len_utf8());
        let place = place(source, error.position()).or_else(end);
        Self { message: error.to_string(), place }
    }
}

/// The bytes of the word, or the one character, at a position.
pub(crate) fn place(source: &str, position: Position) -> Option<Range<usize>> {
    let (line, column) = (position.line()?, position.position()?);
    let before = source.split_inclusive('\n').take(line.checked_sub(1)?);
    let start: usize = before.map(str::len).sum();
    let rest = source.get(start..)?;
    let at = start + rest.char_indices().nth(column.checked_sub(1)?)?.0;
    let rest = source.get(at..)?;
    let is_word = |char: char| char.is_alphanumeric() || char == '_';
    let word = rest.find(|char| !is_word(char)).unwrap_or(rest.len());
    Some(at..at + word.max(rest.chars().next().map_or(1, char::len_utf8)))
}

/// Refuses a power whose base has a sign without brackets.
fn unambiguous(source: &str, ast: AST) -> Result<AST, ScriptError> {
    let Some(sign) = signs::of_a_power(source, &ast, |at| place(source, at)) else {
        return Ok(ast);
    };
    let message = "the power of what has a sign: write -(x ** y), or (-x) ** y".to_owned();
    Err(ScriptError { message, place: Some(sign) })
}

/// The syntax tree of a script.
///
/// # Errors
/// Where it does not parse.
pub(crate) fn parsed(source: &str) -> Result<AST, ScriptError> {
    short_enough(source)?;
    let ast = shared_engine().compile(source);
    unambiguous(source, ast.map_err(|error| ScriptError::of(source, &error))?)
}

impl Script {
    /// Compiles a whole script.
    ///
    /// # Errors
    /// Where the script does not parse, with line and position.
    pub fn compile(source: &str) -> Result<Self, ScriptError> {
        Ok(Self { ast: parsed(source)?, source: source.to_owned() })
    }

    /// Compiles one expression.
    ///
    /// # Errors
    /// Where the expression does not parse, with its position.
    pub fn expression(source: &str) -> Result<Self, ScriptError> {
        short_enough(source)?;
        let ast = shared_engine().compile_expression(source);
        let ast = unambiguous(source, ast.map_err(|error| ScriptError::of(source, &error))?)?;
        Ok(Self { ast, source: source.to_owned() })
    }

    /// The variables that a script names and that are none of `known`, each once and with its place.
    pub fn unknown_variables(
        source: &str,
        known: &[&str],
    ) -> impl Iterator<Item = (String, Option<Range<usize>>)> {
        static STRICT: LazyLock<Engine> = LazyLock::new(|| {
            let mut engine = bounded_engine();
            engine.set_strict_variables(true);
            engine
        });
        let mut scope = Scope::new();
        for name in known {
            scope.push_constant_dynamic(*name, Dynamic::UNIT);
        }
        std::iter::from_fn(move || {
            let error = STRICT.compile_with_scope(&scope, source).err()?;
            let ParseErrorType::VariableUndefined(name) = error.err_type() else { return None };
            scope.push_constant_dynamic(name.as_str(), Dynamic::UNIT);
            Some((name.clone(), place(source, error.position())))
        })
    }

    /// Whether the source mentions `word`: a run is given only what it mentions.
    pub fn mentions(&self, word: &str) -> bool {
        let is_word = |c: char| c.is_alphanumeric() || c == '_';
        self.source.match_indices(word).any(|(at, _)| {
            let before = self.source.get(..at).and_then(|text| text.chars().next_back());
            let after = self.source.get(at + word.len()..).and_then(|text| text.chars().next());
            !before.is_some_and(is_word) && !after.is_some_and(is_word)
        })
    }

    /// Runs the program and returns its last value. The meter pays for operations, and for the
    /// size of what they work on; a run takes at most [`RUN_FUEL_MAX`].
    ///
    /// # Errors
    /// [`FaultKind::OutOfFuel`] and [`FaultKind::OutOfMemory`] when a limit is reached,
    /// [`FaultKind::Timeout`] when the deadline of the meter has passed, else
    /// [`FaultKind::Trap`] with what the script did wrong.
    pub fn run(
        &self,
        engine: &Engine,
        scope: &mut Scope<'_>,
        meter: &mut Meter<'_>,
    ) -> Result<Dynamic, Fault> {
        meter.spend(FUEL_PER_OPERATION)?;
        // rhai may panic where its own assumptions fail; a script must not end the process.
        let run = AssertUnwindSafe(|| engine.eval_ast_with_scope::<Dynamic>(scope, &self.ast));
        let (done, account) =
            account::within(fuel(self, meter), meter.backstop(), || catch_unwind(run));
        // A deadline that has passed says so, rather than that the fuel is gone.
        if account.ended() == Some(Ended::Time) {
            return Err(limit(Ended::Time));
        }
        meter.spend(account.spent())?;
        match (account.ended(), done) {
            (Some(ended), _) => Err(limit(ended)),
            (None, Ok(Ok(value))) => Ok(value),
            (None, Ok(Err(error))) => Err(fault(&error)),
            (None, Err(_)) => Err(Fault::trap("script: the interpreter gave up")),
        }
    }
}

/// What a run may spend, and what each of its operations costs. A text spelt out in the source
/// is read by an operation without a variable, so a long source makes each of them dearer.
fn fuel(program: &Script, meter: &Meter<'_>) -> account::Fuel {
    account::Fuel {
        limit: meter.left().min(RUN_FUEL_MAX),
        per_operation: FUEL_PER_OPERATION + program.source.len() as u64 / 256,
    }
}

fn short_enough(source: &str) -> Result<(), ScriptError> {
    if source.len() <= SOURCE_BYTES_MAX {
        return Ok(());
    }
    let message =
        format!("script has {} bytes; at most {SOURCE_BYTES_MAX} are allowed", source.len());
    Err(ScriptError { message, place: None })
}

fn limit(ended: Ended) -> Fault {
    match ended {
        Ended::Fuel => Fault::new(
            FaultKind::OutOfFuel,
            format!("script: more than {RUN_FUEL_MAX} units of work"),
        ),
        Ended::Memory => Fault::new(
            FaultKind::OutOfMemory,
            format!("script: its variables hold more than {LIVE_BYTES_MAX} bytes"),
        ),
        Ended::Time => Fault::new(FaultKind::Timeout, "script: the wall-clock deadline passed"),
        Ended::Nesting => Fault::new(FaultKind::OutOfMemory, "script: a value nests too deep"),
    }
}

fn fault(error: &EvalAltResult) -> Fault {
    let kind = match error.unwrap_inner() {
        EvalAltResult::ErrorTooManyOperations(_) | EvalAltResult::ErrorStackOverflow(_) => {
            FaultKind::OutOfFuel
        }
        EvalAltResult::ErrorDataTooLarge(..) | EvalAltResult::ErrorTooManyVariables(_) => {
            FaultKind::OutOfMemory
        }
        _ => FaultKind::Trap,
    };
    let told = match error.unwrap_inner() {
        EvalAltResult::ErrorDotExpr(..) => without_accessors(&error.to_string()),
        EvalAltResult::ErrorFunctionNotFound(..)
        | EvalAltResult::ErrorMismatchDataType(..)
        | EvalAltResult::ErrorMismatchOutputType(..)
        | EvalAltResult::ErrorIndexingType(..) => type_words(&error.to_string()),
        _ => error.to_string(),
    };
    let place = error.unwrap_inner().position();
    let place = place.line().map(|line| (line, place.position().unwrap_or_default()));
    Fault::new(kind, format!("script: {told}")).at(place)
}

/// What rhai says of a member that a value does not have, in words without accessors.
fn without_accessors(message: &str) -> String {
    let lacks =
        [" - a getter is not registered for type '", " - a setter is not registered for type '"];
    let told = lacks.iter().find_map(|lead| {
        let (member, rest) = message.split_once(lead)?;
        let (kind, place) = rest.split_once('\'')?;
        let kind = type_words(if kind == "()" { "nothing, ()" } else { kind });
        Some(format!("{member}: it is looked for in {kind}{place}"))
    });
    told.unwrap_or_else(|| type_words(message))
}

/// The types of values as people who write scripts call them.
const TYPES: [(&str, &str); 5] = [
    ("&str | ImmutableString | String", "string"),
    ("ImmutableString", "string"),
    ("i64", "integer"),
    ("f64", "number"),
    ("Dynamic", "any"),
];

/// A message in which types have the names that scripts know.
pub fn type_words(message: &str) -> String {
    let mut told = message.to_owned();
    for (name, word) in TYPES {
        told = told.replace(name, word);
    }
    told
}

/// Puts what the program mentions of `sample` into `scope`: `completion`, `prompt`, `reference`,
/// `id`, `group` and `meta`.
pub fn push_sample(scope: &mut Scope<'_>, program: &Script, sample: &Sample) {
    for name in SAMPLE_NAMES {
        if program.mentions(name) {
            scope.push_constant_dynamic(name, sample_value(sample, name));
        }
    }
}

/// The names under which scripts see a sample.
pub const SAMPLE_NAMES: [&str; 6] = ["completion", "prompt", "reference", "id", "group", "meta"];

/// What a script sees of `sample` under one of [`SAMPLE_NAMES`].
pub fn sample_value(sample: &Sample, name: &str) -> Dynamic {
    let text = |text: &str| Dynamic::from(text.to_owned());
    match name {
        "completion" => text(sample.completion()),
        "prompt" => text(sample.prompt()),
        "reference" => sample.reference().map_or(Dynamic::UNIT, to_dynamic),
        "id" => text(sample.id()),
        "group" => sample.group().map_or(Dynamic::UNIT, text),
        "meta" => Dynamic::from(
            sample
                .meta()
                .iter()
                .map(|(key, value)| (key.as_str().into(), to_dynamic(value)))
                .collect::<Map>(),
        ),
        _ => Dynamic::UNIT,
    }
}

/// Whether the program names the verdicts of other rewards.
pub fn reads_verdicts(program: &Script) -> bool {
    program.mentions("rewards") || program.mentions("verdicts")
}

/// Puts verdicts into `scope`: `rewards.NAME`, a number or `()`, and `verdicts.NAME` with
/// `outcome`, `reward` and `evidence`.
pub fn push_verdicts<'a>(
    scope: &mut Scope<'_>,
    named: impl Iterator<Item = (&'a str, &'a Verdict)>,
) {
    let (mut rewards, mut verdicts) = (Map::new(), Map::new());
    for (name, verdict) in named {
        let reward = verdict.outcome.reward().map_or(Dynamic::UNIT, |r| Dynamic::from(r.get()));
        let evidence = verdict.evidence.iter().map(|(key, value)| (key.into(), to_dynamic(value)));
        let mut view = Map::new();
        view.insert("outcome".into(), Dynamic::from(verdict.outcome.name()));
        view.insert("reward".into(), reward.clone());
        view.insert("evidence".into(), Dynamic::from(evidence.collect::<Map>()));
        rewards.insert(name.into(), reward);
        verdicts.insert(name.into(), Dynamic::from(view));
    }
    scope.push_constant("rewards", rewards);
    scope.push_constant("verdicts", verdicts);
}

/// The engine that every script shares: it holds no state between runs.
pub fn shared_engine() -> Arc<Engine> {
    use std::sync::OnceLock;
    static ENGINE: OnceLock<Arc<Engine>> = OnceLock::new();
    Arc::clone(ENGINE.get_or_init(|| Arc::new(bounded_engine())))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn run(source: &str) -> Result<Dynamic, Fault> {
        let sample = Sample::builder("text").reference(json!({"a": [1, 2.5, null]})).build();
        let program = Script::compile(source).unwrap();
        let mut scope = Scope::new();
        push_sample(&mut scope, &program, &sample);
        program.run(&shared_engine(), &mut scope, &mut Meter::default())
    }

    #[test]
    fn a_script_sees_the_sample() {
        assert_eq!(run("completion + reference.a[0]").unwrap().to_string(), "text1");
        assert!(run("meta.missing == ()").unwrap().as_bool().unwrap());
    }
}
