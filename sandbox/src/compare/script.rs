//! A comparator in rhai.

use assay_verifiers::code::Code;
use assay_verifiers::script::{STRING_BYTES_MAX, Script, shared_engine};
use assay_verifiers::{BuildError, Fault, FaultKind, Meter};
use rhai::{Dynamic, Scope};

use super::compared::Compared;
use super::difference::Difference;

/// What a script sees, in the order in which it is passed around.
const NAMES: [&str; 3] = ["expected", "got", "stdin"];

pub(super) struct Comparator(Script);

impl std::fmt::Debug for Comparator {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Comparator")
    }
}

impl Comparator {
    pub(super) fn compile(source: &str) -> Result<Self, BuildError> {
        let program = Script::compile(source)
            .map_err(|error| BuildError::new("comparator", error.message).code(Code::BadScript))?;
        if program.mentions("got") {
            return Ok(Self(program));
        }
        Err(BuildError::new(
            "comparator",
            "the script never looks at got, so every program is alike",
        ))
    }

    /// Whose failure is it? A script that fails on this output but not on the expected one was
    /// given something that no right program prints.
    pub(super) fn compare(
        &self,
        [expected, got, stdin]: [&str; 3],
        meter: &mut Meter<'_>,
    ) -> Result<Compared, Fault> {
        self.fits([expected, "", stdin])?;
        if got.len() > STRING_BYTES_MAX {
            return Ok(Compared::of(Some(Difference::new("too-long", 1, expected, got))));
        }
        let share = meter.left() / 3;
        let fault = match self.run([expected, got, stdin], share, meter) {
            Ok(credit) => return Ok(graded(credit, expected, got)),
            Err(fault) if is_the_scripts(fault.kind) => fault,
            Err(fault) => return Err(fault),
        };
        match self.run([expected, expected, stdin], share, meter) {
            Ok(_) => {
                let mut difference = Difference::new("comparator-failed", 1, "", &fault.why);
                difference.expected.clear();
                Ok(Compared::of(Some(difference)))
            }
            Err(fault) => Err(Fault::new(fault.kind, format!("comparator: {}", fault.why))),
        }
    }

    fn fits(&self, texts: [&str; 3]) -> Result<(), Fault> {
        let long = NAMES
            .iter()
            .zip(texts)
            .find(|(name, text)| text.len() > STRING_BYTES_MAX && self.0.mentions(name));
        long.map_or(Ok(()), |(name, text)| {
            let why = format!(
                "comparator: {name} has {} bytes; at most {STRING_BYTES_MAX} can be looked at",
                text.len()
            );
            Err(Fault::bad_reference(why))
        })
    }

    fn run(&self, texts: [&str; 3], fuel: u64, meter: &mut Meter<'_>) -> Result<f64, Fault> {
        let mut scope = Scope::new();
        for (name, text) in NAMES.iter().zip(texts).filter(|(name, _)| self.0.mentions(name)) {
            scope.push_dynamic(*name, Dynamic::from(text.to_owned()));
        }
        let mut share = Meter::new(fuel);
        let value = self.0.run(&shared_engine(), &mut scope, &mut share);
        meter.spend(share.spent().min(fuel))?;
        credit(&value?)
    }
}

fn is_the_scripts(kind: FaultKind) -> bool {
    matches!(kind, FaultKind::Trap | FaultKind::OutOfFuel | FaultKind::OutOfMemory)
}

fn credit(value: &Dynamic) -> Result<f64, Fault> {
    let number = match (value.as_bool(), value.as_int(), value.as_float()) {
        (Ok(right), ..) => Some(if right { 1.0 } else { 0.0 }),
        (_, Ok(number), _) => i32::try_from(number).ok().map(f64::from),
        (.., number) => number.ok(),
    };
    number.filter(|credit| (0.0..=1.0).contains(credit)).ok_or_else(|| {
        let kind = value.type_name();
        let why = format!("the script ended in a {kind} that is neither true, false nor 0 to 1");
        Fault::new(FaultKind::Trap, why)
    })
}

fn graded(credit: f64, expected: &str, got: &str) -> Compared {
    if credit >= 1.0 {
        return Compared::of(None);
    }
    let difference = Some(Difference::new("comparator", 1, expected, got));
    Compared { credit: credit + 0.0, difference }
}
