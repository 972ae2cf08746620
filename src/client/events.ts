/**
 * Events as an iterator that reconnects by itself: those of a context, resumed after the last event number, so that
 * numbered events are neither missed nor repeated; and the changes of a tenant.
 */
import { toError } from './errors.ts';
import { backoff, pause, retryAfter } from './pause.ts';
import { EVENT_NAMES, type EventData } from './schema.ts';
import { readFrames, type Frame } from './sse.ts';
import { queryOf, unreached, type Open } from './transport.ts';

/** Those of a context. */
type Announced = Omit<EventData, 'Heartbeat' | 'Changed'>;

/** Discriminated by `event`. */
export type StreamEvent = {
  [Name in keyof Announced]: {
    /** The name of the event. */
    event: Name;
    /** What the event tells. */
    data: Announced[Name];
    /** The number of the event in the context, usable as `after`. Null: a transient event that is never repeated. */
    id: number | null;
    /** Number of the connection, from 1. Each connection sends the text of partial messages again. */
    connection: number;
  };
}[keyof Announced];

/** What may have changed in lists of the tenant. `ids` empty: any of the resource. */
export type Change = EventData['Changed'];

/** A connection that was lost. */
export type LostConnection = {
  /** An error, or null: the API closed it. */
  cause: unknown;
  /** Milliseconds until the next attempt. */
  retryMs: number;
};

/** When the changes of a tenant end. */
export type ChangesOptions = Pick<EventsOptions, 'signal' | 'onConnection'>;

/** Where a stream of events begins and ends. */
export type EventsOptions = {
  /** Starts after this event number; 0: all events. Without it: only new events. */
  after?: number;
  /** Ends the iteration, without an error. */
  signal?: AbortSignal;
  /** The iteration ends after the event with this number (`contexts.head`). */
  upto?: number;
  /** The iteration ends after an event for which this returns true. */
  until?: (event: StreamEvent) => boolean;
  /** Called with `null` when connected, and with cause and retry delay when the connection is lost. */
  onConnection?: (lost: LostConnection | null) => void;
};

/** The API sends something at least every 15 s. A connection that is silent for longer than this is lost. */
const SILENT_MS = 45_000;
const LONGEST_BACKOFF_MS = 30_000;
const AGAIN = [429, 500, 502, 503, 504];

/** Throws a `NightshiftError` if reconnecting is useless: `not_found`, `unauthorized`, `invalid_request`. */
export async function* followEvents(
  open: Open,
  contextId: string,
  options: EventsOptions = {},
): AsyncGenerator<StreamEvent, void, undefined> {
  const { signal, upto = Infinity, until = () => false, onConnection = () => undefined } = options;
  const cursor: Cursor = { last: options.after ?? null, retryMs: 2_000 };
  if (cursor.last !== null && cursor.last >= upto) return;
  const pathNow = (): string => pathOf(contextId, cursor);
  for await (const { frame, connection } of followFrames({ open, pathNow, signal }, cursor, onConnection)) {
    const event = take(frame, cursor, connection);
    if (event !== null) yield event;
    if ((cursor.last ?? 0) >= upto || isRaised(signal)) return;
    if (event !== null && until(event)) return;
  }
}

/** Throws a `NightshiftError` if reconnecting is useless: `unauthorized`, `forbidden`. */
export async function* followChanges(
  open: Open,
  { signal, onConnection = () => undefined }: ChangesOptions = {},
): AsyncGenerator<Change, void, undefined> {
  const source = { open, pathNow: () => '/api/events', signal };
  for await (const { frame } of followFrames(source, { retryMs: 2_000 }, onConnection)) {
    if (frame.event === 'Changed' && frame.data !== null) yield JSON.parse(frame.data) as Change;
  }
}

/** All frames of one connection after another, until the signal ends it. */
async function* followFrames(
  source: Source,
  pace: Pick<Cursor, 'retryMs'>,
  onConnection: NonNullable<EventsOptions['onConnection']>,
): AsyncGenerator<{ frame: Frame; connection: number }, void, undefined> {
  const { signal } = source;
  let failures = 0;
  for (let connection = 1; !isRaised(signal); connection += 1) {
    const received = receiveFrames(source);
    let lost: Lost | null = null;
    try {
      while (lost === null) {
        const next = await received.next();
        if (isRaised(signal)) return;
        if (next.done === true) lost = next.value;
        else if (next.value === 'connected') {
          failures = 0;
          onConnection(null);
        } else {
          pace.retryMs = next.value.retry ?? pace.retryMs;
          yield { frame: next.value, connection };
        }
      }
    } finally {
      await received.return({ cause: null, after: null });
    }
    if (lost.after === 'never') throw lost.cause;
    const retryMs = lost.after ?? backoff(failures, pace.retryMs, LONGEST_BACKOFF_MS);
    failures += 1;
    onConnection({ cause: lost.cause, retryMs });
    await pause(retryMs, signal);
  }
}

/** The number of the last event in a context. */
export async function readHead(open: Open, contextId: string, signal?: AbortSignal): Promise<number> {
  const cursor: Cursor = { last: null, retryMs: 2_000 };
  const received = receiveFrames({ open, pathNow: () => pathOf(contextId, cursor), signal });
  try {
    while (cursor.last === null) {
      const next = await received.next();
      if (next.done === true) throw unreached(next.value.cause);
      if (next.value !== 'connected') take(next.value, cursor, 1);
    }
    return cursor.last;
  } finally {
    await received.return({ cause: null, after: null });
  }
}

/** `pathNow`: of the next connection. */
type Source = { open: Open; pathNow: () => string; signal: AbortSignal | undefined };

/** Why a connection ended, and the retry delay of the API in milliseconds; null: not given. */
type Lost = { cause: unknown; after: number | null | 'never' };

/** One connection. */
async function* receiveFrames({ open, pathNow, signal }: Source): AsyncGenerator<Frame | 'connected', Lost, undefined> {
  const guard = openGuard(signal);
  try {
    const response = await open(pathNow(), { accept: 'text/event-stream' }, guard.signal);
    if (!response.ok) {
      const after = AGAIN.includes(response.status) ? retryAfter(response) : 'never';
      return { cause: await toError(response), after };
    }
    yield 'connected';
    for await (const frames of readFrames(response.body ?? new ReadableStream(), guard.signal)) {
      guard.alive();
      for (const frame of frames) {
        yield frame;
        guard.alive();
      }
    }
    return { cause: null, after: null };
  } catch (cause) {
    return { cause, after: null };
  } finally {
    guard.end();
  }
}

/** A function, because the value changes between calls and TypeScript would narrow it. */
function isRaised(signal?: AbortSignal): boolean {
  return signal?.aborted === true;
}

type Cursor = {
  /** Null: no event yet. */
  last: number | null;
  retryMs: number;
};

function pathOf(contextId: string, { last }: Cursor): string {
  const query = queryOf(last === null ? {} : { after: last });
  return `/api/contexts/${encodeURIComponent(contextId)}/events${query}`;
}

/** Moves the cursor. Null: not an event for the caller, or a repeated one. */
function take(frame: Frame, cursor: Cursor, connection: number): StreamEvent | null {
  const id = frame.id === null ? null : Number(frame.id);
  const known = id !== null && cursor.last !== null && id <= cursor.last;
  if (id !== null && !known) cursor.last = id;
  if (known || frame.data === null || !isKnown(frame.event)) return null;
  return { event: frame.event, data: JSON.parse(frame.data), id, connection };
}

function isKnown(name: string | null): name is keyof Announced {
  return name !== 'Heartbeat' && name !== 'Changed' && (EVENT_NAMES as readonly (string | null)[]).includes(name);
}

/** A signal that aborts with the outer signal, or if `alive` was not called for `SILENT_MS`. */
function openGuard(outer?: AbortSignal) {
  const controller = new AbortController();
  const abort = (): void => controller.abort(outer?.reason);
  const silent = (): void => controller.abort(new Error(`The event stream sent nothing for ${SILENT_MS / 1000} s.`));
  let timer = setTimeout(silent, SILENT_MS);
  outer?.addEventListener('abort', abort);
  return {
    signal: controller.signal,
    alive() {
      clearTimeout(timer);
      timer = setTimeout(silent, SILENT_MS);
    },
    end() {
      clearTimeout(timer);
      outer?.removeEventListener('abort', abort);
      controller.abort();
    },
  };
}
