// Stores webhooks and streams them back: `node webhooks.mjs [DIRECTORY] [PORT]`.
//
//   curl -d '{"paid": true}' localhost:8080/hooks/payments     202 once it is durable
//   curl -N localhost:8080/streams/payments                    server-sent events, from the start
//
// A client that comes back says in Last-Event-ID what it saw last, and misses nothing.

import { once } from 'node:events';
import http from 'node:http';
import { open } from 'spanlog';

const [root = 'webhooks-store', port = '8080'] = process.argv.slice(2);
const store = open(root);
const MOST_BYTES = 1 << 20;

async function take(request, response, topic) {
  const parts = [];
  let size = 0;
  for await (const part of request) {
    parts.push(part);
    size += part.length;
    if (size > MOST_BYTES) return response.writeHead(413).end();
  }
  const type = request.headers['content-type'] ?? 'application/octet-stream';
  const message = { topic, body: Buffer.concat(parts), properties: { type } };
  const { queueOffset } = await store.appendDurable(message);
  return response.writeHead(202, { 'content-type': 'text/plain' }).end(`${queueOffset}\n`);
}

async function stream(request, response, topic) {
  const stop = new AbortController();
  response.once('close', () => stop.abort());
  const last = request.headers['last-event-id'];
  const from = /^\d{1,18}$/.test(last) ? BigInt(last) + 1n : 0n;
  response.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-store' });
  response.flushHeaders();
  for await (const message of store.follow(topic, 0, from, { signal: stop.signal })) {
    const data = message.text().replaceAll(/\r\n?|\n/g, '\ndata: ');
    if (!response.write(`id: ${message.queueOffset}\ndata: ${data}\n\n`)) {
      await once(response, 'drain', { signal: stop.signal });
    }
  }
}

const server = http.createServer((request, response) => {
  const [, verb, topic] = /^\/(hooks|streams)\/([\w-]{1,100})$/.exec(request.url) ?? [];
  const handle = { 'POST hooks': take, 'GET streams': stream }[`${request.method} ${verb}`];
  if (!handle) return response.writeHead(404).end();
  return handle(request, response, topic).catch((error) => {
    if (!response.headersSent) response.writeHead(error.code === 'SPANLOG_FULL' ? 507 : 500);
    response.end();
  });
});
server.listen(Number(port), () => console.log(`listening on ${server.address().port}`));
process.once('SIGTERM', () => server.close(() => store.close()) && server.closeAllConnections());
