//! The screen of `blueflame top`: ports above, the counters of the chosen one below.

use blueflame_decode::printable;
use ratatui::Frame;
use ratatui::layout::{Constraint, Layout};
use ratatui::style::{Color, Modifier, Style};
use ratatui::text::Line;
use ratatui::widgets::{Block, Row, Sparkline, Table, TableState};

use super::counters::{Activity, Counter, counts_errors, unit};

/// Speeds of a port that the curve shows.
const HISTORY: usize = 240;
const HELP: &str = " q quit   up/down port   pgup/pgdn scroll   a all or moving   s by name or speed   space pause ";

/// The state of the screen.
pub(super) struct View {
    /// Of each place.
    pub(super) activities: Vec<Activity>,
    /// Bytes a second of both directions, of each place.
    histories: Vec<Vec<u64>>,
    pub(super) ports: TableState,
    pub(super) scroll: usize,
    /// Counters that do not move are shown, too.
    pub(super) all: bool,
    pub(super) by_speed: bool,
    pub(super) is_paused: bool,
    pub(super) delay: f64,
}

impl View {
    /// Nothing yet; a sample comes each `delay` seconds.
    pub(super) fn new(delay: f64) -> Self {
        Self {
            activities: Vec::new(),
            histories: Vec::new(),
            ports: TableState::default().with_selected(0),
            scroll: 0,
            all: true,
            by_speed: false,
            is_paused: false,
            delay,
        }
    }

    /// Takes a sample of all places.
    pub(super) fn take(&mut self, activities: Vec<Activity>) {
        self.histories.resize(activities.len(), Vec::new());
        for (history, activity) in self.histories.iter_mut().zip(&activities) {
            let both = [activity.sent, activity.received].into_iter().flatten();
            history.push(both.map(|speed| speed.bytes_per_second).sum::<f64>() as u64);
            let old = history.len().saturating_sub(HISTORY);
            history.drain(..old);
        }
        self.activities = activities;
    }

    /// The counters of the chosen port, in the chosen order.
    fn counters(&self) -> Vec<&Counter> {
        let chosen = self.ports.selected().and_then(|at| self.activities.get(at));
        let mut counters: Vec<&Counter> = chosen.into_iter().flat_map(|activity| &activity.counters).collect();
        counters.retain(|counter| self.all || counter.per_second > 0.0);
        if self.by_speed {
            counters.sort_by(|a, b| b.per_second.total_cmp(&a.per_second));
        }
        counters
    }

    /// Draws the screen.
    pub(super) fn draw(&mut self, frame: &mut Frame<'_>) {
        let rows = self.activities.len() as u16 + 3;
        let areas = Layout::vertical([
            Constraint::Length(rows),
            Constraint::Length(5),
            Constraint::Min(3),
            Constraint::Length(1),
        ]);
        let [above, middle, below, foot] = areas.areas(frame.area());
        let head = Style::new().add_modifier(Modifier::BOLD);
        let ports = self.activities.iter().map(port);
        let widths = [16, 8, 24, 12, 12, 12, 12, 10].map(Constraint::Length);
        let pause = if self.is_paused { ", paused" } else { "" };
        let title = format!(" blueflame top: each {} s{pause} ", self.delay);
        let titles = ["port", "state", "rate", "sent Gb/s", "recv Gb/s", "sent pkt/s", "recv pkt/s", "errors/s"];
        let table = Table::new(ports, widths)
            .header(Row::new(titles).style(head))
            .row_highlight_style(Style::new().add_modifier(Modifier::REVERSED))
            .block(Block::bordered().title(title));
        frame.render_stateful_widget(table, above, &mut self.ports);

        let history = self.ports.selected().and_then(|at| self.histories.get(at));
        let history = history.map_or(&[][..], |history| {
            &history[history.len().saturating_sub(usize::from(middle.width.saturating_sub(2)))..]
        });
        let curve = Sparkline::default().data(history).style(Style::new().fg(Color::Cyan));
        frame.render_widget(curve.block(Block::bordered().title(" bytes a second, both directions ")), middle);

        let counters = self.counters();
        let room = usize::from(below.height.saturating_sub(3));
        let scroll = self.scroll.min(counters.len().saturating_sub(room));
        let shown = counters.iter().skip(scroll).map(|counter| row(counter));
        let widths = [Constraint::Min(36), Constraint::Length(22), Constraint::Length(16), Constraint::Length(8)];
        let title = format!(" counters {}-{} of {} ", scroll + 1, (scroll + room).min(counters.len()), counters.len());
        let table = Table::new(shown, widths)
            .header(Row::new(["counter", "value", "a second", "unit"]).style(head))
            .block(Block::bordered().title(title));
        frame.render_widget(table, below);
        self.scroll = scroll;
        frame.render_widget(Line::styled(HELP, Style::new().add_modifier(Modifier::DIM)), foot);
    }
}

fn port(activity: &Activity) -> Row<'static> {
    let device = printable(&activity.device);
    let name = activity.port.map_or_else(|| device.clone(), |port| format!("{device} {port}"));
    let or_none = |text: &Option<String>| text.as_deref().map(printable).unwrap_or_default();
    let gigabits = |speed: &Option<super::counters::Speed>| {
        speed.map_or(String::new(), |speed| format!("{:.3}", speed.bytes_per_second * 8.0 / 1e9))
    };
    let packets = |speed: &Option<super::counters::Speed>| {
        speed.map_or(String::new(), |speed| format!("{:.0}", speed.packets_per_second))
    };
    let cells = [
        name,
        or_none(&activity.state),
        or_none(&activity.rate),
        gigabits(&activity.sent),
        gigabits(&activity.received),
        packets(&activity.sent),
        packets(&activity.received),
        format!("{:.0}", activity.errors_per_second),
    ];
    let is_wrong = activity.errors_per_second > 0.0;
    Row::new(cells).style(if is_wrong { Style::new().fg(Color::Red) } else { Style::new() })
}

fn row(counter: &Counter) -> Row<'static> {
    let style = match counter.per_second > 0.0 {
        true if counts_errors(&counter.name) => Style::new().fg(Color::Red),
        true => Style::new().fg(Color::Green),
        false => Style::new(),
    };
    let cells = [
        printable(&counter.name),
        counter.value.to_string(),
        format!("{:.1}", counter.per_second),
        unit(&counter.name).into(),
    ];
    Row::new(cells).style(style)
}

#[cfg(test)]
mod tests {
    use ratatui::Terminal;
    use ratatui::backend::TestBackend;

    use super::super::counters::Speed;
    use super::*;

    fn activity(port: u8, counters: &[(&str, u64, f64)]) -> Activity {
        let counter = |&(name, value, per_second): &(&str, u64, f64)| Counter { name: name.into(), value, per_second };
        Activity {
            device: "mlx5_0".into(),
            port: Some(port),
            state: Some("ACTIVE".into()),
            rate: Some("100 Gb/sec (4X EDR)".into()),
            seconds: 1.0,
            sent: Some(Speed { bytes_per_second: 1.25e9, packets_per_second: 1e6 }),
            received: None,
            errors_per_second: 0.0,
            counters: counters.iter().map(counter).collect(),
        }
    }

    fn screen(view: &mut View) -> String {
        let mut terminal = Terminal::new(TestBackend::new(120, 20)).expect("a terminal");
        terminal.draw(|frame| view.draw(frame)).expect("drawn");
        terminal.backend().to_string()
    }

    #[test]
    fn the_chosen_port_shows_its_counters() {
        let mut view = View::new(1.0);
        view.take(vec![activity(1, &[("a_still", 7, 0.0), ("b_slow", 8, 1.0), ("c_fast", 9, 5.0)]), activity(2, &[])]);
        let shown = screen(&mut view);
        for part in ["mlx5_0 1", "mlx5_0 2", "10.000", "1000000", "a_still", "c_fast", "counters 1-3 of 3"] {
            assert!(shown.contains(part), "no {part:?} in\n{shown}");
        }
        (view.all, view.by_speed) = (false, true);
        let shown = screen(&mut view);
        assert!(!shown.contains("a_still"), "{shown}");
        assert!(shown.find("c_fast") < shown.find("b_slow"), "{shown}");
        view.ports.select(Some(1));
        assert!(screen(&mut view).contains("counters 1-0 of 0"));
    }
}
