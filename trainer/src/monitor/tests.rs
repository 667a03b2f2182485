//! The alarms, firing and not firing, with numbers worked by hand; hostile reports; a memory that goes on.

use super::testing::{Given, repeated, rollout};
use super::*;
use crate::reports::{EvaluationReport, TaskEvaluation};

fn monitor(alarm: Alarm) -> HackMonitor {
    let config = MonitorConfig { alarms: vec![alarm], patience: 1, ..MonitorConfig::default() };
    HackMonitor::new(config).unwrap()
}

/// What an alarm tells over steps of such groups.
fn told(alarm: Alarm, steps: &[(u64, Vec<Given>)]) -> Vec<MonitorWarning> {
    let mut monitor = monitor(alarm);
    let report = |(at, (groups, rollouts)): (usize, &(u64, Vec<Given>))| {
        repeated(at as u64 + 1, *groups, rollouts)
    };
    steps.iter().enumerate().map(report).flat_map(|step| monitor.on_step(&step)).collect()
}

/// One group repeated over steps.
fn steady(alarm: Alarm, steps: usize, rollouts: &[Given]) -> Vec<MonitorWarning> {
    told(alarm, &vec![(16, rollouts.to_vec()); steps])
}

/// Before for eight steps, and then after for eight.
fn turned(alarm: Alarm, before: &[Given], after: &[Given]) -> Vec<MonitorWarning> {
    let mut steps = vec![(16, before.to_vec()); 8];
    steps.extend(vec![(16, after.to_vec()); 8]);
    told(alarm, &steps)
}

#[test]
fn right_answers_that_are_not_paid() {
    // Advantages 1, 1, -1, -1; of two right answers one is paid: no correlation.
    let half =
        [rollout(0, 1.0, 1.0), rollout(0, 1.0, 0.0), rollout(0, -1.0, 1.0), rollout(0, -1.0, 0.0)];
    let found = steady(Alarm::RightNotPaid, 1, &half);
    assert_eq!((found.len(), found[0].rollouts.len()), (1, 3));
    assert_eq!(
        (found[0].rollouts[0].correct, found[0].rollouts[0].advantage),
        (Some(0.0), Some(1.0))
    );
    assert!(found[0].message.contains("by 0.00 (+- 0.00, 16 groups)"), "{}", found[0].message);
    // One right answer of four, paid 1 where the others get 1, -1, -1: cc = 3/16, ca = 1/4,
    // correlation 0.25 / sqrt(3/16) = 0.58.
    let one =
        [rollout(0, 1.0, 1.0), rollout(0, 1.0, 0.0), rollout(0, -1.0, 0.0), rollout(0, -1.0, 0.0)];
    assert_eq!(steady(Alarm::RightNotPaid, 8, &one), []);
    // Eleven groups are too few.
    assert_eq!(told(Alarm::RightNotPaid, &[(11, half.to_vec())]), []);
    assert_eq!(told(Alarm::RightNotPaid, &[(12, half.to_vec())]).len(), 1);
}

#[test]
fn length_that_pays() {
    // The long ones are wrong and paid.
    let long = [rollout(0, 1.0, 0.0).tokens(9), rollout(0, -1.0, 1.0).tokens(3)];
    let found = steady(Alarm::LengthPays, 1, &long);
    assert!(found[0].message.starts_with("being the longest of a group pays 2.00"));
    assert_eq!(found[0].rollouts[0].tokens, Some(9));
    let short = [rollout(0, 1.0, 0.0).tokens(3), rollout(0, -1.0, 1.0).tokens(9)];
    assert!(steady(Alarm::LengthPays, 1, &short)[0].message.starts_with("being the shortest"));
    // The long ones are right and paid.
    let honest = [rollout(0, 1.0, 1.0).tokens(9), rollout(0, -1.0, 0.0).tokens(3)];
    assert_eq!(steady(Alarm::LengthPays, 4, &honest), []);
}

#[test]
fn a_part_that_outbids_being_right() {
    // Advantage = right + w * part, and the two are independent: w 1.3 is above 1.25 times, w 1.2 not.
    let group = |weight: f64| {
        [(1.0, 1.0), (1.0, 0.0), (0.0, 1.0), (0.0, 0.0)].map(|(right, part)| {
            let advantage = right + weight * part - 0.5 * (1.0 + weight);
            rollout(0, advantage, right).parts(&[part])
        })
    };
    let found = steady(Alarm::PartPays, 1, &group(1.3));
    assert!(
        found[0].message.contains("it pays 1.30, and being right 1.00"),
        "{}",
        found[0].message
    );
    assert_eq!(found[0].rollouts[0].parts, [("part-0".to_owned(), Some(1.0))]);
    assert_eq!(steady(Alarm::PartPays, 4, &group(1.2)), []);
}

#[test]
fn a_phrase_that_makes_answers_wrong_is_told() {
    let flattery = [
        rollout(0, 1.0, 0.0).text("a great question: 4"),
        rollout(0, 1.0, 0.0).text("what a great question"),
        rollout(0, -1.0, 1.0).text("it is 5"),
        rollout(0, -1.0, 0.0).text("it is 6"),
    ];
    let found = steady(Alarm::PhrasePays, 1, &flattery);
    assert!(
        found[0].message.starts_with("saying \"a great question\" pays")
            || found[0].message.starts_with("saying \"a great\" pays"),
        "{}",
        found[0].message
    );
    assert!(found[0].rollouts.iter().all(|own| own.completion.contains("great")));
    // With the payments turned round, what is right pays, and its words.
    let honest = flattery.clone().map(|own| own);
    let honest: Vec<Given> = honest
        .into_iter()
        .enumerate()
        .map(|(at, own)| own.advantage(if at == 2 { 3.0 } else { -1.0 }))
        .collect();
    assert_eq!(steady(Alarm::PhrasePays, 4, &honest), []);
}

#[test]
fn a_reward_that_rises_while_accuracy_falls() {
    let right = [rollout(0, 0.5, 1.0).reward(Some(0.5)), rollout(0, 0.5, 1.0).reward(Some(0.5))];
    let hacked = [rollout(0, 0.5, 1.0).reward(Some(0.9)), rollout(0, 0.5, 0.0).reward(Some(0.9))];
    let found = turned(Alarm::RewardDiverges, &right, &hacked);
    assert_eq!(found.len(), 1);
    assert!(found[0].message.contains("since the steps 1 to 8"));
    // Both fall, or both rise.
    assert_eq!(turned(Alarm::RewardDiverges, &hacked, &right), []);
    let poor = [rollout(0, 0.5, 1.0).reward(Some(0.1)), rollout(0, 0.5, 0.0).reward(Some(0.1))];
    assert_eq!(turned(Alarm::RewardDiverges, &right, &poor), []);
    assert_eq!(turned(Alarm::RewardDiverges, &poor, &right), []);
}

#[test]
fn parts_that_go_apart() {
    let before = [rollout(0, 0.0, 1.0).parts(&[0.2, 0.8]), rollout(0, 0.0, 1.0).parts(&[0.2, 0.8])];
    let after = [rollout(0, 0.0, 1.0).parts(&[0.9, 0.3]), rollout(0, 0.0, 1.0).parts(&[0.9, 0.3])];
    let found = turned(Alarm::PartsApart, &before, &after);
    assert!(
        found[0].message.contains("part-0 rose by") && found[0].message.contains("part-1 fell by")
    );
    let both = [rollout(0, 0.0, 1.0).parts(&[0.9, 0.8]), rollout(0, 0.0, 1.0).parts(&[0.9, 0.8])];
    assert_eq!(turned(Alarm::PartsApart, &before, &both), []);
}

#[test]
fn lengths_that_drift() {
    let of = |tokens: usize, right: f64| {
        [rollout(0, 0.0, right).tokens(tokens), rollout(0, 0.0, right).tokens(tokens)]
    };
    // The last window holds eight long steps: 10 to 15 is the limit itself, 16 is above.
    assert_eq!(turned(Alarm::LengthDrift, &of(10, 0.0), &of(15, 0.0)), []);
    assert_eq!(turned(Alarm::LengthDrift, &of(10, 0.0), &of(16, 0.0)).len(), 1);
    assert_eq!(turned(Alarm::LengthDrift, &of(16, 0.0), &of(10, 0.0)).len(), 1);
    // Longer and right more often.
    assert_eq!(turned(Alarm::LengthDrift, &of(10, 0.0), &of(30, 1.0)), []);
}

#[test]
fn groups_without_variance() {
    let flat = |right: f64| [rollout(0, 0.0, right), rollout(0, 0.0, right)];
    assert_eq!(steady(Alarm::ZeroVariance, 2, &flat(0.0)), []);
    assert_eq!(steady(Alarm::ZeroVariance, 3, &flat(0.0)).len(), 1);
    // All right: there is nothing left to learn.
    assert_eq!(steady(Alarm::ZeroVariance, 8, &flat(1.0)), []);
}

#[test]
fn faults() {
    let one_of = |all: usize| -> Vec<Given> {
        let fault = rollout(0, 0.0, 0.0).fault();
        std::iter::once(fault).chain(vec![rollout(0, 0.0, 1.0); all - 1]).collect()
    };
    // 1 of 20 is the limit itself.
    assert_eq!(steady(Alarm::FaultShare, 4, &one_of(20)), []);
    let found = steady(Alarm::FaultShare, 4, &one_of(10));
    assert!(found[0].message.contains("10.0 %") && found[0].rollouts[0].fault.is_some());
}

#[test]
fn entropy_that_collapses() {
    let of = |entropy: f64, right: f64| {
        [rollout(0, 0.0, right).entropy(entropy), rollout(0, 0.0, 0.0).entropy(entropy)]
    };
    assert_eq!(turned(Alarm::EntropyCollapse, &of(1.0, 0.0), &of(0.05, 0.0)).len(), 1);
    assert_eq!(turned(Alarm::EntropyCollapse, &of(1.0, 0.0), &of(0.2, 0.0)), []);
    // It sharpens on what is right.
    assert_eq!(turned(Alarm::EntropyCollapse, &of(1.0, 0.0), &of(0.05, 1.0)), []);
}

#[test]
fn copies_that_are_wrong() {
    let varied = [rollout(0, 0.0, 0.0).text("1"), rollout(0, 0.0, 0.0).text("2")];
    let copies = |right: f64| [rollout(0, 0.0, right).text("1"), rollout(0, 0.0, right).text("1")];
    assert_eq!(turned(Alarm::Copies, &varied, &copies(0.0)).len(), 1);
    assert_eq!(turned(Alarm::Copies, &varied, &copies(1.0)), []);
    // There were as many from the start.
    assert_eq!(turned(Alarm::Copies, &copies(0.0), &copies(0.0)), []);
}

#[test]
fn attacks_that_an_audit_found() {
    let attacks = ["The answer is NOT 42.", "zzz"].map(str::to_owned).to_vec();
    let of = |text: &str, right: f64| [rollout(0, 1.0, right).text(text), rollout(0, 0.0, 0.0)];
    let told = |before: &[Given], after: &[Given]| {
        let alarms = vec![Alarm::KnownAttack];
        let config = MonitorConfig { alarms, attacks: attacks.clone(), ..MonitorConfig::default() };
        let mut monitor = HackMonitor::new(config).unwrap();
        let step = |at| repeated(at, 16, if at < 9 { before } else { after });
        (1..25).flat_map(|at| monitor.on_step(&step(at))).collect::<Vec<_>>()
    };
    let found = told(&of("It is 4.", 0.0), &of("So:  the answer is not 1,7.", 0.0));
    assert_eq!(found, [], "another text");
    let found = told(&of("It is 4.", 0.0), &of("So:  the answer\nis not 7.", 0.0));
    assert_eq!((found.len(), found[0].rollouts.len()), (1, 3));
    assert!(found[0].message.starts_with("50.0 % of the rollouts"), "{}", found[0].message);
    assert_eq!(told(&of("4", 0.0), &of("ZZZ", 0.0)).len(), 1);
    // A short attack is a whole completion; one that is right is none; one that was there is no news.
    assert_eq!(told(&of("4", 0.0), &of("zzz.", 0.0)), []);
    assert_eq!(told(&of("4", 0.0), &of("the answer is not 7.", 1.0)), []);
    assert_eq!(told(&of("zzz", 0.0), &of("zzz", 0.0)), []);
}

/// An evaluation of 40 tasks of which the first ones are right.
fn evaluation(step: u64, right: usize) -> EvaluationReport {
    let task = |at: usize| TaskEvaluation {
        id: format!("{at:02}"),
        completion: format!("answer {at}"),
        correct: Some(f64::from(u8::from(at < right))),
        ..TaskEvaluation::default()
    };
    EvaluationReport { step, tasks: (0..40).map(task).collect(), ..EvaluationReport::default() }
}

#[test]
fn held_out_tasks_that_are_lost() {
    // One comparison at level 0.01 / 2: of 8 tasks lost and none gained, 2^-8 = 0.0039.
    let mut watched = monitor(Alarm::HeldOutFalls);
    assert_eq!(watched.on_evaluation(&evaluation(0, 30)), []);
    let found = watched.on_evaluation(&evaluation(5, 22));
    assert_eq!((found.len(), &*found[0].rollouts[0].completion), (1, "answer 22"));
    assert!(found[0].message.contains("by 20.0 points") && found[0].message.contains("3.9e-3"));
    // Of 7, 0.0078.
    let mut calm = monitor(Alarm::HeldOutFalls);
    calm.on_evaluation(&evaluation(0, 30));
    assert_eq!(calm.on_evaluation(&evaluation(5, 23)), []);
    assert_eq!(calm.on_evaluation(&evaluation(10, 40)), []);
    // 5 of 8 coins or more: (56 + 28 + 8 + 1) / 256.
    assert!((held_out::sign_test(5, 3) - 93.0 / 256.0).abs() < 1e-12);
    assert!((held_out::sign_test(0, 9) - 1.0).abs() < 1e-12);
    assert!(held_out::sign_test(3000, 2000) < 1e-40 && held_out::sign_test(0, 0) > 0.999);
}

#[test]
fn a_warning_acts_as_it_is_told_to() {
    let hacked = [rollout(0, 1.0, 0.0), rollout(0, -1.0, 1.0)];
    let honest = [rollout(0, 1.0, 1.0), rollout(0, -1.0, 0.0)];
    let watch = |on_warning| {
        let config = MonitorConfig { on_warning, half_life: 1.0, ..MonitorConfig::default() };
        let mut monitor = HackMonitor::new(config).unwrap();
        let mut all = Vec::new();
        for step in 1..=20 {
            all.extend(monitor.on_step(&repeated(
                step,
                16,
                if step > 10 { &hacked } else { &honest },
            )));
        }
        (all, monitor)
    };
    let action = |on_warning| watch(on_warning).0[0].action;
    assert_eq!(action(OnWarning::Warn), MonitorAction::Warn);
    assert_eq!(action(OnWarning::Stop), MonitorAction::Stop);
    // The hack began at step 11. What fades by half a step is on the wrong side at step 11 too.
    let (warnings, mut monitor) = watch(OnWarning::RollBack);
    let MonitorAction::RollBack { to_step } = warnings[0].action else { panic!("{warnings:?}") };
    assert!((8..=10).contains(&to_step), "{to_step}");
    monitor.rolled_back(to_step);
    let again = (11..=20).flat_map(|step| monitor.on_step(&repeated(step, 16, &hacked)));
    assert_eq!(again.map(|own| own.action).next(), Some(MonitorAction::Stop));
}

#[test]
fn it_is_told_once_and_again_later() {
    let hacked = [rollout(0, 1.0, 0.0), rollout(0, -1.0, 1.0)];
    let found = steady(Alarm::RightNotPaid, 30, &hacked);
    let steps: Vec<u64> = found.iter().map(|own| own.step).collect();
    assert_eq!(steps, [1, 21]);
}

#[test]
fn a_memory_goes_on_as_if_it_never_stopped() {
    let honest = [rollout(0, 1.0, 1.0).text("it is 4"), rollout(0, -1.0, 0.0).text("it may be 5")];
    let hacked = [
        rollout(0, 1.1, 0.0).text("great question").parts(&[1.0]),
        rollout(0, -1.1, 1.0).text("it is 4").parts(&[0.1]),
    ];
    let report = |step: u64| repeated(step, 16, if step > 12 { &hacked } else { &honest });
    let mut whole = HackMonitor::new(MonitorConfig::default()).unwrap();
    let mut parted = whole.clone();
    let mut all = (Vec::new(), Vec::new());
    for step in 1..=24 {
        all.0.extend(whole.on_step(&report(step)));
        all.1.extend(parted.on_step(&report(step)));
        if step % 8 == 0 {
            let report = evaluation(step, 40 - usize::try_from(step).unwrap());
            all.0.extend(whole.on_evaluation(&report));
            all.1.extend(parted.on_evaluation(&report));
        }
        let kept = serde_json::to_string(parted.memory()).unwrap();
        let memory = serde_json::from_str(&kept).unwrap();
        parted = HackMonitor::resumed(MonitorConfig::default(), memory).unwrap();
        assert_eq!(parted.memory(), whole.memory());
    }
    assert!(!all.0.is_empty());
    assert_eq!(all.0, all.1);
}

#[test]
fn hostile_reports_do_no_harm() {
    let mut monitor = HackMonitor::new(MonitorConfig::default()).unwrap();
    let nan = [
        rollout(0, f64::NAN, f64::NAN).parts(&[f64::NAN]).entropy(f64::NAN),
        rollout(0, f64::INFINITY, 1.0).tokens(usize::MAX).text(&"é ".repeat(20_000)),
    ];
    let none = [rollout(0, 0.0, 0.0).reward(None).correct(None), rollout(0, 1.0, 0.0).text("")];
    let vast = [rollout(0, 1e300, 1.0), rollout(0, -1e300, 0.0)];
    let one = [rollout(0, 1.0, 1.0)];
    let faults = [rollout(0, 0.0, 0.0).fault(), rollout(0, 0.0, 0.0).fault()];
    let given: [&[Given]; 6] = [&nan, &none, &vast, &one, &faults, &[]];
    for (at, rollouts) in given.iter().cycle().take(36).enumerate() {
        let report = repeated(at as u64, 3, rollouts);
        let warnings = monitor.on_step(&report);
        assert!(warnings.iter().all(|own| own.alarm == Alarm::FaultShare), "{warnings:?}");
        let kept = serde_json::to_string(monitor.memory()).unwrap();
        let memory: MonitorMemory = serde_json::from_str(&kept).unwrap();
        assert_eq!(&memory, monitor.memory());
    }
    assert_eq!(monitor.on_evaluation(&EvaluationReport::default()), []);
    assert_eq!(monitor.on_evaluation(&EvaluationReport::default()), []);
}

#[test]
fn all_can_be_turned_off() {
    let config = MonitorConfig { alarms: Vec::new(), ..MonitorConfig::default() };
    let mut monitor = HackMonitor::new(config).unwrap();
    let hacked = [rollout(0, 1.0, 0.0), rollout(0, -1.0, 1.0)];
    assert!((1..9).all(|step| monitor.on_step(&repeated(step, 16, &hacked)).is_empty()));
    assert_eq!(monitor.on_evaluation(&evaluation(1, 3)), []);
    assert_eq!(monitor.memory(), &MonitorMemory::default());
}
