/**
 * Imports a folder of the old layout: `metadata.json`, `message_index.json`, `messages/<id>.json`. See docs/import.md
 * for the fields. Error messages name the file.
 */
import { reads } from '../../core/conversation/branch.ts';
import type { Ids } from '../../core/ids.ts';
import { isJsonObject, type JsonObject } from '../../core/json.ts';
import type { WorkerConfig } from '../../core/workers/settings.ts';
import { lastTurnOf } from '../../core/conversation/message.ts';
import { answerTurn, inputTurn, parseTurn } from '../../core/conversation/turn.ts';
import type { StoredMessage } from '../../db/read/messages/export.ts';
import type { StoredEntry } from '../../db/write/contexts/import.ts';
import { linesOf, type Line } from './folder-branches.ts';
import { readMessage, type CallIds, type FolderMessage } from './folder-message.ts';
import { INDEX, METADATA, fault, instantOf, textOf, type Files } from './folder-fault.ts';
import { NO_CALL, NO_COUNTS, type Source } from './source.ts';

/** Converts a config of the old layout. */
type ConfigReader = (written: JsonObject) => Promise<{ config: WorkerConfig; role: string | null }>;

export async function folderSource(files: unknown, ids: Ids, now: number, readConfig: ConfigReader): Promise<Source> {
  if (!isJsonObject(files)) throw fault('', 'must be an object with the files by name');
  const metadata = files[METADATA];
  if (metadata === undefined) throw fault(METADATA, 'is missing');
  if (!isJsonObject(metadata)) throw fault(METADATA, 'is not a JSON object');
  const createdAt = instantOf(metadata['created_at'], METADATA, 'created_at') ?? now;
  const found = readMessages(files, ids, createdAt);
  const lines = linesOf(metadata, found);
  const active = activeOf(metadata, lines);
  const messages = placed(found, lines);
  const written = metadata['config'] ?? {};
  if (!isJsonObject(written)) throw fault(METADATA, 'has a config that is not a JSON object');
  const { config, role } = await readConfig(written);
  const visible = messages.filter(({ status }) => status === 'completed');
  return {
    title: textOf(metadata['title'], METADATA, 'title')?.slice(0, 500) ?? null,
    worker: { name: 'worker', role },
    config,
    context: {
      ...NO_COUNTS,
      activeBranch: active.name,
      turnCount: active.lastTurn,
      messageCount: visible.length,
      createdAt,
      branches: lines.map(({ name, parent, fork, spans }) => ({
        ...NO_COUNTS,
        name,
        parentName: parent,
        forkSeq: fork,
        spans: parent === null ? null : spans,
        createdAt,
        messageCount: visible.filter((message) => message.branch === name).length,
      })),
    },
    entries: () => each(messages),
    placeOf: (number) => `files.${found[number - 1]?.file ?? INDEX}`,
    eventData: { format: 'folder', kept: { metadata, message_ids: found.map(({ id }) => id) } },
  };
}

async function* each(messages: readonly StoredMessage[]): AsyncGenerator<StoredEntry> {
  for (const message of messages) yield { kind: 'message', message };
}

/** Reads the messages in the order of the index. */
function readMessages(files: Files, ids: Ids, createdAt: number): FolderMessage[] {
  const index = files[INDEX];
  if (index === undefined) throw fault(INDEX, 'is missing');
  const list = isJsonObject(index) ? index['messages'] : index;
  if (!Array.isArray(list)) throw fault(INDEX, 'is not a list of messages');
  const calls: CallIds = { known: new Map(), ids };
  const known = new Set<string>();
  let before = createdAt;
  const messages = list.map((item, place) => {
    const entry = typeof item === 'string' ? { id: item } : item;
    if (!isJsonObject(entry)) throw fault(INDEX, `has no message id at index ${place}`);
    const id = textOf(entry['id'], INDEX, `id at index ${place}`);
    if (id === null || id === '') throw fault(INDEX, `has no message id at index ${place}`);
    if (known.has(id)) throw fault(INDEX, `has the message ${id} twice`);
    known.add(id);
    const message = readMessage(files, { id, entry, seq: place + 1, before }, calls);
    before = message.createdAt;
    return message;
  });
  const stray = Object.keys(files).find(
    (name) => name !== METADATA && name !== INDEX && !known.has(/^messages\/(.+)\.json$/.exec(name)?.[1] ?? ''),
  );
  if (stray !== undefined)
    throw fault(stray, stray.startsWith('messages/') ? `is not in ${INDEX}` : 'is not a file of this layout');
  return messages;
}

function activeOf(metadata: JsonObject, lines: Line[]): Line {
  const name = textOf(metadata['active_branch'], METADATA, 'active_branch');
  const active = lines.find((line) => line.name === (name ?? 'main')) ?? (name === null ? lines[0] : undefined);
  if (active === undefined)
    throw fault(METADATA, `has the active_branch ${name ?? 'main'}, which is not one of its branches`);
  return active;
}

/** Adds turns. Each branch counts its own turns, by its visible messages. */
function placed(found: readonly FolderMessage[], lines: readonly Line[]): StoredMessage[] {
  const byName = new Map(lines.map((line) => [line.name, line]));
  const atFork = (line: Line): number => {
    const read = messages.filter(({ branch, seq }) => reads(line.spans, { branch, seq }));
    return lastTurnOf(read.filter(({ status }) => status === 'completed'));
  };
  const messages: StoredMessage[] = [];
  for (const { branch, file, role, status, ...rest } of found) {
    const line = byName.get(branch);
    if (line === undefined) throw fault(file, `is on the branch ${branch}, which is not in ${METADATA}`);
    line.lastTurn = line.lastTurn === -1 ? atFork(line) : line.lastTurn;
    const number = role === 'user' ? line.lastTurn + 1 : Math.max(line.lastTurn, 1);
    if (status === 'completed' && role !== 'system') line.lastTurn = number;
    const turn = role === 'user' ? inputTurn(number) : answerTurn(number);
    if (parseTurn(turn) === null) throw fault(file, 'has a turn number that is too large');
    const { seq, type, content, createdAt, model } = rest;
    const times = { createdAt, completedAt: createdAt };
    messages.push({ seq, branch, role, type, turn, status, retraction: null, content, ...times, ...NO_CALL, model });
  }
  for (const line of lines) if (line.lastTurn === -1) line.lastTurn = atFork(line);
  return messages;
}
