//! Measuring the disks has its own timer: it never waits behind slow deletions.

use std::sync::Arc;

use crate::directory::Directory;
use crate::error::Result;
use crate::retention::Usage;
use crate::tasks::{Engine, Next, Step};

/// Measures every disk and lets the policy judge.
#[derive(Debug)]
pub struct ProbeStep(pub Arc<Engine>);

impl ProbeStep {
    /// Measures and judges now; says after how many milliseconds to do so again.
    pub fn probe(engine: &Engine) -> u64 {
        let spare = spare_on(engine);
        let mut measure = |directory: &Directory| match engine.disk.space(&directory.path) {
            // A segment made ready is given up where room is short: it is no use of the disk.
            Ok(space) if spare == Some(directory.device) => {
                let ready = engine.supply.segment_len().min(space.used);
                Usage::new(space.used - ready, space.available + ready)
            }
            Ok(space) => Usage::new(space.used, space.available),
            Err(error) => {
                log::debug!("usage is unknown: {error}");
                None
            }
        };
        let interval_ms = engine.options.probe_interval_ms;
        let probed = engine.disks.probe(interval_ms, &mut measure, &engine.supply);
        if probed.pressed {
            engine.clean_bell.ring();
        }
        probed.delay_ms
    }
}

/// The disk that holds a segment made ready and not used yet.
fn spare_on(engine: &Engine) -> Option<u64> {
    let id = engine.supply.ready_in()?;
    let directories = engine.disks.directories();
    directories.iter().find(|row| row.id == id).map(|row| row.device)
}

impl Step for ProbeStep {
    fn name(&self) -> &'static str {
        "probe"
    }

    fn run(&mut self, now_ms: i64) -> Result<Next> {
        Ok(Next::At(now_ms.saturating_add_unsigned(Self::probe(&self.0))))
    }
}
