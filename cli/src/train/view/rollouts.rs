//! The rollouts of the last step: rewards group by group, and the best and the worst completion.

use assay::trainer::training::RolloutReport;
use ratatui::Frame;
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::style::{Color, Style, Stylize as _};
use ratatui::text::{Line, Span};
use ratatui::widgets::{Block, Paragraph, Wrap};

use super::super::super::text::{harmless, inline};
use super::super::watched::Watched;

/// The heights of a reward between the least and the greatest of its step.
const BARS: [&str; 8] = ["▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"];
/// What stands for a rollout without a reward.
const NO_REWARD: &str = "x";
/// Characters of a task's id that are shown.
const ID_MAX: usize = 16;
/// Bytes of a completion that are shown.
const TEXT_MAX: usize = 2000;

/// Draws the groups, and beside them the best and the worst completion.
pub(super) fn draw(frame: &mut Frame<'_>, area: Rect, watched: &Watched) {
    let columns = [Constraint::Fill(2), Constraint::Fill(2), Constraint::Fill(2)];
    let [left, middle, right] = Layout::horizontal(columns).areas(area);
    let rollouts = watched.last.as_ref().map(|last| last.rollouts.as_slice()).unwrap_or_default();
    groups(frame, left, rollouts);
    let best = rewarded(rollouts).reduce(|best, one| if one.1 > best.1 { one } else { best });
    let worst = rewarded(rollouts).reduce(|worst, one| if one.1 < worst.1 { one } else { worst });
    completion(frame, middle, ("best", Color::Green), best);
    completion(frame, right, ("worst", Color::Red), worst);
}

fn rewarded(rollouts: &[RolloutReport]) -> impl Iterator<Item = (&RolloutReport, f64)> {
    rollouts.iter().filter_map(|one| Some((one, one.reward?)))
}

fn groups(frame: &mut Frame<'_>, area: Rect, rollouts: &[RolloutReport]) {
    let rewards = || rewarded(rollouts).map(|(_, reward)| reward);
    let (low, high) =
        (rewards().fold(f64::INFINITY, f64::min), rewards().fold(f64::NEG_INFINITY, f64::max));
    let lines: Vec<Line<'_>> = rollouts
        .chunk_by(|one, next| one.group == next.group)
        .take(usize::from(area.height))
        .map(|group| line(group, (low, high)))
        .collect();
    let block = Block::bordered().title(" rewards of the last step ");
    frame.render_widget(Paragraph::new(lines).block(block), area);
}

fn line(group: &[RolloutReport], bounds: (f64, f64)) -> Line<'static> {
    let id = group.first().map(|one| inline(&one.task)).unwrap_or_default();
    let id: String = id.chars().take(ID_MAX).collect();
    let bars: String = group.iter().map(|one| bar(one.reward, bounds)).collect();
    let rewards: Vec<f64> = rewarded(group).map(|(_, reward)| reward).collect();
    let mean = match rewards.len() {
        0 => "-".to_owned(),
        count => format!(
            "{:.3}",
            rewards.iter().sum::<f64>() / f64::from(u32::try_from(count).unwrap_or(1))
        ),
    };
    Line::from(vec![
        Span::from(format!("{id:ID_MAX$} ")).dim(),
        bars.cyan(),
        Span::from(format!(" {mean}")),
    ])
}

/// How high a reward is between the least and the greatest.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a share times seven is one of eight bars"
)]
fn bar(reward: Option<f64>, (low, high): (f64, f64)) -> &'static str {
    let Some(reward) = reward else { return NO_REWARD };
    let share = if high > low { (reward - low) / (high - low) } else { 1.0 };
    BARS.get((share * 7.0).round() as usize).copied().unwrap_or(NO_REWARD)
}

fn completion(
    frame: &mut Frame<'_>,
    area: Rect,
    (name, color): (&str, Color),
    shown: Option<(&RolloutReport, f64)>,
) {
    let (title, lines) = match shown {
        None => (format!(" {name} "), Vec::new()),
        Some((one, reward)) => {
            let prompt = harmless(last_line(&one.prompt));
            let head = Line::from(prompt).dim();
            let cut = one.completion.floor_char_boundary(TEXT_MAX);
            let text = harmless(one.completion.get(..cut).unwrap_or_default());
            let lines: Vec<Line<'_>> = std::iter::once(head)
                .chain(text.lines().map(|line| Line::from(line.to_owned())))
                .collect();
            (format!(" {name}: {reward:.3}  {} tokens ", one.tokens), lines)
        }
    };
    let block = Block::bordered().title(title).border_style(Style::new().fg(color));
    frame.render_widget(Paragraph::new(lines).block(block).wrap(Wrap { trim: false }), area);
}

/// The last line that is not blank.
fn last_line(text: &str) -> &str {
    text.lines().rfind(|line| !line.trim().is_empty()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reward_is_as_high_as_its_share() {
        let heights = [0.0, 0.5, 1.0].map(|reward| bar(Some(reward), (0.0, 1.0)));
        assert_eq!(heights, ["▁", "▅", "█"]);
        assert_eq!((bar(None, (0.0, 1.0)), bar(Some(2.0), (2.0, 2.0))), ("x", "█"));
        assert_eq!(last_line("a\nb\n \n"), "b");
    }
}
