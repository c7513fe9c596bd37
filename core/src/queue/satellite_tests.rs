use super::*;
use crate::disk::MemDisk;

const SEGMENT: u64 = 4096;
const CAPACITY: u64 = 5;

/// A directory as Satellite leaves it, written from the description of its bytes.
struct Left {
    disk: Arc<MemDisk>,
    writing: u64,
    watermark: u64,
    committed: u64,
    segments: Vec<Vec<u8>>,
}

impl Left {
    fn new() -> Self {
        // What an earlier lap left: plausible lengths everywhere.
        let stale: Vec<u8> = [17_u64.swap_bytes().to_be_bytes(); 512].concat();
        let segments = vec![stale; CAPACITY as usize];
        Self { disk: Arc::new(MemDisk::new()), writing: 0, watermark: 0, committed: 0, segments }
    }

    fn put(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            let segment = (self.writing / SEGMENT % CAPACITY) as usize;
            self.segments[segment][(self.writing % SEGMENT) as usize] = byte;
            self.writing += 1;
        }
    }

    fn push(&mut self, payload: &[u8]) {
        let left = SEGMENT - self.writing % SEGMENT;
        self.writing += if left < 8 { left } else { 0 };
        self.put(&(payload.len() as u64).swap_bytes().to_be_bytes());
        self.put(payload);
    }

    fn meta(&self) -> Vec<u8> {
        let pair = |at: u64| [at / SEGMENT, at % SEGMENT];
        let pairs = [self.writing, self.watermark, self.committed, self.committed].map(pair);
        let words = [&[1][..], &pairs.concat(), &[CAPACITY]].concat();
        words.iter().flat_map(|word| word.swap_bytes().to_be_bytes()).collect()
    }

    fn open(&self) -> Result<SatelliteQueue> {
        let dir = Path::new("/pipe");
        self.disk.make_dir(dir).unwrap();
        self.disk.write(&dir.join("meta.dat"), &self.meta());
        for (index, bytes) in self.segments.iter().enumerate() {
            self.disk.write(&segment_path(dir, index as u64), bytes);
        }
        SatelliteQueue::open(Arc::clone(&self.disk) as Arc<dyn Disk>, dir)
    }
}

fn all(queue: &mut SatelliteQueue) -> Vec<Vec<u8>> {
    std::iter::from_fn(|| queue.next_record().expect("a record")).collect()
}

fn payload(number: usize) -> Vec<u8> {
    vec![number as u8; 500 + number * 97]
}

#[test]
fn what_was_flushed_and_not_committed_is_read_over_the_ends_of_segments() {
    let mut left = Left::new();
    (0..10).for_each(|number| left.push(&payload(number)));
    left.committed = left.writing;
    (10..16).for_each(|number| left.push(&payload(number)));
    left.watermark = left.writing;
    let mut queue = left.open().unwrap();
    assert_eq!(all(&mut queue), (10..16).map(payload).collect::<Vec<_>>());
    assert_eq!(queue.taken_beyond_watermark_bytes(), 0);
}

#[test]
fn bytes_beyond_the_watermark_count_if_they_parse_to_the_writing_position() {
    let mut left = Left::new();
    left.push(b"flushed");
    left.watermark = left.writing;
    left.push(b"not flushed");
    left.push(&payload(20));
    let mut queue = left.open().unwrap();
    assert_eq!(all(&mut queue).len(), 3);
    assert_eq!(queue.taken_beyond_watermark_bytes(), left.writing - left.watermark);
    // A length that was lost with power.
    left.segments[0][left.watermark as usize..][..8].copy_from_slice(&[0; 8]);
    let mut queue = left.open().unwrap();
    assert_eq!(all(&mut queue), [b"flushed"]);
    assert_eq!(queue.left_beyond_watermark_bytes(), left.writing - left.watermark);
    // One that leads elsewhere.
    left.segments[0][left.watermark as usize..][..8].copy_from_slice(&[9, 0, 0, 0, 0, 0, 0, 0]);
    assert_eq!(all(&mut left.open().unwrap()), [b"flushed"]);
}

/// Satellite itself reads on into old bytes here.
#[test]
fn what_was_acknowledged_beyond_the_watermark_is_done() {
    let mut left = Left::new();
    left.push(b"flushed");
    left.watermark = left.writing;
    left.push(b"acknowledged");
    left.committed = left.writing;
    left.push(b"waiting");
    assert_eq!(all(&mut left.open().unwrap()), [b"waiting"]);
    left.writing = left.watermark;
    assert_eq!(left.open().unwrap_err().kind(), ErrorKind::Corrupt);
}

#[test]
fn laps_are_followed() {
    let mut left = Left::new();
    for number in 0..60 {
        left.committed = left.writing;
        left.push(&payload(number % 20));
    }
    left.watermark = left.writing;
    assert_eq!(all(&mut left.open().unwrap()), [payload(59 % 20)]);
}

/// Every bit of the meta page: an answer or a typed error, never a panic or an endless loop.
#[test]
fn any_flipped_bit_of_the_meta_page_is_survived() {
    let mut left = Left::new();
    (0..8).for_each(|number| left.push(&payload(number)));
    left.watermark = left.writing;
    left.open().unwrap();
    let (dir, meta) = (Path::new("/pipe"), left.meta());
    for bit in 0..meta.len() * 8 {
        let mut flipped = meta.clone();
        flipped[bit / 8] ^= 1 << (bit % 8);
        left.disk.write(&dir.join("meta.dat"), &flipped);
        let disk = Arc::clone(&left.disk) as Arc<dyn Disk>;
        let read = SatelliteQueue::open(disk, dir).and_then(|mut queue| {
            let mut count = 0;
            while queue.next_record()?.is_some() {
                count += 1;
            }
            Ok(count)
        });
        match read {
            Ok(count) => assert!(count <= CAPACITY * SEGMENT / 9, "bit {bit}: {count} records"),
            Err(error) => assert!(error.path().is_some(), "bit {bit}: {error}"),
        }
    }
    for len in 0..meta.len() {
        left.disk.write(&dir.join("meta.dat"), &meta[..len]);
        let disk = Arc::clone(&left.disk) as Arc<dyn Disk>;
        let error = SatelliteQueue::open(disk, dir).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Corrupt, "{len} bytes");
    }
}
