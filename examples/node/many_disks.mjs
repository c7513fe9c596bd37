// One log over several directories, with limits of their own: `node many_disks.mjs [DIRECTORY]`.

import path from 'node:path';
import { open } from 'spanlog';

const home = process.argv[2] ?? 'many-disks-store';
const at = (name) => path.join(home, name);

const store = open(at('store'), {
  paths: [
    at('fast'),
    { path: at('shared'), thresholds: { clean: 0.6, force: 0.7, refuse: 0.88 } },
  ],
  placement: 'free-space',
  segmentLenBytes: 1 << 20,
});

const body = Buffer.alloc(1000, 'x');
for (let number = 0; number < 5000; number += 1) {
  store.append({ topic: 'metrics', queue: number % 4, body });
}

// From now on new segments go elsewhere; what is there is served until retention drops it.
await store.setRole(at('shared'), 'draining');
for (const disk of store.disks()) {
  const used = disk.usedRatio === undefined ? '?' : `${Math.round(disk.usedRatio * 100)} %`;
  console.log(`${disk.path}: ${disk.role}, ${used} used, ${disk.segments} segments`);
}
for (const fate of store.planClean().fates) console.log(`segment ${fate.base}: ${fate.text}`);
await store.close();

// The store remembers its directories.
const again = open(at('store'));
console.log(`${again.queues().length} queues over ${again.segments().length} segments`);
await again.close();
