/** Assembles what the built-in tools of this process need: limits from the config file, workspaces, memories. */
import type { Config } from '../config/config.ts';
import type { Environment } from '../config/environment.ts';
import type { Database } from '../db/connection/client.ts';
import { RUN_COMMAND_DEFAULTS } from '../tools/built-in/command/limits.ts';
import type { CommandParts } from '../tools/built-in/command/run-command.ts';
import { FILE_LIMITS } from '../tools/built-in/files/limits.ts';
import { createWorkspaces } from '../tools/built-in/files/workspaces.ts';
import { HTTP_FETCH_DEFAULTS } from '../tools/built-in/http/limits.ts';
import type { BuiltInParts } from '../tools/built-in/tools.ts';
import type { SetLimits } from '../tools/config/limits.ts';
import { createMemories } from '../workers/run/memories.ts';
import { commandTenants } from './command-tenants.ts';

const USUAL_PATH = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin';

/** The environment variables that the Docker CLI needs to reach its daemon. No others are passed on. */
const OF_DOCKER = [
  'HOME',
  'DOCKER_HOST',
  'DOCKER_CONTEXT',
  'DOCKER_CONFIG',
  'DOCKER_CERT_PATH',
  'DOCKER_TLS_VERIFY',
  'XDG_RUNTIME_DIR',
];

/** `path`: the PATH for commands. `docker`: the environment of the Docker CLI. */
export function commandEnvironment(env: Environment): Pick<CommandParts, 'path' | 'docker'> {
  const docker = OF_DOCKER.flatMap((name) => {
    const value = env[name];
    return value === undefined ? [] : [[name, value] as const];
  });
  return { path: env['PATH'] || USUAL_PATH, docker: Object.fromEntries(docker) };
}

/** Without a workspaces folder there are no file tools and no run_command. Throws ConfigFileError. */
export function builtInParts(
  config: Config,
  { httpFetch, files = FILE_LIMITS, runCommand = RUN_COMMAND_DEFAULTS }: SetLimits,
  resultChars: number,
  { database, env }: { database: Database; env: Environment },
): BuiltInParts {
  const anywhere = {
    http: { limits: httpFetch ?? HTTP_FETCH_DEFAULTS, resultChars },
    memories: createMemories(database),
  };
  const { workspaces: root } = config;
  if (root === null) return anywhere;
  const workspaces = createWorkspaces(root);
  return {
    ...anywhere,
    files: { workspaces, limits: files, resultChars },
    command: {
      workspaces,
      limits: { ...runCommand, tenants: commandTenants(runCommand, config) },
      files,
      resultChars,
      ...commandEnvironment(env),
    },
  };
}
