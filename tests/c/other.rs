//! Another static library of the same Rust compiler, to be linked beside spanlog's.

/// Adds on the heap, and panics where nobody sees it.
#[unsafe(no_mangle)]
pub extern "C" fn other_sum(count: u32) -> u32 {
    let caught = std::panic::catch_unwind(|| assert!(count == u32::MAX, "planted"));
    let numbers: Vec<u32> = (0..count).collect();
    numbers.iter().sum::<u32>() + u32::from(caught.is_err())
}
