//! Judges through the engine: of the program, of a model folder, recorded, within a budget.

use std::io::{Read as _, Write as _};
use std::net::TcpListener;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use assay::data::{ReadLimits, Source};
use assay::engine::Document;
use assay::rubrics::judge::{Judge, JudgeReply, JudgeRequest};
use assay::setup::Environment;
use assay::verifiers::{Fault, Outcome, Pending, Usage, canonical};
use assay::{Engine, Sample};
use serde_json::{Value, json};

use crate::place::assay;
use crate::support::lines;

/// A judge that finds what a criterion asks for in the completion, and takes a while that depends on
/// its number of calls, so that replies come in another order each time.
struct Finds {
    calls: Arc<AtomicUsize>,
    spread: u64,
}

impl Judge for Finds {
    fn identity(&self) -> Value {
        json!("finds")
    }

    fn ask(&self, request: JudgeRequest) -> Pending<Result<JudgeReply, Fault>> {
        let call = self.calls.fetch_add(1, Ordering::Relaxed) as u64;
        let wait = (call.wrapping_mul(self.spread) ^ self.spread) % 7;
        Box::pin(async move {
            tokio::time::sleep(Duration::from_millis(wait)).await;
            let word = request.texts.question.rsplit(' ').next().unwrap_or_default().to_owned();
            let code = &request.schema["properties"]["code"]["enum"][0];
            let verdict = request.texts.completion.contains(&word);
            let text = json!({"code": code, "reasons": format!("{word}?"), "verdict": verdict});
            let usage = Usage { tokens: 7, calls: 1 };
            Ok(JudgeReply { text: text.to_string(), usage, ..JudgeReply::default() })
        })
    }
}

const RUBRIC: &str = r#"
version = 1
[[reward]]
name = "short"
verifier = "length"
config = { max = 400 }
[[reward]]
name = "quality"
verifier = "rubric"
[reward.config]
judge = "finds"
[reward.config.rubric.aggregate]
how = "positive_points"
[[reward.config.rubric.criterion]]
name = "short"
reward = "short"
essential = true
[[reward.config.rubric.criterion]]
name = "one"
text = "says 1"
points = 2
[[reward.config.rubric.criterion]]
name = "two"
text = "says 2"
needs = ["one"]
[[reward.config.rubric.criterion]]
name = "three"
text = "says 3"
points = -1
"#;

fn engine(spread: u64, jobs: usize) -> (Engine, Arc<AtomicUsize>) {
    let calls = Arc::new(AtomicUsize::new(0));
    let judge = Finds { calls: Arc::clone(&calls), spread };
    let document = Document::parse("a.toml", RUBRIC).unwrap();
    let builder = Engine::builder().config(document).jobs(jobs).judge("finds", judge);
    (builder.build().unwrap(), calls)
}

fn quality(engine: &Engine, completion: &str) -> (Option<f64>, Value) {
    let scored = engine.score([Sample::builder(completion).build()]);
    let verdict = scored[0].verdict("quality").unwrap();
    let reward = match &verdict.outcome {
        Outcome::Scored(reward) => Some(reward.get()),
        _ => None,
    };
    (reward, serde_json::to_value(verdict).unwrap())
}

#[test]
fn gates_and_prerequisites_save_questions() {
    let (engine, calls) = engine(3, 1);
    assert_eq!(quality(&engine, "1 2").0, Some(1.0));
    assert_eq!(calls.swap(0, Ordering::Relaxed), 3);
    // Without the first the second is not asked.
    let (reward, verdict) = quality(&engine, "2 3");
    assert_eq!((reward, calls.swap(0, Ordering::Relaxed)), (Some(-0.25 + 0.25), 2));
    assert_eq!(
        verdict["components"]["two"]["evidence"]["reason"],
        "its prerequisite \"one\" is not met"
    );
    // Behind a gate that code closes nobody is asked.
    let (reward, verdict) = quality(&engine, &"1 ".repeat(2_000));
    assert_eq!((reward, calls.load(Ordering::Relaxed)), (Some(0.0), 0));
    assert_eq!(verdict["evidence"]["gate"], "short");
}

#[test]
fn replies_in_any_order_give_the_same_bytes() {
    let rows: Vec<String> = (0..300)
        .map(|at| format!(r#"{{"id":"{at}","completion":"{} and {at}"}}"#, at % 4))
        .collect();
    let digests = [(1, 1), (5, 2), (11, 4)].map(|(spread, jobs)| {
        let (engine, _) = engine(spread, jobs);
        let source =
            Source::stream("rows", std::io::Cursor::new(rows.join("\n")), &ReadLimits::default());
        canonical::hex(&canonical::digest_parts(&[&lines(&engine, source.unwrap())]))
    });
    assert!(digests.iter().all(|digest| *digest == digests[0]), "{digests:?}");
}

fn models() -> std::path::PathBuf {
    Path::new(crate::ROOT).join("fixtures/models").canonicalize().unwrap()
}

/// A criterion that a model of the fixtures answers, beside the reward of the same model.
fn by_model(model: &str, kind: &str, settings: &str, run: &str) -> Engine {
    let text = format!(
        "version = 1\n[judges.critic]\nfolder = '{model}'\nrun = {{ {run} }}\n\
         [[reward]]\nname = 'alone'\nverifier = 'generative_model'\n\
         config = {{ model = '{model}', run = {{ {run} }} }}\n\
         [[reward]]\nname = 'rubric'\nverifier = 'rubric'\n[reward.config]\njudge = 'critic'\n{settings}\n\
         [[reward.config.rubric.criterion]]\nname = 'sum'\ntext = 'What is 2 + 3?'\n{kind}\n"
    );
    let document = Document::parse("a.toml", &text).unwrap();
    let environment = Environment::read();
    environment.builder(&models().join("a.toml"), document, Vec::new()).no_cache().build().unwrap()
}

#[test]
fn a_model_of_this_machine_judges_on_both_backends() {
    for backend in ["ort", "rten"] {
        let run = format!("backend = '{backend}'");
        let scale = "kind = { scale = { max = 5 } }";
        let engine = by_model("critique-judge", scale, "rubric.aggregate.how = 'value'", &run);
        let sample = || Sample::builder("The sum is 5.").reference("The answer is 5.").build();
        let scored = engine.score((0..8).map(|_| sample()).collect::<Vec<_>>());
        for one in &scored {
            let verdict = one.verdict("rubric").unwrap();
            let reward = verdict.outcome.clone();
            assert!(
                matches!(reward, Outcome::Scored(reward) if (reward.get() - 5.0).abs() < 1e-9),
                "{backend}: {verdict:?}"
            );
            assert_eq!(verdict.usage.calls, 1);
        }
        let engine = by_model("yes-no-judge", "", "logprobs = true", &run);
        let scored = engine.score([Sample::builder("The sum is 5.").build()]);
        let Outcome::Scored(reward) = scored[0].verdict("rubric").unwrap().outcome else {
            unreachable!("{backend}: {scored:?}")
        };
        assert!((reward.get() - 0.502_381_05).abs() < 1e-4, "{backend}: {reward:?}");
    }
}

#[test]
fn criteria_of_one_text_get_the_same_bits_together_and_one_by_one() {
    let criterion = |at: usize| {
        let words = "and says why ".repeat(at % 3);
        format!(
            "[[reward.config.rubric.criterion]]\nname = 'c{at}'\ntext = 'Is it {at}, {words}?'\n"
        )
    };
    let criteria = (2..9).map(criterion).collect::<Vec<_>>().concat();
    let judged = |run: &str| {
        let engine = by_model("criterion-judge", &criteria, "logprobs = true", run);
        let said = "The sum of 2 and 3 is 5, which is odd. ".repeat(6);
        let sample =
            |at: usize| Sample::builder(format!("{said}{at}")).prompt("Add 2 and 3.").build();
        let scored = engine.score((0..3).map(sample).collect::<Vec<_>>());
        let verdicts = scored.iter().map(|one| {
            let verdict = one.verdict("rubric").unwrap();
            assert_eq!(verdict.usage.calls, 8, "{run}: {verdict:?}");
            let Outcome::Scored(reward) = verdict.outcome else {
                unreachable!("{run}: {verdict:?}")
            };
            let bits = verdict.components.iter().map(|one| format!("{one:?}"));
            (reward.get().to_bits(), bits.collect::<Vec<_>>())
        });
        verdicts.collect::<Vec<_>>()
    };
    for (backend, threads) in [("ort", 1), ("ort", 2), ("rten", 1), ("rten", 2)] {
        let run = format!("backend = '{backend}', workers = 1, threads = {threads}");
        let apart = judged(&format!("{run}, prefix_mb = 0, batch_tokens = 1"));
        assert_eq!(apart[0].1.len(), 8, "{apart:?}");
        for more in ["", ", prefix_mb = 1"] {
            assert_eq!(judged(&format!("{run}{more}")), apart, "{backend}, {threads}: {more}");
        }
    }
}

/// A server that answers so many requests with a verdict of yes.
fn serve(answers: usize) -> (String, std::thread::JoinHandle<()>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/v1", listener.local_addr().unwrap());
    let server = std::thread::spawn(move || {
        for _ in 0..answers {
            let Ok((mut stream, _)) = listener.accept() else { return };
            let (mut request, mut part) = (Vec::new(), [0; 4096]);
            let body = loop {
                let read = stream.read(&mut part).unwrap();
                request.extend_from_slice(&part[..read]);
                let text = String::from_utf8_lossy(&request).into_owned();
                let length = text
                    .to_lowercase()
                    .split("content-length: ")
                    .nth(1)
                    .map(|rest| rest.split("\r\n").next().unwrap().parse::<usize>().unwrap());
                if let (Some(length), Some((_, body))) = (length, text.split_once("\r\n\r\n"))
                    && body.len() >= length
                {
                    break body.to_owned();
                }
                assert!(read > 0, "the client left");
            };
            let asked: Value = serde_json::from_str(&body).unwrap();
            let schema = &asked["response_format"]["json_schema"]["schema"];
            let code = &schema["properties"]["code"]["enum"][0];
            let text = json!({"code": code, "reasons": "so", "verdict": true}).to_string();
            let answer = json!({
                "choices": [{"message": {"content": text}, "finish_reason": "stop"}],
                "usage": {"prompt_tokens": 3, "completion_tokens": 2},
            })
            .to_string();
            let head = "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\nconnection: close\r\n";
            write!(stream, "{head}content-length: {}\r\n\r\n{answer}", answer.len()).unwrap();
        }
    });
    (url, server)
}

fn place(url: &str, more: &str, rows: usize) -> tempfile::TempDir {
    let place = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| {
        std::fs::File::create(place.path().join(name)).unwrap().write_all(text.as_bytes()).unwrap();
    };
    let config = format!(
        "version = 1\n[judges.local]\nurl = '{url}'\nmodel = 'm'\nin_flight_max = 1\nretries = 0\n{more}\n\
         [[reward]]\nname = 'q'\nverifier = 'rubric'\n\
         config = {{ judge = 'local', rubric = {{ criterion = [{{ name = 'a', text = 'is good' }}] }} }}\n"
    );
    write("a.toml", &config);
    let rows: Vec<String> =
        (0..rows).map(|at| format!(r#"{{"id":"{at}","completion":"c{at}"}}"#)).collect();
    write("d.jsonl", &rows.join("\n"));
    place
}

fn verdicts(place: &Path, run: &str) -> Vec<u8> {
    std::fs::read(place.join(run).join("verdicts.jsonl")).unwrap()
}

#[test]
fn a_recorded_run_is_replayed_without_its_server() {
    let (url, server) = serve(5);
    let place = place(&url, "", 5);
    let place = place.path();
    let score = ["score", "a.toml", "d.jsonl", "-q", "--judge-store", "store", "-o"];
    let recorded = assay(place, &[&score[..], &["one"]].concat());
    assert!(recorded.status.success(), "{}", String::from_utf8_lossy(&recorded.stderr));
    // Every connection was accepted: a further one would be refused.
    server.join().unwrap();
    let replayed = assay(place, &[&score[..], &["two", "--replay"]].concat());
    assert!(replayed.status.success(), "{}", String::from_utf8_lossy(&replayed.stderr));
    assert_eq!(verdicts(place, "one"), verdicts(place, "two"));
    // Recording again asks nothing either.
    let again = assay(place, &[&score[..], &["three"]].concat());
    assert!(again.status.success(), "{}", String::from_utf8_lossy(&again.stderr));
    assert_eq!(verdicts(place, "one"), verdicts(place, "three"));
}

#[test]
fn a_spent_budget_stops_a_run_in_order_and_it_goes_on() {
    let (url, server) = serve(6);
    let place = place(&url, "budget_calls = 3", 6);
    let place = place.path();
    let score = ["score", "a.toml", "d.jsonl", "-q", "-o", "run"];
    let first = assay(place, &score);
    let told = String::from_utf8_lossy(&first.stderr).into_owned();
    assert_eq!(first.status.code(), Some(1), "{told}");
    assert!(told.contains("budget"), "{told}");
    let written = String::from_utf8(verdicts(place, "run")).unwrap();
    assert!(written.lines().count() <= 3 && !written.contains("failed"), "{written}");
    let second = assay(place, &score);
    assert!(matches!(second.status.code(), Some(0 | 1)), "{second:?}");
    let third = assay(place, &score);
    assert!(third.status.success(), "{}", String::from_utf8_lossy(&third.stderr));
    server.join().unwrap();
    let ids: Vec<Value> = String::from_utf8(verdicts(place, "run"))
        .unwrap()
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap()["id"].clone())
        .collect();
    assert_eq!(ids, ["0", "1", "2", "3", "4", "5"]);
}

#[test]
fn a_dry_run_asks_nobody_and_writes_nothing() {
    let place = place("http://127.0.0.1:9/v1", "", 4);
    let output = assay(place.path(), &["score", "a.toml", "d.jsonl", "-q", "--dry-run", "--json"]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(report["judges"]["local"]["calls"], 4);
    assert!(report["judges"]["local"]["tokens"].as_u64().unwrap() > 400, "{report}");
    let left = std::fs::read_dir(place.path()).unwrap().count();
    assert!(left <= 3, "{left} files");
}
