//! What a broker's configuration means, and what is refused in it.

use super::*;

fn parse(text: &str) -> spanlog::Result<Conf> {
    Conf::parse(format!("storePathRootDir=/s\n{text}").as_bytes(), Path::new("broker.conf"))
}

fn options(text: &str) -> Options {
    parse(text).unwrap_or_else(|error| panic!("{text:?}: {error}")).options
}

fn directories(text: &str) -> Vec<(String, Role)> {
    let rows = options(text).directories.into_iter();
    rows.map(|row| (row.path.display().to_string(), row.role.unwrap())).collect()
}

#[test]
fn a_broker_conf_as_people_write_it() {
    let text = "# a broker\nbrokerClusterName = DefaultCluster\nbrokerName=broker-a\n\
        brokerIP1=10.1.2.3\nlistenPort=20911\nstorePathCommitLog=/d0/log, /d1/log ,/d2/log\n\
        readOnlyCommitLogStorePaths=/d9/log\nmappedFileSizeCommitLog=1073741824\n\
        mappedFileSizeConsumeQueue=6000010\nflushDiskType=SYNC_FLUSH\nfileReservedTime=48\n\
        deleteWhen=04;16\ndiskMaxUsedSpaceRatio=70\ndiskSpaceCleanForciblyRatio=80\n\
        diskSpaceWarningLevelRatio=88\ncleanFileForciblyEnable=false\nmaxMessageSize=65536\n\
        enabledAppendPropCRC=TRUE\n";
    let found = options(text);
    let mut expected = Options::new()
        .directory(DirectoryOptions::new("/d0/log").role(Role::ReadWrite))
        .directory(DirectoryOptions::new("/d1/log").role(Role::ReadWrite))
        .directory(DirectoryOptions::new("/d2/log").role(Role::ReadWrite))
        .directory(DirectoryOptions::new("/d9/log").role(Role::Draining))
        .queue_file_len_bytes(6_000_020)
        .durability(Durability::Group)
        .retention_ms(48 * 3_600_000)
        .delete_hours("4;16".parse().unwrap())
        .forced_clean(false)
        .max_body_bytes(65_536)
        .store_host("10.1.2.3:20911".parse().unwrap());
    expected.thresholds =
        Thresholds { clean: 0.7, force: 0.8, refuse: 0.88, ..expected.thresholds };
    assert_eq!(found, expected);
    assert!(found.validate().is_ok());
}

/// A broker takes its index files for what its configuration says, so both sizes are always known
/// where they are not those of the default.
#[test]
fn sizes_of_the_index() {
    let sizes = |text: &str| {
        let options = options(text);
        (options.key_index, options.index_slots, options.index_entries)
    };
    assert_eq!(sizes("messageIndexEnable=false"), (false, None, None));
    assert_eq!(sizes("maxHashSlotNum=50"), (true, Some(50), Some(20_000_000)));
    assert_eq!(sizes("maxIndexNum=200\nmaxHashSlotNum=50"), (true, Some(50), Some(200)));
    let short = sizes("mappedFileSizeCommitLog=16384");
    assert_eq!(short, (true, Some(5_000_000), Some(20_000_000)));
    for text in ["maxHashSlotNum=0", "maxIndexNum=1", "maxIndexNum=200000000"] {
        assert_eq!(parse(text).unwrap_err().kind(), ErrorKind::Invalid, "{text}");
    }
}

#[test]
fn nothing_said_is_the_default() {
    assert_eq!(options("brokerName=a\nfoo=bar\n"), Options::new());
    assert_eq!(parse("").unwrap().root, Path::new("/s"));
    let conf = Conf::parse(b"", Path::new("broker.conf")).unwrap();
    assert!(conf.root.ends_with("store"));
}

/// Hazard: RocketMQ makes one directory of the whole list, and does not trim its entries.
#[test]
fn path_lists() {
    let write = |paths: &[&str]| -> Vec<(String, Role)> {
        paths.iter().map(|path| ((*path).to_owned(), Role::ReadWrite)).collect()
    };
    let rows: [(&str, &[&str]); 7] = [
        ("/a", &["/a"]),
        ("/a,/b", &["/a", "/b"]),
        ("/a, /b ,\t/c", &["/a", "/b", "/c"]),
        ("/a,", &["/a"]),
        ("/a,/b, ,", &["/a", "/b"]),
        ("/a,/a", &["/a"]),
        ("/a b,\\\n  /c", &["/a b", "/c"]),
    ];
    for (text, paths) in rows {
        assert_eq!(directories(&format!("storePathCommitLog={text}\n")), write(paths), "{text:?}");
    }
    for text in ["", ",", "/a,,/b", ",/a"] {
        let error = parse(&format!("\nstorePathCommitLog={text}")).unwrap_err();
        assert!(error.message().starts_with("line 3: storePathCommitLog"), "{error}");
    }
}

/// Hazard: with a single writable path RocketMQ does not even load the read-only ones.
#[test]
fn read_only_paths_drain() {
    let one = directories("readOnlyCommitLogStorePaths=/old\n");
    let commitlog = ("/s/commitlog".to_owned(), Role::ReadWrite);
    assert_eq!(one, [commitlog, ("/old".to_owned(), Role::Draining)]);
    let both = directories("storePathCommitLog=/a,/b\nreadOnlyCommitLogStorePaths = /b\n");
    assert_eq!(both, [("/a".to_owned(), Role::ReadWrite), ("/b".to_owned(), Role::Draining)]);
    assert_eq!(directories("readOnlyCommitLogStorePaths=\n"), []);
}

#[test]
fn bad_values_name_line_key_and_value() {
    let rows = [
        ("mappedFileSizeCommitLog=1G", "from 4096"),
        ("mappedFileSizeCommitLog=1024", "from 4096"),
        ("mappedFileSizeCommitLog=2147483648", "2147483647"),
        ("mappedFileSizeConsumeQueue=0", "from 20"),
        ("flushDiskType=SYNC", "SYNC_FLUSH"),
        ("fileReservedTime=0.1", "hours"),
        ("fileReservedTime=-1", "hours"),
        ("fileReservedTime=72h", "hours"),
        ("deleteWhen=04:30", "';'"),
        ("deleteWhen=24", "';'"),
        ("deleteWhen=", "';'"),
        ("diskMaxUsedSpaceRatio=0.75", "percent"),
        ("diskMaxUsedSpaceRatio=96", "from 10 to 95"),
        ("diskSpaceCleanForciblyRatio=86", "from 30 to 85"),
        ("diskSpaceWarningLevelRatio=95", "from 35 to 90"),
        ("cleanFileForciblyEnable=yes", "true or false"),
        ("maxMessageSize=0", "from 1"),
        ("enabledAppendPropCRC=1", "true or false"),
        ("listenPort=70000", "65535"),
        ("enableDLegerCommitLog=true", "DLedger"),
        ("storeType=defaultRocksDB", "RocksDB"),
        ("storePathRootDir=", "a path"),
    ];
    for (text, part) in rows {
        let error = parse(&format!("# c\n\n{text}\n")).unwrap_err();
        let (key, value) = text.split_once('=').unwrap();
        let expected = format!("line 4: {key} is {value:?}: it must be ");
        assert!(error.message().starts_with(&expected), "{text}: {error}");
        assert!(error.message().contains(part), "{text}: {error}");
        assert_eq!(error.kind(), ErrorKind::Invalid);
        assert_eq!(error.path(), Some(Path::new("broker.conf")));
    }
}

/// Hazard: a blank nobody sees at the end of a path makes another directory.
#[test]
fn invisible_characters() {
    let trimmed = options("storePathCommitLog=/a \t\nfileReservedTime=5 \n");
    assert_eq!(trimmed.directories[0].path, Path::new("/a"));
    assert_eq!(trimmed.retention_ms, 5 * 3_600_000);
    let rows = ["/a\\u200b", "/a\\u0000b", "/\\u00a0a", "/a\\u0007"];
    for text in rows {
        let error = parse(&format!("storePathCommitLog={text}")).unwrap_err();
        assert!(error.message().contains("invisible character U+"), "{error}");
    }
    let error = parse("storePathCommitLog=/caf\u{e9}").unwrap_err();
    assert!(error.message().contains("Latin-1"), "{error}");
    assert_eq!(
        options("storePathCommitLog=/caf\\u00e9").directories[0].path,
        Path::new("/caf\u{e9}")
    );
    let error = parse("fileReservedTime\\u200b=5").unwrap_err();
    assert!(error.message().contains("the key fileReservedTime has invisible"), "{error}");
    let marked = Conf::parse(b"\xEF\xBB\xBFstorePathRootDir=/r", Path::new("f")).unwrap();
    assert_eq!(marked.root, Path::new("/r"));
}

#[test]
fn names_are_spelled_as_the_broker_spells_them() {
    assert_eq!(options("filereservedtime=1\nfileReserveTime=1\nbrokerIP2=x\n"), Options::new());
}

#[test]
fn the_last_of_two_counts() {
    assert_eq!(options("fileReservedTime=1\nfileReservedTime=2").retention_ms, 2 * 3_600_000);
}

#[test]
fn flushing_does_not_depend_on_the_order_of_lines() {
    let expected = Durability::Async { interval_ms: 100, bytes: 16 << 20 };
    for text in [
        "flushIntervalCommitLog=100\nflushDiskType=ASYNC_FLUSH",
        "flushDiskType=ASYNC_FLUSH\nflushIntervalCommitLog=100",
    ] {
        assert_eq!(options(text).durability, expected);
    }
}

#[test]
fn an_order_that_cannot_be_names_its_line() {
    let conf = parse("\ndiskMaxUsedSpaceRatio=88").unwrap();
    let error = conf.check_order(&conf.options.thresholds).unwrap_err();
    assert!(error.message().starts_with("line 3: diskMaxUsedSpaceRatio is \"88\""), "{error}");
    let lowered = Thresholds { clean: 0.8, ..conf.options.thresholds };
    assert!(conf.check_order(&lowered).is_ok());
    assert!(parse("").unwrap().check_order(&Thresholds { clean: 0.9, ..lowered }).is_ok());
}
