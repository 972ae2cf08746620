/** The metrics that worker processes stored, as the API reads them. They may come from another release. */
import { parseFigures, type Sample } from '../../../core/figures.ts';
import type { ProcessView } from '../../../db/read/installation/fleet-views.ts';
import { toIso } from '../../request/instant.ts';

/** The metrics of worker processes that the API shows. */
export const FIGURES = {
  slots: 'nightshift_slots',
  taken: 'nightshift_slots_taken',
  answered: 'nightshift_model_answered_timestamp_seconds',
  failed: 'nightshift_model_failed_timestamp_seconds',
  serverUp: 'nightshift_mcp_server_up',
  serverRestarts: 'nightshift_mcp_restarts_total',
  serverCalls: 'nightshift_mcp_calls_total',
  serverFailed: 'nightshift_mcp_server_failed_timestamp_seconds',
  serverTimes: 'nightshift_mcp_call_seconds',
} as const;

/** Those of which tenants see something. */
export const TENANT_FIGURES: readonly string[] = [FIGURES.serverUp];

/** What a worker process stored. */
export type Stored = { process: ProcessView; samples: readonly Sample[] };

export function parseStored(process: ProcessView): Stored {
  return { process, samples: parseFigures(process.figures).flatMap((figure) => figure.samples) };
}

/** The values of the metric with this label, over all processes. */
export function valuesOf(samples: readonly Sample[], name: string, label?: [name: string, value: string]): number[] {
  return samples
    .filter((one) => one.name === name && (label === undefined || one.labels[label[0]] === label[1]))
    .map(({ value }) => value);
}

/** Whether a time in seconds is possible. */
export function isInstant(seconds: number): boolean {
  return seconds > 0 && seconds < 1e11;
}

/** The latest of several times in seconds. Ignores impossible values. */
export function latest(seconds: readonly number[]): string | null {
  const instants = seconds.filter(isInstant);
  return instants.length === 0 ? null : toIso(Math.max(...instants) * 1_000);
}

export function countOf([value]: readonly number[]): number | null {
  return value !== undefined && Number.isSafeInteger(value) && value >= 0 ? value : null;
}

/** Ignores impossible values. */
export function addCount(sum: number, value: number): number {
  return sum + (countOf([value]) ?? 0);
}
