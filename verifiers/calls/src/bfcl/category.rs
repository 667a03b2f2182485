//! Versions of the checker, languages of tools, categories of rows.

/// Which checker is meant.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Version {
    /// As of 2024-08: `multiple` is judged as parallel calls are, a tool is looked up by a part of
    /// its name, an object must have all members of the answer.
    Of2024,
    /// As of 2025 and 2026.
    #[default]
    Current,
}

/// The language of the tools, which says how values are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Language {
    /// Values have types.
    Python,
    /// Every value is the text of Java that writes it.
    Java,
    /// Every value is the text of JavaScript that writes it.
    JavaScript,
}

/// What a category asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Route {
    /// One call of the first tool.
    Simple,
    /// One call of one of several tools.
    Multiple,
    /// Several calls in any order.
    Parallel,
    /// No call.
    Irrelevance,
    /// Any call.
    Relevance,
}

/// A category of the leaderboard: `simple`, `live_parallel_multiple`, `simple_java`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Category {
    /// What it asks for.
    pub route: Route,
    /// The language of its tools.
    pub language: Language,
}

impl Category {
    /// The category of a name. `None` where the name has none that this checker judges: categories
    /// of execution, of several turns, of agents.
    pub fn named(name: &str) -> Option<Self> {
        let has = |part: &str| name.contains(part);
        let route = if ["exec", "multi_turn", "rest", "sql", "chatable"].into_iter().any(has) {
            return None;
        } else if has("irrelevance") {
            Route::Irrelevance
        } else if has("relevance") {
            Route::Relevance
        } else if has("parallel") {
            Route::Parallel
        } else if has("multiple") {
            Route::Multiple
        } else if has("simple") || has("java") {
            Route::Simple
        } else {
            return None;
        };
        let language = match (has("javascript"), has("java")) {
            (true, _) => Language::JavaScript,
            (_, true) => Language::Java,
            _ => Language::Python,
        };
        Some(Self { route, language })
    }
}

/// What is wrong with calls: the error type, as the official checker names it.
pub type Wrong = &'static str;

/// The official checker stops with an exception: the schema or the answer has not the form that it
/// needs. This is no fault of the calls.
pub const UNJUDGEABLE: Wrong = "unjudgeable";
