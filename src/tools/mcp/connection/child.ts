/**
 * Runs an MCP server as a child process that exchanges JSON lines over stdin and stdout. It leads its own process
 * group, so its children end with it (`npx` starts the real server as a child). It is started without a shell and
 * inherits only environment variables that contain no secrets, such as PATH and HOME. If this process is killed, the
 * child's stdin closes, which tells it to exit.
 */
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { constants } from 'node:os';
import { setTimeout } from 'node:timers/promises';
import { getDefaultEnvironment } from '@modelcontextprotocol/sdk/client/stdio.js';
import { ReadBuffer, serializeMessage } from '@modelcontextprotocol/sdk/shared/stdio.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import type { JSONRPCMessage } from '@modelcontextprotocol/sdk/types.js';
import { classifySpawn } from './classify-end.ts';
import { headOf } from '../../run/truncate.ts';
import type { ServerFailure } from '../../../core/tools/server-failure.ts';
import type { Reach } from '../settings/server-settings.ts';

/** The delay between closing stdin, SIGTERM and SIGKILL, in milliseconds. */
const TIMEOUT_MS = 500;

/** Maximum characters of one stderr chunk that are passed on. */
const LONGEST_LOG_TEXT = 2_000;

type StdioReach = Extract<Reach, { kind: 'stdio' }>;

export class ChildTransport implements Transport {
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: (message: JSONRPCMessage) => void;
  readonly #reach: StdioReach;
  readonly #onStderr: (text: string) => void;
  readonly #read = new ReadBuffer();
  readonly #ended = Promise.withResolvers<void>();
  #child: ChildProcess | null = null;
  #isOver = false;
  #isSignalled = false;
  #failure: ServerFailure | null = null;

  /** `onStderr`: receives what the server writes to stderr. */
  constructor(reach: StdioReach, onStderr: (text: string) => void) {
    this.#reach = reach;
    this.#onStderr = onStderr;
  }

  /** What the process did by itself: it could not be started, it ended, or it sent too much. Null: nothing of these. */
  get failure(): ServerFailure | null {
    return this.#failure;
  }

  async start(): Promise<void> {
    const { command, args, env, cwd } = this.#reach;
    const child = spawn(command, [...args], {
      env: { ...getDefaultEnvironment(), ...env },
      ...(cwd === null ? {} : { cwd }),
      stdio: ['pipe', 'pipe', 'pipe'],
      shell: false,
      detached: true,
      windowsHide: true,
    });
    this.#child = child;
    child.stdin.on('error', (error) => this.onerror?.(error));
    child.stdout.on('error', (error) => this.onerror?.(error));
    child.stdout.on('data', (chunk: Buffer) => this.#receive(chunk));
    child.stderr.on('data', (chunk: Buffer) => this.#onStderr(headOf(chunk.toString().trimEnd(), LONGEST_LOG_TEXT)));
    child.once('exit', (code, signal) => {
      if (!this.#isSignalled) this.#failure ??= { reason: 'exited', code: signal === null ? code : ofSignal(signal) };
      // Kill processes left in the group. Processes that left the group are not waited for.
      this.#signal('SIGKILL');
      void setTimeout(TIMEOUT_MS).then(() => this.#over());
    });
    child.once('close', () => this.#over());
    await once(child, 'spawn').catch((error: unknown) => {
      this.#failure = classifySpawn(error);
      this.#over();
      throw error;
    });
    child.on('error', (error) => this.onerror?.(error));
  }

  async send(message: JSONRPCMessage): Promise<void> {
    const stdin = this.#child?.stdin;
    if (stdin === undefined || stdin === null || !stdin.writable) throw new Error('The MCP server process has ended.');
    await new Promise<void>((resolve, reject) => {
      stdin.write(serializeMessage(message), (error) => (error ? reject(error) : resolve()));
    });
  }

  /** Ends the server, gracefully if possible. Resolves when it has ended. */
  async close(): Promise<void> {
    this.#child?.stdin?.end();
    if (await this.#endsWithin(TIMEOUT_MS)) return;
    this.#signal('SIGTERM');
    if (await this.#endsWithin(TIMEOUT_MS)) return;
    this.#signal('SIGKILL');
    await this.#endsWithin(TIMEOUT_MS);
  }

  #over(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#ended.resolve();
    this.onclose?.();
  }

  #endsWithin(ms: number): Promise<boolean> {
    if (this.#child === null) return Promise.resolve(true);
    return Promise.race([this.#ended.promise.then(() => true), setTimeout(ms, false)]);
  }

  #signal(signal: NodeJS.Signals): void {
    const pid = this.#child?.pid;
    if (pid === undefined || this.#isOver) return;
    this.#isSignalled = true;
    try {
      process.kill(-pid, signal);
    } catch {
      // The group has no processes left.
    }
  }

  #receive(chunk: Buffer): void {
    try {
      this.#read.append(chunk);
    } catch (error) {
      // The message exceeds the maximum size, so the start of the next one is unknown.
      this.#failure ??= { reason: 'protocol_error', code: null };
      this.onerror?.(toError(error));
      this.#signal('SIGKILL');
      return;
    }
    while (this.#receiveOne());
  }

  /** False: no complete line is left. */
  #receiveOne(): boolean {
    try {
      const message = this.#read.readMessage();
      if (message === null) return false;
      this.onmessage?.(message);
    } catch (error) {
      // Not a message: some servers write other output to stdout.
      this.onerror?.(toError(error));
    }
    return true;
  }
}

/** As shells do. */
function ofSignal(signal: NodeJS.Signals): number {
  return 128 + constants.signals[signal];
}

function toError(thrown: unknown): Error {
  return thrown instanceof Error ? thrown : new Error(String(thrown));
}
