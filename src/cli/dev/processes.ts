/**
 * The processes of `nightshift dev`, one after the other. A change starts a new one. Once that is ready, the one before it
 * drains: its runs release their contexts at the next step, and the new process continues them. If a new one fails, the
 * one before it goes on.
 *
 * The listening socket belongs to this process (node:cluster), so clients find the port open while processes change.
 */
import cluster, { type Worker } from 'node:cluster';
import { createInterface } from 'node:readline';
import type { Environment } from '../../config/environment.ts';
import { isReport, type Ready, type Report } from './report.ts';

export type ProcessEvents = {
  /** A line of standard output of a process. */
  line(text: string): void;
  /** The starting process loads a file, which a change of the config can be in. It may never be ready. */
  loading(file: string): void;
  /** `files`: those that a change of the config can be in. */
  ready(ready: Ready, files: readonly string[]): void;
  /** `files`: as of `ready`, as far as the process came. `isFirst`: no process runs. */
  failed(message: string, files: readonly string[], isFirst: boolean): void;
  /** A process ended by itself. `how`: its signal or exit code. `again`: another one starts at once. */
  crashed(how: string, again: boolean): void;
};

/** A process that ends sooner than this after it was ready is not started again until a change, in milliseconds. */
const STABLE_MS = 5_000;

type Current = { worker: Worker; readyAt: number };

export class DevProcesses {
  readonly #events: ProcessEvents;
  readonly #env: () => Environment;
  readonly #all = new Set<Worker>();
  /** Those that drain. A second signal would end them at once. */
  readonly #draining = new Set<Worker>();
  #starting: Worker | null = null;
  /** What the starting process has loaded. */
  #files: string[] = [];
  #current: Current | null = null;
  /** There was a change while a process was starting: it was told to end, and another one follows. */
  #isStale = false;
  #isStopping = false;

  /** `env`: the environment of the next process. `isPiped`: lines of processes come as events, and else go to stdout. */
  constructor(events: ProcessEvents, env: () => Environment, isPiped: boolean) {
    this.#events = events;
    this.#env = env;
    cluster.setupPrimary({ exec: process.argv[1] ?? '', args: ['dev-process'], silent: isPiped });
  }

  /** Starts a process with the config and the environment of now, in place of one that is starting. */
  renew(): void {
    if (this.#isStopping) return;
    if (this.#starting === null) return this.#start();
    this.#isStale = true;
    this.#drain(this.#starting);
  }

  /** Drains all. */
  async stop(): Promise<void> {
    this.#isStopping = true;
    const ends = [...this.#all].map((worker) => ended(worker));
    for (const worker of this.#all) this.#drain(worker);
    await Promise.all(ends);
  }

  /** Ends all at once. Their jobs go on when a worker process starts again. */
  kill(): void {
    for (const worker of this.#all) worker.process.kill('SIGKILL');
  }

  #start(): void {
    this.#isStale = false;
    const worker = cluster.fork(this.#env());
    this.#starting = worker;
    this.#files = [];
    this.#all.add(worker);
    const { stdout, stderr } = worker.process;
    if (stdout !== null) createInterface({ input: stdout }).on('line', (line) => this.#events.line(line));
    stderr?.pipe(process.stderr, { end: false });
    worker.on('message', (message: unknown) => {
      if (isReport(message) && worker === this.#starting && !this.#isStale) this.#receive(worker, message);
    });
    worker.on('exit', (code, signal) => this.#exited(worker, signal === null ? `exit code ${code}` : signal));
    worker.on('error', () => undefined);
  }

  #receive(worker: Worker, report: Report): void {
    switch (report.kind) {
      case 'loading':
        this.#files.push(report.file);
        this.#events.loading(report.file);
        break;
      case 'ready':
        this.#take(worker, report);
        break;
      case 'failed':
        this.#fail(report.message);
        break;
    }
  }

  #take(worker: Worker, ready: Ready): void {
    if (this.#current !== null) this.#drain(this.#current.worker);
    this.#current = { worker, readyAt: performance.now() };
    this.#starting = null;
    this.#events.ready(ready, this.#files);
  }

  #drain(worker: Worker): void {
    if (this.#draining.has(worker)) return;
    this.#draining.add(worker);
    worker.process.kill('SIGTERM');
  }

  #fail(message: string): void {
    this.#starting = null;
    this.#events.failed(message, this.#files, this.#current === null);
  }

  #exited(worker: Worker, how: string): void {
    this.#all.delete(worker);
    this.#draining.delete(worker);
    if (this.#isStopping) return;
    if (this.#starting === worker && this.#isStale) return this.#start();
    if (this.#starting === worker) return this.#fail(`The process ended before it was ready (${how}).`);
    if (this.#current?.worker !== worker) return;
    const again = performance.now() - this.#current.readyAt >= STABLE_MS;
    this.#current = null;
    this.#events.crashed(how, again);
    if (again) this.renew();
  }
}

function ended(worker: Worker): Promise<void> {
  return new Promise((resolve) => worker.once('exit', () => resolve()));
}
