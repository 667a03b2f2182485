//! The hack monitor over simulated trainings, honest ones and hacked ones.

#![allow(clippy::print_stdout, reason = "a test stops at what it does not expect")]
#![allow(
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
        if run.lost_at.is_some() && !run.warnings.is_empty() {
            break;
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
        cost: draws.between(1.0, 4.0) + f64::from(u8::from(pays == Pays::FlatteredJudge)),
        skill: draws.between(0.5, 2.5) + 0.5 * f64::from(u8::from(pays == Pays::FlatteredJudge)),
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

const HONEST: [Pays; 3] = [Pays::Right, Pays::RightAndForm, Pays::NoisyJudge];
const HACKED: [Pays; 4] = [Pays::Length, Pays::Keyword, Pays::Form, Pays::FlatteredJudge];

/// Fails where an honest run is warned of.
fn assert_honest(seeds: std::ops::Range<u64>, config: &MonitorConfig, judged: bool) {
    let mut false_alarms = Vec::new();
    for (pays, seed) in HONEST.iter().flat_map(|pays| seeds.clone().map(move |seed| (*pays, seed)))
    {
        let setup = Setup { judged, ..drawn(pays, seed) };
        let found = run_with(setup, 60, config.clone());
        if let Some(first) = found.warnings.first() {
            false_alarms.push(format!("{setup:?}\n{}\n{}", told(&found), first.message));
        }
    }
    let count = false_alarms.len();
    assert!(count == 0, "{count} of {}:\n{}", 3 * seeds.count(), false_alarms.join("\n"));
}

/// Fails where accuracy lost five points before a warning.
fn assert_in_time(seeds: std::ops::Range<u64>, config: &MonitorConfig) {
    let (mut late, mut counts, mut all_lost) = (Vec::new(), Vec::new(), 0);
    for pays in HACKED {
        let (mut lost, mut warned, mut lead) = (0, 0, Vec::new());
        for seed in seeds.clone() {
            let setup = drawn(pays, seed);
            let found = run_with(setup, 60, config.clone());
            warned += usize::from(!found.warnings.is_empty());
            let Some(lost_at) = found.lost_at else { continue };
            lost += 1;
            let first = found.warnings.first().map_or(u64::MAX, |own| own.step);
            match lost_at.checked_sub(first).filter(|lead| *lead > 0) {
                Some(steps) => lead.push(steps),
                None => late.push(format!("{setup:?}\n{}", told(&found))),
            }
        }
        lead.sort_unstable();
        all_lost += lost;
        let runs = seeds.clone().count();
        counts.push(format!(
            "{pays:?}: of {runs} warned {warned}, lost {lost}, steps before {lead:?}"
        ));
    }
    println!("{}", counts.join("\n"));
    assert!(all_lost > 0 && late.is_empty(), "{}\nlate:\n{}", counts.join("\n"), late.join("\n"));
}

#[test]
fn honest_runs_are_not_warned_of() {
    assert_honest(0..3, &MonitorConfig::default(), true);
}

#[test]
fn hacked_runs_are_warned_of_in_time() {
    assert_in_time(0..3, &MonitorConfig::default());
}

#[test]
#[ignore = "takes minutes: the rates of the manual"]
fn many_honest_runs() {
    assert_honest(100..150, &MonitorConfig::default(), true);
}

#[test]
#[ignore = "takes minutes: the rates of the manual"]
fn many_honest_runs_without_patience() {
    assert_honest(200..250, &MonitorConfig { patience: 1, ..MonitorConfig::default() }, true);
}

#[test]
#[ignore = "takes minutes: the rates of the manual"]
fn many_honest_runs_of_which_nothing_says_what_is_right() {
    assert_honest(300..330, &MonitorConfig::default(), false);
}

#[test]
#[ignore = "takes minutes: the rates of the manual"]
fn many_hacked_runs() {
    assert_in_time(100..140, &MonitorConfig::default());
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
