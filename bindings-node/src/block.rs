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
use serde_json::json;
use spanlog::{Error, Result};

use crate::failure::invalid;
use crate::found::Found;

/// A few 64-bit numbers for results, so that none is made an object here.
pub struct Numbers(BigUint64Array);

impl Numbers {
    pub fn new(view: BigUint64Array) -> Self {
        Self(view)
    }

    /// The first of them.
    pub fn read<const N: usize>(&self) -> Result<[u64; N]> {
        self.0.first_chunk().copied().ok_or_else(short)
    }

    /// Writes the first of them.
    pub fn write<const N: usize>(&mut self, numbers: [u64; N]) -> Result<()> {
        // SAFETY: nobody else touches the memory while this runs (head of the file).
        let view = unsafe { self.0.as_mut() };
        *view.first_chunk_mut().ok_or_else(short)? = numbers;
        Ok(())
    }
}

/// Has `lay_out` write to two views of one block that must not overlap.
pub fn fill<T>(
    mut rows: BigUint64Array,
    mut bytes: Uint8Array,
    lay_out: impl FnOnce(&mut [u64], &mut [u8]) -> Result<T>,
) -> Result<T> {
    let (first, second) = (rows.as_ptr_range(), bytes.as_ptr_range());
    let is_apart = first.end.addr() <= second.start.addr() || second.end <= first.start.cast();
    if !is_apart {
        return Err(invalid("the two views of a block overlap"));
    }
    // SAFETY: nobody else touches the memory while this runs (head of the file).
    let rows = unsafe { rows.as_mut() };
    // SAFETY: as above, and the two are apart.
    let bytes = unsafe { bytes.as_mut() };
    lay_out(rows, bytes)
}

/// Lays out messages. Where some are damaged, returns how many are not, and what is wrong with the
/// others.
pub fn fill_found(
    found: &Found<'_>,
    rows: BigUint64Array,
    bytes: Uint8Array,
    verify: bool,
) -> Result<Option<String>> {
    let lay_out = |rows: &mut [u64], bytes: &mut [u8]| found.lay_out(rows, bytes, verify);
    let (count, damages) = fill(rows, bytes, lay_out)?;
    let told = (!damages.is_empty()).then(|| json!({ "count": count, "damages": damages }));
    Ok(told.map(|told| told.to_string()))
}

fn short() -> Error {
    invalid("a block of numbers is too short")
}
