/** The program of the package `create-nightshift`, which `npm create nightshift` runs: does what `nightshift init` does. */
import { VERSION } from '../../package-files.ts';
import { openCli } from '../cli.ts';
import { initCommand } from '../commands/installation/init.ts';
import { runParsed, writeTo } from '../run-parsed.ts';

/** npm takes options before `--` for itself. */
const EXAMPLES = ['npm create nightshift my-agents', 'npm create nightshift . -- --json'];

const cli = openCli(process);
const make = (asJson: boolean) => {
  const command = initCommand(cli, 'create-nightshift', EXAMPLES).version(VERSION, '-v, --version');
  writeTo(cli.screen, command, asJson);
  return command;
};
process.exitCode = await runParsed(make, process.argv.slice(2), cli);
