package org.spanlog.interop;

import java.io.IOException;
import org.apache.rocketmq.common.BrokerConfig;
import org.apache.rocketmq.store.DefaultMessageStore;
import org.apache.rocketmq.store.MessageExtBrokerInner;
import org.apache.rocketmq.store.config.MessageStoreConfig;
import org.apache.rocketmq.store.stats.BrokerStatsManager;

/** What is RocketMQ 4.9's own way. */
final class Version {
    /** A message on its way into the store. */
    static final class Draft extends MessageExtBrokerInner {
    }

    private Version() {
    }

    static DefaultMessageStore construct(MessageStoreConfig config) throws IOException {
        return new DefaultMessageStore(config, new BrokerStatsManager("oracle", true),
            (topic, queueId, offset, tags, time, filter, properties) -> { }, new BrokerConfig());
    }

    /** The 4.9 store parks a delayed message itself. */
    static void park(Draft draft, int level) {
        draft.setDelayTimeLevel(level);
    }
}
