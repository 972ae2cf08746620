/** Branches of a folder: where each left its parent, and what it reads. */
import { BRANCH_NAME, MAIN, closed, reads, whole } from '../../core/branch.ts';
import type { Span } from '../../core/branch.ts';
import { isJsonObject } from '../../core/json.ts';
import type { Json, JsonObject } from '../../core/json.ts';
import { LIMITS } from '../../core/limits.ts';
import type { FolderMessage } from './folder-message.ts';
import { fault, textOf } from './folder-fault.ts';

/** A branch. `lastTurn`: of what it reads so far; -1: not looked at yet. */
export type Line = {
  name: string;
  parent: string | null;
  fork: number | null;
  spans: Span[];
  lastTurn: number;
};

/** As a file describes it. `after`: the id of the last message before it left its parent; null: it shares none. */
type Described = { name: string; parent: string | null; after: string | null };

const METADATA = 'metadata.json';
const INDEX = 'message_index.json';

/** Parents before their children. */
export function linesOf(metadata: JsonObject, messages: readonly FolderMessage[]): Line[] {
  const described = metadata['branches'] === undefined ? implied(messages) : listed(metadata['branches']);
  if (described.length > LIMITS.branches)
    throw fault(METADATA, `has ${described.length} branches, of ${LIMITS.branches} at most`);
  const lines: Line[] = [];
  const byId = new Map(messages.map((message) => [message.id, message]));
  let left = described;
  while (left.length > 0) {
    const ready = left.filter(({ parent }) => parent === null || lines.some(({ name }) => name === parent));
    const [stuck] = left;
    if (ready.length === 0 && stuck !== undefined) {
      throw fault(
        METADATA,
        `has a branch ${stuck.name} whose parent ${stuck.parent} is none of its branches`,
      );
    }
    for (const one of ready) lines.push(lineOf(one, lines, byId));
    left = left.filter((one) => !ready.includes(one));
  }
  for (const { name } of lines) {
    if (!new RegExp(BRANCH_NAME).test(name))
      throw fault(METADATA, `has a branch whose name cannot be kept: ${name}`);
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
    throw fault(METADATA, `lets the branch ${name} fork at ${after}, which is no message`);
  const fork = message?.seq ?? 0;
  const isRead = message === null || reads(from.spans, { branch: message.branch, seq: fork });
  if (!isRead) throw fault(METADATA, `lets the branch ${name} fork at ${after}, which is not on ${parent}`);
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
  if (!Array.isArray(list) || list.length === 0) throw fault(METADATA, 'has branches that are no list');
  return list.map((item, place) => {
    const one = typeof item === 'string' ? { name: item } : item;
    if (!isJsonObject(one)) throw fault(METADATA, `has no branch at place ${place} of its branches`);
    const name = textOf(one['name'] ?? one['id'], METADATA, `the name of branch ${place}`);
    if (name === null || name === '') throw fault(METADATA, `has a branch without a name at place ${place}`);
    const parent = textOf(one['parent'] ?? one['parent_branch'], METADATA, `the parent of ${name}`);
    const after = textOf(one['fork_message_id'] ?? one['from_message_id'], METADATA, `the fork of ${name}`);
    return { name, parent, after };
  });
}

/** Where metadata say nothing: a branch is what messages name, and leaves where its first message's parent is. */
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
        `does not say where the branch ${name} begins: ${id} has no parent_id, and ${METADATA} no branches`,
      );
    }
    return { name, parent: parent?.branch ?? null, after: parent?.id ?? null };
  });
}

/** Every message is of a branch, none is older than its branch, and each follows one that is there. */
function refuseStrangers(messages: readonly FolderMessage[], lines: readonly Line[]): void {
  const byName = new Map(lines.map((line) => [line.name, line]));
  const known = new Set(messages.map(({ id }) => id));
  for (const { id, parentId, branch, seq } of messages) {
    if (parentId !== null && !known.has(parentId))
      throw fault(INDEX, `gives ${id} the parent ${parentId}, which is no message`);
    const line = byName.get(branch);
    if (line === undefined)
      throw fault(INDEX, `puts ${id} on the branch ${branch}, which ${METADATA} does not name`);
    if (seq <= (line.fork ?? 0))
      throw fault(INDEX, `puts ${id} before the message at which its branch ${branch} begins`);
  }
}
