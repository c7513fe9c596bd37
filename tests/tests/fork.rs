//! Programs fork: a store that a child opens for itself works, whatever its parent has open.

use std::process::Command;

use tempfile::TempDir;

/// The engine's locks kept all who sleep in one table of the process: of sixty children, forty
/// waited for ever for threads that only their parent has.
#[test]
fn a_child_can_hold_a_store_of_its_own() {
    let dir = TempDir::new().unwrap();
    let ran = Command::new(env!("CARGO_BIN_EXE_forker"))
        .arg(dir.path())
        .arg("30")
        .output()
        .expect("the forker starts");
    assert_eq!(String::from_utf8_lossy(&ran.stdout), "30\n", "{ran:?}");
    assert!(ran.status.success());
}
