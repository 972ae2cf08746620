// Lets several actors proceed one statement at a time, in an order drawn from a seed. An actor pauses before every
// statement, before every commit, and wherever its script says so. After a step the actor reaches its next pause, ends,
// or is found to wait for a lock of another actor; then the next step begins.
import { setImmediate as nextRound, setTimeout as sleep } from 'node:timers/promises';
import { sql } from 'drizzle-orm';
import { openDatabase, type Database } from '../../../src/db/connection/client.ts';
import { startStatementNetwork, type Rewrite, type StatementNetwork } from '../connection/statement-network.ts';

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

/** One actor's connection, and the place where it waits for its next step. */
export class Lane {
  readonly name: string;
  readonly database: Database;
  /** The server process behind the connection. */
  pid = 0;
  readonly pauses: Pause[] = [];
  readonly #network: StatementNetwork;
  #gated = false;
  #happened = Promise.withResolvers<void>();

  private constructor(name: string, network: StatementNetwork) {
    this.name = name;
    this.#network = network;
    network.onChange = () => this.stir();
    this.database = openDatabase(network.url, { max: 1, name, hook: (text) => this.pause(text, true) });
  }

  static async open(url: string, name: string, rewrite: Rewrite): Promise<Lane> {
    const lane = new Lane(name, await startStatementNetwork(url, rewrite));
    const [row] = await lane.database.db.execute<{ pid: number }>(sql`select pg_backend_pid() as pid`);
    lane.pid = row?.pid ?? 0;
    return lane;
  }

  async close(): Promise<void> {
    await this.database.close();
    await this.#network.close();
  }

  /** Waits for its next step; passes at once where nothing is scheduled. */
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

  get asked(): number {
    return this.#network.asked();
  }

  /** Whether a statement is running. */
  get isBusy(): boolean {
    return this.#network.isBusy();
  }

  get mayHoldLocks(): boolean {
    return this.#network.inTransaction() || this.#network.isBusy();
  }

  /** Something happened on this lane. */
  stir(): void {
    this.#happened.resolve();
    this.#happened = Promise.withResolvers();
  }

  /** Resolves at the next event on this lane, or after `ms`. */
  async stirred(ms: number): Promise<void> {
    const timer = setTimeout(() => this.stir(), ms);
    await this.#happened.promise;
    clearTimeout(timer);
  }
}

export type Script = { lane: Lane; run(): Promise<void> };

type Player = Script & { ended: boolean; error: unknown; blocked: boolean };

/** No event for this long: the schedule hangs. */
const STUCK_MS = 50_000;

/** The interval of further checks without an event. */
const SOON_MS = 100;

/** A statement that is not done by then may wait for a lock: Postgres is asked, and again after twice the time. */
const FIRST_LOOK_MS = 2;

export class Scheduler {
  readonly #monitor: Database;

  constructor(monitor: Database) {
    this.#monitor = monitor;
  }

  /**
   * Plays the scripts to their ends. `trace` receives each step: the actor and its next statement. Rejects with the
   * first error of a script.
   */
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
        await this.#settle(player, players);
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
      return this.#unblock(players);
    }
    const player = oneOf(random, ready);
    const { lane } = player;
    const pause = lane.pauses.shift();
    if (pause === undefined) return;
    trace.push(`${lane.name}: ${shorten(pause.label)}`);
    const heldLocks = lane.mayHoldLocks;
    await this.#letGo(player, pause);
    await this.#settle(player, players);
    if (heldLocks) await this.#unblock(players);
  }

  /** Waits until the step has started: a statement has reached the server, or the player its next pause. */
  async #letGo(player: Player, { label, isStatement, go }: Pause): Promise<void> {
    const { lane } = player;
    const { asked } = lane;
    const deadline = Date.now() + SOON_MS;
    const isSent = isStatement && label !== 'begin' && label !== 'commit';
    const isOnItsWay = (): boolean =>
      lane.asked > asked || player.ended || lane.pauses.some((pause) => !isSent || pause.label === 'commit');
    go();
    await nextRounds();
    while (!isOnItsWay() && Date.now() < deadline) await lane.stirred(SOON_MS);
  }

  /**
   * Players whose lock became free proceed to their next pauses, one after the other: each may free locks for others.
   */
  async #unblock(players: readonly Player[]): Promise<void> {
    for (;;) {
      const blocked = players.filter((player) => player.blocked);
      if (blocked.length === 0) return;
      const waiting = await this.#waiting(blocked.map(({ lane }) => lane));
      const free = blocked.filter(({ lane }) => !waiting.has(lane.pid));
      if (free.length === 0) return;
      for (const player of free) {
        player.blocked = false;
        await this.#settle(player, players);
      }
    }
  }

  /**
   * Waits until a player is at its next pause or at its end, and the server has answered all its requests; or until it
   * waits for a lock of another player.
   */
  async #settle(player: Player, players: readonly Player[]): Promise<void> {
    const { lane } = player;
    const deadline = Date.now() + STUCK_MS;
    const others = players.filter((other) => other !== player);
    await nextRounds();
    for (let ms = FIRST_LOOK_MS; lane.isBusy || (!player.ended && lane.pauses.length === 0); ms *= 2) {
      const mayBlock = others.some(({ blocked, lane: { mayHoldLocks } }) => blocked || mayHoldLocks);
      await lane.stirred(mayBlock ? ms : SOON_MS);
      await nextRounds();
      player.blocked = mayBlock && lane.isBusy && (await this.#waiting([lane])).has(lane.pid);
      if (player.blocked) return;
      if (Date.now() > deadline) throw new Error(`${lane.name} hangs`);
    }
  }

  /** The server processes of the lanes that wait for a lock. */
  async #waiting(lanes: readonly Lane[]): Promise<Set<number>> {
    const pids = JSON.stringify(lanes.map(({ pid }) => pid));
    const rows = await this.#monitor.db.execute<{ pid: number }>(sql`
      select pid::int from jsonb_array_elements_text(${pids}::jsonb) as pid where pg_blocking_pids(pid::int) <> '{}'`);
    return new Set(rows.map(({ pid }) => pid));
  }
}

/** For messages between the driver and the network, and for requests that are sent together. */
async function nextRounds(): Promise<void> {
  for (let round = 0; round < 5; round += 1) await nextRound();
}

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

/** The first words of a statement, and its table. */
function shorten(text: string): string {
  return text.replaceAll(/\s+/g, ' ').trim().slice(0, 90);
}
