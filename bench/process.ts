/** A measured program in its own process. Its log goes to a file, as in production. */
import { spawn } from 'node:child_process';
import { closeSync, mkdirSync, openSync, readFileSync } from 'node:fs';
import { once } from 'node:events';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { cpuSeconds } from './usage.ts';

const ROOT = path.join(import.meta.dirname, '..');
const FOLDER = path.join(ROOT, '.nightshift', 'bench');

export type Program = {
  /** A path from the root of the repository. */
  file: string;
  args: readonly string[];
  env: Readonly<Record<string, string>>;
  /** The log line that reports readiness. */
  ready: RegExp;
  /** Write a CPU profile at its end. */
  profile: boolean;
};

export type Running = {
  pid: number;
  /** CPU seconds from its start until it was ready. */
  startCpu: number;
  /** Sends SIGTERM, then SIGKILL after a timeout. */
  end(): Promise<void>;
  kill(): Promise<void>;
};

let started = 0;
const END_WITHIN_MS = 30_000;

/** Resolves when the program is ready. */
export async function start({ file, args, env, ready, profile }: Program): Promise<Running> {
  mkdirSync(FOLDER, { recursive: true });
  started += 1;
  const log = path.join(FOLDER, `${process.pid}-${started}.log`);
  const fd = openSync(log, 'w');
  const flags = profile ? ['--cpu-prof', '--cpu-prof-dir', path.join(FOLDER, 'profiles')] : [];
  const child = spawn(process.execPath, [...flags, path.join(ROOT, file), ...args], {
    cwd: ROOT,
    env: {
      PATH: process.env['PATH'] ?? '',
      NODE_ENV: 'production',
      ...env,
    },
    stdio: ['ignore', fd, fd],
  });
  closeSync(fd);
  const { pid } = child;
  if (pid === undefined) throw new Error(`${file} did not start`);
  const exited = once(child, 'exit');
  const hasEnded = (): boolean => child.exitCode !== null || child.signalCode !== null;
  while (!ready.test(readFileSync(log, 'utf8'))) {
    if (hasEnded()) throw new Error(`${file} ended before it was ready:\n${readFileSync(log, 'utf8')}`);
    await pause(20);
  }
  const signal = async (name: NodeJS.Signals): Promise<void> => {
    if (hasEnded()) return;
    child.kill(name);
    await exited;
  };
  const startCpu = cpuSeconds(pid);
  return {
    pid,
    startCpu,
    kill: () => signal('SIGKILL'),
    async end() {
      const tooLong = setTimeout(() => child.kill('SIGKILL'), END_WITHIN_MS);
      await signal('SIGTERM');
      clearTimeout(tooLong);
    },
  };
}
