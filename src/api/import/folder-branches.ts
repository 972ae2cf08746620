/** Branches of a folder: their fork points and the spans of messages they show. */
import { BRANCH_NAME, MAIN, closed, reads, whole, type Span } from '../../core/conversation/branch.ts';
import { isJsonObject, type Json, type JsonObject } from '../../core/json.ts';
import { LIMITS } from '../../core/limits.ts';
import type { FolderMessage } from './folder-message.ts';
import { INDEX, METADATA, fault, textOf } from './folder-fault.ts';

/** A branch. `lastTurn`: the last turn it shows so far; -1: not computed yet. */
export type Line = {
  name: string;
  parent: string | null;
  fork: number | null;
  spans: Span[];
  lastTurn: number;
};

/** A branch as the file describes it. `after`: id of the last message shared with the parent; null: none. */
type Described = { name: string; parent: string | null; after: string | null };

/** Returns parents before their children. */
export function linesOf(metadata: JsonObject, messages: readonly FolderMessage[]): Line[] {
  const described = metadata['branches'] === undefined ? implied(messages) : listed(metadata['branches']);
  if (described.length > LIMITS.branches)
    throw fault(METADATA, `has ${described.length} branches, but at most ${LIMITS.branches} are allowed`);
  const lines: Line[] = [];
  const byId = new Map(messages.map((message) => [message.id, message]));
  let left = described;
  while (left.length > 0) {
    const ready = left.filter(({ parent }) => parent === null || lines.some(({ name }) => name === parent));
    const [stuck] = left;
    if (ready.length === 0 && stuck !== undefined) {
      throw fault(METADATA, `has a branch ${stuck.name} whose parent ${stuck.parent} is not one of its branches`);
    }
    for (const one of ready) lines.push(lineOf(one, lines, byId));
    left = left.filter((one) => !ready.includes(one));
  }
  for (const { name } of lines) {
    if (!new RegExp(BRANCH_NAME).test(name)) throw fault(METADATA, `has a branch whose name is not allowed: ${name}`);
  }
  if (!lines.some(({ name }) => name === MAIN)) throw fault(METADATA, `has no branch ${MAIN}`);
  refuseStrangers(messages, lines);
  return lines;
}

function lineOf(
  { name, parent, after }: Described,
  lines: readonly Line[],
  byId: ReadonlyMap<string, FolderMessage>,
): Line {
  if (lines.some((line) => line.name === name)) throw fault(METADATA, `names the branch ${name} twice`);
  const from = lines.find((line) => line.name === parent);
  if (from === undefined) {
    return { name, parent: null, fork: null, spans: whole(name), lastTurn: 0 };
  }
  const message = after === null ? null : byId.get(after);
  if (message === undefined)
    throw fault(METADATA, `has a branch ${name} that forks at ${after}, which is not a message`);
  const fork = message?.seq ?? 0;
  const isRead = message === null || reads(from.spans, { branch: message.branch, seq: fork });
  if (!isRead)
    throw fault(METADATA, `has a branch ${name} that forks at ${after}, which is not on its parent ${parent}`);
  return {
    name,
    parent,
    fork,
    spans: [...closed(from.spans, fork), { branch: name, after: fork, upto: null }],
    lastTurn: -1,
  };
}

function listed(branches: Json | undefined): Described[] {
  const list = isJsonObject(branches)
    ? Object.entries(branches).map(([name, value]): Json => (isJsonObject(value) ? { name, ...value } : name))
    : branches;
  if (!Array.isArray(list) || list.length === 0) throw fault(METADATA, 'has branches that are not a list');
  return list.map((item, place) => {
    const one = typeof item === 'string' ? { name: item } : item;
    if (!isJsonObject(one)) throw fault(METADATA, `has an invalid branch at index ${place} of its branches`);
    const name = textOf(one['name'] ?? one['id'], METADATA, `the name of branch ${place}`);
    if (name === null || name === '') throw fault(METADATA, `has a branch without a name at index ${place}`);
    const parent = textOf(one['parent'] ?? one['parent_branch'], METADATA, `the parent of ${name}`);
    const after = textOf(one['fork_message_id'] ?? one['from_message_id'], METADATA, `the fork of ${name}`);
    return { name, parent, after };
  });
}

/** Without branches in the metadata: messages name the branches. A branch forks at the parent of its first message. */
function implied(messages: readonly FolderMessage[]): Described[] {
  const byId = new Map(messages.map((message) => [message.id, message]));
  const firsts = new Map<string, FolderMessage>();
  for (const message of messages) if (!firsts.has(message.branch)) firsts.set(message.branch, message);
  if (firsts.size === 0) return [{ name: 'main', parent: null, after: null }];
  return [...firsts].map(([name, { parentId, id }], place) => {
    const parent = parentId === null ? undefined : byId.get(parentId);
    if (parent === undefined && place > 0) {
      throw fault(
        INDEX,
        `has no fork point for the branch ${name}: add a parent_id to ${id}, or branches to ${METADATA}`,
      );
    }
    return { name, parent: parent?.branch ?? null, after: parent?.id ?? null };
  });
}

/** Refuses messages with an unknown branch or parent, and messages before the fork point of their branch. */
function refuseStrangers(messages: readonly FolderMessage[], lines: readonly Line[]): void {
  const byName = new Map(lines.map((line) => [line.name, line]));
  const known = new Set(messages.map(({ id }) => id));
  for (const { id, parentId, branch, seq } of messages) {
    if (parentId !== null && !known.has(parentId))
      throw fault(INDEX, `gives ${id} the parent ${parentId}, which is not a message`);
    const line = byName.get(branch);
    if (line === undefined) throw fault(INDEX, `puts ${id} on the branch ${branch}, which is not in ${METADATA}`);
    if (seq <= (line.fork ?? 0))
      throw fault(INDEX, `puts ${id} before the message at which its branch ${branch} forks`);
  }
}
