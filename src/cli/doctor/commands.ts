/** Checks whether the tool `run_command` can run commands on this machine with the configured runner. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import type { Environment } from '../../config/environment.ts';
import { bubblewrapped } from '../../tools/built-in/command/bubblewrap.ts';
import type { RunCommandLimits } from '../../tools/built-in/command/limits.ts';
import { programFault } from '../../tools/built-in/command/program-fault.ts';
import { commandEnvironment } from '../../platform/built-in-parts.ts';
import { ok, warn, type Finding } from './finding.ts';

const NAME = 'run_command';

/** Long enough for a Docker daemon on another host. */
const TIMEOUT_MS = 10_000;

/** Warns but never fails, because most installations have no role with this tool. */
export async function commandFinding(limits: RunCommandLimits, env: Environment): Promise<Finding> {
  const { path, docker } = commandEnvironment(env);
  switch (limits.runner) {
    case 'container':
      return container({ PATH: path, ...docker });
    case 'bubblewrap':
      return bubblewrap(limits, path);
    case 'process':
      return ok(NAME, 'commands run as plain processes, without a sandbox');
  }
}

async function container(env: { readonly PATH: string }): Promise<Finding> {
  if ((await programFault('docker', '/', env.PATH)) !== null)
    return unusable('container', '`docker` is not in the PATH');
  return (await succeeds(['docker', 'version'], env))
    ? ok(NAME, 'commands run in containers; Docker responds')
    : unusable('container', 'Docker does not respond');
}

async function bubblewrap(limits: RunCommandLimits, path: string): Promise<Finding> {
  if ((await programFault('bwrap', '/', path)) !== null) return unusable('bubblewrap', '`bwrap` is not in the PATH');
  const command = bubblewrapped(['true'], tmpdir(), { PATH: path }, limits);
  return (await succeeds(command, { PATH: path }))
    ? ok(NAME, 'commands run in separate namespaces; bubblewrap works')
    : unusable('bubblewrap', '`bwrap` is not permitted to create namespaces');
}

function unusable(runner: RunCommandLimits['runner'], why: string): Finding {
  const advice = existsSync('/.dockerenv')
    ? 'This process runs in a container. See docs/built-in-tools.md, “run_command in a container”.'
    : 'If a role uses run_command, install Docker or bubblewrap on the worker hosts and set limits.run_command.runner.';
  return warn(NAME, `unavailable with runner ${runner}: ${why}`, advice);
}

async function succeeds([program = '', ...args]: readonly string[], env: Environment): Promise<boolean> {
  const signal = AbortSignal.timeout(TIMEOUT_MS);
  try {
    const child = spawn(program, args, { env: { ...env }, stdio: 'ignore', signal, killSignal: 'SIGKILL' });
    const [code] = await once(child, 'close');
    return code === 0;
  } catch {
    return false;
  }
}
