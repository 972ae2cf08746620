// An OTLP collector on the loopback address, which keeps the spans and the names of metrics that it receives.
import { createServer } from 'node:http';
import { once } from 'node:events';

export type ReceivedSpan = {
  traceId: string;
  spanId: string;
  /** Empty: none. */
  parentId: string;
  name: string;
  attributes: Record<string, unknown>;
  isError: boolean;
  beganAt: bigint;
};

export type Collector = {
  url: string;
  spans: ReceivedSpan[];
  metrics: Set<string>;
  text(): string;
  close(): Promise<void>;
};

/** The value of a field of a message in the protocol buffers format: bytes, or a number. */
type Field = { number: number; value: Buffer | bigint };

export async function startCollector(): Promise<Collector> {
  const spans: ReceivedSpan[] = [];
  const metrics = new Set<string>();
  const bodies: Buffer[] = [];
  const server = createServer((request, response) => {
    const parts: Buffer[] = [];
    request.on('data', (part: Buffer) => parts.push(part));
    request.on('end', () => {
      const body = Buffer.concat(parts);
      bodies.push(body);
      const scopes = messages(body, 1).flatMap((resource) => messages(resource, 2));
      if (request.url === '/v1/traces') spans.push(...scopes.flatMap((scope) => messages(scope, 2)).map(toSpan));
      else for (const metric of scopes.flatMap((scope) => messages(scope, 2))) metrics.add(text(metric, 1));
      response.writeHead(200, { 'content-type': 'application/x-protobuf' }).end();
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('no port');
  return {
    url: `http://127.0.0.1:${address.port}`,
    spans,
    metrics,
    text: () => Buffer.concat(bodies).toString('latin1'),
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

function toSpan(span: Buffer): ReceivedSpan {
  const hex = (number: number): string => (messages(span, number)[0] ?? Buffer.alloc(0)).toString('hex');
  const [status] = messages(span, 15);
  const began = fieldsOf(span).find(({ number }) => number === 7)?.value;
  return {
    traceId: hex(1),
    spanId: hex(2),
    parentId: hex(4),
    name: text(span, 5),
    attributes: Object.fromEntries(messages(span, 9).map((pair) => [text(pair, 1), valueOf(messages(pair, 2)[0])])),
    isError: status !== undefined && fieldsOf(status).some(({ number, value }) => number === 3 && value === 2n),
    beganAt: typeof began === 'bigint' ? began : 0n,
  };
}

function valueOf(any: Buffer | undefined): unknown {
  const [field] = any === undefined ? [] : fieldsOf(any);
  if (field === undefined) return null;
  const { number, value } = field;
  if (typeof value === 'bigint') return number === 2 ? value === 1n : Number(value);
  if (number === 5) return messages(value, 1).map(valueOf);
  return value.toString();
}

function text(message: Buffer, number: number): string {
  return (messages(message, number)[0] ?? Buffer.alloc(0)).toString();
}

function messages(message: Buffer, number: number): Buffer[] {
  return fieldsOf(message).flatMap((field) =>
    field.number === number && typeof field.value !== 'bigint' ? [field.value] : [],
  );
}

function fieldsOf(message: Buffer): Field[] {
  const fields: Field[] = [];
  let at = 0;
  const varint = (): bigint => {
    let value = 0n;
    for (let shift = 0n; ; shift += 7n) {
      const byte = message[at] ?? 0;
      at += 1;
      value |= BigInt(byte & 0x7f) << shift;
      if (byte < 0x80) return value;
    }
  };
  while (at < message.length) {
    const tag = Number(varint());
    const number = tag >> 3;
    switch (tag & 7) {
      case 0:
        fields.push({ number, value: varint() });
        break;
      case 1:
        fields.push({ number, value: message.readBigUInt64LE(at) });
        at += 8;
        break;
      case 2: {
        const length = Number(varint());
        fields.push({ number, value: message.subarray(at, at + length) });
        at += length;
        break;
      }
      case 5:
        fields.push({ number, value: BigInt(message.readUInt32LE(at)) });
        at += 4;
        break;
      default:
        throw new Error(`unknown wire type in tag ${tag}`);
    }
  }
  return fields;
}
