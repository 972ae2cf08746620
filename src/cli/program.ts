/** Defines all commands. */
import { Command } from 'commander';
import { VERSION } from '../package-files.ts';
import { openCli, optionsBefore, type Cli } from './cli.ts';
import { answerCommand } from './commands/jobs/answer.ts';
import { cancelCommand } from './commands/jobs/cancel.ts';
import { chatCommand } from './commands/contexts/chat.ts';
import { completeCommand } from './commands/installation/complete.ts';
import { completionCommand } from './commands/installation/completion.ts';
import { contextsCommand } from './commands/contexts/contexts.ts';
import { doctorCommand } from './commands/installation/doctor.ts';
import { exportCommand } from './commands/contexts/export.ts';
import { importCommand } from './commands/contexts/import.ts';
import { grantsCommand } from './commands/jobs/grants.ts';
import { inboxCommand } from './commands/jobs/inbox.ts';
import { initCommand } from './commands/installation/init.ts';
import { interruptCommand } from './commands/jobs/interrupt.ts';
import { jobCommand } from './commands/jobs/job.ts';
import { jobsCommand } from './commands/jobs/jobs.ts';
import { logsCommand } from './commands/jobs/logs.ts';
import { openCommand } from './commands/jobs/open.ts';
import { resolveCommand } from './commands/jobs/resolve.ts';
import { retryCommand } from './commands/jobs/retry.ts';
import { schedulesCommand } from './commands/schedules/schedules.ts';
import { keysCommand } from './commands/installation/keys.ts';
import { loginCommand, logoutCommand, profilesCommand } from './commands/installation/login.ts';
import { psCommand } from './commands/installation/ps.ts';
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
import { runParsed, writeTo } from './run-parsed.ts';
import type { Io } from './terminal/io.ts';

const INTRODUCTION = `background LLM agents on Postgres and Redis

The server commands are configured by environment variables (.env.example). All other commands call the API at --url or
NIGHTSHIFT_URL with the key NIGHTSHIFT_API_KEY, or that of a profile, which nightshift login makes. The default is
http://127.0.0.1:3000 without a key.`;

const EPILOGUE = `
Exit codes: 0 success, job completed · 1 failed or refused · 2 invalid arguments · 3 API unreachable or key refused
            4 job incomplete · 5 job cancelled or interrupted · 6 job waits for a person · 130 Ctrl-C
`;

/** Returns the exit code. */
export async function runProgram(args: readonly string[], io: Io): Promise<number> {
  const cli = openCli(io);
  return runParsed((asJson) => makeProgram(cli, { asJson }), args, cli);
}

/** `asJson`: nothing but JSON is written to stderr. */
export function makeProgram(cli: Cli, { asJson = false } = {}): Command {
  const { screen } = cli;
  const program = optionsBefore(new Command('nightshift'))
    .description(INTRODUCTION)
    .version(VERSION, '-v, --version')
    .addHelpText('after', EPILOGUE)
    .helpCommand('help [command]', 'display help, or help for a command')
    // Options after the name of a subcommand belong to the subcommand.
    .enablePositionalOptions();
  writeTo(screen, program, asJson);
  const add = (heading: string, commands: readonly Command[]): void => {
    program.commandsGroup(heading);
    for (const command of commands) program.addCommand(inherit(command, program));
  };
  add('A new project:', [initCommand(cli)]);
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
    openCommand(cli),
    psCommand(cli),
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
    retryCommand(cli),
  ]);
  add('Access to an API:', [loginCommand(cli), logoutCommand(cli), profilesCommand(cli)]);
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
  program.addCommand(inherit(completeCommand(cli), program), { hidden: true });
  return program;
}

function inherit(command: Command, above: Command): Command {
  for (const below of command.copyInheritedSettings(above).commands) inherit(below, command);
  return command;
}
