// Workers that are stopped, started and deleted from the command line, and roles that are shown, defined and deleted.
import { spawnSync } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { NightshiftError, type Role, type RoleVersion, type Worker } from '../../src/client/index.ts';
import { EXIT, toEnd } from '../../src/cli/exit.ts';
import { MAIN, openPlatform, start, type Platform } from './command-line.ts';

let platform: Platform;
beforeAll(async () => {
  platform = await openPlatform();
});
afterAll(() => platform.close());

/** A worker with one below it. */
async function family(name: string): Promise<{ top: Worker; below: Worker }> {
  const top = await platform.client.workers.create({ name, config: {} });
  const below = await platform.client.workers.create({ name: 'kid', parent_worker_id: top.id, config: {} });
  return { top, below };
}
const stateOf = async ({ id }: Worker): Promise<string> => (await platform.client.workers.get(id)).state;
const isThere = async ({ id }: Worker): Promise<boolean> =>
  platform.client.workers.get(id).then(
    () => true,
    (error: unknown) => {
      if (error instanceof NightshiftError && error.code === 'not_found') return false;
      throw error;
    },
  );

describe('a worker', () => {
  test('is stopped with those below it, and started again; by name or id', async () => {
    const { top, below } = await family('ada');
    const stopped = await platform.run(['workers', 'stop', 'ada']);
    expect(stopped).toMatchObject({ code: 0, out: 'ada and its descendants are stopped.\n' });
    expect([await stateOf(top), await stateOf(below)]).toEqual(['stopped', 'stopped']);
    const refused = await platform.run(['run', 'say: hello', '--worker', top.id]);
    expect(refused).toMatchObject({ code: 1, out: '', err: expect.stringContaining('worker_stopped') });

    const started = await platform.json<Worker>(['workers', 'start', top.id, '--json']);
    expect(started).toMatchObject({ id: top.id, name: 'ada', state: 'inactive' });
    expect(await stateOf(below)).toBe('inactive');
    expect(await platform.run(['run', 'say: hello', '--worker', top.id])).toMatchObject({ out: 'hello\n' });
  });

  test('whose name is not unique is named by its id', async () => {
    await family('twin');
    await family('twin');
    for (const action of ['stop', 'start', 'delete']) {
      const { code, err } = await platform.run(['workers', action, 'twin']);
      expect({ code, err }).toMatchObject({ code: 1, err: expect.stringContaining('Use an id') });
    }
  });

  test('is deleted with those below it after confirmation: without a terminal, by --yes', async () => {
    const { top, below } = await family('bea');
    const unsaid = await platform.run(['workers', 'delete', 'bea']);
    expect(unsaid).toMatchObject({ code: 2, out: '', err: expect.stringContaining('--yes') });
    expect(await isThere(top)).toBe(true);
    expect(await platform.run(['workers', 'delete', 'bea', '--yes'])).toMatchObject({
      code: 0,
      out: 'bea was deleted.\n',
    });
    expect([await isThere(top), await isThere(below)]).toEqual([false, false]);
    expect((await platform.run(['workers', 'delete', top.id, '--yes'])).code).toBe(1);
  });

  test('options before the subcommand of `workers` are obeyed, or refused: none is ignored', async () => {
    const { top } = await family('cyd');
    expect(await platform.json(['workers', '--json', 'stop', top.id])).toMatchObject({ id: top.id });
    const nowhere = await platform.run(['workers', '--url', 'http://127.0.0.1:1', 'start', top.id]);
    expect(nowhere.code).toBe(3);
    expect((await platform.run(['workers', '--state', 'stopped', 'start', top.id])).code).toBe(2);
    expect(await stateOf(top)).toBe('stopped');
    expect((await platform.run(['workers', 'nonsense'])).code).toBe(2);
    expect((await platform.run(['workers', 'stop'])).code).toBe(2);
  });
});

/** A terminal for a process: util-linux's `script`. */
const hasScript = process.platform === 'linux' && spawnSync('script', ['--version']).status === 0;

describe.skipIf(!hasScript)('at a terminal', () => {
  test.each([
    ['yes', 0, false],
    ['n', 1, true],
    ['', 1, true],
  ])('a delete asks for confirmation, and %j is the answer', async (output, exit, stays) => {
    const { top } = await family('dot');
    const line = `exec "${process.execPath}" "${MAIN}" workers delete ${top.id}`;
    const command = ['script', '-qec', line, '/dev/null'];
    const asking = start(['workers delete'], { ...platform.env, NO_COLOR: '1' }, { command });
    await asking.says('out', /Delete dot and 1 descendant worker, .*: /);
    asking.write(`${output}\r`);
    expect((await asking.done).code).toBe(exit);
    expect(await isThere(top)).toBe(stays);
  });
});

describe('a role', () => {
  const file = (): string => path.join(platform.folder, 'role.json');
  const shown = async (...args: string[]): Promise<unknown> =>
    JSON.parse((await platform.run(['roles', 'show', ...args])).out);

  test('is defined by a file, shown in its current and in earlier versions', async () => {
    const first = { system_prompt: 'You help.', tools: ['recall'], model: 'simulated/x' };
    await writeFile(file(), JSON.stringify(first));
    expect(await platform.run(['roles', 'put', 'support', file()])).toMatchObject({
      code: 0,
      out: 'support v1\n',
    });
    expect(await shown('support')).toEqual(first);
    const second = JSON.stringify({ ...first, system_prompt: 'You help, kindly.' });
    expect((await platform.run(['roles', 'put', 'support', '-'], second)).out).toBe('support v2\n');
    expect(await shown('support', '--version', '1')).toEqual(first);

    // The printed role can be put unchanged: the same content is no new version.
    const { out } = await platform.run(['roles', 'show', 'support']);
    expect((await platform.run(['roles', 'put', 'support', '-'], out)).out).toBe('support v2\n');
    const whole = await platform.json<Role>(['roles', 'show', 'support', '--json']);
    expect(whole).toMatchObject({ name: 'support', version: 2, source: 'api', tools: ['recall'] });
  });

  test('has its versions listed, newest first, and goes on with them after a deletion', async () => {
    await platform.client.roles.put('versioned', { max_steps: 1 });
    await platform.client.roles.put('versioned', { max_steps: 2, tools: ['recall'] });
    await platform.run(['roles', 'delete', 'versioned']);
    await platform.client.roles.put('versioned', {});
    const { out } = await platform.run(['roles', 'versions', 'versioned']);
    const [titles, ...rows] = out.trimEnd().split('\n');
    expect(titles).toMatch(/^VERSION +CREATED +FIELDS$/);
    expect(rows.map((row) => row.replaceAll(/ +\S+Z +/g, ' '))).toEqual([
      'v4 –',
      'v3 deleted',
      expect.stringMatching(/^v2 (?:max_steps, tools|tools, max_steps)$/),
      'v1 max_steps',
    ]);
    const newest = await platform.json<{ data: RoleVersion[] }>([
      'roles',
      'versions',
      'versioned',
      '-n',
      '1',
      '--json',
    ]);
    expect(newest.data.map(({ version }) => version)).toEqual([4]);
    expect((await platform.run(['roles', 'versions', 'nobody'])).code).toBe(1);
  });

  test('with an invalid definition is refused', async () => {
    await writeFile(file(), '{');
    expect(await platform.run(['roles', 'put', 'odd', file()])).toMatchObject({
      code: 2,
      err: expect.stringContaining('is not valid JSON'),
    });
    expect((await platform.run(['roles', 'put', 'odd', path.join(platform.folder, 'none')])).code).toBe(2);
    for (const definition of ['{"colour": "red"}', '{"tools": ["nonsense"]}'])
      expect((await platform.run(['roles', 'put', 'odd', '-'], definition)).code).toBe(2);
    expect((await platform.run(['roles', 'show', 'odd'])).code).toBe(1);
  });

  test('with several faults is refused with a line for each', async () => {
    const definition = JSON.stringify({ rolle: 'x', max_steps: 0, mode: 'fly', limits: { depth: -1 } });
    const { code, err } = await platform.run(['roles', 'put', 'odd', '-'], definition);
    const [title, ...faults] = err.trimEnd().split('\n');
    expect(code).toBe(2);
    expect(title).toMatch(/^nightshift: The request has several faults \(request [^)]+\):$/);
    expect(faults).toHaveLength(4);
    expect(faults).toEqual(
      expect.arrayContaining([
        expect.stringMatching(/^Unknown field `rolle`\. .* \(invalid_request, at rolle\)$/),
        expect.stringMatching(/^limits\.depth: must be .* \(invalid_request, at limits\.depth\)$/),
        expect.stringMatching(/^max_steps: must be .* \(invalid_request, at max_steps\)$/),
        expect.stringMatching(/^mode: must be .* \(invalid_request, at mode\)$/),
      ]),
    );
  });

  test('is deleted, and its earlier versions can be shown', async () => {
    await platform.client.roles.put('temporary', { model: 'simulated/x' });
    expect((await platform.run(['roles', 'delete', 'temporary'])).out).toBe('temporary v1 was deleted.\n');
    expect((await platform.run(['roles', 'show', 'temporary'])).code).toBe(1);
    expect(await shown('temporary', '--version', '1')).toEqual({ model: 'simulated/x' });
    expect((await platform.run(['roles', 'delete', 'temporary'])).code).toBe(1);
  });

  test('of the config file is not changed here, which no other key would change', () => {
    const end = (param: string | null) =>
      toEnd(new NightshiftError('forbidden', 'It is not to be changed.', { param }), 'http://here');
    expect(end('name')).toEqual({
      exit: EXIT.failed,
      message: 'It is not to be changed. (forbidden, at name)',
    });
    expect(end(null)).toMatchObject({ exit: EXIT.unavailable, message: expect.stringContaining('API_KEY') });
  });
});
