//! Tells the linker that the process which loads the library brings Node's symbols.

fn main() {
    napi_build::setup();
}
