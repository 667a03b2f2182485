//! Counts what a judge is asked, and puts its name before its faults.

use std::sync::Arc;

use assay_verifiers::{Fault, Pending};
use serde_json::Value;

use super::report::JudgeCounters;
use super::{Judge, JudgeReply, JudgeRequest};

/// A judge under the name that the configuration gives it.
pub(super) struct MeteredJudge {
    pub(super) name: String,
    pub(super) inner: Arc<dyn Judge>,
    pub(super) counters: Arc<JudgeCounters>,
}

impl Judge for MeteredJudge {
    fn identity(&self) -> Value {
        self.inner.identity()
    }

    fn ask(&self, request: JudgeRequest) -> Pending<Result<JudgeReply, Fault>> {
        let subject = request.subject.criterion.clone();
        self.counters.called(&subject);
        let (counters, name) = (Arc::clone(&self.counters), self.name.clone());
        let asked = self.inner.ask(request);
        Box::pin(async move {
            let reply = asked.await;
            counters.ended(&subject, &reply);
            reply
                .map_err(|fault| Fault::new(fault.kind, format!("judge \"{name}\": {}", fault.why)))
        })
    }
}
