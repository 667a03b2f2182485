//! The folders of checkpoints.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use crate::policy::PolicyError;

/// The newest checkpoint of a run: that of the most steps. `None` where there is none, or no folder.
///
/// # Errors
/// A folder that cannot be read.
pub fn newest_checkpoint(run: &Path) -> Result<Option<PathBuf>, PolicyError> {
    let newest = steps(run)?.pop();
    Ok(newest.map(|step| run.join(name(step))))
}

/// The newest checkpoint of a run that is not after `step`. `None` where there is none.
///
/// # Errors
/// A folder that cannot be read.
pub fn newest_checkpoint_until(run: &Path, step: u64) -> Result<Option<PathBuf>, PolicyError> {
    let newest = steps(run)?.into_iter().rfind(|kept| *kept <= step);
    Ok(newest.map(|step| run.join(name(step))))
}

/// Removes all checkpoints of a run but the newest ones, and what was left of a process that ended
/// while it wrote or removed one. 0 keeps all.
///
/// # Errors
/// A folder that cannot be read or removed.
pub fn keep_checkpoints(run: &Path, newest: usize) -> Result<(), PolicyError> {
    let steps = steps(run)?;
    let surplus = if newest == 0 { 0 } else { steps.len().saturating_sub(newest) };
    for step in steps.iter().take(surplus) {
        retire(run, *step)?;
    }
    for entry in names(run)?.into_iter().filter(|name| is_left_over(name)) {
        let path = run.join(entry);
        fs::remove_dir_all(&path).map_err(|error| PolicyError::io(&path, error))?;
    }
    Ok(())
}

/// Removes the checkpoints of a run that have more steps than these: those of a way that a training
/// went and came back from. They would be found as the newest otherwise.
///
/// # Errors
/// A folder that cannot be read or removed.
pub fn remove_checkpoints_after(run: &Path, step: u64) -> Result<(), PolicyError> {
    for later in steps(run)?.into_iter().filter(|later| *later > step) {
        retire(run, later)?;
        remove_if_there(&retired(run, later)).map_err(|error| PolicyError::io(run, error))?;
    }
    Ok(())
}

/// Makes the folder `checkpoint-STEP` of a run with what `fill` writes into it, and takes the place of
/// one that is there. Nothing is to be seen of it before all of it is on the disk.
///
/// # Errors
/// Those of `fill`, and files that cannot be written.
pub fn write_folder(
    run: &Path,
    step: u64,
    fill: impl FnOnce(&Path) -> Result<(), PolicyError>,
) -> Result<PathBuf, PolicyError> {
    let (folder, temporary) = (run.join(name(step)), run.join(format!(".{}.tmp", name(step))));
    let at = |error| PolicyError::io(&temporary, error);
    remove_if_there(&temporary).map_err(at)?;
    fs::create_dir_all(&temporary).map_err(at)?;
    fill(&temporary)?;
    sync(&temporary).map_err(at)?;
    if folder.exists() {
        retire(run, step)?;
    }
    let done = fs::rename(&temporary, &folder).and_then(|()| File::open(run)?.sync_all());
    done.map_err(|error| PolicyError::io(&folder, error))?;
    remove_if_there(&retired(run, step)).map_err(|error| PolicyError::io(&folder, error))?;
    Ok(folder)
}

/// Takes a checkpoint out of sight, so that nobody finds a part of it, then removes it.
fn retire(run: &Path, step: u64) -> Result<(), PolicyError> {
    let (folder, retired) = (run.join(name(step)), retired(run, step));
    let removed = remove_if_there(&retired).and_then(|()| fs::rename(&folder, &retired));
    removed.map_err(|error| PolicyError::io(&folder, error))
}

fn retired(run: &Path, step: u64) -> PathBuf {
    run.join(format!(".{}.old", name(step)))
}

fn remove_if_there(folder: &Path) -> io::Result<()> {
    match fs::remove_dir_all(folder) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

/// Brings the files of a folder and its folders to the disk.
fn sync(folder: &Path) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        if entry.file_type()?.is_dir() {
            sync(&entry.path())?;
        } else {
            File::open(entry.path())?.sync_all()?;
        }
    }
    File::open(folder)?.sync_all()
}

/// The steps that have a checkpoint, in their order.
fn steps(run: &Path) -> Result<Vec<u64>, PolicyError> {
    let mut steps: Vec<u64> = names(run)?.iter().filter_map(|name| step_of(name)).collect();
    steps.sort_unstable();
    Ok(steps)
}

/// The folders in a folder that may not be there.
fn names(run: &Path) -> Result<Vec<String>, PolicyError> {
    let list = || -> io::Result<Vec<String>> {
        let mut names = Vec::new();
        for entry in fs::read_dir(run)? {
            let entry = entry?;
            if entry.file_type()?.is_dir() {
                names.extend(entry.file_name().into_string().ok());
            }
        }
        Ok(names)
    };
    match list() {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Vec::new()),
        listed => listed.map_err(|error| PolicyError::io(run, error)),
    }
}

fn name(step: u64) -> String {
    format!("checkpoint-{step}")
}

fn step_of(folder: &str) -> Option<u64> {
    let step = folder.strip_prefix("checkpoint-")?.parse().ok()?;
    (name(step) == folder).then_some(step)
}

fn is_left_over(folder: &str) -> bool {
    let of = |end| folder.strip_prefix('.').and_then(|rest| rest.strip_suffix(end));
    of(".tmp").or_else(|| of(".old")).is_some_and(|name| step_of(name).is_some())
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use super::*;

    fn write(run: &Path, step: u64, text: &str) -> PathBuf {
        let fill = |folder: &Path| {
            let path = folder.join("file");
            let written = File::create(&path).and_then(|mut file| file.write_all(text.as_bytes()));
            written.map_err(|error| PolicyError::io(&path, error))
        };
        write_folder(run, step, fill).unwrap()
    }

    fn listed(run: &Path) -> Vec<String> {
        let mut names = names(run).unwrap();
        names.sort_unstable();
        names
    }

    #[test]
    fn the_newest_has_the_most_steps() {
        let run = tempfile::tempdir().unwrap();
        let run = run.path().join("run");
        assert_eq!(newest_checkpoint(&run).unwrap(), None);
        for step in [9, 100, 20] {
            write(&run, step, "first");
        }
        for other in ["checkpoint-0200", "checkpoint-", "checkpoint-+300", "best"] {
            fs::create_dir(run.join(other)).unwrap();
        }
        File::create(run.join("checkpoint-400")).unwrap();
        assert_eq!(newest_checkpoint(&run).unwrap(), Some(run.join("checkpoint-100")));
        assert_eq!(newest_checkpoint_until(&run, 99).unwrap(), Some(run.join("checkpoint-20")));
        assert_eq!(newest_checkpoint_until(&run, 8).unwrap(), None);
        keep_checkpoints(&run, 0).unwrap();
        keep_checkpoints(&run, 4).unwrap();
        assert_eq!(steps(&run).unwrap(), [9, 20, 100]);
        keep_checkpoints(&run, 2).unwrap();
        assert_eq!(steps(&run).unwrap(), [20, 100]);
        assert_eq!(listed(&run).len(), 6, "folders of others stay");
        remove_checkpoints_after(&run, 100).unwrap();
        remove_checkpoints_after(&run, 20).unwrap();
        assert_eq!(newest_checkpoint(&run).unwrap(), Some(run.join("checkpoint-20")));
        assert_eq!(listed(&run).len(), 5);
    }

    #[test]
    fn what_is_half_written_is_never_found() {
        let run = tempfile::tempdir().unwrap();
        write(run.path(), 1, "first");
        let fault = write_folder(run.path(), 2, |folder| {
            assert_eq!(
                newest_checkpoint(run.path()).unwrap(),
                Some(run.path().join("checkpoint-1"))
            );
            File::create(folder.join("half")).unwrap();
            Err(PolicyError::invalid("disk", "is full"))
        });
        assert_eq!(fault.unwrap_err().to_string(), "disk: is full");
        assert_eq!(listed(run.path()), [".checkpoint-2.tmp", "checkpoint-1"]);
        let folder = write(run.path(), 2, "second");
        assert_eq!(fs::read_dir(&folder).unwrap().count(), 1, "nothing is left of the half");
        fs::create_dir(run.path().join(".checkpoint-3.old")).unwrap();
        fs::create_dir(run.path().join(".checkpoint-x.old")).unwrap();
        keep_checkpoints(run.path(), 1).unwrap();
        assert_eq!(listed(run.path()), [".checkpoint-x.old", "checkpoint-2"]);
    }

    #[test]
    fn a_checkpoint_is_replaced_as_a_whole() {
        let run = tempfile::tempdir().unwrap();
        write(run.path(), 5, "first");
        let folder = write(run.path(), 5, "second");
        assert_eq!(fs::read_to_string(folder.join("file")).unwrap(), "second");
        assert_eq!(listed(run.path()), ["checkpoint-5"]);
    }
}
