/**
 * One instance of an MCP server. It is connected again with increasing delays until it is stopped, and may be started
 * again. Its tools are known after its first answer and remembered while it is disconnected or stopped.
 */
import { setTimeout } from 'node:timers/promises';
import type { ToolDescriptor } from '../../../core/tools/tool.ts';
import { faultText } from '../../run/fault.ts';
import type { ServerWatch } from '../../registry/servers.ts';
import type { ToolLog } from '../../run/tool-log.ts';
import type { Tool } from '../../registry/tool.ts';
import { Backoff } from './backoff.ts';
import { callOn, type Line } from '../calls/call.ts';
import { connect, type Connection, type Receivers } from './connection.ts';
import type { ServerSettings } from '../settings/server-settings.ts';
import { CurrentConnection } from './current-connection.ts';
import { toTool } from '../calls/to-tool.ts';

/** The interval between pings of an idle server, in milliseconds. */
const ASK_MS = 30_000;

/** Maximum remembered tools, including removed ones, for calls requested before the list changed. */
const MOST_KEPT = 1_000;

export class McpServer {
  readonly settings: ServerSettings;
  readonly #version: string;
  readonly #log: ToolLog;
  readonly #watch: ServerWatch;
  #stop = new AbortController();
  #isRunning = false;
  #isActive = false;
  #isConnectedOnce = false;
  #calledAt = 0;
  readonly #backoff = new Backoff();
  readonly #remembered = new Map<string, Tool>();
  #offered: readonly ToolDescriptor[] | null = null;
  readonly #current = new CurrentConnection();
  #inFlight = 0;
  #isChecked = false;
  /** When it was first started, and when last. */
  #firstStartedAt: number | null = null;
  #startedAt = 0;
  #running: Promise<void> = Promise.resolve();

  constructor(settings: ServerSettings, version: string, log: ToolLog, watch: ServerWatch) {
    this.settings = settings;
    this.#version = version;
    this.#log = log;
    this.#watch = watch;
  }

  /** The tools of the server, by name; null: it has never listed them. */
  get offered(): readonly ToolDescriptor[] | null {
    return this.#offered;
  }

  /** Whether the server is still within its start timeout. */
  get isStarting(): boolean {
    const since = this.#firstStartedAt;
    return this.#offered === null && since !== null && performance.now() - since < this.settings.startTimeoutMs;
  }

  /** Whether it was started, and not stopped since. */
  get isRunning(): boolean {
    return this.#isRunning;
  }

  /** Whether it runs, or is still being stopped. */
  get isActive(): boolean {
    return this.#isActive;
  }

  /** Whether a call is in flight. */
  get isBusy(): boolean {
    return this.#inFlight > 0;
  }

  /** When the last call ended, on the monotonic clock in milliseconds; 0: there was none. */
  get calledAt(): number {
    return this.#calledAt;
  }

  get(tool: string): Tool | undefined {
    return this.#remembered.get(tool);
  }

  /** Resolves after the first connection attempt. */
  start(): Promise<void> {
    const [stop, tried] = [new AbortController(), Promise.withResolvers<void>()];
    this.#isRunning = true;
    this.#isActive = true;
    this.#isConnectedOnce = false;
    this.#startedAt = performance.now();
    this.#firstStartedAt ??= this.#startedAt;
    this.#stop = stop;
    this.#running = this.#running.then(() => this.#run(stop.signal, tried.resolve));
    return tried.promise;
  }

  async stop(): Promise<void> {
    this.#isRunning = false;
    this.#stop.abort();
    await this.#current.connection?.close();
    await this.#running;
    this.#isActive = this.#isRunning;
  }

  /** `tried`: called after the first connection attempt. */
  async #run(signal: AbortSignal, tried: () => void): Promise<void> {
    while (!signal.aborted) {
      const upAt = performance.now();
      const wasUp = await this.#runOnce(signal, tried).catch((error: unknown) => this.#failed(error, signal));
      tried();
      if (signal.aborted) return;
      const restMs = this.#backoff.next(wasUp ? performance.now() - upAt : 0);
      await setTimeout(restMs, undefined, { signal }).catch(() => undefined);
      if (!signal.aborted) this.#watch.restarted(this.settings.name);
    }
    tried();
  }

  #failed(error: unknown, { aborted }: AbortSignal): false {
    if (aborted) return false;
    this.#log.warn({ mcp_server: this.settings.name }, 'an MCP server cannot be reached; reconnecting');
    this.#debug({ fault: faultText(error) }, 'details of the failed MCP connection');
    return false;
  }

  #debug(fields: Record<string, string>, text: string): void {
    this.#log.debug({ mcp_server: this.settings.name, ...fields }, text);
  }

  /** Runs one connection until it ends. Rejects if it could not be established. */
  async #runOnce(signal: AbortSignal, tried: () => void): Promise<true> {
    const server = this.settings.name;
    const receivers: Receivers = {
      changed: () => void this.#relist(),
      connectionFailed: () => void this.#check(),
      failed: (failure) => {
        if (!signal.aborted) this.#watch.failed(server, failure);
      },
      logged: (text) => this.#debug({ text }, 'message of an MCP server'),
    };
    const connection = await connect(this.settings, this.#version, receivers, signal);
    try {
      this.#take(await connection.tools());
      signal.throwIfAborted();
    } catch (error) {
      await connection.close(error);
      throw error;
    }
    this.#isConnectedOnce = true;
    this.#current.set(connection);
    tried();
    this.#watch.up(server, true);
    await this.#watchOver(connection);
    await connection.close();
    this.#current.clear();
    this.#watch.up(server, false);
    if (!signal.aborted) this.#log.warn({ mcp_server: server }, 'the connection to an MCP server was lost');
    return true;
  }

  /** Runs until the connection ends, or the server does not answer a ping while idle. */
  async #watchOver(connection: Connection): Promise<void> {
    while (!connection.isOver) {
      const asking = new AbortController();
      const rest = setTimeout(ASK_MS, undefined, { signal: asking.signal }).catch(() => undefined);
      await Promise.race([connection.ended, rest]);
      asking.abort();
      if (!connection.isOver && this.#inFlight === 0) await this.#check();
    }
  }

  /** Closes the connection if the server does not answer. */
  async #check(): Promise<void> {
    const { connection } = this.#current;
    if (connection === null || this.#isChecked) return;
    this.#isChecked = true;
    await connection.ping().catch((error: unknown) => connection.close(error));
    this.#isChecked = false;
  }

  async #relist(): Promise<void> {
    const { connection } = this.#current;
    if (connection === null) return;
    try {
      this.#take(await connection.tools());
    } catch (error) {
      this.#debug({ fault: faultText(error) }, 'the changed list of MCP tools could not be loaded');
    }
  }

  #take(described: Awaited<ReturnType<Connection['tools']>>): void {
    const line = this.#line();
    const offered: ToolDescriptor[] = [];
    for (const one of described) {
      const made = toTool(this.settings, one, (call) => callOn(line, call));
      if (made.kind === 'left') {
        this.#debug({ tool: made.own, why: made.why }, 'an MCP tool is not offered');
        continue;
      }
      const { name } = made.tool.descriptor;
      if (offered.some((tool) => tool.name === name)) continue;
      offered.push(made.tool.descriptor);
      this.#remembered.delete(name);
      this.#remembered.set(name, made.tool);
    }
    for (const name of this.#remembered.keys()) {
      if (this.#remembered.size <= MOST_KEPT) break;
      this.#remembered.delete(name);
    }
    this.#offered = offered;
  }

  #line(): Line {
    return {
      name: this.settings.name,
      timeoutMs: this.settings.timeoutMs,
      // An instance that was started again has the same time as one that starts first.
      startsForMs: () =>
        this.#isConnectedOnce ? 0 : this.settings.startTimeoutMs - (performance.now() - this.#startedAt),
      current: this.#current,
      watch: this.#watch,
      log: this.#log,
      began: () => {
        this.#inFlight += 1;
      },
      ended: () => {
        this.#inFlight -= 1;
        this.#calledAt = performance.now();
      },
    };
  }
}
