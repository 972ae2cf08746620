/** The port to traces and metrics that a process sends to others. */
import type { Figure } from '../figures.ts';
import { NO_TRACING, type Tracing } from './tracing.ts';

export type Telemetry = {
  tracing: Tracing;
  /** Metrics that are read for each export. Of a name that several sources have, the first counts. */
  addFigures(read: () => Promise<readonly Figure[]>): void;
};

export const NO_TELEMETRY: Telemetry = { tracing: NO_TRACING, addFigures: () => undefined };
