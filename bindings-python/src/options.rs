//! Keywords of `spanlog.open` as the engine's options.

use std::path::PathBuf;
use std::str::FromStr;

use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString};
use spanlog::{DirectoryOptions, Durability, Options, Role, Thresholds};

use crate::draft::parse_host;
use crate::errors::raised;

/// The marks of a disk: any object with these attributes, as `spanlog.Thresholds` has them.
#[derive(FromPyObject)]
pub struct Marks {
    clean: f64,
    force: f64,
    refuse: f64,
    floor_bytes: u64,
    hysteresis: f64,
}

impl From<Marks> for Thresholds {
    fn from(marks: Marks) -> Self {
        let Marks { clean, force, refuse, floor_bytes, hysteresis } = marks;
        Self { clean, force, refuse, floor_bytes, hysteresis }
    }
}

/// A directory as `spanlog.Directory` says it.
#[derive(FromPyObject)]
struct Place {
    path: PathBuf,
    role: Option<String>,
    thresholds: Option<Marks>,
}

/// A directory: a path, or a `spanlog.Directory`.
pub fn directory(object: &Bound<'_, PyAny>) -> PyResult<DirectoryOptions> {
    if let Ok(path) = object.extract::<PathBuf>() {
        return Ok(DirectoryOptions::new(path));
    }
    let place: Place = object.extract()?;
    let role = place.role.map(|role| named::<Role>(&role)).transpose()?;
    Ok(DirectoryOptions { path: place.path, role, thresholds: place.thresholds.map(Into::into) })
}

/// A choice by its name.
pub fn named<T: FromStr<Err = spanlog::Error>>(text: &str) -> PyResult<T> {
    text.parse().map_err(raised)
}

/// A choice by the name in an object.
pub fn choice<T: FromStr<Err = spanlog::Error>>(value: &Bound<'_, PyAny>) -> PyResult<T> {
    named(value.extract()?)
}

/// Sets the named options, each extracted from its keyword.
macro_rules! set {
    ($options:ident, $name:ident, $value:ident; $($field:ident)*; $($chosen:ident)*) => {
        match $name {
            $(stringify!($field) => $options.$field = $value.extract()?,)*
            $(stringify!($chosen) => $options.$chosen = choice($value)?,)*
            "thresholds" => $options.thresholds = $value.extract::<Marks>()?.into(),
            "store_host" => $options.store_host = parse_host($name, $value.extract()?)?,
            other => {
                let text = format!("open() got an unexpected keyword argument {other:?}");
                return Err(PyTypeError::new_err(text));
            }
        }
    };
}

/// The options that the keywords of a call say. None leaves the default.
pub fn options(
    paths: Option<&Bound<'_, PyAny>>,
    keywords: Option<&Bound<'_, PyDict>>,
) -> PyResult<Options> {
    let mut options = Options::new();
    options.directories = directories(paths)?;
    let Some(keywords) = keywords else { return Ok(options) };
    options.durability = durability(keywords)?;
    for (name, value) in keywords {
        let name: &str = name.extract()?;
        let value = &value;
        if value.is_none() || matches!(name, "durability" | "flush_interval_ms" | "flush_bytes") {
            continue;
        }
        set!(options, name, value;
            segment_len_bytes queue_file_len_bytes key_index index_slots index_entries
            retention_ms forced_clean max_forced_per_round
            clean_pause_ms probe_interval_ms clean_interval_ms refuse_reads_when_full
            record_checksum max_body_bytes max_maps allow_offline adopt read_only create
            checkpoint_interval_ms prepare_bytes background;
            placement clean_on force_on refuse_on delete_hours on_damage);
    }
    Ok(options)
}

/// The directories that a list names.
pub fn directories(paths: Option<&Bound<'_, PyAny>>) -> PyResult<Vec<DirectoryOptions>> {
    let Some(paths) = paths else { return Ok(Vec::new()) };
    if paths.is_instance_of::<PyString>() {
        return Err(PyTypeError::new_err("paths is a list of directories, not one path"));
    }
    paths.try_iter()?.map(|path| directory(&path?)).collect()
}

/// When appends are durable: a name, and for "async" its two limits.
fn durability(keywords: &Bound<'_, PyDict>) -> PyResult<Durability> {
    let given = |name: &str| -> PyResult<Option<Bound<'_, PyAny>>> {
        Ok(keywords.get_item(name)?.filter(|value| !value.is_none()))
    };
    let number = |name: &str, default: u64| -> PyResult<u64> {
        given(name)?.map_or(Ok(default), |value| value.extract())
    };
    let is_group = match given("durability")? {
        None => false,
        Some(value) => match value.extract()? {
            "async" => false,
            "group" => true,
            other => {
                let text = format!("durability is {other:?}: it must be async or group");
                return Err(PyValueError::new_err(text));
            }
        },
    };
    let limited = given("flush_interval_ms")?.is_some() || given("flush_bytes")?.is_some();
    match is_group {
        true if limited => {
            let text = "flush_interval_ms and flush_bytes belong to durability \"async\"";
            Err(PyValueError::new_err(text))
        }
        true => Ok(Durability::Group),
        false => Ok(Durability::Async {
            interval_ms: number("flush_interval_ms", 500)?,
            bytes: number("flush_bytes", 16 << 20)?,
        }),
    }
}
