//! The rule checks, one file each. A new one needs its file, its fixture file and one word here.

pub use crate::entry::{Entry, VerifierInfo};

/// Declares the modules and lists the checks, each with the feature that it is a part of. Those of
/// tasks use crates of their own. A module, its file, its fixture file and the id of its check share
/// one name.
macro_rules! checks {
    ($($module:ident :: $check:ident $(if $feature:tt)?),+ $(,)?) => {
        $($(#[cfg(feature = $feature)])? pub mod $module;)+

        /// Every check of single samples, in the order of its id.
        pub(crate) const LIST: &[Entry] = &[$($(#[cfg(feature = $feature)])? Entry {
            about: VerifierInfo::of::<$module::$check>(include_str!(concat!(
                env!("CARGO_MANIFEST_DIR"), "/../fixtures/checks/", stringify!($module), ".toml"
            ))),
            build: crate::check::build::<$module::$check>,
        }),+];
    };
}

checks! {
    answer_list::AnswerList if "tasks",
    bfcl::Bfcl if "tasks",
    bleu::Bleu if "tasks",
    boolean_query::BooleanQuery if "tasks",
    boxes::Boxes if "tasks",
    calculator::Calculator if "tasks",
    chess::Chess if "tasks",
    choice::Choice,
    chrf::Chrf if "tasks",
    citations::Citations if "tasks",
    code_parses::CodeParses if "code-parses",
    confidence::Confidence if "tasks",
    constraints::Constraints if "tasks",
    contains::Contains,
    countdown::Countdown if "tasks",
    crossword::Crossword if "tasks",
    csv::Csv if "tasks",
    edit_similarity::EditSimilarity if "tasks",
    error_rate::ErrorRate if "tasks",
    exact::Exact,
    formula::FormulaCheck,
    game24::Game24 if "tasks",
    gleu::Gleu if "tasks",
    graph::GraphCheck if "tasks",
    grid::GridCheck if "tasks",
    gui_action::GuiAction if "tasks",
    html::Html if "tasks",
    instructions::Instructions if "tasks",
    json::Json,
    language::LanguageCheck if "tasks",
    latex::Latex if "tasks",
    latex_match::LatexMatch if "tasks",
    length::Length,
    markdown::Markdown if "tasks",
    math::Math,
    meteor_exact::MeteorExact if "tasks",
    needles::Needles if "tasks",
    ngram_repetition::NgramRepetition if "tasks",
    number::Number,
    numbers::Numbers if "tasks",
    pii::Pii if "tasks",
    proof_gate::ProofGate if "tasks",
    ranking::Ranking if "tasks",
    reasoning_gym::ReasoningGym if "tasks",
    refusal::RefusalCheck if "tasks",
    regex::Regex,
    regex_answer::RegexAnswer if "tasks",
    rhai::Rhai,
    rouge::Rouge if "tasks",
    set_match::SetMatch if "tasks",
    short_answer::ShortAnswer if "tasks",
    squad::Squad if "tasks",
    structured::StructuredCheck if "tasks",
    svg::Svg if "tasks",
    table_match::TableMatch if "tasks",
    tags::Tags,
    teds::Teds if "tasks",
    ter::Ter if "tasks",
    terms::TermsCheck if "tasks",
    timeline::Timeline if "tasks",
    toml::Toml if "tasks",
    tool_call::ToolCallCheck if "tasks",
    trajectory::Trajectory if "tasks",
    xml::Xml if "tasks",
    yaml::Yaml if "tasks",
}
