//! `OpenRLHF`: `POST /get_reward`, as its `--reward.remote_url` asks for it.
//!
//! A query is the prompt and the response, as its tokenizer gives both back; the response is what
//! follows the prompt. A prompt is never judged.

use std::collections::{BTreeMap, HashSet};
use std::time::Duration;

use assay_trainer::statistics::mean;
use assay_verifiers::{Reward, Sample};

use super::super::payload::Payload;
use super::super::runtime::now;
use super::models::Reading;
use crate::serve::prelude::*;

/// The least part of a prompt, in letters without white space, by which its end is known.
const TAIL: usize = 16;
/// The longest name of a special token between its brackets.
const NAME_CHARS_MAX: usize = 40;
/// Tokens that end a text, beside those between `<|` and `|>`.
const ENDS: [&str; 7] = ["</s>", "<s>", "<eos>", "<bos>", "<pad>", "<end_of_turn>", "[PAD]"];
/// Tokens that begin a turn, beside those between brackets.
const TURNS: [&str; 3] = ["[INST]", "<start_of_turn>", "<bos>"];
/// The brackets of special tokens, with the bar that their names do not hold.
const BRACKETS: [(&str, &str, char); 2] = [("<|", "|>", '|'), ("<｜", "｜>", '｜')];

/// What `OpenRLHF` sends.
#[derive(Deserialize, JsonSchema)]
struct RewardRequest {
    /// Prompt and response of each sample.
    query: Vec<String>,
    /// The prompt of each. Without prompts, a query is all response.
    #[serde(default)]
    prompts: Option<Vec<String>>,
    /// The reference of each; null and an empty text are none.
    #[serde(default)]
    labels: Option<Vec<Value>>,
}

/// What it gets.
#[derive(Serialize, JsonSchema)]
struct RewardReply {
    /// The reward of each sample.
    rewards: Vec<f64>,
    /// The same: what `OpenRLHF` filters groups by.
    scores: Vec<f64>,
    /// Metrics, one value a sample: `assay/fault_rate`, `assay/abstained_rate`, `assay/latency_ms`,
    /// `assay/sample_ms` and `assay/reward/NAME`. Where a reward does not apply to a sample, the mean of
    /// those to which it applies; 0 where there are none.
    extra_logs: BTreeMap<String, Vec<f64>>,
}

pub(super) fn router() -> Router<Arc<Shared>> {
    Router::new().route("/get_reward", post(get_reward))
}

pub(super) fn operations() -> Vec<Operation> {
    vec![Operation::judged(
        "/get_reward",
        "OpenRLHF: rewards of queries",
        schema::<RewardRequest>,
        schema::<RewardReply>,
    )]
}

async fn get_reward(
    asked: Asked,
    Payload(request): Payload<RewardRequest>,
) -> Result<Json<RewardReply>, ApiError> {
    let start = now();
    let profile = asked.profile(None)?;
    if request.prompts.is_none() {
        profile.check_grouped("queries without `prompts` have no groups: send them")?;
    }
    let scored = asked.score(samples(request, Reading::of(&profile))?).await?;
    let reward = |(at, one): (usize, &Scored)| {
        one.reward().ok_or_else(|| ApiError::unscored(one).at(format!("query[{at}]")))
    };
    let rewards: Vec<f64> = ApiError::all(scored.iter().enumerate().map(reward))?;
    let extra_logs = extra_logs(&profile, &scored, start.elapsed());
    let reply = RewardReply { scores: rewards.clone(), rewards, extra_logs };
    Ok(Json(reply))
}

fn samples(request: RewardRequest, reading: Reading) -> Result<Vec<Sample>, ApiError> {
    let RewardRequest { query, prompts, labels } = request;
    let count = query.len();
    let fits = |name: &str, len: usize| {
        let message = format!("{len} values for {count} queries");
        if len == count { Ok(()) } else { Err(ApiError::bad_request(message).at(name)) }
    };
    prompts.as_ref().map_or(Ok(()), |prompts| fits("prompts", prompts.len()))?;
    labels.as_ref().map_or(Ok(()), |labels| fits("labels", labels.len()))?;
    let mut prompts = prompts.into_iter().flatten();
    let mut labels = labels.into_iter().flatten();
    let mut samples = Vec::with_capacity(count);
    for (at, query) in query.iter().enumerate() {
        let prompt = prompts.next().unwrap_or_default();
        let query = unpadded(query, &prompt);
        let place = || format!("query[{at}]");
        let (begin, rest) = split(query, &prompt).ok_or_else(|| {
            let message = "does not begin with its prompt, nor with the end of its prompt";
            ApiError::bad_request(message).at(place())
        })?;
        let begins = if prompt.is_empty() { query } else { &prompt };
        let is_rendered = reading != Reading::Response && is_rendered(begins);
        let mut sample = match (is_rendered, prompt.is_empty()) {
            // Nobody knows where the response begins.
            (true, true) if reading == Reading::Twice => return Err(no_response().at(place())),
            (true, true) => Sample::builder(query.to_owned()).rendered(),
            (true, false) => {
                Sample::builder(ended(rest).to_owned()).prompt(begin.to_owned()).rendered()
            }
            (false, _) => Sample::builder(ended(rest).to_owned()).prompt(prompt),
        };
        let label = labels.next().filter(|label| !label.is_null() && label != "");
        if let Some(label) = label {
            ApiError::exact(&label).map_err(|error| error.at(format!("labels[{at}]")))?;
            sample = sample.reference(label);
        }
        samples.push(sample.build());
    }
    Ok(samples)
}

/// Whether a chat template made the text: it has tokens that begin a turn.
pub(super) fn is_rendered(text: &str) -> bool {
    let bracketed = |(open, close, bar): &(&str, &str, char)| {
        let mut behind = text.split(open).skip(1).filter_map(|rest| rest.split_once(close));
        behind.any(|(name, _)| is_name(name, *bar))
    };
    TURNS.iter().any(|turn| text.contains(turn)) || BRACKETS.iter().any(bracketed)
}

/// A rendered query of which some rewards want the response alone.
fn no_response() -> ApiError {
    ApiError::abstained(
        "a chat template rendered the query, and not all rewards of the profile ask a model: send `prompts`, by which \
         the response is known",
    )
}

/// A rendered prompt of which a model would make a prompt once more.
pub(super) fn rendered_twice() -> ApiError {
    ApiError::abstained(
        "a chat template rendered the prompt, and the model of the profile would render it once more: send \
         plain text or messages, or serve the model in a profile of its own",
    )
}

/// The prompt as it is in the query, and what follows it. `None`: the prompt is not there.
///
/// A tokenizer may change white space, and a trainer cut the beginning of a long prompt off.
fn split<'a>(query: &'a str, prompt: &str) -> Option<(&'a str, &'a str)> {
    if query.starts_with(prompt) {
        return query.split_at_checked(prompt.len());
    }
    let start: Vec<char> = prompt.chars().filter(|char| !is_space(*char)).collect();
    let letters = || query.char_indices().filter(|(_, char)| !is_space(*char));
    // No more of the query than the prompt is long can be prompt.
    let text: Vec<char> = letters().take(start.len()).map(|(_, char)| char).collect();
    let length = if text == start { start.len() } else { overlap(&start, &text) };
    if length < TAIL.min(start.len()) {
        return None;
    }
    let Some(last) = length.checked_sub(1) else { return Some(("", query)) };
    let (at, letter) = letters().nth(last)?;
    query.split_at_checked(at + letter.len_utf8())
}

/// White space, as tokenizers of Python have it.
fn is_space(char: char) -> bool {
    char.is_whitespace() || ('\x1c'..='\x1f').contains(&char)
}

/// The response before the tokens that end it, and before white space around these.
fn ended(response: &str) -> &str {
    let mut kept = response;
    while let Some(before) = before_token(kept.trim_end_matches(is_space)) {
        kept = before;
    }
    kept
}

/// The query after the tokens that pad it on the left, where its prompt follows them.
fn unpadded<'a>(query: &'a str, prompt: &str) -> &'a str {
    let mut rest = query;
    while !rest.starts_with(prompt) {
        let Some(behind) = behind_token(rest) else { return query };
        rest = behind;
    }
    rest
}

/// The text after the special token at its beginning; `None` where there is none.
fn behind_token(text: &str) -> Option<&str> {
    let bracketed = |(open, close, bar): &(&str, &str, char)| {
        let (name, behind) = text.strip_prefix(open)?.split_once(close)?;
        is_name(name, *bar).then_some(behind)
    };
    let plain = ENDS.iter().find_map(|end| text.strip_prefix(end));
    plain.or_else(|| BRACKETS.iter().find_map(bracketed))
}

/// The text before the special token at its end; `None` where there is none.
fn before_token(text: &str) -> Option<&str> {
    let bracketed = |(open, close, bar): &(&str, &str, char)| {
        let (before, name) = text.strip_suffix(close)?.rsplit_once(open)?;
        is_name(name, *bar).then_some(before)
    };
    let plain = ENDS.iter().find_map(|end| text.strip_suffix(end));
    plain.or_else(|| BRACKETS.iter().find_map(bracketed))
}

/// Whether a special token may be called so between its brackets.
fn is_name(name: &str, bar: char) -> bool {
    let is_odd = |char: char| ['<', '>', bar].contains(&char) || is_space(char);
    (1..=NAME_CHARS_MAX).contains(&name.chars().count()) && !name.contains(is_odd)
}

/// The length of the longest end of the prompt with which a text begins.
fn overlap(prompt: &[char], text: &[char]) -> usize {
    let mut borders: Vec<usize> = Vec::with_capacity(text.len());
    for letter in text {
        let next = borders.last().map_or(0, |last| longer(text, &borders, *last, *letter));
        borders.push(next);
    }
    let (_, tail) = prompt.split_at(prompt.len().saturating_sub(text.len()));
    tail.iter().fold(0, |length, letter| longer(text, &borders, length, *letter))
}

/// How much of the beginning of a text ends with this letter, where so much ended before it.
#[expect(clippy::indexing_slicing, reason = "each shorter beginning has a border")]
fn longer(text: &[char], borders: &[usize], mut length: usize, letter: char) -> usize {
    loop {
        if text.get(length) == Some(&letter) {
            return length + 1;
        }
        let Some(last) = length.checked_sub(1) else { return 0 };
        length = borders[last];
    }
}

/// The metrics of each sample, by the names that trainers are told by the Python adapters.
fn extra_logs(profile: &Profile, scored: &[Scored], took: Duration) -> BTreeMap<String, Vec<f64>> {
    let plan = profile.engine.plan();
    let unweighted: HashSet<&str> = plan
        .rewards
        .iter()
        .filter(|reward| reward.weight.at(0) == 0.0)
        .map(|reward| reward.name.as_str())
        .collect();
    let failed = |outcome: &Outcome| matches!(outcome, Outcome::Failed(_));
    // With a floor a sample that could not be judged has a reward all the same.
    let has_fault = |one: &Scored| {
        let counts = |name: &str| !unweighted.contains(name);
        let mut verdicts = one.verdicts.iter();
        failed(&one.outcome) || verdicts.any(|(name, own)| counts(name) && failed(&own.outcome))
    };
    let abstained = |one: &Scored| matches!(one.outcome, Outcome::Abstained(_));
    let rate = |is_true: bool| f64::from(u8::from(is_true));
    let spent = |one: &Scored| one.spent_ns.iter().copied().map(Duration::from_nanos).sum();
    let ms = |time: Duration| time.as_secs_f64() * 1e3;
    let every = |value: &dyn Fn(&Scored) -> f64| scored.iter().map(value).collect::<Vec<f64>>();
    let mut logs = BTreeMap::from([
        ("assay/fault_rate".to_owned(), every(&|one| rate(has_fault(one)))),
        ("assay/abstained_rate".to_owned(), every(&|one| rate(abstained(one)))),
        ("assay/latency_ms".to_owned(), every(&|_| ms(took))),
        ("assay/sample_ms".to_owned(), every(&|one| ms(spent(one)))),
    ]);
    for name in plan.names.iter() {
        let reward = |one: &Scored| one.verdict(name)?.outcome.reward().map(Reward::get);
        // JSON has no NaN, and OpenRLHF wants a number of every sample and logs their mean.
        let mean = mean(&scored.iter().filter_map(reward).collect::<Vec<f64>>());
        let rewards = every(&|one| reward(one).unwrap_or(mean));
        logs.insert(format!("assay/reward/{name}"), rewards);
    }
    logs
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_response_follows_its_prompt() {
        let long = "a long question that was asked of the model, with much before it. What is 1+1?";
        for (query, prompt, response) in [
            ("Q: 1+1? A: 2</s>", "Q: 1+1? A:", Some(" 2")),
            ("2<|im_end|>\n<|endoftext|>", "", Some("2")),
            ("2<｜end▁of▁sentence｜>", "", Some("2")),
            ("2 <|a b|>", "", Some("2 <|a b|>")),
            ("2 <||>", "", Some("2 <||>")),
            ("2 [PAD][PAD] \n", "", Some("2 ")),
            ("2 \n", "", Some("2 \n")),
            ("Q:  1+1?\n 2", "Q: 1+1?", Some("\n 2")),
            ("before it. What is 1+1? 2<eos>", long, Some(" 2")),
            ("1+1? 2", long, None),
            ("something else", "Q: 1+1?", None),
            ("2", " \n", Some("2")),
            ("", "Q", None),
            ("", "", Some("")),
        ] {
            let found = split(query, prompt).map(|(_, rest)| ended(rest));
            assert_eq!(found, response, "{query:?} of {prompt:?}");
        }
    }

    #[test]
    fn tokens_that_pad_a_query_are_left_out() {
        for (query, prompt, expected) in [
            ("<|endoftext|><|endoftext|>Q: 2", "Q:", "Q: 2"),
            ("<pad><pad><bos>Q: 2", "<bos>Q:", "<bos>Q: 2"),
            ("<|im_start|>user\nQ", "<|im_start|>user", "<|im_start|>user\nQ"),
            ("</s></s>other", "Q:", "</s></s>other"),
            ("</s>2", "", "</s>2"),
        ] {
            assert_eq!(unpadded(query, prompt), expected, "{query:?} of {prompt:?}");
        }
    }

    #[test]
    fn what_a_template_made_is_known() {
        let prompt = "<|im_start|>user\nQ<|im_end|>\n<|im_start|>assistant\n";
        for text in [prompt, "<s>[INST] Q [/INST]", "<start_of_turn>user\nQ", "<｜User｜>Q"] {
            assert!(is_rendered(text), "{text}");
        }
        for text in ["Q", "a <s>word</s> that is struck out", "x <| y |> z", "f <|> g", "[INSTALL]"]
        {
            assert!(!is_rendered(text), "{text}");
        }
    }

    #[test]
    fn the_longest_end_of_a_prompt_is_taken() {
        let letters = |text: &str| text.chars().collect::<Vec<char>>();
        let naive = |prompt: &[char], text: &[char]| {
            (0..=prompt.len().min(text.len()))
                .rev()
                .find(|length| prompt.ends_with(text.get(..*length).unwrap_or_default()))
        };
        // Every pair of texts of two letters.
        for bits in 0_u32..1 << 12 {
            let text: Vec<char> =
                (0..12).map(|at| if bits >> at & 1 == 1 { 'a' } else { 'b' }).collect();
            let (prompt, text) = text.split_at(7);
            assert_eq!(Some(overlap(prompt, text)), naive(prompt, text), "{prompt:?} {text:?}");
        }
        assert_eq!(overlap(&letters(""), &letters("ab")), 0);
        assert_eq!(overlap(&letters("ab"), &letters("")), 0);
    }

    #[test]
    fn a_mean_of_none_is_a_number() {
        assert_eq!(mean(&[1.0, 0.0, 0.5]).to_bits(), 0.5_f64.to_bits());
        assert_eq!(mean(&[]).to_bits(), 0.0_f64.to_bits());
    }
}
