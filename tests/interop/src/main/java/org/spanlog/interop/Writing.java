package org.spanlog.interop;

import com.google.gson.JsonArray;
import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.List;
import org.apache.rocketmq.common.message.Message;
import org.apache.rocketmq.common.message.MessageAccessor;
import org.apache.rocketmq.common.message.MessageDecoder;
import org.apache.rocketmq.common.message.MessageExt;
import org.apache.rocketmq.common.message.MessageExtBatch;
import org.apache.rocketmq.store.AppendMessageResult;
import org.apache.rocketmq.store.PutMessageResult;

/**
 * Puts messages as a script says: {@code {"ops": [op...]}} with these operations.
 *
 * <ul>
 * <li>{@code {"put": {...}}}: one message of {@code topic}, {@code queueId} or {@code queues}
 *     (spread over so many), {@code body} or {@code hex}, {@code bodyLength} (filled up with
 *     letters), {@code tags}, {@code keys}, {@code properties}, {@code flag}, {@code sysFlag},
 *     {@code reconsumeTimes}, {@code preparedTransactionOffset}, {@code bornHost},
 *     {@code storeHost}, {@code bornTimestamp}, {@code delayLevel};
 * <li>{@code {"batch": {"topic", "queueId", "messages": [...]}}}: a client's batch;
 * <li>{@code {"dispatch": true}}: wait until everything is in the queues;
 * <li>{@code {"wait": ms}}.
 * </ul>
 *
 * {@code "repeat": N} beside a put or batch does it N times; in its texts {@code ${i}} is the
 * round, from 0, and {@code ${n}} the number of messages put before.
 */
final class Writing {
    private static final long BORN_MS = 1_700_000_000_000L;

    private final OpenStore open;
    private final JsonArray results = new JsonArray();
    private int number;

    private Writing(OpenStore open) {
        this.open = open;
    }

    static JsonObject run(OpenStore open, String script) throws Exception {
        Writing writing = new Writing(open);
        JsonObject parsed = JsonParser.parseString(Files.readString(Path.of(script)))
            .getAsJsonObject();
        for (JsonElement op : parsed.getAsJsonArray("ops")) {
            writing.op(op.getAsJsonObject());
        }
        open.awaitDispatch();
        JsonObject answer = new JsonObject();
        answer.addProperty("abortBefore", open.abortBefore());
        answer.addProperty("minPhyOffset", open.store().getMinPhyOffset());
        answer.addProperty("maxPhyOffset", open.store().getMaxPhyOffset());
        answer.add("results", writing.results);
        return answer;
    }

    private void op(JsonObject op) throws Exception {
        int repeat = number(op, "repeat", 1);
        for (int round = 0; round < repeat; round++) {
            if (op.has("put")) {
                put(op.getAsJsonObject("put"), round);
            } else if (op.has("batch")) {
                batch(op.getAsJsonObject("batch"), round);
            } else if (op.has("dispatch")) {
                open.awaitDispatch();
            } else if (op.has("wait")) {
                Thread.sleep(op.get("wait").getAsLong());
            } else {
                throw new IllegalArgumentException("no such operation: " + op);
            }
        }
    }

    private void put(JsonObject put, int round) {
        Version.Draft draft = new Version.Draft();
        fill(draft, put, round);
        if (put.has("delayLevel")) {
            Version.park(draft, number(put, "delayLevel", 0));
        }
        draft.setPropertiesString(MessageDecoder.messageProperties2String(draft.getProperties()));
        note(draft, open.store().putMessage(draft));
    }

    private void batch(JsonObject batch, int round) {
        MessageExtBatch all = new MessageExtBatch();
        List<Message> messages = new ArrayList<>();
        for (JsonElement one : batch.getAsJsonArray("messages")) {
            Message message = new Message();
            message.setTopic(text(batch, "topic", round));
            describe(message, one.getAsJsonObject(), round);
            messages.add(message);
        }
        fill(all, batch, round);
        all.setBody(MessageDecoder.encodeMessages(messages));
        note(all, open.store().putMessages(all));
    }

    /** Everything that a client or a broker sets on a message before it is stored. */
    private void fill(MessageExt message, JsonObject from, int round) {
        message.setTopic(text(from, "topic", round));
        describe(message, from, round);
        int queues = number(from, "queues", 0);
        message.setQueueId(queues > 0 ? round % queues : number(from, "queueId", 0));
        message.setSysFlag(number(from, "sysFlag", 0));
        message.setReconsumeTimes(number(from, "reconsumeTimes", 0));
        message.setPreparedTransactionOffset(number(from, "preparedTransactionOffset", 0));
        message.setBornTimestamp(
            from.has("bornTimestamp") ? from.get("bornTimestamp").getAsLong() : BORN_MS + number);
        message.setBornHost(host(from, "bornHost", "127.0.0.1:54321"));
        message.setStoreHost(host(from, "storeHost", "127.0.0.1:10911"));
        number++;
    }

    /** What one message of a batch may have of its own. */
    private void describe(Message message, JsonObject from, int round) {
        message.setBody(body(from, round));
        MessageAccessor.setProperties(message, new HashMap<>());
        message.setFlag(number(from, "flag", 0));
        if (from.has("keys")) {
            message.setKeys(text(from, "keys", round));
        }
        if (from.has("tags")) {
            message.setTags(text(from, "tags", round));
        }
        if (from.has("properties")) {
            JsonObject properties = from.getAsJsonObject("properties");
            for (String name : properties.keySet()) {
                MessageAccessor.putProperty(message, name, text(properties, name, round));
            }
        }
    }

    private byte[] body(JsonObject from, int round) {
        if (from.has("hex")) {
            return HexFormat.of().parseHex(from.get("hex").getAsString());
        }
        byte[] body = Oracle.utf8(from.has("body") ? text(from, "body", round) : "");
        int start = body.length;
        int length = number(from, "bodyLength", start);
        body = Arrays.copyOf(body, Math.max(start, length));
        for (int at = start; at < length; at++) {
            body[at] = (byte) ('a' + (at + round) % 26);
        }
        return body;
    }

    private void note(MessageExt message, PutMessageResult put) {
        JsonObject result = new JsonObject();
        result.addProperty("topic", message.getTopic());
        result.addProperty("queueId", message.getQueueId());
        result.addProperty("status", put.getPutMessageStatus().name());
        AppendMessageResult append = put.getAppendMessageResult();
        if (append != null) {
            result.addProperty("position", append.getWroteOffset());
            result.addProperty("size", append.getWroteBytes());
            result.addProperty("offset", append.getLogicsOffset());
            result.addProperty("messages", append.getMsgNum());
            result.addProperty("msgId", append.getMsgId());
        }
        results.add(result);
    }

    private String text(JsonObject from, String name, int round) {
        String text = from.get(name).getAsString();
        return text.replace("${i}", Integer.toString(round))
            .replace("${n}", Integer.toString(number));
    }

    private static int number(JsonObject from, String name, int otherwise) {
        return from.has(name) ? from.get(name).getAsInt() : otherwise;
    }

    private static InetSocketAddress host(JsonObject from, String name, String otherwise) {
        String text = from.has(name) ? from.get(name).getAsString() : otherwise;
        int colon = text.lastIndexOf(':');
        return new InetSocketAddress(
            text.substring(0, colon).replaceAll("[\\[\\]]", ""),
            Integer.parseInt(text.substring(colon + 1)));
    }
}
