/**
 * Runs a program in the workspace of a context. It takes an argument list and uses no shell, so arguments are not
 * interpreted. The program does not inherit the environment of this process. Each call needs approval, unless the config
 * file says otherwise.
 */
import type { JsonObject } from '../../../core/json.ts';
import { ToolFault, type FaultCode } from '../../run/tool-fault.ts';
import type { Tool } from '../../registry/tool.ts';
import { builtIn } from '../built-in.ts';
import { expectRoom, forgetUsage, isFull } from '../files/room.ts';
import type { FileLimits } from '../files/limits.ts';
import type { Workspaces } from '../files/workspaces.ts';
import { fitting } from '../fitting.ts';
import { isAllowed } from './allowed.ts';
import { bubblewrapped } from './bubblewrap.ts';
import { Guard, type Excess } from './guard.ts';
import type { RunCommandLimits } from './limits.ts';
import { programFault } from './program-fault.ts';
import { asContainer, asProcess } from './program.ts';
import { runProgram, type Ended, type Program } from './runner.ts';
import { Warden } from './warden.ts';

export const RUN_COMMAND = 'run_command';

/** `docker`: the environment of the Docker CLI. `path`: the PATH for commands, unless `limits.env` sets one. */
export type CommandParts = {
  workspaces: Workspaces;
  limits: RunCommandLimits;
  files: FileLimits;
  resultChars: number;
  path: string;
  docker: Readonly<Record<string, string>>;
};

const USUAL_TIMEOUT_S = 60;

/** Added to the time limit of the command itself. */
const GRACE_MS = 10_000;

export function runCommand(parts: CommandParts): Tool {
  const { limits } = parts;
  const warden = new Warden({ PATH: parts.path, ...parts.docker });
  return builtIn({
    name: RUN_COMMAND,
    description:
      `Runs a program in your workspace and waits for its end. The arguments are passed unchanged. There is no shell: pipes, wildcards and variables do not work. ${limits.runner === 'process' ? '' : 'It has no network.'}`.trim(),
    properties: propertiesOf(limits),
    required: ['argv'],
    effect: 'once',
    approval: limits.approval,
    timeoutMs: limits.timeoutS * 1_000 + GRACE_MS,
    async execute(input, call) {
      const argv = Array.isArray(input['argv']) ? input['argv'].map(String) : [];
      const [command = ''] = argv;
      if (command === '' || !isAllowed(command, limits.allow)) {
        throw new ToolFault('command_not_allowed', `The command ${JSON.stringify(command)} is not allowed.`);
      }
      expectRunner(limits, call.tenantName);
      const given = typeof input['timeout_s'] === 'number' ? input['timeout_s'] : USUAL_TIMEOUT_S;
      const timeoutS = Math.min(given, limits.timeoutS);
      const workspace = await parts.workspaces.prepare(call);
      await expectRoom({ root: workspace, limits: parts.files, signal: call.signal });
      await forgetUsage(workspace);
      warden.ready();
      const program = await programOf(parts, argv, workspace, warden);
      const time = AbortSignal.timeout(Math.ceil(timeoutS * 1_000));
      const guard = guardOf(parts, workspace);
      try {
        const signal = AbortSignal.any([call.signal, time, guard.signal]);
        const ended = await runProgram(guarded(program, guard), signal);
        return resultOf(ended, command, guard.excess ?? { timeoutS }, parts);
      } finally {
        guard.end();
        await forgetUsage(workspace);
      }
    },
  });
}

function propertiesOf({ timeoutS }: RunCommandLimits): JsonObject {
  return {
    argv: {
      type: 'array',
      minItems: 1,
      maxItems: 1_000,
      items: { type: 'string', maxLength: 100_000, pattern: '^[^\\u0000]*$' },
      description: 'The program and its arguments: ["ls", "-l"].',
    },
    timeout_s: {
      type: 'number',
      exclusiveMinimum: 0,
      maximum: timeoutS,
      description: `Time limit in seconds. Default: ${Math.min(USUAL_TIMEOUT_S, timeoutS)}.`,
    },
  };
}

/** Throws `ToolFault` if the runner is `process` and the tenant is not listed for it. */
function expectRunner({ runner, tenants }: RunCommandLimits, tenantName: string): void {
  if (runner !== 'process' || tenants.includes(tenantName)) return;
  throw unavailable(
    'Commands of this tenant may not run as plain processes. Ask the operator to add it to limits.run_command.tenants.',
  );
}

function unavailable(message: string): ToolFault {
  return new ToolFault('runner_unavailable', message);
}

/** Docker enforces the limits of memory and processes itself. */
function guardOf({ limits, files }: CommandParts, workspace: string): Guard {
  const tree = { memoryBytes: limits.memoryMb * 1_048_576, processes: limits.processes };
  return new Guard({
    tree: limits.runner === 'container' ? null : tree,
    isFull: (signal) => isFull({ root: workspace, limits: files, signal }),
  });
}

function guarded(program: Program, guard: Guard): Program {
  return {
    ...program,
    begin() {
      const child = program.begin();
      if (child.pid !== undefined) guard.watch(child.pid);
      return child;
    },
  };
}

async function programOf(parts: CommandParts, argv: readonly string[], workspace: string, warden: Warden) {
  const { limits, path, docker, resultChars } = parts;
  const outputBytes = Math.min(limits.outputBytes, Math.ceil(resultChars / 3));
  const wanted = { argv, workspace, outputBytes, fileBytes: parts.files.totalBytes };
  const env = { PATH: path, ...limits.env };
  switch (limits.runner) {
    case 'container':
      return asContainer({ ...wanted, env: { PATH: path, ...docker } }, limits, warden);
    case 'bubblewrap': {
      const fault = await programFault('bwrap', '/', path);
      if (fault !== null)
        throw unavailable(`Bubblewrap is not available on the worker host (${fault}). Ask the operator to install it.`);
      return asProcess({ ...wanted, argv: bubblewrapped(argv, workspace, env, limits), env: { PATH: path } }, warden);
    }
    case 'process': {
      const [command = ''] = argv;
      const fault = await programFault(command, workspace, env.PATH);
      if (fault !== null) throw notStarted(fault, command, limits);
      return asProcess({ ...wanted, env }, warden);
    }
  }
}

function resultOf(ended: Ended, command: string, why: Excess | Overtime, { limits, resultChars }: CommandParts) {
  switch (ended.kind) {
    case 'failed':
      throw notStarted(ended.code, command, limits);
    case 'stopped': {
      const { stdout, stderr } = fitted(
        { exit_code: 0, stdout: ended.stdout, stderr: ended.stderr },
        resultChars - 500,
      );
      throw stoppedFor(why, limits, { stdout, stderr });
    }
    case 'exited': {
      expectStarted(ended, command, limits);
      const { exitCode: exit_code, stdout, stderr } = ended;
      return fitted({ exit_code, stdout, stderr }, resultChars);
    }
  }
}

type Overtime = { timeoutS: number };

function stoppedFor(
  why: Excess | Overtime,
  { memoryMb, processes }: RunCommandLimits,
  texts: { stdout: string; stderr: string },
): ToolFault {
  const stopped = (code: FaultCode, reason: string): ToolFault =>
    new ToolFault(code, `The command was stopped: ${reason}.`, texts);
  switch (why) {
    case 'memory':
      return stopped('limit_exceeded', `it used more than ${memoryMb} MB of memory`);
    case 'processes':
      return stopped('limit_exceeded', `it ran more than ${processes} processes`);
    case 'disk':
      return stopped('quota_exceeded', 'the workspace is full');
    default:
      return stopped('timed_out', `it ran longer than ${why.timeoutS} s`);
  }
}

function fitted(result: { exit_code: number; stdout: string; stderr: string }, limit: number) {
  return fitting(fitting(result, 'stdout', limit).result, 'stderr', limit).result;
}

function notStarted(code: string, command: string, { runner }: RunCommandLimits): ToolFault {
  if (runner === 'container')
    return unavailable(`Docker is not available on the worker host (${code}). Ask the operator to install it.`);
  return notFound(command, code === 'ENOENT', ` (${code})`);
}

/** Error messages of Docker itself and of the init process in a container. Their exit codes are checked, too. */
const OF_DOCKER = /^(?:docker: |Unable to find image|Cannot connect|permission denied|\[FATAL tini \(\d+\)\] exec )/m;

/** Error messages of bubblewrap itself, which come with exit code 1. */
const OF_BUBBLEWRAP = /^bwrap: (?:execvp .*?: (?<why>[^:\n]+)$)?/m;

/** Throws if the command never started. */
function expectStarted(
  { exitCode, stderr }: Extract<Ended, { kind: 'exited' }>,
  command: string,
  limits: RunCommandLimits,
): void {
  switch (limits.runner) {
    case 'process':
      return;
    case 'container': {
      if (exitCode < 125 || exitCode > 127 || !OF_DOCKER.test(stderr)) return;
      if (exitCode === 125)
        throw unavailable('The container could not be started. Ask the operator to check Docker and the image.');
      throw notFound(command, exitCode === 127);
    }
    case 'bubblewrap': {
      const own = exitCode === 1 ? OF_BUBBLEWRAP.exec(stderr) : null;
      if (own === null) return;
      const why = own.groups?.['why'];
      if (why === undefined)
        throw unavailable('Bubblewrap could not start the command. Ask the operator to run nightshift doctor.');
      throw notFound(command, why === 'No such file or directory');
    }
  }
}

function notFound(command: string, isMissing: boolean, detail = ''): ToolFault {
  return isMissing
    ? new ToolFault('command_not_found', `The command ${JSON.stringify(command)} does not exist.`)
    : new ToolFault('command_failed', `The command ${JSON.stringify(command)} cannot be executed${detail}.`);
}
