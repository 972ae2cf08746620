/** Imports the lossless document. Reads the entries one by one, twice; keeps everything else in memory. */
import { Type } from 'typebox';
import { MAIN } from '../../core/conversation/branch.ts';
import type { Block } from '../../core/conversation/blocks.ts';
import { LIMITS } from '../../core/limits.ts';
import { parseDollars } from '../../core/money/money.ts';
import { unpriced, type Usage } from '../../core/money/usage.ts';
import type { StoredBranch, StoredMessage } from '../../db/read/messages/export.ts';
import type { StoredEntry } from '../../db/write/contexts/import.ts';
import { parseTurn, answerTurn, inputTurn } from '../../core/conversation/turn.ts';
import { AnyJson } from '../schemas/common.ts';
import { ref, strict } from '../../schema/build.ts';
import {
  ContextExport,
  EXPORT_FORMAT,
  ExportedBranch,
  ExportedEntry,
  type ExportedCompaction,
  type ExportedMessage,
  type ExportedUsage,
} from '../schemas/contexts/export.ts';
import { membersOf } from './members.ts';
import { parserOf, wrong } from './parse.ts';
import { instantAt, type Source } from './source.ts';
import type { Spooled } from './spool.ts';

const parseFrame = parserOf(
  strict({
    ...ContextExport.properties,
    // Parsed one by one.
    entries: Type.Array(AnyJson),
    branches: Type.Array(ref(ExportedBranch), { minItems: 1, maxItems: LIMITS.branches }),
  }),
);
const parseEntry = parserOf(ref(ExportedEntry));

/** `members`: all members except the entries. */
export function documentSource(members: Readonly<Record<string, unknown>>, body: Spooled): Source {
  const { context, branches } = parseFrame(members, '');
  const stored = branches.map(toBranch);
  refuseOddBranches(stored, context.active_branch);
  return {
    title: context.title,
    worker: context.worker,
    config: context.config,
    context: {
      activeBranch: context.active_branch,
      turnCount: context.turn_count,
      messageCount: context.message_count,
      requestCount: context.request_count,
      usage: toUsage(context.usage, 'context.usage'),
      createdAt: instantAt(context.created_at, 'context.created_at'),
      branches: stored,
    },
    entries: () => entriesOf(body),
    placeOf: (number) => `entries.${number - 1}`,
    eventData: { format: EXPORT_FORMAT, kept: null },
  };
}

async function* entriesOf(body: Spooled): AsyncGenerator<StoredEntry> {
  for await (const { item, value } of membersOf(body.read())) {
    if (typeof item !== 'number') continue;
    const at = `entries.${item}`;
    const entry = parseEntry(value, at);
    if (entry.number !== item + 1)
      throw wrong(
        `${at}.number`,
        `${at}.number is ${entry.number} but must be ${item + 1}: entries are numbered without gaps.`,
      );
    yield entry.type === 'message'
      ? { kind: 'message', message: toMessage(entry, at) }
      : { kind: 'compaction', compaction: toCompaction(entry, at) };
  }
}

function toMessage(entry: ExportedMessage, at: string): StoredMessage {
  const { number, branch, role, message_type: type, status, retraction, created_at, completed_at, model } = entry;
  const turn = parseTurn(entry.turn);
  if (turn === null) throw wrong(`${at}.turn`, `${at}.turn is not a turn. Write it like u1 or a1.`);
  if (type === 'partial' && (status !== 'retracted' || role !== 'assistant'))
    throw wrong(
      `${at}.message_type`,
      `${at}.message_type is partial: then role must be assistant and status retracted.`,
    );
  if (retraction !== undefined && status !== 'retracted')
    throw wrong(`${at}.retraction`, `${at}.retraction needs the status retracted.`);
  const instant = (text: string | null, member: string): number | null =>
    text === null ? null : instantAt(text, `${at}.${member}`);
  return {
    seq: number,
    branch,
    role,
    type,
    turn: turn.side === 'u' ? inputTurn(turn.number) : answerTurn(turn.number),
    status,
    retraction:
      retraction === undefined
        ? null
        : { cause: retraction.cause, at: instantAt(retraction.at, `${at}.retraction.at`), by: null },
    // The schema is that of stored blocks.
    content: entry.content as Block[],
    createdAt: instantAt(created_at, `${at}.created_at`),
    completedAt: instant(completed_at, 'completed_at'),
    model:
      model === null
        ? null
        : {
            modelId: model.model_id,
            providerId: model.provider_id,
            finishReason: model.finish_reason,
            usage: toUsage(model.usage, `${at}.model.usage`),
          },
    attempt: model?.attempt ?? null,
    calledAt: instant(model?.called_at ?? null, 'model.called_at'),
    firstByteAt: instant(model?.first_byte_at ?? null, 'model.first_byte_at'),
  };
}

/** Documents of older releases have no cost. */
function toUsage({ cost, ...tokens }: ExportedUsage, at: string): Usage {
  if (cost === undefined) return unpriced(tokens);
  const nanos = parseDollars(cost);
  if (nanos === null) throw wrong(`${at}.cost`, `${at}.cost is too large to store.`);
  return { ...tokens, cost_nanos: nanos };
}

function toCompaction(entry: ExportedCompaction, at: string) {
  const { number, branch, upto, compactor, summary, model, tokens_before, tokens_after, created_at } = entry;
  if (upto >= number)
    throw wrong(`${at}.upto`, `${at}.upto is ${upto} but must be less than the number of the entry, ${number}.`);
  if ((compactor === 'llm') !== (summary !== null)) {
    throw wrong(`${at}.summary`, `${at}.summary must be text with the compactor llm and null with threshold.`);
  }
  return {
    seq: number,
    branch,
    uptoSeq: upto,
    type: compactor,
    summary,
    model,
    tokensBefore: tokens_before,
    tokensAfter: tokens_after,
    createdAt: instantAt(created_at, `${at}.created_at`),
  };
}

function toBranch(branch: ExportedBranch, place: number): StoredBranch {
  const { name, parent, fork, spans, message_count, request_count, usage, created_at } = branch;
  const at = `branches.${place}`;
  if ((parent === null) !== (fork === null)) {
    throw wrong(`${at}.fork`, `${at}.fork and ${at}.parent must both be set or both be null.`);
  }
  return {
    name,
    parentName: parent,
    forkSeq: fork,
    spans,
    messageCount: message_count,
    requestCount: request_count,
    usage: toUsage(usage, `${at}.usage`),
    createdAt: instantAt(created_at, `${at}.created_at`),
  };
}

function refuseOddBranches(branches: readonly StoredBranch[], active: string): void {
  const names = new Set<string>();
  for (const [place, { name }] of branches.entries()) {
    if (names.has(name))
      throw wrong(
        `branches.${place}.name`,
        `branches.${place}.name is ${name}, which an earlier branch already has. Names must be unique.`,
      );
    names.add(name);
  }
  if (!names.has(MAIN)) throw wrong('branches', `branches has no branch ${MAIN}. Add it.`);
  if (!names.has(active))
    throw wrong('context.active_branch', `context.active_branch is ${active}, which is not in branches.`);
}
