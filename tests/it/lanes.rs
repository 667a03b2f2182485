//! Three lanes side by side: batches fill up from all callers, remote work stays under its
//! permits, and no lane changes what another finds.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::print_stdout,
    reason = "a test stops at what it does not expect"
)]

use std::sync::Arc;
use std::sync::atomic::Ordering;

use crate::support::{Seen, engine, lines, registry, rows};
use assay::data::{Limits, Source};
use assay::verifiers::{FaultKind, Outcome, Reward, Sample};

const BUSY: &str = "[[reward]]\nname = 'busy'\nverifier = 'busy'\n";
const BATCHED: &str = "[[reward]]\nname = 'batched'\nverifier = 'batched'\n";
const SLOW: &str = "[[reward]]\nname = 'slow'\nverifier = 'slow'\n";

fn run(text: &str, data: &str, jobs: usize) -> (Vec<u8>, Arc<Seen>) {
    let seen = Arc::new(Seen::default());
    let engine = engine(text, &registry(&seen), jobs);
    let source =
        Source::stream("t", std::io::Cursor::new(data.to_owned()), &Limits::default()).unwrap();
    (lines(&engine, source), seen)
}

/// The verdict of one reward, line by line.
fn verdicts(out: &[u8], name: &str) -> Vec<serde_json::Value> {
    let lines = std::str::from_utf8(out).unwrap().lines();
    let parse = |line: &str| serde_json::from_str::<serde_json::Value>(line).unwrap();
    lines.map(|line| parse(line)["verdicts"][name].clone()).collect()
}

#[test]
fn lanes_side_by_side_give_what_each_gives_alone() {
    let data = rows(2000, 300);
    let (mixed, seen) = run(&format!("{BUSY}{BATCHED}{SLOW}"), &data, 2);
    for (name, text) in [("busy", BUSY), ("batched", BATCHED), ("slow", SLOW)] {
        let (alone, _) = run(text, &data, 1);
        assert_eq!(verdicts(&mixed, name), verdicts(&alone, name), "{name}");
    }
    assert_eq!(seen.in_flight_most.load(Ordering::SeqCst), 64, "every permit was used, none twice");
    let batches = seen.batches.lock().unwrap();
    let judged: usize = batches.iter().map(Vec::len).sum();
    assert_eq!(judged, 2000);
    assert!(batches.iter().all(|batch| batch.len() <= 32));
    assert!(batches.len() < 100, "{} batches of at most 32 for 2000 rows", batches.len());
}

#[test]
fn one_queue_sees_the_rows_of_all_callers() {
    let seen = Arc::new(Seen::default());
    let engine = engine(BATCHED, &registry(&seen), 2);
    std::thread::scope(|scope| {
        for caller in 0..16 {
            let engine = &engine;
            scope.spawn(move || {
                let id = |at| format!("{caller}-{at}");
                let samples = (0..8).map(|at| Sample::builder("x").id(id(at)).build()).collect();
                let scored = engine.score(samples);
                assert!(scored.iter().all(|scored| scored.outcome.reward().is_some()));
            });
        }
    });
    let batches = seen.batches.lock().unwrap();
    let callers = |batch: &Vec<String>| {
        let mut callers: Vec<&str> = batch.iter().map(|id| id.split('-').next().unwrap()).collect();
        callers.dedup();
        callers.len()
    };
    assert!(batches.iter().any(|batch| callers(batch) > 1), "{batches:?}");
}

#[test]
fn a_verifier_that_panics_costs_its_verdict_and_not_the_run() {
    let text = "[[reward]]\nname = 'a'\nverifier = 'panics'\n";
    let engine = engine(text, &registry(&Arc::default()), 2);
    let samples = ["fine", "boom", "fine"].map(|text| Sample::builder(text).build()).to_vec();
    let scored = engine.score(samples);
    assert!(scored[0].outcome.reward().is_some() && scored[2].outcome.reward().is_some());
    let Outcome::Failed(fault) = &scored[1].outcome else { panic!("{:?}", scored[1]) };
    assert_eq!(fault.kind, FaultKind::Internal);
    assert!(fault.why.contains("it went boom"), "{fault}");
}

#[test]
fn a_gate_that_failed_spends_nothing_more() {
    let seen = Arc::new(Seen::default());
    let text = "[[reward]]\nname = 'costly'\nverifier = 'busy'\n\
                [[reward]]\nname = 'shape'\nverifier = 'exact'\n\
                [combine]\nhow = 'gate'\ngates = ['shape']\n";
    let engine = engine(text, &registry(&seen), 1);
    let sample = |text: &str| Sample::builder(text).reference("4").build();
    let scored = engine.score(vec![sample("5"), sample("4"), sample("6")]);
    assert_eq!(seen.computed.load(Ordering::Relaxed), 1);
    assert_eq!(scored[0].outcome.reward(), Some(Reward::ZERO));
    assert!(
        matches!(&scored[0].verdicts[0].outcome, Outcome::Abstained(why) if why.contains("shape"))
    );
    assert_eq!(scored[1].outcome.reward(), scored[1].verdicts[0].outcome.reward());
}

#[test]
fn when_sees_the_sample_and_earlier_verdicts() {
    let seen = Arc::new(Seen::default());
    let text = "[[reward]]\nname = 'right'\nverifier = 'exact'\n\
                [[reward]]\nname = 'second'\nverifier = 'batched'\n\
                when = 'rewards.right == 1.0 && meta.kind == \"code\"'\n";
    let engine = engine(text, &registry(&seen), 1);
    let sample = |text: &str, kind: &str| {
        let meta = serde_json::json!({ "kind": kind }).as_object().unwrap().clone();
        Sample::builder(text).reference("4").meta(meta).build()
    };
    let scored = engine.score(vec![sample("4", "code"), sample("4", "math"), sample("5", "code")]);
    let names: Vec<&str> = scored.iter().map(|s| s.verdicts[1].outcome.name()).collect();
    assert_eq!(names, ["scored", "abstained", "abstained"]);
    assert_eq!(seen.batches.lock().unwrap().len(), 1);
}

#[test]
fn groups_are_judged_whole_wherever_blocks_are_cut() {
    let text = "[data]\ngroup = 'prompt_id'\n[[reward]]\nname = 'longest'\nverifier = 'longest'\n";
    let (out, seen) = run(text, &rows(1002, 300), 2);
    assert_eq!(verdicts(&out, "longest").len(), 1002);
    let groups = seen.groups.lock().unwrap();
    assert_eq!(groups.iter().filter(|size| **size == 4).count(), 250);
    assert_eq!(groups.iter().filter(|size| **size == 2).count(), 1);
}
