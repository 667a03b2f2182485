//! The screen of a training: a thread that draws it and listens to the keys.

use std::io::{self, Stderr};
use std::panic;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use assay::engine::CancellationToken;
use assay::setup::Monotonic;
use ratatui::Terminal;
use ratatui::backend::CrosstermBackend;
use ratatui::crossterm::event::{self, Event, KeyCode, KeyEvent, KeyEventKind, KeyModifiers};
use ratatui::crossterm::execute;
use ratatui::crossterm::terminal::{
    EnterAlternateScreen, LeaveAlternateScreen, disable_raw_mode, enable_raw_mode,
};
use signal_hook::consts::SIGINT;
use signal_hook::low_level::raise;

use super::super::threads::is_engine_thread;
use super::view;
use super::watched::{Phase, Watched};

/// How long the thread waits for a key before it draws again.
const FRAME: Duration = Duration::from_millis(200);

/// The alternate screen of the terminal behind stderr, drawn by a thread of its own. The terminal is
/// as it was once this is dropped, and after a panic.
pub(super) struct Screen {
    ended: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Screen {
    /// Takes the terminal. `stop` is cancelled by q and by Ctrl-C; a second Ctrl-C ends the process.
    ///
    /// # Errors
    /// A terminal that cannot be set up.
    pub(super) fn open(watched: Arc<Mutex<Watched>>, stop: CancellationToken) -> io::Result<Self> {
        restore_on_panic();
        enable_raw_mode()?;
        let mut screen = Self { ended: Arc::default(), thread: None };
        execute!(io::stderr(), EnterAlternateScreen)?;
        let terminal = Terminal::new(CrosstermBackend::new(io::stderr()))?;
        let ended = Arc::clone(&screen.ended);
        let draw =
            move || Drawing { terminal, watched, stop, clock: Monotonic::start() }.run(&ended);
        let thread = std::thread::Builder::new().name("assay-view".to_owned());
        screen.thread = Some(thread.spawn(draw)?);
        Ok(screen)
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        self.ended.store(true, Ordering::Relaxed);
        drop(self.thread.take().map(JoinHandle::join));
        restore();
    }
}

/// Gives the terminal back as it was.
fn restore() {
    // Nothing is left to be done where the terminal is gone.
    let _ = disable_raw_mode();
    let _ = execute!(io::stderr(), LeaveAlternateScreen);
}

/// What a panic says is said on the screen that stays. Threads of the engine end no training.
fn restore_on_panic() {
    let tell = panic::take_hook();
    panic::set_hook(Box::new(move |what| {
        if !is_engine_thread() {
            restore();
        }
        tell(what);
    }));
}

/// What the thread draws, and where.
struct Drawing {
    terminal: Terminal<CrosstermBackend<Stderr>>,
    watched: Arc<Mutex<Watched>>,
    stop: CancellationToken,
    clock: Monotonic,
}

impl Drawing {
    fn run(mut self, ended: &AtomicBool) {
        while !ended.load(Ordering::Relaxed) {
            let known = {
                let mut watched = self.watched.lock().unwrap_or_else(PoisonError::into_inner);
                watched.seconds = self.clock.seconds();
                if self.stop.is_cancelled() {
                    watched.phase = Phase::Stopping;
                }
                watched.clone()
            };
            let drawn = self.terminal.draw(|frame| view::draw(frame, &known));
            if drawn.is_err() || self.key().is_err() {
                // No keys or no screen: the training goes on without.
                std::thread::sleep(FRAME);
            }
        }
    }

    /// Waits for a key, for a frame at most.
    fn key(&self) -> io::Result<()> {
        if !event::poll(FRAME)? {
            return Ok(());
        }
        if let Event::Key(key) = event::read()?
            && is_stop(key)
        {
            if key.code == KeyCode::Char('q') || !self.stop.is_cancelled() {
                self.stop.cancel();
            } else {
                restore();
                // The second one ends the process.
                raise(SIGINT)?;
                raise(SIGINT)?;
            }
        }
        Ok(())
    }
}

/// Whether a key asks to stop: q, or Ctrl-C, which is a key while the screen is taken.
fn is_stop(key: KeyEvent) -> bool {
    let control = key.modifiers.contains(KeyModifiers::CONTROL);
    key.kind == KeyEventKind::Press
        && match key.code {
            KeyCode::Char('q') => !control,
            KeyCode::Char('c') => control,
            _ => false,
        }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn q_and_an_interrupt_stop() {
        let key = |code, modifiers| KeyEvent::new(KeyCode::Char(code), modifiers);
        let stops = [
            key('q', KeyModifiers::NONE),
            key('c', KeyModifiers::CONTROL),
            key('c', KeyModifiers::NONE),
            key('q', KeyModifiers::CONTROL),
        ];
        assert_eq!(stops.map(is_stop), [true, true, false, false]);
        let mut released = key('q', KeyModifiers::NONE);
        released.kind = KeyEventKind::Release;
        assert!(!is_stop(released));
    }
}
