/** What the config file says of one MCP server, checked. */
import type { Approval } from '../../core/policy.ts';

/** How a server is reached: a process of ours, spoken to over its standard streams, or an address. */
export type Reach =
  | {
      kind: 'stdio';
      command: string;
      args: readonly string[];
      env: Readonly<Record<string, string>>;
      cwd: string | null;
    }
  | { kind: 'http'; url: string; headers: Readonly<Record<string, string>> };

/** What a server that asks a person is told: no, or what its own question gives as defaults. */
export const ELICITATIONS = ['decline', 'defaults'] as const;
export type Elicitation = (typeof ELICITATIONS)[number];

export type ServerSettings = {
  name: string;
  reach: Reach;
  /** Globs over the server's own names of its tools; null: all of them. */
  allow: readonly string[] | null;
  /** Of all its tools; null: as their annotations say. */
  approval: Approval | null;
  elicitation: Elicitation;
  /** Until it has to have said what tools it has, in milliseconds. */
  startTimeoutMs: number;
  /** A call without a word of progress. */
  timeoutMs: number;
  /** A call, whatever it says of its progress. */
  maxTimeoutMs: number;
};
