/** All commands, and how the program reads its arguments and ends. */
import { Command, CommanderError } from 'commander';
import { VERSION } from '../package-files.ts';
import { openCli } from './cli.ts';
import type { Cli } from './cli.ts';
import { answerCommand } from './commands/answer.ts';
import { cancelCommand } from './commands/cancel.ts';
import { chatCommand } from './commands/chat.ts';
import { completionCommand } from './commands/completion.ts';
import { contextsCommand } from './commands/contexts.ts';
import { doctorCommand } from './commands/doctor.ts';
import { exportCommand } from './commands/export.ts';
import { importCommand } from './commands/import.ts';
import { inboxCommand } from './commands/inbox.ts';
import { interruptCommand } from './commands/interrupt.ts';
import { jobCommand } from './commands/job.ts';
import { jobsCommand } from './commands/jobs.ts';
import { logsCommand } from './commands/logs.ts';
import { resolveCommand } from './commands/resolve.ts';
import { rolesCommand } from './commands/roles.ts';
import { runCommand } from './commands/run.ts';
import { searchCommand } from './commands/search.ts';
import { serverCommands } from './commands/servers.ts';
import { statusCommand } from './commands/status.ts';
import { treeCommand } from './commands/tree.ts';
import { approveCommand, denyCommand } from './commands/approve.ts';
import { workersCommand } from './commands/workers.ts';
import { EXIT, toEnd } from './exit.ts';
import { safe } from './terminal/safe.ts';
import { openScreen } from './terminal/screen.ts';

const INTRODUCTION = `background LLM agents on Postgres and Redis

The platform's own processes are set by the environment (.env.example); all other commands talk to the API at
NIGHTSHIFT_URL (http://127.0.0.1:3000) with NIGHTSHIFT_API_KEY.`;

const EPILOGUE = `
Exit codes: 0 done, job completed · 1 failed, refused · 2 wrong arguments · 3 API unreachable, key refused
            4 job incomplete · 5 job cancelled, interrupted · 6 job waits for a person · 130 Ctrl-C
`;

/** The exit code. */
export async function runProgram(args: readonly string[]): Promise<number> {
  const cli = openCli(openScreen(), process.env);
  try {
    await makeProgram(cli).parseAsync(args, { from: 'user' });
    return cli.exit;
  } catch (error) {
    // Commander has said what is wrong, or was asked for help.
    if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT.completed : EXIT.usage;
    const end = toEnd(error, cli.url);
    if (end === null) throw error;
    cli.screen.note(`${cli.screen.sideInk('red', 'nightshift:')} ${safe(end.message)}`);
    return end.exit;
  }
}

export function makeProgram(cli: Cli): Command {
  const program = new Command('nightshift')
    .description(INTRODUCTION)
    .version(VERSION, '-v, --version')
    .addHelpText('after', EPILOGUE)
    .helpCommand('help [command]', 'this, or the help of a command')
    .configureHelp({
      styleTitle: (text) => cli.screen.ink('bold', text),
      styleCommandText: (text) => cli.screen.ink('cyan', text),
      styleSubcommandText: (text) => cli.screen.ink('cyan', text),
      styleOptionText: (text) => cli.screen.ink('cyan', text),
    })
    // An option behind the name of a command is of that command, and not of the one above it.
    .enablePositionalOptions()
    .exitOverride();
  const add = (heading: string, commands: readonly Command[]): void => {
    program.commandsGroup(heading);
    for (const command of commands) program.addCommand(inherit(command, program));
  };
  add('The platform:', serverCommands(cli));
  add('Giving work:', [runCommand(cli), chatCommand(cli)]);
  add('Looking:', [
    statusCommand(cli),
    jobsCommand(cli),
    jobCommand(cli),
    logsCommand(cli),
    treeCommand(cli),
    workersCommand(cli),
    contextsCommand(cli),
    rolesCommand(cli),
    searchCommand(cli),
  ]);
  add('Having a say:', [
    inboxCommand(cli),
    approveCommand(cli),
    denyCommand(cli),
    answerCommand(cli),
    resolveCommand(cli),
    interruptCommand(cli),
    cancelCommand(cli),
  ]);
  add('Moving and mending:', [
    exportCommand(cli),
    importCommand(cli),
    doctorCommand(cli),
    completionCommand(cli, program),
  ]);
  return program;
}

/** Those below it, too. */
function inherit(command: Command, above: Command): Command {
  for (const below of command.copyInheritedSettings(above).commands) inherit(below, command);
  return command;
}
