//! JavaScript's memory that is written here: the one file with unsafe code.
//!
//! # Why it is sound
//!
//! Node runs one thread per environment, and these functions run in it while JavaScript waits for
//! them: nobody else touches the memory meanwhile. The views own a reference, so it is not
//! collected. `lib/` makes the blocks itself and hands them to nobody before they are filled, so
//! they are neither shared with another thread nor taken away from their views.
#![allow(unsafe_code)]

use napi::bindgen_prelude::{BigUint64Array, Uint8Array};
use spanlog::{Error, Result};

use crate::failure::invalid;
use crate::found::Found;

/// A few 64-bit numbers for results, so that none is made an object here.
pub struct Numbers(BigUint64Array);

impl Numbers {
    pub fn new(view: BigUint64Array) -> Self {
        Self(view)
    }

    /// Writes the first of them.
    pub fn write<const N: usize>(&mut self, numbers: [u64; N]) -> Result<()> {
        // SAFETY: nobody else touches the memory while this runs (head of the file).
        let view = unsafe { self.0.as_mut() };
        *view.first_chunk_mut().ok_or_else(short)? = numbers;
        Ok(())
    }
}

/// Lays out what was found, in two views of one block that must not overlap.
pub fn fill(
    found: &Found,
    mut rows: BigUint64Array,
    mut bytes: Uint8Array,
    verify: bool,
) -> Result<(usize, Vec<Error>)> {
    let (first, second) = (rows.as_ptr_range(), bytes.as_ptr_range());
    let is_apart = first.end.addr() <= second.start.addr() || second.end <= first.start.cast();
    if !is_apart {
        return Err(invalid("the two views of a block overlap"));
    }
    // SAFETY: nobody else touches the memory while this runs (head of the file).
    let rows = unsafe { rows.as_mut() };
    // SAFETY: as above, and the two are apart.
    let bytes = unsafe { bytes.as_mut() };
    found.lay_out(rows, bytes, verify)
}

fn short() -> Error {
    invalid("a block of numbers is too short")
}
