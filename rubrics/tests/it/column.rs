//! Replies that stand in the row.

use assay_rubrics::judge::{ColumnJudge, Judge as _, JudgeRequest};
use assay_verifiers::{FaultKind, Sample};
use serde_json::{Value, json};

use crate::asking::question;

/// What the column `judge.replies` of a row answers.
async fn ask(column: Value, change: fn(&mut JudgeRequest)) -> Result<String, String> {
    let mut request = question("polite");
    let Value::Object(meta) = json!({"judge": {"replies": column}}) else { unreachable!() };
    request.sample = Sample::builder("x").meta(meta).build();
    change(&mut request);
    match ColumnJudge::new("judge.replies").ask(request).await {
        Ok(reply) => Ok(reply.text),
        Err(fault) => {
            assert_eq!(fault.kind, FaultKind::BadInput);
            Err(fault.why.into_owned())
        }
    }
}

fn second(request: &mut JudgeRequest) {
    request.vote = 1;
}

fn swapped(request: &mut JudgeRequest) {
    request.subject.swapped = true;
}

#[tokio::test]
async fn every_form_of_a_column_is_read() {
    let same = |_: &mut JudgeRequest| {};
    let pairs = json!([{"text": "A"}, {"text": "B", "swap": true}, {"text": "C", "swap": false}]);
    for (column, change, reply) in [
        (json!("yes"), same as fn(&mut _), "yes"),
        (json!("yes"), second, "yes"),
        (json!(["one", "two"]), second, "two"),
        (pairs.clone(), same, "A"),
        (pairs.clone(), second, "C"),
        (pairs.clone(), swapped, "B"),
        (json!({"polite": "by name", "short": "no"}), same, "by name"),
        (json!({"polite": ["x", "y"]}), second, "y"),
        (json!({"polite": pairs}), swapped, "B"),
    ] {
        assert_eq!(ask(column.clone(), change).await.as_deref(), Ok(reply), "{column}");
    }
}

#[tokio::test]
async fn what_is_not_there_is_a_fault_that_names_it() {
    let same = |_: &mut JudgeRequest| {};
    for (column, change) in [
        (json!(null), same as fn(&mut _)),
        (json!(7), same),
        (json!([]), same),
        (json!(["one"]), second),
        (json!("yes"), swapped),
        (json!(["yes"]), swapped),
        (json!([{"text": "A"}]), swapped),
        (json!([{"txt": "A"}]), same),
        (json!({"short": "no"}), same),
        (json!({"polite": null}), same),
    ] {
        let why = ask(column.clone(), change).await.unwrap_err();
        assert!(
            why.starts_with("column \"judge.replies\": no reply for criterion \"polite\""),
            "{why}"
        );
    }
    let why = ask(json!("yes"), swapped).await.unwrap_err();
    assert!(why.ends_with("in the other order, vote 0"), "{why}");
}
