/** The completion script for fish. */
import type { LiveName } from './live-names.ts';
import type { CompletionCommand, CompletionOption } from './completion-commands.ts';

/** Prints the API that the line names, as arguments. */
const API = `function __nightshift_api
  set -l before
  for word in (commandline -opc)
    if contains -- "$before" --url --profile
      printf '%s\\n' $before $word
    else if string match -qr -- '^--(url|profile)=' $word
      printf '%s\\n' $word
    end
    set before $word
  end
end
`;

export function fishScript(commands: readonly CompletionCommand[]): string {
  const lines = commands.flatMap((command) => {
    const { name, below } = command;
    const seen = `__fish_seen_subcommand_from ${name}`;
    const longer = `__fish_seen_subcommand_from ${below.map((one) => one.name).join(' ')}`;
    return [
      `complete -c nightshift -n __fish_use_subcommand -f -a ${name} -d ${quote(command.summary)}`,
      ...linesOf(command, below.length === 0 ? seen : `${seen}; and not ${longer}`),
      ...below.flatMap((one) => [
        `complete -c nightshift -n ${quote(`${seen}; and not ${longer}`)} -f -a ${one.name} -d ${quote(one.summary)}`,
        ...linesOf(one, `${seen}; and __fish_seen_subcommand_from ${one.name}`),
      ]),
    ];
  });
  return `# fish completion for nightshift\n${API}${lines.join('\n')}\n`;
}

/** Completions that apply while the condition `seen` is true. */
function linesOf({ options, choices, takesFile, live }: CompletionCommand, seen: string): string[] {
  const line = `complete -c nightshift -n ${quote(seen)}`;
  return [
    ...options.map((option) => `${line} ${flags(option)} -d ${quote(option.summary)}`),
    ...(choices.length === 0 ? [] : [`${line} -f -a ${quote(choices.join(' '))}`]),
    ...(live === null ? [] : [`${line} -f -a ${quote(namesOf(live))}`]),
    ...(takesFile || choices.length > 0 || live !== null ? [] : [`${line} -f`]),
  ];
}

/** fish runs it when it completes. */
function namesOf(live: LiveName): string {
  return `(nightshift complete ${live} (__nightshift_api) 2>/dev/null)`;
}

function flags({ names, choices, takesValue, live }: CompletionOption): string {
  const spelled = names.map((name) => (name.startsWith('--') ? `-l ${name.slice(2)}` : `-s ${name.slice(1)}`));
  const values = live === null ? choices.join(' ') : namesOf(live);
  const value = values !== '' ? [`-x -a ${quote(values)}`] : takesValue ? ['-r'] : [];
  return [...spelled, ...value].join(' ');
}

function quote(text: string): string {
  return `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;
}
