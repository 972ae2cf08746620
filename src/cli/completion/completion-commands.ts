/** The data for completion scripts: commands, their options, and the choices of both. */
import type { Command } from 'commander';

export type CompletionOption = {
  names: string[];
  summary: string;
  choices: readonly string[];
  takesValue: boolean;
};
export type CompletionCommand = {
  name: string;
  summary: string;
  options: CompletionOption[];
  /** The choices of the arguments. */
  choices: readonly string[];
  takesFile: boolean;
  /** Subcommands. */
  below: CompletionCommand[];
};

export function commandsOf(program: Command): CompletionCommand[] {
  const commands = program.commands.map(commandOf);
  const help = {
    name: 'help',
    summary: 'display help for a command',
    options: [],
    takesFile: false,
    below: [],
  };
  return [...commands, { ...help, choices: commands.map(({ name }) => name) }];
}

function commandOf(command: Command): CompletionCommand {
  return {
    name: command.name(),
    summary: command.description(),
    options: command.options.map((option) => ({
      names: [option.short, option.long].filter((name) => name != null),
      summary: option.description,
      choices: option.argChoices ?? [],
      takesValue: option.required || option.optional,
    })),
    choices: command.registeredArguments.flatMap(({ argChoices }) => argChoices ?? []),
    takesFile: command.registeredArguments.some((argument) => argument.name().includes('file')),
    below: command.commands.map(commandOf),
  };
}

/** All commands and subcommands, each with its full name. */
export function withFullNames(commands: readonly CompletionCommand[]): CompletionCommand[] {
  return commands.flatMap((command) => [
    command,
    ...command.below.map((one) => ({ ...one, name: `${command.name} ${one.name}` })),
  ]);
}
