//! A complete configuration for each verifier, which the page of the verifier begins with.

/// The configuration for the verifier `id`, in TOML; `None` where there is none.
pub(super) fn of(id: &str) -> Option<String> {
    let example = EXAMPLES.iter().find(|example| example.id == id)?;
    let before = match example.before {
        "" => String::new(),
        before => format!("{before}\n\n"),
    };
    let config = match example.config {
        "" => String::new(),
        config => format!("config = {{ {config} }}\n"),
    };
    let name = example.name;
    let row = example.row;
    Some(format!(
        "# {row}\nversion = 1\n\n{before}[[reward]]\nname = \"{name}\"\nverifier = \"{id}\"\n{config}"
    ))
}

/// What a configuration has beside what every configuration has.
#[derive(Clone, Copy)]
struct Example {
    id: &'static str,
    /// The name of the reward.
    name: &'static str,
    /// The rows that it is for, and the files that it names.
    row: &'static str,
    /// What stands before the reward: rewards and judges that it needs.
    before: &'static str,
    config: &'static str,
}

const fn example(id: &'static str, name: &'static str, config: &'static str) -> Example {
    let row = r#"a row: {"completion": "...", "reference": "..."}"#;
    Example { id, name, row, before: "", config }
}

/// The same for rows that look otherwise.
const fn on(row: &'static str, example: Example) -> Example {
    Example { row, ..example }
}

/// The same behind something else.
const fn behind(before: &'static str, example: Example) -> Example {
    Example { before, ..example }
}

const GROUPS: &str = r#"rows of one prompt stand together: {"prompt": "...", "completion": "..."}"#;
const GROUPS_WITH_ANSWERS: &str = r#"rows of one prompt stand together: {"prompt": "...", "completion": "...", "reference": "..."}"#;
const MODEL: &str =
    r#"model is a folder (docs/model-folder.md); a row: {"prompt": "...", "completion": "..."}"#;
const MODEL_WITH_REFERENCE: &str = r#"model is a folder (docs/model-folder.md); a row: {"prompt": "...", "completion": "...", "reference": "..."}"#;
const CORRECT: &str = "[[reward]]\nname = \"correct\"\nverifier = \"math\"";
const JUDGE: &str = "[judges.local]\nurl = \"http://127.0.0.1:8000/v1\"\nmodel = \"judge\"";

const EXAMPLES: &[Example] = &[
    example("choice", "correct", r"letters = 4"),
    on(
        r#"a row: {"completion": "..."}"#,
        example("contains", "polite", r#"any = ["please", "thank you"], ignore_case = true"#),
    ),
    on(
        GROUPS_WITH_ANSWERS,
        behind(CORRECT, example("contrast", "above_the_others", r#"of = "correct""#)),
    ),
    on(GROUPS, example("diversity", "novel", r#"measure = "self_bleu", n = 4"#)),
    on(GROUPS, example("duplicates", "own_words", r#"by = "text""#)),
    on(GROUPS, example("embedding_diversity", "novel", r#"model = "models/embedding""#)),
    on(MODEL_WITH_REFERENCE, example("embedding_model", "near", r#"model = "models/embedding""#)),
    example("exact", "correct", "ignore_case = true"),
    on(MODEL, example("generative_model", "verified", r#"model = "models/judge""#)),
    on(
        r#"a row: {"completion": "{\"city\": \"Bern\"}"}"#,
        example(
            "json",
            "format",
            r#"schema = { type = "object", required = ["city"] }, from = "any""#,
        ),
    ),
    on(
        r#"a row: {"completion": "..."}"#,
        example("length", "brief", r#"unit = "words", max = 200"#),
    ),
    on(
        MODEL_WITH_REFERENCE,
        example(
            "likelihood_model",
            "likely",
            r#"model = "models/likelihood", score = "sum_log_prob""#,
        ),
    ),
    on(GROUPS, example("majority_vote", "agrees", r#"answers = "math""#)),
    example("math", "correct", ""),
    example("number", "correct", "relative = 0.01"),
    on(MODEL, example("outcome_model", "quality", r#"model = "models/outcome""#)),
    on(GROUPS, behind(JUDGE, example("pairwise", "preferred", r#"judge = "local""#))),
    on(
        GROUPS_WITH_ANSWERS,
        behind(CORRECT, example("pass_at_k", "pass", r#"k = 4, of = "correct""#)),
    ),
    on(
        MODEL_WITH_REFERENCE,
        example("preference_model", "preferred", r#"model = "models/preference""#),
    ),
    on(MODEL, example("process_model", "steps", r#"model = "models/process", aggregate = "min""#)),
    on(
        r#"a row: {"completion": "3", "reference": {"program": "def f(x): return x + 1", "call": "f(2)"}}"#,
        example("program_output", "predicted", r#"equality = "strict""#),
    ),
    example(
        "python_check",
        "own",
        r#"script = 'def reward(sample): return sample["completion"] == sample["reference"]'"#,
    ),
    on(GROUPS_WITH_ANSWERS, behind(CORRECT, example("rank", "place", r#"of = "correct""#))),
    on(
        r#"a row: {"completion": "..."}"#,
        example("regex", "format", r"pattern = '(?s)^<think>.*</think>\s*\S'"),
    ),
    on(
        GROUPS_WITH_ANSWERS,
        behind(
            CORRECT,
            example("relative_length", "brief", r#"of = "correct", unit = "words", form = "kimi""#),
        ),
    ),
    example("rhai", "own", "script = 'completion.contains(reference)'"),
    on(
        r#"a row: {"prompt": "...", "completion": "..."}"#,
        behind(
            JUDGE,
            example(
                "rubric",
                "quality",
                r#"judge = "local", rubric = { criterion = [{ name = "polite", text = "Is it polite?" }] }"#,
            ),
        ),
    ),
    on(GROUPS, example("self_consistency", "agreement", r#"answers = "math""#)),
    on(
        r#"a row: {"completion": "SELECT ...", "reference": {"query": "SELECT a FROM t", "schema": "CREATE TABLE t(a)"}}"#,
        example("sql", "correct", r#"semantics = "spider""#),
    ),
    on(
        r#"a row: {"completion": "...", "reference": {"cases": [{"stdin": "1 2\n", "stdout": "3\n"}]}}"#,
        example(
            "stdin_stdout",
            "runs",
            r#"language = "python", pay = "fraction", comparison = { float_tolerance = 1e-6 }"#,
        ),
    ),
    example("string_check", "correct", r#"operation = "eq""#),
    on(
        r#"a row: {"completion": "<think>...</think><answer>...</answer>"}"#,
        example("tags", "format", r#"tags = ["think", "answer"]"#),
    ),
    example("text_similarity", "alike", r#"metric = "rouge_l""#),
    on(
        r#"a row: {"completion": "...", "reference": {"test": "assert add(1, 2) == 3"}}"#,
        example("unit_tests", "passes", r#"pay = "fraction", limits = { fuel = 20_000_000_000 }"#),
    ),
    on(
        "path is a component (docs/wasm-plugins.md)",
        example("wasm", "own", r#"path = "plugin.wasm""#),
    ),
];
