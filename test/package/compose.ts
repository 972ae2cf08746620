// Docker Compose, for the file of a new project: as a command of Docker, or as a program of its own.
import { execFile, spawnSync } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);

const COMMANDS = [['docker', 'compose'], ['docker-compose']] as const;

/** Images of the services beside the project's own. */
const IMAGES = ['postgres:15-bookworm', 'redis:7.0-bookworm'];

const works = ([program, ...args]: readonly [string, ...string[]]): boolean =>
  spawnSync(program, args, { stdio: 'ignore' }).status === 0;

const command = (): readonly [string, ...string[]] | undefined => COMMANDS.find((one) => works([...one, 'version']));

/** Null: its services can run here. */
export function reasonWithoutCompose(): string | null {
  if (command() === undefined) return 'there is no Docker Compose';
  const missing = IMAGES.find((image) => !works(['docker', 'image', 'inspect', image]));
  return missing === undefined ? null : `the container engine has no ${missing}`;
}

export type Composed = {
  /** Its output. */
  compose: (...args: string[]) => Promise<string>;
  /** The address of the API. It is another one after each start. */
  url: () => Promise<string>;
  /** What Docker tells of each container of the services, as this template says. */
  inspect: (template: string, ...services: string[]) => Promise<string[]>;
};

/** The services of the folder's file, with an image that is built already, and a free port. */
export async function composed(folder: string, { name, image }: { name: string; image: string }): Promise<Composed> {
  const [program = '', ...first] = command() ?? [];
  const built = { image };
  const override = { services: { migrate: built, api: built, worker: built } };
  await writeFile(path.join(folder, 'docker-compose.override.yml'), JSON.stringify(override));
  const env = { ...process.env, COMPOSE_PROJECT_NAME: name, PORT: '0' };
  const compose = async (...args: string[]): Promise<string> => {
    const { stdout } = await run(program, [...first, ...args], { cwd: folder, env, maxBuffer: 1e8 });
    return stdout;
  };
  return {
    compose,
    url: async () => `http://${(await compose('port', 'api', '3000')).trim()}`,
    inspect: async (template, ...services) => {
      // Of services that are stopped, too.
      const ids = (await compose('ps', '--all', '-q', ...services)).trim().split('\n');
      const { stdout } = await run('docker', ['inspect', '--format', template, ...ids]);
      return stdout.trim().split('\n');
    },
  };
}
