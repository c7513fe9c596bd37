//! Appends batches to a store until somebody kills it, and prints a line for each one that was
//! acknowledged: its number, its position and its queue offset.

use std::io::Write;
use std::process::ExitCode;

use spanlog::{Message, Store};
use spanlog_tests::appender::{Plan, TOPIC, batch_len, body, queue};

fn main() -> ExitCode {
    let mut arguments = std::env::args_os().skip(1);
    let Some(first) = arguments.next().and_then(|word| word.to_str()?.parse().ok()) else {
        return ExitCode::FAILURE;
    };
    let Some(plan) = Plan::of(arguments) else { return ExitCode::FAILURE };
    match append(&plan, first) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

fn append(plan: &Plan, first: u64) -> Result<(), Box<dyn std::error::Error>> {
    let store = Store::open(plan.root(), plan.options())?;
    let mut out = std::io::stdout();
    for number in first.. {
        let bodies: Vec<_> = (0..batch_len(number)).map(|member| body(number, member)).collect();
        let message = |body| Message::new(TOPIC, queue(number), body);
        let batch: Vec<_> = bodies.iter().map(|body| message(body)).collect();
        let receipt = store.append_batch(&batch)?;
        // One system call: a line is there whole or not at all.
        out.write_all(
            format!("{number} {} {}\n", receipt.position, receipt.queue_offset).as_bytes(),
        )?;
        out.flush()?;
    }
    Ok(())
}
