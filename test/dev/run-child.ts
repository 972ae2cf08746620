// Runs child.ts and waits for its line.
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { startOf } from '../../src/dev/process-identity.ts';

export interface Child {
  process: ChildProcess;
  pid: number;
  url: string;
  servicePid: number;
  end(signal: NodeJS.Signals): Promise<void>;
}

export async function runChild(
  kind: 'postgres' | 'redis',
  folder: string,
  account?: { uid: number; gid: number },
): Promise<Child> {
  const program = path.join(import.meta.dirname, 'child.ts');
  const child = spawn(process.execPath, [program, kind, folder], {
    cwd: '/',
    stdio: ['ignore', 'pipe', 'inherit'],
    ...account,
  });
  const [line] = await Promise.race([
    once(createInterface({ input: child.stdout }), 'line'),
    once(child, 'exit').then(([code]) => Promise.reject(new Error(`the child ended with ${String(code)}`))),
  ]);
  const result: unknown = JSON.parse(String(line));
  const { url, pid } = parse(result);
  return {
    process: child,
    pid: child.pid ?? 0,
    url,
    servicePid: pid,
    async end(signal) {
      const ended = once(child, 'exit');
      child.kill(signal);
      await ended;
    },
  };
}

function parse(result: unknown): { url: string; pid: number } {
  if (typeof result === 'object' && result !== null && 'url' in result && 'pid' in result) {
    if (typeof result.url === 'string' && typeof result.pid === 'number') return { url: result.url, pid: result.pid };
  }
  throw new Error('the child printed another line');
}

/** Waits until a process has ended; fails after ten seconds. */
export async function untilGone(pid: number): Promise<void> {
  for (let waited = 0; waited < 10_000; waited += 20) {
    if ((await startOf(pid)) === null) return;
    await sleep(20);
  }
  throw new Error(`process ${pid} is still there`);
}
