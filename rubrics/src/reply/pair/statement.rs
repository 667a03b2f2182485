//! Verdicts in sentences: "Output (b) is better", "Winner: A", "it is a tie".

use std::sync::LazyLock;

use assay_verifiers::Pattern;

use super::label;
use super::sentence;
use super::types::Winner;

/// A sentence that states a verdict.
struct Statement {
    at: usize,
    winner: Winner,
    /// Whether it is plain; a hedged one counts only as a conclusion.
    is_plain: bool,
    is_conclusion: bool,
    /// Whether it is the last sentence of the text, which makes it a conclusion too.
    is_last: bool,
}

/// The verdict of the last statement of a text.
pub(super) fn last(text: &str) -> Option<Winner> {
    let mut statements: Vec<Statement> = SHAPES
        .iter()
        .flat_map(|shape| shape.statements(text))
        .chain(alone(text))
        .filter(|one| one.is_plain || one.is_conclusion || one.is_last)
        .collect();
    statements.sort_by_key(|one| one.at);
    let plain = statements.iter().rev().find(|one| one.is_plain);
    // A tie as a conclusion takes back what was said before it.
    let tie = statements.last().filter(|one| one.winner == Winner::Tie && one.is_conclusion);
    Some(tie.or(plain).or(statements.last())?.winner)
}

/// What a shape says of the label in it.
#[derive(Clone, Copy, PartialEq)]
enum Says {
    Better,
    Worse,
    Tie,
}

/// A shape of a statement. Groups: `n` a label behind a noun, `o` an ordinal, `l` a bare label;
/// `weak` a hedge, `aspect` one in which alone an output is better.
struct Shape {
    says: Says,
    pattern: Pattern,
}

static SHAPES: LazyLock<Vec<Shape>> = LazyLock::new(|| shapes().unwrap_or_default());

fn shapes() -> Result<Vec<Shape>, String> {
    let noun = r"(?:outputs?|responses?|answers?|assistants?|options?|models?|candidates?|completions?|summary|choices?|systems?|texts?|solutions?|repl(?:y|ies)|essays?|stor(?:y|ies)|translations?)";
    let labelled = format!(
        r#"\b{noun}[\s#*_`"'“]*(?:[(\[]\s*(?P<n>a|b|1|2|one|two)\s*[)\]]|(?P<m>a|b|1|2|one|two)\b)[*_`"'”]*"#
    );
    let ordinal = format!(r"\bthe\s+(?P<o>first|second)\b(?:\s+(?:one|{noun})\b)?[*_]*");
    let bare = r#"(?:^|[\n:,;.(]\s*|\b(?:that|think|believe|say|and|but|so|thus|therefore|overall)\s+)[*_"'“(\[]*(?P<l>(?-i:[AB]))[)\]*_"'”]*"#;
    let subject = format!(r"(?:{labelled}|{ordinal}|{bare})(?:['’]s\s+{noun})?");
    let adverb = r"(?:\s+(?:\w+ly|much|far|a (?:bit|little|lot)|also|still|indeed|by far|the|a|an|my|more|considered|deemed|judged|rated|therefore|thus|both|to be|likely|marginally|far and away|as|,))";
    let copula = r"(?:\s+(?:is|was|remains|stands out as|emerges as|comes out as|ranks|(?P<weak>seems|appears|looks|would be|could be|may be|might be|feels|stands out))|['’]s)";
    let best = r"\s+(?:better|best|superior|preferred|preferable|winner|stronger|strongest|winning|favou?red|ahead)\b";
    let aspect = r"(?P<aspect>\s+(?:at|in|when|formatted|structured|organi[sz]ed|written|explained|worded|phrased|researched|known)\b)?";
    let named = format!(
        r#"[\s:=*_"'“`(\[-]*(?:{labelled}|{ordinal}|(?P<l>(?-i:[AB])\b|[(\[][ab12][)\]]|[12](?:[.*_"')\]]*\s*(?:\n|$))))"#
    );
    let object = format!(r"(?:{noun}|one)");
    let announced = format!(
        r"\b(?:winner|verdict|result|preference|preferred(?: {object})?|(?:better|best|superior|stronger) (?:of the two|{object})|(?:my|final) (?:choice|decision|judge?ment|answer|pick)|choice|decision|judge?ment)(?:\s+(?:overall|here|between the two))?\s*(?:\s(?:is|was|goes to|would be|for)(?:\s+(?:clearly|therefore|that|definitely))?\b|:|=|\*\*:?)"
    );
    let chosen = r"(?:\b(?:i|we)(?:\s+(?:would|will|strongly|slightly|clearly|therefore|thus|have to|must|do|personally)|['’](?:d|ll))*\s+(?:prefer|choose|pick|select|favou?r|go with|vote for|chose|lean towards?)(?:\s+that)?|\b(?:i|we)['’](?:m|re) going with)";
    let fits = r"\s+(?P<weak>better\s+(?:follow|execut|align|adher|fit|meet|answer|address|satisf|suit|match|captur|fulfil|achiev)\w*s\b)";
    let lettered = format!(r#"[\s*_"'“`]*(?:{labelled}|(?P<l>(?-i:[AB])\b|[(\[][ab][)\]]))"#);
    let answered = r"\b(?P<weak>the (?:final |correct |right )?(?:answer|output|response)\s+is|(?:i|we)(?:['’]d| would) say(?: that)?)\s+";
    let not_heading = r"(?:[^:]|$)";
    let equal = r"(?:equally\s+\w+|equal\b|equivalent\b|tied\b|of equal\b|the same quality|evenly matched|comparable in quality|on par\b)";
    let tie = format!(
        r"\b(?:(?:it|this|that|verdict|result|winner|decision|judge?ment|call it|declare(?: it)?|preference)(?:['’]s|\s+is|:)?\s*[*_\[(]*\s*(?:basically|roughly|essentially|effectively|clearly)?\s*(?:a\s+)?[*_]*(?:tie|draw|toss-?up)\b|both\b[^.\n]{{0,60}}?\b(?:are|is|were|perform|do|seem)\s+(?:\w+\s+)?{equal}|(?:outputs|responses|answers|assistants|two|they|[ab]\)?)\s+(?:are|perform|do)\s+(?:both\s+)?(?:\w+ly\s+)?{equal}|(?:there is |there's )?no (?:clear |obvious )?(?:winner|preference)\b|neither\b[^.\n]{{0,40}}?\b(?:is|are)\s+(?:\w+ly\s+)?(?:better|superior|preferable|the winner)\b)"
    );
    let plain = [
        (Says::Better, format!(r"(?im){subject}{copula}{adverb}{{0,5}}{best}{aspect}")),
        (
            Says::Better,
            format!(
                r"(?im){subject}\s+(?:clearly\s+|narrowly\s+|easily\s+)?(?:wins|won)\b{aspect}"
            ),
        ),
        (
            Says::Better,
            format!(
                r"(?im){subject}\s+(?:clearly\s+|slightly\s+|significantly\s+)?(?P<weak>outperforms|beats|surpasses|edges out|is the (?:more|most) [a-z ,-]{{1,60}}? (?:one|{noun}|choice|option)\b)"
            ),
        ),
        (Says::Better, format!(r"(?im){subject}{fits}")),
        (Says::Better, format!(r"(?im){answered}{lettered}")),
        (
            Says::Worse,
            format!(
                r"(?im){subject}{copula}{adverb}{{0,5}}\s+(?P<weak2>worse|inferior|weaker|worst)\b"
            ),
        ),
        (Says::Better, format!(r"(?im){announced}{named}{not_heading}")),
        (Says::Better, format!(r"(?im){chosen}{named}")),
        (Says::Tie, format!(r"(?im){tie}")),
    ];
    plain
        .into_iter()
        .map(|(says, pattern)| Ok(Shape { says, pattern: Pattern::new(&pattern)? }))
        .collect()
}
impl Shape {
    fn statements(&self, text: &str) -> Vec<Statement> {
        let mut found = Vec::new();
        for captures in self.pattern.captures_iter(text) {
            let Some(whole) = captures.get(0) else { continue };
            let group = |name| captures.name(name);
            let named = ["n", "m", "o", "l"].iter().find_map(|name| group(name));
            let label = named.and_then(|found| label::read(found.as_str()));
            let winner = match (self.says, label) {
                (Says::Tie, _) => Winner::Tie,
                (Says::Better, Some(label)) => label.winner,
                (Says::Worse, Some(label)) => label.winner.swapped(),
                (_, None) => continue,
            };
            let start = named.map_or(whole.start(), |named| named.start().max(whole.start()));
            let start = if self.says == Says::Tie { whole.start() } else { start };
            let hedged = ["weak", "weak2", "aspect"].iter().any(|name| group(name).is_some());
            let is_plain = self.says != Says::Tie && !hedged;
            found.extend(statement(text, (whole.start(), start, whole.end()), winner, is_plain));
        }
        found
    }
}

/// The statement at a place, unless the words around it take it back.
fn statement(
    text: &str,
    (start, at, end): (usize, usize, usize),
    winner: Winner,
    is_plain: bool,
) -> Option<Statement> {
    let before = text.get(..start)?;
    let (from, to) = sentence::bounds(text, start, end);
    let after = text.get(end..)?;
    let unsaid = sentence::is_denied(before)
        || sentence::is_reported(before)
        || sentence::is_conditional(before, after)
        || is_one_of_several(before, after)
        || sentence::is_choice(text.get(from..start)?)
        || text.get(start..to)?.trim_end().ends_with('?');
    let is_last = text.get(to..)?.trim_matches(label::is_wrapping).is_empty();
    let lead = text.get(from..end)?;
    let is_conclusion = sentence::is_conclusion(lead);
    let statement = Statement { at, winner, is_plain, is_conclusion, is_last };
    let is_conceded = winner == Winner::Tie && sentence::is_conceded(text.get(end..to)?);
    (!unsaid && !is_conceded).then_some(statement)
}

/// Whether a statement is one of the answers on offer.
fn is_one_of_several(before: &str, after: &str) -> bool {
    let after = after.trim_start_matches(['"', '\'', '”', '*', '`', '.', ',', ' ']);
    let offered = after.get(..3).is_some_and(|word| word.eq_ignore_ascii_case("or "));
    offered || sentence::is_option(before, "")
}

/// A label that is a whole text, its last line, or its first one where no other line is a label.
fn alone(text: &str) -> Option<Statement> {
    let lines = text.lines().filter(|line| !line.trim().is_empty());
    let labels: Vec<(usize, usize, Winner)> = lines
        .enumerate()
        .filter_map(|(at, line)| {
            let is_heading = line.trim().ends_with(':') || line.trim().starts_with('#');
            let label = (!is_heading).then(|| label::read(line))??;
            Some((at, text.find(line)?, label.winner))
        })
        .collect();
    let count = text.lines().filter(|line| !line.trim().is_empty()).count();
    let (line, at, winner) = *labels.last()?;
    let are_listed = labels.len() == count && labels.iter().any(|(_, _, other)| *other != winner);
    let counts = line + 1 == count || (labels.len() == 1 && line == 0);
    (counts && !are_listed).then_some(Statement {
        at,
        winner,
        is_plain: true,
        is_conclusion: true,
        is_last: true,
    })
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_shapes_compile() {
        assert_eq!(super::shapes().err(), None);
    }
}
