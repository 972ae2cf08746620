/** The validated settings of one MCP server. */
import type { Approval } from '../../../core/run/policy.ts';

/** How to connect to a server: a child process over stdin and stdout, or a URL. */
export type Reach =
  | {
      kind: 'stdio';
      command: string;
      args: readonly string[];
      env: Readonly<Record<string, string>>;
      cwd: string | null;
    }
  | { kind: 'http'; url: string; headers: Readonly<Record<string, string>> };

/** The answer to a server that asks a person: decline, or the default values of its question. */
export const ELICITATIONS = ['decline', 'defaults'] as const;
export type Elicitation = (typeof ELICITATIONS)[number];

export type ServerSettings = {
  name: string;
  reach: Reach;
  /** Globs over the server's own tool names; null: all tools. */
  allow: readonly string[] | null;
  /** For all its tools; null: according to their annotations. */
  approval: Approval | null;
  elicitation: Elicitation;
  /** The time limit for listing its tools, in milliseconds. */
  startTimeoutMs: number;
  /** The time limit of a call without progress. */
  timeoutMs: number;
  /** The total time limit of a call. */
  maxTimeoutMs: number;
};
