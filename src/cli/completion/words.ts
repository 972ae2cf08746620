/** What can be completed: commands, their options, and the choices of both. */
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
  /** Of its first argument that has any. */
  choices: readonly string[];
  takesFile: boolean;
  /** Commands that stand behind its name. */
  below: CommandWords[];
};

export function wordsOf(program: Command): CommandWords[] {
  const commands = program.commands.map(wordsOfOne);
  const help = { name: 'help', summary: 'the help of a command', options: [], takesFile: false, below: [] };
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

/** Each command under all of its words, those behind another after it. */
export function spelledOut(commands: readonly CommandWords[]): CommandWords[] {
  return commands.flatMap((command) => [
    command,
    ...command.below.map((one) => ({ ...one, name: `${command.name} ${one.name}` })),
  ]);
}
