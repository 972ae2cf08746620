/** The messages that an append adds, and changes of inputs and messages that are already stored. */
import { sql } from 'drizzle-orm';
import { MAIN } from '../../../core/conversation/branch.ts';
import type { Retraction } from '../../../core/conversation/retraction.ts';
import type { MessageId } from '../../../core/ids.ts';
import type { ModelCall } from '../../../core/model/model-call.ts';
import type { TakenBack } from '../../../core/run/append.ts';
import type { Millis } from '../../../core/time.ts';
import { modelColumns } from '../../model-calls/model-meta.ts';
import type { EndedCall } from '../../schema/calls.ts';
import { messages } from '../../schema/messages.ts';
import { workers } from '../../schema/workers.ts';
import type { EncodedAppend, PlacedMessage } from './contents.ts';
import { endedCalls } from './ended-calls.ts';
import { placedEntries } from './entries.ts';
import { insertion, update } from './part.ts';

type AddedMessage = PlacedMessage & {
  /** The model call that this message answers. */
  call: Extract<ModelCall, { kind: 'answered' }> | null;
  completedAt: Millis | null;
  /** The call whose result it is, if the call ended within this append. */
  ended: EndedCall | null;
};

function addedMessages(append: EncodedAppend): AddedMessage[] {
  const { messages: placed, modelCall } = append;
  const ended = endedCalls(append);
  return placed.map((added): AddedMessage => {
    const { id } = added.message;
    const call = modelCall?.kind === 'answered' && modelCall.messageId === id ? modelCall : null;
    return {
      ...added,
      call,
      completedAt: call === null ? null : firstBegan(ended),
      ended: ended.get(id) ?? null,
    };
  });
}

/** The answer was complete when the first call that ended with it began. Null: it completes when it is stored. */
function firstBegan(ended: ReadonlyMap<MessageId, EndedCall>): Millis | null {
  const began = [...ended.values()].flatMap(({ execution }) => execution?.began_at ?? []);
  return began.length === 0 ? null : Math.min(...began);
}

export const newMessages = insertion('new_messages', messages, {
  of: addedMessages,
  inputs: {
    place: ['int', ({ place }) => place],
    ended_at: ['timestamptz', ({ completedAt }) => completedAt],
  },
  columns: {
    id: ({ message }) => message.id,
    tenantId: sql`ctx.tenant_id`,
    contextId: sql`ctx.id`,
    branch: sql`ctx.branch`,
    seq: sql`ctx.base + r.place`,
    role: ({ message }) => message.role,
    type: ({ message }) => message.type,
    turn: ({ message }) => message.turn,
    status: sql`'completed'`,
    content: ({ content }) => content,
    jobId: ({ message }) => message.jobId,
    call: ({ ended }) => ended,
    ...modelColumns(({ message }: AddedMessage) => message.model),
    attempt: ({ call }) => call?.attempt ?? null,
    calledAt: ({ call }) => call?.calledAt ?? null,
    firstByteAt: ({ call }) => call?.firstByteAt ?? null,
    throttled: ({ call }) => call?.throttled ?? null,
    prompt: ({ call }) => call?.prompt ?? null,
    createdAt: sql`least(r.ended_at, statement_timestamp())`,
    completedAt: sql`least(r.ended_at, statement_timestamp())`,
    appendedAt: sql`case when r.ended_at < statement_timestamp() then statement_timestamp() end`,
  },
});

/** The text of an answer that was not finished. It is stored beside the history. */
export const partialAnswers = insertion('partial_answers', messages, {
  of: ({ partials }) => partials,
  inputs: { place: ['int', ({ place }) => place] },
  columns: {
    id: ({ partial }) => partial.id,
    tenantId: sql`ctx.tenant_id`,
    contextId: sql`ctx.id`,
    branch: sql`ctx.branch`,
    seq: sql`ctx.base + r.place`,
    role: sql`'assistant'`,
    type: sql`'partial'`,
    turn: ({ partial }) => partial.turn,
    status: sql`'retracted'`,
    content: ({ content }) => content,
    jobId: ({ partial }) => partial.jobId,
    retraction: ({ partial }) => partial.retraction,
    createdAt: sql`statement_timestamp()`,
    completedAt: sql`statement_timestamp()`,
  },
});

/** Queued or steered inputs enter the history. */
export const admittedMessages = update('admitted_messages', messages, {
  of: ({ entries }) =>
    placedEntries(entries).flatMap(({ entry, place }) => (entry.kind === 'admit' ? [{ ...entry, place }] : [])),
  as: 'm',
  inputs: { id: ['uuid', ({ messageId }) => messageId], place: ['int', ({ place }) => place] },
  columns: {
    seq: sql`ctx.base + r.place`,
    turn: ({ turn }) => turn,
    status: sql`'completed'`,
    completedAt: sql`statement_timestamp()`,
  },
  where: sql`m.id = r.id and (m.context_id = ctx.id) is true and m.status = 'queued'`,
});

/** Messages that an interrupt removes from the history. */
export const retracted = update('retracted', messages, {
  of: ({ takenBack }) => (takenBack === null ? [] : retractionsOf(takenBack)),
  as: 'm',
  inputs: { id: ['uuid', ({ id }) => id] },
  columns: {
    status: sql`'retracted'`,
    retractedSeq: sql`ctx.head_seq`,
    retraction: ({ retraction }) => retraction,
  },
  where: sql`m.id = r.id and (m.context_id = ctx.id) is true and m.status = 'completed'`,
});

function retractionsOf({ retracted: ids, retraction }: TakenBack): { id: MessageId; retraction: Retraction | null }[] {
  return ids.map((id) => ({ id, retraction }));
}

/**
 * The worker whose context lost all inputs of its history: it was named after the first one. Also if that is not stored
 * yet: a pass of the search index that has read the history sees that the row has changed.
 */
export const untitled = update('untitled', workers, {
  of: ({ branch, takenBack }) => (takenBack?.lastTurn === 0 && branch === MAIN ? [takenBack] : []),
  as: 'w',
  columns: { firstInput: sql`null` },
  where: sql`(w.context_id = ctx.id) is true`,
});

/** Inputs that an interrupt withdraws before they enter the history. */
export const withdrawn = update('withdrawn', messages, {
  of: ({ takenBack }) => takenBack?.withdrawn ?? [],
  as: 'm',
  inputs: { id: ['uuid', (id: MessageId) => id] },
  columns: { status: sql`'withdrawn'` },
  where: sql`m.id = r.id and (m.context_id = ctx.id) is true and m.status = 'queued'`,
});
