//! The most that a judge may take in a run.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Once};

use assay_verifiers::{Fault, FaultKind, Pending};
use serde_json::Value;

use super::{Judge, JudgeReply, JudgeRequest};

/// Asks no more once a budget is spent. What the store of replies answers costs nothing.
pub(super) struct BudgetedJudge {
    inner: Arc<dyn Judge>,
    budget: Arc<Budget>,
}

/// What was taken out of a budget.
struct Budget {
    limits: BudgetLimits,
    calls: AtomicU64,
    tokens: AtomicU64,
    /// Questions that were sent and not answered yet.
    in_flight: AtomicU64,
    /// A question met a spent budget.
    is_spent: AtomicBool,
    stopped: Option<Arc<dyn Fn() + Send + Sync>>,
    told: Once,
}

/// A question in flight.
struct InFlight(Arc<Budget>);

/// The most calls and tokens.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct BudgetLimits {
    pub(super) calls: Option<u64>,
    pub(super) tokens: Option<u64>,
}

impl BudgetedJudge {
    /// `stopped` is called once, when a question has met a spent budget and all before it are
    /// answered. That question and all after it wait for ever, because the run is being stopped and
    /// their rows are not written; without `stopped` they fail.
    pub(super) fn new(
        inner: Arc<dyn Judge>,
        limits: BudgetLimits,
        stopped: Option<Arc<dyn Fn() + Send + Sync>>,
    ) -> Self {
        let budget = Budget {
            limits,
            calls: AtomicU64::new(0),
            tokens: AtomicU64::new(0),
            in_flight: AtomicU64::new(0),
            is_spent: AtomicBool::new(false),
            stopped,
            told: Once::new(),
        };
        Self { inner, budget: Arc::new(budget) }
    }
}

impl Judge for BudgetedJudge {
    fn identity(&self) -> Value {
        self.inner.identity()
    }

    fn ask(&self, request: JudgeRequest) -> Pending<Result<JudgeReply, Fault>> {
        let (asked, budget) = (self.inner.ask(request), Arc::clone(&self.budget));
        // Requests are made ahead of time: one costs when it is sent.
        Box::pin(async move {
            let _in_flight = match budget.take() {
                Ok(in_flight) => in_flight,
                Err(why) if budget.stopped.is_none() => {
                    return Err(Fault::new(FaultKind::Overloaded, why));
                }
                Err(_) => {
                    budget.is_spent.store(true, Ordering::SeqCst);
                    budget.tell();
                    return std::future::pending().await;
                }
            };
            let reply = asked.await?;
            budget.tokens.fetch_add(reply.usage.tokens, Ordering::AcqRel);
            Ok(reply)
        })
    }
}

impl Budget {
    /// Takes one call out of the budget, or says what is spent.
    fn take(self: &Arc<Self>) -> Result<InFlight, String> {
        self.in_flight.fetch_add(1, Ordering::SeqCst);
        let in_flight = InFlight(Arc::clone(self));
        let tokens = self.tokens.load(Ordering::Acquire);
        if let Some(most) = self.limits.tokens.filter(|most| tokens >= *most) {
            return Err(format!("the budget is spent: {most} tokens"));
        }
        let most = self.limits.calls.unwrap_or(u64::MAX);
        let took = self.calls.fetch_update(Ordering::AcqRel, Ordering::Acquire, |calls| {
            (calls < most).then_some(calls + 1)
        });
        took.map(|_| in_flight).map_err(|_| format!("the budget is spent: {most} calls"))
    }

    /// Says that the budget is spent, once nothing is in flight any more.
    fn tell(&self) {
        let is_idle = self.in_flight.load(Ordering::SeqCst) == 0;
        if let Some(stopped) = self.stopped.as_ref().filter(|_| is_idle) {
            self.told.call_once(|| stopped());
        }
    }
}

impl Drop for InFlight {
    fn drop(&mut self) {
        self.0.in_flight.fetch_sub(1, Ordering::SeqCst);
        if self.0.is_spent.load(Ordering::SeqCst) {
            self.0.tell();
        }
    }
}
