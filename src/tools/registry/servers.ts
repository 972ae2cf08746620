/** Interfaces of servers that provide tools, by their configured names. */
import type { JobId } from '../../core/ids.ts';
import type { ToolDescriptor } from '../../core/tools/tool.ts';
import type { Tool } from './tool.ts';

export type CallOutcome = 'completed' | 'failed' | 'timed_out' | 'unreachable' | 'cut' | 'aborted';

/** Receives status changes of servers. Must not throw. */
export type ServerWatch = {
  called(server: string, outcome: CallOutcome): void;
  /** Whether the server is connected. */
  up(server: string, isUp: boolean): void;
  /** The server is being reconnected after it was lost or unreachable. */
  restarted(server: string): void;
};

/** `starting`: the tools are not known yet. */
export type Offer = { kind: 'tools'; tools: readonly ToolDescriptor[] } | { kind: 'starting' };

export type ToolServers = {
  /** Sorted. */
  names: readonly string[];
  /** Constant for a job while this process runs it; null: unknown server. `jobId` null: the current tools. */
  offer(server: string, jobId: JobId | null): Offer | null;
  /** A tool of any server, even if it is no longer offered. */
  get(tool: string): Tool | undefined;
  /** Resolves when all servers have answered, or after a short timeout. Never rejects. */
  start(watch: ServerWatch): Promise<void>;
  /** Stops the servers. Never rejects. */
  stop(): Promise<void>;
};

export const NO_SERVERS: ToolServers = {
  names: [],
  offer: () => null,
  get: () => undefined,
  start: async () => undefined,
  stop: async () => undefined,
};
