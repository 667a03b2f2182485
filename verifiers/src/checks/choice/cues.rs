//! Where an answer is announced: "the answer is C", "I choose C", "C is correct".

use super::letters::Reading;
use super::options::Options;
use super::reading;
use super::wording;
use crate::extract::{self, Candidate, Policy, Provenance, Scope, is_negated, qualify};
use crate::fault::Fault;
use crate::language::choice;
use crate::meter::Meter;
use crate::pattern::Pattern;

/// Patterns that introduce an answer, and that follow it.
#[derive(Debug)]
pub(super) struct Cues {
    answer: Pattern,
    verdict: Pattern,
}

/// An answer follows.
const ANSWER: &str = concat!(
    r#"(?i)[\\]box(?:ed)?\s*\{|<(?:answer|choice|selected|response|output)>"#,
    r#"|\banswer["'*_`]*\s*(?:(?:is|was|would be|should be|must be|will be)\b|[:=：])"#,
    r#"|\b(?:options?|choices?|closest|best match|pick|selection|guess)\s+(?:is|are|would be|should be|must be|ist)\b"#,
    r#"|\bfinal["'*_`]*\s*[:=：]|\bit (?:has|must|needs) to be\b|\b(?:correct|true) statement is\b|\b(?:that|this|which) leaves\b|\brichtig ist\b"#,
    r#"|\banswers are\b|(?:\b(?:opci[oó]n|opç[aã]o|opzione|alternativa|l['’]option)|вариант|选项)\s*(?:(?:correcta|correta|corretta|correcte|juste|giusta|esatta)\s*)?(?:es|é|è|est|[-—–:：]|是|为)"#,
    r#"|\b(?:final|correct|best|right|closest|my|selected|chosen) (?:option|choice|pick|decision|selection)["'*_`]*\s*[:=：]"#,
    r#"|\b(?:is|be|choose|select|pick|with|to|matches)\s+(?:option|choice)\b"#,
    // Words that announce an answer at the start of a line alone.
    r#"|(?:^|\n)[ >#*_-]*(?:conclusion|verdict|decision|response|prediction|label|correct|selected|pick|output|gabarito)["'*_`]*\s*[:=：]"#,
    r#"|['’]s\s+(?:option|choice)\b|\bcorrect one is\b|\b(?:option|choice|one) (?:that|which) (?:fits|matches|works|applies)(?: best)? is\b"#,
    r#"|【答案】|(?:é|es|è)\s+(?:a\s+|la\s+)?(?:letra|lettera|alternativa|opç[aã]o|opci[oó]n|opzione)\b"#,
    // The verb of who answers.
    r#"|\b(?:i|we)(?:['’](?:d|ll|m|re|ve))?(?: (?:would|will|shall|must|should|can|have|to|am|are|going|therefore|thus|also|definitely))*"#,
    r#" (?:choose|chose|pick|picked|select|selected|go with|going with|went with|opt for|vote for|settle on|(?:say|think|believe|guess|conclude)(?: that)?)\b"#,
    r#"|\blet(?:'s|’s| us) (?:choose|pick|select|go with)\b"#,
    r#"|(?:正[确確]|符合(?:题意|題意|题目要求|要求|条件))的(?:选项|選項|答案|说法|一项)?(?:是|为|為)|我?选择?|選擇?|\b(?:elijo|escojo|je choisis|ich wähle|scelgo|escolho|wybieram)\b|выбираю"#,
);

/// An answer stands before it.
const VERDICT: &str = concat!(
    r#"(?i)\b(?:is|are|would be) (?:(?:indeed|clearly|definitely|therefore|thus|the|my|only|both|all|also) )*"#,
    r#"(?:(?:correct|right|best|most (?:accurate|appropriate|suitable|likely))\b|(?:final )?answers?\b)"#,
    r#"| ?(?:的?(?:说法|表述|描述|叙述) ?)?(?:(?:是|为)(?:唯一)?(?:正[确確]|对)的?|正[确確])"#,
    r#"| ?最?符合(?:题意|題意|题目要求|要求|条件)| ?(?:が|は)正解| ?が正し"#,
    r#"| ?を選(?:びます|択します)| ?(?:을|를) (?:고릅니다|고르겠습니다|선택합니다|선택하겠습니다|택합니다|택하겠습니다)"#,
    r#"| ?(?:이|가) (?:정답(?:이다|이며|이고|이므로|입니다|임)|옳습니다|옳다|맞습니다|맞다|올바릅니다|적절합니다)"#,
    r#"| (?:est|es|ist|è|é|está) (?:(?:donc|also|somit|daher|folglich|portanto|quindi|dunque) )?(?:(?:la|die|das|a|o|le|il|l['’])\s*)?"#,
    r#"(?:(?:bonne|respuesta|opción|richtige|risposta|resposta|opção|alternativa|escolha|elección|scelta) )?"#,
    r#"(?:correct|corret|corrett|korrekt|richtig|réponse|antwort|giusta|esatta|bonne|juste|exacte|certa|acertada"#,
    r#"|(?:bon|meilleur) choix|beste wahl|mejor opción|melhor (?:opção|escolha|alternativa))"#,
    r#"| [-—–]? ?(?:правильный|верный) (?:ответ|выбор)| (?:является )?(?:(?:верн|правильн)(?:ый|ая|ое|ым|ой)|верен|верна)"#,
);

/// The most announcements that are examined from either end of a text.
const LOOKED_AT_MAX: usize = 200;

/// A place where an answer is announced.
pub(super) enum Place<'a> {
    /// The answer follows a cue, of which the text is kept.
    After(usize, &'a str),
    /// The answer stands before a verdict, which ends there; whether it says "also".
    Before(usize, usize, bool),
    /// A candidate of the shared extraction.
    Said(Candidate<'a>),
}

/// A pattern whose words end as those of ASCII do: to look for the ends of words of all scripts is
/// many times slower. A backslash of the text stands in brackets there.
fn by_words(pattern: &str) -> Result<Pattern, String> {
    Pattern::new(&pattern.replace(r"\b", r"(?-u:\b)"))
}

impl Cues {
    pub(super) fn new() -> Result<Self, String> {
        Ok(Self { answer: by_words(ANSWER)?, verdict: by_words(VERDICT)? })
    }

    /// Where answers are announced, in order.
    pub(super) fn places<'a>(
        &self,
        scope: &Scope<'a>,
        meter: &mut Meter<'_>,
    ) -> Result<Vec<Place<'a>>, Fault> {
        let body = scope.text();
        meter.spend(4 * body.len() as u64)?;
        let said = extract::announced(scope, Policy::Auto, meter)?;
        let after = self.answer.find_iter(body).map(|cue| Place::After(cue.end(), cue.as_str()));
        // Adjacent boxes are one answer.
        let in_boxes = |at: usize| {
            said.iter().any(|said| {
                said.provenance == Provenance::Boxed && said.span.0 <= at && at <= said.span.1
            })
        };
        let mut places: Vec<Place<'_>> = after.filter(|place| !in_boxes(place.at())).collect();
        let before = self.verdict.find_iter(body);
        places.extend(before.map(|verdict| {
            let also = verdict.as_str().contains(" also ");
            Place::Before(verdict.start(), verdict.end(), also)
        }));
        let own: Vec<usize> = places.iter().map(Place::at).collect();
        places.extend(said.into_iter().filter_map(|said| {
            let known = own.iter().any(|at| *at <= said.span.0 && said.span.0 - at <= 8);
            (said.provenance != Provenance::Anchor || !known).then_some(Place::Said(said))
        }));
        places.sort_by_key(Place::at);
        // Behind a box, "if the order mattered, the answer would be 18" is a remark.
        let is_box = |place: &Place<'_>| matches!(place, Place::Said(said) if said.provenance == Provenance::Boxed);
        if let Some(boxed) = places.iter().find(|place| is_box(place)).map(Place::at) {
            places.retain(|place| {
                is_box(place) || place.at() < boxed || !is_supposed(body, place.at())
            });
        }
        if places.len() > 2 * LOOKED_AT_MAX {
            places.drain(LOOKED_AT_MAX..places.len() - LOOKED_AT_MAX);
        }
        Ok(places)
    }
}

impl Place<'_> {
    /// Whether it has a form that a prompt asks for, and is not a passing remark.
    pub(super) fn is_format(&self) -> bool {
        match self {
            Self::After(..) => true,
            Self::Before(..) => false,
            Self::Said(said) => said.provenance != Provenance::Anchor,
        }
    }

    /// Whether it is a verdict on the options before it: "C is correct".
    pub(super) fn is_verdict(&self) -> bool {
        matches!(self, Self::Before(..))
    }

    /// Where it stands in the text.
    pub(super) fn at(&self) -> usize {
        match self {
            Self::After(at, _) | Self::Before(at, ..) => *at,
            Self::Said(said) => said.span.0,
        }
    }

    /// The answer that is announced here, unless it is taken back.
    pub(super) fn read(&self, body: &str, options: &Options<'_>) -> Option<Reading> {
        let mut reading = match self {
            // "The closest options are" leads to a list.
            Self::After(_, cue) if cue.ends_with(" are") && !options.several => return None,
            Self::After(at, cue) => {
                let before = body.get(..at - cue.len())?;
                if is_denied(before) || is_of_others(before) || qualify::is_unsaid(before) {
                    return None;
                }
                let reading = reading::after(body, *at, cue, options)?;
                if reading::lists(body, &reading, options) {
                    return None;
                }
                reading
            }
            Self::Before(at, end, also) => {
                let reading = reading::before(body, *at, options)?;
                let before = body.get(..reading.start)?;
                let noun = body.get(reading.end..*at)?.trim_matches(wording::CLOSERS);
                let is_named = wording::ends_in_noun(noun) && !ends_in_ascii(before);
                let is_said = !is_denied(before) && (is_named || is_own_letter(before));
                if !is_said || is_of_others(before) || qualify::is_unsaid(before) {
                    return None;
                }
                let is_another = *also && !options.several;
                let is_hedge = reading.is_hedge || is_another || is_alternative(before);
                Reading { is_hedge, behind: *end, ..reading }
            }
            Self::Said(said) => {
                let is_said = said.provenance == Provenance::Anchor;
                if options.lettered && is_first_option(body.get(..said.span.0)?, &said.text) {
                    return None;
                }
                if is_said && is_of_another_question(body.get(..said.span.0)?) {
                    return None;
                }
                let reading = reading::held(&said.text, options, is_said)?;
                let (start, end) = said.span;
                let is_part = body.get(start..end) == Some(said.text.as_ref());
                let at = |inner: usize| if is_part { start + inner } else { end };
                Reading {
                    start: if is_part { start + reading.start } else { start },
                    first_end: at(reading.first_end),
                    end: at(reading.end),
                    behind: at(reading.behind),
                    ..reading
                }
            }
        };
        let after = body.get(reading.end..)?;
        let near = after.get(..after.floor_char_boundary(80))?;
        let asked = matches!(self, Self::Before(at, ..) if is_asked(body.get(*at..)?));
        match qualify::qualifier("", near) {
            _ if asked || is_taken_back(near) => return None,
            Some(qualify::Qualifier::Denied) if !matches!(self, Self::Before(..)) => return None,
            Some(qualify::Qualifier::Hedged) => reading.is_hedge = true,
            _ => {}
        }
        Some(reading)
    }
}

/// Whether "A:" before a text names the first option and is no head of an answer: "A: Jupiter", but not
/// "A: B" and "A: (B) Jupiter".
fn is_first_option(before: &str, said: &str) -> bool {
    let Some(lead) = before.trim_end().strip_suffix("A:") else { return false };
    let line = lead.rsplit('\n').next().unwrap_or_default();
    let bare = said.trim_start_matches(|c: char| c.is_whitespace() || "([*_`$\"'".contains(c));
    let mut chars = bare.chars();
    let is_letter = chars.next().is_some_and(|c| c.is_ascii_alphabetic())
        && !chars.next().is_some_and(char::is_alphanumeric);
    line.trim().is_empty() && !is_letter && !bare.starts_with(['\\', '<'])
}

/// Whether the sentence of a verdict is a question.
fn is_asked(verdict: &str) -> bool {
    let near = &verdict[..verdict.floor_char_boundary(80)];
    near.find(['.', '?', '!', ',', '\n', '。', '？', '！', '，'])
        .is_some_and(|at| near.get(at..).is_some_and(|end| end.starts_with(['?', '？'])))
}

/// "If the order mattered, the answer would be": what is announced at `at` holds in another case.
fn is_supposed(body: &str, at: usize) -> bool {
    let head = &body[..at];
    let near = &head[head.ceil_char_boundary(head.len().saturating_sub(160))..];
    let sentence = near.rsplit(['.', '!', '?', ';', '\n']).next();
    let words = sentence.unwrap_or_default().split(|c: char| !c.is_alphanumeric());
    let words: Vec<String> = words.map(str::to_lowercase).collect();
    let has = |word: &&str| words.iter().any(|have| have == word);
    has(&"would") && choice::CASES.iter().any(has)
}

/// "C, which is a trap".
fn is_taken_back(after: &str) -> bool {
    let remark =
        after.trim_start_matches([')', ']', '*', '_', '`', '"', ',', ' ']).to_ascii_lowercase();
    choice::REMARKS.iter().any(|start| remark.starts_with(start))
}

/// The words at the end of a text, the last one first. Of a long word, as many may come in a row,
/// only the end is read.
fn words_before(before: &str) -> impl Iterator<Item = String> {
    let before = before.trim_end();
    let near = before.floor_char_boundary(before.len().saturating_sub(32));
    let near = &before[near..];
    near.rsplit(char::is_whitespace)
        .map(|word| word.trim_matches(|c: char| !c.is_alphanumeric()).to_lowercase())
}

/// "A is correct or (option C is correct)".
fn is_alternative(before: &str) -> bool {
    let lead = before.trim_end_matches(['(', '[', '*', '_', '`', '"', '\'', '$', ' ']);
    let mut words = words_before(lead).skip_while(|word| choice::FILLERS.contains(&word.as_str()));
    words.next().is_some_and(|word| word == "or")
}

/// Whether the sentence that leads to a verdict takes back what was said before: "But actually C is
/// correct".
pub(super) fn is_contrasted(before: &str) -> bool {
    words_before(sentence(before)).any(|word| choice::CONTRASTS.contains(&word.as_str()))
}

/// "We cannot choose option A."
fn is_denied(before: &str) -> bool {
    let last = words_before(sentence(before)).next().unwrap_or_default();
    let is_denied_elsewhere = || {
        let clause = before.rsplit(['。', '，', '；', '！', '？', ',', '.', '\n']).next();
        clause.is_some_and(|clause| choice::DENIED.iter().any(|word| clause.contains(*word)))
    };
    choice::DENIED_ENDS.iter().any(|word| before.trim_end().ends_with(word))
        || (!before.is_ascii() && is_denied_elsewhere())
        || choice::DENYING.contains(&last.as_str())
        || is_denying(sentence(before))
        || is_negated(&last)
}

/// "Neither option B nor", "it is not true that", "I don't think".
fn is_denying(sentence: &str) -> bool {
    let clause = sentence.rsplit(',').next().unwrap_or_default().to_lowercase();
    let words: Vec<&str> = clause.split_whitespace().collect();
    let is_neither = words.contains(&"neither") || words.contains(&"nor");
    is_neither
        || words.windows(2).any(|pair| {
            matches!(pair, [no, verb] if choice::NEGATIONS.contains(no) && choice::THINKING.contains(verb))
        })
        || clause.contains("not the case that")
}

/// "The wrong option is C", "many choose option C".
fn is_of_others(before: &str) -> bool {
    let clause = sentence(before);
    let wrong =
        words_before(clause).next().is_some_and(|word| choice::WRONG.contains(&word.as_str()));
    wrong || words_before(clause).any(|word| choice::OTHERS.contains(&word.as_str()))
}

/// The end of the last sentence of a text.
fn sentence(text: &str) -> &str {
    let near = &text[text.ceil_char_boundary(text.len().saturating_sub(64))..];
    near.rsplit(['.', '!', '?', ';', '\n']).next().unwrap_or_default()
}

/// "Answer 2: C", "it answers the second question as (C)".
fn is_of_another_question(before: &str) -> bool {
    let mut words = words_before(before);
    let (last, one) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
    let numbered = !last.is_empty() && last.chars().all(|c| c.is_ascii_digit());
    last == "as" || (numbered && one.starts_with("answer"))
}

/// Whether the letter behind this text stands for itself: "vitamin C" does not.
fn is_own_letter(before: &str) -> bool {
    let lead = before.trim_end_matches(['(', '[', '*', '_', '`', '"', '\'', '$', ' ']);
    let ends_word = lead.ends_with(char::is_alphanumeric);
    let word = words_before(lead).next().unwrap_or_default();
    !ends_word
        || before.ends_with(['(', '[', '*'])
        || choice::LEADS.contains(&word.as_str())
        || wording::leads(lead)
}

/// Whether a word of ASCII ends right before the place.
fn ends_in_ascii(before: &str) -> bool {
    before.ends_with(|c: char| c.is_ascii_alphanumeric())
}
