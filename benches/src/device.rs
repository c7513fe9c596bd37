//! Bytes that reach the block device for one durable append.

use std::fs;
use std::os::linux::fs::MetadataExt;
use std::path::{Path, PathBuf};

use spanlog::Store;

use crate::harness::{Figure, Outcome, Setup, median};
use crate::load::{body, message, store};

/// Linux counts sectors of this size, whatever the device's own.
const SECTOR_BYTES: u64 = 512;

/// 1 KiB messages, each durable when the call returns, behind a segment's first 160 MiB: small
/// flushes cost most where the kernel keeps the file in large pieces. Checkpoints of the store are
/// counted too, and so is what other programs write to the same device meanwhile.
pub fn measure(setup: &Setup) -> Outcome<Vec<Figure>> {
    let body = body(1024);
    let store = store(&setup.dir.join("store"), setup.sizes.durable_options())?;
    fill(&store, setup.sizes.fill_bytes, &body)?;
    // What earlier measurements left to be written would be counted here.
    std::process::Command::new("sync").status()?;
    let counter = Counter::of(&setup.dir)?;
    eprintln!("  {}", counter.name());
    let mut samples = Vec::new();
    for _ in 0..setup.sizes.rounds {
        let before = counter.bytes()?;
        for number in 0..setup.sizes.durable {
            store.append_durable(&message((number % 8) as u32, &body))?;
        }
        samples.push((counter.bytes()? - before) as f64 / setup.sizes.durable as f64);
    }
    let value = median(&mut samples);
    Ok(vec![Figure { name: "device_bytes_per_durable_1k", value, baseline: None }])
}

fn fill(store: &Store, bytes: u64, body: &[u8]) -> Outcome<()> {
    let batch: Vec<_> = (0..100).map(|_| message(0, body)).collect();
    while store.watermarks().appended.get() < bytes {
        store.append_batch(&batch)?;
    }
    Ok(())
}

/// Where written bytes are counted.
enum Counter {
    /// The block device under the directory.
    Device(PathBuf),
    /// What the system says this process caused, where no device is found.
    Process,
}

impl Counter {
    fn of(dir: &Path) -> Outcome<Self> {
        let device = fs::metadata(dir)?.st_dev();
        let (major, minor) = (device >> 8 & 0xFFF, device & 0xFF | device >> 12 & 0xFFF00);
        let path = PathBuf::from(format!("/sys/dev/block/{major}:{minor}/stat"));
        Ok(if path.exists() { Self::Device(path) } else { Self::Process })
    }

    fn name(&self) -> String {
        match self {
            Self::Device(path) => format!("counted by the device: {}", path.display()),
            Self::Process => "no device found; counted by /proc/self/io".into(),
        }
    }

    fn bytes(&self) -> Outcome<u64> {
        match self {
            // The seventh number: sectors written.
            Self::Device(path) => {
                let text = fs::read_to_string(path)?;
                let sectors = text.split_whitespace().nth(6).ok_or("no such number")?;
                Ok(sectors.parse::<u64>()? * SECTOR_BYTES)
            }
            Self::Process => {
                let text = fs::read_to_string("/proc/self/io")?;
                let line = text.lines().find_map(|line| line.strip_prefix("write_bytes: "));
                Ok(line.ok_or("no write_bytes line")?.trim().parse()?)
            }
        }
    }
}
