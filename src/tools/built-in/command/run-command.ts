/**
 * Runs a program in the context's workspace: a list of arguments, and no shell that could make more of them. What it is given
 * of the environment is not this process's. Unless rules say otherwise a person is asked first.
 */
import { ToolFault } from '../../tool-fault.ts';
import type { Tool } from '../../tool.ts';
import { builtIn } from '../built-in.ts';
import { expectRoom } from '../files/room.ts';
import type { FileLimits } from '../files/limits.ts';
import type { Workspaces } from '../files/workspaces.ts';
import { fitting } from '../fitting.ts';
import { isAllowed } from './allowed.ts';
import type { RunCommandLimits } from './limits.ts';
import { lookUp } from './look-up.ts';
import { asContainer, asProcess } from './program.ts';
import { runProgram } from './runner.ts';
import type { Ended } from './runner.ts';
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
      `Runs a program in your workspace and waits for its end. The arguments are handed over as they are: there is no shell, so no pipes, wildcards or variables. ${limits.runner === 'container' ? 'It has no network.' : ''}`.trim(),
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
      const given = typeof input['timeout_s'] === 'number' ? input['timeout_s'] : USUAL_TIMEOUT_S;
      const timeoutS = Math.min(given, limits.timeoutS);
      const workspace = await parts.workspaces.prepare(call);
      await expectRoom(workspace, 0, parts.files);
      warden.ready();
      const program = await programOf(parts, argv, workspace, warden);
      const signal = AbortSignal.any([call.signal, AbortSignal.timeout(Math.ceil(timeoutS * 1_000))]);
      return resultOf(await runProgram(program, signal), command, timeoutS, parts);
    },
  });
}

async function programOf(parts: CommandParts, argv: readonly string[], workspace: string, warden: Warden) {
  const { limits, path, docker, resultChars } = parts;
  const outputBytes = Math.min(limits.outputBytes, Math.ceil(resultChars / 3));
  if (limits.runner === 'container')
    return asContainer({ argv, workspace, env: { PATH: path, ...docker }, outputBytes }, limits, warden);
  const env = { PATH: path, ...limits.env };
  const [command = ''] = argv;
  const fault = await lookUp(command, workspace, env.PATH);
  if (fault !== null) throw notStarted(fault, command, limits);
  return asProcess({ argv, workspace, env, outputBytes }, warden);
}

function resultOf(ended: Ended, command: string, timeoutS: number, { limits, resultChars }: CommandParts) {
  switch (ended.kind) {
    case 'failed':
      throw notStarted(ended.code, command, limits);
    case 'stopped': {
      const { stdout, stderr } = fitted({ exit_code: 0, ...textsOf(ended) }, resultChars - 500);
      throw new ToolFault('timed_out', `The command was ended: it took longer than ${timeoutS} s.`, {
        stdout,
        stderr,
      });
    }
    case 'exited': {
      if (limits.runner === 'container') expectStarted(ended, command);
      return fitted({ exit_code: ended.exitCode, ...textsOf(ended) }, resultChars);
    }
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
    return new ToolFault('runner_unavailable', `Docker cannot be run here (${code}).`);
  return code === 'ENOENT'
    ? new ToolFault('command_not_found', `There is no command ${JSON.stringify(command)} here.`)
    : new ToolFault('command_failed', `${JSON.stringify(command)} cannot be run (${code}).`);
}

/** How Docker, and the first process of a container, tell of their own failures; by these codes, too. */
const OF_DOCKER =
  /^(?:docker: |Unable to find image|Cannot connect|permission denied|\[FATAL tini \(\d+\)\] exec )/m;

/** Throws where the command never ran. */
function expectStarted({ exitCode, stderr }: Extract<Ended, { kind: 'exited' }>, command: string): void {
  if (exitCode < 125 || exitCode > 127 || !OF_DOCKER.test(stderr)) return;
  if (exitCode === 127)
    throw new ToolFault('command_not_found', `There is no command ${JSON.stringify(command)} here.`);
  if (exitCode === 126) throw new ToolFault('command_failed', `${JSON.stringify(command)} cannot be run.`);
  throw new ToolFault('runner_unavailable', 'The container could not be started: tell the operator.');
}
