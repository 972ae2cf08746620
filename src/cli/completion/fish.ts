/** The completion script for fish. */
import type { LiveName } from './live-names.ts';
import { OPTIONS_BEFORE, type CompletionCommand, type CompletionOption } from './completion-commands.ts';

/** Functions that read the line: the API that it names as arguments, its words without options, and what these are. */
const FUNCTIONS = `function __nightshift_api
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
function __nightshift_words
  set -l before
  for word in (commandline -opc)[2..-1]
    if not contains -- "$before" --url --profile; and not string match -q -- '-*' $word
      printf '%s\\n' $word
    end
    set before $word
  end
end
function __nightshift_at
  set -l words (__nightshift_words)
  set -l most (count $argv)
  test "$words[1..$most]" = "$argv"
end
function __nightshift_below
  set -l words (__nightshift_words)
  contains -- "$words[2]" $argv
end
`;

const NO_COMMAND = quote('test (count (__nightshift_words)) -eq 0');

export function fishScript(commands: readonly CompletionCommand[]): string {
  const lines = commands.flatMap((command) => {
    const { name, below } = command;
    const here = `__nightshift_at ${name}`;
    const choosing = `${here}; and not __nightshift_below ${below.map((one) => one.name).join(' ')}`;
    return [
      `complete -c nightshift -n ${NO_COMMAND} -f -a ${name} -d ${quote(command.summary)}`,
      ...linesOf(command, below.length === 0 ? here : choosing),
      ...below.flatMap((one) => [
        `complete -c nightshift -n ${quote(choosing)} -f -a ${one.name} -d ${quote(one.summary)}`,
        ...linesOf(one, `${here} ${one.name}`),
      ]),
    ];
  });
  return `# fish completion for nightshift\n${FUNCTIONS}${[...linesBefore(), ...lines].join('\n')}\n`;
}

const VALUES_BEFORE: Partial<Record<(typeof OPTIONS_BEFORE)[number], string>> = {
  '--url': ' -x',
  '--profile': ` -x -a ${quote(namesOf('profiles'))}`,
};

function linesBefore(): string[] {
  return OPTIONS_BEFORE.map(
    (name) => `complete -c nightshift -n ${NO_COMMAND} -l ${name.slice(2)}${VALUES_BEFORE[name] ?? ''}`,
  );
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
