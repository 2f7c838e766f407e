//! The screen of `blueflame top --queues`: a line for each queue, the busiest first.

use std::time::{Duration, Instant};

use anyhow::Result;
use blueflame_decode::printable;
use ratatui::Frame;
use ratatui::crossterm::event::{self, Event, KeyCode};
use ratatui::layout::{Constraint, Layout};
use ratatui::style::{Color, Modifier, Style};
use ratatui::text::Line;
use ratatui::widgets::{Block, Row, Table};

use super::super::key::Key;
use super::queue::{Queue, Wanted};
use super::reading::Source;

const HELP: &str = " q quit   up/down scroll   s by name or speed   space pause ";

/// The state of the screen.
struct View {
    queues: Vec<Queue>,
    title: String,
    scroll: usize,
    by_speed: bool,
    is_paused: bool,
}

impl View {
    fn new(source: &Source) -> Self {
        Self { queues: Vec::new(), title: source.says().to_owned(), scroll: 0, by_speed: true, is_paused: false }
    }

    fn draw(&mut self, frame: &mut Frame<'_>) {
        let [above, foot] = Layout::vertical([Constraint::Min(4), Constraint::Length(1)]).areas(frame.area());
        let mut queues: Vec<&Queue> = self.queues.iter().collect();
        if self.by_speed {
            queues.sort_by(|a, b| b.speed().total_cmp(&a.speed()));
        }
        let room = usize::from(above.height.saturating_sub(3));
        self.scroll = self.scroll.min(queues.len().saturating_sub(room));
        let pause = if self.is_paused { ", paused" } else { "" };
        let title = format!(" {} queues{pause}: {} ", queues.len(), self.title);
        let widths = [10, 12, 12, 7, 10, 10, 18, 13, 13].map(Constraint::Length);
        let titles =
            ["device", "queue", "type", "state", "peer", "pid", "program", "sends or CQEs/s", "messages/s", "waiting"];
        let widths = [&widths[..], &[Constraint::Length(16)]].concat();
        let table = Table::new(queues.iter().skip(self.scroll).map(|queue| row(queue)), widths)
            .header(Row::new(titles).style(Style::new().add_modifier(Modifier::BOLD)))
            .block(Block::bordered().title(title));
        frame.render_widget(table, above);
        frame.render_widget(Line::styled(HELP, Style::new().add_modifier(Modifier::DIM)), foot);
    }

    /// Obeys a key; false to leave.
    fn obey(&mut self, event: &Event) -> bool {
        let code = match Key::of(event) {
            None => return true,
            Some(Key::Leave) => return false,
            Some(Key::Of(code)) => code,
        };
        match code {
            KeyCode::Up => self.scroll = self.scroll.saturating_sub(1),
            KeyCode::Down => self.scroll += 1,
            KeyCode::Char('s') => self.by_speed = !self.by_speed,
            KeyCode::Char(' ') => self.is_paused = !self.is_paused,
            _ => {}
        }
        true
    }
}

fn row(queue: &Queue) -> Row<'static> {
    let word = |text: &Option<String>| text.as_deref().map(printable).unwrap_or_default();
    let speed = |names: &[&str]| {
        let speed = names.iter().find_map(|name| queue.per_second.get(name));
        speed.map_or(String::new(), |speed| format!("{speed:.0}"))
    };
    let waiting = ["WQEBBs waiting", "CQEs unread"].iter().find_map(|name| queue.waiting.get(name));
    let cells = [
        printable(&queue.device),
        format!("{} {:#x}", queue.kind.word(), queue.number),
        word(&queue.transport),
        word(&queue.state),
        queue.peer.map_or(String::new(), |peer| format!("{peer:#x}")),
        queue.pid.map_or(String::new(), |pid| pid.to_string()),
        word(&queue.program),
        speed(&["WQEBBs fetched", "completions"]),
        speed(&["messages"]),
        waiting.map_or(String::new(), u64::to_string),
    ];
    let has_failed = matches!(queue.state.as_deref(), Some("ERR" | "SQE" | "failed"));
    Row::new(cells).style(match (has_failed, queue.speed() > 0.0) {
        (true, _) => Style::new().fg(Color::Red),
        (false, true) => Style::new().fg(Color::Green),
        (false, false) => Style::new(),
    })
}

/// The screen, until it is left.
pub(crate) fn live(source: &Source, wanted: &Wanted, delay: Duration) -> Result<()> {
    let mut before = source.read(wanted)?;
    let mut view = View::new(source);
    view.queues = before.since(&before);
    let mut terminal = ratatui::try_init()?;
    let outcome = (|| -> Result<()> {
        let mut next = Instant::now() + delay;
        loop {
            terminal.draw(|frame| view.draw(frame))?;
            if event::poll(next.saturating_duration_since(Instant::now()))? && !view.obey(&event::read()?) {
                return Ok(());
            }
            if Instant::now() < next {
                continue;
            }
            next += delay;
            if !view.is_paused {
                let now = source.read(wanted)?;
                view.queues = now.since(&before);
                before = now;
            }
        }
    })();
    ratatui::try_restore()?;
    outcome
}

#[cfg(test)]
mod tests {
    use ratatui::Terminal;
    use ratatui::backend::TestBackend;
    use ratatui::crossterm::event::{KeyEvent, KeyModifiers};

    use super::super::queue::Kind;
    use super::*;

    fn queue(number: u32, kind: Kind, name: &'static str, speed: f64) -> Queue {
        let mut queue = Queue::new("mlx5_0", None, kind, number);
        queue.per_second.insert(name, speed);
        queue
    }

    #[test]
    fn the_busiest_queue_comes_first() {
        let mut view = View::new(&Source::Kernel);
        view.queues =
            vec![queue(0x11, Kind::Pair, "messages", 4.0), queue(0x22, Kind::Completions, "completions", 123_456.0)];
        let screen = |view: &mut View| {
            let mut terminal = Terminal::new(TestBackend::new(150, 10)).expect("a terminal");
            terminal.draw(|frame| view.draw(frame)).expect("drawn");
            terminal.backend().to_string()
        };
        let shown = screen(&mut view);
        assert!(shown.contains("2 queues") && shown.contains("123456"), "{shown}");
        assert!(shown.find("CQ 0x22") < shown.find("QP 0x11"), "{shown}");
        let press = |view: &mut View, code| view.obey(&Event::Key(KeyEvent::new(code, KeyModifiers::NONE)));
        assert!(press(&mut view, KeyCode::Char('s')) && press(&mut view, KeyCode::Char(' ')));
        let shown = screen(&mut view);
        assert!(shown.find("CQ 0x22") > shown.find("QP 0x11") && shown.contains("paused"), "{shown}");
        assert!(press(&mut view, KeyCode::Down));
        screen(&mut view);
        assert_eq!(view.scroll, 0, "all are on the screen");
        assert!(!press(&mut view, KeyCode::Char('q')) && !press(&mut view, KeyCode::Esc));
    }
}
