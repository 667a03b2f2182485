//! The toolchain as a folder: one program, its headers and libraries, and the flags of each step as
//! lines of a file. `sandbox/guests/c` makes it.

use std::fs;
use std::path::Path;
use std::sync::Arc;

use assay_verifiers::{BuildError, Digest};
use sha2::{Digest as _, Sha256};

use super::confined::{End, Job, run};
use super::dialect::Dialect;

/// The toolchain. Cheap to clone.
#[derive(Clone)]
pub(super) struct Toolchain {
    folder: Arc<Path>,
    c: Arc<Steps>,
    cpp: Arc<Steps>,
    all: Arc<[String]>,
    named: Arc<[String]>,
    pub(super) digest: Digest,
}

/// The arguments of each step.
struct Steps {
    compile: Vec<String>,
    /// Those before what is linked, and those after it.
    link: (Vec<String>, Vec<String>),
}

/// What a program of C++ is compiled with.
#[derive(Clone, Copy)]
pub(super) enum Headers {
    /// Every header of the library, compiled ahead.
    All,
    /// The headers that it names, which bring as few others as they can.
    Named,
}

impl Toolchain {
    pub(super) fn read(folder: &Path) -> Result<Self, BuildError> {
        let folder = folder.canonicalize().map_err(|error| failed(folder, &error))?;
        let manifest = folder.join("manifest");
        let manifest = fs::read(&manifest).map_err(|error| failed(&manifest, &error))?;
        Ok(Self {
            c: Arc::new(Steps::read(&folder, "c")?),
            cpp: Arc::new(Steps::read(&folder, "cpp")?),
            all: lines(&folder, "headers-all")?.into(),
            named: lines(&folder, "headers-named")?.into(),
            digest: Sha256::digest(manifest).into(),
            folder: folder.into(),
        })
    }

    pub(super) fn c(&self, source: &[u8], expired: &(dyn Fn() -> bool + Sync)) -> End {
        self.compile(&[&self.c.compile], source, expired)
    }

    pub(super) fn cpp(
        &self,
        headers: Headers,
        source: &[u8],
        expired: &(dyn Fn() -> bool + Sync),
    ) -> End {
        let headers = match headers {
            Headers::All => &self.all,
            Headers::Named => &self.named,
        };
        self.compile(&[&self.cpp.compile, headers], source, expired)
    }

    fn compile(
        &self,
        flags: &[&[String]],
        source: &[u8],
        expired: &(dyn Fn() -> bool + Sync),
    ) -> End {
        let flags = flags.iter().flat_map(|flags| flags.iter()).map(String::as_str);
        self.run(flags.chain(["-emit-obj", "-o", "-", "-"]), source, expired)
    }

    pub(super) fn link(
        &self,
        dialect: Dialect,
        object: &[u8],
        expired: &(dyn Fn() -> bool + Sync),
    ) -> End {
        let steps = if dialect == Dialect::C { &self.c } else { &self.cpp };
        let (before, after) = &steps.link;
        let flags = before.iter().map(String::as_str);
        let flags = flags.chain(["/proc/self/fd/0"]).chain(after.iter().map(String::as_str));
        self.run(flags, object, expired)
    }

    fn run<'a>(
        &self,
        args: impl Iterator<Item = &'a str>,
        input: &[u8],
        expired: &(dyn Fn() -> bool + Sync),
    ) -> End {
        let args: Vec<&str> = args.collect();
        run(&Job { folder: &self.folder, program: "zig", args: &args, input }, expired)
    }
}

impl Steps {
    fn read(folder: &Path, dialect: &str) -> Result<Self, BuildError> {
        let both = |step: &str| {
            let of_dialect = lines(folder, &format!("{step}-{dialect}"))?;
            Ok::<_, BuildError>((lines(folder, step)?, of_dialect))
        };
        let (every, of_dialect) = both("compile")?;
        Ok(Self { compile: [every, of_dialect].concat(), link: both("link")? })
    }
}

fn lines(folder: &Path, name: &str) -> Result<Vec<String>, BuildError> {
    let path = folder.join("flags").join(name);
    let text = fs::read_to_string(&path).map_err(|error| failed(&path, &error))?;
    Ok(text.lines().map(str::to_owned).collect())
}

fn failed(path: &Path, error: &std::io::Error) -> BuildError {
    BuildError::new("language", format!("{}: {error}", path.display()))
}
