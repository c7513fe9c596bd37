/* What a consumer in C may rely on: cursors and deliveries, each told as a short story. */
#include "check.h"

#include <poll.h>
#include <pthread.h>

static char folder[4096];
static spanlog_error *error;

static spanlog_store *open_in(const char *name) {
    char root[4200];
    snprintf(root, sizeof(root), "%s/%s", folder, name);
    spanlog_options options = SPANLOG_OPTIONS_INIT;
    options.segment_len_bytes = 4096;
    options.background = SPANLOG_SWITCH_OFF;
    spanlog_store *store = NULL;
    WELL(spanlog_store_open(root, &options, &store, &error), error);
    return store;
}

static void append(spanlog_store *store, uint32_t queue, const char *body) {
    spanlog_message message = SPANLOG_MESSAGE_INIT;
    message.topic = "orders";
    message.queue = queue;
    message.body = body;
    message.body_len = strlen(body);
    WELL(spanlog_store_append(store, &message, NULL, &error), error);
    WELL(spanlog_store_catch_up(store, &error), error);
}

static spanlog_cursor *cursor_of(spanlog_store *store, uint64_t visibility_ms) {
    spanlog_cursor_options options = SPANLOG_CURSOR_OPTIONS_INIT;
    options.visibility_ms = visibility_ms;
    spanlog_cursor *cursor = NULL;
    WELL(spanlog_store_cursor(store, "billing", "orders", &options, &cursor, &error), error);
    return cursor;
}

/* The bodies that one poll gives, each with its attempt: "tea1 milk1 ". */
static const char *polled(spanlog_cursor *cursor, int64_t timeout_ms) {
    static char text[1024];
    spanlog_delivery *delivery = NULL;
    size_t count = 0, len = 0;
    WELL(spanlog_cursor_poll(cursor, NULL, timeout_ms, &delivery, &error), error);
    const spanlog_delivered *messages = spanlog_delivery_messages(delivery, &count);
    text[0] = '\0';
    for (size_t at = 0; at < count; at++) {
        spanlog_bytes body = messages[at].message.body;
        len += (size_t)snprintf(text + len, sizeof(text) - len, "%.*s%u ", (int)body.len, body.data,
                                messages[at].attempt);
    }
    CHECK(spanlog_delivery_failures(delivery, &count) == NULL || count == 0);
    spanlog_delivery_free(delivery);
    return text;
}

#define GIVES(cursor, expected)                                                  \
    do {                                                                         \
        const char *gave_ = polled(cursor, 0);                                   \
        if (strcmp(gave_, expected) != 0) FAIL("gave %s, not %s", gave_, expected); \
    } while (0)

static uint64_t lag(spanlog_cursor *cursor) {
    spanlog_lag found = SPANLOG_LAG_INIT;
    WELL(spanlog_cursor_lag(cursor, &found, &error), error);
    CHECK(found.has_age == (found.messages > 0) && (found.bytes > 0) == (found.messages > 0));
    return found.messages;
}

static void what_is_not_acknowledged_comes_again(void) {
    spanlog_store *store = open_in("again");
    spanlog_cursor *cursor = cursor_of(store, 1);
    append(store, 0, "tea");
    append(store, 0, "milk");
    append(store, 3, "sugar");
    GIVES(cursor, "tea1 milk1 sugar1 ");
    WELL(spanlog_cursor_ack(cursor, 0, 1, &error), error);
    CHECK(lag(cursor) == 2);
    int64_t due_ms = 0;
    CHECK(spanlog_cursor_next_due(cursor, &due_ms, NULL) == SPANLOG_STATUS_OK && due_ms > 1);
    char again[32];
    snprintf(again, sizeof(again), "%s", polled(cursor, -1));
    CHECK(strcmp(again, "tea2 ") == 0 || strcmp(again, "tea2 sugar2 ") == 0 ||
          strcmp(again, "sugar2 ") == 0 || strcmp(again, "sugar2 tea2 ") == 0);
    WELL(spanlog_cursor_ack_up_to(cursor, 0, 2, &error), error);
    WELL(spanlog_cursor_ack(cursor, 3, 0, &error), error);
    CHECK(lag(cursor) == 0);
    CHECK(spanlog_cursor_next_due(cursor, &due_ms, NULL) == SPANLOG_STATUS_END);
    CHECK(spanlog_cursor_ack(cursor, 0, 9, &error) == SPANLOG_STATUS_INVALID);
    spanlog_error_free(error);
    WELL(spanlog_cursor_close(cursor, &error), error);
    WELL(spanlog_store_close(store, &error), error);
}

static void what_was_committed_stays_done(void) {
    spanlog_store *store = open_in("commit");
    append(store, 0, "tea");
    append(store, 0, "milk");
    spanlog_cursor *cursor = cursor_of(store, 0), *second = NULL;
    CHECK(spanlog_store_cursor(store, "billing", "orders", NULL, &second, &error) ==
          SPANLOG_STATUS_LOCKED);
    spanlog_error_free(error);
    GIVES(cursor, "tea1 milk1 ");
    WELL(spanlog_cursor_ack(cursor, 0, 0, &error), error);
    WELL(spanlog_cursor_commit(cursor, &error), error);
    /* Closing the store commits what its cursors have acknowledged. */
    WELL(spanlog_cursor_ack(cursor, 0, 1, &error), error);
    WELL(spanlog_store_close(store, &error), error);
    CHECK(spanlog_cursor_ack(cursor, 0, 1, NULL) == SPANLOG_STATUS_CLOSED);
    CHECK(spanlog_cursor_close(cursor, NULL) == SPANLOG_STATUS_OK);
    CHECK(spanlog_cursor_close(cursor, NULL) == SPANLOG_STATUS_CLOSED);
    store = open_in("commit");
    cursor = cursor_of(store, 0);
    append(store, 0, "sugar");
    GIVES(cursor, "sugar1 ");
    WELL(spanlog_cursor_close(cursor, &error), error);
    WELL(spanlog_store_close(store, &error), error);
}

static void seek_to(spanlog_cursor *cursor, int32_t kind, uint64_t offset, int64_t time_ms) {
    spanlog_seek seek = SPANLOG_SEEK_INIT;
    seek.kind = kind;
    seek.offset = offset;
    seek.time_ms = time_ms;
    WELL(spanlog_cursor_seek(cursor, &seek, &error), error);
}

static void a_cursor_goes_elsewhere(void) {
    spanlog_store *store = open_in("seek");
    append(store, 0, "tea");
    append(store, 0, "milk");
    spanlog_cursor *cursor = cursor_of(store, 0);
    seek_to(cursor, SPANLOG_SEEK_KIND_END, 0, 0);
    GIVES(cursor, "");
    seek_to(cursor, SPANLOG_SEEK_KIND_OFFSET, 1, 0);
    GIVES(cursor, "milk1 ");
    seek_to(cursor, SPANLOG_SEEK_KIND_TIME, 0, INT64_MAX);
    GIVES(cursor, "");
    seek_to(cursor, SPANLOG_SEEK_KIND_START, 0, 0);
    GIVES(cursor, "tea1 milk1 ");
    spanlog_seek wrong = SPANLOG_SEEK_INIT;
    CHECK(spanlog_cursor_seek(cursor, &wrong, NULL) == SPANLOG_STATUS_INVALID);
    wrong.kind = SPANLOG_SEEK_KIND_OFFSET;
    wrong.offset = 3;
    CHECK(spanlog_cursor_seek(cursor, &wrong, &error) == SPANLOG_STATUS_INVALID);
    uint64_t limit = 0;
    CHECK(spanlog_error_limit(error, &limit) && limit == 2);
    spanlog_error_free(error);
    WELL(spanlog_cursor_close(cursor, &error), error);
    WELL(spanlog_store_close(store, &error), error);
}

static void cursors_are_listed_copied_reset_and_deleted(void) {
    spanlog_store *store = open_in("all");
    append(store, 2, "tea");
    spanlog_cursor *cursor = cursor_of(store, 0);
    GIVES(cursor, "tea1 ");
    WELL(spanlog_cursor_ack(cursor, 2, 0, &error), error);
    spanlog_seek start = SPANLOG_SEEK_INIT;
    start.kind = SPANLOG_SEEK_KIND_START;
    CHECK(spanlog_store_reset_cursor(store, "orders", "billing", &start, NULL) ==
          SPANLOG_STATUS_LOCKED);
    spanlog_list *list = NULL;
    spanlog_cursor_queue row = SPANLOG_CURSOR_QUEUE_INIT;
    WELL(spanlog_cursor_queues(cursor, &list, &error), error);
    CHECK(spanlog_list_cursor_queue(list, 0, &row, NULL) == SPANLOG_STATUS_OK);
    CHECK(row.queue == 2 && row.acknowledged == 1 && row.committed == 0 && row.max == 1);
    spanlog_list_free(list);
    WELL(spanlog_cursor_close(cursor, &error), error);
    WELL(spanlog_store_copy_cursor(store, "orders", "billing", "audit", &error), error);
    WELL(spanlog_store_reset_cursor(store, "orders", "billing", &start, &error), error);
    WELL(spanlog_store_cursors(store, &list, &error), error);
    CHECK(spanlog_list_count(list) == 2);
    spanlog_cursor_info info = SPANLOG_CURSOR_INFO_INIT;
    CHECK(spanlog_list_cursor(list, 1, &info, NULL) == SPANLOG_STATUS_OK);
    CHECK(strcmp(info.name, "billing") == 0 && info.lag_messages == 1 && !info.is_open);
    CHECK(spanlog_list_cursor(list, 0, &info, NULL) == SPANLOG_STATUS_OK);
    CHECK(strcmp(info.name, "audit") == 0 && info.lag_messages == 0 && info.queues == 1);
    CHECK(strcmp(info.topic, "orders") == 0 && info.damage == NULL && info.hold_age_ms == 0);
    spanlog_list_free(list);
    WELL(spanlog_store_cursor_queues(store, "orders", "audit", &list, &error), error);
    CHECK(spanlog_list_cursor_queue(list, 0, &row, NULL) == SPANLOG_STATUS_OK);
    CHECK(row.committed == 1 && row.lag_messages == 0);
    spanlog_list_free(list);
    WELL(spanlog_store_delete_cursor(store, "orders", "audit", &error), error);
    CHECK(spanlog_store_delete_cursor(store, "orders", "audit", NULL) == SPANLOG_STATUS_INVALID);
    WELL(spanlog_store_close(store, &error), error);
}

static void offsets_are_exchanged_with_a_broker(void) {
    static const char given[] = "{\"offsetTable\":{\"orders@shop\":{0:1}}}";
    spanlog_store *store = open_in("broker");
    append(store, 0, "tea");
    uint64_t count = 0;
    WELL(spanlog_store_import_consumer_offsets(store, given, sizeof(given) - 1, &count, &error),
         error);
    CHECK(count == 1);
    char text[256] = "untouched";
    size_t needed = 0;
    CHECK(spanlog_store_export_consumer_offsets(store, NULL, 0, &needed, NULL) ==
          SPANLOG_STATUS_TOO_SMALL);
    CHECK(spanlog_store_export_consumer_offsets(store, text, needed - 1, &needed, NULL) ==
          SPANLOG_STATUS_TOO_SMALL);
    CHECK(strcmp(text, "untouched") == 0);
    WELL(spanlog_store_export_consumer_offsets(store, text, needed, &needed, &error), error);
    CHECK(strlen(text) + 1 == needed && strstr(text, "orders@shop") != NULL);
    CHECK(spanlog_store_import_consumer_offsets(store, "{", 1, NULL, &error) ==
          SPANLOG_STATUS_INVALID);
    spanlog_error_free(error);
    WELL(spanlog_store_close(store, &error), error);
}

static void a_delivery_outlives_its_store(void) {
    spanlog_store *store = open_in("outlives");
    append(store, 0, "tea");
    spanlog_cursor *cursor = cursor_of(store, 0);
    spanlog_delivery *delivery = NULL;
    WELL(spanlog_cursor_poll(cursor, NULL, 0, &delivery, &error), error);
    WELL(spanlog_store_close(store, &error), error);
    WELL(spanlog_cursor_close(cursor, &error), error);
    size_t count = 0;
    const spanlog_delivered *messages = spanlog_delivery_messages(delivery, &count);
    CHECK(count == 1 && memcmp(messages[0].message.body.data, "tea", 3) == 0);
    CHECK(spanlog_delivery_overtaken(delivery, &count) != NULL && count == 0);
    spanlog_delivery_free(delivery);
    CHECK(spanlog_delivery_messages(delivery, &count) == NULL && count == 0);
}

static void what_retention_took_is_told_once(void) {
    spanlog_store *store = open_in("gone");
    spanlog_cursor *cursor = cursor_of(store, 0);
    char body[1000];
    memset(body, 'x', sizeof(body));
    body[sizeof(body) - 1] = '\0';
    for (int at = 0; at < 12; at++) append(store, 0, body);
    /* A directory that is said to be full: all but the last segment go. */
    char path[4300];
    snprintf(path, sizeof(path), "%s/gone/commitlog", folder);
    WELL(spanlog_store_set_usage(store, path, 90, 10, &error), error);
    WELL(spanlog_store_run(store, SPANLOG_TASK_PROBE, NULL, &error), error);
    for (int at = 0; at < 12; at++) {
        WELL(spanlog_store_run(store, SPANLOG_TASK_CLEAN, NULL, &error), error);
    }
    spanlog_bounds bounds;
    WELL(spanlog_store_bounds(store, "orders", 0, &bounds, &error), error);
    CHECK(bounds.min > 0);
    spanlog_delivery *delivery = NULL;
    WELL(spanlog_cursor_poll(cursor, NULL, 0, &delivery, &error), error);
    size_t count = 0;
    const spanlog_overtaken *gone = spanlog_delivery_overtaken(delivery, &count);
    CHECK(count == 1 && gone->queue == 0 && gone->from == 0 && gone->to == bounds.min);
    const spanlog_delivered *messages = spanlog_delivery_messages(delivery, &count);
    CHECK(count == bounds.max - bounds.min && messages[0].message.queue_offset == bounds.min);
    spanlog_delivery_free(delivery);
    CHECK(spanlog_cursor_poll(cursor, NULL, 0, &delivery, NULL) == SPANLOG_STATUS_TIMEOUT);
    CHECK(delivery == NULL);
    WELL(spanlog_cursor_close(cursor, &error), error);
    WELL(spanlog_store_close(store, &error), error);
}

static void *poll_for_ever(void *cursor) {
    spanlog_delivery *delivery = NULL;
    spanlog_status status = spanlog_cursor_poll(cursor, NULL, -1, &delivery, NULL);
    spanlog_delivery_free(delivery);
    return (void *)(intptr_t)status;
}

static void a_poll_is_woken(void) {
    spanlog_store *store = open_in("woken");
    spanlog_cursor *cursor = cursor_of(store, 0);
    spanlog_watch *watch = NULL;
    WELL(spanlog_cursor_watch(cursor, &watch, &error), error);
    WELL(spanlog_watch_clear(watch, &error), error);
    struct pollfd ready = {-1, POLLIN, 0};
    WELL(spanlog_watch_event_fd(watch, &ready.fd, &error), error);
    CHECK(poll(&ready, 1, 0) == 0);
    pthread_t thread;
    void *status = NULL;
    CHECK(pthread_create(&thread, NULL, poll_for_ever, cursor) == 0);
    append(store, 0, "tea");
    CHECK(pthread_join(thread, &status) == 0 && (intptr_t)status == SPANLOG_STATUS_OK);
    CHECK(poll(&ready, 1, 0) == 1);
    /* Closing the cursor wakes whoever polls it, and so does closing the store. */
    CHECK(pthread_create(&thread, NULL, poll_for_ever, cursor) == 0);
    WELL(spanlog_cursor_close(cursor, &error), error);
    CHECK(pthread_join(thread, &status) == 0 && (intptr_t)status == SPANLOG_STATUS_CLOSED);
    cursor = cursor_of(store, 0);
    CHECK(strcmp(polled(cursor, 0), "tea2 ") == 0);
    CHECK(pthread_create(&thread, NULL, poll_for_ever, cursor) == 0);
    WELL(spanlog_store_close(store, &error), error);
    CHECK(pthread_join(thread, &status) == 0 && (intptr_t)status == SPANLOG_STATUS_CLOSED);
    WELL(spanlog_cursor_close(cursor, &error), error);
    spanlog_watch_free(watch);
}

#define STORY(name) {#name, name}

int main(int argc, char **argv) {
    static const struct {
        const char *name;
        void (*run)(void);
    } stories[] = {
        STORY(what_is_not_acknowledged_comes_again),
        STORY(what_was_committed_stays_done),
        STORY(a_cursor_goes_elsewhere),
        STORY(cursors_are_listed_copied_reset_and_deleted),
        STORY(offsets_are_exchanged_with_a_broker),
        STORY(a_delivery_outlives_its_store),
        STORY(what_retention_took_is_told_once),
        STORY(a_poll_is_woken),
    };
    if (argc != 2) FAIL("usage: %s FOLDER", argv[0]);
    snprintf(folder, sizeof(folder), "%s", argv[1]);
    for (size_t at = 0; at < sizeof(stories) / sizeof(*stories); at++) {
        fprintf(stderr, "%s\n", stories[at].name);
        stories[at].run();
    }
    return done();
}
