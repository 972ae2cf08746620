// `npm run chaos`: starts a Postgres and a Redis of its own, runs, prints its findings. Exit code 0: no violation; 1: a
// violation; 2: it could not run; 130: interrupted.
import { killChildren } from '../e2e/rig/children.ts';
import { bundlePrograms } from '../services/programs.ts';
import { SWITCHES } from './clients/actions.ts';
import { USAGE, parseOptions, type ChaosOptions } from './options.ts';
import { summary, writeStories } from './report.ts';
import { folderOf, runChaos } from './run.ts';
import { startServices } from './services.ts';

const print = (line: string): void => void process.stdout.write(`${line}\n`);

async function main(args: readonly string[]): Promise<number> {
  if (args.includes('--help')) {
    print(USAGE);
    return 0;
  }
  let options: ChaosOptions;
  try {
    options = parseOptions(args, Math.floor(Math.random() * 1_000_000));
  } catch (error) {
    print(`${error instanceof Error ? error.message : String(error)}\n\n${USAGE}`);
    return 2;
  }
  const services = await startServices(print);
  if (services === null) {
    print(
      'Chaos needs a container engine (Docker): it breaks a Postgres and a Redis of its own, and none answers here.',
    );
    return 2;
  }
  await bundlePrograms();
  const stop = new AbortController();
  const end = async (): Promise<void> => {
    await killChildren();
    await services.remove();
  };
  const endWith = async (code: number): Promise<never> => {
    await end().catch(() => undefined);
    process.exit(code);
  };
  const interrupted = (): void => {
    if (stop.signal.aborted) return;
    stop.abort();
    print('interrupted: ending all that was started');
    void endWith(130);
  };
  process.on('SIGINT', interrupted);
  process.on('SIGTERM', interrupted);
  process.on('uncaughtException', (error) => {
    print(`chaos itself failed: ${error.stack}`);
    void endWith(2);
  });
  const folder = folderOf(options.seed);
  print(`seed ${options.seed}; logs in ${folder}`);
  try {
    const setting = { services, switches: SWITCHES, folder, print, stopped: stop.signal };
    const outcome = await runChaos(options, setting);
    writeStories(folder, outcome);
    print(summary(outcome));
    if (outcome.violations.length > 0)
      print(
        `  again: npm run chaos -- --seed ${options.seed} (the faults and inputs fall the same way, the moments differ); all in ${folder}`,
      );
    return outcome.violations.length > 0 ? 1 : 0;
  } finally {
    if (!stop.signal.aborted) await end();
  }
}

process.exit(await main(process.argv.slice(2)));
