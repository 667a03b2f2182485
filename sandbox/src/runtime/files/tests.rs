//! The rules of the file system, whoever asks.

use super::file::*;
use super::memory::*;
use super::tree::ENTRIES_MAX;

const READ: Access = Access { read: true, write: false, append: false };
const WRITE: Access = Access { read: false, write: true, append: false };

fn create(files: &MemoryFiles, path: &str) -> Result<Open, FileError> {
    files.open(path, How { access: WRITE, create: true, ..How::default() })
}

fn names(files: &MemoryFiles, path: &str) -> Vec<String> {
    files.tree().list(path).unwrap().into_iter().map(|(name, _)| name).collect()
}

#[test]
fn paths_stay_below_the_root() {
    for (path, whole) in [
        ("a/./b//c", "x/a/b/c"),
        ("/a", "a"),
        ("../a", "a"),
        ("../../../etc/passwd", "etc/passwd"),
        ("a/..", "x"),
        ("", "x"),
        ("/", ""),
    ] {
        assert_eq!(resolved("x", path).as_deref(), Ok(whole), "{path}");
    }
    assert_eq!(resolved("", "a\0b"), Err(FileError::Invalid));
    assert_eq!(resolved("", &"a/".repeat(PATH_BYTES_MAX)), Err(FileError::NameTooLong));
}

#[test]
fn what_is_put_is_found_and_what_is_written_can_be_read() {
    let files = MemoryFiles::default();
    files.put("a/b.txt", b"one").unwrap();
    files.put_unlisted("main.py", b"code").unwrap();
    assert_eq!(names(&files, ""), ["a"]);
    assert_eq!(names(&files, "a"), ["b.txt"]);
    assert_eq!(files.get("main.py").unwrap(), b"code");
    assert_eq!(files.put("a/b.txt", b""), Err(FileError::Exists));
    assert_eq!(files.put("a/b.txt/c", b""), Err(FileError::NotFolder));
    assert_eq!(files.get("a"), None);

    let open = create(&files, "tmp/new").unwrap();
    assert_eq!(open.writable().unwrap().write(Some(2), b"xy"), Ok(4));
    assert_eq!(open.writable().unwrap().write(None, b"z"), Ok(5));
    assert_eq!(files.get("./tmp/../tmp/new").unwrap(), b"\0\0xyz");
    assert_eq!(open.readable().err(), Some(FileError::BadDescriptor));
    let again = files.open("tmp/new", How { access: READ, ..How::default() }).unwrap();
    assert_eq!(again.readable().unwrap().read(3, 10), b"yz");
    assert!(again.readable().unwrap().read(u64::MAX, 1).is_empty());
    let truncate = How { access: WRITE, truncate: true, ..How::default() };
    drop(files.open("tmp/new", truncate).unwrap());
    assert_eq!(files.get("tmp/new").unwrap(), b"");
}

#[test]
fn mistakes_are_told_as_a_system_tells_them() {
    let files = MemoryFiles::default();
    files.put("a/b", b"").unwrap();
    let opened = |path: &str, how: How| files.open(path, how).err();
    assert_eq!(opened("none", How::default()), Some(FileError::NoEntry));
    assert_eq!(opened("a/b/c", How::default()), Some(FileError::NotFolder));
    assert_eq!(opened("a/b", How { folder: true, ..How::default() }), Some(FileError::NotFolder));
    assert_eq!(opened("a", How { access: WRITE, ..How::default() }), Some(FileError::IsFolder));
    let exclusive = How { create: true, exclusive: true, ..How::default() };
    assert_eq!(opened("a/b", exclusive), Some(FileError::Exists));
    assert_eq!(create(&files, "none/b").err(), Some(FileError::NoEntry));
    assert_eq!(files.make_folder("a"), Err(FileError::Exists));
    assert_eq!(files.make_folder("x/y"), Err(FileError::NoEntry));
    assert_eq!(files.remove("a", true), Err(FileError::NotEmpty));
    assert_eq!(files.remove("a", false), Err(FileError::IsFolder));
    assert_eq!(files.remove("a/b", true), Err(FileError::NotFolder));
    assert_eq!(files.remove("", true), Err(FileError::Invalid));
    assert_eq!(files.rename("a", "a/c"), Err(FileError::Invalid));
    assert_eq!(files.rename("a", "none/c"), Err(FileError::NoEntry));
    assert_eq!(files.rename("a", "a/b"), Err(FileError::Invalid));
    assert_eq!(files.rename("a/b", "a"), Err(FileError::IsFolder));
}

#[test]
fn a_folder_moves_with_what_is_in_it() {
    let files = MemoryFiles::default();
    for path in ["a/b/c", "a/d", "ab", "e/f"] {
        files.put(path, path.as_bytes()).unwrap();
    }
    files.rename("a", "e/g").unwrap();
    assert_eq!(names(&files, ""), ["ab", "e"]);
    assert_eq!(names(&files, "e/g"), ["b", "d"]);
    assert_eq!(files.get("e/g/b/c").unwrap(), b"a/b/c");
    files.rename("ab", "e/f").unwrap();
    assert_eq!(files.get("e/f").unwrap(), b"ab");
}

#[test]
fn a_change_shows_in_the_time() {
    let files = MemoryFiles::default();
    let changed = |path: &str| files.tree().stat(path).unwrap().changed();
    let empty = changed("");
    files.put("a", b"1").unwrap();
    let (made, folder) = (changed("a"), changed(""));
    assert!(empty < folder);
    create(&files, "a").unwrap().writable().unwrap().write(None, b"2").unwrap();
    assert!(made < changed("a"));
    assert_eq!(folder, changed(""));
}

#[test]
fn everything_has_an_end() {
    let files = MemoryFiles::default();
    let open = create(&files, "a").unwrap();
    let file = open.writable().unwrap();
    let end = FILES_BYTES_MAX as u64;
    assert_eq!(file.write(Some(end), b"x"), Err(FileError::NoSpace));
    assert_eq!(file.write(Some(u64::MAX), b"x"), Err(FileError::NoSpace));
    assert_eq!(file.resize(end + 1), Err(FileError::NoSpace));
    file.resize(end).unwrap();
    assert_eq!(files.put("b", b"x"), Err(FileError::NoSpace));
    // A file that is still open keeps its room.
    files.remove("a", false).unwrap();
    assert_eq!(files.put("c", b"x"), Err(FileError::NoSpace));
    drop(open);
    files.put("d", b"x").unwrap();

    let all: Vec<_> = (0..OPEN_MAX).map(|_| files.folder().unwrap()).collect();
    assert_eq!(files.folder().err(), Some(FileError::TooManyOpen));
    drop(all);
    files.folder().unwrap();
    let made =
        (0..=ENTRIES_MAX).take_while(|at| files.make_folder(&format!("f{at}")).is_ok()).count();
    assert!(made < ENTRIES_MAX);
    assert_eq!(files.make_folder("more"), Err(FileError::NoSpace));
}
