/**
 * A job is interrupted: it ends, and its messages are retracted or kept. Retracted messages leave history but stay
 * stored. Side effects remain visible to the model: a note in history names the calls that had started.
 */
import type { Append, Entry, TakenBack } from '../run/append.ts';
import { isToolUse, type ToolUseBlock } from '../conversation/blocks.ts';
import type { Ids } from '../ids.ts';
import type { ActiveJob, InterruptMode } from '../run/job.ts';
import { lastTurnOf, type Message } from '../conversation/message.ts';
import type { Mailbox } from '../run/snapshot.ts';
import type { OpenCall } from '../tools/tool-call.ts';
import { stoppedWith } from '../conversation/retraction.ts';
import { answerTurn, inputTurn, type Turn } from '../conversation/turn.ts';
import { event } from './base.ts';
import { joining } from './steer.ts';
import { closedWithJob, finished } from './tools.ts';

/** Maximum calls named in the note; the rest are counted. */
const NAMED = 50;
/** Maximum characters of a call's input quoted in the note. */
const QUOTED = 300;

/** A job whose messages are retracted. `added`: its visible messages. */
type InterruptedJob = {
  job: ActiveJob;
  mode: Exclude<InterruptMode, 'keep'>;
  added: readonly Message[];
};

/** `settled`: the append that ends the job. */
export function takeBack(mailbox: Mailbox, settled: Append, { job, mode, added }: InterruptedJob, ids: Ids): Append {
  const inputs = added.filter(({ role }) => role === 'user');
  const retracted = mode === 'rollback' ? added : added.filter(({ role }) => role !== 'user');
  const isRolledBack = mode === 'rollback';
  const firstInput = Math.min(job.turn + 1, ...inputs.map((message) => lastTurnOf([message])));
  const lastTurn = isRolledBack ? firstInput - 1 : job.turn + mailbox.steers.length;
  const takenBack: TakenBack = {
    retracted: retracted.map(({ id }) => id),
    withdrawn: isRolledBack ? mailbox.steers.map(({ messageId }) => messageId) : [],
    lastTurn,
    retraction: stoppedWith(job),
  };
  const turn: Turn = isRolledBack && inputs.length > 0 ? inputTurn(Math.max(1, firstInput)) : answerTurn(job.turn);
  const begun = begunCalls(mailbox, added);
  const ended = settled.entries.filter((entry) => entry.kind === 'event');
  return {
    ...settled,
    entries: [
      ...mailbox.calls.map((call): Entry => finished(closedWithJob(call))),
      ...(retracted.length === 0
        ? []
        : [event({ name: 'MessagesRetracted', data: { message_ids: takenBack.retracted, turn, mode } })]),
      ...(begun.length === 0 ? [] : [note(job, begun, answerTurn(Math.max(1, lastTurn)), ids)]),
      ...(isRolledBack ? [] : joining(mailbox, job)),
      ...ended.filter(({ event: { name } }) => name === 'JobFinished' || name === 'StateChanged'),
    ],
    takenBack,
  };
}

function begunCalls({ calls }: Mailbox, added: readonly Message[]): ToolUseBlock[] {
  const waiting = new Set(calls.filter((call) => !hasBegun(call)).map((call) => call.id));
  return added.flatMap(({ content }) => content.filter(isToolUse)).filter(({ id }) => !waiting.has(id));
}

/**
 * Whether the call may have had an effect. A `once` call has begun if it was marked as started; other calls,
 * including those of clients, may begin as soon as they are requested. An unanswered question had no effect, and a
 * call that waits for approval has not begun.
 */
function hasBegun({ status, effect, reply, wait }: OpenCall): boolean {
  switch (status) {
    case 'pending':
      return effect !== 'once';
    case 'started':
      return true;
    case 'waiting':
      return wait?.for !== 'approval' && (effect === 'once' || reply !== null);
  }
}

function note(job: ActiveJob, begun: readonly ToolUseBlock[], turn: Turn, ids: Ids): Entry {
  const named = begun.slice(0, NAMED).map(({ name, input }) => `${name}(${quote(JSON.stringify(input))})`);
  const more = begun.length > NAMED ? [`and ${begun.length - NAMED} more`] : [];
  const text = `An answer was interrupted and retracted here. These tool calls had already started, and may have taken effect: ${[...named, ...more].join('; ')}. Check before repeating any of them.`;
  return {
    kind: 'message',
    message: {
      id: ids.next(),
      role: 'system',
      type: 'text',
      turn,
      content: [{ type: 'text', text }],
      jobId: job.id,
      model: null,
    },
  };
}

function quote(text: string): string {
  return text.length > QUOTED ? `${text.slice(0, QUOTED)}…` : text;
}
