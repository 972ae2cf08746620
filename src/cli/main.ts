/** The command line: runs a server process, or a command that calls the API. */
import { setTimeout } from 'node:timers/promises';
import { VERSION } from '../package-files.ts';
import { isServer, serve } from './serve.ts';
import { nameSources } from '../platform/source-names.ts';

const VERSION_OPTIONS = ['-v', '--version'];

/** Returns the exit code. Server commands do not load the argument parser, and API commands do not load the server. */
async function main(args: readonly string[]): Promise<number> {
  const [name = 'help', ...rest] = args;
  const asksForHelp = rest.some((arg) => arg === '--help' || arg === '-h');
  if (isServer(name) && !asksForHelp) return serve(name, rest);
  // Without the parser and everything that it can call, in half the time. The parser knows these options, too, for the help.
  if (VERSION_OPTIONS.includes(name) && rest.length === 0) {
    process.stdout.write(`${VERSION}\n`);
    return 0;
  }
  const { runProgram } = await import('./program.ts');
  return runProgram(args.length === 0 ? ['help'] : args, process);
}

/**
 * V8 compiles on threads of its own. A compiler thread that is busy during exit can deadlock with the main thread
 * (nodejs/node#54918). Once the process is idle, compilation ends within this time.
 */
const COMPILING_MS = 100;

nameSources();
/** Node.js would print the line of the error, which is a whole file in the bundle. */
function report(error: unknown): number {
  process.stderr.write(`${error instanceof Error ? (error.stack ?? error.message) : String(error)}\n`);
  return 1;
}

const code = await main(process.argv.slice(2)).catch(report);
await setTimeout(COMPILING_MS);
process.exit(code);
