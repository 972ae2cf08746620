// Workspaces are deleted with their contexts, by the housekeeping of any process; nothing else in their folder is.
import { mkdirSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { v7 } from 'uuid';
import { deleteWorker } from '../../../src/commands/workers/delete-worker.ts';
import { DEFAULT_TENANT, DEFAULT_TENANT_NAME } from '../../../src/core/ids.ts';
import { fileTools } from '../../../src/tools/built-in/files/files.ts';
import { FILE_LIMITS } from '../../../src/tools/built-in/files/limits.ts';
import { createWorkspaces } from '../../../src/tools/built-in/files/workspaces.ts';
import { removeOrphans } from '../../../src/workers/process/workspaces.ts';
import { RESULT_CHARS, runnerFor, temporaryFolder } from '../../tools/built-in-runner.ts';
import { says, startFleet, type Fleet } from '../worker-fleet.ts';

let fleet: Fleet;
let base: Awaited<ReturnType<typeof temporaryFolder>>;
beforeEach(async () => {
  fleet = await startFleet({ model: () => says('hi') });
  base = await temporaryFolder();
});
afterEach(async () => {
  await fleet.close();
  await base.remove();
});

const write = (of: object) =>
  runnerFor(fileTools({ workspaces: createWorkspaces(base.path), limits: FILE_LIMITS, resultChars: RESULT_CHARS }))(
    'write_file',
    { path: 'notes/a', content: 'x' },
    { tenantName: DEFAULT_TENANT_NAME, ...of },
  );
/** And the files beside them. */
const folders = (): string[] => readdirSync(path.join(base.path, DEFAULT_TENANT_NAME)).sort();

test('a workspace is deleted with its context, and no sooner', async () => {
  const kept = await fleet.createContext();
  const gone = await fleet.createContext();
  for (const context of [kept, gone]) expect(await write(context)).toMatchObject({ isError: false });
  expect(await removeOrphans(fleet.database.db, base.path)).toEqual({ kind: 'swept', removed: 0 });
  await deleteWorker(fleet.ports, DEFAULT_TENANT, gone.workerId);
  expect(await removeOrphans(fleet.database.db, base.path)).toEqual({ kind: 'swept', removed: 1 });
  expect(folders()).toEqual([kept.contextId, `${kept.contextId}.usage`]);
  expect(await removeOrphans(fleet.database.db, base.path)).toEqual({ kind: 'swept', removed: 0 });
});

test('other files are left alone', async () => {
  const elsewhere = await temporaryFolder();
  const outside = elsewhere.path;
  const precious = v7();
  mkdirSync(path.join(outside, precious));
  mkdirSync(path.join(base.path, DEFAULT_TENANT_NAME, 'mine'), { recursive: true });
  writeFileSync(path.join(base.path, DEFAULT_TENANT_NAME, v7()), 'a file');
  symlinkSync(outside, path.join(base.path, DEFAULT_TENANT_NAME, v7()));
  symlinkSync(outside, path.join(base.path, 'linked'));
  const before = folders();
  await removeOrphans(fleet.database.db, base.path);
  expect(folders()).toEqual(before);
  expect(readdirSync(outside)).toEqual([precious]);
  await elsewhere.remove();
});

test('files in a folder of another installation are left alone', async () => {
  const id = v7();
  mkdirSync(path.join(base.path, DEFAULT_TENANT_NAME, id), { recursive: true });
  writeFileSync(path.join(base.path, '.nightshift-database'), 'another-one');
  expect(await removeOrphans(fleet.database.db, base.path)).toEqual({ kind: 'foreign' });
  expect(folders()).toEqual([id]);
  const nowhere = path.join(base.path, 'none');
  expect(await removeOrphans(fleet.database.db, nowhere)).toEqual({ kind: 'swept', removed: 0 });
});
