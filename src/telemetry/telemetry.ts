/**
 * Traces and metrics of a process, sent over OTLP. The SDK of OpenTelemetry is loaded only for a process that sends:
 * any other one pays nothing for it.
 */
import { NO_TRACING, type Tracing } from '../core/tracing/tracing.ts';
import { NO_TELEMETRY } from '../core/tracing/telemetry.ts';
import type { OpenTelemetry, TelemetryOptions } from './options.ts';

export const SILENT: OpenTelemetry = { ...NO_TELEMETRY, close: async () => undefined };

/**
 * For a process of its own. `endpoint`: the collector; null: nothing is sent. The SDK reads all other variables of
 * OpenTelemetry from the environment itself.
 */
export async function openTelemetry(endpoint: string | null, options: TelemetryOptions): Promise<OpenTelemetry> {
  if (endpoint === null) return SILENT;
  const { startSdk } = await import('./sdk.ts');
  return startSdk(options);
}

/** Where the API of OpenTelemetry keeps what was registered, in all its copies. */
const REGISTERED = Symbol.for('opentelemetry.js.api.1');

/** For a service that embeds the platform: its own tracing, if it has set one up before; nothing is registered. */
export async function hostTracing(version: string): Promise<Tracing> {
  if (!(REGISTERED in globalThis)) return NO_TRACING;
  const { otelTracing } = await import('./otel-tracing.ts');
  return otelTracing(version);
}
