// A service that one test file has for itself, to stop, kill, pause and start again: it keeps its address.
import { containerById } from './containers.ts';

type Container = Awaited<ReturnType<typeof containerById>>;

export interface OwnService {
  url: string;
  /** In order: open work is finished. */
  stop(): Promise<void>;
  /** Like a crash. */
  kill(): Promise<void>;
  /** After stop or kill; resolves once it answers. */
  start(): Promise<void>;
  /** Connections stay open and nothing answers, until `resume`. */
  pause(): Promise<void>;
  resume(): Promise<void>;
  /** Stops it permanently and deletes its data. */
  remove(): Promise<void>;
}

/** The operations on a service in a container; `answers` checks that a start is done. */
export async function ownContainer(
  container: { id: string; url: string },
  answers: (url: string) => Promise<void>,
): Promise<OwnService> {
  const engine = await containerById(container.id);
  return {
    url: container.url,
    stop: async () => void (await engine.stop({ t: 10 })),
    kill: async () => void (await engine.kill()),
    async start() {
      await engine.start();
      await answers(container.url);
    },
    pause: () => pause(engine),
    resume: async () => void (await engine.unpause()),
    remove: async () => void (await engine.remove({ force: true, v: true })),
  };
}

/**
 * runc gives up where a container starts a process while it is frozen, as PostgreSQL does for each connection. Its
 * maintainers leave it to the caller to try again (opencontainers/runc#4388).
 */
async function pause(engine: Pick<Container, 'pause'>, tries = 5): Promise<void> {
  try {
    await engine.pause();
  } catch (error) {
    if (tries === 1 || !String(error).includes('unable to freeze')) throw error;
    await pause(engine, tries - 1);
  }
}
