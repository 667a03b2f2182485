//! What the live view draws: curves, the groups of the last step, its best and its worst completion,
//! warnings, times.

mod curves;
mod rollouts;

use assay::verifiers::stats::float;
use ratatui::Frame;
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::style::{Color, Style, Stylize as _};
use ratatui::text::Line;
use ratatui::widgets::{Block, Gauge, Paragraph, Wrap};

use super::super::text::inline;
use super::watched::{Phase, Watched};

/// Draws what is known of a training.
pub(super) fn draw(frame: &mut Frame<'_>, watched: &Watched) {
    let rows = [
        Constraint::Length(3),
        Constraint::Fill(3),
        Constraint::Fill(2),
        Constraint::Length(5),
        Constraint::Length(1),
    ];
    let [head, charts, last, warnings, foot] = Layout::vertical(rows).areas(frame.area());
    progress(frame, head, watched);
    curves::draw(frame, charts, watched);
    rollouts::draw(frame, last, watched);
    warned(frame, warnings, watched);
    frame.render_widget(Paragraph::new(times(watched)).dim(), foot);
}

fn progress(frame: &mut Frame<'_>, area: Rect, watched: &Watched) {
    let share = match &watched.phase {
        Phase::Warmup { update, updates, .. } => ratio(*update, *updates),
        _ => ratio(watched.step, watched.steps),
    };
    let block = Block::bordered().title(format!(" assay train  {} ", inline(&watched.title)));
    let gauge = Gauge::default()
        .block(block)
        .gauge_style(Style::new().fg(Color::Cyan))
        .ratio(share)
        .label(label(watched));
    frame.render_widget(gauge, area);
}

/// How far the training is, in words.
fn label(watched: &Watched) -> String {
    let steps = format!("step {}/{}", watched.step, watched.steps);
    let elapsed = clock(watched.seconds);
    match &watched.phase {
        Phase::Starting => format!("starting  {elapsed}"),
        Phase::Warmup { update, updates, loss } => {
            format!("warm-up {update}/{updates}  loss {loss:.4}  {elapsed}")
        }
        Phase::Evaluation => format!("{steps}  evaluating  {elapsed}"),
        Phase::Steps => format!("{steps}  {elapsed}{}", left(watched)),
        Phase::Stopping => format!("{steps}  stopping after this step  {elapsed}"),
    }
}

/// How long the steps that are left take.
fn left(watched: &Watched) -> String {
    let steps = float(watched.steps.saturating_sub(watched.step));
    match watched.metric("step_time") {
        Some(seconds) if steps > 0.0 => format!(", {} left", clock(seconds * steps)),
        _ => String::new(),
    }
}

fn warned(frame: &mut Frame<'_>, area: Rect, watched: &Watched) {
    let shown = usize::from(area.height.saturating_sub(2));
    let newest = watched.warnings.iter().rev().take(shown).rev();
    let lines: Vec<Line<'_>> = newest.map(|warning| Line::from(inline(warning))).collect();
    let block = Block::bordered().title(format!(" warnings: {} ", watched.warnings.len()));
    let style =
        if watched.warnings.is_empty() { Style::new() } else { Style::new().fg(Color::Yellow) };
    frame
        .render_widget(Paragraph::new(lines).style(style).block(block).wrap(Wrap::default()), area);
}

/// What a step takes, and which share of it goes where.
fn times(watched: &Watched) -> String {
    let mut text = "q: stop with a checkpoint".to_owned();
    if let Some(total) = watched.metric("step_time") {
        text.push_str(&format!("  |  {total:.2} s/step"));
        for part in ["sampling", "rewards", "training"] {
            if let Some(seconds) = watched.metric(&format!("time/{part}")) {
                text.push_str(&format!("  {part} {:.0} %", 100.0 * seconds / total.max(1e-9)));
            }
        }
    }
    text
}

fn ratio(done: u64, all: u64) -> f64 {
    (float(done) / float(all.max(1))).clamp(0.0, 1.0)
}

/// Minutes and seconds.
pub(super) fn clock(seconds: f64) -> String {
    let minutes = (seconds / 60.0).floor();
    format!("{minutes:.0}:{:02.0}", (seconds - 60.0 * minutes).floor())
}

#[cfg(test)]
mod tests {
    use ratatui::Terminal;
    use ratatui::backend::TestBackend;

    use super::super::watched::testing::watched;
    use super::*;

    fn drawn(watched: &Watched, width: u16, height: u16) -> String {
        let mut terminal = Terminal::new(TestBackend::new(width, height)).unwrap();
        terminal.draw(|frame| draw(frame, watched)).unwrap();
        terminal.backend().to_string()
    }

    #[test]
    fn the_view_shows_what_is_known() {
        insta::assert_snapshot!("view", drawn(&watched(), 96, 34));
    }

    #[test]
    fn nothing_that_a_model_wrote_is_obeyed() {
        let shown = drawn(&watched(), 120, 50);
        assert!(shown.contains("\\u{1b}[2Jx"), "{shown}");
        assert!(!shown.contains(['\u{1b}', '\u{7}']), "{shown}");
    }

    #[test]
    fn every_phase_and_every_size_is_drawn() {
        let mut watched = watched();
        let warmup = Phase::Warmup { update: 3, updates: 4, loss: 1.5 };
        for (phase, expected) in [
            (Phase::Starting, "starting"),
            (warmup, "warm-up 3/4  loss 1.5000"),
            (Phase::Evaluation, "evaluating"),
            (Phase::Stopping, "stopping after this step"),
        ] {
            watched.phase = phase;
            assert!(drawn(&watched, 100, 30).contains(expected));
        }
        for (width, height) in [(1, 1), (10, 3), (40, 12), (300, 100)] {
            assert!(!drawn(&watched, width, height).is_empty());
            assert!(!drawn(&Watched::default(), width, height).is_empty());
        }
    }

    #[test]
    fn times_are_read_as_minutes() {
        assert_eq!(
            (clock(0.4), clock(65.0), clock(3600.0)),
            ("0:00".into(), "1:05".into(), "60:00".into())
        );
    }
}
