//! Finding messages from the command line: by tag, time, key, id and position.
#![allow(clippy::disallowed_methods)]

mod command;

use command::{Place, run_with};
use serde_json::{Value, json};

/// Ten messages, one millisecond apart at least: `n0` to `n9`, all with the key `all`.
fn filled() -> (Place, Vec<Value>) {
    let place = Place::new();
    for number in 0..10 {
        let tag = if number % 2 == 0 { "even" } else { "odd" };
        let line = format!("append --topic t --queue {} --tags {tag}", number % 3);
        let mut words = place.words(&line);
        words.extend(["--keys".into(), format!("n{number} all"), format!("body {number}")]);
        run_with(&words, b"").text();
        std::thread::sleep(std::time::Duration::from_millis(2));
    }
    let all = place.run("read --json").objects();
    assert_eq!(all.len(), 10);
    (place, all)
}

fn bodies(objects: &[Value]) -> Vec<String> {
    let body = |message: &Value| message["body"].as_str().expect("a text").to_owned();
    objects.iter().map(body).collect()
}

fn expected(numbers: impl IntoIterator<Item = usize>) -> Vec<String> {
    numbers.into_iter().map(|number| format!("body {number}")).collect()
}

#[test]
fn reading_by_tag_and_from_a_time() {
    let (place, all) = filled();
    assert_eq!(bodies(&place.run("read --tags odd --json").objects()), expected([1, 3, 5, 7, 9]));
    let mut words = place.words("read --json");
    words.extend(["--tags".into(), "odd || even".into()]);
    assert_eq!(bodies(&run_with(&words, b"").objects()), expected(0..10));
    assert_eq!(place.run("read --tags none --json").objects().len(), 0);
    let time = all[6]["stored_ms"].as_i64().unwrap();
    for time in [time.to_string(), humantime_of(&place, 6)] {
        let line = format!("read --from-time {time} --json");
        assert_eq!(bodies(&place.run(&line).objects()), expected(6..10), "{time}");
        let line = format!("read --from-time {time} --tags even --topic t --json");
        assert_eq!(bodies(&place.run(&line).objects()), expected([6, 8]), "{time}");
    }
    assert_eq!(place.run("read --from-time 2999-01-01T00:00:00Z --json").objects().len(), 0);
    for wrong in ["--from-time yesterday", "--from-time 5 --from 3", "--tags ||"] {
        assert_eq!(place.run(&format!("read {wrong}")).code, 2, "{wrong}");
    }
}

/// The store time of a message as the command shows it.
fn humantime_of(place: &Place, number: usize) -> String {
    let text = place.run("read").text();
    let line = text.lines().nth(number).expect("a line");
    line.split_whitespace().next().expect("a time").to_owned()
}

#[test]
fn querying_by_key_id_and_tag() {
    let (place, all) = filled();
    assert_eq!(place.run("query --topic t n4 --json").objects(), [all[4].clone()]);
    let newest = place.run("query --topic t all --count 3 --json").objects();
    assert_eq!(bodies(&newest), expected([9, 8, 7]));
    let tagged = place.run("query --topic t --by tag odd --json").objects();
    assert_eq!(bodies(&tagged), expected([9, 7, 5, 3, 1]));
    let id = all[2]["properties"]["UNIQ_KEY"].as_str().unwrap();
    let by_id = place.run(&format!("query --topic t --by id {id} --json")).objects();
    assert_eq!(by_id, [all[2].clone()]);
    let (from, to) = (&all[3]["stored_ms"], &all[5]["stored_ms"]);
    let line = format!("query --topic t all --from-time {from} --to-time {to} --json");
    assert_eq!(bodies(&place.run(&line).objects()), expected([5, 4, 3]));
    assert!(place.run("query --topic t n4").text().contains("body 4"));
    assert_eq!(place.run("query --topic t none").text(), "");
    assert_eq!(place.run("query --topic other n4").text(), "");
    assert_eq!(place.run("query --topic t --count 0 n4").code, 2);
}

#[test]
fn getting_by_position_and_id() {
    let (place, all) = filled();
    let position = &all[7]["position"];
    assert_eq!(place.run(&format!("get {position} --json")).object(), all[7]);
    assert_eq!(place.run(&format!("get {position} --body")).text(), "body 7");
    let id = all[7]["properties"]["UNIQ_KEY"].as_str().unwrap();
    assert_eq!(place.run(&format!("get --topic t {id} --json")).object(), all[7]);
    let offset_id = format!("7F00000100002A9F{:016X}", position.as_u64().unwrap());
    assert_eq!(place.run(&format!("get --topic t {offset_id} --json")).object(), all[7]);
    for wrong in ["get 1", "get --topic u 7F00000100002A9F0000000000000000", "get nowhere"] {
        let error = place.run(&format!("{wrong} --json")).error(3);
        assert_eq!(error["kind"], json!("invalid"), "{wrong}");
    }
}

/// A broker's store is read as it is, by its own configuration, and not changed.
#[test]
fn a_store_that_is_only_read_stays_as_it_is() {
    let (place, _) = filled();
    let names = |place: &Place| {
        let mut names: Vec<_> = std::fs::read_dir(place.path("store/index"))
            .map(|files| files.map(|file| file.unwrap().file_name()).collect())
            .unwrap_or_default();
        names.sort();
        names
    };
    let before = names(&place);
    place.run("query --topic t all").text();
    assert_eq!(names(&place), before);
}
