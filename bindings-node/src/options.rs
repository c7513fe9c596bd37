//! Options as JavaScript gives them. Absent ones keep the engine's defaults; the engine judges.

use std::str::FromStr;

use napi::bindgen_prelude::Either;
use napi_derive::napi;
use spanlog::{DirectoryOptions, Durability, Options, Result, Thresholds};

use crate::failure::invalid;

/// The largest number up to which every whole number can be told from the next.
const MAX_SAFE: f64 = 9_007_199_254_740_991.0;

/// A directory of segments.
#[napi(object, object_to_js = false)]
pub struct NativeDirectory {
    pub path: String,
    pub role: Option<String>,
    pub thresholds: Option<NativeThresholds>,
}

/// The marks of a disk.
#[napi(object)]
pub struct NativeThresholds {
    pub clean: Option<f64>,
    pub force: Option<f64>,
    pub refuse: Option<f64>,
    pub floor_bytes: Option<f64>,
    pub hysteresis: Option<f64>,
}

/// When appended bytes are flushed, if not at once.
#[napi(object, object_to_js = false)]
pub struct NativeDurability {
    pub interval_ms: Option<f64>,
    pub bytes: Option<f64>,
}

/// How a store is opened and run.
#[napi(object, object_to_js = false)]
pub struct NativeOptions {
    pub paths: Option<Vec<Either<String, NativeDirectory>>>,
    pub placement: Option<String>,
    pub segment_len_bytes: Option<f64>,
    pub queue_file_len_bytes: Option<f64>,
    pub durability: Option<Either<String, NativeDurability>>,
    pub thresholds: Option<NativeThresholds>,
    pub clean_on: Option<String>,
    pub force_on: Option<String>,
    pub refuse_on: Option<String>,
    pub retention_ms: Option<f64>,
    pub delete_hours: Option<String>,
    pub forced_clean: Option<bool>,
    pub max_forced_per_round: Option<f64>,
    pub clean_pause_ms: Option<f64>,
    pub probe_interval_ms: Option<f64>,
    pub clean_interval_ms: Option<f64>,
    pub refuse_reads_when_full: Option<bool>,
    pub record_checksum: Option<bool>,
    pub max_body_bytes: Option<f64>,
    pub store_host: Option<String>,
    pub max_maps: Option<f64>,
    pub on_damage: Option<String>,
    pub allow_offline: Option<bool>,
    pub adopt: Option<bool>,
    pub read_only: Option<bool>,
    pub create: Option<bool>,
    pub checkpoint_interval_ms: Option<f64>,
    pub prepare_bytes: Option<f64>,
    pub background: Option<bool>,
}

impl NativeOptions {
    /// The engine's options.
    pub fn convert(self) -> Result<Options> {
        let mut options = Options::new();
        self.words(&mut options)?;
        self.numbers(&mut options)?;
        self.switches(&mut options);
        if let Some(thresholds) = &self.thresholds {
            options.thresholds = thresholds.over(options.thresholds)?;
        }
        options.durability = durability(self.durability)?;
        for path in self.paths.into_iter().flatten() {
            options.directories.push(match path {
                Either::A(path) => DirectoryOptions::new(path),
                Either::B(directory) => directory.convert(options.thresholds)?,
            });
        }
        Ok(options)
    }

    fn words(&self, options: &mut Options) -> Result<()> {
        parse(&mut options.placement, self.placement.as_deref())?;
        parse(&mut options.clean_on, self.clean_on.as_deref())?;
        parse(&mut options.force_on, self.force_on.as_deref())?;
        parse(&mut options.refuse_on, self.refuse_on.as_deref())?;
        parse(&mut options.delete_hours, self.delete_hours.as_deref())?;
        parse(&mut options.on_damage, self.on_damage.as_deref())?;
        if let Some(host) = &self.store_host {
            let bad = |_| invalid(format!("storeHost is {host:?}: it must be address:port"));
            options.store_host = host.parse().map_err(bad)?;
        }
        Ok(())
    }

    fn numbers(&self, options: &mut Options) -> Result<()> {
        let rows = [
            ("segmentLenBytes", self.segment_len_bytes, &mut options.segment_len_bytes),
            ("queueFileLenBytes", self.queue_file_len_bytes, &mut options.queue_file_len_bytes),
            ("retentionMs", self.retention_ms, &mut options.retention_ms),
            ("cleanPauseMs", self.clean_pause_ms, &mut options.clean_pause_ms),
            ("probeIntervalMs", self.probe_interval_ms, &mut options.probe_interval_ms),
            ("cleanIntervalMs", self.clean_interval_ms, &mut options.clean_interval_ms),
            ("maxBodyBytes", self.max_body_bytes, &mut options.max_body_bytes),
            (
                "checkpointIntervalMs",
                self.checkpoint_interval_ms,
                &mut options.checkpoint_interval_ms,
            ),
            ("prepareBytes", self.prepare_bytes, &mut options.prepare_bytes),
        ];
        for (name, given, field) in rows {
            set(field, given.map(|given| whole(name, given)).transpose()?);
        }
        let narrow = |name, given: Option<f64>| given.map(|it| narrow(name, it)).transpose();
        let most = narrow("maxForcedPerRound", self.max_forced_per_round)?;
        set(&mut options.max_forced_per_round, most);
        let maps = narrow("maxMaps", self.max_maps)?;
        set(&mut options.max_maps, maps.map(|maps| maps as usize));
        Ok(())
    }

    fn switches(&self, options: &mut Options) {
        set(&mut options.forced_clean, self.forced_clean);
        set(&mut options.refuse_reads_when_full, self.refuse_reads_when_full);
        set(&mut options.record_checksum, self.record_checksum);
        set(&mut options.allow_offline, self.allow_offline);
        set(&mut options.adopt, self.adopt);
        set(&mut options.read_only, self.read_only);
        set(&mut options.create, self.create);
        set(&mut options.background, self.background);
    }
}

impl NativeDirectory {
    /// The engine's options, with the store's marks where the directory has none of its own.
    pub fn convert(self, store: Thresholds) -> Result<DirectoryOptions> {
        let mut directory = DirectoryOptions::new(self.path);
        directory.role = self.role.map(|role| role.parse()).transpose()?;
        directory.thresholds = self.thresholds.map(|marks| marks.over(store)).transpose()?;
        Ok(directory)
    }
}

impl NativeThresholds {
    fn over(&self, mut marks: Thresholds) -> Result<Thresholds> {
        set(&mut marks.clean, self.clean);
        set(&mut marks.force, self.force);
        set(&mut marks.refuse, self.refuse);
        set(&mut marks.hysteresis, self.hysteresis);
        let floor = self.floor_bytes.map(|bytes| whole("floorBytes", bytes)).transpose()?;
        set(&mut marks.floor_bytes, floor);
        Ok(marks)
    }
}

fn durability(given: Option<Either<String, NativeDurability>>) -> Result<Durability> {
    let NativeDurability { interval_ms, bytes } = match given {
        None => return Ok(Durability::default()),
        Some(Either::B(limits)) => limits,
        Some(Either::A(word)) => match &*word {
            "async" => return Ok(Durability::default()),
            "group" => return Ok(Durability::Group),
            _ => return Err(invalid(format!("durability is {word:?}: it must be async or group"))),
        },
    };
    let Durability::Async { interval_ms: usual_ms, bytes: usual_bytes } = Durability::default()
    else {
        unreachable!("the default is asynchronous")
    };
    Ok(Durability::Async {
        interval_ms: interval_ms.map_or(Ok(usual_ms), |it| whole("durability.intervalMs", it))?,
        bytes: bytes.map_or(Ok(usual_bytes), |it| whole("durability.bytes", it))?,
    })
}

fn set<T>(field: &mut T, given: Option<T>) {
    if let Some(given) = given {
        *field = given;
    }
}

fn parse<T: FromStr<Err = spanlog::Error>>(field: &mut T, given: Option<&str>) -> Result<()> {
    set(field, given.map(str::parse).transpose()?);
    Ok(())
}

/// A whole number that JavaScript can hold exactly.
pub fn whole(name: &str, number: f64) -> Result<u64> {
    if number.fract() == 0.0 && (0.0..=MAX_SAFE).contains(&number) {
        return Ok(number as u64);
    }
    Err(invalid(format!("{name} is {number}: it must be a whole number from 0 to 2^53 - 1")))
}

/// As [`whole`], of 32 bits.
pub fn narrow(name: &str, number: f64) -> Result<u32> {
    let wide = whole(name, number)?;
    u32::try_from(wide).map_err(|_| invalid(format!("{name} is {number}: it must fit 32 bits")))
}
