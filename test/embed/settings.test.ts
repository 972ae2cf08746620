import { expect, test } from 'vitest';
import { parseOptions } from '../../src/embed/settings.ts';

test('the collector of the service is for its own SDK, whatever its value', () => {
  const databaseUrl = 'postgres://shop@127.0.0.1/shop';
  for (const OTEL_EXPORTER_OTLP_ENDPOINT of ['http://127.0.0.1:4318', 'grpc://collector:4317'])
    expect(parseOptions({ databaseUrl, env: { OTEL_EXPORTER_OTLP_ENDPOINT } }).config.otlpEndpoint).toBeNull();
});

test('a database login for API processes is refused', () => {
  const databaseUrl = 'postgres://shop@127.0.0.1/shop';
  const env = { NIGHTSHIFT_API_DATABASE_URL: databaseUrl };
  expect(() => parseOptions({ databaseUrl, env })).toThrow(/env\.NIGHTSHIFT_API_DATABASE_URL is only for/);
  expect(parseOptions({ databaseUrl }).databaseUrl).toBe(databaseUrl);
});
