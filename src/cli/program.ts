/** Defines all commands, parses the arguments and handles errors. */
import { Command, CommanderError } from 'commander';
import { VERSION } from '../package-files.ts';
import { openCli, type Cli } from './cli.ts';
import { answerCommand } from './commands/jobs/answer.ts';
import { cancelCommand } from './commands/jobs/cancel.ts';
import { chatCommand } from './commands/contexts/chat.ts';
import { completionCommand } from './commands/installation/completion.ts';
import { contextsCommand } from './commands/contexts/contexts.ts';
import { doctorCommand } from './commands/installation/doctor.ts';
import { exportCommand } from './commands/contexts/export.ts';
import { importCommand } from './commands/contexts/import.ts';
import { grantsCommand } from './commands/jobs/grants.ts';
import { inboxCommand } from './commands/jobs/inbox.ts';
import { interruptCommand } from './commands/jobs/interrupt.ts';
import { jobCommand } from './commands/jobs/job.ts';
import { jobsCommand } from './commands/jobs/jobs.ts';
import { logsCommand } from './commands/jobs/logs.ts';
import { resolveCommand } from './commands/jobs/resolve.ts';
import { schedulesCommand } from './commands/schedules/schedules.ts';
import { keysCommand } from './commands/installation/keys.ts';
import { auditCommand } from './commands/installation/audit.ts';
import { usageCommand } from './commands/installation/usage.ts';
import { tenantsCommand } from './commands/installation/tenants.ts';
import { tokensCommand } from './commands/installation/tokens.ts';
import { webhooksCommand } from './commands/installation/webhooks.ts';
import { rolesCommand } from './commands/workers/roles.ts';
import { runCommand } from './commands/jobs/run.ts';
import { searchCommand } from './commands/contexts/search.ts';
import { serverCommands } from './commands/installation/servers.ts';
import { statusCommand } from './commands/installation/status.ts';
import { treeCommand } from './commands/workers/tree.ts';
import { approveCommand, denyCommand } from './commands/jobs/approve.ts';
import { workersCommand } from './commands/workers/workers.ts';
import { EXIT, toEnd } from './exit.ts';
import type { Io } from './terminal/io.ts';
import { safe } from './terminal/safe.ts';

const INTRODUCTION = `background LLM agents on Postgres and Redis

The server commands are configured by environment variables (.env.example). All other commands call the API at
NIGHTSHIFT_URL (default: http://127.0.0.1:3000) with the key NIGHTSHIFT_API_KEY.`;

const EPILOGUE = `
Exit codes: 0 success, job completed · 1 failed or refused · 2 invalid arguments · 3 API unreachable or key refused
            4 job incomplete · 5 job cancelled or interrupted · 6 job waits for a person · 130 Ctrl-C
`;

/** Returns the exit code. */
export async function runProgram(args: readonly string[], io: Io): Promise<number> {
  const cli = openCli(io);
  try {
    await makeProgram(cli).parseAsync(args, { from: 'user' });
    return cli.exit;
  } catch (error) {
    // Commander has already printed the error or the help.
    if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT.completed : EXIT.usage;
    const end = toEnd(error, cli.url);
    if (end === null) throw error;
    cli.screen.note(`${cli.screen.sideInk('red', 'nightshift:')} ${safe(end.message)}`);
    return end.exit;
  }
}

export function makeProgram(cli: Cli): Command {
  const { screen } = cli;
  const program = new Command('nightshift')
    .description(INTRODUCTION)
    .version(VERSION, '-v, --version')
    .addHelpText('after', EPILOGUE)
    .configureOutput({
      writeOut: (text) => screen.out(text),
      writeErr: (text) => screen.note(text.trimEnd()),
    })
    .helpCommand('help [command]', 'display help, or help for a command')
    .configureHelp({
      styleTitle: (text) => screen.ink('bold', text),
      styleCommandText: (text) => screen.ink('cyan', text),
      styleSubcommandText: (text) => screen.ink('cyan', text),
      styleOptionText: (text) => screen.ink('cyan', text),
    })
    // Options after the name of a subcommand belong to the subcommand.
    .enablePositionalOptions()
    .exitOverride();
  const add = (heading: string, commands: readonly Command[]): void => {
    program.commandsGroup(heading);
    for (const command of commands) program.addCommand(inherit(command, program));
  };
  add('Server commands:', serverCommands(cli));
  add('Running jobs:', [runCommand(cli), chatCommand(cli)]);
  add('Inspecting:', [
    statusCommand(cli),
    jobsCommand(cli),
    jobCommand(cli),
    logsCommand(cli),
    treeCommand(cli),
    workersCommand(cli),
    contextsCommand(cli),
    rolesCommand(cli),
    schedulesCommand(cli),
    searchCommand(cli),
  ]);
  add('Responding and controlling:', [
    inboxCommand(cli),
    approveCommand(cli),
    denyCommand(cli),
    grantsCommand(cli),
    answerCommand(cli),
    resolveCommand(cli),
    interruptCommand(cli),
    cancelCommand(cli),
  ]);
  add('Keys, webhooks, tenants, import, export and maintenance:', [
    keysCommand(cli),
    tokensCommand(cli),
    webhooksCommand(cli),
    auditCommand(cli),
    usageCommand(cli),
    tenantsCommand(cli),
    exportCommand(cli),
    importCommand(cli),
    doctorCommand(cli),
    completionCommand(cli, program),
  ]);
  return program;
}

function inherit(command: Command, above: Command): Command {
  for (const below of command.copyInheritedSettings(above).commands) inherit(below, command);
  return command;
}
