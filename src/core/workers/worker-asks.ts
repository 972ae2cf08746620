/** Calls of built-in tools that concern other workers: parses their arguments. */
import { parseId, type WorkerId } from '../ids.ts';
import { isJsonObject, type Json, type JsonObject } from '../json.ts';

/** The tools' names. No other tool may have them. */
export const SPAWN_WORKER = 'spawn_worker';
export const WAIT_FOR_WORKERS = 'wait_for_workers';

/** Creates a child and gives it an input. A null field is taken from the child's role, otherwise from its parent. */
export type SpawnAsk = {
  kind: 'spawn';
  input: string;
  name: string | null;
  role: string | null;
  systemPrompt: string | null;
  /** `provider/model`. */
  model: string | null;
  tools: string[] | null;
  /** Whether the call waits for the child's job. */
  wait: boolean;
  detached: boolean;
};

export const WAIT_MODES = ['all', 'any'] as const;
type WaitMode = (typeof WAIT_MODES)[number];

/** Waits for the jobs of workers that are unfinished now. */
export type WaitAsk = {
  kind: 'wait';
  /** As written by the model: may contain invalid ids or ids that belong to no worker. */
  workerIds: string[];
  mode: WaitMode;
  /** Milliseconds; null: no limit. */
  timeoutMs: number | null;
};

export type WorkerAsk = SpawnAsk | WaitAsk;

const MOST_WORKERS = 1_000;

/** In characters. */
const LONGEST_NAME = 256;
const LONGEST_TEXT = 1_000_000;

const MEMBERS: ReadonlyMap<string, readonly string[]> = new Map([
  [SPAWN_WORKER, ['input', 'name', 'role', 'system_prompt', 'model', 'tools', 'wait', 'detached']],
  [WAIT_FOR_WORKERS, ['worker_ids', 'mode', 'timeout_s']],
]);

/** Null: the arguments are invalid; the tool reports what is wrong with them. */
export function parseWorkerAsk(name: string, input: Json): WorkerAsk | null {
  if (!isJsonObject(input)) return null;
  const known = MEMBERS.get(name) ?? [];
  if (Object.keys(input).some((key) => !known.includes(key))) return null;
  switch (name) {
    case SPAWN_WORKER:
      return parseSpawn(input);
    case WAIT_FOR_WORKERS:
      return parseWait(input);
    default:
      return null;
  }
}

/** The ids of a wait without duplicates; null: one of them is not an id. */
export function workersOf({ workerIds }: WaitAsk): WorkerId[] | null {
  const ids = [...new Set(workerIds)].map((text) => parseId<WorkerId>(text));
  const known = ids.filter((id) => id !== null);
  return known.length === ids.length ? [...new Set(known)] : null;
}

function parseSpawn(of: JsonObject): SpawnAsk | null {
  const { input, wait = true, detached = false, tools = null } = of;
  const name = text(of['name']);
  const role = text(of['role']);
  const systemPrompt = text(of['system_prompt'], LONGEST_TEXT);
  const model = text(of['model']);
  if (typeof input !== 'string' || input === '' || input.length > LONGEST_TEXT) return null;
  if (typeof wait !== 'boolean' || typeof detached !== 'boolean') return null;
  if (name === undefined || role === undefined || systemPrompt === undefined || model === undefined) return null;
  const named = tools === null ? null : texts(tools);
  if (named === undefined) return null;
  return { kind: 'spawn', input, name, role, systemPrompt, model, tools: named, wait, detached };
}

function parseWait(of: JsonObject): WaitAsk | null {
  const workerIds = texts(of['worker_ids'] ?? null);
  const mode = WAIT_MODES.find((known) => known === (of['mode'] ?? 'all'));
  const seconds = of['timeout_s'] ?? null;
  if (workerIds === undefined || workerIds.length === 0 || workerIds.length > MOST_WORKERS || mode === undefined)
    return null;
  if (seconds !== null && (typeof seconds !== 'number' || seconds < 0)) return null;
  return { kind: 'wait', workerIds, mode, timeoutMs: seconds === null ? null : seconds * 1_000 };
}

/** Null: absent; undefined: not a valid text. */
function text(value: Json | undefined, most = LONGEST_NAME): string | null | undefined {
  if (value === undefined || value === null) return null;
  return typeof value === 'string' && value !== '' && value.length <= most ? value : undefined;
}

function texts(value: Json): string[] | undefined {
  if (!Array.isArray(value)) return undefined;
  const found = value.filter((item) => typeof item === 'string');
  return found.length === value.length ? found : undefined;
}
