//! The curves of a training.

use ratatui::Frame;
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::style::{Color, Style};
use ratatui::symbols::Marker;
use ratatui::widgets::{Axis, Block, Chart, Dataset, GraphType};

use super::super::watched::{CURVES, Watched};

const COLUMNS: usize = 3;

/// Draws the curve of each metric.
pub(super) fn draw(frame: &mut Frame<'_>, area: Rect, watched: &Watched) {
    let rows = Layout::vertical([Constraint::Fill(1); CURVES.len() / COLUMNS]).split(area);
    for (row, metrics) in rows.iter().zip(CURVES.chunks(COLUMNS)) {
        let cells = Layout::horizontal([Constraint::Fill(1); COLUMNS]).split(*row);
        for (cell, (name, title)) in cells.iter().zip(metrics) {
            curve(frame, *cell, (name, title), watched);
        }
    }
}

fn curve(frame: &mut Frame<'_>, area: Rect, (name, title): (&str, &str), watched: &Watched) {
    let values = watched.curves.get(name).map(Vec::as_slice).unwrap_or_default();
    let held_out: &[(f64, f64)] = if name == "accuracy" { &watched.held_out } else { &[] };
    let last = |values: &[(f64, f64)]| values.last().map(|(_, value)| shown(*value));
    let mut head = format!(" {title} {}", last(values).unwrap_or_else(|| "-".to_owned()));
    if let Some(value) = last(held_out) {
        head.push_str(&format!(", held out {value}"));
    }
    let (x, y) = bounds(values.iter().chain(held_out).copied());
    let dataset = |data, color| {
        Dataset::default()
            .marker(Marker::Braille)
            .graph_type(GraphType::Line)
            .style(Style::new().fg(color))
            .data(data)
    };
    let sets = vec![dataset(values, Color::Cyan), dataset(held_out, Color::Green)];
    let labels = [shown(y[0]), shown(y[1])];
    let chart = Chart::new(sets)
        .block(Block::bordered().title(format!("{head} ")))
        .x_axis(Axis::default().bounds(x))
        .y_axis(Axis::default().bounds(y).labels(labels));
    frame.render_widget(chart, area);
}

/// What the axes span: all of the points, and never nothing.
fn bounds(points: impl Iterator<Item = (f64, f64)>) -> ([f64; 2], [f64; 2]) {
    let widest = |[low, high]: [f64; 2], value: f64| [low.min(value), high.max(value)];
    let nothing = [f64::INFINITY, f64::NEG_INFINITY];
    let (x, y) =
        points.fold((nothing, nothing), |(x, y), (at, value)| (widest(x, at), widest(y, value)));
    let apart = |[low, high]: [f64; 2]| match high - low {
        span if span > 1e-9 => [low, high],
        _ if low.is_finite() => [low - 0.5, high + 0.5],
        _ => [0.0, 1.0],
    };
    (apart(x), apart(y))
}

fn shown(value: f64) -> String {
    if value.abs() >= 100.0 { format!("{value:.0}") } else { format!("{value:.3}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn axes_span_something() {
        assert_eq!(bounds([].into_iter()), ([0.0, 1.0], [0.0, 1.0]));
        assert_eq!(bounds([(1.0, 2.0)].into_iter()), ([0.5, 1.5], [1.5, 2.5]));
        let points = [(1.0, 2.0), (3.0, -2.0)];
        assert_eq!(bounds(points.into_iter()), ([1.0, 3.0], [-2.0, 2.0]));
        assert_eq!((shown(0.12345), shown(123.4)), ("0.123".to_owned(), "123".to_owned()));
    }
}
