//! An engine inside other programs: made, called and dropped in any runtime and on any thread, with
//! callers that leave, deadlines, and more samples than there is room for.

#![allow(clippy::disallowed_methods, reason = "a test stops at what it does not expect")]

use std::io::Cursor;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use crate::support::{Seen, builder, engine, registry, rows, whole};
use assay::data::{ReadLimits, Source};
use assay::engine::config::RewardConfig;
use assay::engine::runs::write_atomic;
use assay::engine::{CancellationToken, Ended};
use assay::verifiers::{FaultKind, Outcome, Reward, Sample, Schedule, Scored, Verdict};
use assay::{Config, Engine, EngineError, ScoreOptions};
use tokio::runtime::{Builder, Runtime};
use tokio::sync::Semaphore;

const HELD: &str = "[[reward]]\nname = 'held'\nverifier = 'held'\n";
const ENDLESS: &str = "[[reward]]\nname = 'endless'\nverifier = 'endless'\n";
const EXACT: &str = "[[reward]]\nname = 'exact'\nverifier = 'exact'\n";

fn one_thread() -> Runtime {
    Builder::new_current_thread().enable_all().build().unwrap()
}

fn workers(count: usize) -> Runtime {
    Builder::new_multi_thread().worker_threads(count).enable_all().build().unwrap()
}

fn samples(count: usize) -> Vec<Sample> {
    (0..count).map(|at| Sample::builder("4").reference("4").id(at.to_string()).build()).collect()
}

fn fault(scored: &Scored) -> FaultKind {
    match &scored.outcome {
        Outcome::Failed(fault) => fault.kind,
        other => panic!("{other:?}"),
    }
}

/// Waits until something holds; a test that waits in vain fails and does not hang.
fn eventually(what: &str, holds: impl Fn() -> bool) {
    for _ in 0..6000 {
        if holds() {
            return;
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    panic!("{what}: never");
}

fn is(count: &AtomicUsize, wanted: usize) -> bool {
    count.load(Ordering::SeqCst) == wanted
}

#[test]
fn it_is_made_used_and_dropped_inside_any_runtime() {
    for runtime in [one_thread(), workers(1), workers(3)] {
        runtime.block_on(async {
            let engine = engine(&format!("{EXACT}{HELD}"), registry(&Arc::default()), 2);
            // Blocking calls do not panic there either.
            let empty = engine.score(Vec::new());
            assert!(empty.is_empty());
            let scored = engine.score_async(samples(0), ScoreOptions::default()).await;
            assert!(scored.is_empty());
            drop(engine);
            let engine = Engine::builder().build();
            assert!(engine.is_err_and(|error| error.to_string().contains("no [[reward]]")));
        });
    }
}

#[test]
fn an_engine_opens_a_file_and_the_files_beside_it() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("assay.toml");
    let text = "version = 1\n[[reward]]\nname = 'own'\nverifier = 'rhai'\nconfig = { file = 'own.rhai' }\n";
    write_atomic(&path, text.as_bytes()).unwrap();
    write_atomic(&folder.path().join("own.rhai"), b"completion == reference").unwrap();
    let engine = Engine::open(&path).unwrap();
    let scored = engine.score(samples(2));
    assert_eq!(scored[1].verdict("own").unwrap().outcome.reward(), Some(Reward::ONE));
    let told = |path: &std::path::Path| Engine::open(path).err().unwrap().to_string();
    let missing = folder.path().join("none.toml");
    assert!(told(&missing).contains("none.toml"), "{}", told(&missing));
    write_atomic(&path, text.replace("rhai'\n", "rhia'\n").as_bytes()).unwrap();
    assert!(told(&path).contains("no verifier is called \"rhia\""), "{}", told(&path));
}

#[test]
fn an_engine_is_built_of_a_typed_configuration() {
    let mut config = Config::default();
    config.rewards.push(RewardConfig {
        weight: Schedule::try_from(0.5).unwrap(),
        ..RewardConfig::new("right", "exact")
    });
    let engine = Engine::builder().config(config.clone()).build().unwrap();
    assert_eq!(engine.score(samples(1))[0].reward(), Some(0.5));
    config.rewards[0].verifier = "exat".to_owned();
    let Err(EngineError::Config(error)) = Engine::builder().config(config).build() else {
        panic!("it was built")
    };
    assert!(error.help.as_deref().unwrap().starts_with("did you mean \"exact\"?"), "{error:?}");
    assert!(error.text()[error.span().unwrap()].contains("verifier"), "{error:?}");
}

#[test]
fn awaiting_a_score_leaves_the_runtime_to_others() {
    let seen = Arc::new(Seen::default());
    let engine = Arc::new(engine(HELD, registry(&seen), 1));
    // One thread for both: the call is answered only if it gives the thread up.
    one_thread().block_on(async {
        let call = engine.score_async(samples(3), ScoreOptions::default());
        let release = async {
            while !is(&seen.in_flight, 3) {
                tokio::task::yield_now().await;
            }
            seen.release.notify_waiters();
        };
        let (scored, ()) = tokio::join!(call, release);
        assert_eq!(scored.iter().map(Scored::reward).collect::<Vec<_>>(), [Some(1.0); 3]);
    });
}

#[test]
fn a_blocking_score_on_a_worker_hands_its_other_tasks_on() {
    let seen = Arc::new(Seen::default());
    let engine = Arc::new(engine(HELD, registry(&seen), 1));
    let runtime = workers(1);
    let scored = runtime.block_on(async {
        let (own, watch) = (Arc::clone(&engine), Arc::clone(&seen));
        let blocked = tokio::spawn(async move { own.score(samples(1)) });
        tokio::spawn(async move {
            while !is(&watch.in_flight, 1) {
                tokio::task::yield_now().await;
            }
            watch.release.notify_waiters();
        });
        blocked.await.unwrap()
    });
    assert_eq!(scored[0].reward(), Some(1.0));
}

#[test]
fn a_stream_runs_inside_a_runtime() {
    for runtime in [one_thread(), workers(1)] {
        let text = format!("{EXACT}[[reward]]\nname = 'awaited'\nverifier = 'awaited'\n");
        let engine = engine(&text, registry(&Arc::default()), 2);
        let source =
            Source::stream("t", Cursor::new(rows(500, 200)), &ReadLimits::default()).unwrap();
        let lines = runtime.block_on(async { crate::support::lines(&engine, source) });
        assert_eq!(std::str::from_utf8(&lines).unwrap().lines().count(), 500);
    }
}

#[test]
fn a_call_that_is_dropped_is_given_up_in_both_lanes() {
    let seen = Arc::new(Seen::default());
    let engine = engine(&format!("{HELD}{ENDLESS}"), registry(&seen), 2);
    let call = engine.score_async(samples(5), ScoreOptions::default());
    one_thread().block_on(async {
        let started = async {
            while seen.spinning.load(Ordering::SeqCst) == 0 || is(&seen.in_flight, 0) {
                tokio::time::sleep(Duration::from_millis(1)).await;
            }
        };
        tokio::select! {
            _ = call => panic!("nothing answers this call"),
            () = started => {}
        }
    });
    eventually("verifiers that run stop", || is(&seen.spinning, 0));
    eventually("what was awaited is given up", || is(&seen.in_flight, 0));
    assert!(is(&seen.awaited, 0), "nothing was answered");
    assert!(seen.computed.load(Ordering::SeqCst) <= 5);
    // The engine lives on.
    let options = ScoreOptions { deadline: Some(Duration::from_millis(20)), ..Default::default() };
    let scored = pollster::block_on(engine.score_async(samples(1), options));
    assert_eq!(fault(&scored[0]), FaultKind::Timeout);
}

#[test]
fn deadlines_fire_in_both_lanes() {
    for text in [HELD, ENDLESS] {
        let seen = Arc::new(Seen::default());
        let engine = engine(text, registry(&seen), 2);
        let deadline = Some(Duration::from_millis(30));
        let options = ScoreOptions { deadline, ..ScoreOptions::default() };
        let scored = pollster::block_on(engine.score_async(samples(40), options));
        assert_eq!(scored.len(), 40);
        assert!(scored.iter().all(|one| fault(one) == FaultKind::Timeout));
        let ids: Vec<String> = (0..40).map(|at| at.to_string()).collect();
        assert_eq!(scored.iter().map(|one| one.id.clone()).collect::<Vec<_>>(), ids);
        eventually("nothing runs on", || is(&seen.spinning, 0) && is(&seen.in_flight, 0));
    }
}

#[test]
fn the_deadline_of_a_verdict_fires_without_more_settings() {
    for text in [HELD, ENDLESS] {
        let engine =
            engine(&format!("{text}[limits]\ndeadline_ms = 20\n"), registry(&Arc::default()), 2);
        assert_eq!(fault(&engine.score(samples(1))[0]), FaultKind::Timeout);
    }
}

#[test]
fn the_intake_is_bounded_and_waits_or_says_so() {
    let seen = Arc::new(Seen::default());
    let engine = builder(HELD, registry(&seen)).jobs(1).intake_rows(2).build().unwrap();
    let hasty = ScoreOptions { wait: false, ..ScoreOptions::default() };
    one_thread().block_on(async {
        let first = tokio::spawn(engine.score_async(samples(2), ScoreOptions::default()));
        while !is(&seen.in_flight, 2) {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        let refused = engine.score_async(samples(1), hasty.clone()).await;
        assert_eq!(fault(&refused[0]), FaultKind::Overloaded);
        let waiting = tokio::spawn(engine.score_async(samples(1), ScoreOptions::default()));
        seen.release.notify_waiters();
        assert_eq!(first.await.unwrap().len(), 2);
        while !is(&seen.in_flight, 1) {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        seen.release.notify_waiters();
        assert_eq!(waiting.await.unwrap()[0].reward(), Some(1.0));
        // A call larger than all the room there is runs when it is alone.
        let large = tokio::spawn(engine.score_async(samples(5), hasty));
        while !is(&seen.in_flight, 5) {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        seen.release.notify_waiters();
        assert_eq!(large.await.unwrap().len(), 5);
    });
}

#[test]
fn an_engine_that_is_dropped_answers_its_callers() {
    for text in [HELD, ENDLESS] {
        let seen = Arc::new(Seen::default());
        let engine = engine(text, registry(&seen), 2);
        one_thread().block_on(async {
            let call = tokio::spawn(engine.score_async(samples(3), ScoreOptions::default()));
            while is(&seen.in_flight, 0) && is(&seen.spinning, 0) {
                tokio::time::sleep(Duration::from_millis(1)).await;
            }
            drop(engine);
            let scored = call.await.unwrap();
            assert!(scored.iter().all(|one| one.reward().is_none()), "{scored:?}");
        });
        eventually("nothing runs on", || is(&seen.spinning, 0) && is(&seen.in_flight, 0));
    }
}

#[test]
fn a_reward_is_asked_alone_within_the_guard_of_the_engine() {
    let text = "[[reward]]\nname = 'a'\nverifier = 'panics'\nwhen = 'false'\n\
                [[reward]]\nname = 'b'\nverifier = 'panics_awaited'\n\
                [[reward]]\nname = 'c'\nverifier = 'longest'\n";
    let engine = engine(text, registry(&Arc::default()), 1);
    let (fine, boom) = (Sample::builder("fine").build(), Sample::builder("boom").build());
    for reward in [0, 1] {
        let verdict = engine.verify_alone(reward, &fine).unwrap();
        assert_eq!(verdict, Verdict::graded(true), "no `when` is asked");
        let verdict = engine.verify_alone(reward, &boom).unwrap();
        let Outcome::Failed(fault) = verdict.outcome else { panic!("{verdict:?}") };
        assert_eq!(fault.kind, FaultKind::Internal);
    }
    assert!(engine.verify_alone(2, &fine).is_none() && engine.verify_alone(3, &fine).is_none());
}

#[test]
fn engines_live_side_by_side_on_many_threads() {
    let lines = |jobs| {
        let engine = engine(EXACT, registry(&Arc::default()), jobs);
        let source =
            Source::stream("t", Cursor::new(rows(300, 100)), &ReadLimits::default()).unwrap();
        crate::support::lines(&engine, source)
    };
    let expected = lines(1);
    std::thread::scope(|scope| {
        for jobs in [1, 2, 3, 4] {
            let (lines, expected) = (&lines, &expected);
            scope.spawn(move || assert!(lines(jobs) == *expected, "{jobs} threads"));
        }
    });
}

#[test]
fn slow_rows_are_handed_on_one_by_one() {
    let release = Arc::new(Semaphore::new(0));
    let waits = Arc::clone(&release);
    let text = "[[reward]]\nname = 'a'\nverifier = 'waits'\n";
    let engine = builder(text, registry(&Arc::default()))
        .async_verifier("waits", 64, move |sample| {
            let waits = Arc::clone(&waits);
            async move {
                // Every row but the first is answered once the first was handed on.
                let last = Duration::from_secs(30);
                let answered = sample.id() == "s0"
                    || tokio::time::timeout(last, waits.acquire()).await.is_ok();
                Verdict::graded(answered)
            }
        })
        .build()
        .unwrap();
    let source = Source::stream("t", Cursor::new(rows(8, 100)), &ReadLimits::default()).unwrap();
    let (mut batches, mut out) = (0, Vec::new());
    let ended = engine.stream(source, whole(), &CancellationToken::new(), |batch| {
        batches += 1;
        out.extend_from_slice(&batch.verdicts);
        release.add_permits(8);
        Ok::<(), std::io::Error>(())
    });
    assert_eq!(ended.unwrap(), Ended::EndOfData);
    assert_eq!(batches, 8, "a batch a row");
    assert_eq!(String::from_utf8(out).unwrap().matches("\"reward\":1.0,\"verdicts\"").count(), 8);
}

#[test]
fn a_stream_that_is_stopped_gives_up_what_runs() {
    for text in [HELD, ENDLESS] {
        let seen = Arc::new(Seen::default());
        let engine = engine(text, registry(&seen), 2);
        let source =
            Source::stream("t", Cursor::new(rows(12, 100)), &ReadLimits::default()).unwrap();
        let stop = CancellationToken::new();
        let ended = std::thread::scope(|scope| {
            scope.spawn(|| {
                let runs = || !is(&seen.in_flight, 0) || !is(&seen.spinning, 0);
                eventually("something runs", runs);
                stop.cancel();
            });
            engine.stream(source, whole(), &stop, |_| Ok::<(), std::io::Error>(()))
        });
        assert_eq!(ended.unwrap(), Ended::Stopped);
        eventually("nothing runs on", || is(&seen.spinning, 0) && is(&seen.in_flight, 0));
        assert!(seen.computed.load(Ordering::SeqCst) < 12, "no more rows were handed out");
    }
}

#[test]
fn verdicts_of_own_verifiers_are_kept_only_where_the_configuration_says_so() {
    let folder = tempfile::tempdir().unwrap();
    let asked = Arc::new(AtomicUsize::new(0));
    let score = |settings: &str| {
        let asked = Arc::clone(&asked);
        let text = format!("[[reward]]\nname = 'a'\nverifier = 'own'\n{settings}\n");
        let engine = builder(&text, registry(&Arc::default()))
            .cache_dir(folder.path().to_owned())
            .async_verifier("own", 1, move |_| {
                asked.fetch_add(1, Ordering::Relaxed);
                async { Verdict::graded(true) }
            })
            .build()
            .unwrap();
        assert_eq!(engine.score([Sample::builder("a").build()])[0].reward(), Some(1.0));
    };
    // Nobody says that a closure is another one than in the run before.
    for _ in 0..2 {
        score("");
    }
    for _ in 0..2 {
        score("cache = true");
    }
    assert_eq!(asked.load(Ordering::Relaxed), 3);
}
