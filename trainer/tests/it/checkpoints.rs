//! A training goes on from a checkpoint as if it had never stopped, or is told why it cannot.

use std::fs::{self, File};
use std::io::Write as _;
use std::path::{Path, PathBuf};

use assay_trainer::config::OptimizerConfig;
use assay_trainer::policy::{Parameters, PolicyError};
use assay_trainer::training::checkpoint::{
    Checkpoint, CheckpointTarget, newest_checkpoint, read_parameters, write_parameters,
};
use assay_trainer::training::{AdamW, TaskEvaluation, TrainerState};
use proptest::prelude::*;

const SEED: u64 = u64::MAX - 1;

/// A training as far as a checkpoint knows of it.
#[derive(Clone)]
struct Training {
    parameters: Parameters,
    reference: Option<Parameters>,
    adamw: AdamW,
    seed: u64,
    state: TrainerState,
}

fn parameters(second: &str, shape: &[usize]) -> Parameters {
    let mut parameters = Parameters::default();
    let values: Vec<f32> = (1..=20_u8).map(|at| f32::from(at).sin()).collect();
    parameters.push("layers.1.weight", &[4, 5], &values, true);
    parameters.push("embedding", &[2, 2], &[0.5; 4], false);
    parameters.push(second, shape, &values, true);
    parameters
}

fn training(parameters: Parameters) -> Training {
    let config = OptimizerConfig { learning_rate: 0.1, weight_decay: 0.1, ..Default::default() };
    let adamw = AdamW::new(&config, &parameters, 10).unwrap();
    let reference = Some(parameters.clone());
    Training { parameters, reference, adamw, seed: SEED, state: TrainerState::default() }
}

fn fresh() -> Training {
    training(parameters("norm", &[6]))
}

impl Training {
    fn step(&mut self) {
        self.state.step += 1;
        let step = u16::try_from(self.state.step).unwrap();
        let mut gradients = self.parameters.gradients();
        for (at, gradient) in (1_u8..).zip(gradients.values_mut()) {
            *gradient = (f32::from(at) * f32::from(step)).cos();
        }
        self.adamw.update(&mut self.parameters, &gradients).unwrap();
        let numbers = vec![f64::NAN, f64::NEG_INFINITY, -0.0, 0.1 * f64::from(step)];
        self.state.estimator.0.insert("mean".to_owned(), numbers);
        self.state.selection.seed = u64::MAX;
        self.state.selection.set("best", f64::INFINITY);
        self.state.training.step = self.state.step;
        self.state.training.values.insert("accuracy".to_owned(), 0.1 * f64::from(step));
        self.state.tasks_drawn += 3;
        let samples = TaskEvaluation { id: "NaN".to_owned(), samples: 8, ..Default::default() };
        self.state.baseline = vec![samples];
    }

    fn checkpoint(&self) -> Checkpoint<'_> {
        Checkpoint {
            seed: self.seed,
            state: &self.state,
            parameters: &self.parameters,
            reference: self.reference.as_ref(),
            optimizer: self.adamw.state(),
        }
    }

    fn write(&self, run: &Path) -> PathBuf {
        self.checkpoint().write(run, |_| Ok(())).unwrap()
    }

    fn read(&mut self, folder: &Path) -> Result<(), PolicyError> {
        let target = CheckpointTarget {
            seed: self.seed,
            parameters: &mut self.parameters,
            reference: self.reference.as_mut(),
            optimizer: &mut self.adamw,
        };
        self.state = target.read(folder)?;
        Ok(())
    }
}

fn assert_same(have: &Training, expected: &Training) {
    let bits = |training: &Training| -> Vec<u32> {
        let moments = training.adamw.state();
        let reference = training.reference.as_ref().map(Parameters::values).unwrap_or_default();
        let all = training.parameters.values().iter().chain(reference);
        let all = all.chain(&moments.first).chain(&moments.second);
        all.map(|value| value.to_bits()).collect()
    };
    assert_eq!(bits(have), bits(expected));
    assert_eq!(have.adamw.state().updates, expected.adamw.state().updates);
    assert_eq!(
        serde_json::to_value(&have.state).unwrap(),
        serde_json::to_value(&expected.state).unwrap()
    );
}

#[test]
fn a_training_goes_on_as_if_it_had_never_stopped() {
    let run = tempfile::tempdir().unwrap();
    let mut whole = fresh();
    for _ in 0..3 {
        whole.step();
    }
    whole.reference.as_mut().unwrap().values_mut()[0] = 0.75;
    let folder = whole.write(run.path());
    assert_eq!(newest_checkpoint(run.path()).unwrap(), Some(folder.clone()));
    let mut resumed = fresh();
    resumed.read(&folder).unwrap();
    assert_same(&resumed, &whole);
    whole.step();
    resumed.step();
    assert_same(&resumed, &whole);
    let bytes = |folder: &Path| {
        ["state.json", "model.safetensors", "optimizer.safetensors", "reference.safetensors"]
            .map(|name| fs::read(folder.join(name)).unwrap())
    };
    let again = tempfile::tempdir().unwrap();
    assert!(bytes(&whole.write(run.path())) == bytes(&resumed.write(again.path())));
}

#[test]
fn numbers_that_are_not_finite_survive() {
    let run = tempfile::tempdir().unwrap();
    let mut broken = fresh();
    let odd = [f32::NAN, f32::INFINITY, -0.0, f32::MIN_POSITIVE / 4.0, f32::from_bits(0xffc0_1234)];
    for (value, odd) in broken.parameters.values_mut().iter_mut().zip(odd) {
        *value = odd;
    }
    let folder = broken.write(run.path());
    let mut resumed = fresh();
    resumed.read(&folder).unwrap();
    assert_same(&resumed, &broken);
}

#[test]
fn what_goes_beside_a_checkpoint_is_a_part_of_it() {
    let run = tempfile::tempdir().unwrap();
    let training = fresh();
    let whole = training.checkpoint();
    let fault = whole.write(run.path(), |_| Err(PolicyError::invalid("tokenizer", "is not there")));
    assert_eq!(fault.unwrap_err().to_string(), "tokenizer: is not there");
    assert_eq!(newest_checkpoint(run.path()).unwrap(), None);
    let folder = whole
        .write(run.path(), |folder| {
            File::create(folder.join("config.json")).unwrap().write_all(b"{}").unwrap();
            Ok(())
        })
        .unwrap();
    assert_eq!(folder, run.path().join("checkpoint-0"));
    assert_eq!(fs::read_dir(folder).unwrap().count(), 5);
}

/// Reads a checkpoint that was changed into `reader`, which has to say why not and be as it was.
fn assert_refused(mut reader: Training, change: impl Fn(&Path), message: &str) {
    let run = tempfile::tempdir().unwrap();
    let mut written = fresh();
    written.step();
    let folder = written.write(run.path());
    change(&folder);
    let before = reader.clone();
    let error = reader.read(&folder).unwrap_err().to_string();
    assert!(error.starts_with(&folder.display().to_string()), "{error}");
    assert!(error.contains(message), "{error} is not about {message}");
    assert_same(&reader, &before);
}

fn replace(file: &Path, from: &str, to: &str) {
    let text = fs::read_to_string(file).unwrap();
    assert!(text.contains(from), "{text}");
    File::create(file).unwrap().write_all(text.replace(from, to).as_bytes()).unwrap();
}

#[test]
fn files_that_are_torn_or_changed_are_refused() {
    for name in ["model.safetensors", "optimizer.safetensors", "reference.safetensors"] {
        let cut = |folder: &Path| {
            let file = File::options().write(true).open(folder.join(name)).unwrap();
            file.set_len(file.metadata().unwrap().len() - 1).unwrap();
        };
        assert_refused(fresh(), cut, &format!("{name}: SHA-256: has "));
        let flip = |folder: &Path| {
            let mut bytes = fs::read(folder.join(name)).unwrap();
            *bytes.last_mut().unwrap() ^= 1;
            File::create(folder.join(name)).unwrap().write_all(&bytes).unwrap();
        };
        assert_refused(fresh(), flip, &format!("{name}: SHA-256: has "));
        assert_refused(fresh(), |folder| fs::remove_file(folder.join(name)).unwrap(), name);
    }
    let state = |folder: &Path| folder.join("state.json");
    let torn = |folder: &Path| {
        File::options().write(true).open(state(folder)).unwrap().set_len(100).unwrap();
    };
    assert_refused(fresh(), torn, "state.json: EOF while parsing");
    let renamed = |folder: &Path| replace(&state(folder), "tasks_drawn", "tasks");
    assert_refused(fresh(), renamed, "state.json: missing field `tasks_drawn`");
    let newer = |folder: &Path| replace(&state(folder), "\"format\": 1", "\"format\": 2");
    assert_refused(fresh(), newer, "state.json: format: has 2, expected 1");
}

#[test]
fn checkpoints_of_other_trainings_are_refused() {
    let same = |_: &Path| ();
    let mut seeded = fresh();
    seeded.seed = 7;
    assert_refused(seeded, same, &format!("state.json: seed: has {SEED}, expected 7"));
    let shaped = training(parameters("norm", &[3, 2]));
    assert_refused(shaped, same, "model.safetensors: norm: has F32 [6], expected F32 [3, 2]");
    let named = training(parameters("other", &[6]));
    assert_refused(named, same, "model.safetensors: other: is not there");
    let longer = training(parameters("norm", &[7]));
    assert_refused(longer, same, "optimizer.safetensors: exp_avg: has F32 [26], expected F32 [27]");
    let mut frozen = parameters("norm", &[6]);
    frozen.values_mut()[20] = 0.25;
    assert_refused(training(frozen), same, "state.json: frozen: has ");
    let mut alone = fresh();
    alone.reference = None;
    assert_refused(alone, same, "reference.safetensors: has weights, expected none");
    let mut fewer = Parameters::default();
    fewer.push("embedding", &[2, 2], &[0.5; 4], false);
    fewer.push("layers.1.weight", &[26], &[0.0; 26], true);
    assert_refused(training(fewer), same, "layers.1.weight: has F32 [4, 5], expected F32 [26]");
}

#[test]
fn weights_are_read_by_their_names() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("model.safetensors");
    let mut written = Parameters::default();
    written.push("b", &[2], &[1.0, 2.0], true);
    written.push("a", &[1, 1], &[3.0], true);
    let digest = write_parameters(&path, &written).unwrap();
    let mut read = Parameters::default();
    read.push("a", &[1, 1], &[0.0], true);
    read.push("frozen", &[1], &[9.0], false);
    read.push("b", &[2], &[0.0, 0.0], true);
    assert_eq!(read_parameters(&path, &mut read).unwrap(), digest);
    assert_eq!(read.values(), [3.0, 9.0, 1.0, 2.0]);
    let mut fewer = Parameters::default();
    fewer.push("b", &[2], &[0.0, 0.0], true);
    let error = read_parameters(&path, &mut fewer).unwrap_err().to_string();
    assert!(error.ends_with("model.safetensors: a: is not expected"), "{error}");
    written.push("a", &[1], &[4.0], true);
    let error = write_parameters(&path, &written).unwrap_err().to_string();
    assert!(error.ends_with("two of `a`"), "{error}");
}

proptest! {
    #[test]
    fn no_bytes_are_a_panic(bytes in hostile()) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("model.safetensors");
        File::create(&path).unwrap().write_all(&bytes).unwrap();
        let mut parameters = parameters("norm", &[6]);
        let before = parameters.clone();
        prop_assert!(read_parameters(&path, &mut parameters).is_err());
        prop_assert_eq!(parameters, before);
    }
}

/// Any bytes, and any description in a frame that is right.
fn hostile() -> impl Strategy<Value = Vec<u8>> {
    let framed = "\\{(\"norm\":)?\\{\"dtype\":\"(F32|F64)\",\"shape\":\\[[0-9]{1,20}\\],\"data_offsets\":\\[[0-9],[0-9]{1,20}\\]\\}\\}"
        .prop_map(|text: String| [&(text.len() as u64).to_le_bytes()[..], text.as_bytes(), &[0; 24]].concat());
    prop_oneof![proptest::collection::vec(any::<u8>(), 0..100), framed]
}
