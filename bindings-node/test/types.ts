// Compiled by `tsc --strict` and never run: what the declarations allow, and what they refuse.

import {
  Batch, Cursor, Delivery, Message, NewMessage, Queue, QueueReader, QueueRecord, Receipt, RepairPlan,
  SpanlogError, Store, attach, attachQueue, destroy, open, openAsync, openQueue, openQueueAsync,
  planRepair, verify,
} from 'spanlog';
import type {
  Bounds, CleanPlan, ErrorCode, Inspection, Lag, Options, QueueOptions, ReadStatus, Seek,
} from 'spanlog';

const options: Options = {
  paths: ['/a', new URL('file:///b'), { path: '/c', role: 'draining', thresholds: { force: 0.8 } }],
  placement: 'free-space',
  durability: { intervalMs: 100 },
  segmentLenBytes: 1 << 20,
};

export async function everything(): Promise<void> {
  const store: Store = open('/root', options);
  using other = attach(store.token);
  await using third = await openAsync(new URL('file:///other'));
  const message: NewMessage = { topic: 'orders', body: 'tea', keys: ['a'], properties: { b: 'c' } };
  const receipt: Receipt = store.append(message);
  const { position, queueOffset, storeMs }: { position: bigint; queueOffset: bigint; storeMs: number } =
    await store.appendDurable({ ...message, body: new Uint8Array(3) });
  store.appendMany(new Set([message]));
  await other.appendManyDurable([message]);
  const batch: Batch = store.read('orders', 0, queueOffset, { maxMessages: 10, verify: false });
  const status: ReadStatus = batch.status;
  if (status === 'too_large') store.read('orders', 0, 0);
  for (const found of batch) {
    const body: Buffer = found.body;
    const tags: string | undefined = found.tags;
    const region: string | undefined = found.properties['region'];
    console.log(body, tags, region, found.queueOffset + 1n, found.storeMs + storeMs);
  }
  const one: Message = third.get(position);
  const bounds: Bounds | undefined = store.bounds(one.topic);
  const isThere: boolean = await store.wait('orders', 0, bounds?.max ?? 0, { timeoutMs: 5 });
  const controller = new AbortController();
  for await (const next of store.follow('orders', 0, 0n, { signal: controller.signal })) {
    if (isThere) console.log(next.text());
  }
  const sound: boolean = (await store.verify()).isSound && (await verify('/root')).isSound;
  console.log(store.query('orders', 'key', { kind: 'tag' }).length, sound);
  const plan: CleanPlan = store.planClean({ manual: true });
  const reports: Inspection = store.inspect();
  console.log(plan.fates[0]?.reason === 'expired', reports.queues, receipt.end);
  try {
    await store.close();
  } catch (error) {
    if (error instanceof SpanlogError) {
      const code: ErrorCode = error.code;
      console.log(code, error.limit, error.range?.start);
    }
  }
  await destroy('/root');
}

export async function consuming(store: Store): Promise<void> {
  await using cursor: Cursor = await store.cursor('billing', 'orders', {
    queues: [0], visibilityMs: 5, hold: { maxBytes: 1 << 30 },
  });
  const { signal } = new AbortController();
  const delivery: Delivery = await cursor.poll({ maxMessages: 5, timeoutMs: 5, signal });
  for (const message of delivery) cursor.ack(message);
  const gone: bigint | undefined = delivery.overtaken[0]?.gone.end;
  const code: ErrorCode | undefined = delivery.failures[0]?.error.code;
  const places: Seek[] = ['start', 'end', { queue: 0, offset: gone ?? 0 }, { timeMs: 5 }];
  for (const place of places) cursor.seek(place);
  for await (const message of cursor) cursor.ackUpTo(message.queue, message.queueOffset + 1n);
  const lag: Lag = cursor.lag();
  const committed: bigint | undefined = cursor.report().queues[0]?.committed;
  await cursor.commit();
  await store.resetCursor('orders', 'other', 'end');
  const count: number = await store.importConsumerOffsets(store.exportConsumerOffsets());
  console.log(code, lag.ageMs, committed, count, cursor.nextDueMs, store.cursors()[0]?.isOpen);
}

const small: QueueOptions = { onFull: { blockMs: 5 }, durability: { records: 5 }, paths: ['/a'] };

export async function queueing(): Promise<void> {
  using queue: Queue = openQueue('/root', small);
  await using other = await openQueueAsync('/root', { onFull: 'drop-oldest', durability: 'each' });
  const end: bigint = queue.push('tea') + queue.pushMany([new Uint8Array(3)]);
  const later: bigint = await other.pushAsync('tea') + await other.pushManyAsync(['tea']);
  const reader: QueueReader = attachQueue(queue.token).reader('billing');
  const record: QueueRecord | undefined = await reader.pop({ timeoutMs: 5 }) ?? reader.peek();
  if (record) reader.commit(record);
  for await (const one of reader.records({ persistent: false })) reader.commitTo(one.end);
  const sound: boolean = (await queue.verify()).isSound;
  const skipped: bigint | undefined = reader.skipDamaged()?.end;
  console.log(end, later, sound, skipped, reader.backlog().bytes, queue.stat().readers[0]?.reading);
}

export async function repairing(): Promise<void> {
  const plan: RepairPlan = await planRepair('/root', { paths: ['/a'], onProgress: console.log });
  if (!plan.isEmpty && plan.actions[0]?.action === 'pad' && !plan.verification.isSound) {
    const saved: string[] = (await plan.apply()).saved;
    console.log(saved, plan.beyond[0]?.kind);
  }
}

export function refused(store: Store, cursor: Cursor, queue: Queue): void {
  // @ts-expect-error: there is no such place
  cursor.seek('middle');
  // @ts-expect-error: an offset needs its queue
  cursor.seek({ offset: 5 });
  // @ts-expect-error: a delivery comes later
  cursor.poll().length;
  // @ts-expect-error: a record is bytes or text
  queue.push(5);
  // @ts-expect-error: there is no such option
  openQueue('/root', { readOnly: true });
  // @ts-expect-error: readers commit
  queue.commit(5n);
  // @ts-expect-error: a message has a body
  store.append({ topic: 'orders' });
  // @ts-expect-error: properties are strings
  store.append({ topic: 'orders', body: '', properties: { count: 7 } });
  // @ts-expect-error: there is no such option
  open('/root', { path: ['/a'] });
  // @ts-expect-error: there is no such placement
  open('/root', { placement: 'nearest' });
  // @ts-expect-error: an offset is no text
  store.read('orders', 0, '0');
  // @ts-expect-error: a position is a bigint
  const position: number = store.append({ topic: 'orders', body: '' }).position;
  // @ts-expect-error: there is no such status
  if (store.read('orders', 0, 0).status === 'nothing') console.log(position);
  // @ts-expect-error: stores come from open
  new Store();
}
