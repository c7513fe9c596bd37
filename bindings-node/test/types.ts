// Compiled by `tsc --strict` and never run: what the declarations allow, and what they refuse.

import {
  Batch, Message, NewMessage, Receipt, SpanlogError, Store, attach, destroy, open, openAsync,
  verify,
} from 'spanlog';
import type { Bounds, CleanPlan, ErrorCode, Inspection, Options, ReadStatus } from 'spanlog';

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

export function refused(store: Store): void {
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
