// The manifests of deploy/kubernetes, as far as they can be checked without a cluster: against the published schemas of
// Kubernetes and KEDA, and against the commands, variables and paths of the platform.
import { readFileSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { ScaledObject, TriggerAuthentication } from '@kubernetes-models/keda/keda.sh/v1alpha1';
import { Deployment } from 'kubernetes-models/apps/v1';
import { Job } from 'kubernetes-models/batch/v1';
import { PodDisruptionBudget } from 'kubernetes-models/policy/v1';
import { Service } from 'kubernetes-models/v1';
import { describe, expect, test } from 'vitest';
import { parse, parseAllDocuments } from 'yaml';
import { isServer } from '../../src/cli/serve.ts';
import { parseEnvironment } from '../../src/config/config.ts';
import { isJsonObject, type Json, type JsonObject } from '../../src/core/json.ts';

const ROOT = path.join(import.meta.dirname, '../..');
const FOLDER = path.join(ROOT, 'deploy/kubernetes');
const read = (name: string): string => readFileSync(path.join(FOLDER, name), 'utf8');

const MODELS = { Deployment, Job, PodDisruptionBudget, Service, ScaledObject, TriggerAuthentication };
const OTHERS = ['kustomization.yaml'];

const files = readdirSync(FOLDER).filter((name) => name.endsWith('.yaml') && !OTHERS.includes(name));
const manifests = files.flatMap((file) =>
  parseAllDocuments(read(file)).map((document) => ({ file, manifest: objectOf(document.toJS()) })),
);
const named = (kind: string, name: string): JsonObject => {
  const found = manifests.find(
    ({ manifest }) => manifest['kind'] === kind && objectOf(manifest['metadata'])['name'] === name,
  );
  if (found === undefined) throw new Error(`There is no ${kind} ${name}.`);
  return found.manifest;
};

function objectOf(value: Json | undefined): JsonObject {
  if (value === undefined || !isJsonObject(value)) throw new Error(`not an object: ${JSON.stringify(value)}`);
  return value;
}

function textOf(value: Json | undefined): string {
  if (typeof value !== 'string') throw new Error(`not a text: ${JSON.stringify(value)}`);
  return value;
}

function listOf(value: Json | undefined): JsonObject[] {
  if (value === undefined) return [];
  if (!Array.isArray(value)) throw new Error(`not a list: ${JSON.stringify(value)}`);
  return value.map(objectOf);
}

function validate(manifest: JsonObject): void {
  const model = Object.entries(MODELS).find(([kind]) => kind === manifest['kind'])?.[1];
  if (model === undefined) throw new Error(`no schema for ${JSON.stringify(manifest['kind'])}`);
  new model(manifest as never).validate();
}

test.each(manifests)('$file: $manifest.kind matches its schema', ({ manifest }) => {
  expect(() => validate(manifest)).not.toThrow();
});

test('a manifest with a wrong member, or of an unknown kind, does not match', () => {
  const deployment = named('Deployment', 'nightshift-api');
  expect(() => validate({ ...deployment, spec: { ...objectOf(deployment['spec']), replicas: 'two' } })).toThrow(
    /replicas/,
  );
  expect(() => validate({ ...deployment, kind: 'Deploymint' })).toThrow(/no schema/);
});

const podOf = (manifest: JsonObject): JsonObject => objectOf(objectOf(objectOf(manifest['spec'])['template'])['spec']);
const containerOf = (manifest: JsonObject): JsonObject => {
  const [container, ...more] = listOf(podOf(manifest)['containers']);
  if (container === undefined || more.length > 0) throw new Error('not one container');
  return container;
};

describe.each([
  ['Job', 'nightshift-migrate'],
  ['Deployment', 'nightshift-api'],
  ['Deployment', 'nightshift-worker'],
])('%s %s', (kind, name) => {
  const pod = podOf(named(kind, name));
  const container = containerOf(named(kind, name));
  const env = listOf(container['env']);

  test('runs a command of the platform in its image', () => {
    expect(container['image']).toBe('nightshift');
    expect(container['args']).toEqual([expect.toSatisfy((given: string) => isServer(given))]);
  });

  test('has no privileges that it does not need', () => {
    expect(pod).toMatchObject({
      automountServiceAccountToken: false,
      securityContext: { runAsNonRoot: true, runAsUser: 1000 },
    });
    expect(container['securityContext']).toEqual({
      allowPrivilegeEscalation: false,
      readOnlyRootFilesystem: true,
      capabilities: { drop: ['ALL'] },
    });
  });

  test('sets only variables that are documented, with values that are valid', () => {
    const documented = readFileSync(path.join(ROOT, 'docs/environment.md'), 'utf8');
    for (const { name: variable } of env) expect(documented).toContain(`\`${textOf(variable)}\``);
    const plain = env.flatMap(({ name: variable, value }) => (typeof value === 'string' ? [[variable, value]] : []));
    expect(() => parseEnvironment(Object.fromEntries(plain))).not.toThrow();
  });

  test('takes every secret from entries that the page names', () => {
    const page = readFileSync(path.join(ROOT, 'docs/kubernetes.md'), 'utf8');
    for (const { valueFrom } of env) {
      if (valueFrom === undefined) continue;
      const { name: secret, key } = objectOf(objectOf(valueFrom)['secretKeyRef']);
      expect(secret).toBe('nightshift');
      expect(page).toContain(`\`${textOf(key)}\``);
    }
  });

  test('mounts only volumes that it declares', () => {
    const declared = listOf(pod['volumes']).map((volume) => volume['name']);
    for (const mount of listOf(container['volumeMounts'])) expect(declared).toContain(mount['name']);
  });
});

test('worker processes may drain for longer than their drain time before they are killed', () => {
  const worker = named('Deployment', 'nightshift-worker');
  const drainMs = listOf(containerOf(worker)['env']).find(({ name }) => name === 'NIGHTSHIFT_DRAIN_MS')?.['value'];
  expect(Number(podOf(worker)['terminationGracePeriodSeconds'])).toBeGreaterThanOrEqual(Number(drainMs) / 1_000 + 5);
});

test('probes ask what the platform has', () => {
  const api = containerOf(named('Deployment', 'nightshift-api'));
  expect(api['readinessProbe']).toMatchObject({ httpGet: { path: '/readyz', port: 'http' } });
  expect(api['livenessProbe']).toMatchObject({ httpGet: { path: '/healthz', port: 'http' } });
  const worker = containerOf(named('Deployment', 'nightshift-worker'));
  expect(worker['livenessProbe']).toMatchObject({
    exec: { command: ['node', '/app/bin/nightshift.js', 'worker-health'] },
  });
  expect(isServer('worker-health')).toBe(true);
});

test('services and budgets select the processes of their kind', () => {
  for (const part of ['api', 'worker']) {
    const labels = objectOf(
      objectOf(objectOf(objectOf(named('Deployment', `nightshift-${part}`)['spec'])['template'])['metadata'])['labels'],
    );
    const budget = objectOf(named('PodDisruptionBudget', `nightshift-${part}`)['spec']);
    expect(labels).toMatchObject(objectOf(objectOf(budget['selector'])['matchLabels']));
  }
  const service = objectOf(named('Service', 'nightshift-api')['spec']);
  expect(service['selector']).toMatchObject({ 'app.kubernetes.io/component': 'api' });
});

test('kustomize applies every manifest but that of KEDA, and the config file', () => {
  const kustomization = objectOf(parse(read('kustomization.yaml')));
  expect(kustomization['resources']).toEqual(expect.arrayContaining(files.filter((name) => name !== 'keda.yaml')));
  expect(kustomization['resources']).toHaveLength(files.length - 1);
  const [config] = listOf(kustomization['configMapGenerator']);
  expect(config).toEqual({ name: 'nightshift-config', files: ['nightshift.config.ts'] });
  expect(read('nightshift.config.ts')).toContain('defineConfig');
});

test('the version of the image is that of the package', () => {
  const kustomization = objectOf(parse(read('kustomization.yaml')));
  const { version } = objectOf(JSON.parse(readFileSync(path.join(ROOT, 'package.json'), 'utf8')));
  expect(kustomization['images']).toEqual([{ name: 'nightshift', newName: 'nightshift', newTag: version }]);
});

test('each process can have a login of its own', () => {
  const secretsOf = (kind: string, name: string) =>
    listOf(containerOf(named(kind, name))['env']).flatMap(({ name: variable, valueFrom }) =>
      valueFrom === undefined ? [] : [[variable, objectOf(objectOf(valueFrom)['secretKeyRef'])]],
    );
  const optional = (key: string) => ({ name: 'nightshift', key, optional: true });
  expect(Object.fromEntries(secretsOf('Job', 'nightshift-migrate'))).toEqual({
    DATABASE_URL: { name: 'nightshift', key: 'owner-database-url' },
    NIGHTSHIFT_API_LOGIN: optional('api-login'),
    NIGHTSHIFT_WORKER_LOGIN: optional('worker-login'),
  });
  expect(Object.fromEntries(secretsOf('Deployment', 'nightshift-api'))).toMatchObject({
    NIGHTSHIFT_API_DATABASE_URL: optional('api-database-url'),
  });
  expect(Object.fromEntries(secretsOf('Deployment', 'nightshift-worker'))).toMatchObject({
    NIGHTSHIFT_TOOLS_DATABASE_URL: optional('tools-database-url'),
  });
});

test('KEDA asks a route of the API, for a member of its answer', () => {
  const scaled = objectOf(named('ScaledObject', 'nightshift-worker')['spec']);
  const [trigger] = listOf(scaled['triggers']);
  expect(trigger?.['metadata']).toMatchObject({
    url: 'http://nightshift-api.YOUR-NAMESPACE.svc/metrics/load',
    valueLocation: 'slots_needed',
    authMode: 'bearer',
  });
  expect(readFileSync(path.join(ROOT, 'docs/kubernetes.md'), 'utf8')).toContain('`YOUR-NAMESPACE`');
  expect(objectOf(scaled['scaleTargetRef'])).toEqual({ name: 'nightshift-worker' });
  // It would set a number of processes while the API does not answer, also a smaller one than before.
  expect(scaled).not.toHaveProperty('fallback');
});
