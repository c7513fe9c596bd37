/* Scenarios: verifying and repairing a store that nobody has open. */
#include "scenarios.h"

#include <string.h>

/* By their numbers, from 1. */
static const char *const ACTIONS[] = {"resize",           "set_aside",     "pad",
                                      "cut_tail",         "rebuild_queues", "rewrite_registry",
                                      "rewrite_marks",    "rebuild_keys",  "mend_cursor",
                                      NULL};

static spanlog_status verified(const cJSON *step, spanlog_verification **verification,
                               spanlog_error **error) {
    char root[8192];
    struct options_draft draft;
    spanlog_options options = draft_options(field(step, "options"), &draft);
    in_world(step, "root", root);
    spanlog_status status = spanlog_verification_open(root, &options, verification, error);
    while (status == SPANLOG_STATUS_OK) {
        status = spanlog_verification_step(*verification, NULL, error);
    }
    return status == SPANLOG_STATUS_END ? SPANLOG_STATUS_OK : status;
}

static spanlog_status verify(const cJSON *step, cJSON *result, spanlog_error **error) {
    spanlog_verification *verification = NULL;
    spanlog_verdict verdict = SPANLOG_VERDICT_INIT;
    spanlog_status status = verified(step, &verification, error);
    if (status >= 0) status = spanlog_verification_verdict(verification, &verdict, error);
    cJSON_AddBoolToObject(result, "sound", verdict.is_sound);
    cJSON_AddBoolToObject(result, "was_closed", verdict.was_closed);
    put_number(result, "records", verdict.records);
    put_number(result, "findings", verdict.findings);
    spanlog_verification_free(verification);
    return status;
}

static void put_actions(const spanlog_repair *repair, cJSON *result) {
    spanlog_list *list = NULL;
    spanlog_action action = SPANLOG_ACTION_INIT;
    cJSON *names = cJSON_AddArrayToObject(result, "actions");
    WELL(spanlog_repair_actions(repair, &list, NULL), NULL);
    for (size_t at = 0; at < spanlog_list_count(list); at++) {
        WELL(spanlog_list_action(list, at, &action, NULL), NULL);
        CHECK(action.kind >= 1 && action.kind <= SPANLOG_ACTION_KIND_MEND_CURSOR);
        cJSON_AddItemToArray(names, cJSON_CreateString(ACTIONS[action.kind - 1]));
    }
    spanlog_list_free(list);
}

static spanlog_status repair(const cJSON *step, cJSON *result, spanlog_error **error) {
    spanlog_verification *verification = NULL;
    spanlog_repair *plan = NULL;
    spanlog_list *saved = NULL;
    spanlog_status status = verified(step, &verification, error);
    if (status >= 0) status = spanlog_verification_plan_repair(verification, &plan, error);
    spanlog_verification_free(verification);
    if (status < 0) return status;
    put_actions(plan, result);
    status = spanlog_repair_apply(plan, &saved, error);
    put_number(result, "saved", spanlog_list_count(saved));
    spanlog_list_free(saved);
    return status;
}

int on_closed(const char *op, const cJSON *step, cJSON *result, spanlog_error **error,
              spanlog_status *status) {
    int is_verify = strcmp(op, "verify") == 0;
    if (!is_verify && strcmp(op, "repair") != 0) return 0;
    *status = is_verify ? verify(step, result, error) : repair(step, result, error);
    return 1;
}
