//! `chess`: a move, a line that mates, or a position of chess.

use std::ops::Range;

use assay_puzzles::chess::{Offer, PLIES_MAX, Position, Step, offered, positions};

use super::countdown::part;
use crate::extract::Provenance;
use crate::prelude::*;
use crate::text_parts::{Place, Said, said, texts};

/// Right when the answer is a move, a line or a position of chess as `mode` asks for it.
///
/// Moves are in SAN (`Nf3`, `exd6 e.p.`, `e8=Q+`, `0-0`) or UCI (`g1f3`; castling is `e1g1`), with or
/// without numbers. The answer is the announced one, or else the last line: its first moves side by side,
/// until words follow. Two different moves of one side are two answers and earn nothing. The row has the
/// position as FEN; the evidence has the moves in UCI and the position after them.
#[derive(Debug, Deserialize, Serialize, JsonSchema, SmartDefault)]
#[serde(deny_unknown_fields, default)]
pub struct Chess {
    /// What is asked for.
    mode: ChessMode,
    /// The column, or the member of the reference, with the position as FEN.
    #[default = "fen"]
    fen: String,
    /// The column, or the member of the reference, with the best moves; without it the reference is
    /// them. A text is a line, of which the first move is asked for; a list has several such lines.
    moves: Option<String>,
    /// The first of the best moves is played before the answer, as in puzzles of Lichess. A list of
    /// moves is then one line.
    opponent_first: bool,
    /// The whole line of best moves is asked for, with the replies. A list of moves is then one line.
    line: bool,
    /// The most own moves of a line that mates, up to 3. No reply may escape from it.
    #[default(3)]
    within: usize,
    /// The clocks of a position count.
    clocks: bool,
}

/// What is asked for in chess.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ChessMode {
    /// One of the best moves that the row has. Where it mates, another move that mates is as good.
    #[default]
    Best,
    /// Any legal move.
    Legal,
    /// A move that mates, or a line that does.
    Mate,
    /// The FEN of the reference, but for its clocks.
    Position,
}

/// The fuel of a move that is looked for among the legal ones.
const MOVE_FUEL: u64 = 10_000;

/// The position in which the answer is played, and the lines of best moves from there.
type Start = (Position, Vec<Vec<Step>>);

/// What an answer comes to: whether it is right, and why.
type Found = (bool, &'static str);

impl Check for Chess {
    const ID: &'static str = "chess";

    fn load(&mut self, _: &dyn Files) -> Result<(), BuildError> {
        if self.line && self.mode != ChessMode::Best {
            return Err(BuildError::new("line", "it goes with `mode = \"best\"`"));
        }
        let is_near = (1..=3).contains(&self.within);
        if is_near { Ok(()) } else { Err(BuildError::new("within", "from 1 to 3 moves")) }
    }

    fn columns(&self) -> Vec<(&'static str, String)> {
        let moves = self.moves.iter().map(|moves| ("moves", moves.clone()));
        let fen = (self.mode != ChessMode::Position).then(|| ("fen", self.fen.clone()));
        fen.into_iter().chain(moves).collect()
    }

    fn gold(&self, sample: &Sample) -> Option<Vec<String>> {
        if self.mode == ChessMode::Position {
            return None;
        }
        let start = part(sample, &self.fen).and_then(|fen| Position::read(fen.as_str()?));
        let (_, lines) = self.lines(sample, start?, &mut Meter::default()).ok()??;
        let is_line = self.line || self.mode == ChessMode::Mate;
        let count = if is_line { usize::MAX } else { 1 };
        let text = |line: Vec<Step>| {
            line.into_iter().take(count).map(|step| step.uci).collect::<Vec<_>>().join(" ")
        };
        Some(lines.into_iter().map(text).filter(|text| !text.is_empty()).collect())
    }

    fn check(&self, sample: &Sample, meter: &mut Meter<'_>) -> Result<Verdict, Fault> {
        if self.mode == ChessMode::Position {
            return self.position(sample, meter);
        }
        let Some(fen) = part(sample, &self.fen) else {
            return Ok(Verdict::abstained(format!("the sample has no \"{}\"", self.fen)));
        };
        let start = self::start(fen, meter)?;
        let Some((start, lines)) = self.lines(sample, start, meter)? else {
            return Ok(Verdict::no_reference());
        };
        let (range, is_announced) = match answer(sample, meter)? {
            Ok(answer) => answer,
            Err(reason) => return Ok(Verdict::graded(false).because(reason)),
        };
        let Offer { moves, span, others, .. } = offered(&sample.completion()[range.clone()]);
        let span = range.start + span.start..range.start + span.end;
        meter.spend(MOVE_FUEL * moves.len().min(PLIES_MAX) as u64)?;
        let mut steps = Vec::new();
        let (right, reason) = if moves.is_empty() {
            (false, "no-move")
        } else if moves.len() > PLIES_MAX {
            (false, "too-long")
        } else if others && !is_announced {
            (false, "several")
        } else {
            match start.play(&moves) {
                Ok(played) => {
                    steps = played;
                    self.judge(&steps, &lines, meter)?
                }
                Err(reason) => (false, reason),
            }
        };
        let said = Said::standing(sample.completion(), span);
        let verdict = said.told(right, reason, Verdict::graded);
        let Some(last) = steps.last() else { return Ok(verdict) };
        let uci: Vec<&str> = steps.iter().map(|step| step.uci.as_str()).collect();
        Ok(verdict.with("move", uci.join(" ")).with("fen", last.after.fen()))
    }
}

impl Chess {
    /// Where the answer is played; lines of best moves where the mode has any.
    fn lines(
        &self,
        sample: &Sample,
        start: Position,
        meter: &mut Meter<'_>,
    ) -> Result<Option<Start>, Fault> {
        if self.mode != ChessMode::Best && !self.opponent_first {
            return Ok(Some((start, Vec::new())));
        }
        let given = self.moves.as_ref().map_or(sample.reference(), |name| part(sample, name));
        let Some(given) = given else { return Ok(None) };
        let mut given = texts(given);
        if self.line || self.opponent_first {
            given = vec![given.join(" ")];
        }
        let mut lines = Vec::with_capacity(given.len());
        for text in &given {
            let bad = |why| Fault::bad_reference(format!("the best moves cannot be played: {why}"));
            meter.spend(60 * text.len() as u64)?;
            let moves = offered(text).moves;
            meter.spend(MOVE_FUEL * moves.len() as u64)?;
            if moves.len() > PLIES_MAX {
                return Err(bad("too-long"));
            }
            let line = start.play(&moves).map_err(bad)?;
            if line.len() <= usize::from(self.opponent_first) {
                return Err(bad("no-move"));
            }
            lines.push(line);
        }
        match lines.first_mut() {
            Some(line) if self.opponent_first => {
                let after = line.remove(0).after;
                Ok(Some((after, lines)))
            }
            Some(_) => Ok(Some((start, lines))),
            None => Err(Fault::bad_reference("the reference lists no moves")),
        }
    }

    fn judge(
        &self,
        steps: &[Step],
        lines: &[Vec<Step>],
        meter: &mut Meter<'_>,
    ) -> Result<Found, Fault> {
        let same = |(own, due): (&Step, &Step)| {
            own.uci == due.uci || own.after.is_mate() && due.after.is_mate()
        };
        let is_line = |line: &Vec<Step>| {
            steps.len() <= line.len()
                && (steps.len() == line.len() || !self.line)
                && steps.iter().zip(line).all(same)
        };
        Ok(match self.mode {
            ChessMode::Legal if steps.len() > 1 => (false, "several"),
            ChessMode::Legal | ChessMode::Position => (true, "legal"),
            ChessMode::Best if lines.iter().any(is_line) => (true, "best"),
            ChessMode::Best => (false, "other-move"),
            ChessMode::Mate => {
                let count = steps.len().div_ceil(2);
                let is_mated = steps.last().is_some_and(|last| last.after.is_mate());
                if !is_mated || steps.len().is_multiple_of(2) {
                    return Ok((false, "not-mate"));
                }
                if count > self.within {
                    return Ok((false, "too-long"));
                }
                for (at, step) in steps.iter().step_by(2).enumerate() {
                    let left = count - 1 - at;
                    if !step.after.is_lost(left, &mut |units| meter.spend(units))? {
                        return Ok((false, "not-forced"));
                    }
                }
                (true, "mate")
            }
        })
    }

    fn position(&self, sample: &Sample, meter: &mut Meter<'_>) -> Result<Verdict, Fault> {
        let Some(reference) = sample.reference() else { return Ok(Verdict::no_reference()) };
        let wanted = start(reference, meter)?;
        let (range, _) = match answer(sample, meter)? {
            Ok(answer) => answer,
            Err(reason) => return Ok(Verdict::graded(false).because(reason)),
        };
        meter.spend(200 * range.len() as u64)?;
        let said = Said::part(sample.completion(), range);
        let found = positions(&said.text);
        let Some(first) = found.first() else { return Ok(said.told(false, "no-position", Verdict::graded)) };
        let fen = first.fen();
        let found = if found.iter().any(|other| !other.is_same(first, self.clocks)) {
            (false, "several")
        } else if first.is_same(&wanted, self.clocks) {
            (true, "position")
        } else {
            (false, "other-position")
        };
        Ok(said.told(found.0, found.1, Verdict::graded).with("fen", fen))
    }
}

/// The position of a FEN of the row.
fn start(fen: &Value, meter: &mut Meter<'_>) -> Result<Position, Fault> {
    let fen = fen.as_str().unwrap_or_default();
    meter.spend(10_000 + 20 * fen.len() as u64)?;
    let bad = || Fault::bad_reference("the row has no position that the rules allow");
    Position::read(fen).ok_or_else(bad)
}

/// Where the answer of a completion is, and whether it is announced: from there on, or else the last line,
/// behind its last colon.
fn answer(
    sample: &Sample,
    meter: &mut Meter<'_>,
) -> Result<Result<(Range<usize>, bool), &'static str>, Fault> {
    let completion = sample.completion();
    let found = said(sample, "", meter)?;
    meter.spend(60 * completion.len() as u64)?;
    let announced =
        [Provenance::Boxed, Provenance::Marker, Provenance::Json, Provenance::Anchor];
    Ok(match found {
        Some(said) if announced.contains(&said.provenance) => {
            let end = completion[said.span.0..].find("\n\n").map(|end| said.span.0 + end);
            Ok((said.span.0..end.unwrap_or(completion.len()), true))
        }
        _ => {
            let found = Place::Any.find(completion, &["json"]);
            found.map(|part| (last_line(completion, part), false))
        }
    })
}

/// The last lines of moves alone in a part of a text, or else its last line with a letter, behind its last
/// colon. Where that names no move but squares, the last one with a move behind its colon comes first.
fn last_line(text: &str, part: Range<usize>) -> Range<usize> {
    let (mut at, mut found) = (part.start, part.clone());
    let (mut is_pure, mut is_vague, mut labelled) = (false, false, None);
    for line in text[part].split_inclusive('\n') {
        if line.contains(char::is_alphanumeric) {
            let colon = line.trim_end().rfind(": ").map_or(0, |colon| colon + 2);
            let (behind, offer) = (at + colon..at + line.len(), offered(&line[colon..]));
            let goes_on = is_pure && colon == 0 && !offer.words;
            is_pure = !(offer.words || offer.moves.is_empty());
            is_vague = offer.words && offer.moves.iter().all(|own| own.len() < 3) && !offer.others;
            if colon > 0 && is_pure {
                labelled = Some(behind.clone());
            }
            found = if goes_on { found.start } else { behind.start }..behind.end;
        } else {
            is_pure &= !line.trim().is_empty();
        }
        at += line.len();
    }
    labelled.filter(|_| is_vague).unwrap_or(found)
}
