/**
 * Imports pairs. Each input starts a turn, each answer belongs to the current turn. All times are the time of the
 * import.
 */
import { Type } from 'typebox';
import { answerTurn, inputTurn } from '../../core/conversation/turn.ts';
import type { StoredMessage } from '../../db/read/messages/export.ts';
import type { StoredEntry } from '../../db/write/contexts/import.ts';
import { AnyJson } from '../schemas/common.ts';
import { ref, strict } from '../../schema/build.ts';
import { Pair } from '../schemas/contexts/export.ts';
import { PairedImport } from '../schemas/contexts/import.ts';
import { membersOf } from './members.ts';
import { parserOf, wrong } from './parse.ts';
import { NO_CALL, NO_COUNTS, type Source } from './source.ts';
import type { Spooled } from './spool.ts';

const parseFrame = parserOf(
  strict({
    ...PairedImport.properties,
    // Parsed one by one.
    entries: Type.Array(AnyJson),
  }),
);
const parsePair = parserOf(ref(Pair));

/** `members`: all members except the entries. */
export async function pairedSource(
  members: Readonly<Record<string, unknown>>,
  body: Spooled,
  now: number,
): Promise<Source> {
  const { title = null, worker = {}, config = {} } = parseFrame(members, '');
  let messages = 0;
  let turns = 0;
  for await (const entry of entriesOf(body, now)) {
    if (entry.kind !== 'message') continue;
    messages += 1;
    turns = Math.max(turns, Number(entry.message.turn.slice(1)));
  }
  return {
    title,
    worker: { name: worker.name ?? 'worker', role: worker.role ?? null },
    config,
    context: {
      ...NO_COUNTS,
      activeBranch: 'main',
      turnCount: turns,
      messageCount: messages,
      createdAt: now,
      branches: [
        {
          name: 'main',
          parentName: null,
          forkSeq: null,
          spans: null,
          createdAt: now,
          ...NO_COUNTS,
          messageCount: messages,
        },
      ],
    },
    entries: () => entriesOf(body, now),
    placeOf: (number) => `entries.${number - 1}`,
    eventData: { format: 'paired', kept: null },
  };
}

async function* entriesOf(body: Spooled, now: number): AsyncGenerator<StoredEntry> {
  let seq = 0;
  let turn = 0;
  for await (const { item, value } of membersOf(body.read())) {
    if (typeof item !== 'number') continue;
    const at = `entries.${item}`;
    const { user, assistant } = parsePair(value, at);
    if (user === undefined && assistant === undefined)
      throw wrong(at, `${at} has neither user nor assistant. Give at least one.`);
    if (user !== undefined) {
      turn += 1;
      seq += 1;
      yield entryOf({ seq, role: 'user', turn: inputTurn(turn), text: user, now });
    }
    if (assistant !== undefined) {
      turn = Math.max(turn, 1);
      seq += 1;
      yield entryOf({ seq, role: 'assistant', turn: answerTurn(turn), text: assistant, now });
    }
  }
}

type PairedMessage = Pick<StoredMessage, 'seq' | 'role' | 'turn'> & { text: string; now: number };

function entryOf({ seq, role, turn, text, now }: PairedMessage): StoredEntry {
  const message: StoredMessage = {
    seq,
    branch: 'main',
    role,
    type: 'text',
    turn,
    status: 'completed',
    retraction: null,
    content: [{ type: 'text', text }],
    createdAt: now,
    completedAt: now,
    ...NO_CALL,
  };
  return { kind: 'message', message };
}
