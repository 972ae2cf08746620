/**
 * Runs a program in the context's workspace: a list of arguments, and no shell that could make more of them. What it is given
 * of the environment is not this process's. Unless rules say otherwise a person is asked first.
 */
import type { TenantId } from '../../../core/ids.ts';
import { ToolFault } from '../../tool-fault.ts';
import type { Tool } from '../../tool.ts';
import { builtIn } from '../built-in.ts';
import { expectRoom, forgetUsage, isFull } from '../files/room.ts';
import type { FileLimits } from '../files/limits.ts';
import type { Workspaces } from '../files/workspaces.ts';
import { fitting } from '../fitting.ts';
import { isAllowed } from './allowed.ts';
import { bubblewrapped } from './bubblewrap.ts';
import { Guard } from './guard.ts';
import type { Excess } from './guard.ts';
import type { RunCommandLimits } from './limits.ts';
import { lookUp } from './look-up.ts';
import { asContainer, asProcess } from './program.ts';
import { runProgram } from './runner.ts';
import type { Ended, Program } from './runner.ts';
import { Warden } from './warden.ts';

export const RUN_COMMAND = 'run_command';

/** `docker`: the environment of Docker's command line. `path`: where commands are looked for, unless `limits.env` says. */
export type CommandParts = {
  workspaces: Workspaces;
  limits: RunCommandLimits;
  files: FileLimits;
  resultChars: number;
  path: string;
  docker: Readonly<Record<string, string>>;
};

const USUAL_TIMEOUT_S = 60;

/** Beyond the time that the command itself may take. */
const GRACE_MS = 10_000;

export function runCommand(parts: CommandParts): Tool {
  const { limits } = parts;
  const warden = new Warden({ PATH: parts.path, ...parts.docker });
  return builtIn({
    name: RUN_COMMAND,
    description:
      `Runs a program in your workspace and waits for its end. The arguments are handed over as they are: there is no shell, so no pipes, wildcards or variables. ${limits.runner === 'process' ? '' : 'It has no network.'}`.trim(),
    properties: {
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
        maximum: limits.timeoutS,
        description: `Seconds it may take: ${Math.min(USUAL_TIMEOUT_S, limits.timeoutS)} unless given.`,
      },
    },
    required: ['argv'],
    effect: 'once',
    approval: 'always',
    timeoutMs: limits.timeoutS * 1_000 + GRACE_MS,
    async execute(input, call) {
      const argv = Array.isArray(input['argv']) ? input['argv'].map(String) : [];
      const [command = ''] = argv;
      if (command === '' || !isAllowed(command, limits.allow)) {
        throw new ToolFault('command_not_allowed', `${JSON.stringify(command)} must not be run here.`);
      }
      expectRunner(limits, call.tenantId);
      const given = typeof input['timeout_s'] === 'number' ? input['timeout_s'] : USUAL_TIMEOUT_S;
      const timeoutS = Math.min(given, limits.timeoutS);
      const workspace = await parts.workspaces.prepare(call);
      await expectRoom(workspace, parts.files, call.signal);
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

/** Throws `ToolFault` where commands of that tenant must not run as processes beside this one. */
function expectRunner({ runner, tenants }: RunCommandLimits, tenantId: TenantId): void {
  if (runner !== 'process' || tenants.includes(tenantId)) return;
  throw new ToolFault(
    'runner_unavailable',
    'Commands of this tenant must not run as plain processes: tell the operator.',
  );
}

/** Docker limits memory and processes by itself. */
function guardOf({ limits, files }: CommandParts, workspace: string): Guard {
  const tree = { memoryBytes: limits.memoryMb * 1_048_576, processes: limits.processes };
  return new Guard({
    tree: limits.runner === 'container' ? null : tree,
    isFull: (signal) => isFull(workspace, files, signal),
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
      const fault = await lookUp('bwrap', '/', path);
      if (fault !== null)
        throw new ToolFault('runner_unavailable', `Bubblewrap cannot be run here (${fault}).`);
      return asProcess(
        { ...wanted, argv: bubblewrapped(argv, workspace, env, limits), env: { PATH: path } },
        warden,
      );
    }
    case 'process': {
      const [command = ''] = argv;
      const fault = await lookUp(command, workspace, env.PATH);
      if (fault !== null) throw notStarted(fault, command, limits);
      return asProcess({ ...wanted, env }, warden);
    }
  }
}

function resultOf(
  ended: Ended,
  command: string,
  why: Excess | Overtime,
  { limits, resultChars }: CommandParts,
) {
  switch (ended.kind) {
    case 'failed':
      throw notStarted(ended.code, command, limits);
    case 'stopped': {
      const { stdout, stderr } = fitted({ exit_code: 0, ...textsOf(ended) }, resultChars - 500);
      throw stoppedFor(why, limits, { stdout, stderr });
    }
    case 'exited': {
      expectStarted(ended, command, limits);
      return fitted({ exit_code: ended.exitCode, ...textsOf(ended) }, resultChars);
    }
  }
}

type Overtime = { timeoutS: number };

function stoppedFor(
  why: Excess | Overtime,
  { memoryMb, processes }: RunCommandLimits,
  texts: { stdout: string; stderr: string },
): ToolFault {
  switch (why) {
    case 'memory':
      return new ToolFault(
        'limit_exceeded',
        `The command was ended: it took more than ${memoryMb} MB of memory.`,
        texts,
      );
    case 'processes':
      return new ToolFault(
        'limit_exceeded',
        `The command was ended: it ran more than ${processes} processes.`,
        texts,
      );
    case 'disk':
      return new ToolFault('quota_exceeded', 'The command was ended: the workspace is full.', texts);
    default:
      return new ToolFault(
        'timed_out',
        `The command was ended: it took longer than ${why.timeoutS} s.`,
        texts,
      );
  }
}

function textsOf({ stdout, stderr }: { stdout: string; stderr: string }) {
  return { stdout, stderr };
}

function fitted(result: { exit_code: number; stdout: string; stderr: string }, limit: number) {
  return fitting(fitting(result, 'stdout', limit).result, 'stderr', limit).result;
}

function notStarted(code: string, command: string, { runner }: RunCommandLimits): ToolFault {
  if (runner === 'container')
    return new ToolFault('runner_unavailable', `Docker cannot be run here (${code}): tell the operator.`);
  return code === 'ENOENT'
    ? new ToolFault('command_not_found', `There is no command ${JSON.stringify(command)} here.`)
    : new ToolFault('command_failed', `${JSON.stringify(command)} cannot be run (${code}).`);
}

/** How Docker, and the first process of a container, tell of their own failures; by these codes, too. */
const OF_DOCKER =
  /^(?:docker: |Unable to find image|Cannot connect|permission denied|\[FATAL tini \(\d+\)\] exec )/m;

/** Bubblewrap's own failures have this code, and this beginning. */
const OF_BUBBLEWRAP = /^bwrap: (?:execvp .*?: (?<why>[^:\n]+)$)?/m;

/** Throws where the command never ran. */
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
        throw new ToolFault('runner_unavailable', 'The container could not be started: tell the operator.');
      throw notFound(command, exitCode === 127);
    }
    case 'bubblewrap': {
      const own = exitCode === 1 ? OF_BUBBLEWRAP.exec(stderr) : null;
      if (own === null) return;
      const why = own.groups?.['why'];
      if (why === undefined)
        throw new ToolFault(
          'runner_unavailable',
          'Bubblewrap could not start the command: tell the operator.',
        );
      throw notFound(command, why === 'No such file or directory');
    }
  }
}

function notFound(command: string, isMissing: boolean): ToolFault {
  return isMissing
    ? new ToolFault('command_not_found', `There is no command ${JSON.stringify(command)} here.`)
    : new ToolFault('command_failed', `${JSON.stringify(command)} cannot be run.`);
}
