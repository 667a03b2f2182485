//! A second start proves nothing that the first one proved, unless anything of it is another.

#![allow(clippy::disallowed_methods, reason = "files are changed as they lie")]

use std::fs::{self, File, FileTimes};
use std::io::{Seek as _, SeekFrom, Write as _};
use std::num::NonZeroUsize;
use std::path::Path;

use assay_reward_models::backend::BackendChoice;
use assay_reward_models::digests::VerifyDigests;
use assay_reward_models::models::RunSettings;
use assay_reward_models::{ModelError, Models, OrtDiscovery};

use crate::support;

/// The model of more than 1 MiB, whose digest is kept.
const MODEL: &str = "arithmetic-prm";

struct Place {
    folder: tempfile::TempDir,
    cache: tempfile::TempDir,
}

impl Place {
    fn new() -> Self {
        let [folder, cache] = [(); 2].map(|()| tempfile::tempdir().unwrap());
        for entry in fs::read_dir(support::root().join("fixtures/models").join(MODEL)).unwrap() {
            let entry = entry.unwrap();
            fs::copy(entry.path(), folder.path().join(entry.file_name())).unwrap();
        }
        Self { folder, cache }
    }

    fn path(&self, file: &str) -> std::path::PathBuf {
        self.folder.path().join(file)
    }

    /// How many texts a start computes to prove the model.
    fn start(&self, run: &RunSettings) -> Result<u64, ModelError> {
        let known_digests = Some(self.cache.path().to_owned());
        let libraries = support::libraries();
        let discovery = OrtDiscovery { libraries, known_digests, ..OrtDiscovery::default() };
        Models::new(discovery).load(self.folder.path(), run).map(|model| model.computed())
    }

    fn change(&self, file: &str, from: &str, to: &str) {
        let text = fs::read_to_string(self.path(file)).unwrap();
        assert!(text.contains(from), "{file}");
        fs::write(self.path(file), text.replacen(from, to, 1)).unwrap();
    }
}

/// Another weight, of a file that has its size and its time of change as before.
fn overwrite(path: &Path) {
    let before = fs::metadata(path).unwrap();
    let mut file = File::options().write(true).open(path).unwrap();
    file.seek(SeekFrom::Start(before.len() / 2)).unwrap();
    file.write_all(&[0x41; 64]).unwrap();
    file.set_times(FileTimes::new().set_modified(before.modified().unwrap())).unwrap();
    let now = fs::metadata(path).unwrap();
    assert_eq!((before.len(), before.modified().unwrap()), (now.len(), now.modified().unwrap()));
}

#[test]
fn what_was_proved_is_not_proved_again() {
    for backend in [BackendChoice::Ort, BackendChoice::Rten] {
        let place = Place::new();
        let run = RunSettings { backend, workers: 1, ..RunSettings::default() };
        let first = place.start(&run).unwrap();
        assert!(first > 0);
        assert_eq!(place.start(&run), Ok(0), "{backend:?}");
        // Other settings are another proof, and some ask for one at each start.
        let threads = NonZeroUsize::new(2);
        assert_eq!(place.start(&RunSettings { threads, ..run.clone() }), Ok(first));
        for verify_digests in [VerifyDigests::Always, VerifyDigests::Never] {
            let run = RunSettings { verify_digests, ..run.clone() };
            assert_eq!([(); 2].map(|()| place.start(&run)), [Ok(first), Ok(first)]);
        }
        // What is kept may be damaged.
        for entry in fs::read_dir(place.cache.path()).unwrap() {
            fs::write(entry.unwrap().path(), "tru").unwrap();
        }
        assert_eq!(place.start(&run), Ok(first), "{backend:?}");
        assert_eq!(place.start(&run), Ok(0), "{backend:?}");
    }
}

#[test]
fn what_is_another_is_proved_or_refused() {
    let run = RunSettings { backend: BackendChoice::Rten, workers: 1, ..RunSettings::default() };
    let proved = || {
        let place = Place::new();
        assert!(place.start(&run).unwrap() > 0);
        assert_eq!(place.start(&run), Ok(0));
        place
    };
    let place = proved();
    overwrite(&place.path("model.onnx"));
    assert!(matches!(place.start(&run), Err(ModelError::Digest { .. })));

    let place = proved();
    let size = fs::metadata(place.path("model.onnx")).unwrap().len();
    File::options().write(true).open(place.path("model.onnx")).unwrap().set_len(size - 64).unwrap();
    assert!(matches!(place.start(&run), Err(ModelError::Digest { .. })));

    let place = proved();
    place.change("model.toml", "\nscore = ", "\nscore = 9.5 # ");
    assert!(matches!(place.start(&run), Err(ModelError::Golden { .. })));

    let place = proved();
    place.change("template.jinja", "{{", "so {{");
    assert!(matches!(place.start(&run), Err(ModelError::Golden { .. })));
}
