/* One log over several directories, with limits of their own: many_disks DIRECTORY */
#include <spanlog.h>
#include <stdio.h>
#include <stdlib.h>

static spanlog_error *error = NULL;

static void must(spanlog_status status) {
    if (status >= 0) return;
    fprintf(stderr, "%s\n", spanlog_error_message(error));
    exit(1);
}

int main(int argc, char **argv) {
    static char root[4096], fast[4096], shared[4096], body[1000];
    const char *folder = argc > 1 ? argv[1] : "many-disks-store";
    snprintf(root, sizeof(root), "%.4000s/store", folder);
    snprintf(fast, sizeof(fast), "%.4000s/fast", folder);
    snprintf(shared, sizeof(shared), "%.4000s/shared", folder);

    spanlog_thresholds careful = SPANLOG_THRESHOLDS_INIT;
    careful.clean = 0.50, careful.force = 0.60, careful.refuse = 0.70;
    spanlog_directory_options directories[2] = {SPANLOG_DIRECTORY_OPTIONS_INIT,
                                                SPANLOG_DIRECTORY_OPTIONS_INIT};
    directories[0].path = fast;
    directories[1].path = shared;
    directories[1].thresholds = &careful;
    spanlog_options options = SPANLOG_OPTIONS_INIT;
    options.directories = directories;
    options.directory_count = 2;
    options.placement = SPANLOG_PLACEMENT_FREE_SPACE;
    options.segment_len_bytes = 1 << 20;
    spanlog_store *store = NULL;
    must(spanlog_store_open(root, &options, &store, &error));

    /* Tells the store of a quota: above 70 % of it, nothing new goes there. */
    must(spanlog_store_set_usage(store, shared, 75, 25, &error));
    spanlog_message message = SPANLOG_MESSAGE_INIT;
    message.topic = "metrics";
    message.body = body;
    message.body_len = sizeof(body);
    for (int number = 0; number < 5000; number++) {
        message.queue = (uint32_t)number % 4;
        must(spanlog_store_append(store, &message, NULL, &error));
    }
    spanlog_list *list = NULL;
    spanlog_disk disk = SPANLOG_DISK_INIT;
    must(spanlog_store_disks(store, &list, &error));
    for (size_t at = 0; spanlog_list_disk(list, at, &disk, &error) == SPANLOG_STATUS_OK; at++) {
        printf("%s: %.0f %% used, pressure %d, %s new segments\n", disk.path,
               disk.used_ratio * 100, disk.pressure, disk.takes_segments ? "takes" : "no");
    }
    spanlog_list_free(list);
    must(spanlog_store_close(store, &error));
    return 0;
}
