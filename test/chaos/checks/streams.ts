// A client that followed a context, however often the connection broke, received every entry once, in order, as it is
// stored; and the live text that it received is the beginning of the answer.
import { textOf } from '../../../src/core/conversation/blocks.ts';
import { groupBy, type Check, type Replay, type Stream, type StreamEvent, type Violation } from '../world/world.ts';
import type { StoredContext, StoredEvent, StoredMessage } from '../world/stored.ts';
import { reporter } from './violation.ts';

const violation = reporter('streams');

export const streams: Check = {
  name: 'streams',
  find(world) {
    const contexts = new Map(world.contexts.map((context) => [context.id, context]));
    const stored = expectedOf(world.messages, world.events);
    const answers = new Map(
      world.messages
        .filter(({ role, seq }) => role === 'assistant' && seq !== null)
        .map((message) => [message.id, message]),
    );
    return [
      ...world.replays.flatMap((replay) => replayFaults(replay, stored.get(replay.contextId) ?? new Map())),
      ...world.streams.flatMap((stream) => [
        ...streamFaults(stream, stored.get(stream.contextId) ?? new Map(), contexts.get(stream.contextId)),
        ...textFaults(stream, answers),
      ]),
    ];
  },
};

/** The entries of a stream by number, for each context. */
function expectedOf(
  messages: readonly StoredMessage[],
  events: readonly StoredEvent[],
): Map<string, Map<number, string>> {
  const expected = new Map<string, Map<number, string>>();
  const put = (contextId: string, seq: number, line: string): void => {
    const lines = expected.get(contextId) ?? new Map<number, string>();
    expected.set(contextId, lines.set(seq, line));
  };
  for (const { context_id: context, seq, id, type } of messages)
    if (seq !== null) put(context, seq, `${type === 'partial' ? 'MessageIncomplete' : 'MessageCompleted'} ${id}`);
  for (const event of events) put(event.context_id, event.seq, lineOf(event.name, event.data));
  return expected;
}

/** An event in one line: enough to tell it from any other of its context. */
function lineOf(name: string, data: Record<string, unknown>): string {
  if (name === 'MessageCompleted' || name === 'MessageIncomplete') return `${name} ${String(data['message_id'])}`;
  const parts = ['job_id', 'tool_call_id', 'new_state', 'status', 'turn'].map((member) =>
    JSON.stringify(data[member] ?? null),
  );
  return [name, ...parts].join(' ');
}

function replayFaults({ contextId, events }: Replay, stored: ReadonlyMap<number, string>): Violation[] {
  const numbered = events.filter(({ seq }) => seq !== null);
  const fault = listFault(numbered, 0, stored);
  return fault === null ? [] : [violation(`a replay from the start: ${fault}`, contextId)];
}

function streamFaults(
  { client, contextId, from, events, behind }: Stream,
  stored: ReadonlyMap<number, string>,
  context: StoredContext | undefined,
): Violation[] {
  if (from === null) return [];
  const numbered = events.filter(({ seq }) => seq !== null);
  const last = numbered.at(-1)?.seq ?? from;
  if (behind) return [violation(`a client never got beyond ${last} of ${context?.head_seq ?? 0}`, contextId, client)];
  const fault = listFault(numbered, from, stored);
  return fault === null ? [] : [violation(fault, contextId, client)];
}

/** From `from` on, each number once, in order, with the stored content, to the end. */
function listFault(events: readonly StreamEvent[], from: number, stored: ReadonlyMap<number, string>): string | null {
  const at = events.findIndex(({ seq }, index) => seq !== from + index + 1);
  if (at !== -1) return `${events[at]?.seq} was sent where ${from + at + 1} was due`;
  const other = events.find(({ seq, name, data }) => stored.get(seq ?? 0) !== lineOf(name, data));
  if (other !== undefined) {
    return `${other.seq} was sent as ${lineOf(other.name, other.data)}, stored is ${stored.get(other.seq ?? 0) ?? 'nothing'}`;
  }
  return from + events.length === stored.size ? null : `it ends at ${from + events.length}, stored are ${stored.size}`;
}

/** The text of one answer that a client received live. */
type LiveText = { attempt: number; text: string; sequence: number; whole: boolean };

function textFaults(
  { client, contextId, events, connection }: Stream,
  answers: ReadonlyMap<string, StoredMessage>,
): Violation[] {
  const faults: Violation[] = [];
  const done = new Map<string, number>();
  const received = new Map<string, LiveText>();
  for (const [index, { name, data }] of events.entries()) {
    const id = String(data['message_id']);
    const on = connection[index] ?? 0;
    if (name === 'MessageCompleted') done.set(id, on);
    if (name !== 'ContentDelta' && name !== 'ContentSnapshot') continue;
    if (done.get(id) === on) faults.push(violation('text of an answer after the answer', contextId, client, id));
    received.set(id, receive(received.get(id), name, data));
  }
  for (const [id, { attempt, text, whole }] of received) {
    const stored = answers.get(id);
    if (stored === undefined || !done.has(id)) continue;
    // The received text of an earlier attempt is void, and a client that was away does not receive the later one.
    if (attempt > (stored.attempt ?? attempt)) {
      faults.push(violation(`attempt ${attempt} was received, ${stored.attempt} is stored`, contextId, client, id));
    } else if (attempt === (stored.attempt ?? attempt) && whole && !textOf(stored.content).startsWith(text)) {
      faults.push(violation('the received text is not the beginning of the answer', contextId, client, id));
    }
  }
  return faults;
}

/** A higher attempt voids the text of the lower; a snapshot replaces all before it; a gap in the numbers is a loss. */
function receive(before: LiveText | undefined, name: string, data: Record<string, unknown>): LiveText {
  const attempt = Number(data['attempt']);
  const sequence = Number(data['sequence']);
  const known = before !== undefined && before.attempt > attempt ? before : null;
  if (known !== null) return known;
  if (name === 'ContentSnapshot') return { attempt, text: String(data['text']), sequence, whole: true };
  const delta = String(data['delta']);
  if (before?.attempt !== attempt) return { attempt, text: delta, sequence, whole: sequence === 0 };
  if (sequence <= before.sequence) return before;
  return {
    attempt,
    text: before.text + delta,
    sequence,
    whole: before.whole && sequence === before.sequence + 1,
  };
}

/** For each answer that a client followed: whether it received all of it, some of it, or lost its place. */
export function receivedWhole({
  streams: all,
  messages,
}: {
  streams: readonly Stream[];
  messages: readonly StoredMessage[];
}): { whole: number; part: number } {
  const texts = new Map(
    messages.filter(({ role }) => role === 'assistant').map(({ id, content }) => [id, textOf(content)]),
  );
  const count = { whole: 0, part: 0 };
  for (const { events } of all) {
    const deltas = groupBy(
      events.filter(({ name }) => name === 'ContentDelta' || name === 'ContentSnapshot'),
      ({ data }) => String(data['message_id']),
    );
    for (const [id, list] of deltas) {
      const received = list.reduce<LiveText | undefined>(
        (before, { name, data }) => receive(before, name, data),
        undefined,
      );
      if (received?.whole === true && received.text === texts.get(id)) count.whole += 1;
      else count.part += 1;
    }
  }
  return count;
}
