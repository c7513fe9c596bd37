//! Pushes into a queue until somebody kills it, and prints the number of each push that returned.

use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;

use spanlog::Queue;
use spanlog_tests::pusher::{options, payload, push_len};

fn main() -> ExitCode {
    match push() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

fn push() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [dir, durability, first] = arguments.as_slice() else { return Err("three words".into()) };
    let dir = PathBuf::from(dir);
    let queue = Queue::open(dir.join("root"), options(&dir, durability))?;
    let mut out = std::io::stdout();
    for number in first.parse::<u64>()?.. {
        let payloads: Vec<_> =
            (0..push_len(number)).map(|member| payload(number, member)).collect();
        queue.push_many(&payloads)?;
        // One system call: a line is there whole or not at all.
        out.write_all(format!("{number}\n").as_bytes())?;
        out.flush()?;
    }
    Ok(())
}
