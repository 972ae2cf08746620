/** `completion`: prints a completion script, generated from the command definitions. */
import { Argument, Command } from 'commander';
import { examplesText, type Cli } from '../../cli.ts';
import { bashScript } from '../../completion/bash.ts';
import { fishScript } from '../../completion/fish.ts';
import { commandsOf } from '../../completion/completion-commands.ts';
import { zshScript } from '../../completion/zsh.ts';

const SCRIPTS = { bash: bashScript, zsh: zshScript, fish: fishScript };

export function completionCommand(cli: Cli, program: Command): Command {
  return new Command('completion')
    .description('print a completion script for a shell')
    .addArgument(new Argument('<shell>', 'the shell').choices(Object.keys(SCRIPTS)))
    .addHelpText(
      'after',
      examplesText([
        'source <(nightshift completion bash)                # in ~/.bashrc',
        'nightshift completion zsh > "${fpath[1]}/_nightshift"',
        'nightshift completion fish > ~/.config/fish/completions/nightshift.fish',
      ]),
    )
    .action((shell: keyof typeof SCRIPTS) => cli.screen.out(SCRIPTS[shell](commandsOf(program))));
}
