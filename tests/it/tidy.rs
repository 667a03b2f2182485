//! The repository holds itself to its own rules.

#![allow(clippy::print_stdout, reason = "a test stops at what it does not expect")]

mod assertions;
mod defaults;
mod facts;
mod imports;
mod messages;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;

use assay::Registry;
use facts::{FACTS, Facts};
use imports::Imports;

use crate::root;

const FILE_LINES_MAX: usize = 600;

/// Every Rust file of the workspace, sorted.
fn sources() -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut folders: Vec<PathBuf> = [
        "src",
        "cli",
        "tests",
        "benches",
        "examples",
        "fuzz",
        "python/src",
        "reward-models",
        "rubrics",
        "sandbox",
        "trainer",
        "verifiers",
        "view",
    ]
    .iter()
    .map(|name| root().join(name))
    .filter(|path| path.is_dir())
    .collect();
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                found.push(path);
            }
        }
    }
    found.sort();
    found
}

fn shown(path: &Path) -> String {
    path.strip_prefix(root()).unwrap().display().to_string()
}

/// What files have that they must not have, each with its file.
fn wrong(of: fn(&Facts) -> &Vec<String>, looked_at: impl Fn(&Facts) -> bool) -> String {
    let files = FACTS.iter().filter(|facts| looked_at(facts));
    let found = files.flat_map(|file| of(file).iter().map(|what| format!("{}: {what}", file.file)));
    found.collect::<Vec<_>>().join("\n")
}

#[test]
fn files_and_functions_are_small() {
    let long = FACTS.iter().filter(|facts| facts.lines > FILE_LINES_MAX);
    let long: Vec<String> = long.map(|f| format!("{} has {} lines", f.file, f.lines)).collect();
    assert_eq!(long, Vec::<String>::new());
    assert_eq!(wrong(|facts| &facts.long, |_| true), "");
}

#[test]
fn every_file_says_what_it_is() {
    let says = |path: &PathBuf| fs::read_to_string(path).unwrap().starts_with("//! ");
    let silent: Vec<String> = sources().iter().filter(|p| !says(p)).map(|p| shown(p)).collect();
    assert!(silent.is_empty(), "no //! line at the top: {silent:?}");
}

#[test]
fn every_test_asserts_something() {
    assert_eq!(wrong(|facts| &facts.silent_tests, |_| true), "");
}

/// Messages that come without a code: of `SQLite`, of wasmtime and of programs of others.
const WITHOUT_CODES: [&str; 3] = [
    "sandbox/src/runtime/state.rs",
    "sandbox/src/suite_run.rs",
    "sandbox/src/verifiers/sql/connection.rs",
];

#[test]
fn errors_are_told_apart_by_their_codes() {
    let read =
        |facts: &Facts| facts.is_production() && !WITHOUT_CODES.contains(&facts.file.as_str());
    assert_eq!(wrong(|facts| &facts.messages, read), "");
}

/// Kinds that are to become data.
const WITH_DEFAULTS: [&str; 2] = ["trainer/src/advantages", "trainer/src/selection"];

#[test]
fn no_default_is_silent() {
    let read = |facts: &Facts| {
        facts.is_production() && !WITH_DEFAULTS.iter().any(|home| facts.file.starts_with(home))
    };
    assert_eq!(wrong(|facts| &facts.defaults, read), "");
}

/// The root files of our crates.
const CRATE_ROOTS: [&str; 18] = [
    "src/lib.rs",
    "cli/src/lib.rs",
    "fuzz/src/lib.rs",
    "python/src/lib.rs",
    "reward-models/src/lib.rs",
    "rubrics/src/lib.rs",
    "sandbox/guests/joiner/src/lib.rs",
    "sandbox/src/lib.rs",
    "trainer/src/lib.rs",
    "verifiers/calls/src/lib.rs",
    "verifiers/instructions/src/lib.rs",
    "verifiers/math/src/lib.rs",
    "verifiers/metrics/src/lib.rs",
    "verifiers/patch/src/lib.rs",
    "verifiers/puzzles/src/lib.rs",
    "verifiers/src/lib.rs",
    "verifiers/structure/src/lib.rs",
    "view/src/lib.rs",
];

/// A room is a module of the crate root, with all that is below it. `python/tests/test_imports.py`
/// holds the Python package to the same.
#[test]
fn no_two_files_or_rooms_of_a_crate_import_each_other() {
    for crate_root in CRATE_ROOTS {
        let imports = Imports::read(&root().join(crate_root));
        for circles in [imports.circles(), imports.room_circles()] {
            assert!(circles.is_empty(), "{crate_root}:\n{}", circles.join("\n\n"));
        }
    }
}

/// Names of public types that stand for more than one type, and why.
const SHARED_NAMES: [(&str, &str); 2] = [
    ("Entry", "a verifier in the registry of its crate"),
    ("Stop", "why the work of its crate ended early"),
];

#[test]
fn a_public_type_name_has_one_meaning() {
    let mut homes: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    let crates = [
        "src",
        "python/src",
        "reward-models/src",
        "rubrics/src",
        "sandbox/src",
        "trainer/src",
        "verifiers/math/src",
        "verifiers/src",
        "view/src",
    ];
    let library = |path: &&PathBuf| crates.iter().any(|home| path.starts_with(root().join(home)));
    for path in sources().iter().filter(library) {
        let text = fs::read_to_string(path).unwrap();
        for line in text.lines().filter_map(|line| line.strip_prefix("pub ")) {
            let mut words = line.split(|char: char| !(char.is_alphanumeric() || char == '_'));
            let kind = words.next().unwrap_or_default();
            if ["struct", "enum", "trait", "type", "union"].contains(&kind) {
                let name = words.next().unwrap().to_owned();
                homes.entry(name).or_default().insert(shown(path));
            }
        }
    }
    assert!(homes.len() > 100, "only {} public types were found", homes.len());
    let stands_in = |home: &String| home.ends_with("no_parquet.rs") || home.ends_with("/lib.rs");
    for (name, mut homes) in homes {
        // What stands in for a feature that is off has the name of what it replaces.
        homes.retain(|home| !stands_in(home));
        let is_shared = SHARED_NAMES.iter().any(|(shared, _)| *shared == name);
        assert!(homes.len() <= 1 || is_shared, "{name} is a type of {homes:?}");
    }
}

/// The packages of the workspace, and for each those of the workspace that it depends on.
fn edges() -> Vec<(String, BTreeSet<String>)> {
    let cargo = Command::new(env!("CARGO"))
        .args(["metadata", "--format-version=1", "--no-deps", "--offline", "--locked"])
        .current_dir(root())
        .output()
        .unwrap();
    let metadata: serde_json::Value = serde_json::from_slice(&cargo.stdout).unwrap();
    let packages = metadata["packages"].as_array().unwrap();
    let name = |package: &serde_json::Value| package["name"].as_str().unwrap().to_owned();
    let ours: BTreeSet<String> = packages.iter().map(name).collect();
    let edges = |package: &serde_json::Value| {
        let dependencies = package["dependencies"].as_array().unwrap();
        let ours = dependencies.iter().map(name).filter(|name| ours.contains(name)).collect();
        (name(package), ours)
    };
    packages.iter().map(edges).collect()
}

/// Whoever wants the engine and the rule checks alone waits for no more than this.
const ENGINE_CRATES_MAX: usize = 100;

#[test]
fn the_engine_alone_has_few_dependencies() {
    let tree = [
        "tree",
        "--package=assay",
        "--no-default-features",
        "--edges=normal,build",
        "--prefix=none",
    ];
    let cargo = Command::new(env!("CARGO"))
        .args(tree)
        .args(["--offline", "--locked"])
        .current_dir(root())
        .output()
        .unwrap();
    let text = String::from_utf8(cargo.stdout).unwrap();
    let crates: BTreeSet<&str> = text.lines().map(|line| line.trim_end_matches(" (*)")).collect();
    assert!(crates.len() > 20, "{}", String::from_utf8_lossy(&cargo.stderr));
    assert!(crates.len() <= ENGINE_CRATES_MAX, "{} crates: {crates:#?}", crates.len());
    for heavy in [
        "clap",
        "jsonschema",
        "ort",
        "parquet",
        "reqwest",
        "rten",
        "rusqlite",
        "tokenizers",
        "wasmtime",
        "zstd-sys",
    ] {
        let is_heavy = |line: &&&str| line.split(' ').next() == Some(heavy);
        assert_eq!(crates.iter().find(is_heavy), None);
    }
}

#[test]
fn every_dependency_is_documented() {
    let cargo = Command::new(env!("CARGO"))
        .args([
            "tree",
            "--package=assay-cli",
            "--edges=normal,build",
            "--prefix=none",
            "--format={p}",
        ])
        .args(["--target=x86_64-unknown-linux-gnu", "--offline", "--locked"])
        .current_dir(root())
        .output()
        .unwrap();
    let text = String::from_utf8(cargo.stdout).unwrap();
    let built: BTreeSet<&str> = text.lines().filter_map(|line| line.split(' ').next()).collect();
    let built: BTreeSet<&str> =
        built.into_iter().filter(|name| !name.starts_with("assay")).collect();
    assert!(built.len() > 100, "{}", String::from_utf8_lossy(&cargo.stderr));
    let page = fs::read_to_string(root().join("docs/dependencies.md")).unwrap();
    let lists = page.lines().filter(|line| line.starts_with("| `") || line.starts_with("- `"));
    // What a crate is for may name something else in such quotes.
    let names = |line: &str| -> Vec<String> {
        let names = if line.starts_with('|') { 1 } else { usize::MAX };
        line.split('`').skip(1).step_by(2).take(names).map(str::to_owned).collect()
    };
    let told: Vec<String> = lists.flat_map(names).collect();
    let told: BTreeSet<&str> = told.iter().map(String::as_str).collect();
    let missing: Vec<&&str> = built.difference(&told).collect();
    let gone: Vec<&&str> = told.difference(&built).collect();
    assert!(missing.is_empty() && gone.is_empty(), "docs lack {missing:?}, and have {gone:?}");
}

/// The sets of features that each crate is compiled with: for the target, and for proc macros.
type Features = BTreeMap<String, BTreeSet<String>>;

fn features(selection: &[&str]) -> Features {
    let cargo = Command::new(env!("CARGO"))
        .args(["tree", "--prefix=none", "--format={p}|{f}", "--offline", "--locked"])
        .args(selection)
        .current_dir(root())
        .output()
        .unwrap();
    let text = String::from_utf8(cargo.stdout).unwrap();
    let mut found = Features::new();
    // An empty line stands between the packages that are selected.
    for line in text.lines().filter(|line| !line.is_empty()) {
        let (package, features) = line.trim_end_matches(" (*)").split_once('|').unwrap();
        found.entry(package.to_owned()).or_default().insert(features.to_owned());
    }
    assert!(found.len() > 20, "{}", String::from_utf8_lossy(&cargo.stderr));
    found
}

#[test]
fn the_extension_shares_what_is_compiled() {
    let built = "--edges=normal,build";
    let tests = features(&["--workspace", "--features=assay-cli/as-tested"]);
    let demo = features(&["--package=assay-cli", built, "--features=as-tested"]);
    let command = features(&["--package=assay-cli", built]);
    let tested = features(&["--package=assay-python", built, "--features=as-tested"]);
    let packed = features(&["--package=assay-python", built]);
    let differ = |own: &Features, other: &Features| {
        let shared = other.iter().filter_map(|(name, sets)| Some((name, own.get(name)?, sets)));
        let wrong = shared
            .filter(|(name, own, sets)| !name.starts_with("assay-python ") && !own.is_subset(sets));
        wrong.map(|(name, own, sets)| format!("{name}: {own:?}, not {sets:?}")).collect::<Vec<_>>()
    };
    assert_eq!(differ(&demo, &tests), Vec::<String>::new(), "add them to `as-tested`");
    assert_eq!(differ(&tested, &tests), Vec::<String>::new(), "add them to `as-tested`");
    assert_eq!(differ(&packed, &command), Vec::<String>::new(), "add them to the command");
}

/// The crates that know no check, each a folder of `verifiers`.
const LEAVES: [&str; 7] = [
    "assay-calls",
    "assay-instructions",
    "assay-math",
    "assay-metrics",
    "assay-patch",
    "assay-puzzles",
    "assay-structure",
];

#[test]
fn dependencies_point_one_way() {
    // leaves <- verifiers <- { sandbox, rubrics, reward-models, trainer, view } <- root <- cli <- python;
    // kernels <- trainer
    let allowed = |package: &str| -> &[&str] {
        match package {
            "assay-guest-joiner" | "assay-kernels" => &[],
            leaf if LEAVES.contains(&leaf) => &[],
            "assay-verifiers" => &LEAVES,
            "assay-sandbox" => &["assay-patch", "assay-verifiers"],
            "assay-rubrics" => &["assay-metrics", "assay-verifiers"],
            "assay-reward-models" | "assay-view" => &["assay-verifiers"],
            "assay-trainer" => &["assay-kernels", "assay-verifiers"],
            "assay" => &[
                "assay-verifiers",
                "assay-sandbox",
                "assay-rubrics",
                "assay-reward-models",
                "assay-trainer",
            ],
            "assay-cli" => &["assay", "assay-view"],
            "assay-python" => &["assay", "assay-cli", "assay-verifiers"],
            other => panic!("package {other} has no place in the drawing"),
        }
    };
    let edges = edges();
    assert!(edges.len() >= 2);
    for (package, dependencies) in edges {
        for dependency in dependencies {
            assert!(allowed(&package).contains(&&*dependency), "{package} depends on {dependency}");
        }
    }
}

#[test]
fn the_vocabulary_does_no_io() {
    let banned = ["std::fs", "std::net", "std::env", "std::process", "std::time", "std::thread"];
    let sources = sources();
    let leaves = LEAVES.map(|leaf| leaf.replace("assay-", "verifiers/"));
    for home in leaves.iter().map(String::as_str).chain(["verifiers"]) {
        let manifest = fs::read_to_string(root().join(home).join("Cargo.toml")).unwrap();
        let tables: toml::Table = toml::from_str(&manifest).unwrap();
        let dependencies = tables["dependencies"].as_table().unwrap();
        for runtime in ["tokio", "rayon", "reqwest", "hyper", "rand", "tempfile"] {
            assert!(!dependencies.contains_key(runtime), "{home} depends on {runtime}");
        }
        let library = root().join(home).join("src");
        for path in sources.iter().filter(|path| path.starts_with(&library)) {
            let text = fs::read_to_string(path).unwrap();
            for word in banned {
                assert!(!text.contains(word), "{} names {word}", shown(path));
            }
        }
    }
}

#[test]
fn every_verifier_has_docs_and_fixtures() {
    let registry = Registry::standard(&Arc::default(), &Arc::default());
    let mut ids = BTreeSet::new();
    for about in registry.infos() {
        let id = about.id;
        let schema = (about.schema)().to_value();
        let docs = schema["description"].as_str().unwrap_or_default();
        assert!(docs.len() > 40, "{id}: the doc comment is its manual page");
        let told: Vec<u32> = about.changes().into_iter().map(|(version, _)| version).collect();
        let versions: Vec<u32> = (2..=about.version).collect();
        assert_eq!(
            told, versions,
            "{id}: [versions] in its fixtures says what each version changed"
        );
        for (setting, about) in schema["properties"].as_object().into_iter().flatten() {
            let documented = about["description"].as_str().is_some_and(|docs| docs.len() > 10);
            assert!(documented, "{id}.{setting} has no doc comment");
        }
        let homes = [
            "verifiers/src/checks",
            "verifiers/src/group_checks",
            "sandbox/src/verifiers",
            "reward-models/src/verifiers",
            "rubrics/src/verifiers",
        ];
        let file = homes.iter().find(|home| root().join(format!("{home}/{id}.rs")).is_file());
        assert!(file.is_some(), "{id} has no file of its name in {homes:?}");
        ids.insert(id.to_owned());
    }
    let fixtures: BTreeSet<String> = fs::read_dir(root().join("fixtures/checks"))
        .unwrap()
        .map(|file| file.unwrap().path().file_stem().unwrap().to_str().unwrap().to_owned())
        .collect();
    // What a feature adds that is off by default.
    let absent: Vec<&String> =
        fixtures.difference(&ids).filter(|id| *id != "code_parses").collect();
    assert!(ids.is_subset(&fixtures) && absent.is_empty(), "{absent:?}");
}

#[test]
fn lints_name_no_verifier_and_read_no_message() {
    let registry = Registry::standard(&Arc::default(), &Arc::default());
    let ids: BTreeSet<&str> = registry.infos().map(|about| about.id).collect();
    // A method of scripts is called so too.
    let known = [("cli/src/lints/script/rhai_paths.rs", "contains")];
    let homes = ["lints", "trial", "validate"].map(|name| format!("cli/src/{name}"));
    let mut wrong = Vec::new();
    for Facts { file, literals, .. } in FACTS.iter() {
        if !homes.iter().any(|home| file.starts_with(home)) {
            continue;
        }
        let named = literals.iter().filter(|own| ids.contains(own.as_str()));
        let named = named.filter(|own| !known.contains(&(file.as_str(), own.as_str())));
        wrong.extend(named.map(|own| format!("{file} names the verifier {own}")));
        let text = fs::read_to_string(root().join(file)).unwrap();
        for said in ["message", "reason", "why", "help"] {
            let reads = ["contains(", "starts_with(", "ends_with(", "find(\"", "split_once(\""];
            let is_read = reads.iter().any(|call| text.contains(&format!("{said}.{call}")));
            wrong.extend(is_read.then(|| format!("{file} reads what a {said} says")));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn ids_of_verifiers_stand_in_the_registry_alone() {
    /// Files in which the word is another's: keys of rows, formats of calls, graders of `OpenAI` and `promptfoo`, a family of
    /// attacks, and the examples that `init` writes.
    const OTHERS: [&str; 7] = [
        "cli/src/attack.rs",
        "cli/src/init/",
        "rubrics/src/formats/",
        "sandbox/src/suite/rows.rs",
        "src/engine/registry.rs",
        "src/serve/protocols/openai_graders.rs",
        "verifiers/calls/src/",
    ];
    let registry = Registry::standard(&Arc::default(), &Arc::default());
    // Ids of one word are words of other things too.
    let ids: BTreeSet<&str> =
        registry.infos().map(|about| about.id).filter(|id| id.contains('_')).collect();
    let mut wrong = Vec::new();
    for Facts { file: name, literals, .. } in FACTS.iter() {
        let is_test = name.contains("test") || !name.contains("src/") || name.starts_with("fuzz/");
        if is_test || OTHERS.iter().any(|other| name.starts_with(other)) {
            continue;
        }
        let own =
            |id: &str| name.contains(&format!("/{id}.rs")) || name.contains(&format!("/{id}/"));
        let named = literals.iter().filter(|id| ids.contains(id.as_str()) && !own(id));
        wrong.extend(named.map(|id| format!("{name} names the verifier {id}")));
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn every_invariant_names_a_test_that_exists() {
    let text = fs::read_to_string(root().join("docs/ARCHITECTURE.md")).unwrap();
    let invariants: Vec<&str> = text.lines().filter(|line| line.starts_with("| **")).collect();
    assert!(invariants.len() >= 10, "{} invariants", invariants.len());
    let code: String = sources().iter().map(|path| fs::read_to_string(path).unwrap()).collect();
    for line in invariants {
        let tests: Vec<&str> =
            line.split('`').skip(1).step_by(2).filter(|word| word.contains("::")).collect();
        assert!(!tests.is_empty(), "no test is named: {line}");
        for test in tests {
            let name = test.rsplit("::").next().unwrap();
            assert!(code.contains(&format!("fn {name}(")), "no test is called {name}: {line}");
        }
    }
}

#[test]
fn the_readme_is_short_and_its_links_lead_somewhere() {
    let text = fs::read_to_string(root().join("README.md")).unwrap();
    assert!(text.lines().count() <= 120);
    let links = text.split("](").skip(1).filter_map(|rest| rest.split(')').next());
    let local: Vec<&str> = links.filter(|link| !link.contains("://")).collect();
    assert!(local.len() >= 5, "{local:?}");
    for link in local {
        let path = link.split('#').next().unwrap();
        assert!(root().join(path).exists(), "README links to {path}");
    }
}
