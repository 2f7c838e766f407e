//! Keys of all views.

use ratatui::crossterm::event::{Event, KeyCode, KeyEventKind, KeyModifiers};

/// The meaning of a key.
pub(super) enum Key {
    /// To leave.
    Leave,
    /// Something of the view's.
    Of(KeyCode),
}

impl Key {
    /// The key that an event presses, if it presses one.
    pub(super) fn of(event: &Event) -> Option<Self> {
        let Event::Key(key) = event else { return None };
        if key.kind != KeyEventKind::Press {
            return None;
        }
        Some(match key.code {
            KeyCode::Char('q') | KeyCode::Esc => Self::Leave,
            KeyCode::Char('c') if key.modifiers.contains(KeyModifiers::CONTROL) => Self::Leave,
            code => Self::Of(code),
        })
    }
}
