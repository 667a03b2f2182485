//! `language`: the share of a completion that is in the expected language, or script.

use assay_instructions::{Alphabet, codes, language_share};

use crate::extract::{Thinking, thinking};
use crate::prelude::*;
use crate::text_parts::share;

/// Pays the share of the completion that is in the expected language, or in the expected scripts.
///
/// The language is told by the algorithm and the 55 profiles of `langdetect`, with seed 0, line by line;
/// short lines are joined. It is named by a code, `en`, `de` or `zh-cn`; `zh` is any Chinese. The code
/// is `language`, or the reference. Scripts are names of Unicode, such as `Latin` and `Han`; of them
/// letters alone are counted. Code between fences is left out, and so is what the model thinks. A text
/// without letters earns nothing.
#[derive(Debug, Default, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct LanguageCheck {
    /// The code of the language of every completion. Otherwise the reference is the code.
    language: Option<String>,
    /// Scripts instead of a language: the share of letters that are of one of them.
    scripts: Vec<String>,
    /// Pay 1 from this share on and 0 below, instead of the share.
    least: Option<f64>,
    #[serde(skip)]
    alphabet: Option<Alphabet>,
}

impl Check for LanguageCheck {
    const ID: &'static str = "language";
    const ASPECT: Aspect = Aspect::Form;

    fn load(&mut self, _: &dyn Files) -> Result<(), BuildError> {
        if self.least.is_some_and(|least| !(least > 0.0 && least <= 1.0)) {
            return Err(BuildError::new("least", "a share is more than 0, and 1 at most"));
        }
        if let Some(code) = self.language.as_deref().filter(|code| !is_code(code)) {
            return Err(BuildError::new("language", format!("there is no language \"{code}\"")));
        }
        if self.scripts.is_empty() {
            return Ok(());
        }
        if self.language.is_some() {
            return Err(BuildError::new("scripts", "give a language or scripts"));
        }
        let names = self.scripts.iter().map(String::as_str);
        let alphabet = Alphabet::named(names)
            .map_err(|name| BuildError::new("scripts", format!("there is no script \"{name}\"")))?;
        self.alphabet = Some(alphabet);
        Ok(())
    }

    fn check(&self, sample: &Sample, meter: &mut Meter<'_>) -> Result<Verdict, Fault> {
        let text = sample.completion();
        meter.spend(20 * text.len() as u64)?;
        let end = text.len();
        let said = &text[thinking::answer(text, Thinking::Skip).unwrap_or(end..end)];
        let prose = without_fences(said);
        let found = match (&self.alphabet, self.expected(sample)?) {
            (Some(alphabet), _) => alphabet.share(&prose),
            (None, None) => return Ok(Verdict::no_reference()),
            (None, Some(code)) => language_share(&prose, code, &mut |units| meter.spend(units))?,
        };
        let Some(found) = found else {
            return Ok(Verdict::graded(false).because("no-letters"));
        };
        let verdict = match self.least {
            Some(least) => Verdict::graded(found >= least),
            None => share(found),
        };
        Ok(verdict.with("share", found))
    }
}

impl LanguageCheck {
    fn expected<'s>(&'s self, sample: &'s Sample) -> Result<Option<&'s str>, Fault> {
        if self.alphabet.is_some() || self.language.is_some() {
            return Ok(self.language.as_deref());
        }
        let Some(reference) = sample.reference() else { return Ok(None) };
        let code = reference.as_str().filter(|code| is_code(code));
        code.map(Some).ok_or_else(|| Fault::bad_reference("the reference is no code of a language"))
    }
}

/// Whether a language with a profile has the code, whole or without its region.
fn is_code(code: &str) -> bool {
    codes().iter().any(|own| *own == code || own.split('-').next() == Some(code))
}

/// The lines that are not between fences of code.
fn without_fences(text: &str) -> String {
    let mut within = false;
    let mut is_prose = |line: &&str| {
        let is_fence = line.trim_start().starts_with("```");
        within ^= is_fence;
        !(within || is_fence)
    };
    text.split_inclusive('\n').filter(&mut is_prose).collect()
}
