//! A judge whose replies are kept, or come from those that were.

use std::collections::HashMap;
use std::future;
use std::sync::{Arc, Mutex, PoisonError};

use assay_verifiers::canonical::Digest;
use assay_verifiers::{Fault, FaultKind, Pending};
use futures_util::FutureExt as _;
use futures_util::future::{Shared, WeakShared};
use serde_json::Value;

use super::report::JudgeCounters;
use super::store::{ReplyStore, StoreMode};
use super::{Judge, JudgeReply, JudgeRequest};

/// Answers from a store, and asks only what is not there.
///
/// When recording, a recorded fault is asked again, and requests that are the same and in flight at
/// the same time are asked once. When replaying, the store alone answers, with recorded faults too,
/// and what it does not hold is a fault.
pub struct RecordedJudge {
    inner: Option<Arc<dyn Judge>>,
    identity: Arc<Value>,
    store: Arc<ReplyStore>,
    counters: Arc<JudgeCounters>,
    in_flight: Arc<InFlight>,
}

type Asked = Pending<Result<JudgeReply, Fault>>;

/// The questions in flight, each under a number of its own.
#[derive(Default)]
struct InFlight {
    questions: Mutex<Questions>,
}

#[derive(Default)]
struct Questions {
    asked: HashMap<Digest, (u64, WeakShared<Asked>)>,
    numbers: u64,
}

impl RecordedJudge {
    /// Stands before `inner`, which is needed to record and never touched to replay. `identity` is
    /// that of `inner`.
    pub fn new(
        inner: Option<Arc<dyn Judge>>,
        identity: Value,
        store: Arc<ReplyStore>,
        counters: Arc<JudgeCounters>,
    ) -> Self {
        Self { inner, identity: Arc::new(identity), store, counters, in_flight: Arc::default() }
    }

    fn answered(&self, digest: &Digest, criterion: &str) -> Asked {
        let found = self.store.find(digest);
        if found.is_some() {
            self.counters.recorded(criterion);
        }
        let missing = || {
            let why = format!("no reply is recorded for this request (criterion \"{criterion}\")");
            Err(Fault::new(FaultKind::Upstream, why))
        };
        Box::pin(future::ready(found.unwrap_or_else(missing)))
    }

    /// Asks `inner`, and keeps what it says before anyone else may ask the same.
    fn ask_inner(&self, digest: Digest, request: JudgeRequest, number: u64) -> Asked {
        let Some(inner) = &self.inner else {
            let why = "there is no judge to ask beside the record";
            return Box::pin(future::ready(Err(Fault::new(FaultKind::Internal, why))));
        };
        let leave = Leave { in_flight: Arc::clone(&self.in_flight), digest, number };
        let (store, identity) = (Arc::clone(&self.store), Arc::clone(&self.identity));
        let subject = request.subject.clone();
        let inner = Arc::clone(inner);
        Box::pin(async move {
            // The future holds all of it, and not just its digest: it ends with the future.
            let leave = leave;
            let answer = inner.ask(request).await;
            store.keep(&leave.digest, &identity, &subject, &answer);
            answer
        })
    }

    fn record(&self, digest: Digest, request: JudgeRequest) -> Asked {
        let criterion = request.subject.criterion.clone();
        let mut questions = self.in_flight.lock();
        let shared = questions.asked.get(&digest).and_then(|(_, shared)| shared.upgrade());
        if let Some(shared) = shared {
            return Box::pin(shared);
        }
        if self.store.has_reply(&digest) {
            drop(questions);
            return self.answered(&digest, &criterion);
        }
        questions.numbers += 1;
        let number = questions.numbers;
        let shared: Shared<Asked> = self.ask_inner(digest, request, number).shared();
        if let Some(weak) = shared.downgrade() {
            questions.asked.insert(digest, (number, weak));
        }
        Box::pin(shared)
    }
}

impl Judge for RecordedJudge {
    fn identity(&self) -> Value {
        Value::clone(&self.identity)
    }

    fn ask(&self, request: JudgeRequest) -> Asked {
        let digest = request.digest(&self.identity);
        match self.store.mode() {
            StoreMode::Replay => self.answered(&digest, &request.subject.criterion),
            StoreMode::Record => self.record(digest, request),
        }
    }
}

impl InFlight {
    fn lock(&self) -> std::sync::MutexGuard<'_, Questions> {
        self.questions.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Takes a question off the list when it is answered or given up.
struct Leave {
    in_flight: Arc<InFlight>,
    digest: Digest,
    number: u64,
}

impl Drop for Leave {
    fn drop(&mut self) {
        let mut questions = self.in_flight.lock();
        let is_own = |(number, _): &(u64, _)| *number == self.number;
        if questions.asked.get(&self.digest).is_some_and(is_own) {
            questions.asked.remove(&self.digest);
        }
    }
}
