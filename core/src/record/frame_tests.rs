use super::*;

const SEGMENT: u64 = 4096;

fn framed(position: u64, number: u64, more: bool, payload: &[u8]) -> Vec<u8> {
    let head = FrameHead { len: payload.len() as u32, more, position, number };
    [&head.encode(checksum(payload))[..], payload].concat()
}

/// The frame at `position`, judged as a reader judges it.
fn read(bytes: &[u8], position: u64) -> Option<(FrameHead, Vec<u8>)> {
    let head = FrameHead::decode(bytes, position)?;
    let payload = bytes.get(24..24 + head.len as usize)?;
    head.is_of(bytes, checksum(payload)).then(|| (head, payload.to_vec()))
}

#[test]
fn the_bytes_are_those_of_the_document() {
    let head = FrameHead { len: 3, more: false, position: 4096, number: 7 };
    let bytes = framed(4096, 7, false, b"tea");
    assert_eq!(bytes[..4], [0, 0, 0, 3]);
    assert_eq!(bytes[8..], *b"\0\0\0\0\0\0\x10\0\0\0\0\0\0\0\0\x07tea");
    assert_eq!(head.frame_bytes(), 32);
    assert_eq!(framed(4096, 7, true, b"tea")[..4], [0x80, 0, 0, 3]);
    assert_eq!(framed(0, 0, false, b"tea")[..8], [0, 0, 0, 3, 0x4a, 0xc3, 0xe0, 0xd2]);
}

#[test]
fn a_frame_goes_there_and_back() {
    for len in [0, 1, 7, 8, 128, 5000] {
        let payload: Vec<u8> = (0..len).map(|at| at as u8).collect();
        for more in [false, true] {
            let (head, back) = read(&framed(64, 9, more, &payload), 64).expect("a whole frame");
            assert_eq!((head.more, head.number, back), (more, 9, payload.clone()));
        }
    }
}

/// The original read zeros as records of no bytes, for ever.
#[test]
fn zeros_are_no_record() {
    assert_eq!(read(&[0; 64], 0), None);
    assert_eq!(read(&[0; 64], 8), None);
}

/// The original took what a file held of an earlier lap for records.
#[test]
fn a_frame_of_an_earlier_lap_is_no_record() {
    let lap = 10 * SEGMENT;
    let bytes = framed(512, 3, false, b"stale");
    assert!(read(&bytes, 512).is_some());
    assert_eq!(read(&bytes, 512 + lap), None);
}

#[test]
fn any_flipped_bit_and_any_truncation_is_noticed() {
    let bytes = framed(80, 1, true, b"every bit of it");
    for bit in 0..bytes.len() * 8 {
        let mut flipped = bytes.clone();
        flipped[bit / 8] ^= 1 << (bit % 8);
        assert_eq!(read(&flipped, 80), None, "bit {bit}");
    }
    for len in 0..bytes.len() {
        assert_eq!(read(&bytes[..len], 80), None, "{len} bytes");
    }
}

#[test]
fn a_head_never_crosses_a_segments_end() {
    let rows = [(0, 0), (4072, 4072), (4080, 4096), (4088, 4096), (4096, 4096), (8176, 8192)];
    for (position, start) in rows {
        assert_eq!(frame_start(position, SEGMENT), start, "{position}");
    }
}
