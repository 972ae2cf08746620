/** Logs once that the collector does not take the data, and once that it takes it again. */
import { ExportResultCode, type ExportResult } from '@opentelemetry/core';

type Exporter<Data> = { export(data: Data, callback: (result: ExportResult) => void): void };
type Warn = (facts: object, message: string) => void;

export function reportOutages(warn: Warn) {
  const failing = new Set<string>();
  const note = (signal: string, { code, error }: ExportResult): void => {
    const isFailing = code === ExportResultCode.FAILED;
    if (isFailing === failing.has(signal)) return;
    if (isFailing) {
      failing.add(signal);
      warn({ signal, reason: error?.message ?? 'unknown' }, 'cannot send telemetry to OTEL_EXPORTER_OTLP_ENDPOINT');
    } else {
      failing.delete(signal);
      warn({ signal }, 'telemetry is sent again');
    }
  };
  return {
    /** Returns the same exporter. */
    watch<Data, Watched extends Exporter<Data>>(signal: string, exporter: Watched & Exporter<Data>): Watched {
      const send = exporter.export.bind(exporter);
      exporter.export = (data, callback) =>
        send(data, (result) => {
          note(signal, result);
          callback(result);
        });
      return exporter;
    },
  };
}
