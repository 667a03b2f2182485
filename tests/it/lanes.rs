//! Two lanes side by side: awaited work stays under its permits, groups are judged whole in either
//! lane, and no lane changes what another finds.

#![allow(clippy::print_stdout, reason = "a test stops at what it does not expect")]

use std::sync::Arc;
use std::sync::atomic::Ordering;

use crate::support::{PERMITS, Seen, builder, engine, lines, registry, rows};
use assay::ScoreOptions;
use assay::data::{ReadLimits, Source};
use assay::verifiers::code::Code;
use assay::verifiers::{FaultKind, Message, Outcome, Reward, Sample, Scored, Verdict};

const BUSY: &str = "[[reward]]\nname = 'busy'\nverifier = 'busy'\n";
const AWAITED: &str = "[[reward]]\nname = 'awaited'\nverifier = 'awaited'\n";

fn run(text: &str, data: &str, jobs: usize) -> (Vec<u8>, Arc<Seen>) {
    let seen = Arc::new(Seen::default());
    let engine = engine(text, registry(&seen), jobs);
    let source =
        Source::stream("t", std::io::Cursor::new(data.to_owned()), &ReadLimits::default()).unwrap();
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
    let data = rows(600, 300);
    let (mixed, seen) = run(&format!("{BUSY}{AWAITED}"), &data, 2);
    for (name, text) in [("busy", BUSY), ("awaited", AWAITED)] {
        let (alone, _) = run(text, &data, 1);
        assert_eq!(verdicts(&mixed, name), verdicts(&alone, name), "{name}");
    }
    assert_eq!(seen.awaited.load(Ordering::SeqCst), 600);
    let most = seen.in_flight_most.load(Ordering::SeqCst);
    assert!((1..=PERMITS).contains(&most), "{most} in flight under {PERMITS} permits");
}

#[test]
fn a_verifier_that_panics_costs_its_verdict_and_not_the_run() {
    for verifier in ["panics", "panics_awaited"] {
        let text = format!("[[reward]]\nname = 'a'\nverifier = '{verifier}'\n");
        let engine = engine(&text, registry(&Arc::default()), 2);
        for prompt in ["at once", "later"] {
            let samples =
                ["fine", "boom", "fine"].map(|text| Sample::builder(text).prompt(prompt).build());
            let scored = engine.score(samples);
            assert!(scored[0].reward().is_some() && scored[2].reward().is_some());
            let Outcome::Failed(fault) = &scored[1].outcome else { panic!("{:?}", scored[1]) };
            assert_eq!(fault.kind, FaultKind::Internal);
            assert!(fault.why.contains("it went boom"), "{fault}");
        }
    }
}

#[test]
fn a_gate_that_failed_spends_nothing_more() {
    let seen = Arc::new(Seen::default());
    let text = "[[reward]]\nname = 'costly'\nverifier = 'busy'\n\
                [[reward]]\nname = 'shape'\nverifier = 'exact'\n\
                [combine]\nhow = 'gate'\ngates = ['shape']\n";
    let engine = engine(text, registry(&seen), 1);
    let sample = |text: &str| Sample::builder(text).reference("4").build();
    let scored = engine.score(vec![sample("5"), sample("4"), sample("6")]);
    assert_eq!(seen.computed.load(Ordering::Relaxed), 1);
    assert_eq!(scored[0].reward(), Some(0.0));
    let costly = |at: usize| &scored[at].verdict("costly").unwrap().outcome;
    assert!(matches!(costly(0), Outcome::Abstained(why) if why.contains("shape")));
    assert_eq!(scored[1].outcome.reward(), costly(1).reward());
}

#[test]
fn when_sees_the_sample_and_earlier_verdicts() {
    let seen = Arc::new(Seen::default());
    let text = "[[reward]]\nname = 'right'\nverifier = 'exact'\n\
                [[reward]]\nname = 'second'\nverifier = 'awaited'\n\
                when = 'rewards.right == 1.0 && meta.kind == \"code\"'\n";
    let engine = engine(text, registry(&seen), 1);
    let sample = |text: &str, kind: &str| {
        let meta = serde_json::json!({ "kind": kind }).as_object().unwrap().clone();
        Sample::builder(text).reference("4").meta(meta).build()
    };
    let scored = engine.score(vec![sample("4", "code"), sample("4", "math"), sample("5", "code")]);
    let names: Vec<&str> =
        scored.iter().map(|one| one.verdict("second").unwrap().outcome.name()).collect();
    assert_eq!(names, ["scored", "abstained", "abstained"]);
    assert_eq!(seen.awaited.load(Ordering::SeqCst), 1);
}

#[test]
fn groups_are_judged_whole_wherever_blocks_are_cut() {
    for verifier in ["longest", "longest_awaited"] {
        let text = format!(
            "[data]\ngroup = 'prompt_id'\n[[reward]]\nname = 'longest'\nverifier = '{verifier}'\n"
        );
        let (out, seen) = run(&text, &rows(1002, 300), 2);
        assert_eq!(verdicts(&out, "longest").len(), 1002);
        let groups = seen.groups.lock().unwrap();
        assert_eq!(groups.iter().filter(|group| group.len() == 4).count(), 250, "{verifier}");
        assert_eq!(groups.iter().filter(|group| group.len() == 2).count(), 1, "{verifier}");
    }
}

#[test]
fn a_group_does_not_see_members_that_a_gate_ruled_out() {
    for verifier in ["longest", "longest_awaited"] {
        let seen = Arc::new(Seen::default());
        let text = format!(
            "[[reward]]\nname = 'right'\nverifier = 'exact'\n\
             [[reward]]\nname = 'longest'\nverifier = '{verifier}'\n[combine]\nhow = 'gate'\n"
        );
        let engine = engine(&text, registry(&seen), 1);
        let sample =
            |id: &str, text: &str| Sample::builder(text).id(id).reference("4").group("g").build();
        let scored = engine.score([
            sample("a", "4"),
            sample("b", "much longer, and wrong"),
            sample("c", "so\n4"),
        ]);
        assert_eq!(*seen.groups.lock().unwrap(), [["a", "c"]], "{verifier}");
        let rewards: Vec<Option<f64>> = scored.iter().map(Scored::reward).collect();
        assert_eq!(rewards, [Some(0.0), Some(0.0), Some(1.0)], "{verifier}");
        let ruled_out = &scored[1].verdict("longest").unwrap().outcome;
        assert!(matches!(ruled_out, Outcome::Abstained(why) if why.contains("gate")));
    }
}

#[test]
fn closures_are_verifiers_and_see_the_verdicts_before_them() {
    let text = "[[reward]]\nname = 'slow'\nverifier = 'later'\n\
                [[reward]]\nname = 'right'\nverifier = 'exact'\n\
                [[reward]]\nname = 'both'\nverifier = 'all_before'\nweight = 10.0\n\
                [[reward]]\nname = 'script'\nverifier = 'rhai'\nweight = 100.0\n\
                config = { script = 'rewards.slow + rewards.right + rewards.both' }\n";
    let engine = builder(text, registry(&Arc::default()))
        .async_verifier("later", 2, |sample| async move {
            tokio::time::sleep(std::time::Duration::from_millis(1)).await;
            Verdict::graded(sample.completion().len() > 1)
        })
        .verifier("all_before", |_, earlier| {
            let names: Vec<&str> = earlier.iter().map(|(name, _)| name).collect();
            assert_eq!(names, ["slow", "right"]);
            let right =
                |name| earlier.get(name).is_some_and(|v| v.outcome.reward() == Some(Reward::ONE));
            Verdict::graded(right("slow") && right("right"))
        })
        .build()
        .unwrap();
    let sample = |text: &str| Sample::builder(text).reference("42").build();
    let rewards: Vec<_> =
        engine.score([sample("42"), sample("4")]).iter().map(Scored::reward).collect();
    assert_eq!(rewards, [Some(1.0 + 1.0 + 10.0 + 300.0), Some(0.0)]);
    let odd = builder(
        "[[reward]]\nname = 'a'\nverifier = 'c'\nconfig = { x = 1 }\n",
        registry(&Arc::default()),
    )
    .verifier("c", |_, _| Verdict::graded(true))
    .build();
    assert!(odd.is_err_and(|error| error.code() == Code::UnknownKey));
}

#[test]
fn what_is_kept_depends_on_the_verdicts_that_were_read() {
    let dir = tempfile::tempdir().unwrap();
    let text = |verifier: &str| {
        format!(
            "[[reward]]\nname = 'first'\nverifier = '{verifier}'\n\
             [[reward]]\nname = 'second'\nverifier = 'rhai'\ncache = true\nweight = 0.0\n\
             config = {{ script = 'rewards.first' }}\n"
        )
    };
    for (verifier, expected) in [("exact", 1.0), ("busy", 0.0), ("exact", 1.0)] {
        let engine = builder(&text(verifier), registry(&Arc::default()))
            .verifier("busy", |_, _| Verdict::graded(false))
            .cache_dir(dir.path().to_owned())
            .build()
            .unwrap();
        let scored = engine.score([Sample::builder("4").reference("4").build()]);
        let second = scored[0].verdict("second").unwrap().outcome.reward();
        assert_eq!(second, Reward::new(expected), "{verifier}");
    }
}

#[test]
fn the_turn_that_is_judged_is_a_setting_and_each_turn_is_a_step() {
    let turns = ["last_assistant", "first_assistant", "each_assistant", "last"];
    let reward =
        |turn: &str| format!("[[reward]]\nname = '{turn}'\nverifier = 'exact'\nturn = '{turn}'\n");
    let text: String = turns.iter().map(|turn| reward(turn)).collect::<String>()
        + "[[reward]]\nname = 'third'\nverifier = 'exact'\nturn = 3\n";
    let engine = engine(&text, registry(&Arc::default()), 1);
    let message = |role: &str, text: &str| Message::new(role, text);
    let sample = Sample::builder(vec![
        message("assistant", "5"),
        message("tool", "7"),
        message("assistant", "4"),
        message("user", "thanks"),
    ]);
    let scored = engine.score([sample.reference("4").build()]);
    let rewards: Vec<Option<f64>> = scored[0]
        .verdicts
        .iter()
        .map(|(_, verdict)| verdict.outcome.reward().map(Reward::get))
        .collect();
    assert_eq!(rewards, [Some(1.0), Some(0.0), Some(0.5), Some(0.0), Some(0.0)]);
    let steps = &scored[0].verdict("each_assistant").unwrap().steps;
    let steps: Vec<_> =
        steps.iter().map(|step| (step.turn, step.span, step.reward.get())).collect();
    assert_eq!(steps, [(Some(0), (0, 1), 0.0), (Some(2), (0, 1), 1.0)]);
}

#[test]
fn what_is_kept_of_one_turn_is_not_taken_for_another() {
    let dir = tempfile::tempdir().unwrap();
    let sample =
        Sample::builder(vec![Message::new("assistant", "5"), Message::new("assistant", "4")])
            .reference("4")
            .build();
    for (turn, expected) in
        [("last_assistant", 1.0), ("first_assistant", 0.0), ("each_assistant", 0.5)]
    {
        let text =
            format!("[[reward]]\nname = 'a'\nverifier = 'exact'\ncache = true\nturn = '{turn}'\n");
        let builder = builder(&text, registry(&Arc::default()));
        let engine = builder.cache_dir(dir.path().to_owned()).build().unwrap();
        for kept in [false, true] {
            assert_eq!(engine.is_kept(0, &sample), Some(kept), "{turn}");
            assert_eq!(engine.score([sample.clone()])[0].reward(), Some(expected), "{turn}");
        }
    }
}

#[test]
fn a_reward_is_held_to_the_version_of_its_verifier() {
    let built = |pin: u32| {
        let text = format!("[[reward]]\nname = 'a'\nverifier = 'math'\npin = {pin}\n");
        builder(&text, registry(&Arc::default())).build().map(|_| ())
    };
    let version = assay::verifiers::registry::find("math").unwrap().about.version;
    assert!(built(version).is_ok());
    let Err(assay::EngineError::Config(error)) = built(version - 1) else { panic!("it was built") };
    assert!(error.message.contains("pinned to version"), "{error}");
    let help = error.help.clone().unwrap();
    assert!(help.contains(&format!("version {version}: ")), "{help}");
    assert!(error.span().is_some());
}

#[test]
fn the_training_step_is_seen_by_conditions_and_by_the_combination() {
    let text = "[[reward]]\nname = 'right'\nverifier = 'exact'\n\
                [[reward]]\nname = 'format'\nverifier = 'exact'\nwhen = 'step < 10'\n\
                [combine]\nhow = 'expression'\nexpression = 'right + step * 100 + (format ?? 0.0)'\n";
    let engine = engine(text, registry(&Arc::default()), 1);
    let sample = Sample::builder("4").reference("4").build();
    let at = |step| {
        let options = ScoreOptions { step, ..ScoreOptions::default() };
        pollster::block_on(engine.score_async(vec![sample.clone()], options))[0].reward()
    };
    assert_eq!([at(0), at(9), at(10)], [Some(2.0), Some(902.0), Some(1001.0)]);
}
