import { expect, test, vi } from 'vitest';
import { openWorker } from '../../src/embed/worker.ts';
import { parseOptions } from '../../src/embed/settings.ts';
import { defineToolPackage } from '../../src/index.ts';

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

test('only a worker needs the secrets of tool packages', async () => {
  const databaseUrl = 'postgres://shop@127.0.0.1/shop';
  const weather = defineToolPackage({ name: 'weather', secrets: ['WEATHER_API_KEY'], tools: () => [] });
  const config = { tools: [weather()] };
  const startWorker = vi.fn();
  expect(parseOptions({ databaseUrl, config, env: { WEATHER_API_KEY: 'a-key-of-a-test' } }).workerFaults).toEqual([]);
  const { workerFaults } = parseOptions({ databaseUrl, config });
  await expect(openWorker({ startWorker }, workerFaults).start()).rejects.toMatchObject({
    code: 'invalid_options',
    faults: [
      'config: tools[0] (package weather): secrets.WEATHER_API_KEY: is missing. Give WEATHER_API_KEY in env, or give it: secrets: { WEATHER_API_KEY: … }.',
    ],
  });
  expect(startWorker).not.toHaveBeenCalled();
  const wrong = { tools: [weather({ prefix: 'a b' })] };
  expect(() => parseOptions({ databaseUrl, config: wrong })).toThrow('config: tools[0] (package weather): prefix');
});
