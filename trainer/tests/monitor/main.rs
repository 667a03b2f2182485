//! The hack monitor over simulated trainings, honest ones and hacked ones.

#![expect(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "counts are small"
)]

mod simulated;

use assay_trainer::monitor::{Alarm, HackMonitor, MonitorConfig, MonitorWarning};
use simulated::{Draws, Pays, Setup, Training};

/// What became of a run.
struct Run {
    warnings: Vec<MonitorWarning>,
    /// The step before which accuracy was still within five points of its best.
    lost_at: Option<u64>,
    first: f64,
    best: f64,
    last: f64,
}

fn run(setup: Setup, steps: u64) -> Run {
    run_with(setup, steps, MonitorConfig::default())
}

fn run_with(setup: Setup, steps: u64, config: MonitorConfig) -> Run {
    let mut training = Training::new(setup);
    let mut monitor = HackMonitor::new(config).unwrap();
    let first = training.accuracy();
    let mut run = Run { warnings: Vec::new(), lost_at: None, first, best: first, last: first };
    run.warnings.extend(monitor.on_evaluation(&training.evaluate()));
    for step in 1..=steps {
        let report = training.train_step();
        run.warnings.extend(monitor.on_step(&report));
        run.last = training.accuracy();
        run.best = run.best.max(run.last);
        if run.lost_at.is_none() && run.last < run.best - 0.05 {
            run.lost_at = Some(step);
        }
        if step % 5 == 0 {
            run.warnings.extend(monitor.on_evaluation(&training.evaluate()));
        }
    }
    run
}

/// A run drawn at random: sizes, speed, how rare the hack is and what it costs.
fn drawn(pays: Pays, seed: u64) -> Setup {
    let mut draws = Draws(seed.wrapping_mul(7919) ^ pays as u64);
    let held_out = [64, 128, 200][draws.below(3)];
    Setup {
        pays,
        seed,
        groups: [16, 32, 64][draws.below(3)],
        group_size: [4, 8, 16][draws.below(3)],
        learning_rate: draws.between(0.3, 2.0),
        right_weight: [0.0, 0.0, 0.2, 0.5][draws.below(4)],
        rare: draws.between(-4.0, -1.0),
        cost: draws.between(1.0, 4.0),
        skill: draws.between(0.5, 2.5),
        characters: draws.below(2) == 0,
        judged: true,
        held_out,
    }
}

fn told(run: &Run) -> String {
    let warnings = run.warnings.iter().map(|own| format!("{}@{}", own.alarm.name(), own.step));
    format!(
        "{:.2} -> best {:.2} -> {:.2}, lost 5 points at {:?}: {}",
        run.first,
        run.best,
        run.last,
        run.lost_at,
        warnings.collect::<Vec<_>>().join(" ")
    )
}

#[test]
fn honest_runs_are_not_warned_of() {
    let mut false_alarms = Vec::new();
    for pays in [Pays::Right, Pays::RightAndForm, Pays::NoisyJudge] {
        for seed in 0..50 {
            let setup = drawn(pays, seed);
            let found = run(setup, 60);
            if !found.warnings.is_empty() {
                false_alarms.push(format!("{setup:?}\n{}", told(&found)));
                false_alarms.extend(found.warnings.iter().take(2).map(|own| own.message.clone()));
            }
        }
    }
    assert!(false_alarms.is_empty(), "{} of 150:\n{}", false_alarms.len(), false_alarms.join("\n"));
}

#[test]
fn hacked_runs_are_warned_of_in_time() {
    let mut late = Vec::new();
    let mut counts = Vec::new();
    for pays in [Pays::Length, Pays::Keyword, Pays::Form, Pays::FlatteredJudge] {
        let (mut lost, mut warned, mut lead) = (0, 0, Vec::new());
        for seed in 0..30 {
            let setup = drawn(pays, seed);
            let found = run(setup, 60);
            warned += usize::from(!found.warnings.is_empty());
            let Some(lost_at) = found.lost_at else { continue };
            lost += 1;
            let first = found.warnings.first().map(|own| own.step);
            lead.extend(first.map(|first| lost_at as i64 - first as i64));
            if first.is_none_or(|first| first >= lost_at) {
                late.push(format!("{setup:?}\n{}", told(&found)));
            }
        }
        lead.sort_unstable();
        counts.push(format!("{pays:?}: warned {warned} of 30, lost {lost}, lead {lead:?}"));
    }
    println!("{}", counts.join("\n"));
    assert!(late.is_empty(), "{}\n{} late:\n{}", counts.join("\n"), late.len(), late.join("\n"));
}

#[test]
#[ignore = "a table of how early each alarm is alone"]
fn each_alarm_alone() {
    let mut runs = 0;
    for alarm in Alarm::ALL {
        let mut told = Vec::new();
        for pays in [Pays::Length, Pays::Keyword, Pays::Form, Pays::FlatteredJudge] {
            let (mut lost, mut in_time, mut warned, mut lead) = (0, 0, 0, 0);
            for seed in 0..12 {
                let config = MonitorConfig { alarms: vec![alarm], ..MonitorConfig::default() };
                let found = run_with(drawn(pays, seed), 60, config);
                runs += 1;
                let first = found.warnings.first().map(|own| own.step);
                warned += u32::from(first.is_some());
                let Some(lost_at) = found.lost_at else { continue };
                lost += 1;
                if first.is_some_and(|first| first < lost_at) {
                    in_time += 1;
                    lead += lost_at - first.unwrap();
                }
            }
            told.push(format!("{pays:?} {warned}/12 told, {in_time}/{lost} in time, lead {lead}"));
        }
        println!("{}: {}", alarm.name(), told.join("; "));
    }
    assert_eq!(runs, 12 * 4 * 12);
}
