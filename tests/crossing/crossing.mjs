// crossing.mjs write|read ROOT: see README.md here.
import { open } from 'spanlog';

const [, , what, root] = process.argv;
const store = open(root, { segmentLenBytes: 4096 });
for (let number = 0; what === 'write' && number < 8; number += 1) {
  store.append({
    topic: 'orders',
    queue: number % 2,
    body: Buffer.from(Array.from({ length: 40 * number * number }, (_, at) => 7 * at + number)),
    ...(number % 2 === 0 ? { tags: `t${number}` } : {}),
    keys: [`k${number}`, 'all'],
    properties: { region: `north-${number}` },
    flag: number - 3,
  });
}
for (let queue = 0; what === 'read' && queue < 2; queue += 1) {
  for (const message of store.read('orders', queue, 0)) {
    const place = [message.queue, message.queueOffset, message.flag].join(' ');
    const words = [message.tags ?? '-', message.keys.join(','), message.properties.region].join(' ');
    console.log(`${place} ${words} ${Buffer.from(message.body).toString('hex')}`);
  }
}
await store.close();
