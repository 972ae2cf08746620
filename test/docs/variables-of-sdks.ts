// Variables of the environment that libraries read by themselves.

/** The SDK of OpenTelemetry reads these by itself. */
export const OF_OPENTELEMETRY = [
  'OTEL_EXPORTER_OTLP_HEADERS',
  'OTEL_EXPORTER_OTLP_TIMEOUT',
  'OTEL_EXPORTER_OTLP_COMPRESSION',
  'OTEL_SERVICE_NAME',
  'OTEL_RESOURCE_ATTRIBUTES',
];
