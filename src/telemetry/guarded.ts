/**
 * The tracer of a service that embeds the platform is code of others. An error that it throws goes to the
 * logger of OpenTelemetry and costs spans only: no tool call, no model call and no request fails because of it.
 */
import { diag } from '@opentelemetry/api';

/** `otherwise`: the result if `work` throws. */
export function guarded<T>(work: () => T, otherwise: T): T {
  try {
    return work();
  } catch (error) {
    report(error);
    return otherwise;
  }
}

/** Through the logger that the service has given to OpenTelemetry; it is code of others, too. */
function report(error: unknown): void {
  try {
    diag.error('nightshift: the tracer threw an error', error);
  } catch {
    // Nothing is left to report to.
  }
}
