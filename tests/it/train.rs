//! `assay train`: a tiny policy, trained for a few steps.

use std::fs;
use std::sync::Arc;

use assay::setup::Environment;
use assay::trainer::config::ToolConfig;
use assay::trainer::training::{Tool as _, ToolReply};
use assay::training::SandboxTool;
use serde_json::Value;

use crate::place::{Place, Ran};

const CONFIG: &str = r#"version = 1
[[reward]]
name = "correct"
verifier = "exact"
[[reward]]
name = "brief"
verifier = "length"
weight = 0.1
config = { max = 2, unit = "characters" }
[loss]
preset = "trl-1.16"
kind = "dapo"
[train]
tasks = ["tasks.jsonl"]
held_out = ["held-out.jsonl"]
correct = ["correct"]
steps = 3
seed = 7
threads = 1
groups = 2
group_size = 4
[train.model.new]
architecture = "qwen3"
hidden_size = 16
intermediate_size = 32
num_hidden_layers = 1
num_attention_heads = 2
max_position_embeddings = 32
[train.generation]
max_new_tokens = 4
[train.optimizer]
learning_rate = 1e-2
[train.warmup]
data = ["shown.jsonl"]
steps = 2
batch_size = 4
optimizer = { learning_rate = 1e-2 }
[train.evaluation]
samples = 8
[train.checkpoint]
every = 1
"#;

/// A folder with sums to learn.
fn place() -> Place {
    let sum = |left: usize, right: usize| {
        let answer = left + right;
        format!(
            "{{\"id\":\"{left}+{right}\",\"prompt\":\"{left}+{right}=\",\"reference\":\"{answer}\""
        )
    };
    let rows = |sums: &[(usize, usize)], answered: bool| -> String {
        let row = |(left, right): &(usize, usize)| {
            let answer = if answered {
                format!(",\"completion\":\"{}\"", left + right)
            } else {
                String::new()
            };
            format!("{}{answer}}}\n", sum(*left, *right))
        };
        sums.iter().map(row).collect()
    };
    let shown = [(1, 1), (1, 2), (2, 2), (3, 4), (0, 5), (4, 4)];
    Place::with(&[
        ("train.toml", CONFIG),
        ("tasks.jsonl", &rows(&[(1, 1), (2, 1), (3, 3)], false)),
        ("held-out.jsonl", &rows(&[(2, 3), (4, 1)], false)),
        ("shown.jsonl", &rows(&shown, true)),
    ])
}

fn trained(place: &Place, words: &str) -> Ran {
    let ran = place.run(&format!("train train.toml {words}"));
    assert_eq!(ran.code, 0, "{words}: {}", ran.err);
    ran
}

fn lines(place: &Place, name: &str) -> Vec<Value> {
    let text = fs::read_to_string(place.path(name)).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// The lines of a run without what the clock says.
fn stable(place: &Place, run: &str) -> Vec<Value> {
    let mut all = lines(place, &format!("{run}/metrics.jsonl"));
    for line in &mut all {
        line.as_object_mut().unwrap().retain(|name, _| !name.contains("time"));
    }
    all.extend(lines(place, &format!("{run}/rollouts.jsonl")));
    all.extend(lines(place, &format!("{run}/evaluations.jsonl")));
    all
}

#[test]
fn a_policy_is_trained_into_a_run_folder() {
    let place = place();
    let ran = trained(&place, "-o run --json");
    let summary = ran.json();
    assert_eq!((&summary["steps"], &summary["complete"]), (&3.into(), &true.into()));
    assert_eq!(summary["reward"].as_array().unwrap().len(), 3);
    assert_eq!((&summary["before"]["step"], &summary["after"]["step"]), (&0.into(), &3.into()));
    assert!(
        ran.err.contains("warm-up 2/2") && ran.err.contains("step 3/3  reward "),
        "{}",
        ran.err
    );
    assert!(ran.err.contains("held out after step 0: accuracy "), "{}", ran.err);
    let rollouts = lines(&place, "run/rollouts.jsonl");
    assert_eq!(rollouts.len(), 3 * 2 * 4);
    assert!(rollouts[0]["rewards"]["correct"].is_number(), "{}", rollouts[0]);
    assert_eq!(lines(&place, "run/evaluations.jsonl").len(), 2);
    let config: Value =
        serde_json::from_slice(&fs::read(place.path("run/config.resolved.json")).unwrap()).unwrap();
    assert_eq!((&config["train"]["seed"], &config["loss"]["kind"]), (&7.into(), &"dapo".into()));
    for name in ["manifest.json", "summary.json", "warnings.jsonl", "tensorboard", "checkpoints"] {
        assert!(place.path(&format!("run/{name}")).exists(), "{name}");
    }
    for name in ["config.json", "model.safetensors", "tokenizer.json"] {
        assert!(place.path(&format!("run/model/{name}")).is_file(), "{name}");
    }
    let again = trained(&place, "-o run");
    assert!(again.err.contains("complete already"), "{}", again.err);
}

#[test]
fn a_training_that_was_stopped_goes_on_as_if_it_had_not_been() {
    let place = place();
    trained(&place, "-o whole --quiet");
    let part = trained(&place, "-o part --steps 1");
    assert!(part.out.contains("accuracy"), "{}", part.out);
    // The run of one step ended with an evaluation that the whole one does not have, and with another
    // schedule of the learning rate: with a constant one they are the same.
    let constant =
        "--set train.optimizer.lr_scheduler_type=constant --set train.evaluation.every=1";
    trained(&place, &format!("-o constant {constant} -q"));
    trained(&place, &format!("-o resumed --steps 2 {constant} -q"));
    trained(&place, &format!("-o resumed --resume {constant} -q"));
    assert_ne!(stable(&place, "whole"), stable(&place, "constant"));
    let of_steps = |run: &str| -> Vec<Value> {
        let mut all = stable(&place, run);
        all.retain(|line| line.get("reward").is_some() && line.get("mean_length").is_none());
        all
    };
    assert_eq!(of_steps("resumed"), of_steps("constant"));
    let model =
        |run: &str| fs::read(place.path(&format!("{run}/model/model.safetensors"))).unwrap();
    assert!(model("resumed") == model("constant"), "the weights differ");
}

/// The configuration with a calculator, and demonstrations that ask it.
fn with_calculator(place: &Place) {
    let tool = "[train.tool]\nname = \"calculator\"\nfile = \"tool.py\"\ncall = [\"<\", \">\"]\n\
                result = [\"[\", \"]\"]\nmax_tool_calling_iterations = 1\n[train.model.new]";
    let config = CONFIG.replace("[train.model.new]", tool).replace("steps = 2", "steps = 120");
    place.write("tool.py", "import sys; print(eval(sys.stdin.read()))");
    place.write("train.toml", &config.replace("max_new_tokens = 4", "max_new_tokens = 16"));
    let row = |(left, right): (usize, usize)| {
        let (sum, answer) = (format!("{left}+{right}"), left + right);
        format!("{{\"prompt\":\"{sum}=\",\"completion\":\"<{sum}>[{answer}]{answer}\"}}\n")
    };
    let all = (0..5).flat_map(|left| (0..5).map(move |right| (left, right)));
    place.write("shown.jsonl", &all.map(row).collect::<String>());
}

#[test]
fn a_policy_calls_a_tool() {
    let place = place();
    with_calculator(&place);
    trained(&place, "-o whole -q");
    let rollouts = lines(&place, "whole/rollouts.jsonl");
    let of_tool = |one: &&Value| one["completion"].as_array().is_some_and(|all| all.len() == 3);
    let answered: Vec<&Value> = rollouts.iter().filter(of_tool).collect();
    assert!(!answered.is_empty(), "{}", rollouts[0]);
    for one in answered {
        let [asked, told, said] = one["completion"].as_array().unwrap().as_slice() else {
            panic!()
        };
        let call = &asked["tool_calls"][0]["function"];
        assert_eq!((&asked["role"], &told["role"]), (&"assistant".into(), &"tool".into()));
        assert_eq!((&call["name"], &said["role"]), (&"calculator".into(), &"assistant".into()));
        if let [left @ b'0'..=b'9', b'+', right @ b'0'..=b'9'] =
            call["arguments"]["input"].as_str().unwrap().as_bytes()
        {
            assert_eq!(told["content"], (left - b'0' + right - b'0').to_string());
        }
    }
    let calls = &lines(&place, "whole/metrics.jsonl")[1]["tools/call_frequency"];
    assert!(calls.as_f64().unwrap() > 0.0, "{calls}");
    let same = "--set train.optimizer.lr_scheduler_type=constant --set train.evaluation.every=1 -q";
    trained(&place, &format!("-o once {same}"));
    trained(&place, &format!("-o twice --steps 1 {same}"));
    trained(&place, &format!("-o twice --resume {same}"));
    assert_eq!(lines(&place, "once/rollouts.jsonl"), lines(&place, "twice/rollouts.jsonl"));
    let model =
        |run: &str| fs::read(place.path(&format!("{run}/model/model.safetensors"))).unwrap();
    assert!(model("once") == model("twice"), "the weights differ");
    place.write("tool.py", "print(7)");
    let other = place.run(&format!("train train.toml -o once {same}"));
    assert!(other.code == 2 && other.err.contains("another configuration"), "{}", other.err);
}

#[test]
fn faulty_calls_have_results_that_say_so() {
    let sandbox = Arc::new(Environment::read().sandbox());
    let tool = |settings: &str| {
        let config: ToolConfig = toml::from_str(settings).unwrap();
        SandboxTool::new(&sandbox, &config)
    };
    let python =
        "max_tool_response_length = 30\nsource = 'import sys; print(eval(sys.stdin.read()))'";
    let javascript = "language = 'javascript'\nmax_tool_response_length = 30\n\
                      source = 'console.log(eval(require(\"fs\").readFileSync(0, \"utf8\")))'";
    for (settings, cases) in [
        (
            python,
            [
                ("2+3", "5"),
                ("2+", "error: SyntaxError: invalid sy"),
                ("exit(3)", "error: exit code 3"),
            ],
        ),
        (javascript, [("2+3", "5"), ("2+", "error: "), ("process.exit(3)", "error: exit code 3")]),
    ] {
        let tool = tool(settings).unwrap();
        let calls = cases.map(|(call, _)| call);
        let replies = tool.answer(&calls).unwrap();
        for ((call, expected), reply) in cases.iter().zip(&replies) {
            assert!(reply.text.starts_with(expected), "{call}: {reply:?}");
            assert_eq!(reply.is_error, expected.starts_with("error"), "{call}");
        }
        assert_eq!(tool.answer(&calls).unwrap(), replies);
    }
    let endless = tool("source = 'while True: pass'").unwrap().answer(&["", ""]).unwrap();
    assert_eq!(endless[1], ToolReply { text: "error: out of fuel".to_owned(), is_error: true });
    let starved = tool("source = 'print(1)'\nfuel = 1000").err().unwrap().to_string();
    assert!(starved.contains("fuel") && starved.contains("out of fuel"), "{starved}");
}

#[test]
fn what_is_wrong_is_pointed_at() {
    let place = place();
    let cases = [
        (CONFIG.replace("group_size = 4", "group_sise = 4"), "did you mean `group_size`?"),
        (CONFIG.replace("group_size = 4", "group_size = 0"), "`group_size`"),
        (CONFIG.replace("kind = \"dapo\"", "kind = \"dapa\""), "has no \"dapa\""),
        (
            CONFIG.replace("kind = \"dapo\"", "kind = \"dapo\"\neps_hi = 0.2"),
            "did you mean `eps_high`?",
        ),
        (
            CONFIG.replace("correct = [\"correct\"]", "correct = \"corect\""),
            "did you mean \"correct\"?",
        ),
        (CONFIG.replace("[\"tasks.jsonl\"]", "[\"none.jsonl\"]"), "none.jsonl: No such file"),
        (CONFIG.replace("[\"tasks.jsonl\"]", "[\"/etc/passwd\"]"), "--allow-path permits"),
        (format!("{CONFIG}[train.tool]\nname = \"a\"\n"), "`source` and `file`"),
        (format!("{CONFIG}[train.tool]\nfile = \"none.py\"\n"), "none.py: No such file"),
    ];
    for (text, expected) in cases {
        place.write("e.toml", &text);
        let ran = place.run("train e.toml -o run");
        assert_eq!((ran.code, ran.out.as_str()), (2, ""), "{expected}: {}", ran.err);
        assert!(
            ran.err.contains(expected) && ran.err.contains("e.toml:"),
            "{expected}: {}",
            ran.err
        );
    }
    place.write("e.toml", CONFIG.split("[train]").next().unwrap());
    let ran = place.run("train e.toml -o run");
    assert!(ran.code == 2 && ran.err.contains("no [train]"), "{}", ran.err);
    let ran = place.run("train train.toml -o run --resume");
    assert!(ran.code == 2 && ran.err.contains("nothing to go on with"), "{}", ran.err);
}

#[test]
fn tables_of_trainers_move_no_reward() {
    let place = place();
    let bare = CONFIG.split("[loss]").next().unwrap();
    place.write("bare.toml", bare);
    place.write("rows.jsonl", "{\"completion\":\"2\",\"reference\":\"2\"}\n");
    for config in ["bare", "train"] {
        let ran = place.run(&format!("score {config}.toml rows.jsonl -o {config} -q"));
        assert_eq!(ran.code, 0, "{}", ran.err);
    }
    let read = |name: &str| -> Value {
        serde_json::from_slice(&fs::read(place.path(name)).unwrap()).unwrap()
    };
    let hash = |run: &str| read(&format!("{run}/manifest.json"))["config_hash"].clone();
    assert_eq!(hash("bare"), hash("train"));
    let config = read("bare/config.resolved.json");
    assert!(config.get("loss").is_none() && config.get("train").is_none(), "{config}");
    assert!(read("train/config.resolved.json")["train"]["model"]["new"].is_object());
}

#[test]
fn the_settings_are_listed() {
    let place = place();
    let shown = place.run("show train").out;
    for setting in ["tasks  (list of string; required)", "optimizer.learning_rate", "model.new."] {
        assert!(shown.contains(setting), "{setting}: {shown}");
    }
}
