/** The data for completion scripts: commands, their options, and the choices of both. */
import type { Command } from 'commander';
import { liveNameOfArgument, liveNameOfOption, type LiveName } from './live-names.ts';

/** The command that completion scripts call for names. */
export const COMPLETE = 'complete';

/** The options that may stand before the command. */
export const OPTIONS_BEFORE = ['--url', '--profile', '--json', '--help', '--version'] as const;

export type CompletionOption = {
  names: string[];
  summary: string;
  choices: readonly string[];
  takesValue: boolean;
  /** The API knows its values. */
  live: LiveName | null;
};
export type CompletionCommand = {
  name: string;
  summary: string;
  options: CompletionOption[];
  /** The choices of the arguments. */
  choices: readonly string[];
  takesFile: boolean;
  /** The API knows the values of its first argument. */
  live: LiveName | null;
  /** Subcommands. */
  below: CompletionCommand[];
};

export function commandsOf(program: Command): CompletionCommand[] {
  const commands = program.commands.filter((command) => command.name() !== COMPLETE).map(commandOf);
  const help = {
    name: 'help',
    summary: 'display help for a command',
    options: [],
    takesFile: false,
    live: null,
    below: [],
  };
  return [...commands, { ...help, choices: commands.map(({ name }) => name) }];
}

function commandOf(command: Command): CompletionCommand {
  const [argument] = command.registeredArguments;
  return {
    name: command.name(),
    summary: command.description(),
    options: command.options.map((option) => ({
      names: [option.short, option.long].filter((name) => name != null),
      summary: option.description,
      choices: option.argChoices ?? [],
      takesValue: option.required || option.optional,
      live: liveNameOfOption(option),
    })),
    choices: command.registeredArguments.flatMap(({ argChoices }) => argChoices ?? []),
    takesFile: command.registeredArguments.some((argument) => argument.name().includes('file')),
    live: argument === undefined ? null : liveNameOfArgument(argument, command),
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
