//! Ctrl-C and the request to terminate: the first is noted, so that a command can stop between
//! two messages and close its store; the second ends the process at once.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::flag;

use crate::failure::{Failure, Outcome};

/// Whether somebody asked to stop. Clones look at the same signals.
#[derive(Clone, Debug)]
pub struct Interrupt(Arc<AtomicBool>);

impl Interrupt {
    /// Listens from now on.
    pub fn listen() -> Outcome<Self> {
        let asked = Arc::new(AtomicBool::new(false));
        for signal in [SIGINT, SIGTERM] {
            // In this order: the first signal finds the flag down and only raises it.
            flag::register_conditional_shutdown(signal, 128 + signal, Arc::clone(&asked))
                .and_then(|_| flag::register(signal, Arc::clone(&asked)))
                .map_err(|error| Failure::other("listen for signals", &error))?;
        }
        Ok(Self(asked))
    }

    /// Whether a signal came.
    pub fn is_asked(&self) -> bool {
        self.0.load(Ordering::Acquire)
    }
}
