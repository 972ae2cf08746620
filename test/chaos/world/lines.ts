// What each branch ought to read, by its context's one line of messages and events alone: played from the first number to
// the last, branch by branch as they come, are shared and go. What is stored of branches is not looked at.
import { MAIN } from '../../../src/core/conversation/branch.ts';
import { groupBy } from './world.ts';
import type { StoredEvent, StoredMessage } from './stored.ts';
import type { World } from './world.ts';

/** The messages of one branch in order, those too that were taken back. `end`: what became of it. */
export type Line = {
  contextId: string;
  branch: string;
  messages: StoredMessage[];
  end: 'stands' | 'deleted' | 'cleared';
};

/** A branch that was made. `left`: what its parent read then; null: there was no such parent. */
export type Birth = {
  seq: number;
  branch: string;
  parent: string;
  forkSeq: number;
  left: StoredMessage[] | null;
  /** What it reads itself, to its end. */
  line: StoredMessage[];
};

export type Course = {
  lines: Line[];
  births: Birth[];
  /** Messages on a branch that was not there. */
  strays: StoredMessage[];
  /** Switched to or deleted, and not there. */
  lost: StoredEvent[];
  /** The number of the last clear; 0: there was none. */
  clearedAt: number;
  /** Which branch was active once this number was given out. */
  activeAt(seq: number): string;
};

type Entry = { seq: number; message: StoredMessage | null; event: StoredEvent | null };

/** By context. */
export function coursesOf({ contexts, messages, events }: World): Map<string, Course> {
  const made = groupBy(messages, ({ context_id: id }) => id);
  const told = groupBy(events, ({ context_id: id }) => id);
  return new Map(contexts.map(({ id }) => [id, courseOf(id, made.get(id) ?? [], told.get(id) ?? [])]));
}

export function courseOf(
  contextId: string,
  messages: readonly StoredMessage[],
  events: readonly StoredEvent[],
): Course {
  const entries: Entry[] = [
    ...messages.flatMap((message) =>
      message.seq === null ? [] : [{ seq: message.seq, message, event: null }],
    ),
    ...events.map((event) => ({ seq: event.seq, message: null, event })),
  ].sort((a, b) => a.seq - b.seq);
  const play = new Play(contextId);
  for (const { message, event } of entries) {
    if (message !== null) play.add(message);
    if (event !== null) play.hear(event);
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

  hear(event: StoredEvent): void {
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
