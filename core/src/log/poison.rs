//! The state after which nothing more can be promised.

use std::sync::OnceLock;

use crate::error::{Error, ErrorKind, Result};

/// Set once, by a failed flush or a panic in the background; every later append and flush is
/// refused with it. Reads go on.
#[derive(Debug, Default)]
pub struct Poison(OnceLock<String>);

impl Poison {
    /// Refuses everything from now on, because of `cause`.
    pub fn set(&self, cause: &str) {
        // The first cause stays: later ones follow from it.
        if self.0.set(cause.to_owned()).is_ok() {
            log::error!("the store accepts nothing more: {cause}");
        }
    }

    /// The first cause, if there is one.
    #[must_use]
    pub fn cause(&self) -> Option<&str> {
        self.0.get().map(String::as_str)
    }

    /// # Errors
    /// `Poisoned` with the first cause.
    pub fn check(&self) -> Result<()> {
        match self.cause() {
            None => Ok(()),
            Some(cause) => Err(Error::new(ErrorKind::Poisoned, cause)),
        }
    }
}
