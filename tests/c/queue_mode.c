/* What a program in C may rely on: queue mode, and mending a store, each told as a short story. */
#include "check.h"

#include <poll.h>
#include <pthread.h>

static char folder[4096];
static spanlog_error *error;

static spanlog_queue_options small(void) {
    spanlog_queue_options options = SPANLOG_QUEUE_OPTIONS_INIT;
    options.segment_len_bytes = 4096;
    options.capacity_segments = 4;
    options.max_in_memory_segments = 4;
    options.background = SPANLOG_SWITCH_OFF;
    return options;
}

static const char *in_folder(const char *name) {
    static char path[4200];
    snprintf(path, sizeof(path), "%s/%s", folder, name);
    return path;
}

static spanlog_queue *open_in(const char *name, spanlog_queue_options options) {
    spanlog_queue *queue = NULL;
    WELL(spanlog_queue_open(in_folder(name), &options, &queue, &error), error);
    return queue;
}

static spanlog_reader *reader_of(spanlog_queue *queue, const char *name) {
    spanlog_reader *reader = NULL;
    WELL(spanlog_queue_reader(queue, name, &reader, &error), error);
    return reader;
}

static uint64_t push(spanlog_queue *queue, const char *text) {
    uint64_t end = 0;
    WELL(spanlog_queue_push(queue, text, strlen(text), &end, &error), error);
    return end;
}

/* What one pop gives, "tea milk ", and where it ends. */
static const char *popped(spanlog_reader *reader, size_t most, uint64_t *end) {
    static char text[1024];
    spanlog_records *records = NULL;
    size_t count = 0, len = 0;
    WELL(spanlog_reader_pop(reader, most, 0, 0, &records, &error), error);
    const spanlog_record *rows = spanlog_records_all(records, &count);
    text[0] = '\0';
    for (size_t at = 0; at < count; at++) {
        len += (size_t)snprintf(text + len, sizeof(text) - len, "%.*s ", (int)rows[at].payload.len,
                                rows[at].payload.data);
    }
    if (count > 0 && end != NULL) *end = rows[count - 1].end;
    spanlog_records_free(records);
    return text;
}

#define GIVES(expression, expected)                                                 \
    do {                                                                            \
        const char *gave_ = (expression);                                           \
        if (strcmp(gave_, expected) != 0) FAIL("gave %s, not %s", gave_, expected); \
    } while (0)

static void what_was_committed_is_not_seen_again(void) {
    spanlog_queue *queue = open_in("commit", small());
    spanlog_reader *reader = reader_of(queue, NULL);
    static const spanlog_bytes many[] = {{"milk", 4}, {NULL, 0}, {"sugar", 5}};
    uint64_t end = push(queue, "tea"), last = 0, done = 0;
    WELL(spanlog_queue_push_many(queue, many, 3, &last, &error), error);
    CHECK(last > end);
    GIVES(popped(reader, 1, &done), "tea ");
    CHECK(done == end);
    GIVES(popped(reader, 0, NULL), "milk  sugar ");
    GIVES(popped(reader, 0, NULL), "");
    CHECK(spanlog_reader_commit(reader, end + 1, NULL) == SPANLOG_STATUS_INVALID);
    WELL(spanlog_reader_commit(reader, end, &error), error);
    WELL(spanlog_reader_rewind(reader, &error), error);
    spanlog_records *records = NULL;
    CHECK(spanlog_reader_peek(reader, &records, NULL) == SPANLOG_STATUS_OK);
    size_t count = 0;
    const spanlog_record *next = spanlog_records_all(records, &count);
    CHECK(count == 1 && next->number == 1 && next->position >= end && next->payload.len == 4);
    spanlog_records_free(records);
    CHECK(spanlog_records_all(records, &count) == NULL && count == 0);
    uint64_t waiting = 0, bytes = 0;
    WELL(spanlog_reader_backlog(reader, &waiting, &bytes, &error), error);
    CHECK(waiting == 3 && bytes > 9);
    WELL(spanlog_queue_flush(queue, &error), error);
    WELL(spanlog_queue_close(queue, &error), error);
    CHECK(spanlog_reader_rewind(reader, NULL) == SPANLOG_STATUS_CLOSED);
    spanlog_reader_free(reader);
    queue = open_in("commit", small());
    reader = reader_of(queue, "default");
    GIVES(popped(reader, 0, NULL), "milk  sugar ");
    CHECK(spanlog_reader_peek(reader, &records, NULL) == SPANLOG_STATUS_END && records == NULL);
    spanlog_reader_free(reader);
    WELL(spanlog_queue_close(queue, &error), error);
}

static void the_slowest_reader_holds_the_space(void) {
    spanlog_queue *queue = open_in("readers", small());
    spanlog_reader *fast = reader_of(queue, "fast"), *slow = reader_of(queue, "slow");
    push(queue, "tea");
    uint64_t end = push(queue, "milk");
    GIVES(popped(fast, 0, NULL), "tea milk ");
    WELL(spanlog_reader_commit(fast, end, &error), error);
    spanlog_queue_figures figures = SPANLOG_QUEUE_FIGURES_INIT;
    WELL(spanlog_queue_stat(queue, &figures, &error), error);
    CHECK(figures.records == 2 && figures.pushed == 2 && figures.end == end);
    CHECK(figures.capacity_segments == 4 && figures.segment_len_bytes == 4096);
    spanlog_list *list = NULL;
    spanlog_reader_info info = SPANLOG_READER_INFO_INIT;
    WELL(spanlog_queue_readers(queue, &list, &error), error);
    CHECK(spanlog_list_count(list) == 2 && spanlog_list_reader(list, 1, &info, NULL) == 0);
    CHECK(strcmp(info.name, "slow") == 0 && info.records == 2 && info.unread_bytes > 0);
    CHECK(spanlog_list_reader(list, 0, &info, NULL) == 0 && info.records == 0);
    spanlog_list_free(list);
    WELL(spanlog_queue_remove_reader(queue, "slow", &error), error);
    CHECK(spanlog_queue_remove_reader(queue, "slow", NULL) == SPANLOG_STATUS_INVALID);
    CHECK(spanlog_reader_rewind(slow, NULL) == SPANLOG_STATUS_CLOSED);
    WELL(spanlog_queue_stat(queue, &figures, &error), error);
    CHECK(figures.records == 0);
    spanlog_reader_free(slow);
    spanlog_reader_free(fast);
    WELL(spanlog_queue_close(queue, &error), error);
}

static spanlog_status fill(spanlog_queue *queue) {
    static char payload[1500];
    spanlog_status status = SPANLOG_STATUS_OK;
    for (int at = 0; at < 40 && status == SPANLOG_STATUS_OK; at++) {
        status = spanlog_queue_push(queue, payload, sizeof(payload), NULL, NULL);
    }
    return status;
}

static void a_full_queue_does_as_it_was_told(void) {
    spanlog_queue_options options = small();
    spanlog_queue *queue = open_in("full", options);
    CHECK(fill(queue) == SPANLOG_STATUS_FULL);
    CHECK(spanlog_queue_push(queue, folder, 1 << 20, NULL, NULL) == SPANLOG_STATUS_TOO_LARGE);
    WELL(spanlog_queue_close(queue, &error), error);
    options.on_full = SPANLOG_ON_FULL_BLOCK;
    options.block_ms = 1;
    queue = open_in("full", options);
    CHECK(fill(queue) == SPANLOG_STATUS_FULL);
    WELL(spanlog_queue_close(queue, &error), error);
    options.on_full = SPANLOG_ON_FULL_DROP_OLDEST;
    queue = open_in("full", options);
    spanlog_reader *reader = reader_of(queue, NULL);
    CHECK(fill(queue) == SPANLOG_STATUS_OK);
    spanlog_queue_figures figures = SPANLOG_QUEUE_FIGURES_INIT;
    WELL(spanlog_queue_stat(queue, &figures, &error), error);
    CHECK(figures.dropped > 0 && figures.dropped + figures.records == figures.pushed);
    spanlog_records *records = NULL;
    CHECK(spanlog_reader_pop(reader, 0, 0, 0, &records, &error) == SPANLOG_STATUS_GONE);
    uint64_t from = 1, to = 0;
    CHECK(spanlog_error_range(error, &from, &to) && from == 0 && to == figures.start);
    spanlog_error_free(error);
    WELL(spanlog_reader_pop(reader, 1000, 0, 0, &records, &error), error);
    size_t count = 0;
    CHECK(spanlog_records_all(records, &count)->number == figures.dropped);
    CHECK(count == figures.records);
    spanlog_records_free(records);
    spanlog_reader_free(reader);
    WELL(spanlog_queue_close(queue, &error), error);
    options.on_full = 7;
    CHECK(spanlog_queue_open(in_folder("full"), &options, &queue, NULL) == SPANLOG_STATUS_INVALID);
}

static void damage_is_told_and_passed_over(void) {
    spanlog_queue *queue = open_in("damage", small());
    push(queue, "tea");
    push(queue, "milk");
    spanlog_queue_verdict verdict = SPANLOG_QUEUE_VERDICT_INIT;
    spanlog_list *list = NULL;
    WELL(spanlog_queue_verify(queue, &verdict, &list, &error), error);
    CHECK(verdict.records == 2 && verdict.payload_bytes == 7 && verdict.damaged == 0);
    CHECK(spanlog_list_count(list) == 0);
    spanlog_list_free(list);
    spanlog_reader *reader = reader_of(queue, NULL);
    uint64_t from = 0, to = 0;
    CHECK(spanlog_reader_skip_damaged(reader, &from, &to, NULL) == SPANLOG_STATUS_END);
    /* A byte of "tea", in the file of the first segment. */
    char command[9000];
    snprintf(command, sizeof(command),
             "file=$(grep -rlaF tea '%s/segments') && at=$(grep -obaF tea \"$file\" | cut -d: -f1) && "
             "printf T | dd of=\"$file\" bs=1 seek=$at conv=notrunc 2>/dev/null",
             in_folder("damage"));
    CHECK(system(command) == 0);
    WELL(spanlog_queue_verify(queue, &verdict, &list, &error), error);
    spanlog_range range = SPANLOG_RANGE_INIT;
    CHECK(verdict.damaged == 1 && spanlog_list_range(list, 0, &range, NULL) == SPANLOG_STATUS_OK);
    CHECK(range.from == 0 && range.kind == SPANLOG_RANGE_KIND_DAMAGED && range.path != NULL);
    spanlog_records *records = NULL;
    CHECK(spanlog_reader_pop(reader, 0, 0, 0, &records, NULL) == SPANLOG_STATUS_CORRUPT);
    CHECK(spanlog_reader_skip_damaged(reader, &from, &to, NULL) == SPANLOG_STATUS_OK);
    CHECK(from == range.from && to == range.to);
    GIVES(popped(reader, 0, NULL), "milk ");
    spanlog_list_free(list);
    spanlog_reader_free(reader);
    WELL(spanlog_queue_close(queue, &error), error);
}

static void *pop_for_ever(void *reader) {
    spanlog_records *records = NULL;
    spanlog_status status = spanlog_reader_pop(reader, 0, 0, -1, &records, NULL);
    spanlog_records_free(records);
    return (void *)(intptr_t)status;
}

static void a_pop_is_woken(void) {
    spanlog_queue *queue = open_in("woken", small());
    spanlog_reader *reader = reader_of(queue, NULL);
    struct pollfd ready = {-1, POLLIN, 0};
    WELL(spanlog_reader_event_fd(reader, &ready.fd, &error), error);
    CHECK(poll(&ready, 1, 0) == 0);
    CHECK(spanlog_reader_wait(reader, 0, NULL) == SPANLOG_STATUS_TIMEOUT);
    pthread_t thread;
    void *status = NULL;
    CHECK(pthread_create(&thread, NULL, pop_for_ever, reader) == 0);
    push(queue, "tea");
    CHECK(pthread_join(thread, &status) == 0 && (intptr_t)status == SPANLOG_STATUS_OK);
    CHECK(poll(&ready, 1, 0) == 1);
    WELL(spanlog_reader_clear_event(reader, &error), error);
    CHECK(poll(&ready, 1, 0) == 0);
    push(queue, "milk");
    CHECK(spanlog_reader_wait(reader, -1, NULL) == SPANLOG_STATUS_OK && poll(&ready, 1, 0) == 1);
    GIVES(popped(reader, 0, NULL), "milk ");
    /* Closing wakes whoever waits. */
    CHECK(pthread_create(&thread, NULL, pop_for_ever, reader) == 0);
    WELL(spanlog_queue_close(queue, &error), error);
    CHECK(pthread_join(thread, &status) == 0 && (intptr_t)status == SPANLOG_STATUS_CLOSED);
    spanlog_reader_free(reader);
}

static void records_outlive_their_queue(void) {
    spanlog_queue *queue = open_in("outlives", small());
    spanlog_reader *reader = reader_of(queue, NULL);
    push(queue, "tea");
    spanlog_records *records = NULL;
    WELL(spanlog_reader_pop(reader, 0, 0, 0, &records, &error), error);
    spanlog_reader_free(reader);
    WELL(spanlog_queue_close(queue, &error), error);
    size_t count = 0;
    const spanlog_record *rows = spanlog_records_all(records, &count);
    CHECK(count == 1 && memcmp(rows->payload.data, "tea", 3) == 0);
    spanlog_records_free(records);
}

static spanlog_verification *look_at(const char *root) {
    spanlog_verification *look = NULL;
    WELL(spanlog_verification_open(root, NULL, &look, &error), error);
    spanlog_status status;
    while ((status = spanlog_verification_step(look, NULL, &error)) == SPANLOG_STATUS_OK) continue;
    WELL(status, error);
    return look;
}

static int is_sound(const char *root) {
    spanlog_verification *look = look_at(root);
    spanlog_verdict verdict = SPANLOG_VERDICT_INIT;
    WELL(spanlog_verification_verdict(look, &verdict, &error), error);
    spanlog_verification_free(look);
    return verdict.is_sound;
}

static void a_damaged_store_is_mended(void) {
    spanlog_store *store = NULL;
    spanlog_options options = SPANLOG_OPTIONS_INIT;
    options.segment_len_bytes = 4096;
    const char *root = in_folder("mended");
    WELL(spanlog_store_open(root, &options, &store, &error), error);
    spanlog_message message = SPANLOG_MESSAGE_INIT;
    message.topic = "orders";
    for (int at = 0; at < 3; at++) {
        message.body = at == 1 ? "milk" : "tea";
        message.body_len = at == 1 ? 4 : 3;
        WELL(spanlog_store_append(store, &message, NULL, &error), error);
    }
    spanlog_verification *early = NULL;
    spanlog_repair *repair = NULL;
    WELL(spanlog_store_verify(store, &early, &error), error);
    CHECK(spanlog_verification_plan_repair(early, &repair, NULL) == SPANLOG_STATUS_INVALID);
    spanlog_verification_free(early);
    WELL(spanlog_store_close(store, &error), error);
    CHECK(is_sound(root));
    char command[9000];
    snprintf(command, sizeof(command),
             "file='%s/commitlog/00000000000000000000' && at=$(grep -obaF milk \"$file\" | cut -d: -f1) "
             "&& printf M | dd of=\"$file\" bs=1 seek=$at conv=notrunc 2>/dev/null",
             root);
    CHECK(system(command) == 0 && !is_sound(root));
    spanlog_verification *look = look_at(root);
    spanlog_list *list = NULL;
    spanlog_action action = SPANLOG_ACTION_INIT;
    WELL(spanlog_verification_plan_repair(look, &repair, &error), error);
    spanlog_verification_free(look);
    WELL(spanlog_repair_actions(repair, &list, &error), error);
    CHECK(spanlog_list_action(list, 0, &action, NULL) == SPANLOG_STATUS_OK);
    CHECK(action.kind == SPANLOG_ACTION_KIND_PAD && action.to > action.from && action.from > 0);
    CHECK(strstr(action.path, "commitlog") != NULL && strstr(action.text, "pad") != NULL);
    spanlog_list_free(list);
    WELL(spanlog_repair_beyond(repair, &list, &error), error);
    CHECK(spanlog_list_count(list) == 0);
    spanlog_list_free(list);
    spanlog_saved saved = SPANLOG_SAVED_INIT;
    WELL(spanlog_repair_apply(repair, &list, &error), error);
    CHECK(spanlog_list_saved(list, 0, &saved, NULL) == SPANLOG_STATUS_OK && saved.path != NULL);
    spanlog_list_free(list);
    CHECK(spanlog_repair_apply(repair, NULL, NULL) == SPANLOG_STATUS_CLOSED);
    spanlog_repair_free(repair);
    CHECK(is_sound(root));
    WELL(spanlog_store_open(root, NULL, &store, &error), error);
    spanlog_batch *batch = NULL;
    size_t count = 0;
    WELL(spanlog_store_read(store, "orders", 0, 0, NULL, &batch, &error), error);
    const spanlog_message_view *views = spanlog_batch_messages(batch, &count);
    CHECK(count >= 1 && memcmp(views[0].body.data, "tea", 3) == 0);
    spanlog_batch_free(batch);
    WELL(spanlog_store_close(store, &error), error);
}

#define STORY(name) {#name, name}

int main(int argc, char **argv) {
    static const struct {
        const char *name;
        void (*run)(void);
    } stories[] = {
        STORY(what_was_committed_is_not_seen_again),
        STORY(the_slowest_reader_holds_the_space),
        STORY(a_full_queue_does_as_it_was_told),
        STORY(damage_is_told_and_passed_over),
        STORY(a_pop_is_woken),
        STORY(records_outlive_their_queue),
        STORY(a_damaged_store_is_mended),
    };
    if (argc != 2) FAIL("usage: %s FOLDER", argv[0]);
    snprintf(folder, sizeof(folder), "%s", argv[1]);
    for (size_t at = 0; at < sizeof(stories) / sizeof(*stories); at++) {
        fprintf(stderr, "%s\n", stories[at].name);
        stories[at].run();
    }
    return done();
}
