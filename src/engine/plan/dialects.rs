//! Settings as other languages and other machines have them: patterns, paths into JSON, scripts, names of files; and
//! what to type in their place.

use assay_verifiers::BuildError;
use serde_json::{Map, Value};

use super::patterns;
use crate::engine::advice::{home, suggestion};
use crate::engine::translate;

/// Keys of a reward, which stand beside its settings.
const OF_REWARDS: [&str; 7] = ["weight", "when", "shape", "turn", "required", "pin", "name"];

/// Flags of patterns as settings of others.
const FLAGS: [(&str, &str); 10] = [
    ("ignore_case", "i"),
    ("ignorecase", "i"),
    ("case_insensitive", "i"),
    ("multiline", "m"),
    ("multi_line", "m"),
    ("dotall", "s"),
    ("dot_all", "s"),
    ("flags", ""),
    ("re_flags", ""),
    ("regex_flags", ""),
];

/// Settings that a verifier refuses.
pub(super) struct RefusedSettings<'a> {
    pub(super) verifier: &'a str,
    pub(super) config: &'a Map<String, Value>,
    pub(super) error: &'a BuildError,
    /// What is refused of other settings.
    pub(super) retry: &'a dyn Fn(Value) -> Option<BuildError>,
}

impl RefusedSettings<'_> {
    /// What to type in their place, where they are written as elsewhere.
    pub(super) fn help(&self) -> Option<String> {
        let own = match self.verifier {
            "regex" => self.pattern(),
            "json" => self.pointer(),
            "rhai" => self.script(),
            "choice" => self.letters(),
            "python_check" => self.indentation(),
            _ => None,
        };
        own.or_else(|| self.file()).or_else(|| self.misplaced())
    }

    fn text(&self, key: &str) -> Option<&str> {
        self.config.get(key)?.as_str()
    }

    /// Whether nothing is refused where a setting has another value.
    fn accepts(&self, key: &str, value: &str) -> bool {
        let mut other = self.config.clone();
        other.insert(key.to_owned(), value.into());
        (self.retry)(other.into()).is_none()
    }

    /// What to type for a setting, where it is another one and is accepted.
    fn written(&self, key: &str, meant: &str) -> Option<String> {
        let differs = self.text(key).is_some_and(|own| own != meant);
        (differs && self.accepts(key, meant))
            .then(|| format!("write {key} = {}", toml::Value::from(meant)))
    }

    /// The key that the verifier does not know.
    fn unknown(&self) -> Option<&str> {
        let message = &self.error.message;
        message.strip_prefix("unknown field `")?.split('`').next()
    }

    fn pattern(&self) -> Option<String> {
        let pattern = self.text("pattern")?;
        if let Some((key, letter)) =
            self.unknown().and_then(|key| FLAGS.iter().find(|(own, _)| *own == key))
        {
            let all = self.text(key).unwrap_or_default().to_lowercase();
            let named = [("ignorecase", 'i'), ("dotall", 's'), ("multiline", 'm')];
            let is_letters = all.chars().all(|char| "imsguy".contains(char));
            let flags: String = match (*letter, is_letters) {
                ("", true) => all.chars().filter(|char| "ims".contains(*char)).collect(),
                ("", false) => {
                    let has = |(word, _): &&(&str, char)| all.contains(word);
                    named.iter().filter(has).map(|(_, flag)| *flag).collect()
                }
                (letter, _) => letter.to_owned(),
            };
            let flags = if flags.is_empty() { "i".to_owned() } else { flags };
            let meant = toml::Value::from(format!("(?{flags}){pattern}"));
            return Some(format!("flags stand in the pattern: write pattern = {meant}"));
        }
        if self.error.message.contains("the pattern has no such group") {
            return Some(patterns::known_groups(pattern));
        }
        if !self.error.message.contains("regex parse error") {
            return None;
        }
        let translated = patterns::translated(pattern);
        self.written("pattern", &translated).or_else(|| patterns::unsupported(pattern))
    }

    /// A path into JSON, as `$.a[0].b` or `a.b`.
    fn pointer(&self) -> Option<String> {
        let path = self.text("pointer")?.trim_start_matches(['$', '#']);
        let steps =
            path.split(['.', '[', ']', '/']).map(|step| step.trim_matches(['"', '\'', ' ']));
        let steps: Vec<&str> = steps.filter(|step| !step.is_empty()).collect();
        self.written("pointer", &format!("/{}", steps.join("/")))
    }

    /// A script in the words of another language.
    fn script(&self) -> Option<String> {
        let script = self.text("script")?;
        self.written("script", &translate::words_of_rhai(script))
    }

    /// The letters themselves.
    fn letters(&self) -> Option<String> {
        let letters = self.text("letters")?.chars().filter(|char| char.is_alphabetic()).count();
        (letters > 1).then(|| format!("write letters = {letters}, counted from A"))
    }

    fn indentation(&self) -> Option<String> {
        self.error.message.contains("TabError").then(|| {
            "indent by blanks alone, four for each level: `expand -t 4 FILE` writes them for tabs".to_owned()
        })
    }

    /// A name of a file that is none, or none of this machine.
    fn file(&self) -> Option<String> {
        let key = self.error.setting.as_str();
        let name = self.text(key)?;
        if !self.error.message.contains("No such file") {
            return None;
        }
        if name.starts_with("http://") || name.starts_with("https://") {
            return Some(
                "nothing is fetched: load it down, and write the name of the file".to_owned(),
            );
        }
        if name.starts_with(['~', '$', '%']) {
            return Some(format!(
                "no shell expands it: write the whole path, or one from the folder of the configuration, as in \
                 {key} = \"{}\"",
                last_step(name)
            ));
        }
        let is_drive = name.as_bytes().get(1) == Some(&b':');
        if is_drive || name.starts_with("\\\\") {
            return Some(format!(
                "a path begins at the folder of the configuration: write {key} = \"{}\" for a file in it",
                last_step(name)
            ));
        }
        if name.contains('\\') {
            let meant = toml::Value::from(name.replace('\\', "/"));
            return Some(format!("folders are parted by /: write {key} = {meant}"));
        }
        if !is_prose(name) {
            return None;
        }
        Some(match key {
            "rubric" => format!(
                "a rubric in the configuration is a table: rubric = {{ criterion = [{{ name = \"quality\", text = \
                 {} }}] }}",
                toml::Value::from(name)
            ),
            "file" => {
                "a program in the configuration is `script`: write script = '''...'''".to_owned()
            }
            key => {
                format!("it names a file: write the text into {key}.txt, and {key} = \"{key}.txt\"")
            }
        })
    }

    /// A key of the reward, or of another table, among the settings.
    fn misplaced(&self) -> Option<String> {
        let key = self.unknown()?;
        let value = self.config.get(key)?;
        let value = toml::Value::try_from(value).ok()?.to_string();
        if OF_REWARDS.contains(&key) {
            return Some(format!(
                "it stands beside config, in [[reward]] itself: write\n{key} = {value}"
            ));
        }
        if suggestion(&self.error.message).is_some() {
            return None;
        }
        let place = home(key, &["reward", "0"])?;
        Some(format!("it stands in {place}: write\n{place}\n{key} = {value}"))
    }
}

/// The last part of a path of any system.
fn last_step(path: &str) -> &str {
    path.rsplit(['/', '\\']).next().unwrap_or(path)
}

/// Whether a text says something, and names no file.
fn is_prose(text: &str) -> bool {
    let ending = text.rsplit_once('.').map_or("", |(_, ending)| ending);
    let is_ending = (1..=5).contains(&ending.len()) && ending.chars().all(char::is_alphanumeric);
    text.trim().contains([' ', '\n']) && !is_ending
}
