// What a program in C++ may rely on.
#include <spanlog.hpp>

#include <poll.h>

#include <iostream>
#include <thread>
#include <type_traits>

#include "check.h"

static_assert(!std::is_copy_constructible_v<spanlog::Store>, "one owner");
static_assert(std::is_nothrow_move_constructible_v<spanlog::Store>, "it can move");
static_assert(std::is_nothrow_move_constructible_v<spanlog::Batch>, "it can move");

static spanlog::Batch read_and_close(const std::string &root) {
    spanlog::Store store(root);
    store.append(spanlog::Message("orders", 7, "tea").tags("drink").key("k1").key("k2").property(
        "region", "north"));
    store.catch_up();
    return store.read("orders", 7, 0);
}

static void a_batch_outlives_its_store(const std::string &folder) {
    const auto batch = read_and_close(folder + "/outlives");
    CHECK(batch.size() == 1 && !batch.empty() && batch.next() == 1 && batch.max() == 1);
    const auto message = *batch.begin();
    CHECK(message.body() == "tea" && message.tags() == "drink" && message.keys() == "k1 k2");
    CHECK(message.queue() == 7 && message.property("region") == "north");
    CHECK(!message.property("none") && message.unique_id().size() == 32);
}

static void errors_come_as_exceptions_or_as_values(const std::string &folder) {
    spanlog::Store store(folder + "/errors");
    try {
        store.append({"a/b", 0, "x"});
        FAIL("it was taken");
    } catch (const spanlog::Error &error) {
        CHECK(error.status() == SPANLOG_STATUS_INVALID && error.offset() == 1u);
        CHECK(!error.is_fatal() && !error.limit() && error.path().empty());
    }
    auto second = spanlog::Store::try_open(folder + "/errors");
    CHECK(!second && second.error().status() == SPANLOG_STATUS_LOCKED);
    CHECK(second.error().is_retriable() && !second.error().path().empty());
    auto receipt = store.try_append({"orders", 0, "x"});
    CHECK(receipt && receipt.value().queue_offset == 0);
    spanlog::Store moved = std::move(store);
    auto closed = store.try_append({"orders", 0, "x"});
    CHECK(!closed && closed.error().status() == SPANLOG_STATUS_INVALID);
    moved.close();
    CHECK(moved.try_append({"orders", 0, "x"}).error().status() == SPANLOG_STATUS_INVALID);
    spanlog::Store::destroy(folder + "/errors");
}

static void directories_have_marks_of_their_own(const std::string &folder) {
    spanlog_thresholds marks = SPANLOG_THRESHOLDS_INIT;
    marks.force = marks.clean = 0.5;
    spanlog::Options options;
    options.directory(folder + "/d0").directory(folder + "/d1", SPANLOG_ROLE_DRAINING, marks);
    options.raw.segment_len_bytes = 4096;
    spanlog::Store store(folder + "/disks", options);
    const auto disks = store.disks();
    CHECK(disks.size() == 2 && disks[0].path == folder + "/d0" && !disks[0].offline);
    CHECK(disks[1].raw.role == SPANLOG_ROLE_DRAINING && disks[1].raw.force == 0.5);
    CHECK(store.stats().directories == 2 && store.watermarks().start == 0);
    CHECK(!store.bounds("orders", 0));
}

static void a_watch_wakes_a_thread_and_a_descriptor(const std::string &folder) {
    spanlog::Store store(folder + "/watch");
    auto watch = store.watch("orders");
    CHECK(!watch.wait(std::chrono::milliseconds(0)));
    std::thread appender([&] { store.append({"orders", 3, "tea"}); });
    CHECK(watch.wait(std::chrono::seconds(20)));
    appender.join();
    pollfd ready = {watch.event_fd(), POLLIN, 0};
    CHECK(poll(&ready, 1, 0) == 1);
    watch.clear();
    CHECK(poll(&ready, 1, 0) == 0);
    CHECK(store.wait("orders", 3, 0, std::chrono::milliseconds(0)));
    CHECK(!store.wait("orders", 3, 1, std::chrono::milliseconds(0)));
    // Closing wakes whoever waits.
    std::thread closer([&] { store.close(); });
    try {
        while (watch.wait(std::chrono::seconds(20))) watch.clear();
        FAIL("nobody told");
    } catch (const spanlog::Error &error) {
        CHECK(error.status() == SPANLOG_STATUS_CLOSED);
    }
    closer.join();
}

static void a_cursor_commits_when_it_goes(const std::string &folder) {
    spanlog::Store store(folder + "/cursor");
    store.append({"orders", 2, "tea"});
    store.append({"orders", 2, "milk"});
    store.catch_up();
    {
        auto cursor = store.cursor("billing", "orders");
        auto watch = cursor.watch();
        const auto delivery = cursor.poll(std::chrono::seconds(20));
        CHECK(delivery.size() == 2 && delivery.overtaken().empty() && delivery.failures().empty());
        for (const auto message : delivery) {
            CHECK(message.queue() == 2 && message.attempt() == 1);
            if (message.body() == "tea") cursor.ack(message);
        }
        CHECK(cursor.lag().messages == 1);
        CHECK(cursor.poll(std::chrono::milliseconds(0)).empty());
        try {
            cursor.ack(2, 9);
            FAIL("it was never delivered");
        } catch (const spanlog::Error &error) {
            CHECK(error.status() == SPANLOG_STATUS_INVALID);
        }
    }
    auto cursor = store.cursor("billing", "orders");
    const auto rest = cursor.poll(std::chrono::milliseconds(0), 1);
    CHECK(rest.size() == 1 && (*rest.begin()).body() == "milk" && (*rest.begin()).attempt() == 2);
    cursor.ack_up_to(2, 2);
    cursor.commit();
    spanlog_seek start = SPANLOG_SEEK_INIT;
    start.kind = SPANLOG_SEEK_KIND_START;
    cursor.seek(start);
    CHECK(cursor.lag().messages == 2);
    store.close();
    CHECK(cursor.try_poll(std::chrono::seconds(0)).error().status() == SPANLOG_STATUS_CLOSED);
    cursor.close();
}

static void a_queue_gives_back_what_was_not_done(const std::string &folder) {
    spanlog_queue_options options = SPANLOG_QUEUE_OPTIONS_INIT;
    options.capacity_segments = 8;
    spanlog::Queue queue(folder + "/queue", options);
    CHECK(!spanlog::Queue::try_open(folder + "/queue", options));
    auto reader = queue.reader();
    pollfd ready = {reader.event_fd(), POLLIN, 0};
    CHECK(poll(&ready, 1, 0) == 0);
    const auto end = queue.push("tea");
    CHECK(queue.push({"milk", "sugar"}) > end && poll(&ready, 1, 0) == 1);
    CHECK(reader.peek()[0].payload() == "tea" && reader.backlog() == 3);
    const auto first = reader.pop(std::chrono::seconds(20), 1);
    CHECK(first.size() == 1 && first[0].end() == end && first[0].number() == 0);
    CHECK(reader.pop(std::chrono::milliseconds(0)).size() == 2);
    reader.clear_event();
    CHECK(poll(&ready, 1, 0) == 0 && reader.peek().empty());
    reader.commit(end);
    reader.rewind();
    std::string seen;
    for (const auto record : reader.pop(std::chrono::milliseconds(0))) seen += record.payload();
    CHECK(seen == "milksugar" && queue.stat().records == 2);
    queue.flush();
    queue.remove_reader("default");
    CHECK(reader.try_pop(std::chrono::seconds(0)).error().status() == SPANLOG_STATUS_CLOSED);
    queue.close();
    CHECK(queue.try_push("x").error().status() == SPANLOG_STATUS_INVALID);
    CHECK(first[0].payload() == "tea");
}

static void messages_are_looked_up(const std::string &folder) {
    spanlog::Store store(folder + "/lookups");
    store.append(spanlog::Message("orders", 0, "tea").tags("drink").key("k1").property(
        "UNIQ_KEY", "A0000000000000000000000000000000"));
    const auto second = store.append(spanlog::Message("orders", 0, "bread").tags("food").key("k1"));
    store.catch_up();
    CHECK(store.query("orders", "k1").size() == 2 && store.query("orders", "k2").empty());
    CHECK(store.query("orders", "k1")[0].body() == "bread");
    const auto found = store.find_by_id("orders", "A0000000000000000000000000000000");
    CHECK(found.size() == 1 && found[0].body() == "tea");
    const auto drinks = store.read("orders", 0, 0, "drink || sweet");
    CHECK(drinks.size() == 1 && drinks[0].body() == "tea" && drinks.next() == 2);
    CHECK(store.offset_at("orders", 0, second.store_ms + 1) == 2);
    CHECK(store.offset_at("orders", 0, second.store_ms, SPANLOG_BOUNDARY_UPPER) == 1);
}

static void cursors_are_listed_copied_and_deleted(const std::string &folder) {
    spanlog::Store store(folder + "/cursors");
    store.append(spanlog::Message("orders", 0, "tea"));
    store.catch_up();
    CHECK(store.cursors().empty());
    store.cursor("billing", "orders").close();
    store.copy_cursor("orders", "billing", "audit");
    spanlog_seek end = SPANLOG_SEEK_INIT;
    end.kind = SPANLOG_SEEK_KIND_END;
    store.reset_cursor("orders", "audit", end);
    const auto all = store.cursors();
    CHECK(all.size() == 2 && all[0].name == "audit" && all[1].name == "billing");
    CHECK(all[0].topic == "orders" && all[0].damage.empty() && !all[0].raw.is_open);
    CHECK(all[0].raw.lag_messages == 0 && all[1].raw.lag_messages == 1);
    const auto offsets = store.export_consumer_offsets();
    CHECK(offsets.find("\"orders@audit\":{0:1") != std::string::npos && offsets.back() == '}');
    store.delete_cursor("orders", "audit");
    CHECK(store.cursors().size() == 1 && store.import_consumer_offsets(offsets) == 2);
    CHECK(store.cursors().size() == 2);
}

static void damage_is_found_and_mended(const std::string &folder) {
    const auto root = folder + "/damaged";
    {
        spanlog::Store store(root);
        for (const auto *body : {"first", "second"}) store.append({"orders", 0, body});
    }
    CHECK(spanlog::Verification(root).verdict().is_sound);
    FILE *segment = fopen((root + "/commitlog/00000000000000000000").c_str(), "r+b");
    CHECK(segment && fseek(segment, 90, SEEK_SET) == 0 && fputc(0, segment) == 0);
    CHECK(fclose(segment) == 0);
    int told = 0;
    const spanlog::Verification found(root, {}, [&](const spanlog_progress &) { told++; });
    CHECK(!found.verdict().is_sound && found.findings().size() == 1 && told > 0);
    CHECK(found.findings()[0].raw.is_damage && !found.findings()[0].text.empty());
    spanlog::Repair repair(found);
    const auto actions = repair.actions();
    CHECK(actions.size() == 2 && actions[0].raw.kind == SPANLOG_ACTION_KIND_PAD);
    CHECK(!actions[0].path.empty() && repair.beyond().empty() && repair.apply().size() == 1);
    try {
        repair.apply();
        FAIL("it was applied before");
    } catch (const spanlog::Error &error) {
        CHECK(error.status() == SPANLOG_STATUS_INVALID);
    }
    const spanlog::Verification again(root);
    CHECK(again.verdict().is_sound && spanlog::Repair(again).actions().empty());
}

int main(int argc, char **argv) {
    if (argc != 2) FAIL("usage: %s FOLDER", argv[0]);
    a_batch_outlives_its_store(argv[1]);
    errors_come_as_exceptions_or_as_values(argv[1]);
    directories_have_marks_of_their_own(argv[1]);
    a_watch_wakes_a_thread_and_a_descriptor(argv[1]);
    a_cursor_commits_when_it_goes(argv[1]);
    a_queue_gives_back_what_was_not_done(argv[1]);
    messages_are_looked_up(argv[1]);
    cursors_are_listed_copied_and_deleted(argv[1]);
    damage_is_found_and_mended(argv[1]);
    return done();
}
