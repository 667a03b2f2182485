//! Python: programs with files and arguments. The interpreter itself is a guest that all verifiers share,
//! and knows of neither.

use serde_json::json;

/// What runs before a program: it finds its arguments and the modules that are beside it.
const START: &str = include_str!("python/start.py");

/// A program that is at `path` and is called with `args`.
pub(crate) fn started(source: &str, path: &str, args: &[String]) -> String {
    let path = path.trim_start_matches('/');
    let (folder, _) = path.rsplit_once('/').unwrap_or_default();
    let args: Vec<&str> = std::iter::once(path).chain(args.iter().map(String::as_str)).collect();
    // A text in JSON is one in Python.
    let (start, source, args) = (json!(START), json!(source), json!(args));
    let (folder, path) = (json!(format!("/{folder}")), json!(format!("/{path}")));
    format!(
        "exec(compile({start}, '<start>', 'exec', dont_inherit=True), {{'ARGS': {args}, 'FOLDER': {folder}}})\n\
         __file__ = {path}\n\
         exec(compile({source}, __file__, 'exec', dont_inherit=True))\n"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_ends_a_text_ends_no_program() {
        let odd = "'''\"\"\"\\\n`${1}`</script>\u{2028}";
        let started = started(odd, odd, &[odd.to_owned()]);
        assert_eq!(started.lines().count(), 3, "{started}");
    }
}
