//! Bombs: configurations and rows that ask for time or memory without end. Each runs in a process of its
//! own, which must end by itself, say what is expected, and hold little memory.
//!
//! Templates are in `reward-models`, beside their interpreter.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use assay::engine::runs::write_atomic;
use serde::Deserialize;
use toml::{Table, Value};

const FOLDER: &str = "../fixtures/bombs/";
const FILES: [&str; 11] = [
    "answers", "configs", "models", "patterns", "plugins", "prompts", "queries", "rows", "rubrics",
    "schemas", "scripts",
];
/// What a bomb may take beyond a row that is none: a guest's stack alone has 256 MiB.
const MEMORY_KB_MAX: u64 = 320 << 10;
/// Looks at a process before it is ended: a minute, far more than any of them takes.
const LOOKS_MAX: u32 = 60_000;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Bombs {
    /// What the text of each bomb stands in.
    #[serde(default = "bare")]
    frame: String,
    /// The configuration of each bomb that has none of its own.
    assay: Option<String>,
    bomb: Vec<Bomb>,
}

fn bare() -> String {
    "{bomb}".to_owned()
}

/// A text that is repeated. `{n}` in it is the number of the repetition, `{m}` the next one.
#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct Part {
    part: String,
    repeat: usize,
}

/// A text in a file that was copied, and what stands in its place.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Change {
    file: String,
    from: String,
    to: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Bomb {
    name: String,
    #[serde(default)]
    verifier: String,
    /// The whole configuration.
    assay: Option<String>,
    /// A folder of the fixtures that lies beside the configuration.
    copy: Option<String>,
    #[serde(default)]
    change: Vec<Change>,
    /// What `assay` is called with, where that is not `score`.
    command: Option<Vec<String>>,
    /// All rows.
    data: Option<String>,
    /// More columns of the row.
    #[serde(default)]
    row: Table,
    prompt: Option<String>,
    #[serde(default)]
    config: Table,
    when: Option<String>,
    /// The expression of `[combine]`.
    combine: Option<String>,
    completion: Option<String>,
    reference: Option<String>,
    #[serde(default)]
    text: String,
    #[serde(default)]
    before: String,
    #[serde(default)]
    part: String,
    #[serde(default)]
    repeat: usize,
    #[serde(default)]
    after: String,
    /// Texts that stand for `{NAME}`.
    #[serde(default)]
    more: BTreeMap<String, Part>,
    /// The file that holds the text.
    file: Option<String>,
    #[serde(default)]
    files: BTreeMap<String, String>,
    /// What the verdict, or the message, holds.
    says: String,
}

impl Part {
    fn text(&self) -> String {
        if !self.part.contains("{n}") && !self.part.contains("{m}") {
            return self.part.repeat(self.repeat);
        }
        let one = |at: usize| {
            let (n, m) = (at.to_string(), (at + 1).to_string());
            self.part.replace("{n}", &n).replace("{m}", &m)
        };
        (0..self.repeat).map(one).collect()
    }
}

impl Bomb {
    fn source(&self) -> String {
        let part = Part { part: self.part.clone(), repeat: self.repeat };
        format!("{}{}{}{}", self.text, self.before, part.text(), self.after)
    }

    fn filled(&self, text: &str, source: &str) -> String {
        let text = text.replace("{bomb}", source);
        self.more
            .iter()
            .fold(text, |text, (name, part)| text.replace(&format!("{{{name}}}"), &part.text()))
    }

    fn fill(&self, value: &mut Value, source: &str) {
        match value {
            Value::String(text) => *text = self.filled(text, source),
            Value::Array(values) => values.iter_mut().for_each(|value| self.fill(value, source)),
            Value::Table(members) => {
                members.iter_mut().for_each(|(_, value)| self.fill(value, source));
            }
            _ => {}
        }
    }

    fn configuration(&self, all: Option<&str>, source: &str) -> String {
        if let Some(text) = self.assay.as_deref().or(all.filter(|_| self.verifier.is_empty())) {
            return self.filled(text, source);
        }
        let mut reward = Table::new();
        reward.insert("name".into(), "one".into());
        reward.insert("verifier".into(), self.verifier.as_str().into());
        let mut config = Value::Table(self.config.clone());
        self.fill(&mut config, source);
        reward.insert("config".into(), config);
        if let Some(when) = &self.when {
            reward.insert("when".into(), self.filled(when, source).into());
        }
        let mut all = Table::new();
        all.insert("version".into(), 1.into());
        all.insert("reward".into(), vec![Value::Table(reward)].into());
        if let Some(combine) = &self.combine {
            let mut table = Table::new();
            table.insert("how".into(), "expression".into());
            table.insert("expression".into(), self.filled(combine, source).into());
            all.insert("combine".into(), table.into());
        }
        toml::to_string(&all).unwrap()
    }

    /// Writes everything that the command reads.
    fn write(&self, bombs: &Bombs, dir: &Path) {
        let source = self.source();
        let write =
            |name: &str, text: &str| write_atomic(&dir.join(name), text.as_bytes()).unwrap();
        if let Some(folder) = &self.copy {
            copy(&Path::new(crate::ROOT).join(folder), dir);
        }
        write("assay.toml", &self.configuration(bombs.assay.as_deref(), &source));
        if let Some(file) = &self.file {
            write(file, &self.filled(&bombs.frame, &source));
        }
        for (name, text) in &self.files {
            write(name, &self.filled(text, &source));
        }
        for Change { file, from, to } in &self.change {
            let text = fs::read_to_string(dir.join(file)).unwrap();
            assert!(text.contains(from.as_str()), "{}: {file} has {from}", self.name);
            write(file, &text.replacen(from.as_str(), &self.filled(to, &source), 1));
        }
        match &self.data {
            Some(rows) => write("data.jsonl", &self.filled(rows, &source)),
            None => write("data.jsonl", &self.one_row(&source)),
        }
    }

    fn one_row(&self, source: &str) -> String {
        let text =
            |given: &Option<String>, other| self.filled(given.as_deref().unwrap_or(other), source);
        let (prompt, completion) = (text(&self.prompt, "p"), text(&self.completion, "x"));
        let mut row = serde_json::json!({"id": "a", "prompt": prompt, "completion": completion});
        let mut more = Value::Table(self.row.clone());
        self.fill(&mut more, source);
        let more = serde_json::to_value(more).unwrap();
        row.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        let given = self.reference.as_deref().map(|text| self.filled(text, source));
        let by_default = || (self.verifier == "sql").then(|| "SELECT 1".to_owned());
        if let Some(reference) = given.or_else(by_default) {
            row.as_object_mut().unwrap().insert("reference".to_owned(), reference.into());
        }
        format!("{row}\n")
    }
}

/// A folder of the fixtures, under its own name.
fn copy(folder: &Path, dir: &Path) {
    let to = dir.join(folder.file_name().unwrap());
    fs::create_dir(&to).unwrap();
    for entry in fs::read_dir(folder).unwrap() {
        let entry = entry.unwrap();
        fs::copy(entry.path(), to.join(entry.file_name())).unwrap();
    }
}

/// What became of a run.
struct Ended {
    /// Its verdicts, or what it said.
    said: String,
    /// The most memory that it was seen to hold, where the system tells.
    memory_kb: u64,
    code: Option<i32>,
}

const SCORE: [&str; 7] =
    ["score", "assay.toml", "data.jsonl", "-o", "run", "--quiet", "--no-cache"];

fn run(bomb: &Bomb, dir: &Path) -> Ended {
    let told = fs::File::create(dir.join("told")).unwrap();
    let source = bomb.source();
    let other = bomb.command.as_ref();
    let other = other.map(|all| all.iter().map(|one| bomb.filled(one, &source)).collect());
    let mut child = Command::new(env!("CARGO_BIN_EXE_assay"))
        .args(other.unwrap_or_else(|| SCORE.map(str::to_owned).to_vec()))
        .current_dir(dir)
        .stdin(Stdio::null())
        .stdout(fs::File::create(dir.join("out")).unwrap())
        .stderr(told)
        .spawn()
        .unwrap();
    let (memory_kb, code) = watched(&mut child);
    let read = |name: &str| fs::read_to_string(dir.join(name)).unwrap_or_default();
    let said = format!("{}{}{}", read("run/verdicts.jsonl"), read("told"), read("out"));
    Ended { said, memory_kb, code }
}

/// The peak of a process only grows, so that looking often enough sees nearly all of it.
fn watched(child: &mut Child) -> (u64, Option<i32>) {
    let mut most = 0;
    for _ in 0..LOOKS_MAX {
        most = most.max(peak_kb(child.id()).unwrap_or_default());
        if let Some(status) = child.try_wait().unwrap() {
            return (most, status.code());
        }
        std::thread::sleep(Duration::from_millis(1));
    }
    child.kill().unwrap();
    child.wait().unwrap();
    (most, None)
}

fn peak_kb(process: u32) -> Option<u64> {
    let status = fs::read_to_string(format!("/proc/{process}/status")).ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    line.trim().trim_end_matches(" kB").parse().ok()
}

/// What a row takes that is no bomb, on the same machine.
fn ordinary_kb() -> u64 {
    let bombs: Bombs =
        toml::from_str("[[bomb]]\nname = ''\nverifier = 'exact'\nsays = ''").unwrap();
    let (dir, bomb) = (tempfile::tempdir().unwrap(), bombs.bomb.first().unwrap());
    bomb.write(&bombs, dir.path());
    let ended = run(bomb, dir.path());
    assert_eq!(ended.code, Some(0), "{}", ended.said);
    ended.memory_kb
}

fn read(file: &str) -> Bombs {
    let text = fs::read_to_string(format!("{FOLDER}{file}.toml")).unwrap();
    toml::from_str(&text).unwrap_or_else(|error| panic!("{file}.toml: {error}"))
}

/// Every bomb of a file.
fn defused(file: &str) {
    let (most, bombs) = (ordinary_kb() + MEMORY_KB_MAX, read(file));
    let mut wrong = String::new();
    for bomb in &bombs.bomb {
        let dir = tempfile::tempdir().unwrap();
        bomb.write(&bombs, dir.path());
        let Ended { said, memory_kb, code } = run(bomb, dir.path());
        let short: String = said.chars().take(400).collect();
        let mut tell = |what: String| writeln!(wrong, "{}: {what}: {short}", bomb.name).unwrap();
        // 0: judged; 1: `validate` found it; 2: the configuration is refused; 3: the row has a fault.
        if !matches!(code, Some(0..=3)) {
            tell(format!("ended by {code:?}"));
        }
        if !said.contains(&bomb.says) || said.is_empty() {
            tell(format!("expected {:?}", bomb.says));
        }
        if memory_kb > most {
            tell(format!("took {memory_kb} kB of {most}"));
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}

#[test]
fn there_are_many() {
    let count: usize = FILES.iter().map(|file| read(file).bomb.len()).sum();
    assert!(count >= 400, "{count}");
}

#[test]
fn answers() {
    defused("answers");
}

#[test]
fn configs() {
    defused("configs");
}

#[cfg(feature = "models")]
#[test]
fn models() {
    defused("models");
}

#[test]
fn patterns() {
    defused("patterns");
}

#[cfg(feature = "sandbox")]
#[test]
fn plugins() {
    defused("plugins");
}

#[cfg(feature = "rubrics")]
#[test]
fn prompts() {
    defused("prompts");
}

#[cfg(feature = "sql")]
#[test]
fn queries() {
    defused("queries");
}

#[test]
fn rows() {
    defused("rows");
}

#[cfg(feature = "rubrics")]
#[test]
fn rubrics() {
    defused("rubrics");
}

#[test]
fn schemas() {
    defused("schemas");
}

#[test]
fn scripts() {
    defused("scripts");
}
