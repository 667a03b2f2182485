//! Event files byte for byte as the package `tensorboard` 2.21 writes the same events
//! (`summary.writer.record_writer.RecordWriter` over its `Event` messages).

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use assay_trainer::training::metrics::{EventClock, TensorBoard};
use assay_trainer::training::{EvaluationReport, StepReport, TrainingObserver as _};

const VERSION: &str =
    "1800000000000000a37f4b220900003040fc54d9411a0d627261696e2e4576656e743a32f4d59272";
const RESTART: &str = "100000000000000095fbfe180900007040fc54d94110ad023a020801ef84a5a8";
const STEP: &str = "36000000000000004f578cef090000b040fc54d94110ad022a280a110a0a747261696e2f6c6f7373150000c07f\
    0a130a0c747261696e2f726577617264150000003fa8120608";
const EVALUATION: &str = "51000000000000009ca1d9bc090000f040fc54d94110ad022a430a140a0d6576616c2f61636375726163791500000000\
    0a170a106576616c2f6d65616e5f6c656e67746815000000000a120a0b6576616c2f7061737340381500\
    00803fc56335e7";

/// 1,700,000,000.75 seconds since 1970, and a second more each time.
fn clock() -> EventClock {
    let mut time = 1_699_999_999.75;
    Box::new(move || {
        time += 1.0;
        time
    })
}

fn hex(path: &Path) -> String {
    fs::read(path).unwrap().iter().fold(String::new(), |mut text, byte| {
        write!(text, "{byte:02x}").unwrap();
        text
    })
}

#[test]
fn events_are_those_of_tensorboard() {
    let folder = tempfile::tempdir().unwrap();
    let mut events =
        TensorBoard::resume(&folder.path().join("logs"), "a/host", 300, clock()).unwrap();
    let metrics = [("reward".to_owned(), 0.5), ("loss".to_owned(), f64::NAN)].into();
    events.on_step(&StepReport { step: 301, metrics, ..StepReport::default() }).unwrap();
    let pass_at_k = vec![(8, 1.0)];
    events.on_evaluation(&EvaluationReport { step: 301, pass_at_k, ..Default::default() }).unwrap();
    assert_eq!(events.path(), folder.path().join("logs/events.out.tfevents.1700000000.a_host"));
    assert_eq!(hex(events.path()), [VERSION, RESTART, STEP, EVALUATION].concat());
}

#[test]
fn a_new_file_begins_with_its_version() {
    let folder = tempfile::tempdir().unwrap();
    let events = TensorBoard::create(folder.path(), "host", clock()).unwrap();
    assert_eq!(hex(events.path()), VERSION);
    let again = TensorBoard::create(folder.path(), "host", clock()).unwrap();
    assert_eq!(again.path(), events.path().with_extension("host.1"));
    assert_eq!(hex(again.path()), VERSION);
    let error = TensorBoard::create(again.path(), "host", clock()).unwrap_err().to_string();
    assert!(error.contains("events.out.tfevents.1700000000.host.1"), "{error}");
}
