/* Prints the bodies of a topic, a line each: read ROOT TOPIC */
#include <spanlog.h>
#include <stdio.h>

static int fail(spanlog_error *error) {
    fprintf(stderr, "%s\n", spanlog_error_message(error));
    spanlog_error_free(error);
    return 1;
}

int main(int argc, char **argv) {
    spanlog_options options = SPANLOG_OPTIONS_INIT;
    spanlog_store *store = NULL;
    spanlog_error *error = NULL;
    if (argc != 3) return fputs("usage: read ROOT TOPIC\n", stderr), 2;
    options.read_only = 1;
    if (spanlog_store_open(argv[1], &options, &store, &error) < 0) return fail(error);

    uint64_t next = 0;
    for (size_t count = 1; count > 0;) {
        spanlog_batch *batch = NULL;
        if (spanlog_store_read(store, argv[2], 0, next, NULL, &batch, &error) < 0) return fail(error);
        const spanlog_message_view *message = spanlog_batch_messages(batch, &count);
        for (size_t at = 0; at < count; at++, message++) {
            fwrite(message->body.data, 1, message->body.len, stdout);
            putchar('\n');
        }
        spanlog_batch_info info = SPANLOG_BATCH_INFO_INIT;
        if (spanlog_batch_get_info(batch, &info, &error) < 0) return fail(error);
        next = info.next;
        spanlog_batch_free(batch);
    }
    return spanlog_store_close(store, &error) < 0 ? fail(error) : 0;
}
