/* Appends messages as benches/src/append.rs does, and prints the nanoseconds that one took:
 *   append DIRECTORY COUNT BODY-BYTES SEGMENT-BYTES */
#include <spanlog.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { QUEUES = 8 };

static spanlog_error *error;

static void must(spanlog_status status) {
    if (status >= 0) return;
    fprintf(stderr, "%s\n", spanlog_error_message(error));
    exit(1);
}

static double now_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

static void append(spanlog_store *store, unsigned long count, const char *body, size_t len) {
    const char *keys[] = {"order-0000012345"};
    const spanlog_property properties[] = {{"region", "north-west"}};
    spanlog_message message = SPANLOG_MESSAGE_INIT;
    message.topic = "orders-of-europe";
    message.body = body;
    message.body_len = len;
    message.tags = "paid";
    message.keys = keys;
    message.key_count = 1;
    message.properties = properties;
    message.property_count = 1;
    for (unsigned long number = 0; number < count; number++) {
        message.queue = (uint32_t)(number % QUEUES);
        must(spanlog_store_append(store, &message, NULL, &error));
    }
}

int main(int argc, char **argv) {
    if (argc != 5) return 2;
    unsigned long count = strtoul(argv[2], NULL, 10), len = strtoul(argv[3], NULL, 10);
    char *body = malloc(len + 1);
    unsigned long long state = 0x9E3779B97F4A7C15;
    for (unsigned long at = 0; at < len; at++) {
        state ^= state << 13, state ^= state >> 7, state ^= state << 17;
        body[at] = (char)state;
    }
    spanlog_options options = SPANLOG_OPTIONS_INIT;
    options.segment_len_bytes = strtoull(argv[4], NULL, 10);
    options.key_index = SPANLOG_SWITCH_OFF;
    spanlog_store *store = NULL;
    must(spanlog_store_open(argv[1], &options, &store, &error));
    append(store, QUEUES, "first", 5);
    must(spanlog_store_catch_up(store, &error));
    double start = now_ns();
    append(store, count, body, len);
    must(spanlog_store_catch_up(store, &error));
    printf("%f\n", (now_ns() - start) / (double)count);
    must(spanlog_store_close(store, &error));
    free(body);
    return 0;
}
