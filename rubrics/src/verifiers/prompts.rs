//! The prompts of a verifier: ours, or those of files that its settings name.

use assay_verifiers::{BuildError, Spec, canonical};

use super::scope::RubricScope;
use crate::prompt::PromptTemplate;

/// A prompt: its setting, the file that the setting names, and ours.
pub(super) type PromptSource<'a> = (&'static str, Option<&'a str>, &'static str);

/// The templates of the system message and of the message of the user. What they are goes into `spec`.
pub(super) fn template(
    scope: &RubricScope<'_>,
    [system, user]: [PromptSource<'_>; 2],
    spec: &mut Spec,
) -> Result<PromptTemplate, BuildError> {
    let mut text = |(setting, file, ours): PromptSource<'_>| {
        let text = match file {
            Some(file) => read(scope, setting, file)?,
            None => ours.to_owned(),
        };
        spec.files.push((setting.to_owned(), canonical::digest_parts(&[text.as_bytes()])));
        Ok::<_, BuildError>(text)
    };
    let (system, user) = (text(system)?, text(user)?);
    PromptTemplate::new(&system, &user).map_err(|error| BuildError::new("user_prompt", error))
}

fn read(scope: &RubricScope<'_>, setting: &str, file: &str) -> Result<String, BuildError> {
    let refuse = |why: String| BuildError::new(setting, why);
    let bytes = scope.files.read(file).map_err(refuse)?;
    String::from_utf8(bytes).map_err(|_| refuse(format!("{file}: not UTF-8")))
}
