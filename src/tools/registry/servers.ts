/** Interfaces of servers that provide tools, by their configured names. */
import type { ContextId } from '../../core/ids.ts';
import type { ServerScope } from '../../core/tools/server-scope.ts';
import type { ServerFailure } from '../../core/tools/server-failure.ts';
import type { ToolCaller, ToolDescriptor } from '../../core/tools/tool.ts';
import type { Tool } from './tool.ts';

/** How a call ended. `ms`: how long the server took to answer, without waits for a connection and without retries. */
export type CallEnd =
  | { outcome: 'completed' | 'failed'; ms: number }
  | { outcome: 'timed_out' | 'unreachable' | 'cut' | 'aborted' };

/** Receives status changes of servers. Must not throw. */
export type ServerWatch = {
  called(server: string, end: CallEnd): void;
  /** Whether the server is connected. */
  up(server: string, isUp: boolean): void;
  /** A connection could not be made, or has ended, not because it was stopped. */
  failed(server: string, failure: ServerFailure): void;
  /** The server is being reconnected after it was lost or unreachable. */
  restarted(server: string): void;
  /** How many instances of a server run that belong to tenants or contexts. */
  instances(server: string, count: number): void;
  /** The context may be served now: an instance that it waited for came up, or there is room for one. */
  ready(contextId: ContextId): void;
};

/** The contexts that run in this process. */
export type Runs = { has(contextId: ContextId): boolean };

/** `starting`: the tools are not known yet. */
export type Offer = { kind: 'tools'; tools: readonly ToolDescriptor[] } | { kind: 'starting' };

export type ToolServers = {
  /** Sorted. */
  names: readonly string[];
  /** Who shares an instance of the server; null: unknown server. */
  scopeOf(server: string): ServerScope | null;
  /**
   * Starts those of the named servers that belong to the tenant or the context of the caller and do not run. False:
   * there is no room for all of them, so none was started.
   */
  use(servers: readonly string[], caller: ToolCaller): boolean;
  /**
   * Constant for a job while this process runs it; null: unknown server. Without a caller, a server that belongs to
   * tenants or contexts is `starting`.
   */
  offer(server: string, caller: ToolCaller | null): Offer | null;
  /** A tool of any server of the caller, even if it is no longer offered. `caller` null: of shared servers. */
  get(tool: string, caller: ToolCaller | null): Tool | undefined;
  /** Resolves when all servers have answered, or after a short timeout. Never rejects. */
  start(watch: ServerWatch, runs: Runs): Promise<void>;
  /** Stops the servers. Never rejects. */
  stop(): Promise<void>;
};

export const NO_SERVERS: ToolServers = {
  names: [],
  scopeOf: () => null,
  use: () => true,
  offer: () => null,
  get: () => undefined,
  start: async () => undefined,
  stop: async () => undefined,
};
