/**
 * The events of a context as an iterator that outlives its connections: it comes again with the last number that it was
 * told, so that nothing numbered is missed or told twice.
 */
import { toError } from './errors.ts';
import { backoff, pause, retryAfter } from './pause.ts';
import { EVENT_NAMES } from './schema.ts';
import type { EventData } from './schema.ts';
import { readFrames } from './sse.ts';
import type { Frame } from './sse.ts';
import { queryOf, unreached } from './transport.ts';
import type { Open } from './transport.ts';

type Announced = Omit<EventData, 'Heartbeat'>;

/** Told apart by `event`. */
export type StreamEvent = {
  [Name in keyof Announced]: {
    event: Name;
    data: Announced[Name];
    /** Its number in the context, to be given as `after`; null: fleeting, and never told again. */
    id: number | null;
    /** Counts the connections of this stream, from 1: the text of a message in the making is told anew on each. */
    connection: number;
  };
}[keyof Announced];

export type EventsOptions = {
  /** Begins after this number; 0: with all that ever happened. Without it: with what is live now. */
  after?: number;
  /** Ends the iteration, without an error. */
  signal?: AbortSignal;
  /** The iteration ends once all up to this number was told (`contexts.head`). */
  upto?: number;
  /** The iteration ends after the event that this says yes to. */
  until?: (event: StreamEvent) => boolean;
  /** Told when a connection is there (`null`), and when it was lost: why, and in how many milliseconds it is tried again. */
  onConnection?: (lost: { cause: unknown; retryMs: number } | null) => void;
};

/** The API says something at least every 15 s: a connection that is silent for so long is lost. */
const SILENT_MS = 45_000;
const LONGEST_BACKOFF_MS = 30_000;
const AGAIN = [429, 500, 502, 503, 504];

/** Throws a `NightshiftError` where coming again is of no use: `not_found`, `unauthorized`, `invalid_request`. */
export async function* followEvents(
  open: Open,
  contextId: string,
  options: EventsOptions = {},
): AsyncGenerator<StreamEvent, void, undefined> {
  const { signal, upto = Infinity, until = () => false, onConnection = () => undefined } = options;
  const cursor: Cursor = { last: options.after ?? null, retryMs: 2_000 };
  if (cursor.last !== null && cursor.last >= upto) return;
  let failures = 0;
  for (let connection = 1; !isRaised(signal); connection += 1) {
    const received = hear(open, contextId, cursor, connection, signal);
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
          const event = next.value === 'moved' ? null : next.value;
          if (event !== null) yield event;
          if ((cursor.last ?? 0) >= upto || isRaised(signal)) return;
          if (event !== null && until(event)) return;
        }
      }
    } finally {
      await received.return({ cause: null, after: null });
    }
    if (lost.after === 'never') throw lost.cause;
    const retryMs = lost.after ?? backoff(failures, cursor.retryMs, LONGEST_BACKOFF_MS);
    failures += 1;
    onConnection({ cause: lost.cause, retryMs });
    await pause(retryMs, signal);
  }
}

/** The number of the last thing that happened in a context. */
export async function readHead(open: Open, contextId: string, signal?: AbortSignal): Promise<number> {
  const cursor: Cursor = { last: null, retryMs: 2_000 };
  const received = hear(open, contextId, cursor, 1, signal);
  try {
    while (cursor.last === null) {
      const next = await received.next();
      if (next.done === true) throw unreached(next.value.cause);
    }
    return cursor.last;
  } finally {
    await received.return({ cause: null, after: null });
  }
}

/** Why a connection ended, and when the API wants to be asked again: in milliseconds; null: it does not say. */
type Lost = { cause: unknown; after: number | null | 'never' };

/** One connection. `moved`: something that is not told to others, but may have moved the cursor. */
async function* hear(
  open: Open,
  contextId: string,
  cursor: Cursor,
  connection: number,
  signal?: AbortSignal,
): AsyncGenerator<StreamEvent | 'connected' | 'moved', Lost, undefined> {
  const guard = openGuard(signal);
  try {
    const response = await open(pathOf(contextId, cursor), { accept: 'text/event-stream' }, guard.signal);
    if (!response.ok) {
      const after = AGAIN.includes(response.status) ? retryAfter(response) : 'never';
      return { cause: await toError(response), after };
    }
    yield 'connected';
    for await (const frame of readFrames(response.body ?? new ReadableStream(), guard.signal)) {
      guard.alive();
      yield take(frame, cursor, connection) ?? 'moved';
    }
    return { cause: null, after: null };
  } catch (cause) {
    return { cause, after: null };
  } finally {
    guard.end();
  }
}

/** Asked anew each time: it changes meanwhile. */
function isRaised(signal?: AbortSignal): boolean {
  return signal?.aborted === true;
}

type Cursor = {
  /** Null: nothing was said yet. */
  last: number | null;
  retryMs: number;
};

function pathOf(contextId: string, { last }: Cursor): string {
  const query = queryOf(last === null ? {} : { after: last });
  return `/api/contexts/${encodeURIComponent(contextId)}/events${query}`;
}

/** Moves the cursor; null: nothing that is told, or told already. */
function take(frame: Frame, cursor: Cursor, connection: number): StreamEvent | null {
  cursor.retryMs = frame.retry ?? cursor.retryMs;
  const id = frame.id === null ? null : Number(frame.id);
  const known = id !== null && cursor.last !== null && id <= cursor.last;
  if (id !== null && !known) cursor.last = id;
  if (frame.data === null || !isTold(frame.event)) return null;
  if (known) return null;
  return { event: frame.event, data: JSON.parse(frame.data), id, connection };
}

function isTold(name: string | null): name is keyof Announced {
  return name !== 'Heartbeat' && (EVENT_NAMES as readonly (string | null)[]).includes(name);
}

/** A signal that is raised with another one, or once nobody said `alive` for too long. */
function openGuard(outer?: AbortSignal) {
  const controller = new AbortController();
  const abort = (): void => controller.abort(outer?.reason);
  const silent = (): void => controller.abort(new Error('The stream fell silent.'));
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
