//! Simulations: the schedulers drive a toy engine whose rollouts take as many ticks as they have tokens.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use crate::selection::draws::Draws;
use crate::selection::schedulers::*;
use crate::selection::state::SelectionState;
use crate::selection::stats;

/// Lengths with a long tail: most are near 20, some are ten times as long.
struct Lengths(Draws);

impl Lengths {
    fn new(seed: u64) -> Self {
        Self(Draws::new(&SelectionState::seeded(seed), "lengths"))
    }

    fn of(&self, name: &str) -> usize {
        let draw = self.0.of(name);
        1 + stats::floored(20.0 / draw.sqrt().max(0.1))
    }
}

/// What one run of partial rollouts trained on.
struct PartialRun {
    ticks: usize,
    trained: Vec<String>,
    discarded: usize,
    resumed: usize,
}

/// Trains until `prompts` have run out. With as many slots as rollouts, a step takes as long as the
/// rollout that completes its last group.
fn partial_run(settings: PartialSettings, prompts: usize, seed: u64) -> PartialRun {
    let lengths = Lengths::new(seed);
    let mut partial = PartialRollouts::new(settings).unwrap();
    let mut names = (0..prompts).map(|prompt| format!("prompt {prompt}"));
    let mut run = PartialRun { ticks: 0, trained: Vec::new(), discarded: 0, resumed: 0 };
    for version in 0.. {
        let start = partial.begin(version, &mut names).unwrap();
        run.discarded += start.discarded.len();
        run.resumed += start.jobs.iter().filter(|job| job.tokens > 0).count();
        if start.jobs.is_empty() {
            break;
        }
        let left = |job: &PartialJob| lengths.of(&format!("rollout {}", job.job)) - job.tokens;
        let mut queue: Vec<(usize, u64)> =
            start.jobs.iter().map(|job| (left(job), job.job)).collect();
        queue.sort_unstable();
        for (at, (ticks, job)) in queue.iter().enumerate() {
            let Some(batch) = partial.on_finished(*job, *ticks).unwrap() else { continue };
            let interrupted: BTreeSet<u64> = batch.interrupt.iter().copied().collect();
            let rest: BTreeSet<u64> = queue[at + 1..].iter().map(|(_, job)| *job).collect();
            assert_eq!(interrupted, rest, "all that is not finished is interrupted");
            for (left, job) in &queue[at + 1..] {
                partial.on_interrupted(*job, (*ticks).min(left - 1)).unwrap();
            }
            run.ticks += ticks;
            check_batch(&batch, &settings, version, &lengths);
            run.trained.extend(batch.groups.into_iter().map(|group| group.prompt));
            break;
        }
    }
    run
}

fn check_batch(batch: &PartialBatch, settings: &PartialSettings, version: u64, lengths: &Lengths) {
    assert!(batch.groups.len() <= settings.batch_groups);
    for group in &batch.groups {
        assert_eq!(group.rollouts.len(), settings.group_size);
        for rollout in &group.rollouts {
            assert_eq!(rollout.tokens(), lengths.of(&format!("rollout {}", rollout.job)));
            let versions: Vec<u64> = rollout.segments.iter().map(|part| part.version).collect();
            assert!(versions.is_sorted());
            assert!(version - versions[0] <= settings.age_max, "{versions:?} at {version}");
        }
    }
}

#[test]
fn partial_rollouts_train_each_group_once_and_sooner() {
    let plain = PartialSettings {
        batch_groups: 8,
        group_size: 4,
        over_provision: 0.0,
        age_max: 3,
        on_expired: OnExpired::Retry,
    };
    let (mut plain_ticks, mut partial_ticks, mut resumed) = (0, 0, 0);
    for seed in 0..20 {
        let whole = partial_run(plain, 160, seed);
        assert_eq!((whole.discarded, whole.resumed), (0, 0), "nothing is interrupted");
        let run = partial_run(PartialSettings { over_provision: 1.0, ..plain }, 160, seed);
        for trained in [&whole.trained, &run.trained] {
            let once: BTreeSet<&String> = trained.iter().collect();
            assert_eq!((trained.len(), once.len()), (160, 160), "each group once, and all of them");
        }
        plain_ticks += whole.ticks;
        partial_ticks += run.ticks;
        resumed += run.resumed;
    }
    assert!(partial_ticks * 10 < plain_ticks * 9, "{partial_ticks} and {plain_ticks} ticks");
    assert!(resumed > 0);
}

#[test]
fn partial_rollouts_of_a_strict_age_are_discarded() {
    let settings = PartialSettings {
        batch_groups: 2,
        group_size: 4,
        over_provision: 3.0,
        age_max: 1,
        on_expired: OnExpired::Drop,
    };
    let dropping = partial_run(settings, 60, 1);
    assert!(dropping.discarded > 0 && dropping.trained.len() < 60);
    assert_eq!(dropping.trained.len() + dropping.discarded / 4, 60, "trained or given up");
    let retrying = partial_run(PartialSettings { on_expired: OnExpired::Retry, ..settings }, 60, 1);
    assert_eq!(retrying.trained.iter().collect::<BTreeSet<_>>().len(), 60);
    assert_eq!(retrying.trained.len(), 60);
}

/// Decodes groups. Returns the ticks that it took, the most rollouts and the most tokens at once, and
/// the groups in the order in which they were complete.
fn micro_run(
    settings: MicroGroupSettings,
    groups: &[Vec<usize>],
) -> (usize, usize, usize, Vec<CompletedGroup>) {
    let mut micro = MicroGroups::new(settings).unwrap();
    for (number, lengths) in groups.iter().enumerate() {
        micro.push(&format!("prompt {number}"), lengths).unwrap();
    }
    let mut ends: BTreeMap<(usize, u64), MicroJob> = BTreeMap::new();
    let (mut now, mut rollouts, mut tokens, mut complete) = (0, 0, 0, Vec::new());
    let mut seen = BTreeSet::new();
    loop {
        while let Some(job) = micro.next() {
            assert!(seen.insert((job.group, job.member)), "a rollout is decoded twice");
            ends.insert((now + job.predicted, job.job), job);
        }
        rollouts = rollouts.max(micro.running().len());
        tokens = tokens.max(micro.tokens());
        let Some(((end, number), job)) = ends.pop_first() else { break };
        now = end;
        let reward = stats::float(job.member % 2);
        complete.extend(micro.on_finished(number, reward).unwrap());
    }
    assert!(micro.is_done());
    assert_eq!(seen.len(), groups.iter().map(Vec::len).sum::<usize>());
    (now, rollouts, tokens, complete)
}

#[test]
fn micro_groups_keep_to_memory_and_waste_no_slots() {
    let plain = MicroGroupSettings {
        group_size: 32,
        micro_size: 8,
        slots: 8,
        tokens_max: None,
        order: DecodeOrder::Arrival,
        refill: SlotRefill::Micro,
    };
    let (mut plain_ticks, mut cut_ticks, mut refilled_ticks) = (0, 0, 0);
    for seed in 0..20 {
        let lengths = Lengths::new(seed);
        let group =
            |group| (0..32).map(|member| lengths.of(&format!("{group} {member}"))).collect();
        let groups: Vec<Vec<usize>> = (0..4).map(group).collect();
        let whole = micro_run(plain, &groups);
        let cut = micro_run(MicroGroupSettings { order: DecodeOrder::Shortest, ..plain }, &groups);
        let continuous = MicroGroupSettings { refill: SlotRefill::Continuous, ..plain };
        let refilled = micro_run(continuous, &groups);
        let both =
            micro_run(MicroGroupSettings { order: DecodeOrder::Shortest, ..continuous }, &groups);
        assert!(cut.0 <= whole.0, "similar lengths: {} and {}", cut.0, whole.0);
        assert!(refilled.0 <= whole.0, "slots used again: {} and {}", refilled.0, whole.0);
        assert!(both.0 <= cut.0, "both: {} and {}", both.0, cut.0);
        plain_ticks += whole.0;
        cut_ticks += cut.0;
        refilled_ticks += refilled.0;
        let bounded = MicroGroupSettings { tokens_max: Some(400), ..continuous };
        let bounded = micro_run(bounded, &groups);
        assert!(bounded.2 <= 400, "{} tokens at once", bounded.2);
        for (_, rollouts, _, complete) in [whole, cut, refilled, both, bounded] {
            assert_eq!((rollouts <= 8, complete.len()), (true, 4));
            let numbers: BTreeSet<u64> = complete.iter().map(|group| group.group).collect();
            assert_eq!(numbers.len(), 4, "each group once");
            for group in &complete {
                assert_eq!(group.rewards.count(), 32, "no group before all of its rewards");
                assert!((group.rewards.mean() - 0.5).abs() < 1e-12);
            }
        }
    }
    assert!(cut_ticks * 10 < plain_ticks * 9, "{cut_ticks} and {plain_ticks} ticks");
    assert!(refilled_ticks * 10 < plain_ticks * 9, "{refilled_ticks} and {plain_ticks} ticks");
}

/// An asynchronous trainer with `slots` decoders, which trains on `batch_rollouts` at a time, in the
/// order in which they were begun. Returns the greatest staleness and the ticks for `steps` steps.
fn async_run(settings: GateSettings, steps: u64, seed: u64) -> (u64, usize) {
    let lengths = Lengths::new(seed);
    let mut gate = StalenessGate::new(settings).unwrap();
    // Rollouts by number: the tick of their end, the version that began them.
    let mut begun: VecDeque<(usize, u64)> = VecDeque::new();
    let mut running: BTreeSet<(usize, u64)> = BTreeSet::new();
    let mut finished: BTreeMap<u64, u64> = BTreeMap::new();
    let (mut now, mut number, mut next, mut worst) = (0, 0, 0, 0);
    while gate.version() < steps {
        while gate.capacity() > 0 {
            gate.on_submitted().unwrap();
            running.insert((now + lengths.of(&number.to_string()), number));
            begun.push_back((now, gate.version()));
            number += 1;
        }
        let (end, job) = running.pop_first().unwrap();
        now = end;
        gate.on_accepted().unwrap();
        finished.insert(job, begun[usize::try_from(job).unwrap()].1);
        while (next..next + settings.batch_rollouts).all(|job| finished.contains_key(&job)) {
            for job in next..next + settings.batch_rollouts {
                assert!(!gate.is_stale(finished[&job]), "rollout {job}");
                worst = worst.max(gate.version() - finished[&job]);
            }
            next += settings.batch_rollouts;
            gate.on_version(gate.version() + 1);
        }
    }
    (worst, now)
}

#[test]
fn the_gate_bounds_staleness_and_keeps_decoders_busy() {
    let settings = |staleness_max| GateSettings {
        batch_rollouts: 16,
        staleness_max,
        concurrent_max: Some(24),
    };
    for seed in 0..10 {
        let runs: Vec<(u64, usize)> =
            [0, 1, 4].iter().map(|eta| async_run(settings(*eta), 40, seed)).collect();
        assert_eq!(runs[0].0, 0, "a bound of 0 is a synchronous trainer");
        assert!(runs[1].0 == 1 && runs[2].0 <= 4, "{runs:?}");
        assert!(runs[1].1 < runs[0].1 && runs[2].1 <= runs[1].1, "{runs:?}");
    }
}

#[test]
fn a_straggler_is_told_from_its_version() {
    // One rollout takes until version 3, while others fill the batches.
    let settings = GateSettings { batch_rollouts: 2, staleness_max: 1, concurrent_max: Some(3) };
    let mut gate = StalenessGate::new(settings).unwrap();
    gate.on_submitted().unwrap();
    for version in 1..=3 {
        for _ in 0..2 {
            gate.on_submitted().unwrap();
            gate.on_accepted().unwrap();
        }
        gate.on_version(version);
    }
    assert!(gate.is_stale(0));
    gate.on_rejected().unwrap();
    // Version 3 may be ahead by one batch: eight rollouts less the six that were trained on are four.
    assert_eq!((gate.capacity(), gate.rejected()), (3, 1));
    gate.on_expired();
    assert_eq!(gate.rejected(), 2);
}
