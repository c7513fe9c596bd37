//! One of several processes at one store. `write DIR MILLIS` appends, rolls and cleans for so
//! long; `read DIR PAUSE_MILLIS` follows it, checks every message it sees, and ends with the last.

use std::error::Error;
use std::path::Path;
use std::process::ExitCode;
use std::thread;
use std::time::{Duration, Instant};

use spanlog::{ErrorKind, Message, Position, QueueOffset, ReadLimits, ReadStatus, Store, Stored};
use spanlog_tests::beside::{END, QUEUES, TOPIC, body, options};

type Outcome<T = ()> = Result<T, Box<dyn Error>>;

/// Nobody waits longer for anybody.
const PATIENCE: Duration = Duration::from_secs(30);

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let outcome = match words.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["write", dir, millis] => write(Path::new(dir), millis),
        ["read", dir, millis] => read(Path::new(dir), millis),
        _ => Err("write or read".into()),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

fn write(dir: &Path, millis: &str) -> Outcome {
    let store = Store::open(dir.join("root"), options(dir))?;
    let (began, length) = (Instant::now(), Duration::from_millis(millis.parse()?));
    let mut offsets = [0; QUEUES as usize];
    let mut round = 0_u64;
    while began.elapsed() < length {
        for queue in 0..QUEUES {
            let next = &mut offsets[queue as usize];
            let count = 1 + round % 4;
            let bodies: Vec<_> = (*next..*next + count).map(|at| body(queue, at)).collect();
            let message = |body| Message::new(TOPIC, queue, body);
            store.append_batch(&bodies.iter().map(|body| message(body)).collect::<Vec<_>>())?;
            *next += count;
        }
        round += 1;
        if round.is_multiple_of(64) {
            store.clean_now()?;
            thread::sleep(Duration::from_millis(2));
        }
    }
    for queue in 0..QUEUES {
        store.append(&Message::new(TOPIC, queue, END))?;
    }
    // The last round of cleaning may still be on its way.
    thread::sleep(Duration::from_millis(300));
    println!("{} {:?} {}", store.watermarks().start, offsets, store.segments().len());
    Ok(store.close()?)
}

/// What one reader knows.
struct Reader {
    store: Store,
    next: [QueueOffset; QUEUES as usize],
    ended: [bool; QUEUES as usize],
    seen: u64,
    gone: u64,
    /// Where some of the messages were.
    places: Vec<Position>,
}

fn read(dir: &Path, pause: &str) -> Outcome {
    let (began, pause) = (Instant::now(), Duration::from_millis(pause.parse()?));
    let next = [QueueOffset::ZERO; QUEUES as usize];
    let (store, ended) = (open(dir)?, [false; QUEUES as usize]);
    let mut reader = Reader { store, next, ended, seen: 0, gone: 0, places: Vec::new() };
    while !reader.ended.iter().all(|&ended| ended) {
        if began.elapsed() > PATIENCE {
            return Err("the end never came".into());
        }
        for queue in 0..QUEUES {
            reader.read_on(queue)?;
        }
        reader.look_back()?;
        thread::sleep(pause);
        let queue = reader.ended.iter().position(|&ended| !ended).unwrap_or(0);
        let from = reader.next[queue];
        reader.store.wait(TOPIC, queue as u32, from, Duration::from_millis(50))?;
    }
    println!("{} {} {:?}", reader.seen, reader.gone, reader.next.map(QueueOffset::get));
    Ok(())
}

/// Opens the store as soon as it is there.
fn open(dir: &Path) -> Outcome<Store> {
    let began = Instant::now();
    loop {
        match Store::open(dir.join("root"), options(dir).read_only(true)) {
            Ok(store) => return Ok(store),
            Err(error) if began.elapsed() > PATIENCE => return Err(error.into()),
            Err(_) => thread::sleep(Duration::from_millis(1)),
        }
    }
}

impl Reader {
    fn read_on(&mut self, queue: u32) -> Outcome {
        let at = queue as usize;
        loop {
            let from = self.next[at];
            let batch = self.store.read(TOPIC, queue, from, ReadLimits::default())?;
            match batch.status() {
                ReadStatus::Found => {
                    for stored in batch.iter() {
                        self.gone += stored.queue_offset().since(self.next[at]);
                        self.next[at] = stored.queue_offset() + 1;
                        self.check(queue, stored)?;
                    }
                }
                ReadStatus::TooSmall | ReadStatus::Removed if batch.next() > from => {
                    self.gone += batch.next() - from;
                    self.next[at] = batch.next();
                }
                ReadStatus::NoQueue | ReadStatus::Empty | ReadStatus::AtEnd => return Ok(()),
                status => return Err(format!("{queue}/{from}: {status:?}").into()),
            }
        }
    }

    fn check(&mut self, queue: u32, stored: Stored<'_>) -> Outcome {
        let view = stored.decode_verified()?;
        let offset = stored.queue_offset().get();
        let is_end = view.body() == END;
        if !is_end && view.body() != body(queue, offset) {
            return Err(format!("{queue}/{offset}: another message").into());
        }
        self.ended[queue as usize] |= is_end;
        self.seen += 1;
        if self.seen.is_multiple_of(61) {
            self.places.push(stored.position());
        }
        Ok(())
    }

    /// What was seen earlier is there or gone, and never anything else.
    fn look_back(&self) -> Outcome {
        for &place in self.places.iter().rev().step_by(7).take(20) {
            match self.store.get(place) {
                Err(error) if error.kind() != ErrorKind::Gone => return Err(error.into()),
                _ => {}
            }
        }
        Ok(())
    }
}
