/** The operator's settings of `run_command`; config/built-in-limits.ts documents them. */
export const RUNNERS = ['container', 'bubblewrap', 'process'] as const;

export type RunCommandLimits = {
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
