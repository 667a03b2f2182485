//! Trees, archives, and the answers that change them.

#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a test stops at what it does not expect"
)]

use std::convert::Infallible;

use assay_patch::{FileTree, Proposal, Unapplied, safe_path, tar};
use proptest::prelude::*;
use serde_json::json;

fn tree(files: &[(&str, &str)]) -> FileTree {
    let mut tree = FileTree::new();
    for (path, text) in files {
        tree.put(path, text.as_bytes().to_vec()).unwrap();
    }
    tree
}

/// The tree after an answer, or why it is refused.
fn applied(before: &FileTree, answer: &str) -> Result<FileTree, String> {
    let proposal = Proposal::find(answer).ok_or("nothing is proposed")?;
    let done = proposal.apply::<Infallible>(before, &|_| false, 2, &mut |_| Ok(()));
    done.map(|done| done.tree).map_err(|why| match why {
        Unapplied::Refused(why) => why.to_string(),
        Unapplied::Unpaid(never) => match never {},
    })
}

const TEN: &str = "1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n";

#[test]
fn unified_diffs_apply_as_git_applies_them() {
    let before = tree(&[("a.txt", TEN), ("sub/b.txt", "x\ny"), ("old.txt", "o\n")]);
    let cases = [
        ("--- a/a.txt\n+++ b/a.txt\n@@ -1,3 +1,3 @@\n 1\n-2\n+two\n 3\n", "a.txt", "1\ntwo\n3\n4"),
        // The place is wrong by three lines.
        (
            "--- a.txt\n+++ a.txt\n@@ -1,3 +1,3 @@\n 4\n-5\n+five\n 6\n",
            "a.txt",
            "1\n2\n3\n4\nfive\n6",
        ),
        // The first line of the context is another one.
        (
            "--- a/a.txt\n+++ b/a.txt\n@@ -1,5 +1,5 @@\n 0\n 2\n-3\n+three\n 4\n 5\n",
            "a.txt",
            "1\n2\nthree\n4",
        ),
        // Counts are wrong, and a blank in front of an empty line is missing.
        ("--- a/a.txt\n+++ b/a.txt\n@@ -1,9 +1,2 @@\n 1\n-2\n+two\n\n", "a.txt", "1\ntwo\n3\n"),
        // No line is named.
        (
            "--- a/a.txt\n+++ b/a.txt\n@@ ... @@\n 8\n-9\n+nine\n@@\n 10\n+11\n",
            "a.txt",
            "1\n2\n3\n4\n5\n6\n7\n8\nnine\n10\n11\n",
        ),
        ("--- /dev/null\n+++ b/new/c.txt\n@@ -0,0 +1,2 @@\n+c\n+d\n", "new/c.txt", "c\nd\n"),
        ("diff --git a/e.py b/e.py\nnew file mode 100644\nindex 0..e69de29\n", "e.py", ""),
        (
            "diff --git a/sub/b.txt b/sub/b.txt\n--- a/sub/b.txt\n+++ b/sub/b.txt\n@@ -1,2 +1,2 @@\n x\n-y\n\\ No newline at end of file\n+z\n\\ No newline at end of file\n",
            "sub/b.txt",
            "x\nz",
        ),
        (
            "diff --git a/old.txt b/n.txt\nsimilarity index 100%\nrename from old.txt\nrename to n.txt\n",
            "n.txt",
            "o\n",
        ),
        (
            "--- \"a/a.txt\"\t2024-01-01\n+++ \"b/a.txt\"\t2024-01-01\n@@ -10 +10,2 @@\n 10\n+\\303\n",
            "a.txt",
            "1\n2",
        ),
    ];
    for (diff, path, wanted) in cases {
        for answer in [diff.to_owned(), format!("Here:\n\n```diff\n{diff}```\n- and so on\n")] {
            let after = applied(&before, &answer).unwrap();
            let found = String::from_utf8_lossy(after.get(path).unwrap()).into_owned();
            assert!(found.starts_with(wanted), "{diff}\n{found}");
        }
    }
    let gone = applied(&before, "--- a/old.txt\n+++ /dev/null\n@@ -1 +0,0 @@\n-o\n").unwrap();
    assert_eq!(gone.get("old.txt"), None);
}

#[test]
fn what_does_not_apply_is_told_with_its_place() {
    let before = tree(&[("a.txt", TEN)]);
    let cases = [
        (
            "--- a/a.txt\n+++ b/a.txt\n@@ -1,2 +1,2 @@\n 1\n-33\n+x\n",
            "a.txt: hunk 1 of 1 (line 1) does not apply",
        ),
        ("--- a/b.txt\n+++ b/b.txt\n@@ -1 +1 @@\n-3\n+x\n", "b.txt: is not there"),
        ("--- /dev/null\n+++ b/a.txt\n@@ -0,0 +1 @@\n+x\n", "a.txt: is there already"),
        (
            "--- a/a.txt\n+++ /dev/null\n@@ -1 +0,0 @@\n-1\n",
            "a.txt: is deleted, and the hunks leave lines of it",
        ),
        ("--- /dev/null\n+++ b/../x\n@@ -0,0 +1 @@\n+x\n", "../x: the path leaves its tree"),
        (
            "--- /dev/null\n+++ /etc/passwd\n@@ -0,0 +1 @@\n+x\n",
            "/etc/passwd: the path is absolute",
        ),
        (
            "diff --git a/l b/l\nnew file mode 120000\n--- /dev/null\n+++ b/l\n@@ -0,0 +1 @@\n+/etc\n",
            "a/l b/l: is a link",
        ),
        (
            "--- a/a.txt\n+++ b/a.txt\n@@ -1,3 +1,3 @@\n 1\nbroken\n",
            "the hunk @@ -1,3 +1,3 @@ breaks off",
        ),
        (
            "a.txt\n<<<<<<< SEARCH\nnone\n=======\nx\n>>>>>>> REPLACE\n",
            "a.txt: what block 1 searches for is not there",
        ),
        ("<<<<<<< SEARCH\n1\n=======\nx\n>>>>>>> REPLACE\n", "a block without a file"),
        ("{\"a.txt/b\": \"x\"}", "a.txt/b: a.txt is a file"),
        ("I would not change anything.", "nothing is proposed"),
    ];
    for (answer, why) in cases {
        assert_eq!(applied(&before, answer).unwrap_err(), why, "{answer}");
    }
}

#[test]
fn blocks_and_whole_files_are_read() {
    let before =
        tree(&[("src/a.py", "def f():\n    return 1\n\nx = 1\n"), ("w.txt", "a\r\nb\r\n")]);
    let cases = [
        (
            "src/a.py\n```python\n<<<<<<< SEARCH\n    return 1\n=======\n    return 2\n>>>>>>> REPLACE\n```\n",
            "src/a.py",
            "def f():\n    return 2\n\nx = 1\n",
        ),
        (
            "### `src/a.py`\n<<<<<<< SEARCH\nx = 1  \n=======\n>>>>>>> REPLACE\n\n<<<<<<< SEARCH\n    return 1\n=======\n    return 3\n>>>>>>> REPLACE",
            "src/a.py",
            "def f():\n    return 3\n\n",
        ),
        (
            "```\nsrc/n.py\n<<<<<<< SEARCH\n=======\ny = 1\n>>>>>>> REPLACE\n```",
            "src/n.py",
            "y = 1\n",
        ),
        ("w.txt\n<<<<<<< SEARCH\na\n=======\nc\n>>>>>>> REPLACE", "w.txt", "c\r\nb\r\n"),
        ("--- w.txt\n+++ w.txt\n@@ -1,2 +1,2 @@\n a\n-b\n+c\n", "w.txt", "a\r\nc\r\n"),
        ("The file:\n\n**src/a.py**\n```python\nx = 2\n```\n", "src/a.py", "x = 2\n"),
        ("```python title=\"src/a.py\"\nx = 3\n```\n", "src/a.py", "x = 3\n"),
        ("{\"files\": {\"./src/a.py\": \"x = 4\"}}", "src/a.py", "x = 4"),
        (
            "Two drafts:\n```diff\n--- a/w.txt\n+++ b/w.txt\n@@ -1 +1 @@\n-a\n+d\n```\n```diff\n--- a/w.txt\n+++ b/w.txt\n@@ -1 +1 @@\n-a\n+e\n```",
            "w.txt",
            "e\r\nb\r\n",
        ),
    ];
    for (answer, path, wanted) in cases {
        let after = applied(&before, answer).unwrap();
        assert_eq!(String::from_utf8_lossy(after.get(path).unwrap()), wanted, "{answer}");
    }
}

#[test]
fn paths_that_are_dropped_stay_as_they_are() {
    let before = tree(&[("a.py", "1\n"), ("tests/t.py", "2\n")]);
    let diff = "--- a/a.py\n+++ b/a.py\n@@ -1 +1 @@\n-1\n+3\n--- a/tests/t.py\n+++ b/tests/t.py\n@@ -1 +1 @@\n-nothing\n+4\n";
    let proposal = Proposal::find(diff).unwrap();
    let is_dropped = |path: &str| path.starts_with("tests/");
    let done = proposal.apply::<Infallible>(&before, &is_dropped, 2, &mut |_| Ok(())).unwrap();
    assert_eq!(
        (done.tree.get("a.py"), done.tree.get("tests/t.py")),
        (Some(&b"3\n"[..]), Some(&b"2\n"[..]))
    );
    assert_eq!(
        (done.changed, done.dropped),
        (vec!["a.py".to_owned()], vec!["tests/t.py".to_owned()])
    );
}

#[test]
fn work_ends_where_it_is_not_paid() {
    let before = tree(&[("a", &"x\n".repeat(20_000))]);
    let mut diff = "--- a/a\n+++ b/a\n@@ -1,2000 +1,1 @@\n".to_owned();
    diff.push_str(&" x\n".repeat(2_000));
    diff.push_str("-y\n");
    let mut left = 1_000_000_u64;
    let mut pay = |units| {
        left = left.checked_sub(units).ok_or("spent")?;
        Ok(())
    };
    let done = Proposal::find(&diff).unwrap().apply(&before, &|_| false, 2, &mut pay);
    assert_eq!(done, Err(Unapplied::Unpaid("spent")));
}

#[test]
fn trees_of_json_hold_safe_paths_alone() {
    assert_eq!(
        FileTree::from_json(&json!({"./a/b.py": "x"})).unwrap().get("a/b.py"),
        Some(&b"x"[..])
    );
    let listed = json!([{"path": "a", "content": "x"}]);
    assert_eq!(FileTree::from_json(&listed).unwrap().bytes(), 1);
    for bad in [json!({"a": 1}), json!("a"), json!({"/a": ""}), json!({"a": "", "a/b": ""})] {
        FileTree::from_json(&bad).unwrap_err();
    }
    for bad in [
        "",
        "a//b",
        "a/",
        "..",
        "a/../b",
        "/a",
        "C:/a",
        "a\\b",
        "a\nb",
        "a\u{7f}",
        ".git/config",
        "./",
        "a/./b",
    ] {
        assert!(safe_path(bad).is_err(), "{bad}");
    }
    assert!(safe_path(&"a/".repeat(100)).is_err());
    let many: serde_json::Map<_, _> = (0..100_000).map(|n| (format!("f{n}"), json!(""))).collect();
    assert_eq!(FileTree::from_json(&many.into()).unwrap_err().to_string(), "more than 10000 files");
    let mut tree = FileTree::new();
    tree.put("a", vec![0; 20 << 20]).unwrap();
    tree.put("b", vec![0; 20 << 20]).unwrap_err();
    assert_eq!((tree.len(), tree.bytes()), (1, 20 << 20));
}

/// A header and a content, as tar has them.
fn entry(name: &str, kind: u8, content: &[u8]) -> Vec<u8> {
    let mut header = vec![0_u8; 512];
    header[..name.len()].copy_from_slice(name.as_bytes());
    header[124..135].copy_from_slice(format!("{:011o}", content.len()).as_bytes());
    header[156] = kind;
    header[257..263].copy_from_slice(b"ustar\0");
    header[148..156].copy_from_slice(b"        ");
    let sum: u32 = header.iter().map(|byte| u32::from(*byte)).sum();
    header[148..156].copy_from_slice(format!("{sum:06o}\0 ").as_bytes());
    header.extend_from_slice(content);
    header.resize(header.len().next_multiple_of(512), 0);
    header
}

#[test]
fn archives_are_read_and_hostile_ones_refused() {
    let read = |parts: &[Vec<u8>]| tar::read(&parts.concat());
    let long = "d/".repeat(60) + "n.py";
    let record = format!("{} path={long}\n", long.len() + 10);
    let good = [
        entry("d/", b'5', b""),
        entry("d/a.py", b'0', b"x"),
        entry("p", b'x', record.as_bytes()),
        entry("short", b'0', b"y"),
        vec![0; 1024],
    ];
    let tree = read(&good).unwrap();
    assert_eq!((tree.get("d/a.py"), tree.get(&long)), (Some(&b"x"[..]), Some(&b"y"[..])));
    let bad = [
        (vec![entry("l", b'2', b"")], "l: is a link"),
        (vec![entry("l", b'1', b"")], "l: is a link"),
        (vec![entry("dev", b'3', b"")], "dev: is neither a file nor a folder"),
        (vec![entry("/etc/a", b'0', b"")], "/etc/a: the path is absolute"),
        (vec![entry("a/../../b", b'0', b"")], "a/../../b: the path leaves its tree"),
        (
            vec![b"\x1f\x8b".repeat(300)],
            "no tar: a header has another sum: it must not be compressed",
        ),
        (vec![vec![1; 100]], "no tar: ends within a header"),
        (vec![entry("a", b'0', b"")[..500].to_vec()], "no tar: ends within a header"),
    ];
    for (parts, why) in bad {
        assert_eq!(read(&parts).unwrap_err().to_string(), why);
    }
    let many: Vec<Vec<u8>> = (0..20_000).map(|n| entry(&format!("f{n}"), b'0', b"")).collect();
    assert_eq!(read(&many).unwrap_err().to_string(), "more than 10000 files");
    let folders = vec![entry("d/", b'5', b""); 50_000];
    assert_eq!(read(&folders).unwrap_err().to_string(), "more than 40000 entries");
}

/// A diff of two files in one hunk for each run of changes, with up to `context` lines around.
fn diff_of(path: &str, before: &str, after: &str, context: usize) -> String {
    let (old, new): (Vec<&str>, Vec<&str>) =
        (before.split_inclusive('\n').collect(), after.split_inclusive('\n').collect());
    let first = old.iter().zip(&new).take_while(|(a, b)| a == b).count();
    let shared = old.len().min(new.len()) - first;
    let last =
        old.iter().rev().zip(new.iter().rev()).take(shared).take_while(|(a, b)| a == b).count();
    let from = first.saturating_sub(context);
    let to = (old.len() - last + context).min(old.len());
    let line = |sign: char, text: &str| {
        let end = if text.ends_with('\n') { "" } else { "\n\\ No newline at end of file\n" };
        format!("{sign}{text}{end}")
    };
    let mut body = String::new();
    body.extend(old[from..first].iter().map(|text| line(' ', text)));
    body.extend(old[first..old.len() - last].iter().map(|text| line('-', text)));
    body.extend(new[first..new.len() - last].iter().map(|text| line('+', text)));
    body.extend(old[old.len() - last..to].iter().map(|text| line(' ', text)));
    let counts = (to - from, to - from + new.len() - old.len());
    let start = |count: usize| if count == 0 { from } else { from + 1 };
    format!(
        "--- a/{path}\n+++ b/{path}\n@@ -{},{} +{},{} @@\n{body}",
        start(counts.0),
        counts.0,
        start(counts.1),
        counts.1
    )
}

fn text() -> impl Strategy<Value = String> {
    prop::collection::vec(
        prop::sample::select(vec!["a\n", "b\n", "\n", "-- c\n", "+ d\n", "@@ e\n", "  f", "g\n"]),
        0..14,
    )
    .prop_map(|lines| lines.concat())
}

proptest! {
    #[test]
    fn a_diff_of_two_texts_leads_from_one_to_the_other(before in text(), after in text(), context in 0_usize..4) {
        prop_assume!(before != after && !before.is_empty() && !after.is_empty());
        let tree = tree(&[("f", &before)]);
        let diff = diff_of("f", &before, &after, context);
        let done = applied(&tree, &diff);
        prop_assert_eq!(done.map(|tree| String::from_utf8(tree.get("f").unwrap().to_vec()).unwrap()), Ok(after), "{}", diff);
    }

    #[test]
    fn any_text_is_applied_or_refused(answer in "(?s)(--- a/f\n\\+\\+\\+ b/f\n|@@ -1,2 \\+1 @@\n|[-+ ]a\n|\\\\ No\n|diff --git a/f b/f\n|<<<<<<< SEARCH\n|=======\n|>>>>>>> REPLACE\n|```diff\n|```\n|f.py\n|\n|.){0,30}") {
        let before = tree(&[("f", "a\nb\na\n"), ("f.py", "a")]);
        if let Ok(after) = applied(&before, &answer) {
            prop_assert!(after.iter().all(|(path, _)| safe_path(path) == Ok(path)));
        }
    }

    #[test]
    fn any_bytes_are_an_archive_or_not(bytes in prop::collection::vec(any::<u8>(), 0..1600), at in 0_usize..1500, value in any::<u8>()) {
        let _ = tar::read(&bytes);
        let mut archive = [entry("a", b'0', b"x"), entry("b", b'x', b"9 path=c\n"), entry("b", b'0', b"y")].concat();
        archive[at] = value;
        if let Ok(tree) = tar::read(&archive) {
            prop_assert!(tree.iter().all(|(path, _)| safe_path(path).is_ok()));
        }
    }
}
