/** The command line: a part of the platform in this process, or a command that talks to one. */
import { setTimeout } from 'node:timers/promises';
import { isServer, serve } from './serve.ts';
import { nameSources } from './source-names.ts';

/** The exit code. A part of the platform is not asked to load what reads arguments, nor the other way about. */
async function main(args: readonly string[]): Promise<number> {
  const [name = 'help', ...rest] = args;
  const asksForHelp = rest.some((arg) => arg === '--help' || arg === '-h');
  if (isServer(name) && !asksForHelp) return serve(name, rest);
  const { runProgram } = await import('./program.ts');
  return runProgram(args.length === 0 ? ['help'] : args);
}

/**
 * Node's compiler works on threads of its own. One that is at work while the process exits may wait for ever for the main
 * thread, which waits for it (nodejs/node#54918): when there is nothing left to do, it soon comes to an end.
 */
const COMPILING_MS = 100;

nameSources();
const code = await main(process.argv.slice(2));
await setTimeout(COMPILING_MS);
process.exit(code);
