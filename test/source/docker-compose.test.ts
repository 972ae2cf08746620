// docker-compose.yml, as far as it can be checked without Docker: the settings of the platform's services, that every name
// that belongs in `.env` is in .env.example, and what that of a new project has in common with it.
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { isServer } from '../../src/cli/serve.ts';
import { isJsonObject, type Json, type JsonObject } from '../../src/core/json.ts';

const ROOT = path.join(import.meta.dirname, '../..');
const read = (name: string): string => readFileSync(path.join(ROOT, name), 'utf8');

const text = read('docker-compose.yml');
const file = objectOf(parse(text, { merge: true }));
const services = objectOf(file['services']);

function objectOf(value: Json | undefined): JsonObject {
  if (value === undefined || !isJsonObject(value)) throw new Error(`not an object: ${JSON.stringify(value)}`);
  return value;
}

const service = (name: string): JsonObject => objectOf(services[name]);
const environment = (name: string): JsonObject => objectOf(service(name)['environment']);

const PROJECT = 'templates/project/docker-compose.yml';
const projectText = read(PROJECT);
const projectServices = objectOf(objectOf(parse(projectText, { merge: true }))['services']);

/** Those that run this image. */
const OURS = ['migrate', 'api', 'worker'];

describe.each(OURS)('the service %s', (name) => {
  test('runs a command of the platform', () => {
    expect(service(name)['image']).toBe('nightshift');
    expect(service(name)['command']).toEqual([expect.toSatisfy((given: string) => isServer(given))]);
  });

  test('has an init process, which reaps children of tools', () => {
    expect(service(name)['init']).toBe(true);
  });

  test('gets the config file of the operator, and the files that it names', () => {
    expect(service(name)['volumes']).toContain('./operator:/app/operator:ro');
    expect(environment(name)).toMatchObject({
      NIGHTSHIFT_CONFIG: '${NIGHTSHIFT_CONFIG:-}',
      NIGHTSHIFT_DEFAULT_MODEL: '${NIGHTSHIFT_DEFAULT_MODEL:-}',
    });
  });

  test('gets the collector of traces', () => {
    expect(environment(name)['OTEL_EXPORTER_OTLP_ENDPOINT']).toBe('${OTEL_EXPORTER_OTLP_ENDPOINT:-}');
  });

  test('has no privileges that it does not need', () => {
    expect(service(name)).toMatchObject({
      read_only: true,
      cap_drop: ['ALL'],
      security_opt: ['no-new-privileges:true'],
    });
  });
});

test('worker processes keep workspaces in a volume that is declared, and that their user may write to', () => {
  expect(environment('worker')['NIGHTSHIFT_WORKSPACES']).toBe('/workspaces');
  expect(service('worker')['volumes']).toContain('workspaces:/workspaces');
  expect(Object.keys(objectOf(file['volumes']))).toContain('workspaces');
  expect(read('Dockerfile')).toContain('RUN install -d -o node -g node /workspaces');
});

test.each(['postgres', 'redis', 'api', 'worker'])('%s has a health check', (name) => {
  const { test: command } = objectOf(service(name)['healthcheck']);
  expect(command).toEqual(expect.arrayContaining(['CMD']));
});

test('the health check of a worker process is a command of the platform', () => {
  const { test: command } = objectOf(service('worker')['healthcheck']);
  expect(command).toEqual(['CMD', 'node', '/app/bin/nightshift.js', 'worker-health']);
  expect(isServer('worker-health')).toBe(true);
});

// A dependency that only `migrate` names would stop with it, while processes still drain.
test.each([
  ['docker-compose.yml', services],
  [PROJECT, projectServices],
])('in %s, API and worker processes start after all that they need, and stop before it', (_, all) => {
  for (const name of ['api', 'worker'])
    expect(objectOf(all[name])['depends_on']).toEqual({
      postgres: { condition: 'service_healthy' },
      migrate: { condition: 'service_completed_successfully' },
      redis: { condition: 'service_healthy' },
    });
});

test.each(['migrate', 'api', 'worker'])('the service %s of a new project gets the same variables', (name) => {
  // The project names its config file in its image, and gives its migration no key.
  const own = new Set([...Object.keys(environment(name)), 'NIGHTSHIFT_SECRET_KEY']);
  const given = new Set([
    ...Object.keys(objectOf(objectOf(projectServices[name])['environment'])),
    'NIGHTSHIFT_SECRET_KEY',
    'NIGHTSHIFT_CONFIG',
  ]);
  expect([...given].toSorted()).toEqual([...own].toSorted());
});

test('every name that it reads from the environment, or passes to the platform, is in .env.example', () => {
  const documented = new Set([...read('.env.example').matchAll(/^(?:# )?([A-Z][A-Z_]+)=/gm)].map(([, name]) => name));
  const taken = [...text.matchAll(/\$\{([A-Z_]+)/g)].map(([, name]) => name);
  const given = OURS.flatMap((name) => Object.keys(environment(name)));
  expect(taken).toContain('POSTGRES_PASSWORD');
  expect([...new Set([...taken, ...given])].filter((name) => !documented.has(name))).toEqual([]);
});
