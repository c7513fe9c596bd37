package org.spanlog.interop;

import java.io.IOException;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.rocketmq.common.BrokerConfig;
import org.apache.rocketmq.common.message.MessageAccessor;
import org.apache.rocketmq.common.message.MessageConst;
import org.apache.rocketmq.common.message.MessageExtBrokerInner;
import org.apache.rocketmq.common.topic.TopicValidator;
import org.apache.rocketmq.store.DefaultMessageStore;
import org.apache.rocketmq.store.config.MessageStoreConfig;
import org.apache.rocketmq.store.stats.BrokerStatsManager;

/** What is RocketMQ 5's own way. */
final class Version {
    /** A message on its way into the store. */
    static final class Draft extends MessageExtBrokerInner {
        private static final long serialVersionUID = 1L;
    }

    private Version() {
    }

    static DefaultMessageStore construct(MessageStoreConfig config) throws IOException {
        return new DefaultMessageStore(config, new BrokerStatsManager("oracle", true),
            (topic, queueId, offset, tags, time, filter, properties) -> { }, new BrokerConfig(),
            new ConcurrentHashMap<>());
    }

    /** In 5 the broker parks a delayed message before it calls the store; this is what it does. */
    static void park(Draft draft, int level) {
        draft.setDelayTimeLevel(level);
        MessageAccessor.putProperty(draft, MessageConst.PROPERTY_REAL_TOPIC, draft.getTopic());
        MessageAccessor.putProperty(draft, MessageConst.PROPERTY_REAL_QUEUE_ID,
            String.valueOf(draft.getQueueId()));
        draft.setTopic(TopicValidator.RMQ_SYS_SCHEDULE_TOPIC);
        draft.setQueueId(level - 1);
    }
}
