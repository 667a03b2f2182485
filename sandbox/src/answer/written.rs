//! The answer in which a program is found: the way back from [`super::program`].

use super::{Extract, Language, ProgramSource, Thinking};

/// An answer in which `program` is found.
pub(crate) fn written(program: &str, language: &Language, how: &Extract) -> String {
    let mut answer = match (how.from, how.prefilled) {
        (ProgramSource::Whole, _) => program.to_owned(),
        (_, true) => format!("{program}\n```\n"),
        (_, false) => format!("```{}\n{program}\n```\n", language.name()),
    };
    if let Some(tag) = &how.tag {
        answer = format!("<{tag}>\n{answer}\n</{tag}>");
    }
    if how.thinking == Thinking::Required {
        answer.insert_str(0, "</think>\n");
    }
    answer
}

#[cfg(test)]
mod tests {
    use super::super::program;
    use super::*;

    #[test]
    fn what_is_written_is_found() {
        for from in [ProgramSource::Auto, ProgramSource::Fence, ProgramSource::Whole] {
            for (tag, prefilled) in [(None, false), (Some("code".to_owned()), false), (None, true)]
            {
                for thinking in [Thinking::Skip, Thinking::Lenient, Thinking::Keep] {
                    let how = Extract {
                        from,
                        tag: tag.clone(),
                        prefilled,
                        thinking,
                        ..Extract::default()
                    };
                    found(&how);
                }
                let thinking = Thinking::Required;
                found(&Extract { from, tag: tag.clone(), thinking, ..Extract::default() });
            }
        }
    }

    fn found(how: &Extract) {
        let source = "def f(x):\n    return x";
        let answer = written(source, &Language::PYTHON, how);
        let found = program(&answer, &Language::PYTHON, how).map(|found| found.source.into_owned());
        assert_eq!(found.as_deref().map(str::trim), Some(source), "{how:?}: {answer}");
    }
}
