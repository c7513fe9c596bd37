//! Gives the shared library its soname. Until 1.0 the number stays 0: what changes the ABI changes
//! it.
#![allow(clippy::print_stdout, reason = "cargo reads it")]

fn main() {
    println!("cargo::rustc-cdylib-link-arg=-Wl,-soname,libspanlog.so.0");
    println!("cargo::rerun-if-changed=build.rs");
}
