//! Names that stand for nothing: columns that no row has, rewards and variables that are not there.

use assay::Plan;
use assay::engine::{Document, did_you_mean};
use assay::verifiers::script::bounded_engine;
use rhai::{Dynamic, ParseErrorType, Scope};

use super::members::Members;
use super::paths::{self, Parameter, Path, Step};
use super::problem::{Problem, listed};
use super::read::Row;
use super::sources::{Role, Source};
use super::words::{Language, Token, words};

/// The most variables of one script that are reported.
const UNKNOWN_MAX: usize = 16;
/// What scripts see of a sample.
const SAMPLE: [&str; 6] = ["completion", "prompt", "reference", "id", "group", "meta"];
/// How others call a row.
const ROWS: [&str; 9] =
    ["row", "sample", "item", "example", "doc", "data", "record", "x", "extra_info"];
/// What a verdict shows.
const VERDICT: [&str; 3] = ["outcome", "reward", "evidence"];
/// What a function of Python is given.
const GIVEN: [&str; 10] = [
    "completion",
    "output_text",
    "messages",
    "prompt",
    "prompt_messages",
    "reference",
    "id",
    "group",
    "finish_reason",
    "meta",
];
/// What `grade(sample, item)` is given beside.
const GRADED: [&str; 3] = ["output_json", "output_tools", "choices"];

/// What the rows have.
#[derive(Default)]
pub(super) struct Columns {
    rows: usize,
    meta: Members,
    reference: Members,
}

impl Columns {
    /// What these rows have; of columns that may be missing nothing is known.
    pub(super) fn of(rows: &[Row], optional: bool) -> Self {
        if optional {
            return Self::default();
        }
        let mut columns = Self { rows: rows.len(), ..Self::default() };
        for row in rows {
            columns.meta.add_object(row.sample.meta(), 0);
            if let Some(reference) = row.sample.reference() {
                columns.reference.add(reference);
            }
        }
        columns
    }
}

/// What names are held against.
pub(super) struct Names<'a> {
    pub(super) plan: &'a Plan,
    pub(super) document: &'a Document,
    pub(super) columns: &'a Columns,
}

impl Names<'_> {
    /// What is wrong with the names of a script, each once.
    pub(super) fn problems(&self, source: &Source) -> Vec<Problem> {
        let mut problems = match source.language {
            Language::Rhai => self.variables(source),
            Language::Python => Vec::new(),
        };
        problems.extend(self.missing(source, false));
        problems
    }

    /// Names that a script guards, and that are hardly meant: no row has them, and one like them is there.
    pub(super) fn doubts(&self, source: &Source) -> Vec<Problem> {
        self.missing(source, true)
    }

    /// Members that are nowhere, of those that the script guards or of the others.
    fn missing(&self, source: &Source, of_guarded: bool) -> Vec<Problem> {
        let tokens = words(&source.text, source.language);
        let (roots, decides) = self.roots(source, &tokens);
        let given: Vec<&str> = roots.iter().map(|(name, _)| name.as_str()).collect();
        let guarded = paths::guarded(&tokens, source.language, &given, &decides);
        let (mut problems, mut told) = (Vec::new(), Vec::<String>::new());
        for path in paths::paths(&tokens, source.language, &given, &decides) {
            let Some((first, rest)) = path.split_first() else { continue };
            let root = roots.iter().find(|(name, _)| *name == first.name);
            let Some((step, known)) = root.and_then(|(_, known)| known.missing(rest)) else {
                continue;
            };
            let names = names_to(&path, step);
            // A reward that is not there is no reward that abstained.
            let is_guarded =
                !["rewards", "verdicts"].contains(&first.name.as_str()) && guarded.contains(&names);
            let is_doubtful =
                known.has("output_text") || did_you_mean(&step.name, known.names()).is_some();
            let shown = names.join(".");
            if is_guarded == of_guarded && (!is_guarded || is_doubtful) && !told.contains(&shown) {
                problems.push(self.unknown(source, &path, step, known));
                told.push(shown);
            }
        }
        problems
    }

    /// What a script is given: the names, and what is known to be in each. Of rows that are not there
    /// nothing is known.
    fn roots(&self, source: &Source, tokens: &[Token]) -> (Vec<(String, Members)>, String) {
        if source.language == Language::Python {
            return self.given(source, tokens);
        }
        let mut roots = Vec::new();
        if source.role != Role::Combine {
            roots.push(("meta".to_owned(), self.columns.meta.clone()));
            roots.push(("reference".to_owned(), self.columns.reference.clone()));
            let each = |members: Members, name: &str| members.with(name, Members::of(VERDICT));
            let verdicts = self.seen(source).into_iter().fold(Members::of([]), each);
            roots.push(("verdicts".to_owned(), verdicts));
        }
        roots.push(("rewards".to_owned(), Members::of(self.seen(source))));
        (roots, String::new())
    }

    /// What a function of Python is given, and its name.
    fn given(&self, source: &Source, tokens: &[Token]) -> (Vec<(String, Members)>, String) {
        let Some((function, parameters)) = decides(source, tokens) else {
            return (Vec::new(), String::new());
        };
        let (meta, reference) = (self.columns.meta.clone(), self.columns.reference.clone());
        let item = Members::of(["id", "prompt", "group"]).with("reference", reference.clone());
        let item = if self.columns.rows == 0 { Members::default() } else { item.and(&meta) };
        let is_graded = takes_item(&parameters);
        let more = GRADED.into_iter().filter(|_| is_graded);
        let sample = Members::of(GIVEN.into_iter().chain(more));
        let sample = sample.with("meta", meta).with("reference", reference);
        let names = parameters.into_iter().map(|own| own.name);
        let roots = names.zip([Some(sample), is_graded.then_some(item)]);
        (roots.filter_map(|(name, members)| Some((name, members?))).collect(), function)
    }

    /// The rewards whose verdicts a script sees.
    fn seen(&self, source: &Source) -> Vec<&str> {
        let names = self.plan.names.iter().map(String::as_str);
        match source.role {
            Role::Combine => names.collect(),
            Role::When(at) | Role::Reward(at) => names.take(at).collect(),
        }
    }

    /// Variables that are nowhere, also on ways through the script that no row takes.
    fn variables(&self, source: &Source) -> Vec<Problem> {
        let mut engine = bounded_engine();
        engine.set_strict_variables(true);
        let mut known: Vec<String> = match source.role {
            Role::Combine => self.plan.names.to_vec(),
            Role::When(_) | Role::Reward(_) => SAMPLE.map(str::to_owned).to_vec(),
        };
        known.push("rewards".to_owned());
        known.extend(match source.role {
            Role::Combine => vec!["step".to_owned()],
            Role::When(_) => vec!["step".to_owned(), "verdicts".to_owned()],
            Role::Reward(_) => vec!["verdicts".to_owned()],
        });
        let mut scope = Scope::new();
        for name in &known {
            scope.push_constant_dynamic(name.as_str(), Dynamic::UNIT);
        }
        let mut problems = Vec::new();
        while problems.len() < UNKNOWN_MAX {
            let compiled = match source.role {
                Role::Reward(_) => engine.compile_with_scope(&scope, &source.text),
                _ => engine.compile_expression_with_scope(&scope, &source.text),
            };
            let Err(error) = compiled else { break };
            // Whatever else it is, the plan was built of it.
            let ParseErrorType::VariableUndefined(name) = error.err_type() else { break };
            let place = error.position();
            let part = source.word_at(place.line().unwrap_or(1), place.position().unwrap_or(1));
            let message =
                format!("{} names the variable `{name}`, which is not there", source.called());
            problems.push(source.problem(
                self.document,
                part,
                message,
                Some(self.meant(source, name, &known)),
            ));
            scope.push_constant_dynamic(name.as_str(), Dynamic::UNIT);
        }
        problems
    }

    /// What was meant by a variable.
    fn meant(&self, source: &Source, name: &str, known: &[String]) -> String {
        let seen = self.seen(source);
        if source.role == Role::Combine && SAMPLE.contains(&name) {
            return format!(
                "an expression sees the rewards alone: put what reads `{name}` into a reward, verifier = \"rhai\", \
                 and name that reward here"
            );
        }
        if let Some((column, role)) = self.hidden().into_iter().find(|(_, role)| *role == name) {
            return hidden(column, role);
        }
        if self.columns.meta.has(name) && source.role != Role::Combine {
            return format!("a column is a member of `meta`: write `meta.{name}`");
        }
        if seen.contains(&name) {
            return format!("a reward is a member of `rewards`: write `rewards.{name}`");
        }
        if self.plan.names.iter().any(|other| other == name) && source.role != Role::Combine {
            return format!(
                "the reward \"{name}\" is judged later: put it above, and write `rewards.{name}`"
            );
        }
        if ROWS.contains(&name) && source.role != Role::Combine {
            return "a row has no name of its own: write `completion`, `prompt`, `reference`, and `meta.COLUMN` for \
                    any other column"
                .to_owned();
        }
        let near = did_you_mean(name, known.iter().map(String::as_str));
        let there = listed(known.iter().map(String::as_str));
        match near {
            Some(near) => format!("did you mean `{near}`? there are: {there}"),
            None => format!("there are: {there}"),
        }
    }

    /// A member that is nowhere.
    fn unknown(&self, source: &Source, path: &Path, step: &Step, known: &Members) -> Problem {
        let root = path.first().map_or("", |first| first.name.as_str());
        let (name, rows) = (&step.name, self.columns.rows);
        let called = source.called();
        let none = if rows == 1 {
            "the only row has not".to_owned()
        } else {
            format!("none of the {rows} rows has")
        };
        let is_first = path.get(1).is_some_and(|first| first.at == step.at);
        let place = shown(path, step);
        let is_sample = is_first && known.has("output_text");
        let is_second = path.get(2).is_some_and(|second| second.at == step.at);
        let of_meta = is_second && path.get(1).is_some_and(|first| first.name == "meta");
        let is_column = match source.language {
            Language::Rhai => root == "meta" && is_first,
            Language::Python => is_first && !is_sample || of_meta,
        };
        let message = match root {
            "rewards" | "verdicts" if is_first && self.plan.names.contains(name) => {
                format!("{called} names the reward \"{name}\", which is judged later")
            }
            "rewards" | "verdicts" if is_first => {
                format!("{called} names the reward \"{name}\", and none is called so")
            }
            "verdicts" => format!("{called} names `{place}`: a verdict has no `{name}`"),
            _ if is_column => format!("{called} names the column `{name}`, which {none}"),
            _ if is_sample => {
                format!("{called} names `{place}`: a sample has no `{name}`")
            }
            _ => format!("{called} names `{place}`, which {none}"),
        };
        let help = self.help(source, (root, is_first), name, known);
        source.problem(self.document, Some(step.at.clone()), message, Some(help))
    }

    /// What a column is read as, of what every script sees.
    fn read_as(&self, column: &str) -> Option<&'static str> {
        let columns = &self.plan.config.data;
        let own = [
            (Some(&columns.prompt), "prompt"),
            (Some(&columns.completion), "completion"),
            (Some(&columns.reference), "reference"),
            (Some(&columns.id), "id"),
            (columns.group.as_ref(), "group"),
            (columns.finish_reason.as_ref(), "finish_reason"),
        ];
        let is_own = |(name, _): &(Option<&String>, _)| name.is_some_and(|name| name == column);
        own.into_iter().find(is_own).map(|(_, role)| role)
    }

    /// Columns that no script of rhai sees, as they are read as something else.
    fn hidden(&self) -> Vec<(&str, &'static str)> {
        let columns = &self.plan.config.data;
        let all = [
            (&columns.finish_reason, "finish_reason"),
            (&columns.token_ids, "token_ids"),
            (&columns.logprobs, "logprobs"),
            (&columns.label, "label"),
        ];
        all.into_iter().filter_map(|(column, role)| Some((column.as_deref()?, role))).collect()
    }

    fn help(
        &self,
        source: &Source,
        (root, is_first): (&str, bool),
        name: &str,
        known: &Members,
    ) -> String {
        if ["rewards", "verdicts"].contains(&root)
            && is_first
            && self.plan.names.iter().any(|n| n == name)
        {
            return format!("put the reward \"{name}\" above this one");
        }
        if root == "meta" && SAMPLE.contains(&name) && !known.has(name) {
            return format!("what is read as the {name} is no metadata: write `{name}`");
        }
        if root == "meta"
            && let Some((column, role)) = self.hidden().into_iter().find(|(own, _)| *own == name)
        {
            return hidden(column, role);
        }
        if let Some(role) = self.read_as(name).filter(|_| root == "meta") {
            return format!("that column is no metadata: write `{role}`");
        }
        let is_python = source.language == Language::Python && !known.has("output_text");
        if let Some(role) = self.read_as(name).filter(|_| is_python) {
            return format!("that column is no metadata: write sample[\"{role}\"]");
        }
        if root != "meta" && known.has("output_text") && self.columns.meta.has(name) {
            return format!("a column is a member of `meta`: write {root}[\"meta\"][\"{name}\"]");
        }
        if root == "meta" && name != "meta" && known.has("meta") {
            return "the column `meta` holds text: write an object, and json.dumps once, over the whole row"
                .to_owned();
        }
        let near = did_you_mean(name, known.names());
        let there = listed(known.names());
        let there = if there.is_empty() {
            "there is none".to_owned()
        } else {
            format!("there are: {there}")
        };
        let optional = match source.role {
            _ if ["rewards", "verdicts"].contains(&root) => "",
            _ => "; `optional = true` in [data] is for columns that may be missing",
        };
        match near {
            Some(near) => format!("did you mean `{near}`? {there}{optional}"),
            None => format!("{there}{optional}"),
        }
    }
}

/// The path up to a step, with dots.
fn shown(path: &Path, step: &Step) -> String {
    names_to(path, step).join(".")
}

/// The names of a path up to a step.
fn names_to(path: &Path, step: &Step) -> paths::Names {
    let to = path.iter().position(|one| one.at == step.at).unwrap_or(path.len());
    path.iter().take(to + 1).map(|step| step.name.clone()).collect()
}

/// The function of Python that decides, and its parameters, where it has any.
pub(super) fn decides(source: &Source, tokens: &[Token]) -> Option<(String, Vec<Parameter>)> {
    let defined = |name: &str| {
        let parameters = paths::parameters(tokens, name);
        (!parameters.is_empty()).then(|| (name.to_owned(), parameters))
    };
    match &source.function {
        Some(name) => defined(name),
        None => defined("reward").or_else(|| defined("grade")),
    }
}

/// Whether a function is given the sample and the item, as graders of `OpenAI` are.
pub(super) fn takes_item(parameters: &[Parameter]) -> bool {
    let by_place = || parameters.iter().filter(|own| own.is_by_place);
    by_place().filter(|own| !own.has_default).count() >= 2
        || by_place().nth(1).is_some_and(|second| second.name == "item")
}

/// What a function of Python is given under a name.
pub(super) fn is_given(name: &str) -> bool {
    GIVEN.contains(&name)
}

/// What to do about a column that no script of rhai sees.
fn hidden(column: &str, role: &str) -> String {
    let python = if role == "finish_reason" {
        "; a function of `python_check` has sample[\"finish_reason\"]"
    } else {
        ""
    };
    format!(
        "[data] {role} = \"{column}\" takes the column out of `meta`, and rhai does not see it: write it a second \
         time into the rows, under another name, and read that as meta.NAME{python}"
    )
}
