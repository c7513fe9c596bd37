//! The same appends by a program in C over the shared library.

use std::env;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::append;
use crate::harness::{Figure, Outcome, Setup, Side};
use crate::load::{body, record};

const BODY_BYTES: usize = 128;

/// Nanoseconds of one append of 128 bytes; the baseline is Rust. Nothing where the shared library
/// was not built beside this program.
pub fn measure(setup: &Setup) -> Outcome<Vec<Figure>> {
    let Some(library) = library()? else {
        eprintln!("  skipped: build spanlog-ffi first");
        return Ok(Vec::new());
    };
    let (count, body) = (setup.sizes.small, body(BODY_BYTES));
    let program = compiled(setup, &library)?;
    let bytes = count * record(&body)?.len() as u64;
    let mut sides: [Side<'_>; 2] = [
        Box::new(|| in_c(setup, &program, count)),
        Box::new(|| {
            let options = setup.sizes.options_without_keys();
            Ok(1e9 / append::singles_with(setup, options, count, &body)?)
        }),
    ];
    let medians = setup.in_turns(bytes, &mut sides)?;
    Ok(vec![Figure { name: "c_append_128", value: medians[0], baseline: Some(medians[1]) }])
}

/// The shared library beside this program.
fn library() -> Outcome<Option<PathBuf>> {
    let library = env::current_exe()?.with_file_name("libspanlog.so");
    Ok(library.exists().then_some(library))
}

fn compiled(setup: &Setup, library: &Path) -> Outcome<PathBuf> {
    let program = setup.dir.join("append");
    let source = Path::new(env!("CARGO_MANIFEST_DIR"));
    let (run_time, include) = (setup.dir.join("libspanlog.so.0"), source.join("../include"));
    symlink(fs::canonicalize(library)?, run_time)?;
    let status = Command::new("cc")
        .args(["-std=gnu11", "-O2", "-o"])
        .args([&program, &source.join("c/append.c"), library])
        .arg("-I")
        .arg(include)
        .status()?;
    if status.success() { Ok(program) } else { Err("the program in C is not compiled".into()) }
}

fn in_c(setup: &Setup, program: &Path, count: u64) -> Outcome<f64> {
    let root = setup.dir.join("store");
    let numbers = [count, BODY_BYTES as u64, setup.sizes.segment_bytes];
    let output = Command::new(program)
        .arg(&root)
        .args(numbers.map(|number| number.to_string()))
        .env("LD_LIBRARY_PATH", &setup.dir)
        .output()?;
    if !output.status.success() {
        return Err(String::from_utf8_lossy(&output.stderr).into());
    }
    fs::remove_dir_all(root)?;
    Ok(String::from_utf8(output.stdout)?.trim().parse()?)
}
