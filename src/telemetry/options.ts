/** What a process that sends telemetry has to give, and what it gets. */
import type { Telemetry } from '../core/tracing/telemetry.ts';

/** `close`: sends what is left, for two seconds at most. Never rejects. */
export type OpenTelemetry = Telemetry & { close(): Promise<void> };

export type TelemetryOptions = {
  /** Version of the product. */
  version: string;
  /** `warn`: the collector does not take the data, or takes it again. */
  warn: (facts: object, message: string) => void;
};
