/** The data for completion scripts: commands, their options, and the choices of both. */
import type { Command } from 'commander';

export type OptionWords = {
  names: string[];
  summary: string;
  choices: readonly string[];
  takesValue: boolean;
};
export type CommandWords = {
  name: string;
  summary: string;
  options: OptionWords[];
  /** The choices of the arguments. */
  choices: readonly string[];
  takesFile: boolean;
  /** Subcommands. */
  below: CommandWords[];
};

export function wordsOf(program: Command): CommandWords[] {
  const commands = program.commands.map(wordsOfOne);
  const help = {
    name: 'help',
    summary: 'display help for a command',
    options: [],
    takesFile: false,
    below: [],
  };
  return [...commands, { ...help, choices: commands.map(({ name }) => name) }];
}

function wordsOfOne(command: Command): CommandWords {
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
    below: command.commands.map(wordsOfOne),
  };
}

/** All commands and subcommands, each with its full name. */
export function spelledOut(commands: readonly CommandWords[]): CommandWords[] {
  return commands.flatMap((command) => [
    command,
    ...command.below.map((one) => ({ ...one, name: `${command.name} ${one.name}` })),
  ]);
}
