//! The rule checks, one file each. A new one needs its file, its fixture file and one word here.

pub use crate::entry::{Entry, VerifierInfo};

/// Declares the modules and lists the checks. Those of tasks use crates of their own, and are the
/// feature `tasks`. A module, its file, its fixture file and the id of its check share one name.
macro_rules! checks {
    ($($(#[$gate:meta])? $module:ident :: $check:ident),+ $(,)?) => {
        $($(#[$gate])? pub mod $module;)+

        /// Every check of single samples, in the order of its id.
        pub(crate) const LIST: &[Entry] = &[$($(#[$gate])? Entry {
            about: VerifierInfo::of::<$module::$check>(include_str!(concat!(
                env!("CARGO_MANIFEST_DIR"), "/../fixtures/checks/", stringify!($module), ".toml"
            ))),
            build: crate::check::build::<$module::$check>,
        }),+];
    };
}

checks! {
    #[cfg(feature = "tasks")]
    answer_list::AnswerList,
    #[cfg(feature = "tasks")]
    bfcl::Bfcl,
    #[cfg(feature = "tasks")]
    bleu::Bleu,
    #[cfg(feature = "tasks")]
    boolean_query::BooleanQuery,
    #[cfg(feature = "tasks")]
    boxes::Boxes,
    #[cfg(feature = "tasks")]
    calculator::Calculator,
    #[cfg(feature = "tasks")]
    chess::Chess,
    choice::Choice,
    #[cfg(feature = "tasks")]
    chrf::Chrf,
    #[cfg(feature = "tasks")]
    citations::Citations,
    #[cfg(feature = "code-parses")]
    code_parses::CodeParses,
    #[cfg(feature = "tasks")]
    confidence::Confidence,
    #[cfg(feature = "tasks")]
    constraints::Constraints,
    contains::Contains,
    #[cfg(feature = "tasks")]
    countdown::Countdown,
    #[cfg(feature = "tasks")]
    crossword::Crossword,
    #[cfg(feature = "tasks")]
    csv::Csv,
    #[cfg(feature = "tasks")]
    edit_similarity::EditSimilarity,
    #[cfg(feature = "tasks")]
    error_rate::ErrorRate,
    exact::Exact,
    formula::FormulaCheck,
    #[cfg(feature = "tasks")]
    game24::Game24,
    #[cfg(feature = "tasks")]
    gleu::Gleu,
    #[cfg(feature = "tasks")]
    graph::GraphCheck,
    #[cfg(feature = "tasks")]
    grid::GridCheck,
    #[cfg(feature = "tasks")]
    gui_action::GuiAction,
    #[cfg(feature = "tasks")]
    html::Html,
    #[cfg(feature = "tasks")]
    instructions::Instructions,
    json::Json,
    #[cfg(feature = "tasks")]
    language::LanguageCheck,
    #[cfg(feature = "tasks")]
    latex::Latex,
    #[cfg(feature = "tasks")]
    latex_match::LatexMatch,
    length::Length,
    #[cfg(feature = "tasks")]
    markdown::Markdown,
    math::Math,
    #[cfg(feature = "tasks")]
    meteor_exact::MeteorExact,
    #[cfg(feature = "tasks")]
    needles::Needles,
    #[cfg(feature = "tasks")]
    ngram_repetition::NgramRepetition,
    number::Number,
    #[cfg(feature = "tasks")]
    numbers::Numbers,
    #[cfg(feature = "tasks")]
    pii::Pii,
    #[cfg(feature = "tasks")]
    proof_gate::ProofGate,
    #[cfg(feature = "tasks")]
    ranking::Ranking,
    #[cfg(feature = "tasks")]
    reasoning_gym::ReasoningGym,
    #[cfg(feature = "tasks")]
    refusal::RefusalCheck,
    regex::Regex,
    #[cfg(feature = "tasks")]
    regex_answer::RegexAnswer,
    rhai::Rhai,
    #[cfg(feature = "tasks")]
    rouge::Rouge,
    #[cfg(feature = "tasks")]
    set_match::SetMatch,
    #[cfg(feature = "tasks")]
    short_answer::ShortAnswer,
    #[cfg(feature = "tasks")]
    squad::Squad,
    #[cfg(feature = "tasks")]
    structured::StructuredCheck,
    #[cfg(feature = "tasks")]
    svg::Svg,
    #[cfg(feature = "tasks")]
    table_match::TableMatch,
    tags::Tags,
    #[cfg(feature = "tasks")]
    teds::Teds,
    #[cfg(feature = "tasks")]
    ter::Ter,
    #[cfg(feature = "tasks")]
    terms::TermsCheck,
    #[cfg(feature = "tasks")]
    timeline::Timeline,
    #[cfg(feature = "tasks")]
    toml::Toml,
    #[cfg(feature = "tasks")]
    tool_call::ToolCallCheck,
    #[cfg(feature = "tasks")]
    trajectory::Trajectory,
    #[cfg(feature = "tasks")]
    xml::Xml,
    #[cfg(feature = "tasks")]
    yaml::Yaml,
}
