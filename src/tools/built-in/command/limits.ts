/** The operator's settings of `run_command`; config/built-in-limits.ts documents them. */
import type { Approval } from '../../../core/run/policy.ts';

export const RUNNERS = ['container', 'bubblewrap', 'process'] as const;

export type RunCommandLimits = {
  approval: Approval;
  runner: (typeof RUNNERS)[number];
  image: string;
  readOnly: readonly string[];
  tenants: readonly string[];
  /** Null: any. */
  allow: readonly string[] | null;
  timeoutS: number;
  outputBytes: number;
  env: Readonly<Record<string, string>>;
  memoryMb: number;
  processes: number;
};

export const RUN_COMMAND_DEFAULTS: RunCommandLimits = {
  approval: 'always',
  runner: 'container',
  image: 'debian:bookworm-slim',
  readOnly: [],
  tenants: [],
  allow: null,
  timeoutS: 600,
  outputBytes: 50_000,
  env: {},
  memoryMb: 512,
  processes: 256,
};
