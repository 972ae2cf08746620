/**
 * A job is interrupted: it ends, and what it added is taken back or kept. What is taken back leaves history, not the
 * store. Effects are not forgotten: one note in history names the calls that had begun.
 */
import type { Append, Entry, TakenBack } from '../append.ts';
import { isToolUse } from '../blocks.ts';
import type { ToolUseBlock } from '../blocks.ts';
import type { Ids } from '../ids.ts';
import type { ActiveJob, InterruptMode } from '../job.ts';
import { lastTurnOf } from '../message.ts';
import type { Message } from '../message.ts';
import type { Mailbox } from '../snapshot.ts';
import type { OpenCall } from '../tool-call.ts';
import { answerTurn, inputTurn } from '../turn.ts';
import type { Turn } from '../turn.ts';
import { event } from './base.ts';
import { settle } from './settle.ts';
import { joining } from './steer.ts';
import { closedWithJob, finished } from './tools.ts';

/** Calls that the note names; the rest are counted. */
const NAMED = 50;
/** Characters of a call's input that the note quotes. */
const QUOTED = 300;

/** `added`: the visible messages of the job. */
export function interrupt(
  mailbox: Mailbox,
  job: ActiveJob,
  mode: InterruptMode,
  added: readonly Message[],
  ids: Ids,
): Append {
  const transition = settle(mailbox, job, { status: 'interrupted', mode }, ids);
  return mode === 'keep' ? transition : takeBack(mailbox, job, mode, added, ids, transition);
}

function takeBack(
  mailbox: Mailbox,
  job: ActiveJob,
  mode: Exclude<InterruptMode, 'keep'>,
  added: readonly Message[],
  ids: Ids,
  transition: Append,
): Append {
  const inputs = added.filter(({ role }) => role === 'user');
  const gone = mode === 'rollback' ? added : added.filter(({ role }) => role !== 'user');
  const isRolledBack = mode === 'rollback';
  const firstInput = Math.min(job.turn + 1, ...inputs.map((message) => lastTurnOf([message])));
  const lastTurn = isRolledBack ? firstInput - 1 : job.turn + mailbox.steers.length;
  const takenBack: TakenBack = {
    retracted: gone.map(({ id }) => id),
    withdrawn: isRolledBack ? mailbox.steers.map(({ messageId }) => messageId) : [],
    lastTurn,
  };
  const turn: Turn =
    isRolledBack && inputs.length > 0 ? inputTurn(Math.max(1, firstInput)) : answerTurn(job.turn);
  const begun = begunCalls(mailbox, added);
  const ended = transition.entries.filter((entry) => entry.kind === 'event');
  return {
    ...transition,
    entries: [
      ...mailbox.calls.map((call): Entry => finished(closedWithJob(call))),
      ...(gone.length === 0
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
 * Of a `once` call the mark says so; others begin as soon as they are asked for, those of clients too. A question that
 * nobody answered did nothing, and what nobody approved did not begin.
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
  const text = `An answer was interrupted and taken back here. Tool calls had begun before that, and what they did stands: ${[...named, ...more].join('; ')}. Check before repeating any of them.`;
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
