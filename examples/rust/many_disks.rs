//! One log over several directories, with limits of their own: `many-disks DIRECTORY`.

use std::path::PathBuf;

use spanlog::{DirectoryOptions, Message, Options, Placement, Result, Role, Store, Thresholds};

fn main() -> Result<()> {
    let root = PathBuf::from(std::env::args().nth(1).unwrap_or_else(|| "many-disks-store".into()));
    let careful = Thresholds { clean: 0.60, force: 0.70, refuse: 0.88, ..Thresholds::default() };
    let options = Options::new()
        .directory(root.join("fast"))
        .directory(DirectoryOptions::new(root.join("shared")).thresholds(careful))
        .placement(Placement::FreeSpace)
        .segment_len_bytes(1 << 20);
    let store = Store::open(root.join("store"), options)?;

    let body = [b'x'; 1000];
    for number in 0..5000 {
        store.append(&Message::new("metrics", number % 4, &body))?;
    }
    // From now on new segments go elsewhere; what is there is served until retention drops it.
    store.set_role(root.join("shared"), Role::Draining)?;
    for disk in store.disks()? {
        let used = disk.usage.map_or("?".into(), |u| format!("{:.0} %", u.used_ratio() * 100.0));
        println!("{}: {}, {used} used, {} segments", disk.path.display(), disk.role, disk.segments);
    }
    for fate in store.plan_clean(false)?.fates {
        println!("segment {}: {}", fate.segment.base, fate.reason);
    }
    store.close()?;

    // The store remembers its directories.
    let store = Store::open(root.join("store"), Options::new())?;
    println!("{} queues over {} segments", store.queues().len(), store.segments().len());
    store.close()
}
