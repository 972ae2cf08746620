// The reference pages name what the code has: no more, no less.
import { Registry } from 'prom-client';
import { expect, test } from 'vitest';
import { apiDocument } from '../../scripts/client-schema.ts';
import { commandEnvironment } from '../../src/platform/built-in-parts.ts';
import { EXIT } from '../../src/cli/exit.ts';
import type { ErrorCode } from '../../src/client/index.ts';
import { parseEnvironment } from '../../src/config/config.ts';
import type { Environment } from '../../src/config/environment.ts';
import { CODES, JOB_CODES, type Code } from '../../src/core/errors.ts';
import { FAULT_CODES } from '../../src/tools/run/tool-fault.ts';
import { createWorkerMetrics } from '../../src/workers/process/metrics/metrics.ts';
import { codes, filesBelow, read, rowsOf, section } from './markdown.ts';
import { OF_OPENTELEMETRY } from './variables-of-sdks.ts';

const sorted = (names: Iterable<string>): string[] => [...new Set(names)].sort();

/** The code in the first cell of each row, under a heading of a page. */
const listed = (page: string, heading: string): string[] =>
  rowsOf(section(page, heading)).flatMap(([first]) => codes(first));

test('docs/http.md lists the routes of the OpenAPI document', async () => {
  const { paths } = await apiDocument();
  const routes = Object.entries(paths).flatMap(([path, methods]) =>
    Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`),
  );
  const rows = rowsOf(read('docs/http.md')).flatMap(([method = '', path]) =>
    /^[A-Z]+$/.test(method) ? codes(path).map((one) => `${method} ${one}`) : [],
  );
  expect(rows.toSorted()).toEqual(sorted(routes));
});

test('docs/errors.md lists the codes of the API with their statuses', () => {
  const rows = rowsOf(section('docs/errors.md', 'Codes of the API'));
  const found = rows.flatMap(([code, status]) => codes(code).map((one) => [one, Number(status)] as const));
  expect(Object.fromEntries(found)).toEqual(CODES);
  expect(found).toHaveLength(Object.keys(CODES).length);
});

test('docs/errors.md lists the codes of jobs and of tool results', () => {
  expect(listed('docs/errors.md', 'Codes of a job')).toEqual([...JOB_CODES]);
  expect(listed('docs/errors.md', 'Codes of tool results')).toEqual([...FAULT_CODES]);
});

test('docs/errors.md lists the codes of the typed client and of the command line', () => {
  // A new code of the client does not compile here before it has its entry.
  const own: Record<Exclude<ErrorCode, Code>, true> = {
    unreachable: true,
    timed_out: true,
    unexpected_answer: true,
  };
  expect(listed('docs/errors.md', 'Codes of the typed client')).toEqual(Object.keys(own));
  const rows = rowsOf(section('docs/errors.md', 'Exit codes of the command line'));
  expect(sorted(rows.map(([code = '']) => code))).toEqual(sorted(Object.values(EXIT).map(String)));
});

/** The names of the variables that `use` reads. */
function readBy(use: (env: Environment) => unknown): string[] {
  const names: string[] = [];
  const env = new Proxy<Record<string, string>>(
    {},
    { get: (_, name) => void (typeof name === 'string' && names.push(name)) },
  );
  use(env);
  return names;
}

/** What other code reads by name, outside of `src/config`. */
function readElsewhere(): string[] {
  return filesBelow('src')
    .filter((file) => file.endsWith('.ts'))
    .flatMap((file) => [...read(file).matchAll(/\benv\['([A-Z_]+)'\]/g)].map(([, name = '']) => name));
}

/** Node.js reads these by itself. */
const OF_NODE = ['NO_COLOR', 'FORCE_COLOR'];

test('docs/environment.md lists the variables that the code reads', () => {
  const ours = [...readBy(parseEnvironment), ...readBy(commandEnvironment), ...readElsewhere()];
  const known = [...ours, ...OF_NODE, ...OF_OPENTELEMETRY];
  const rows = rowsOf(read('docs/environment.md')).flatMap(([name]) => codes(name));
  expect(rows.toSorted()).toEqual(sorted(known));
});

test('docs/environment.md gives the defaults of .env.example', () => {
  const example = [...read('.env.example').matchAll(/^([A-Z_]+)=(.+)$/gm)];
  const defaults = new Map(
    rowsOf(read('docs/environment.md')).map(([name, value]) => [codes(name)[0], codes(value)[0]]),
  );
  expect(example.length).toBeGreaterThan(15);
  expect(example.filter(([, name, value]) => defaults.get(name) !== value).map(([line]) => line)).toEqual([]);
});

test('docs/metrics.md lists the metrics that worker and API processes define', () => {
  const registry = new Registry();
  createWorkerMetrics({ running: 0, capacity: 0 }, [], { registry });
  const ofWorker = registry.getMetricsAsArray().map(({ name }) => name);
  const ofApi = filesBelow('src/api/metrics').flatMap((file) =>
    [...read(file).matchAll(/'(nightshift_[a-z_]+)'/g)].map(([, name = '']) => name),
  );
  const rows = rowsOf(read('docs/metrics.md')).flatMap(([name]) => codes(name));
  const listedOnes = rows.filter((name) => name.startsWith('nightshift_'));
  expect(listedOnes.toSorted()).toEqual(sorted([...ofWorker, ...ofApi]));
});
