// Ids, names and cursors that the API answered with, so that requests name rows which exist. A request is generated
// before it is known what exists then: it contains `Reference`s, which are resolved when it is sent.
import type { Body } from '../harness.ts';

/** The row of a kind, counted from the newest. `isStray`: of any owner, whatever the request is about. */
export class Reference {
  readonly kind: string;
  readonly at: number;
  readonly isStray: boolean;
  constructor(kind: string, at: number, isStray: boolean) {
    this.kind = kind;
    this.at = at;
    this.isStray = isStray;
  }
}

/** So many of a kind are kept. */
const MOST = 40;
/** Members that identify a row, or a place in a list. */
const NAMES = /(^|_)(id|ids|cursor|name|branch|role|user|tool)$/;
/** The rows below these are named together with them. */
const OWNERS = ['context', 'webhook', 'schedule'];

type Rows = Map<string, string[]>;

export class KnownRows {
  readonly #all: Rows = new Map();
  /** By the id of the context, webhook or schedule to which they belong. */
  readonly #owned = new Map<string, Rows>();

  /** Keeps what an answer names. `path`: that of the request. */
  learn(path: string, answer: Body): void {
    const [, , resource = '', id] = path.split('?')[0]?.split('/') ?? [];
    const owner = id !== undefined && OWNERS.includes(singular(resource)) ? id : null;
    this.#learn(kindOfPath(path), owner, answer);
  }

  #learn(ownKind: string, owner: string | null, answer: Body): void {
    if (Array.isArray(answer)) {
      for (const item of answer) this.#learn(ownKind, owner, item);
      return;
    }
    if (typeof answer !== 'object' || answer === null) return;
    const own = OWNERS.includes(ownKind) ? answer.id : undefined;
    const of = answer.context_id ?? own ?? owner;
    for (const [name, value] of Object.entries(answer)) {
      const kind = name === 'id' || name === 'name' ? ownKind : kindOf(name);
      if (typeof value !== 'string') this.#learn(ownKind, of, value);
      else if (NAMES.test(name)) this.add(kind, value, of);
    }
  }

  add(kind: string, value: string, owner: string | null = null): void {
    keep(this.#all, kind, value);
    if (owner === null) return;
    const rows = this.#owned.get(owner) ?? new Map<string, string[]>();
    // The one with the newest row is the last.
    this.#owned.delete(owner);
    this.#owned.set(owner, rows);
    keep(rows, kind, value);
  }

  /** An owner that has rows of all these kinds, counted from the newest; null: none has. */
  ownerWith(kinds: readonly string[], at: number): string | null {
    const found = [...this.#owned].filter(([, rows]) => kinds.every((kind) => rows.has(kind)));
    return pick(found, at)?.[0] ?? null;
  }

  /** Undefined: no row of this kind is known. */
  find({ kind, at, isStray }: Reference, owner: string | null): string | undefined {
    const rows = owner === null || isStray ? undefined : this.#owned.get(owner)?.get(kind);
    return pick(rows ?? this.#all.get(kind) ?? (kind === 'any' ? [...this.#all.values()].flat() : []), at);
  }
}

function keep(rows: Rows, kind: string, value: string): void {
  const known = (rows.get(kind) ?? []).filter((one) => one !== value);
  rows.set(kind, [...known, value].slice(-MOST));
}

function pick<T>(of: readonly T[], at: number): T | undefined {
  return of.at(-1 - (at % Math.max(1, of.length)));
}

/** `worker_id`, `parent_worker_id` and `worker_ids` name the same kind of row. */
export function kindOf(name: string): string {
  const kind = name.replace(/_(ids?|name)$/, '');
  if (kind === 'session') return 'context';
  return kind === 'tool_call' ? kind : (kind.split('_').at(-1) ?? kind);
}

/** Of the rows with which a path ends, or of the last parameter in it. */
export function kindOfPath(path: string): string {
  const words = path.split('?')[0]?.split('/') ?? [];
  return singular(words.findLast((word) => word in PLURALS) ?? '');
}

const PLURALS: Record<string, string> = {
  workers: 'worker',
  contexts: 'context',
  jobs: 'job',
  messages: 'message',
  branches: 'branch',
  tools: 'tool_call',
  grants: 'tool',
  roles: 'role',
  schedules: 'schedule',
  keys: 'key',
  webhooks: 'webhook',
  deliveries: 'delivery',
  tenants: 'tenant',
  providers: 'provider',
  throttles: 'throttle',
  compactions: 'compaction',
  turns: 'turn',
  steps: 'step',
};

function singular(resource: string): string {
  return PLURALS[resource] ?? '';
}
