// The expected history of each branch, derived from its context's one sequence of messages and events alone: replayed
// from the first number to the last, as branches are made, shared and deleted. Stored branches are not read.
import { MAIN } from '../../../src/core/conversation/branch.ts';
import { groupBy, type World } from './world.ts';
import type { StoredEvent, StoredMessage } from './stored.ts';

/** The messages of one branch in order, including retracted ones. `end`: how it ended. */
export type Line = {
  contextId: string;
  branch: string;
  messages: StoredMessage[];
  end: 'stands' | 'deleted' | 'cleared';
};

/** A branch that was made. `left`: its parent's history then; null: there was no such parent. */
export type Birth = {
  seq: number;
  branch: string;
  parent: string;
  forkSeq: number;
  left: StoredMessage[] | null;
  /** Its own history, to its end. */
  line: StoredMessage[];
};

export type Course = {
  lines: Line[];
  births: Birth[];
  /** Messages on a branch that did not exist. */
  strays: StoredMessage[];
  /** Switched to or deleted, and missing. */
  lost: StoredEvent[];
  /** The number of the last clear; 0: there was none. */
  clearedAt: number;
  /** The active branch at this number. */
  activeAt(seq: number): string;
};

type Entry = { seq: number; message: StoredMessage | null; event: StoredEvent | null };

/** By context. */
export function coursesOf({ contexts, messages, events }: World): Map<string, Course> {
  const made = groupBy(messages, ({ context_id: id }) => id);
  const published = groupBy(events, ({ context_id: id }) => id);
  return new Map(contexts.map(({ id }) => [id, courseOf(id, made.get(id) ?? [], published.get(id) ?? [])]));
}

export function courseOf(
  contextId: string,
  messages: readonly StoredMessage[],
  events: readonly StoredEvent[],
): Course {
  const entries: Entry[] = [
    ...messages.flatMap((message) => (message.seq === null ? [] : [{ seq: message.seq, message, event: null }])),
    ...events.map((event) => ({ seq: event.seq, message: null, event })),
  ].sort((a, b) => a.seq - b.seq);
  const play = new Play(contextId);
  for (const { message, event } of entries) {
    if (message !== null) play.add(message);
    if (event !== null) play.receive(event);
  }
  return play.course();
}

class Play {
  readonly #contextId: string;
  #open = new Map<string, StoredMessage[]>([[MAIN, []]]);
  readonly #past: Line[] = [];
  readonly #births: Birth[] = [];
  readonly #strays: StoredMessage[] = [];
  readonly #lost: StoredEvent[] = [];
  readonly #switches: { seq: number; branch: string }[] = [];
  #clearedAt = 0;

  constructor(contextId: string) {
    this.#contextId = contextId;
  }

  add(message: StoredMessage): void {
    const line = this.#open.get(message.branch);
    if (line === undefined) this.#strays.push(message);
    else line.push(message);
  }

  receive(event: StoredEvent): void {
    const { seq, name, data } = event;
    const branch = String(data['branch']);
    switch (name) {
      case 'BranchCreated':
        return this.#create(seq, branch, String(data['parent']), Number(data['fork_seq']));
      case 'BranchSwitched':
        if (!this.#open.has(branch)) this.#lost.push(event);
        return void this.#switches.push({ seq, branch });
      case 'BranchDeleted': {
        const line = this.#open.get(branch);
        if (line === undefined) return void this.#lost.push(event);
        this.#past.push(this.#line(branch, line, 'deleted'));
        return void this.#open.delete(branch);
      }
      case 'ContextCleared':
        for (const [of, line] of this.#open) this.#past.push(this.#line(of, line, 'cleared'));
        this.#open = new Map([[MAIN, []]]);
        this.#switches.push({ seq, branch: MAIN });
        this.#clearedAt = seq;
    }
  }

  course(): Course {
    return {
      lines: [...this.#past, ...[...this.#open].map(([branch, line]) => this.#line(branch, line, 'stands'))],
      births: this.#births,
      strays: this.#strays,
      lost: this.#lost,
      clearedAt: this.#clearedAt,
      activeAt: (at) => this.#switches.findLast(({ seq }) => seq <= at)?.branch ?? MAIN,
    };
  }

  #create(seq: number, branch: string, parent: string, forkSeq: number): void {
    const left = this.#open.get(parent) ?? null;
    const line = (left ?? []).filter((message) => (message.seq ?? 0) <= forkSeq);
    this.#births.push({ seq, branch, parent, forkSeq, left: left === null ? null : [...left], line });
    this.#open.set(branch, line);
  }

  #line(branch: string, messages: StoredMessage[], end: Line['end']): Line {
    return { contextId: this.#contextId, branch, messages, end };
  }
}
