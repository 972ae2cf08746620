/** The answer of a fake provider: its content, rendered in every wire format, and its failures. */
import type { Json, JsonObject } from '../../../src/core/json.ts';

export type Format = 'messages' | 'chat' | 'responses';

/** `arguments` as a string is sent unchanged, JSON or not. Without an `id` one is made. */
export type FakeCall = { id?: string; name: string; arguments: JsonObject | string };

/** `input` excludes the cached tokens, as our own `Usage` does. */
export type FakeUsage = { input: number; output: number; cacheRead?: number; cacheWrite?: number };

export type FakeAnswer = {
  thinking?: string;
  /** Several strings: one delta each. */
  text?: string | readonly string[];
  toolCalls?: readonly FakeCall[];
  /** The text of a refusal: the answer ends as each format ends a refused one. */
  refusal?: string;
  finish?: 'stop' | 'max_tokens';
  usage?: FakeUsage;
  /** Defaults to the requested model. */
  model?: string;
  /** Of the response. */
  id?: string;
  /** Milliseconds before each event of a stream. */
  paceMs?: number;
  /** Milliseconds between the last event of a stream and the end of its body. */
  lingerMs?: number;
  fault?: Fault;
};

/**
 * How the answer breaks. `after`: the number of events sent before it does; without it: up to and with the first delta.
 * A whole answer breaks in the middle of its body; `error_event` is for streams only.
 */
export type Fault =
  /** Nothing is ever sent, no headers either. */
  | { kind: 'no_headers' }
  /** Headers and then nothing. */
  | { kind: 'no_body' }
  | { kind: 'error_event'; type: string; message: string; code?: string; after?: number }
  /** The stream ends as if it were complete. */
  | { kind: 'cut'; after?: number }
  /** The socket is reset. */
  | { kind: 'reset'; after?: number }
  /** Nothing more is sent; with `pingMs` a ping at intervals. */
  | { kind: 'stall'; after?: number; pingMs?: number };

/** An answer with only a status. `body` defaults to an error in the text of the format. */
export type FakeStatus = {
  status: number;
  headers?: Readonly<Record<string, string>>;
  body?: Json;
  type?: string;
  code?: string;
  message?: string;
};

/**
 * The recorded answer of a real provider: the events of a stream, or the body of a whole answer. A string is sent
 * unchanged.
 */
export type FakeRecording = {
  recorded: { events: readonly (JsonObject | string)[] } | { whole: JsonObject };
};

export type FakeReply = FakeAnswer | FakeStatus | FakeRecording;

export function isRecording(reply: FakeReply): reply is FakeRecording {
  return 'recorded' in reply;
}

export function isStatus(reply: FakeReply): reply is FakeStatus {
  return 'status' in reply;
}

/** The answer with all defaults, for the renderers. */
export type Spoken = {
  id: string;
  model: string;
  thinking: string;
  text: readonly string[];
  calls: readonly { id: string; name: string; arguments: string }[];
  refusal: string | null;
  finish: 'stop' | 'tool_use' | 'max_tokens' | 'refusal';
  usage: Required<FakeUsage>;
};

/** A rendered answer: the events of the stream, which of them is the first delta, and the body of the whole. */
export type Rendered = { events: string[]; firstDelta: number; whole: JsonObject };

export function speak(answer: FakeAnswer, asked: { index: number; model: string }): Spoken {
  const calls = (answer.toolCalls ?? []).map((call, place) => ({
    id: call.id ?? `call_${asked.index}_${place}`,
    name: call.name,
    arguments: typeof call.arguments === 'string' ? call.arguments : JSON.stringify(call.arguments),
  }));
  return {
    id: answer.id ?? `resp_${asked.index}`,
    model: answer.model ?? asked.model,
    thinking: answer.thinking ?? '',
    text: typeof answer.text === 'string' ? inDeltas(answer.text) : (answer.text ?? []),
    calls,
    refusal: answer.refusal ?? null,
    finish: finishOf(answer, calls.length),
    usage: { cacheRead: 0, cacheWrite: 0, ...(answer.usage ?? { input: 10, output: 5 }) },
  };
}

function finishOf(answer: FakeAnswer, calls: number): Spoken['finish'] {
  if (answer.refusal !== undefined) return 'refusal';
  if (answer.finish === 'max_tokens') return 'max_tokens';
  return calls > 0 ? 'tool_use' : 'stop';
}

/** Deltas of a few characters; never between the halves of a surrogate pair. */
export function inDeltas(text: string): string[] {
  const points = Array.from(text);
  const size = Math.max(8, Math.ceil(points.length / 32));
  const deltas: string[] = [];
  for (let at = 0; at < points.length; at += size) deltas.push(points.slice(at, at + size).join(''));
  return deltas;
}

/** A recording as it is sent; chat chunks have no name, and end with a mark of their own. */
export function renderRecording(format: Format, recorded: FakeRecording['recorded']): Rendered {
  if ('whole' in recorded) return { events: [], firstDelta: 0, whole: recorded.whole };
  const events = recorded.events.map((data) => {
    if (typeof data === 'string') return `data: ${data}\n\n`;
    const name = data['type'];
    return event(data, format === 'chat' || typeof name !== 'string' ? undefined : name);
  });
  return { events: format === 'chat' ? [...events, 'data: [DONE]\n\n'] : events, firstDelta: 0, whole: {} };
}

/** One server-sent event, named or not. */
export function event(data: Json, name?: string): string {
  return `${name === undefined ? '' : `event: ${name}\n`}data: ${JSON.stringify(data)}\n\n`;
}
