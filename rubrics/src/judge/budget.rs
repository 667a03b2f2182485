//! The most that a judge may take in a run.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Once};

use assay_verifiers::{Fault, FaultKind, Pending};
use serde_json::Value;

use super::{Judge, JudgeReply, JudgeRequest};

/// Asks no more once a budget is spent. What the store of replies answers costs nothing.
pub(super) struct BudgetedJudge {
    inner: Arc<dyn Judge>,
    limits: BudgetLimits,
    calls: AtomicU64,
    tokens: Arc<AtomicU64>,
    stopped: Option<Arc<dyn Fn() + Send + Sync>>,
    told: Once,
}

/// The most calls and tokens.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct BudgetLimits {
    pub(super) calls: Option<u64>,
    pub(super) tokens: Option<u64>,
}

impl BudgetedJudge {
    /// `stopped` is called once, when the first question meets a spent budget. That question and all
    /// after it wait for ever then, because the run is being stopped and their rows are not written;
    /// without it they fail.
    pub(super) fn new(
        inner: Arc<dyn Judge>,
        limits: BudgetLimits,
        stopped: Option<Arc<dyn Fn() + Send + Sync>>,
    ) -> Self {
        let (calls, tokens, told) = (AtomicU64::new(0), Arc::default(), Once::new());
        Self { inner, limits, calls, tokens, stopped, told }
    }

    /// Takes one call out of the budget, or says what is spent.
    fn take(&self) -> Result<(), String> {
        let tokens = self.tokens.load(Ordering::Acquire);
        if let Some(most) = self.limits.tokens.filter(|most| tokens >= *most) {
            return Err(format!("the budget is spent: {most} tokens"));
        }
        let most = self.limits.calls.unwrap_or(u64::MAX);
        let took = self.calls.fetch_update(Ordering::AcqRel, Ordering::Acquire, |calls| {
            (calls < most).then_some(calls + 1)
        });
        took.map(|_| ()).map_err(|_| format!("the budget is spent: {most} calls"))
    }

    fn spent(&self, why: String) -> Pending<Result<JudgeReply, Fault>> {
        let Some(stopped) = &self.stopped else {
            return Box::pin(async { Err(Fault::new(FaultKind::Overloaded, why)) });
        };
        self.told.call_once(|| stopped());
        Box::pin(std::future::pending())
    }
}

impl Judge for BudgetedJudge {
    fn identity(&self) -> Value {
        self.inner.identity()
    }

    fn ask(&self, request: JudgeRequest) -> Pending<Result<JudgeReply, Fault>> {
        if let Err(why) = self.take() {
            return self.spent(why);
        }
        let tokens = Arc::clone(&self.tokens);
        let asked = self.inner.ask(request);
        Box::pin(async move {
            let reply = asked.await?;
            tokens.fetch_add(reply.usage.tokens, Ordering::AcqRel);
            Ok(reply)
        })
    }
}
