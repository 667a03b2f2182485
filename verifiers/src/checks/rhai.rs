//! `rhai`: a script decides.

use rhai::{Dynamic, Scope};

use crate::code::Code;
use crate::prelude::*;
use crate::script::{Script, push_sample, push_verdicts, reads_verdicts, shared_engine};
use crate::verifier::Earlier;

/// What a script says of the sample.
///
/// The script sees `completion`, `prompt`, `reference`, `id`, `group` and `meta` (missing ones are
/// `()`), and of the rewards listed before this one `rewards.NAME` (a number, or `()` where there is
/// none) and `verdicts.NAME` with `outcome`, `reward` and `evidence`. Its last value decides: a number is the reward; `true` is 1 and `false` is 0; `()`
/// abstains; a map holds a `reward`, and whatever else it holds is noted as evidence. A script
/// that fails, or returns anything else, is a fault and no reward. Time and memory are bounded.
#[derive(Debug, Default, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Rhai {
    /// The script itself.
    script: Option<String>,
    /// The file that holds it.
    file: Option<String>,
    #[serde(skip)]
    program: Option<Loaded>,
}

struct Loaded(Script);

impl std::fmt::Debug for Loaded {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Loaded")
    }
}

/// Notes that are kept of a map.
const NOTES_MAX: usize = 16;
/// Values that are kept of one note, and how deep they nest.
const VALUES_MAX: usize = 64;
const LEVELS_MAX: usize = 4;
/// Characters that are kept of a text.
const TEXT_CHARS_MAX: usize = 200;

impl Check for Rhai {
    const ID: &'static str = "rhai";

    fn load(&mut self, files: &dyn Files) -> Result<(), BuildError> {
        let (name, source) = match (&self.script, &self.file) {
            (Some(source), None) => ("script", source.clone()),
            (None, Some(file)) => ("file", files.text("file", file)?),
            _ => return Err(BuildError::new("script", "give either script or file")),
        };
        let program = Script::compile(&source).map_err(|why| {
            let is_python = source.lines().any(|line| {
                line.starts_with("def ") || line.starts_with("import ") && !line.contains('"')
            });
            let help = if is_python {
                "; this is Python: verifier = \"python_check\" runs it"
            } else {
                ""
            };
            BuildError::new(name, format!("{why}{help}")).code(Code::BadScript)
        })?;
        self.program = Some(Loaded(program));
        Ok(())
    }

    fn range(&self) -> [f64; 2] {
        [f64::NEG_INFINITY, f64::INFINITY]
    }

    fn check(&self, sample: &Sample, meter: &mut Meter<'_>) -> Result<Verdict, Fault> {
        self.check_after(sample, Earlier::default(), meter)
    }

    fn reads_verdicts(&self) -> bool {
        self.program.as_ref().is_some_and(|Loaded(program)| reads_verdicts(program))
    }

    fn check_after(
        &self,
        sample: &Sample,
        earlier: Earlier<'_>,
        meter: &mut Meter<'_>,
    ) -> Result<Verdict, Fault> {
        let Some(Loaded(program)) = &self.program else {
            return Err(Fault::internal("rhai was not loaded"));
        };
        meter.spend((sample.completion().len() + sample.prompt().len()) as u64 / 8)?;
        let mut scope = Scope::new();
        push_sample(&mut scope, program, sample);
        if reads_verdicts(program) {
            push_verdicts(&mut scope, earlier.iter());
        }
        verdict(&program.run(&shared_engine(), &mut scope, meter)?)
    }
}

fn verdict(value: &Dynamic) -> Result<Verdict, Fault> {
    if value.is_unit() {
        return Ok(Verdict::abstained("the script returned nothing, ()"));
    }
    let Some(map) = value.read_lock::<rhai::Map>() else {
        return Ok(Verdict::scored(reward(value)?));
    };
    let decided = map
        .get("reward")
        .ok_or_else(|| Fault::trap("script: the map that it returned has no reward"))?;
    if decided.is_unit() {
        return Ok(Verdict::abstained("the script returned nothing, ()"));
    }
    let notes: serde_json::Map<String, Value> = map
        .iter()
        .filter(|(key, _)| *key != "reward")
        .take(NOTES_MAX)
        .map(|(key, value)| (cut(key), note(value, &mut { VALUES_MAX }, LEVELS_MAX)))
        .collect();
    let verdict = Verdict::scored(reward(decided)?);
    Ok(if notes.is_empty() { verdict } else { verdict.with("notes", notes) })
}

#[expect(clippy::cast_precision_loss, reason = "no reward needs more than 53 bits")]
fn reward(value: &Dynamic) -> Result<Reward, Fault> {
    let number = match (value.as_bool(), value.as_int(), value.as_float()) {
        (Ok(right), ..) => return Ok(Reward::graded(right)),
        (_, Ok(number), _) => Some(number as f64),
        (.., number) => number.ok(),
    };
    number.and_then(Reward::new).ok_or_else(|| {
        let kind = value.type_name();
        Fault::trap(format!("script: a {kind} that it returned is no finite reward"))
    })
}

/// Evidence is small: texts are cut, lists and maps are kept to their first members, and of anything
/// else its kind is noted.
fn note(value: &Dynamic, left: &mut usize, levels: usize) -> Value {
    *left = left.saturating_sub(1);
    match (value.as_bool(), value.as_int(), value.as_float(), value.as_immutable_string_ref()) {
        (Ok(value), ..) => return value.into(),
        (_, Ok(value), ..) => return value.into(),
        (_, _, Ok(value), _) => return value.into(),
        (.., Ok(text)) => return cut(&text).into(),
        _ if value.is_unit() => return Value::Null,
        _ if levels == 0 => return value.type_name().into(),
        _ => {}
    }
    if let Some(list) = value.read_lock::<rhai::Array>() {
        let mut kept = Vec::new();
        for member in list.iter() {
            if *left == 0 {
                break;
            }
            kept.push(note(member, left, levels - 1));
        }
        return kept.into();
    }
    if let Some(map) = value.read_lock::<rhai::Map>() {
        let mut kept = serde_json::Map::new();
        for (key, member) in map.iter() {
            if *left == 0 {
                break;
            }
            kept.insert(cut(key), note(member, left, levels - 1));
        }
        return kept.into();
    }
    value.type_name().into()
}

fn cut(text: &str) -> String {
    text.chars().take(TEXT_CHARS_MAX).collect()
}
