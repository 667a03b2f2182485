//! The queue with a session that waits at a gate.

#![expect(
    clippy::float_cmp,
    clippy::cast_precision_loss,
    reason = "sums of a few small integers are exact"
)]

use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicUsize};

use pollster::block_on;

use super::*;
use crate::graph::GraphInfo;
use crate::manifest::{Manifest, Role};
use crate::tensor::{Tensor, TensorData};

/// A token that the session cannot take.
const ODD: u32 = 1_000_000;

/// What the runs of a session wait for, and what becomes of them.
#[derive(Default)]
struct Gate {
    state: Mutex<GateState>,
    changed: Condvar,
    /// Runs that began.
    begun: AtomicUsize,
    /// The next run fails.
    fails: AtomicBool,
    /// The tokens of the runs that ended well.
    lengths: Mutex<Vec<usize>>,
}

#[derive(Default)]
struct GateState {
    open: bool,
    stopped: bool,
    /// A run that was stopped goes on as long as this holds.
    lingers: bool,
}

impl Gate {
    fn set(&self, change: impl FnOnce(&mut GateState)) {
        change(&mut self.state.lock().unwrap());
        self.changed.notify_all();
    }

    /// Waits until so many runs have begun.
    fn await_runs(&self, count: usize) {
        let state = self.state.lock().unwrap();
        let waits = |_: &mut GateState| self.begun.load(Ordering::SeqCst) < count;
        drop(self.changed.wait_while(state, waits).unwrap());
    }
}

impl Interrupt for Gate {
    fn stop(&self) {
        self.set(|state| state.stopped = true);
    }

    fn rearm(&self) {
        self.set(|state| state.stopped = false);
    }
}

/// A session that gives each text the sum of its ids, and the same as its keys and values.
struct Sums(Arc<Gate>);

impl Session for Sums {
    fn run(
        &mut self,
        inputs: &[(&str, &Tensor)],
        outputs: &[&str],
    ) -> Result<Vec<Tensor>, ModelError> {
        let gate = &*self.0;
        gate.begun.fetch_add(1, Ordering::SeqCst);
        gate.changed.notify_all();
        let waits = |state: &mut GateState| !(state.open || state.stopped && !state.lingers);
        let state = gate.changed.wait_while(gate.state.lock().unwrap(), waits).unwrap();
        let TensorData::Int(all) = &inputs[0].1.data else { panic!("ids are integers") };
        if gate.fails.swap(false, Ordering::SeqCst) || all.contains(&i64::from(ODD)) {
            return Err(ModelError::Run("odd".into()));
        }
        if state.stopped {
            return Err(ModelError::Stopped);
        }
        let (_, ids) = inputs.iter().find(|(name, _)| *name == "input_ids").unwrap();
        let rows = ids.shape[0];
        let TensorData::Int(all) = &ids.data else { panic!("ids are integers") };
        let sums = all.chunks(ids.shape[1]).map(|row| row.iter().sum::<i64>() as f32);
        gate.lengths.lock().unwrap().push(ids.shape[1]);
        let sums = Tensor::floats(vec![rows, 1], sums.collect());
        Ok(outputs.iter().map(|_| sums.clone()).collect())
    }

    fn stopper(&self) -> Arc<dyn Interrupt> {
        self.0.clone()
    }
}

/// A queue with one worker, which waits at a gate.
fn queue(memo_bytes: usize) -> (Queue, Arc<Gate>) {
    queue_of("arch-qwen2", memo_bytes)
}

fn queue_of(model: &str, memo_bytes: usize) -> (Queue, Arc<Gate>) {
    queue_with(model, memo_bytes, 1)
}

fn queue_with(model: &str, memo_bytes: usize, batch_tokens: usize) -> (Queue, Arc<Gate>) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../fixtures/models").join(model);
    let manifest = Manifest::read(&folder).unwrap();
    let graph = manifest.graph(Role::Model).unwrap();
    let info = GraphInfo::read(&folder.join(&graph.file)).unwrap();
    let forward = Forward::new(&manifest, graph, &info, "sums");
    let gate = Arc::new(Gate::default());
    let (prefix_bytes, compatibility) = (1 << 20, Compatibility::default());
    let limits = QueueLimits { batch_tokens, prefix_bytes, memo_bytes, compatibility };
    (Queue::start(forward, vec![Box::new(Sums(gate.clone()))], limits).unwrap(), gate)
}

fn text(ids: &[u32]) -> Arc<Tokens> {
    let positions = vec![ids.len() - 1];
    Arc::new(Tokens { ids: ids.to_vec(), positions, ..Tokens::default() })
}

fn one(queue: &Queue, ids: &[u32]) -> Ticket {
    queue.submit(vec![text(ids)]).pop().unwrap()
}

fn sum(ticket: Ticket) -> f32 {
    block_on(ticket).unwrap().data[0]
}

#[test]
fn equal_texts_are_computed_once_while_they_wait_run_or_are_remembered() {
    let (queue, gate) = queue(1 << 20);
    let running = one(&queue, &[1, 2]);
    gate.await_runs(1);
    let texts = [&[1, 2][..], &[4], &[1, 2], &[4]].map(text).to_vec();
    let tickets = queue.submit(texts);
    gate.set(|state| state.open = true);
    assert_eq!(sum(running), 3.0);
    assert_eq!(tickets.into_iter().map(sum).collect::<Vec<_>>(), [3.0, 4.0, 3.0, 4.0]);
    assert_eq!(sum(one(&queue, &[4])), 4.0);
    assert_eq!(queue.computed(), 2);
}

#[test]
fn without_memory_every_text_is_computed() {
    let (queue, gate) = queue(0);
    gate.set(|state| state.open = true);
    let tickets = queue.submit([&[1, 2][..], &[1, 2]].map(text).to_vec());
    assert_eq!(tickets.into_iter().map(sum).collect::<Vec<_>>(), [3.0, 3.0]);
    assert_eq!(sum(one(&queue, &[1, 2])), 3.0);
    assert_eq!(queue.computed(), 3);
}

#[test]
fn a_text_is_given_up_when_all_who_wait_for_it_have_left() {
    let (queue, gate) = queue(1 << 20);
    let running = one(&queue, &[1]);
    gate.await_runs(1);
    let (left, stays) = (one(&queue, &[2]), one(&queue, &[3]));
    let joined = one(&queue, &[3]);
    drop((left, stays));
    gate.set(|state| state.open = true);
    assert_eq!((sum(running), sum(joined)), (1.0, 3.0));
    assert_eq!(queue.computed(), 2, "nobody waits for the second");
}

#[test]
fn a_batch_without_waiters_is_cancelled_and_the_worker_goes_on() {
    let (queue, gate) = queue(1 << 20);
    let (first, second) = (one(&queue, &[1]), one(&queue, &[1]));
    gate.await_runs(1);
    drop(first);
    assert!(!gate.state.lock().unwrap().stopped, "one of two is left");
    drop(second);
    let next = one(&queue, &[2]);
    gate.await_runs(2);
    gate.set(|state| state.open = true);
    assert_eq!(sum(next), 2.0);
    assert_eq!(queue.computed(), 1);
}

#[test]
fn who_joins_a_batch_that_was_stopped_gets_another_one() {
    let (queue, gate) = queue(1 << 20);
    gate.set(|state| state.lingers = true);
    let first = one(&queue, &[1, 1]);
    gate.await_runs(1);
    drop(first);
    let joined = one(&queue, &[1, 1]);
    gate.set(|state| state.lingers = false);
    gate.await_runs(2);
    gate.set(|state| state.open = true);
    assert_eq!(sum(joined), 2.0);
}

#[test]
fn the_end_of_a_queue_stops_what_runs_and_what_waits() {
    let (queue, gate) = queue(1 << 20);
    let (running, waiting) = (one(&queue, &[1]), one(&queue, &[2]));
    gate.await_runs(1);
    drop(queue);
    assert_eq!(block_on(running), Err(ModelError::Stopped));
    assert_eq!(block_on(waiting), Err(ModelError::Stopped));
}

#[test]
fn an_error_is_not_kept() {
    let (queue, gate) = queue(1 << 20);
    gate.fails.store(true, Ordering::SeqCst);
    gate.set(|state| state.open = true);
    let error = block_on(one(&queue, &[1])).unwrap_err();
    assert_eq!(error, ModelError::Run("odd".into()));
    assert_eq!((sum(one(&queue, &[1])), queue.computed()), (1.0, 1));
}

#[test]
fn a_text_that_the_model_cannot_take_fails_alone() {
    let (queue, gate) = queue_with("arch-qwen2", 1 << 20, 1_000);
    let texts: Vec<Vec<u32>> =
        (0..12).map(|at| if at % 5 == 3 { vec![at, ODD] } else { vec![at, 1] }).collect();
    let tickets = queue.submit(texts.iter().map(|ids| text(ids)).collect());
    gate.set(|state| state.open = true);
    for (ids, ticket) in texts.iter().zip(tickets) {
        match block_on(ticket) {
            Ok(rows) => assert_eq!(rows.data, [ids[0] as f32 + 1.0]),
            Err(error) => assert!(ids.contains(&ODD), "{ids:?}: {error}"),
        }
    }
    assert_eq!(queue.computed(), 10);
}

#[test]
fn texts_that_come_one_by_one_go_on_from_what_they_share() {
    let (queue, gate) = queue_of("skywork-reward-kv", 1 << 20);
    let group = |prompt: u32, last: u32| one(&queue, &[vec![prompt; 100], vec![last]].concat());
    let first = group(1, 0);
    gate.await_runs(1);
    let rest: Vec<Ticket> = (1..5).map(|last| group(1, last)).collect();
    gate.set(|state| state.open = true);
    assert_eq!(sum(first), 100.0);
    for ticket in rest {
        block_on(ticket).unwrap();
    }
    assert_eq!(*gate.lengths.lock().unwrap(), [101, 100, 1, 1, 1, 1]);
    // One that comes late finds it too; the next prompt is another.
    block_on(group(1, 9)).unwrap();
    block_on(group(2, 9)).unwrap();
    assert_eq!(gate.lengths.lock().unwrap().get(6..), Some(&[1, 101][..]));
}

#[test]
fn texts_that_share_their_beginning_go_on_from_it_in_one_batch() {
    let (queue, gate) = queue_with("skywork-reward-kv", 1 << 20, 1_000);
    let texts = (1..5).map(|last| text(&[vec![1; 100], vec![last; 2]].concat())).collect();
    let tickets = queue.submit(texts);
    gate.set(|state| state.open = true);
    assert_eq!(tickets.into_iter().map(sum).collect::<Vec<_>>(), [2.0, 4.0, 6.0, 8.0]);
    assert_eq!(*gate.lengths.lock().unwrap(), [100, 2]);
    assert_eq!(queue.computed(), 4);
}

#[test]
fn a_cancelled_prefix_is_computed_again_for_its_waiters() {
    let (queue, gate) = queue_of("skywork-reward-kv", 1 << 20);
    let group = |last: u32| text(&[vec![1; 100], vec![last]].concat());
    let mut tickets = queue.submit((1..4).map(group).collect());
    gate.await_runs(1);
    // Which of them runs is the plan's to say: the first.
    drop(tickets.remove(0));
    gate.await_runs(2);
    gate.set(|state| state.open = true);
    for ticket in tickets {
        assert!(block_on(ticket).is_ok());
    }
}

#[test]
fn a_ticket_goes_anywhere() {
    fn assert_is_send<T: Send + Unpin + 'static>() {}
    assert_is_send::<Ticket>();
}
