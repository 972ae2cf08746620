/**
 * An MCP server as a child process: JSON lines over its standard streams. It is the head of a process group of its own,
 * so that what it starts (`npx` starts the server proper) ends with it. It is started without a shell, and of our
 * environment it sees only what names no secret: PATH, HOME and the like. Where this process is killed, the child's
 * standard input ends, and by that it knows.
 */
import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout } from 'node:timers/promises';
import { getDefaultEnvironment } from '@modelcontextprotocol/sdk/client/stdio.js';
import { ReadBuffer, serializeMessage } from '@modelcontextprotocol/sdk/shared/stdio.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import type { JSONRPCMessage } from '@modelcontextprotocol/sdk/types.js';
import { headOf } from '../truncate.ts';
import type { Reach } from './server-settings.ts';

/** Between the end of its input, SIGTERM and SIGKILL, in milliseconds. */
const TIMEOUT_MS = 500;

/** Characters of what it says at once that are handed on. */
const LONGEST_REMARK = 2_000;

type StdioReach = Extract<Reach, { kind: 'stdio' }>;

export class ChildTransport implements Transport {
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: (message: JSONRPCMessage) => void;
  readonly #reach: StdioReach;
  readonly #said: (words: string) => void;
  readonly #read = new ReadBuffer();
  readonly #ended = Promise.withResolvers<void>();
  #child: ChildProcess | null = null;
  #isOver = false;

  /** `said`: hears what the server writes to its standard error. */
  constructor(reach: StdioReach, said: (words: string) => void) {
    this.#reach = reach;
    this.#said = said;
  }

  get pid(): number | null {
    return this.#child?.pid ?? null;
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
    child.stderr.on('data', (chunk: Buffer) =>
      this.#said(headOf(chunk.toString().trimEnd(), LONGEST_REMARK)),
    );
    child.once('exit', () => {
      // What it left behind in its group ends too; what left the group is not waited for.
      this.#signal('SIGKILL');
      void setTimeout(TIMEOUT_MS).then(() => this.#over());
    });
    child.once('close', () => this.#over());
    await once(child, 'spawn').catch((error: unknown) => {
      this.#over();
      throw error;
    });
    child.on('error', (error) => this.onerror?.(error));
  }

  async send(message: JSONRPCMessage): Promise<void> {
    const stdin = this.#child?.stdin;
    if (stdin === undefined || stdin === null || !stdin.writable) throw new Error('The server has ended.');
    await new Promise<void>((resolve, reject) => {
      stdin.write(serializeMessage(message), (error) => (error ? reject(error) : resolve()));
    });
  }

  /** Resolves when it has ended: gently where it can. */
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
    const pid = this.pid;
    if (pid === null || this.#isOver) return;
    try {
      process.kill(-pid, signal);
    } catch {
      // Nobody of the group is left.
    }
  }

  #receive(chunk: Buffer): void {
    try {
      this.#read.append(chunk);
    } catch (error) {
      // Longer than any message may be: where the next one begins is not known.
      this.onerror?.(toError(error));
      this.#signal('SIGKILL');
      return;
    }
    while (this.#receiveOne());
  }

  /** False: no whole line is left. */
  #receiveOne(): boolean {
    try {
      const message = this.#read.readMessage();
      if (message === null) return false;
      this.onmessage?.(message);
    } catch (error) {
      // Not a message: some servers write other things to their standard output.
      this.onerror?.(toError(error));
    }
    return true;
  }
}

function toError(thrown: unknown): Error {
  return thrown instanceof Error ? thrown : new Error(String(thrown));
}
