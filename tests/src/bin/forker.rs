//! A process with an open store that forks, again and again; each child opens a store of its own.
//! Prints how many children came to their end.

use std::path::Path;

use spanlog::{Message, Options, Result, Store};

/// A child that hangs is ended by the system after this.
const SECONDS: u32 = 20;

fn main() -> Result<()> {
    let mut args = std::env::args().skip(1);
    let dir = args.next().expect("a folder for the stores");
    let children: u32 = args.next().and_then(|count| count.parse().ok()).expect("how many");
    let dir = Path::new(&dir);
    let store = open(&dir.join("parent"))?;
    let mut ended = 0;
    for number in 0..children {
        append(&store, 20)?;
        ended += u32::from(fork_and_use(&dir.join(format!("child{number}"))));
    }
    println!("{ended}");
    store.close()
}

fn open(root: &Path) -> Result<Store> {
    Store::open(root, Options::new().segment_len_bytes(1 << 16))
}

fn append(store: &Store, count: u32) -> Result<()> {
    (0..count).try_for_each(|_| store.append(&Message::new("orders", 0, b"tea")).map(drop))
}

/// What a child does: the whole life of a store.
fn use_store(root: &Path) -> Result<()> {
    let store = open(root)?;
    append(&store, 50)?;
    store.catch_up()?;
    store.close()
}

/// Whether the child did all of it.
fn fork_and_use(root: &Path) -> bool {
    // SAFETY: the child touches nothing of the parent's: it opens a store of its own and exits.
    let child = unsafe { libc::fork() };
    if child == 0 {
        // SAFETY: no memory is involved.
        unsafe { libc::alarm(SECONDS) };
        let code = i32::from(use_store(root).is_err());
        // SAFETY: no destructor of the parent's values may run here.
        unsafe { libc::_exit(code) };
    }
    let mut status = -1;
    // SAFETY: the place for the answer lives until the call returns.
    let waited = unsafe { libc::waitpid(child, &raw mut status, 0) };
    waited == child && status == 0
}
