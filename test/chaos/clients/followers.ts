// Clients that follow the events of a context, lose the connection at random, and reconnect with their last number: to
// any API process, again and again, until all contexts are idle and they have seen the last event.
import { setTimeout as sleep } from 'node:timers/promises';
import type { Random } from '../random.ts';
import { AUTHORIZED } from '../platform.ts';
import type { Replay, Stream, StreamEvent } from '../world/world.ts';

export type Followers = {
  streams: Stream[];
  /**
   * From now on no client disconnects; each ends once it has seen its context's head. Marks those that do not get
   * there.
   */
  finish(heads: ReadonlyMap<string, number>, withinMs: number): Promise<void>;
};

/** About the time that a browser waits before it reconnects. */
const RETRY_MS = [1_000, 2_000] as const;
/** How long a client stays connected, in milliseconds. */
const STAY_MS = [500, 15_000] as const;

export function startFollowers(
  urls: readonly string[],
  contexts: readonly string[],
  random: Random,
  count: number,
): Followers {
  const over = new AbortController();
  const settled = new AbortController();
  const all = Array.from({ length: count }, (_, at) => {
    const own = random.of(`client ${at}`);
    const stream: Stream = {
      client: `client-${at + 1}`,
      contextId: own.pick(contexts),
      from: own.chance(0.6) ? 0 : null,
      connections: 0,
      events: [],
      connection: [],
      behind: false,
    };
    return { stream, ended: follow(stream, urls, own, over.signal, settled.signal) };
  });
  return {
    streams: all.map(({ stream }) => stream),
    async finish(heads, withinMs) {
      settled.abort();
      const deadline = performance.now() + withinMs;
      const isBehind = ({ contextId, events, from }: Stream): boolean =>
        from !== null && lastOf(events, from) < (heads.get(contextId) ?? 0);
      while (all.some(({ stream }) => isBehind(stream)) && performance.now() < deadline) await sleep(100);
      for (const { stream } of all) stream.behind = isBehind(stream);
      over.abort();
      await Promise.all(all.map(({ ended }) => ended));
    },
  };
}

async function follow(
  stream: Stream,
  urls: readonly string[],
  random: Random,
  over: AbortSignal,
  settled: AbortSignal,
): Promise<void> {
  while (!over.aborted) {
    stream.connections += 1;
    const number = stream.connections;
    const leave = AbortSignal.any([
      over,
      ...(settled.aborted ? [AbortSignal.timeout(10_000)] : [settled, AbortSignal.timeout(random.between(...STAY_MS))]),
    ]);
    const last = stream.from === null ? null : lastOf(stream.events, stream.from);
    const url = `${random.pick(urls)}/api/contexts/${stream.contextId}/events`;
    const wasOpen = await open(url, last, number === 1 || random.chance(0.3), leave)
      .then(async (response) => {
        if (!response.ok) return false;
        await read(response, (event) => keep(stream, number, event));
        return true;
      })
      .catch(() => leave.aborted);
    await sleep(wasOpen ? random.between(0, 400) : random.between(...RETRY_MS));
  }
}

/** `last` null: from the live end. */
function open(url: string, last: number | null, inUrl: boolean, signal: AbortSignal): Promise<Response> {
  if (last === null) return fetch(url, { signal, headers: AUTHORIZED });
  return inUrl
    ? fetch(`${url}?after=${last}`, { signal, headers: AUTHORIZED })
    : fetch(url, { signal, headers: { ...AUTHORIZED, 'last-event-id': String(last) } });
}

function keep(stream: Stream, connection: number, event: StreamEvent): void {
  if (stream.from === null && event.seq !== null) stream.from = event.seq - 1;
  stream.events.push(event);
  stream.connection.push(connection);
}

function lastOf(events: readonly StreamEvent[], from: number): number {
  return events.findLast(({ seq }) => seq !== null)?.seq ?? from;
}

/** All events of a context's stream from its start. */
export async function replay(api: string, contextId: string, head: number, withinMs: number): Promise<Replay> {
  const events: StreamEvent[] = [];
  const enough = new AbortController();
  const signal = AbortSignal.any([enough.signal, AbortSignal.timeout(withinMs)]);
  const url = `${api}/api/contexts/${contextId}/events?after=0`;
  if (head === 0) return { contextId, events };
  while (!signal.aborted) {
    const status = await fetch(url, { signal, headers: AUTHORIZED })
      .then(async (response) => {
        if (response.ok) {
          await read(response, (event) => {
            events.push(event);
            if (event.seq === head) enough.abort();
          });
        }
        return response.status;
      })
      .catch(() => 0);
    // A connection to Postgres that went silent may be found out only now: the request is repeated.
    if (status !== 503) break;
    await sleep(RETRY_MS[0]);
  }
  return { contextId, events };
}

/** Server-sent events, one after the other, until the connection ends. */
async function read(response: Response, receive: (event: StreamEvent) => void): Promise<void> {
  if (response.body === null) return;
  const text = response.body.pipeThrough(new TextDecoderStream());
  let rest = '';
  for await (const piece of text) {
    const blocks = (rest + piece).split(/\r?\n\r?\n/);
    rest = blocks.pop() ?? '';
    for (const block of blocks) {
      const event = parse(block);
      if (event !== null) receive(event);
    }
  }
}

/** Null: a comment, or nothing but `retry`. */
function parse(block: string): StreamEvent | null {
  let seq: number | null = null;
  let name = 'message';
  const data: string[] = [];
  for (const line of block.split(/\r?\n/)) {
    const [, field = '', value = ''] = /^([a-z]*): ?(.*)$/s.exec(line) ?? [];
    if (field === 'id') seq = Number(value);
    if (field === 'event') name = value;
    if (field === 'data') data.push(value);
  }
  return data.length === 0 ? null : { seq, name, data: JSON.parse(data.join('\n')) as Record<string, unknown> };
}
