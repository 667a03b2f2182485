//! The languages whose programs are looked for, and the names they go by.

/// A language and the names by which blocks of it are marked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Language {
    name: &'static str,
    /// What the user says that blocks are marked with, in small letters.
    tags: Vec<String>,
    aliases: &'static [&'static str],
    /// What a version is appended to: `python3.11`, `c++17`.
    versioned: &'static [&'static str],
    /// How lines begin that only a program has.
    starts: &'static [&'static str],
    /// The words before the name of what is defined.
    defining: &'static [&'static str],
    pub(super) quoting: Quoting,
}

/// How a text that spans lines is quoted: a fence inside is part of the program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Quoting {
    Python,
    SlashStar,
    Sql,
    /// Not that we know of.
    Unknown,
}

/// What the info string of a fence says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Tag {
    /// The language that is looked for.
    Wanted,
    /// Nothing.
    None,
    /// Markdown, which may hold blocks itself.
    Markdown,
    /// Anything else.
    Other,
}

/// How lines of JavaScript begin, and of TypeScript.
const SCRIPT_STARTS: &[&str] = &[
    "function ",
    "const ",
    "let ",
    "var ",
    "class ",
    "import ",
    "export ",
    "console.",
    "async ",
    "for ",
    "for(",
    "while ",
    "if ",
    "if(",
    "return",
    "module.",
    "require(",
    "process.",
];

impl Language {
    /// Python 3.
    pub const PYTHON: Self = Self {
        name: "python",
        tags: Vec::new(),
        aliases: &["py", "pypy", "cpython", "ipython"],
        versioned: &["python", "py", "pypy", "ipython"],
        starts: &[
            "def ", "class ", "import ", "from ", "print(", "for ", "while ", "if ", "return",
            "async ", "with ", "try:", "lambda ", "@",
        ],
        defining: &["def", "class"],
        quoting: Quoting::Python,
    };
    /// JavaScript.
    pub const JAVASCRIPT: Self = Self {
        name: "javascript",
        tags: Vec::new(),
        aliases: &["js", "node", "nodejs", "node.js", "mjs", "cjs", "ecmascript", "es"],
        versioned: &["es"],
        starts: SCRIPT_STARTS,
        defining: &["function", "const", "let", "var", "class"],
        quoting: Quoting::SlashStar,
    };
    /// TypeScript. Blocks that are marked as JavaScript are not looked at.
    pub const TYPESCRIPT: Self = Self {
        name: "typescript",
        tags: Vec::new(),
        aliases: &["ts", "mts", "cts", "tsx", "ts-node", "deno", "bun"],
        versioned: &[],
        starts: SCRIPT_STARTS,
        defining: &["function", "const", "let", "var", "class", "enum"],
        quoting: Quoting::SlashStar,
    };
    /// C.
    pub const C: Self = Self {
        name: "c",
        tags: Vec::new(),
        aliases: &["h", "gcc", "gnu"],
        versioned: &["c", "gnu"],
        starts: &[
            "#include", "#define", "int ", "void ", "char ", "static ", "struct ", "typedef ",
        ],
        defining: &[],
        quoting: Quoting::SlashStar,
    };
    /// C++.
    pub const CPP: Self = Self {
        name: "cpp",
        tags: Vec::new(),
        aliases: &["c++", "cc", "cxx", "hpp", "g++", "gnu++"],
        versioned: &["c++", "cpp", "gnu++"],
        starts: &[
            "#include",
            "#define",
            "using ",
            "int ",
            "void ",
            "class ",
            "struct ",
            "template",
            "auto ",
            "namespace ",
        ],
        defining: &[],
        quoting: Quoting::SlashStar,
    };
    /// SQL of any dialect.
    pub const SQL: Self = Self {
        name: "sql",
        tags: Vec::new(),
        aliases: &[
            "sqlite",
            "mysql",
            "postgresql",
            "postgres",
            "pgsql",
            "tsql",
            "t-sql",
            "plsql",
            "mariadb",
            "duckdb",
            "bigquery",
            "snowflake",
        ],
        versioned: &["sqlite"],
        starts: &["select ", "select\n", "with ", "values", "(select"],
        defining: &[],
        quoting: Quoting::Sql,
    };
    /// Every language, in the order in which tables list them.
    pub const ALL: [Self; 6] =
        [Self::PYTHON, Self::JAVASCRIPT, Self::TYPESCRIPT, Self::C, Self::CPP, Self::SQL];

    /// A language that is known by its tags alone.
    pub fn tagged(tags: &[String]) -> Self {
        Self {
            name: "wasm",
            tags: tags.iter().map(|tag| tag.trim().to_lowercase()).collect(),
            aliases: &[],
            versioned: &[],
            starts: &[],
            defining: &[],
            quoting: Quoting::Unknown,
        }
    }

    /// The language that goes by `name`, in any case: `py` and `Python3` are Python.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|language| language.is_named(name))
    }

    /// The name of the language in settings: `python`, `javascript`, `typescript`, `c`, `cpp` or `sql`.
    pub const fn name(&self) -> &'static str {
        self.name
    }

    /// Whether its programs are written as Python's are.
    pub(super) fn is_python(&self) -> bool {
        self.quoting == Quoting::Python
    }

    /// Whether the language goes by `name`, in any case.
    pub fn is_named(&self, name: &str) -> bool {
        let name = name.to_lowercase();
        let version = |prefix: &str| {
            let rest = name.strip_prefix(prefix);
            rest.is_some_and(|rest| is_version(rest.trim_start_matches('-')))
        };
        if !self.tags.is_empty() {
            return self.tags.iter().any(|tag| name == *tag || version(tag));
        }
        name == self.name
            || self.aliases.contains(&name.as_str())
            || self.versioned.iter().any(|prefix| version(prefix))
    }

    /// Whether `source` defines `name` at the margin.
    pub(super) fn defines(&self, source: &str, name: &str) -> bool {
        let after = |line: &str, word: &str| {
            let rest = line.strip_prefix(word)?.strip_prefix([' ', '\t'])?.trim_start();
            let rest = rest.strip_prefix(name)?;
            Some(!rest.starts_with(|c: char| c.is_alphanumeric() || c == '_'))
        };
        let defined = |line: &str| {
            let line = line.strip_prefix("async ").unwrap_or(line);
            let line = line.strip_prefix("export ").unwrap_or(line);
            self.defining.iter().any(|word| after(line, word) == Some(true))
        };
        !name.is_empty() && source.lines().any(defined)
    }

    /// Whether `source` has a line that only a program has: of blocks that name no language, some
    /// are programs and others are what they print.
    pub(super) fn looks_like(&self, source: &str) -> bool {
        let begins = |line: &str| {
            let line = line.trim_start();
            self.starts.iter().any(|start| {
                let head = line.get(..start.trim_end().len());
                let whole =
                    line.get(..start.len()).is_some_and(|head| head.eq_ignore_ascii_case(start));
                whole || (line.len() < start.len() && head == Some(start.trim_end()))
            })
        };
        source.lines().any(|line| begins(line) || assigns(line))
    }

    /// Whether a line takes in a library, as the first lines of programs do.
    pub(super) fn includes(&self, line: &str) -> bool {
        let words = |first: &str| line.starts_with(first) && self.starts.contains(&first);
        match line.strip_prefix("from ") {
            Some(rest) => self.is_python() && rest.contains(" import "),
            None => ["import ", "#include", "using "].into_iter().any(words),
        }
    }
}

/// `name = value` and the like, as no output has it.
fn assigns(line: &str) -> bool {
    let Some((left, right)) = line.split_once('=') else { return false };
    let left = left.trim().trim_end_matches(['+', '-', '*', '/']).trim_end();
    let named = left.starts_with(|c: char| c.is_alphabetic() || c == '_')
        && left.chars().all(|c| c.is_alphanumeric() || "_,.[]() ".contains(c))
        && !left.contains("  ");
    named && left.split(' ').count() <= 4 && !right.trim().is_empty() && !right.starts_with('=')
}

fn is_version(text: &str) -> bool {
    let dotted = |c: char| c.is_ascii_digit() || c == '.' || c == 'x' || c == 'z';
    text.starts_with(|c: char| c.is_ascii_digit()) && text.len() <= 6 && text.chars().all(dotted)
}

/// What the info string of a fence says, seen by someone who looks for `wanted`.
pub(super) fn tag(info: &str, wanted: &Language) -> Tag {
    let Some(word) = word(info) else { return Tag::None };
    if wanted.is_named(word) || extension(word).is_some_and(|name| wanted.is_named(name)) {
        return Tag::Wanted;
    }
    match word.to_lowercase().as_str() {
        "markdown" | "md" => Tag::Markdown,
        "code" | "text" | "txt" | "plaintext" | "plain" | "solution" => Tag::None,
        _ => Tag::Other,
    }
}

/// The word of an info string that names the language: `python`, `{.python .numberLines}`,
/// `python:main.py` and `python title="main"` all say Python.
fn word(info: &str) -> Option<&str> {
    let info = info.trim().trim_start_matches(['{', '.', ' ']);
    let info = info.strip_prefix("lang=").or(info.strip_prefix("language-")).unwrap_or(info);
    let ends =
        |c: char| c.is_whitespace() || matches!(c, '}' | '{' | ':' | ',' | ';' | '"' | '(' | '<');
    info.trim_matches('"').split(ends).next().filter(|word| !word.is_empty())
}

/// The extension of a word that is a file: `solution.py`.
fn extension(word: &str) -> Option<&str> {
    let (stem, extension) = word.rsplit_once('.')?;
    (!stem.is_empty()).then_some(extension)
}

/// Names of languages and formats that no verifier runs, but that blocks are marked with.
const OTHERS: [&str; 81] = assay_verifiers::words::list(
    "bash sh shell zsh console terminal cmd powershell ps1 pycon doctest python-repl json jsonc \
     json5 yaml yml toml xml html css csv text txt plaintext plain output stdout stdin input diff \
     patch markdown md latex tex math mermaid java kotlin scala go golang rust rs ruby rb php swift \
     jsx csharp c# cs r julia haskell hs lua perl dart matlab fortran asm verilog systemverilog \
     vhdl makefile dockerfile ini graphql pseudocode ocaml elixir erlang clojure lisp scheme racket \
     code regex http",
);

/// Whether an info string names a language, rather than being a sentence.
pub(super) fn names_language(info: &str) -> bool {
    let Some(word) = word(info) else { return false };
    let known = |name: &str| {
        Language::named(name).is_some()
            || OTHERS.iter().any(|other| other.eq_ignore_ascii_case(name))
    };
    known(word) || extension(word).is_some_and(known)
}
