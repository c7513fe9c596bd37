/* crossing write|read ROOT: see README.md here. */
#include "../c/check.h"

enum { COUNT = 8 };

static spanlog_error *error;

static void write_one(spanlog_store *store, int number) {
    static unsigned char body[40 * COUNT * COUNT];
    char tags[16], key[16], region[16];
    const char *keys[] = {key, "all"};
    spanlog_property property = {"region", region};
    snprintf(tags, sizeof(tags), "t%d", number);
    snprintf(key, sizeof(key), "k%d", number);
    snprintf(region, sizeof(region), "north-%d", number);
    spanlog_message message = SPANLOG_MESSAGE_INIT;
    message.topic = "orders";
    message.queue = (uint32_t)number % 2;
    message.body = body;
    message.body_len = (size_t)(40 * number * number);
    for (size_t at = 0; at < message.body_len; at++) {
        body[at] = (unsigned char)(7 * at + (size_t)number);
    }
    message.tags = number % 2 == 0 ? tags : NULL;
    message.keys = keys;
    message.key_count = 2;
    message.properties = &property;
    message.property_count = 1;
    message.flag = number - 3;
    WELL(spanlog_store_append(store, &message, NULL, &error), error);
}

static void print_one(const spanlog_message_view *message) {
    spanlog_bytes region = {NULL, 0};
    CHECK(spanlog_message_property(message, "region", &region, NULL) == SPANLOG_STATUS_OK);
    printf("%u %llu %d ", message->queue, (unsigned long long)message->queue_offset, message->flag);
    if (message->tags.len == 0) printf("-");
    printf("%.*s ", (int)message->tags.len, message->tags.data);
    for (size_t at = 0; at < message->keys.len; at++) {
        putchar(message->keys.data[at] == ' ' ? ',' : message->keys.data[at]);
    }
    printf(" %.*s ", (int)region.len, region.data);
    for (size_t at = 0; at < message->body.len; at++) {
        printf("%02x", (unsigned char)message->body.data[at]);
    }
    putchar('\n');
}

static void read_queue(spanlog_store *store, uint32_t queue) {
    spanlog_batch *batch = NULL;
    size_t count = 0;
    WELL(spanlog_store_read(store, "orders", queue, 0, NULL, &batch, &error), error);
    const spanlog_message_view *messages = spanlog_batch_messages(batch, &count);
    for (size_t at = 0; at < count; at++) print_one(&messages[at]);
    spanlog_batch_free(batch);
}

int main(int argc, char **argv) {
    if (argc != 3) FAIL("usage: %s write|read ROOT", argv[0]);
    spanlog_options options = SPANLOG_OPTIONS_INIT;
    options.segment_len_bytes = 4096;
    spanlog_store *store = NULL;
    WELL(spanlog_store_open(argv[2], &options, &store, &error), error);
    int writes = strcmp(argv[1], "write") == 0;
    for (int number = 0; writes && number < COUNT; number++) write_one(store, number);
    for (uint32_t queue = 0; !writes && queue < 2; queue++) read_queue(store, queue);
    WELL(spanlog_store_close(store, &error), error);
    return 0;
}
