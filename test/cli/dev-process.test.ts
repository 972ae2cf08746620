// A process of `nightshift dev`, or `nightshift start`, that is told to end while it starts.
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { DevProcesses } from '../../src/cli/dev/processes.ts';
import { createTestDatabase, type TestDatabase } from '../services/database.ts';
import { removeFolder, temporaryFolder } from '../services/temporary-folder.ts';
import { start } from './command-line.ts';

let database: TestDatabase;
let folder = '';

beforeAll(async () => {
  database = await createTestDatabase();
  folder = await temporaryFolder();
});

afterAll(async () => {
  await database.drop();
  await removeFolder(folder);
});

test.each(['dev-process', 'start'])(
  '%s: a signal between the start of the worker and the end of the start still drains',
  async (name) => {
    const child = start([name], { DATABASE_URL: database.url, PORT: '0' }, { cwd: folder });
    await child.says('out', /worker process is up/);
    child.signal('SIGTERM');
    const { code, out } = await child.done;
    expect(code).toBe(0);
    expect(out).toContain('"msg":"drained"');
  },
);

test('several changes and Ctrl-C send one signal to a process that starts', async () => {
  const go = path.join(folder, 'go');
  const [, program] = process.argv;
  process.argv[1] = path.join(import.meta.dirname, 'starting-process.js');
  const lines: string[] = [];
  let look = (): void => undefined;
  const said = (line: string, times: number): Promise<void> =>
    new Promise((resolve) => {
      look = () => {
        if (lines.filter((one) => one === line).length >= times) resolve();
      };
      look();
    });
  const unexpected = (): never => {
    throw new Error('the process never reports');
  };
  const processes = new DevProcesses(
    {
      line(text) {
        lines.push(text);
        look();
      },
      loading: unexpected,
      ready: unexpected,
      failed: unexpected,
      crashed: unexpected,
    },
    () => ({ GO: go }),
    true,
  );
  if (program !== undefined) process.argv[1] = program;
  processes.renew();
  await said('starting', 1);
  processes.renew();
  await said('SIGTERM', 1);
  processes.renew();
  const stopped = processes.stop();
  await writeFile(go, '');
  await stopped;
  expect(lines).toEqual(['starting', 'SIGTERM']);
});
