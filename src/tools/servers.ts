/** Servers that bring tools of their own, by the names that configs have for them. */
import type { JobId } from '../core/ids.ts';
import type { ToolDescriptor } from '../core/tool.ts';
import type { Tool } from './tool.ts';

export type CallOutcome = 'completed' | 'failed' | 'timed_out' | 'unreachable' | 'cut' | 'aborted';

/** Hears how servers fare. Must not throw. */
export type ServerWatch = {
  called(server: string, outcome: CallOutcome): void;
  /** Whether it answers now. */
  up(server: string, isUp: boolean): void;
  /** It is connected to anew, after it was lost or could not be reached. */
  restarted(server: string): void;
};

/** `starting`: what it offers is not known yet, and soon will be. */
export type Offer = { kind: 'tools'; tools: readonly ToolDescriptor[] } | { kind: 'starting' };

export type ToolServers = {
  /** Sorted. */
  names: readonly string[];
  /** The same of one job as long as it runs here; null: there is no such server. `jobId` null: as it is now. */
  offer(server: string, jobId: JobId | null): Offer | null;
  /** A tool of any of them, whether it is still offered or not. */
  get(tool: string): Tool | undefined;
  /** Resolves once all of them have answered, or had a moment to. Never rejects. */
  start(watch: ServerWatch): Promise<void>;
  /** Ends them. Never rejects. */
  stop(): Promise<void>;
};

export const NO_SERVERS: ToolServers = {
  names: [],
  offer: () => null,
  get: () => undefined,
  start: async () => undefined,
  stop: async () => undefined,
};
