// Starts a service as a child process, in a session of its own: Ctrl-C in the terminal reaches only Nightshift, which
// stops the service once its work is drained. The service never outlives Nightshift, even after a SIGKILL. For this,
// the service's shell leaves a watcher behind that reads a pipe from Nightshift. When the pipe ends, because Nightshift
// has ended or closed it, the watcher stops the service if the pid file still names it.
import { spawn, type ChildProcess, type StdioOptions } from 'node:child_process';

// $$ is the service itself after exec. The watcher is a grandchild, so the service never has to reap it.
const WATCH = `
pidfile=$1 signal=$2; shift 2
( ( cat <&3
    [ "$(head -n 1 "$pidfile")" = $$ ] && kill -s "$signal" $$ ) >/dev/null 2>&1 & )
exec "$@" 3<&-`;

interface ServiceCommand {
  program: string;
  args: string[];
  cwd: string;
  env: NodeJS.ProcessEnv;
  /** File whose first line is the service's pid while it runs. */
  pidFile: string;
  /** The signal for an orderly shutdown of the service. */
  signal: 'INT' | 'TERM';
  stdin: 'ignore' | 'pipe';
  /** Where its output goes: a file descriptor, or a pipe to this process. */
  output: number | 'pipe';
  runAs: { uid: number; gid: number } | null;
}

export interface WatchedProcess {
  child: ChildProcess;
  pid: number;
  /** Resolves once the process has ended, to its signal or exit code. */
  ended: Promise<string>;
  hasEnded(): boolean;
  /** Sends the signals in turn until the process has ended, and waits the given milliseconds after each. */
  end(signals: [NodeJS.Signals, number][]): Promise<void>;
}

export async function startWatched(command: ServiceCommand): Promise<WatchedProcess> {
  const stdio: StdioOptions = [command.stdin, command.output, command.output, 'pipe'];
  const child = spawn(
    '/bin/sh',
    ['-c', WATCH, 'sh', command.pidFile, command.signal, command.program, ...command.args],
    { cwd: command.cwd, env: command.env, stdio, detached: true, ...command.runAs },
  );
  const pipe = child.stdio[3];
  pipe?.on('error', () => {});
  let over = false;
  const { promise: ended, resolve } = Promise.withResolvers<string>();
  child.once('exit', (code, signal) => {
    over = true;
    pipe?.destroy();
    resolve(signal ?? `exit code ${code}`);
  });
  await new Promise<void>((resolve, reject) => {
    child.once('spawn', resolve);
    child.once('error', reject);
  });
  const { pid } = child;
  if (pid === undefined) throw new Error('The spawned process has no pid.');
  return {
    child,
    pid,
    ended,
    hasEnded: () => over,
    async end(signals) {
      for (const [signal, milliseconds] of signals) {
        if (over) return;
        child.kill(signal);
        await endedWithin(ended, milliseconds);
      }
      await ended;
    },
  };
}

async function endedWithin(ended: Promise<string>, milliseconds: number): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, milliseconds);
  await Promise.race([ended, promise]);
  clearTimeout(timer);
}
