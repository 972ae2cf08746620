// A strict client of event streams over real HTTP: every event has a name, its data is JSON, ids rise.
import { request, type ClientRequest, type IncomingMessage } from 'node:http';

export type ReceivedEvent = {
  /** Null: an event without an id. */
  id: number | null;
  event: string;
  // oxlint-disable-next-line typescript/no-explicit-any -- `expect` finds out what it is
  data: any;
};

export type SseClient = {
  status: number;
  headers: IncomingMessage['headers'];
  /** All events received so far. */
  received: ReceivedEvent[];
  /** The `retry` of the stream: milliseconds. */
  retry(): number | null;
  /** The last id, as a browser would send it; null: there was none. */
  lastId(): string | null;
  /** The first event, past or future, that this predicate accepts. Rejects when the stream ends without it. */
  until(is: (received: ReceivedEvent) => boolean): Promise<ReceivedEvent>;
  /** Resolves when the stream has ended, however it did. */
  ended: Promise<void>;
  /** Reads nothing from here on. */
  pause(): void;
  resume(): void;
  close(): void;
};

export type Ask = { after?: number | string; lastEventId?: string; headers?: Record<string, string> };

/** The stream of a context. Resolves with the head of the answer. */
export function openSse(url: string, contextId: string, ask: Ask = {}): Promise<SseClient> {
  const query = ask.after === undefined ? '' : `?after=${ask.after}`;
  return openStream(`${url}/api/contexts/${contextId}/events${query}`, ask);
}

/** The stream at this address. Resolves with the head of the answer. */
export async function openStream(url: string, ask: Omit<Ask, 'after'> = {}): Promise<SseClient> {
  const asked: ClientRequest = request(url, {
    agent: false,
    headers: {
      accept: 'text/event-stream',
      ...(ask.lastEventId === undefined ? {} : { 'last-event-id': ask.lastEventId }),
      ...ask.headers,
    },
  });
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    asked.once('response', resolve);
    asked.once('error', reject);
    asked.end();
  });
  asked.on('error', () => undefined);
  response.on('error', () => undefined);
  const received: ReceivedEvent[] = [];
  const waiting = new Set<() => void>();
  let retry: number | null = null;
  let lastId: string | null = null;
  let rest = '';
  let over = false;
  const take = (frame: string): void => {
    const fields = new Map<string, string>();
    for (const line of frame.split('\n')) {
      const [, name = '', value = ''] = /^([a-z]+): ?(.*)$/.exec(line) ?? [];
      if (name === '' || fields.has(name)) throw new Error(`no field, or one twice: ${line}`);
      fields.set(name, value);
    }
    retry = fields.has('retry') ? Number(fields.get('retry')) : retry;
    const id = fields.get('id') ?? null;
    if (id !== null && lastId !== null && Number(id) < Number(lastId)) throw new Error(`id ${id} after ${lastId}`);
    lastId = id ?? lastId;
    const [event, data] = [fields.get('event'), fields.get('data')];
    if (event === undefined && data === undefined) return;
    if (event === undefined || data === undefined) throw new Error(`half an event: ${frame}`);
    received.push({ id: id === null ? null : Number(id), event, data: JSON.parse(data) });
  };
  response.setEncoding('utf8');
  response.on('data', (chunk: string) => {
    const frames = (rest + chunk).split('\n\n');
    rest = frames.pop() ?? '';
    for (const frame of frames) take(frame);
    for (const look of waiting) look();
  });
  const ended = new Promise<void>((resolve) => {
    response.once('close', () => {
      over = true;
      for (const look of waiting) look();
      resolve();
    });
  });
  return {
    status: response.statusCode ?? 0,
    headers: response.headers,
    received,
    retry: () => retry,
    lastId: () => lastId,
    until: (is) =>
      new Promise((resolve, reject) => {
        let looked = 0;
        const timer = setTimeout(() => reject(new Error(`not received within 150 s: ${is.toString()}`)), 150_000);
        const look = (): void => {
          for (; looked < received.length; looked += 1) {
            const one = received[looked];
            if (one === undefined || !is(one)) continue;
            clearTimeout(timer);
            waiting.delete(look);
            resolve(one);
            return;
          }
          if (!over) return;
          clearTimeout(timer);
          waiting.delete(look);
          reject(new Error(`the stream ended without it: ${is.toString()}`));
        };
        waiting.add(look);
        look();
      }),
    ended,
    pause: () => void response.pause(),
    resume: () => void response.resume(),
    close: () => asked.destroy(),
  };
}

/** Those with an id. */
export function numbered(received: readonly ReceivedEvent[]): ReceivedEvent[] {
  return received.filter(({ id }) => id !== null);
}

/** The text that a client shows for each message: by message id, assembled as the contract specifies. */
export function addUp(received: readonly ReceivedEvent[]): Map<string, { attempt: number; text: string }> {
  const shown = new Map<string, { attempt: number; text: string; sequence: number }>();
  for (const { event, data } of received) {
    if (event !== 'ContentDelta' && event !== 'ContentSnapshot') continue;
    const { message_id: id, attempt, sequence } = data;
    const before = shown.get(id);
    const isNew = before === undefined || before.attempt < attempt;
    if (before !== undefined && attempt < before.attempt) throw new Error('an older attempt after a newer one');
    if (event === 'ContentSnapshot') {
      shown.set(id, { attempt, text: data.text, sequence });
      continue;
    }
    const expected = isNew ? 0 : before.sequence + 1;
    if (sequence !== expected) throw new Error(`delta ${sequence} where ${expected} should be`);
    shown.set(id, { attempt, text: (isNew ? '' : before.text) + data.delta, sequence });
  }
  return shown;
}
