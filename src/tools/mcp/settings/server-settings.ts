/** The validated settings of one MCP server; servers.ts documents them. */
import type { Approval } from '../../../core/run/policy.ts';
import type { ServerScope } from '../../../core/tools/server-scope.ts';

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

export const ELICITATIONS = ['decline', 'defaults'] as const;
export type Elicitation = (typeof ELICITATIONS)[number];

export type ServerSettings = {
  name: string;
  scope: ServerScope;
  /** How long an unused instance of a tenant or a context keeps running. */
  idleTimeoutMs: number;
  /** Instances of tenants or contexts that run at once in a worker process. */
  maxInstances: number;
  reach: Reach;
  /** Null: all tools. */
  allow: readonly string[] | null;
  /** Null: according to the annotations of each tool. */
  approval: Approval | null;
  elicitation: Elicitation;
  /** Whether calls say whose they are. */
  sendsCaller: boolean;
  startTimeoutMs: number;
  timeoutMs: number;
  maxTimeoutMs: number;
};
