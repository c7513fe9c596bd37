package org.spanlog.interop;

import com.google.gson.JsonArray;
import com.google.gson.JsonObject;
import java.io.File;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.nio.ByteBuffer;
import java.security.MessageDigest;
import java.util.Arrays;
import java.util.Comparator;
import java.util.Map;
import java.util.TreeMap;
import org.apache.rocketmq.common.message.MessageDecoder;
import org.apache.rocketmq.common.message.MessageExt;
import org.apache.rocketmq.store.ConsumeQueue;
import org.apache.rocketmq.store.GetMessageResult;
import org.apache.rocketmq.store.GetMessageStatus;
import org.apache.rocketmq.store.QueryMessageResult;
import org.apache.rocketmq.store.SelectMappedBufferResult;

/** Reads all that a store holds, the way a broker answers its consumers. */
final class Reading {
    private static final int BATCH = 32;
    /** Where the physical position stands in a record. */
    private static final int POSITION_AT = 28;

    private final OpenStore open;
    /** What to look up in the index: {@code topic#key}, with the topic's length. */
    private final Map<String, Integer> keys = new TreeMap<>();

    private Reading(OpenStore open) {
        this.open = open;
    }

    static JsonObject all(OpenStore open) throws Exception {
        Reading reading = new Reading(open);
        JsonObject answer = new JsonObject();
        answer.addProperty("abortBefore", open.abortBefore());
        answer.addProperty("minPhyOffset", open.store().getMinPhyOffset());
        answer.addProperty("maxPhyOffset", open.store().getMaxPhyOffset());
        JsonArray queues = new JsonArray();
        for (File topic : sorted(new File(open.root(), "consumequeue"))) {
            for (File queue : sorted(topic)) {
                queues.add(reading.queue(topic.getName(), Integer.parseInt(queue.getName())));
            }
        }
        answer.add("queues", queues);
        answer.add("keys", reading.keys());
        return answer;
    }

    private static File[] sorted(File folder) {
        File[] folders = folder.listFiles(File::isDirectory);
        if (folders == null) {
            return new File[0];
        }
        Arrays.sort(folders, Comparator.comparing(File::getName));
        return folders;
    }

    private JsonObject queue(String topic, int queueId) throws Exception {
        long min = open.store().getMinOffsetInQueue(topic, queueId);
        long max = open.store().getMaxOffsetInQueue(topic, queueId);
        JsonObject answer = new JsonObject();
        answer.addProperty("topic", topic);
        answer.addProperty("queueId", queueId);
        answer.addProperty("min", min);
        answer.addProperty("max", max);
        answer.add("units", units(topic, queueId, min, max));
        JsonArray messages = new JsonArray();
        answer.add("misses", messages(topic, queueId, min, max, messages));
        answer.add("messages", messages);
        answer.add("byTime", byTime(topic, queueId, messages));
        return answer;
    }

    /** The queue's own rows: position, size and tags code. */
    private JsonArray units(String topic, int queueId, long min, long max) throws Exception {
        JsonArray units = new JsonArray();
        ConsumeQueue queue = (ConsumeQueue) open.store().findConsumeQueue(topic, queueId);
        for (long at = min; at < max; at++) {
            SelectMappedBufferResult bytes = queue.getIndexBuffer(at);
            ByteBuffer unit = bytes.getByteBuffer();
            JsonArray row = new JsonArray();
            row.add(unit.getLong());
            row.add(unit.getInt());
            row.add(unit.getLong());
            units.add(row);
            bytes.release();
        }
        return units;
    }

    /** Adds every message in order; returns the answers that were no messages. */
    private JsonArray messages(String topic, int queueId, long min, long max, JsonArray messages)
        throws Exception {
        JsonArray misses = new JsonArray();
        for (long at = min; at < max; ) {
            GetMessageResult result =
                open.store().getMessage("oracle", topic, queueId, at, BATCH, null);
            if (result.getStatus() == GetMessageStatus.FOUND) {
                for (SelectMappedBufferResult bytes : result.getMessageMapedList()) {
                    messages.add(message(bytes.getByteBuffer().slice()));
                }
            } else {
                JsonObject miss = new JsonObject();
                miss.addProperty("at", at);
                miss.addProperty("status", result.getStatus().name());
                misses.add(miss);
            }
            long next = result.getNextBeginOffset();
            result.release();
            if (next <= at) {
                break;
            }
            at = next;
        }
        return misses;
    }

    private JsonObject message(ByteBuffer bytes) throws Exception {
        byte[] record = new byte[bytes.remaining()];
        bytes.duplicate().get(record);
        JsonObject answer = new JsonObject();
        answer.addProperty("position", bytes.getLong(POSITION_AT));
        answer.addProperty("size", record.length);
        answer.addProperty("sha256", sha256(record));
        MessageExt message = MessageDecoder.decode(bytes, true, false);
        if (message == null) {
            answer.addProperty("undecodable", true);
            return answer;
        }
        answer.addProperty("offset", message.getQueueOffset());
        describe(message, answer);
        noteKeys(message);
        return answer;
    }

    private static void describe(MessageExt message, JsonObject answer) throws Exception {
        byte[] body = message.getBody() == null ? new byte[0] : message.getBody();
        answer.addProperty("topic", message.getTopic());
        answer.addProperty("bodyLength", body.length);
        answer.addProperty("bodySha256", sha256(body));
        answer.addProperty("tags", message.getTags());
        answer.addProperty("keys", message.getKeys());
        answer.addProperty("flag", message.getFlag());
        answer.addProperty("sysFlag", message.getSysFlag());
        answer.addProperty("reconsumeTimes", message.getReconsumeTimes());
        answer.addProperty("preparedTransactionOffset", message.getPreparedTransactionOffset());
        answer.addProperty("bornTimestamp", message.getBornTimestamp());
        answer.addProperty("storeTimestamp", message.getStoreTimestamp());
        answer.addProperty("bornHost", host(message.getBornHost()));
        answer.addProperty("storeHost", host(message.getStoreHost()));
        JsonObject properties = new JsonObject();
        new TreeMap<>(message.getProperties()).forEach(properties::addProperty);
        answer.add("properties", properties);
    }

    private static String host(SocketAddress host) {
        InetSocketAddress address = (InetSocketAddress) host;
        String text = address.getAddress().getHostAddress();
        boolean isSix = text.contains(":");
        return (isSix ? "[" + text + "]" : text) + ":" + address.getPort();
    }

    /** A broker indexes each word of the keys, and the client's unique key. */
    private void noteKeys(MessageExt message) {
        String unique = message.getProperty("UNIQ_KEY");
        String all = (message.getKeys() == null ? "" : message.getKeys())
            + " " + (unique == null ? "" : unique);
        for (String key : all.split(" ")) {
            if (!key.isEmpty()) {
                keys.put(message.getTopic() + "#" + key, message.getTopic().length());
            }
        }
    }

    /** What the index answers to each key that was seen: positions in ascending order. */
    private JsonObject keys() {
        JsonObject answer = new JsonObject();
        keys.forEach((name, length) -> {
            String topic = name.substring(0, length);
            QueryMessageResult result = open.store().queryMessage(
                topic, name.substring(length + 1), BATCH, 0, Long.MAX_VALUE);
            JsonArray positions = new JsonArray();
            result.getMessageBufferList().stream()
                .map(bytes -> bytes.getLong(bytes.position() + POSITION_AT))
                .sorted()
                .forEach(positions::add);
            answer.add(name, positions);
            result.release();
        });
        return answer;
    }

    /** Rows of a store time, in milliseconds, and the queue offset found for it. */
    private JsonArray byTime(String topic, int queueId, JsonArray messages) {
        JsonArray rows = new JsonArray();
        long last = Long.MIN_VALUE;
        for (var message : messages) {
            var time = message.getAsJsonObject().get("storeTimestamp");
            if (time == null || time.getAsLong() == last) {
                continue;
            }
            last = time.getAsLong();
            JsonArray row = new JsonArray();
            row.add(last);
            row.add(open.store().getOffsetInQueueByTime(topic, queueId, last));
            rows.add(row);
        }
        return rows;
    }

    private static String sha256(byte[] bytes) throws Exception {
        return Oracle.hex(MessageDigest.getInstance("SHA-256").digest(bytes));
    }
}
