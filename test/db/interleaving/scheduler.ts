// Lets several actors go on one statement at a time, in an order drawn from a seed. An actor pauses before every
// statement, before every commit, and wherever its script says so. One that is let go either comes to its next pause,
// ends, or is found to wait for a lock that another one holds; then the others go on.
import { setImmediate as nextRound, setTimeout as sleep } from 'node:timers/promises';
import { sql } from 'drizzle-orm';
import { openDatabase } from '../../../src/db/client.ts';
import type { Database } from '../../../src/db/client.ts';

/** A number in [0, 1) from a seed (mulberry32). */
export type Random = () => number;

export function seeded(seed: number): Random {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

export function oneOf<T>(random: Random, choices: readonly T[]): T {
  const chosen = choices[Math.floor(random() * choices.length)];
  if (chosen === undefined) throw new Error('nothing to choose from');
  return chosen;
}

type Pause = { label: string; isStatement: boolean; go: () => void };

/** One actor's connection, and the place where it waits for its turn. */
export class Lane {
  readonly name: string;
  readonly database: Database;
  /** The server process behind the connection. */
  pid = 0;
  readonly pauses: Pause[] = [];
  #gated = false;
  #heard = Promise.withResolvers<void>();

  constructor(url: string, name: string) {
    this.name = name;
    this.database = openDatabase(url, { max: 1, name, hook: (text) => this.pause(text, true) });
  }

  async open(): Promise<void> {
    const [row] = await this.database.db.execute<{ pid: number }>(sql`select pg_backend_pid() as pid`);
    this.pid = row?.pid ?? 0;
  }

  /** Waits for its turn; goes through where nothing is scheduled. */
  pause(label: string, isStatement = false): Promise<void> | void {
    if (!this.#gated) return;
    return new Promise((go) => {
      this.pauses.push({ label, isStatement, go });
      this.stir();
    });
  }

  gate(closed: boolean): void {
    this.#gated = closed;
  }

  /** Something happened on this lane. */
  stir(): void {
    this.#heard.resolve();
    this.#heard = Promise.withResolvers();
  }

  get heard(): Promise<void> {
    return this.#heard.promise;
  }
}

export type Script = { lane: Lane; run(): Promise<void> };

type Player = Script & { ended: boolean; error: unknown; blocked: boolean };

/** Nothing moves for so long: the schedule hangs. */
const STUCK_MS = 50_000;

export class Scheduler {
  readonly #monitor: Database;

  constructor(monitor: Database) {
    this.#monitor = monitor;
  }

  /** Plays the scripts to their ends. `trace` hears who was let go before what. Rejects with the first error of a script. */
  async play(scripts: readonly Script[], random: Random, trace: string[]): Promise<void> {
    const players = scripts.map((script): Player => ({
      ...script,
      ended: false,
      error: null,
      blocked: false,
    }));
    for (const player of players) player.lane.gate(true);
    try {
      for (const player of players) {
        start(player);
        await this.#settle(player, null);
      }
      while (players.some(({ ended }) => !ended)) await this.#round(players, random, trace);
    } finally {
      for (const { lane } of players) {
        lane.gate(false);
        for (const { go } of lane.pauses.splice(0)) go();
      }
    }
    for (const { error } of players) if (error !== null) throw error;
  }

  async #round(players: readonly Player[], random: Random, trace: string[]): Promise<void> {
    const ready = players.filter(({ ended, blocked, lane }) => !ended && !blocked && lane.pauses.length > 0);
    if (ready.length === 0) {
      await sleep(1);
    } else {
      const player = oneOf(random, ready);
      const pause = player.lane.pauses.shift();
      if (pause === undefined) return;
      trace.push(`${player.lane.name}: ${shorten(pause.label)}`);
      // Statements that were asked for at once share the connection: nothing but the server says when this one is done.
      const isShared = pause.isStatement && player.lane.pauses.length > 0;
      const since = isShared ? await this.#look(player) : null;
      pause.go();
      await this.#settle(player, since);
    }
    for (const player of players) if (player.blocked) await this.#settle(player, null);
  }

  /** Waits until a player is at its next pause, at its end, or behind a lock. */
  async #settle(player: Player, since: Look | null): Promise<void> {
    const { lane } = player;
    const deadline = Date.now() + STUCK_MS;
    for (;;) {
      await nextRound();
      if (since === null && (player.ended || lane.pauses.length > 0)) break;
      if (since === null && !player.blocked) {
        await Promise.race([lane.heard, sleep(2)]);
        await nextRound();
        if (player.ended || lane.pauses.length > 0) break;
      }
      const look = await this.#look(player);
      player.blocked = look.blocked;
      if (look.blocked) return;
      if (since !== null && look.queryStart !== since.queryStart && look.state !== 'active') break;
      if (Date.now() > deadline) throw new Error(`${lane.name} hangs`);
    }
    player.blocked = false;
    // What is asked for in the same breath comes to its pause too.
    for (let round = 0; round < 3; round += 1) await nextRound();
  }

  async #look({ lane }: Player): Promise<Look> {
    const [row] = await this.#monitor.db.execute<{ started: string; state: string; blocked: boolean }>(sql`
      select query_start::text as started, state, cardinality(pg_blocking_pids(pid)) > 0 as blocked
      from pg_stat_activity where pid = ${lane.pid}`);
    return { queryStart: row?.started ?? '', state: row?.state ?? '', blocked: row?.blocked === true };
  }
}

type Look = { queryStart: string; state: string; blocked: boolean };

function start(player: Player): void {
  void player
    .run()
    .catch((error: unknown) => {
      player.error = error;
    })
    .finally(() => {
      player.ended = true;
      player.lane.stir();
    });
}

/** The first words of a statement, and what it is about. */
function shorten(text: string): string {
  return text.replaceAll(/\s+/g, ' ').trim().slice(0, 90);
}
