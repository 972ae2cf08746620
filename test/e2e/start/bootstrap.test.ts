// The decisions of bootstrap.js, with an npm that only records its commands; and `npm start` in a clone where
// everything is installed. fresh-machine.test.ts shows the same with the real npm, in `npm run test:full`.
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { removeFolder, temporaryFolder } from '../../services/temporary-folder.ts';
import { expectNothingLeft, freshClone, printedLineWorks, run, signalGroup, type Run } from './clone.ts';

const ROOT = path.join(import.meta.dirname, '../../..');
const LOCK = '{ "packages": { "": {}, "node_modules/a": { "version": "1.0.0", "integrity": "sha512-a" } } }';

/**
 * `ci` installs, `install` brings the Node that runs this test; both take some time, so that two at once would overlap.
 */
const fakeNpm = (asked: string): string => `
const fs = require('node:fs');
const path = require('node:path');
const [command, ...args] = process.argv.slice(2);
fs.appendFileSync(${JSON.stringify(asked)}, command + '\\n');
setTimeout(() => {
  if (fs.existsSync('offline')) process.exit(7);
  if (command === 'ci') {
    fs.mkdirSync('node_modules', { recursive: true });
    fs.copyFileSync('package-lock.json', 'node_modules/.package-lock.json');
  } else {
    const bin = path.join(args[args.indexOf('--prefix') + 1], 'node_modules', args.at(-1).split('@')[0], 'bin');
    fs.mkdirSync(bin, { recursive: true });
    fs.symlinkSync(${JSON.stringify(process.execPath)}, path.join(bin, 'node'));
  }
}, 300);
`;

let home = '';
let folder = '';
let asked = '';

beforeEach(async () => {
  home = await temporaryFolder();
  folder = path.join(home, 'a folder');
  asked = path.join(home, 'asked');
});
afterEach(() => removeFolder(home));

/** The bootstrap, with a lockfile of one package and a command that prints that it ran. */
function prepare(): void {
  mkdirSync(folder);
  for (const file of ['bootstrap.js', 'bootstrap-child.js', 'bootstrap-link.js', 'bootstrap-progress.js'])
    copyFileSync(path.join(ROOT, file), path.join(folder, file));
  writeFileSync(path.join(folder, 'package.json'), '{ "type": "module" }');
  writeFileSync(path.join(folder, 'package-lock.json'), LOCK);
  writeFileSync(path.join(folder, 'build.ts'), 'const text: string = process.version;\nconsole.log(text);\n');
  writeFileSync(path.join(home, 'npm-cli.js'), fakeNpm(asked));
}

const build = (): Run =>
  run(folder, ['node', 'bootstrap.js', 'build'], { npm_execpath: path.join(home, 'npm-cli.js') });

async function builds(): Promise<void> {
  const one = build();
  expect(await one.ended, one.output()).toBe(0);
  expect(one.output()).toMatch(/^v(2[4-9]|[3-9]\d)\./m);
}

/** How often npm ran `command`. */
function timesAsked(command: string): number {
  const lines = existsSync(asked) ? readFileSync(asked, 'utf8').split('\n') : [];
  return lines.filter((line) => line === command).length;
}

test('missing packages are installed once, and again when the record or the lockfile differs', async () => {
  prepare();
  await builds();
  expect(timesAsked('ci')).toBe(1);
  await builds();
  expect(timesAsked('ci')).toBe(1);
  rmSync(path.join(folder, 'node_modules', '.package-lock.json'));
  await builds();
  expect(timesAsked('ci')).toBe(2);
  writeFileSync(path.join(folder, 'package-lock.json'), LOCK.replace('1.0.0', '1.0.1'));
  await builds();
  expect(timesAsked('ci')).toBe(3);
});

test('an installation tells how many packages of this platform are there already', async () => {
  prepare();
  const other = process.platform === 'win32' ? 'linux' : 'win32';
  const packages = { '': {}, 'node_modules/a': {}, 'node_modules/b': {}, 'node_modules/c': { os: [other] } };
  writeFileSync(path.join(folder, 'package-lock.json'), JSON.stringify({ packages }));
  mkdirSync(path.join(folder, 'node_modules', 'a'), { recursive: true });
  writeFileSync(path.join(folder, 'node_modules', 'a', 'package.json'), '{}');
  const program = `
    import { showProgress } from './bootstrap-progress.js';
    for (const isTTY of [false, true]) {
      const shown = Promise.withResolvers();
      const end = showProgress('.', { isTTY, write: shown.resolve }, 1);
      console.log(JSON.stringify(await shown.promise));
      end();
    }`;
  const one = run(folder, [process.execPath, '--input-type=module', '-e', program], {});
  expect(await one.ended, one.output()).toBe(0);
  expect(
    one
      .output()
      .trim()
      .split('\n')
      .map((line): unknown => JSON.parse(line)),
  ).toEqual(['  1 of 2 packages\n', '\r  1 of 2 packages']);
});

test('packages that npm itself has installed are not installed again', async () => {
  prepare();
  mkdirSync(path.join(folder, 'node_modules'));
  copyFileSync(path.join(folder, 'package-lock.json'), path.join(folder, 'node_modules', '.package-lock.json'));
  await builds();
  expect(timesAsked('ci')).toBe(0);
});

test('two starts at once install once', async () => {
  prepare();
  await Promise.all([builds(), builds()]);
  expect(timesAsked('ci')).toBe(1);
});

test('an npm that fails ends the start with its own code and a message, and the next start installs', async () => {
  prepare();
  writeFileSync(path.join(folder, 'offline'), '');
  const one = build();
  expect(await one.ended).toBe(1);
  expect(one.output()).toMatch(/nightshift: npm \w+ failed \(7\)/);
  rmSync(path.join(folder, 'offline'));
  await builds();
});

test('an old Node gets a new one from npm, once', async (context) => {
  prepare();
  const version = run(folder, ['node', '--version'], {});
  await version.ended;
  if (!/^v2[0-3]\./.test(version.output())) return context.skip('there is no old Node on PATH');
  await builds();
  await builds();
  expect(timesAsked('install')).toBe(1);
});

/** Each entry of its own: deleting the folder deletes nothing of this one's. */
function linkModules(clone: string): void {
  mkdirSync(path.join(clone, 'node_modules'));
  for (const name of readdirSync(path.join(ROOT, 'node_modules')))
    symlinkSync(path.join(ROOT, 'node_modules', name), path.join(clone, 'node_modules', name));
}

test('npm start in a clone that is set up runs a job, a second start reports the running platform, and Ctrl-C ends it all', async () => {
  const clone = await freshClone();
  try {
    linkModules(clone);
    const built = path.join(clone, '.nightshift', 'web');
    mkdirSync(path.join(built, 'pages'), { recursive: true });
    for (const file of ['index.html', 'pages/chat.html'])
      writeFileSync(path.join(built, file), '<div id="root"></div>');
    const runtime = path.join(ROOT, '.nightshift', 'runtime');
    if (existsSync(runtime)) symlinkSync(runtime, path.join(clone, '.nightshift', 'runtime'));
    const start = (): Run => run(clone, ['npm', 'start'], { PORT: '0' });
    const first = start();
    const [, address = ''] = await first.until(/is ready at (http:\S+)\n/);
    const second = start();
    const page = await fetch(address, { headers: { accept: 'text/html' } });
    expect(await page.text()).toContain('<div id="root">');
    await printedLineWorks(first);
    expect(await second.ended).toBe(1);
    expect(second.output()).toMatch(/already running in this folder, as process \d+/);
    expect(first.output()).not.toMatch(/Installing|Building/);
    signalGroup(first, 'SIGINT');
    expect(await first.ended).toBe(0);
    await expectNothingLeft(clone);
  } finally {
    await removeFolder(path.dirname(clone));
  }
});
