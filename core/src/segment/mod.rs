//! Layer 2: a line of bytes cut into files, spread over directories.

pub mod name;
pub mod placement;

mod budget;
mod chain;
mod eviction;
mod resident;
mod ring;
#[allow(clippy::module_inception)]
mod segment;
mod supply;
#[cfg(test)]
mod tests;

pub use budget::Budget;
pub use chain::{Chain, Snapshot};
pub use eviction::Scopes;
pub use resident::resident_from;
pub use ring::Ring;
pub use segment::{Place, Segment};
pub use supply::{Room, Shelf, Supply};
